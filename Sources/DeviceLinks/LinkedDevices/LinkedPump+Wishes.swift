// What the person wants of the pump at once: suspend, resume, stop.
//
// Guarantees: it goes before everything else, and is told again, under new numbers, until the pump has done it, for 15 min; if it has not by then that is
// told. All three may be told twice: they take insulin away or give the programme back.

import IsletDevices
import IsletKernel

extension LinkedPump {
    func want(_ act: LinkCommand.Act) throws {
        guard foreign == nil, isConnected else { throw PumpError.notConnected }
        queue.removeAll { Self.isOneKind($0.act, act) }
        wishes.removeAll { Self.isOneKind($0.act, act) }
        wishes.append(Queued(act: act, since: now))
        // What takes insulin away goes before what gives it.
        queue.insert(Queued(act: act, since: now), at: 0)
        send()
    }

    /// Cuts the bolus short. One that has not left is not given at all.
    func stopBolus() throws {
        if let request, request.state == .queued {
            queue.removeAll { if case .bolus = $0.act { true } else { false } }
            settle(.carriedOut(.zero))
            tell()
            return
        }
        try want(.cancelBolus)
    }

    /// What the pump hasn't done it is told again.
    func pursueWishes(after report: PumpReport, to command: LinkCommand) {
        for wish in wishes where wish.since >= now.adding(-LinkTiming.knowable) {
            let isWaiting = queue.contains { Self.isOneKind($0.act, wish.act) }
            if isWaiting { continue }
            let isDone =
                switch wish.act {
                case .suspend: report.condition != .ready && report.condition != .bolusing
                case .resume: report.condition != .suspended
                default: report.bolus?.isRunning != true && request?.isOpen != true
                }
            if isDone {
                wishes.removeAll { Self.isOneKind($0.act, wish.act) }
            } else if report.refusal == nil || !Self.isOneKind(command.act, wish.act) {
                queue.insert(Queued(act: wish.act, since: now), at: 0)
            }
        }
    }

    /// What has come to nothing for too long is told, and left to the person.
    func dropWishes() {
        let oldest = now.adding(-LinkTiming.knowable)
        for wish in wishes where wish.since < oldest {
            let word =
                switch wish.act {
                case .suspend: "suspend"
                case .resume: "resume"
                default: "stop the bolus"
                }
            notices.append((now, "has not confirmed to \(word): do it at the pump", false))
        }
        wishes.removeAll { $0.since < oldest }
    }

    private static func isOneKind(_ one: LinkCommand.Act, _ other: LinkCommand.Act) -> Bool {
        switch (one, other) {
        case (.suspend, .suspend), (.suspend, .resume), (.resume, .suspend), (.resume, .resume),
            (.cancelBolus, .cancelBolus):
            true
        default: false
        }
    }
}
