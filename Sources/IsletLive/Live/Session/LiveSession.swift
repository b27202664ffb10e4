// One session in real time: a study's session, its journal, and what came of both.
//
// Guarantees: an input is on disk before it counts, and answered after; what happened is in the journal before anybody is told of it, so that a
// session which goes on after a kill never takes back what it has shown. Told nothing, it is the study's session to the digest. A journal that can't be
// written stops the session: it fails, and goes on from its journal later.
// Does not: know a clock. Its owner says how far time has come, one thread at a time.

import IsletAlerts
package import IsletLoop
package import IsletDevices
import IsletFiles
package import DeviceLinks
import IsletModels
package import IsletKernel
package import IsletTrials

/// What the alert center's effects said, in their order. Belongs to the session's thread.
private final class EffectMessages: @unchecked Sendable {
    private var texts: [ValueText] = []
    func add(_ text: ValueText) { texts.append(text) }
    func take() -> [ValueText] {
        defer { texts = [] }
        return texts
    }
}

/// Belongs to one thread at a time: its owner's lock sees to that.
package final class LiveSession: @unchecked Sendable {
    package enum Phase: Hashable, Sendable, Codable {
        case running
        /// Over: at the study's end, or before it for this reason.
        case ended(String)
        /// It stopped here and can go on from its journal.
        case failed(String)
        /// Its journal is being lived again: it is not there yet.
        case returning
    }

    package let opening: LiveOpening
    package private(set) var phase = Phase.running
    /// When something is due next.
    package internal(set) var next = Instant.start
    /// What it came to; nil before its end.
    package internal(set) var outcome: SessionOutcome?
    /// As of the end of the last advance.
    package private(set) var snapshot = LiveSnapshot()
    /// The newest anchor that the journal has.
    package internal(set) var anchor: LiveAnchor?
    package private(set) var eventCount = 0
    /// What doses.
    package private(set) var algorithm: TunedAlgorithm

    let session: any StudySession
    /// nil for a subject that is no person.
    let person: Session?
    /// nil for a person.
    let watched: WatchedSession?
    let door: InputDispatcher
    var journal: JournalFile?
    var answers: [String: Int] = [:]
    /// What was taken under a key and is no input, such as a pace.
    var said: [String: String] = [:]
    /// Whether anybody waits for a replay.
    var isWanted: () -> Bool = { true }
    let asker: StepAsker
    /// Who drives it step by step, and what they answered.
    var wheel = Wheel()
    /// Messages of the alert center's effects since the last report.
    private let messages = EffectMessages()
    /// A late step that could not be written down: the session stops when its advance returns.
    private var unwritten: String?
    /// Steps whose algorithm gave no answer in time.
    package private(set) var lateSteps = 0
    /// What is kept for another engine, and what one handed on.
    var upgrades = UpgradeState()
    var inputCount = 0
    private let listener: (LiveEvent) -> Void
    /// Sees what was recorded since the last time; nil where nobody looks.
    var onRows: ((SessionRecorder) -> Void)?
    private let onInsulin: ((InsulinLook) -> Void)?
    /// Whether anybody sees what is shown: nobody does before a replay is over.
    var isShown = true
    /// Gets what devices outside are told, once it is on disk.
    package var onCommand: ((LinkCommand) -> Void)?
    /// Commands that a replay came to, and that its journal has not told of yet.
    var muted: [LinkCommand] = []
    var unsent: [LinkCommand] = []
    var hasBegun = false

    package var now: Instant { session.executor.now }
    package var duration: Instant { session.duration }
    package var digest: Digest128 { session.executor.journal.digest }
    /// The pump's account of insulin up to now; nothing where there is no pump.
    package var ledger: PumpLedgerUnits { PumpLedgerUnits(person) }

    /// - Parameters:
    ///   - journal: nil for a replay.
    ///   - deadline: how long the algorithm may take for a step, ns; nil for as long as it takes.
    ///   - onRows: sees what was recorded since the last time, before the events of it are told.
    ///   - onInsulin: sees what had left the pump at the end of each advance.
    ///   - listener: hears each event, in order, on the thread that advances.
    package init(
        _ opening: LiveOpening, journal: JournalFile?, deadline: Int64? = nil,
        seams: SessionSeams = SessionSeams(),
        onRows: ((SessionRecorder) -> Void)? = nil, onInsulin: ((InsulinLook) -> Void)? = nil,
        listener: @escaping (LiveEvent) -> Void = { _ in }
    ) throws {
        self.onRows = onRows
        self.onInsulin = onInsulin
        self.opening = opening
        self.journal = journal
        self.listener = listener
        var study = opening.study
        // How much is recorded changes nothing else; all of it is told.
        study.record = .full
        var seams = seams
        let asker = StepAsker(
            seams.algorithm(opening.arm.algorithm(of: opening.subjectIndex)), deadline: deadline,
            time: seams.algorithmTime)
        self.asker = asker
        seams.isFed = opening.isFed
        if opening.isLinked {
            seams.outside = { [owner = opening.owner] in SessionLinks($0, $1, $2, owner: owner) }
        }
        algorithm = opening.algorithm
        seams.algorithm = { _ in HeldAlgorithm(asker: asker) }
        let arm = opening.arm
        let acts: any LiveActs
        if let subject = opening.subject.person {
            let body = SimulatedBody(&seams)
            let person = try Session(
                study: study, subject: subject, index: opening.subjectIndex, arm: arm,
                seams: seams)
            acts = PersonActs(person, body, isFed: opening.isFed, stage: opening.subject.stage)
            (session, self.person, watched) = (person, person, nil)
        } else {
            if opening.isLinked { try LiveOpening.check(study.subject.kind, file: study.name) }
            let kind = study.subject.kind
            let cohort = try study.makeCohort(studyPath: study.name, jobs: 1)
            guard
                let watched = try cohort.session(study, index: opening.subjectIndex, arm: arm)
                    as? WatchedSession
            else {
                throw InputError(
                    file: study.name, found: "a session of \(kind.words.many)",
                    expected: "one that is watched")
            }
            watched.keepReadings()
            acts = WatchedActs(watched, kind)
            (session, person, self.watched) = (watched, nil, watched)
        }
        door = InputDispatcher(
            session, acts, policy: arm.alerts, metrics: study.subject.kind.metrics,
            subject: person == nil ? opening.subject.name : "")
        session.executor.inspect { [session, messages] in
            session.alerts.here(messages) { center, messages in
                center.observer = { messages.add($0.message) }
                center.letPhoneTimeBanners()
            }
        }
        asker.onLate = { [unowned self] in noteLate($0) }
        if let upgrade = opening.upgrade { adopt(upgrade.carry) }
    }

    deinit { session.end() }

    // MARK: Time

    /// Advances to `goal`, or to the session's end before it; nothing where that has come already. One that is driven stops at the step before, and waits.
    package func advance(to goal: Instant) { advance(to: goal, .untilDeadline) }

    /// The same, for whoever goes elsewhere while a step's algorithm is asked (`isAsking`); to be called again then.
    func advance(to goal: Instant, _ patience: StepAsker.Patience) {
        guard phase == .running else { return }
        if opening.isLinked, !isAsking { leapOverSleep(to: goal) }
        // What has happened before a step that waits for its driver is told while it waits.
        if move(to: goal, patience) || isDriven { report() }
    }

    /// Moves to `goal` over time that nobody lived through: what was due in it happens once, now. The journal has it before. The study's world doesn't
    /// stand still: a session whose body and devices are simulated is advanced instead.
    package func leap(to goal: Instant) {
        guard phase == .running, goal > now, goal < session.duration, !isHeld else { return }
        // A body that is simulated lives on, and its monitor with it.
        guard person != nil else { return advance(to: goal) }
        keep(.leap(from: now, to: goal), isSynced: true)
        guard phase == .running else { return }
        tell(.leap, at: goal)
        jump(to: goal)
        report()
    }

    /// Comes to `goal` after a pause of its owner's: where glucose is a real person's the time is not lived again.
    package func catchUp(to goal: Instant) { catchUp(to: goal, .untilDeadline) }

    /// As `advance`.
    func catchUp(to goal: Instant, _ patience: StepAsker.Patience) {
        let gap = goal.nanoseconds - now.nanoseconds
        if opening.isFed, gap > Self.longestLivedGap { leap(to: goal) }
        advance(to: goal, patience)
    }

    /// Two steps: less is no stretch that nobody lived through.
    private static let longestLivedGap = 10 * Nanoseconds.minute

    func jump(to goal: Instant) { move(to: goal, isLeap: true) }

    /// Notes how session time and wall time belong together from here on.
    package func note(_ anchor: LiveAnchor) {
        guard phase == .running else { return }
        self.anchor = anchor
        keep(.pace(anchor.instant, anchor.pace, utc: anchor.utcNanoseconds, boot: anchor.boot))
        if phase == .running { tell(.pace(anchor.pace)) }
        look()
    }

    /// - Parameter isLeap: over time that nobody lived through.
    /// - Returns: false where it is held at a step on the way that nobody has answered yet.
    @discardableResult
    func move(to goal: Instant, _ patience: StepAsker.Patience = .untilDeadline, isLeap: Bool = false) -> Bool
    {
        do {
            let limit = min(goal, session.duration)
            var due = try isLeap ? session.executor.leap(to: limit) : session.executor.advance(to: limit)
            while session.executor.isHeld {
                guard try answerHeldStep(patience) else {
                    next = now
                    return false
                }
                due = try session.executor.advance(to: limit)
            }
            next = min(due ?? session.duration, session.duration)
            post()
            guard session.executor.now >= session.duration else { return true }
        } catch {
            // The session reports it below.
        }
        let outcome = session.run(until: nil)
        self.outcome = outcome
        next = .distantFuture
        return true
    }

    /// Tells what has happened since, once the journal has it.
    func report() {
        if let unwritten { return fail(unwritten) }
        let rows = session.recorder.takeRows()
        door.note(rows)
        onRows?(rows)
        let news = news(rows)
        if let outcome {
            let early = EarlyEnd(outcome.end)
            let executor = session.executor
            keep(
                .end(executor.now, events: executor.journal.count, outcome.digest, early: early),
                isSynced: true)
            guard phase == .running else { return }
            phase = .ended(early?.reason ?? "")
            tell(news)
            tell(.end(early))
        } else if !news.isEmpty || (isDriven && (isHeld || now > .start)) {
            // Of one that is driven, where it waits as well: after a kill it does so again. Before it has begun there is nowhere to come back to.
            keep(.mark(now, events: session.executor.journal.count, digest))
            keepState(untold: news.count)
            guard phase == .running else { return }
            tell(news)
        }
        keepState()
        look()
    }

    private typealias News = (at: Instant, what: LiveEvent.What)

    /// What has happened since. Within an instant what a monitor showed stands first, then who was there, then the rows.
    private func news(_ rows: SessionRecorder) -> [News] {
        var news = SessionHappening.all(of: rows, tellsFaults: person != nil).map { row -> News in
            (row.instant, .row(row, fate(of: row)))
        }
        if let watched { news = Self.sorted(Self.seen(watched.takeNews()) + news) }
        if let links = person?.links, outcome == nil {
            news += session.executor.inspect { links.pump.here { $0.takeNotices() } }.map {
                ($0.at, .notice($0.text, isSure: $0.isSure))
            }
        }
        return news
    }

    private static func seen(
        _ news: (readings: [(metric: AlertMetric, values: [MetricReading])], visits: [KeeperVisit])
    ) -> [News] {
        let shown = (news.readings.first?.values ?? []).enumerated().map { place, first -> News in
            let values = news.readings.map {
                LiveEvent.MetricValue(metric: $0.metric, value: $0.values[place].value)
            }
            return (first.at, .values(values))
        }
        return shown + news.visits.map { ($0.at, .visit($0)) }
    }

    private static func sorted(_ news: [News]) -> [News] {
        news.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    /// Where glucose is a real person's nothing is given; where the pump is outside nobody knows yet.
    private func fate(of happening: SessionHappening) -> DoseFate {
        guard case .step(let row) = happening else { return .accepted }
        // As it is written: three places after the point.
        func isNothing(_ units: Double) -> Bool { abs(units) < 0.0005 }
        guard isNothing(row.acceptedUnits) else { return .accepted }
        // What goes to a pump outside is never accepted at once.
        let asksForSome = ![row.basalUnits, row.correctionUnits, row.mealUnits].allSatisfy(isNothing)
        if opening.isLinked, row.isPumpAvailable, asksForSome { return .onItsWay }
        return opening.isFed ? .suggested : .accepted
    }

    private func tell(_ news: [News]) {
        // In the order of the effects, as the rows are.
        var messages = messages.take()[...]
        for (at, what) in news {
            var message: ValueText = ""
            if case .row(.alert, _) = what { message = messages.popFirst() ?? "" }
            tell(what, at: at, message: message)
        }
    }

    /// Goes on counting from what came before an upgrade.
    func count(events: Int, lateSteps: Int) { (eventCount, self.lateSteps) = (events, lateSteps) }

    func tell(_ what: LiveEvent.What, at instant: Instant? = nil, message: ValueText = "") {
        eventCount += 1
        var event = LiveEvent(number: eventCount, instant: instant ?? now, what)
        if let alert = event.alert {
            event.message = door.policy.plain(message, alert.code)
            event.action = door.policy.action(alert.code)
        }
        listener(event)
    }

    /// Writes a line, where there is a journal; what can't be written stops the session.
    func keep(_ line: JournalLine, isSynced: Bool = false) {
        guard phase == .running else { return }
        do { try journal?.append(line, sync: isSynced) } catch { fail("\(error)") }
    }

    /// Everything so far is on disk when this returns; what can't be synced stops the session.
    package func sync() {
        do { try journal?.sync() } catch { fail("\(error)") }
    }

    /// On disk before the step goes on without an answer.
    private func noteLate(_ instant: Instant) {
        do {
            try journal?.append(.late(instant), sync: true)
        } catch {
            unwritten = "\(error)"
            return
        }
        tellLate(instant)
    }

    func tellLate(_ instant: Instant) {
        lateSteps += 1
        tell(.late, at: instant)
    }

    /// At the end of this instant alerts go on under another policy, dosing by another algorithm, or both.
    /// - Parameter isRecorded: false for a life that is only compared: changed nothing, it comes to the same bits.
    func exchange(_ change: LiveFork.Change, isRecorded: Bool = true) {
        guard outcome == nil else { return }
        if isRecorded {
            session.executor.inspect { [executor = session.executor] in
                executor.journal.record(
                    .liveExchange, at: executor.now, change.policy == nil ? 0 : 1,
                    change.algorithm == nil ? 0 : 1)
            }
        }
        if let algorithm = change.algorithm {
            self.algorithm = algorithm
            asker.successor = algorithm.algorithm
            person?.algorithmDidChange()
        }
        if let policy = change.policy { door.exchange(policy) }
        guard isRecorded else { return }
        tell(.exchange(policy: change.policy?.name, algorithm: change.algorithm?.kind.id))
    }

    /// The same, written down, with all that it brings about at once.
    func exchangeNow(_ change: LiveFork.Change) {
        guard phase == .running else { return }
        keep(.exchange(now, change.json), isSynced: true)
        guard phase == .running else { return }
        exchange(change)
        move(to: now)
        report()
    }

    /// It stops here.
    package func fail(_ reason: String) {
        guard phase == .running else { return }
        phase = .failed(reason)
        next = .distantFuture
        look()
    }

    func look() {
        if let onInsulin, let insulin = InsulinLook(self) { onInsulin(insulin) }
        if isShown { snapshot = LiveSnapshot(self, policy: door.policy) }
    }

    var inputContext: LiveInputContext {
        LiveInputContext(policy: door.policy, isFed: opening.isFed, kind: opening.study.subject.kind)
    }
}
