// What the loop says of its insulin, on its way to the alerts.
//
// Guarantees: told to policies in shadow too; a dead app has it at its launch, in that instant. What lapsed at one instant is one piece of news.
// Who acknowledges that insulin lapsed has seen it: the loop is told once the acknowledgement is carried out.

public import IsletDevices
import IsletKernel

extension AlertCenter {
    public nonisolated func loopDidAccount(_ insulin: LoopInsulin) { here(insulin) { $0.hear($1) } }
    public nonisolated func loopDidDrop(_ lapsed: LoopLapsed) { here(lapsed) { $0.hear($1) } }

    private func hear(_ insulin: LoopInsulin) {
        self.insulin.account = insulin
        if !isDead { passOn(insulin) }
    }

    private func hear(_ lapsed: LoopLapsed) {
        insulin.lapsed = lapsed
        guard !isDead else { return }
        insulin.isLapsedNews = true
        judgeLater()
    }

    private func passOn(_ insulin: LoopInsulin) {
        let now = executor.now
        app.flow.expectInsulin(missingAfter: insulin.missingAfter, at: now)
        shadows?.here(insulin.missingAfter) { $0.expectInsulin(missingAfter: $1) }
        if let share = insulin.basalShare { hear(.basalShare, share, sampledAt: now) }
    }

    /// In the alerts phase, before the instant is judged.
    func passOnLapses() {
        guard insulin.isLapsedNews, let lapsed = insulin.lapsed else { return }
        insulin.isLapsedNews = false
        // What is over keeps the words that it had.
        if lapsed.units > 0 { app.flow.describeLapses(lapsed.words) }
        hear(.droppedInsulin, lapsed.units, sampledAt: executor.now)
    }

    /// A launch finds what the loop knows.
    func passOnAtLaunch() {
        if let account = insulin.account { passOn(account) }
        if let lapsed = insulin.lapsed, lapsed.units > 0 {
            insulin.isLapsedNews = true
            passOnLapses()
        }
    }

    /// Who is told what the person has seen.
    public func tellSeen(to keeper: any LapseKeeper) { insulin.keeper = keeper }

    /// The person acknowledged that insulin lapsed.
    func noteSeen(_ input: AlertInput) {
        guard case .acknowledge(let code) = input, code == AlertCode.insulinDropped.name,
            app.flow.engine.active.contains(where: { $0.code == code && !$0.isPreview })
        else { return }
        insulin.isSeen = true
    }

    /// Once the instant is judged.
    func passOnSeen() {
        guard insulin.isSeen else { return }
        insulin.isSeen = false
        insulin.keeper?.lapsesWereSeen()
    }
}

/// What the loop said last.
struct HeardInsulin {
    var account: LoopInsulin?
    var lapsed: LoopLapsed?
    /// It is not judged yet.
    var isLapsedNews = false
    var isSeen = false
    weak var keeper: (any LapseKeeper)?
}
