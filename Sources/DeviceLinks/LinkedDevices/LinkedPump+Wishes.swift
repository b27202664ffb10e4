// The person's immediate commands to the pump: suspend and resume delivery, cancel the bolus.
//
// Guarantees: such a command is queued before all others and sent again, under new numbers, until the pump reports the
// state that it asks for, for at most 15 min; then a notice says that it was not confirmed. All three are safe to
// repeat: they withhold insulin or restore the programmed basal. What stops a bolus stops, and holds back, no later one.

import IsletDevices
import IsletKernel

extension LinkedPump {
    /// Queues an immediate command, in place of earlier ones of its kind.
    /// - Throws: `PumpError.notConnected`, also where another app commands the pump.
    func want(_ act: LinkCommand.Act) throws {
        guard foreign == nil, isConnected else { throw PumpError.notConnected }
        queue.removeAll { Self.isOneKind($0.act, act) }
        wishes.removeAll { Self.isOneKind($0.act, act) }
        let newest = max(request?.wireID ?? -1, mirror?.report.bolus?.id ?? -1)
        wishes.append(Queued(act: act, since: now, bolus: act == .cancelBolus ? newest : nil))
        // First in the queue: what withholds insulin precedes what delivers it.
        queue.insert(Queued(act: act, since: now), at: 0)
        send()
    }

    /// Cancels the bolus. One that is still queued is never sent.
    func stopBolus() throws {
        if let request, request.state == .queued {
            queue.removeAll { if case .bolus = $0.act { true } else { false } }
            settle(.carriedOut(.zero))
            tell()
            return
        }
        try want(.cancelBolus)
    }

    /// Queues again what the report doesn't show as done, unless it is queued or the report refuses that command.
    func pursueWishes(after report: PumpReport, to command: LinkCommand) {
        for wish in wishes where wish.since >= now.adding(-LinkTiming.knowable) {
            let isWaiting = queue.contains { Self.isOneKind($0.act, wish.act) }
            if isWaiting { continue }
            let isDone =
                switch wish.act {
                case .suspend: report.condition != .ready && report.condition != .bolusing
                case .resume: report.condition != .suspended
                default:
                    report.bolus.map { $0.isRunning && isMeant($0.id, by: wish) } != true
                        && request.map { $0.isOpen && isMeant($0.wireID, by: wish) } != true
                }
            if isDone {
                wishes.removeAll { Self.isOneKind($0.act, wish.act) }
            } else if report.refusal == nil || !Self.isOneKind(command.act, wish.act) {
                queue.insert(Queued(act: wish.act, since: now), at: 0)
            }
        }
    }

    /// Whether somebody wanted this bolus stopped: whoever stops one may ask for the next before the pump has answered.
    private func isMeant(_ bolus: Int64, by wish: Queued) -> Bool { bolus <= wish.bolus ?? .max }

    /// Gives up commands that have not been confirmed for 15 min, with a notice that the person must act at the pump.
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
