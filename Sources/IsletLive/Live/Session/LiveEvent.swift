// What happened in a live session, as values.
//
// Guarantees: plain values, the same after a replay; whether it was done stands beside what it is, so that no reader has to find it in words.
// Does not: have words. `EventText` writes a terminal's and the API's line, the page its own, in its reader's unit.

package import IsletAlerts
package import IsletDevices
package import IsletKernel
package import IsletTrials

/// One thing that happened, with its place among all that happened in the session: the same after a replay.
package struct LiveEvent: Hashable, Sendable {
    /// From 1, without a gap.
    package var number: Int
    package var instant: Instant
    package var what: What
    /// What the person read then, of an alert; empty for what shows nothing.
    package var message: ValueText = ""
    /// What they should do then.
    package var action = ""

    package init(
        number: Int, instant: Instant, _ what: What, message: ValueText = "", action: String = ""
    ) {
        (self.number, self.instant, self.what) = (number, instant, what)
        (self.message, self.action) = (message, action)
    }

    package enum What: Hashable, Sendable {
        /// An input that reached the session, as its journal has it, and what became of it.
        case input(number: Int, said: String, LiveOutcome)
        /// An input that was refused before it reached the session.
        case refusal(LiveRefusal)
        /// Session time goes so fast from here on.
        case pace(LivePace)
        /// Nobody lived up to here.
        case leap
        /// The algorithm gave no answer in time for this step.
        case late
        /// Somebody drives the session step by step from here on, by this name; nil for nobody.
        case driver(String?)
        /// Alerts go on under another policy, dosing by another algorithm, or both: their names.
        case exchange(policy: String?, algorithm: String?)
        /// Another engine goes on with the session, with all that was active, owed, under way and set.
        case upgrade(from: Int, to: Int)
        /// The session is over; nil where it lived to its end.
        case end(EarlyEnd?)
        /// What the session's recorder has.
        case row(SessionHappening, DoseFate)
        /// What a watched subject's monitor showed.
        case values([MetricValue])
        /// Somebody looked after the subject.
        case visit(KeeperVisit)
        /// What a pump outside did that no row tells.
        case notice(String, isSure: Bool)
    }

    /// A value of a metric, in its unit.
    package struct MetricValue: Hashable, Sendable {
        package var metric: AlertMetric
        package var value: Double
    }

    /// Whether it happened as somebody wanted it.
    package enum Outcome: String, Hashable, Sendable, CaseIterable {
        case done, refused, failed, ended, lapsed
        /// It may have been done: a device has not said so.
        case unknown
    }

    /// What the alert center did, where that is what happened.
    package var alert: AlertRow? {
        if case .row(.alert(let row), _) = what { row } else { nil }
    }

    package var outcome: Outcome {
        switch what {
        case .input(_, _, let outcome): outcome.refusal.map { Self.outcome(of: $0) } ?? .done
        case .refusal(let refusal): Self.outcome(of: refusal)
        case .late: .failed
        case .end: .ended
        case .notice(_, let isSure): isSure ? .done : .unknown
        case .row(.lapse, _): .lapsed
        case .row(.person(let row), _): row.kind == .bolusLeftOut ? .lapsed : .done
        case .row(.step(let row), _): row.failure.isEmpty ? .done : .failed
        case .row, .pace, .leap, .driver, .exchange, .upgrade, .values, .visit: .done
        }
    }

    /// A command that was sent and not answered may have been carried out.
    static func outcome(of refusal: LiveRefusal) -> Outcome {
        let unsure: [RefusalCode] = [.pumpUncertain, .unanswered]
        return unsure.contains { $0.rawValue == refusal.code } ? .unknown : .refused
    }

    /// Why it was not done, or ended early, with its code; nil for what was done.
    package var problem: (code: String, reason: ValueText)? {
        switch what {
        case .input(_, _, let outcome): outcome.refusal.map { (code: $0.code, reason: $0.reason) }
        case .refusal(let refusal): (refusal.code, refusal.reason)
        case .end(let early): early.map { (code: $0.code, reason: ValueText($0.reason)) }
        case .row(.step(let row), _): row.failure.isEmpty ? nil : ("step-failed", ValueText(row.failure))
        case .row(.lapse(let row), _): ("lapsed", ValueText(row.words))
        case .late: ("no-answer", "the algorithm gave no answer in time")
        default: nil
        }
    }

    /// What it is, for programs.
    package var kind: String {
        switch what {
        case .input: "input"
        case .refusal: "refusal"
        case .pace: "pace"
        case .leap: "leap"
        case .late: "late_step"
        case .driver: "driver"
        case .exchange: "exchange"
        case .upgrade: "upgrade"
        case .end: "end"
        case .row(.reading, _), .values: "reading"
        case .row(.step, _): "step"
        case .row(.lapse, _): "lapse"
        case .row(.delivery, _): "delivery"
        case .row(.person, _): "person"
        case .row(.fault, _): "fault"
        case .row(.alert, _): "alert"
        case .visit: "visit"
        case .notice: "notice"
        }
    }

    /// A number that it tells, in the units of files.
    package struct Value: Hashable, Sendable {
        package var name: String
        package var value: Double
        package var unit: String

        init(_ name: String, _ value: Double, _ unit: String) {
            (self.name, self.value, self.unit) = (name, value, unit)
        }
    }

    package var values: [Value] {
        switch what {
        case .row(.reading(let row), _): [Value("glucose", row.mgdl, "mg/dL")]
        case .row(.step(let row), _):
            (row.cgmMgdl.map { [Value("glucose", $0, "mg/dL")] } ?? []) + [
                Value("basal", row.basalUnits, "U"), Value("correction", row.correctionUnits, "U"),
                Value("meal", row.mealUnits, "U"), Value("accepted", row.acceptedUnits, "U"),
            ]
        case .row(.delivery(let row), _): [Value("delivered", row.units, "U")]
        case .row(.person(let row), _): [Value(row.kind.rawValue, row.amount, row.kind.unit)]
        case .values(let values): values.map { Value($0.metric.rawValue, $0.value, $0.metric.unit) }
        case .input(_, let said, _): LiveInput(bytes: Array(said.utf8))?.toldValues ?? []
        default: []
        }
    }
}

extension LiveInput {
    /// Its numbers, with their units: what an event tells of it.
    var toldValues: [LiveEvent.Value] {
        if let leftOut { return LiveInput(bytes: Array(leftOut.input.utf8))?.toldValues ?? [] }
        let metric = text("metric").flatMap { AlertMetric(rawValue: $0) }
        return (row?.fields ?? []).compactMap { field in
            guard let told = field.told else { return nil }
            let unit = field.unit.isEmpty ? metric?.unit ?? "" : field.unit
            return switch values[field.name] {
            case .number(let value)?: LiveEvent.Value(told, value * field.factor, unit)
            case .whole(let value)?: LiveEvent.Value(told, Double(value), unit)
            default: nil
            }
        }
    }
}
