// Whether all is well with a session: the one judgement that the page, the ward, the terminal and the API show.
//
// Guarantees: well is glucose, loop and pump together (of a room: its values), with nothing active that asks for action; what is not well has a reason for each
// part, the worst first. An acknowledgement takes the alert away and never the reason: what was acknowledged and is still so says that.
// Does not: look at a clock, ring, or know a unit other than mg/dL.

package import IsletAlerts
import IsletLoop
package import IsletDevices
import IsletKernel
import IsletTrials

package struct SessionHealth: Hashable, Sendable {
    package enum Part: String, Hashable, Sendable {
        case session, glucose, loop, pump, values, alerts
    }

    /// Why it isn't well.
    package struct Concern: Hashable, Sendable {
        package var part: Part
        /// From `actionable` on somebody has to do something; below it nobody can say that it is well.
        package var severity: AlertSeverity
        /// A clause.
        package var text: ValueText
        /// Somebody has said that they know, and it is still so.
        package var isAcknowledged = false

        package init(
            _ part: Part, _ severity: AlertSeverity, _ text: ValueText, isAcknowledged: Bool = false
        ) {
            (self.part, self.severity, self.text) = (part, severity, text)
            self.isAcknowledged = isAcknowledged
        }

        package var needsAction: Bool { severity > .informational }
        /// With what an acknowledgement changes: the words, and nothing else.
        package var words: ValueText { isAcknowledged ? text + ": acknowledged, still so" : text }
    }

    /// The worst first.
    package let concerns: [Concern]

    package init(_ concerns: [Concern] = []) {
        // Of equals the order in which they were found.
        self.concerns = concerns.enumerated().sorted {
            ($1.element.severity, $0.offset) < ($0.element.severity, $1.offset)
        }.map(\.element)
    }

    package var isWell: Bool { concerns.isEmpty }
    package var worst: AlertSeverity? { concerns.first?.severity }
    /// Somebody has to do something.
    package var needsAction: Bool { concerns.contains(where: \.needsAction) }
    package func concerns(of part: Part) -> [Concern] { concerns.filter { $0.part == part } }
    package func isWell(_ part: Part) -> Bool { !concerns.contains { $0.part == part } }

    /// - Parameter isFrozen: the host's watchdog says so.
    package init(_ live: LiveSnapshot, isFrozen: Bool = false) {
        var found: [Concern] = []
        switch live.phase {
        case .running: found = Self.running(live, isFrozen: isFrozen)
        case .ended(let reason):
            found = [
                Concern(
                    .session, reason.isEmpty ? .informational : .actionable,
                    reason.isEmpty ? "the session is over" : "the session is over: \(reason)")
            ]
        case .failed(let reason):
            found = [Concern(.session, .safetyCritical, "the session has failed: \(reason)")]
        case .returning:
            found = [Concern(.session, .actionable, "the session is coming back: nothing is known of now")]
        }
        self.init(found)
    }

    private static func running(_ live: LiveSnapshot, isFrozen: Bool) -> [Concern] {
        var found: [Concern] = []
        if isFrozen {
            found.append(Concern(.session, .safetyCritical, "frozen: nothing that is shown is sure"))
        }
        if !live.isAppAlive {
            found.append(Concern(.session, .actionable, "the app is not running: nothing rings"))
        }
        found += live.room.map { values(of: $0, live) } ?? person(live)
        found += live.alerts.filter { !$0.isPreview && $0.severity > .informational }.map {
            Concern(.alerts, $0.severity, $0.message, isAcknowledged: $0.acknowledgedAt != nil)
        }
        return found
    }

    // MARK: A person

    private static let inRange = 70.0...180.0
    /// Above it is the consensus' second level of high glucose.
    private static let high = 250.0
    private static let veryLow = 54.0

    private static func person(_ live: LiveSnapshot) -> [Concern] {
        guard let loop = live.loop else {
            return [Concern(.loop, .informational, "the loop has said nothing yet")]
        }
        let mgdl = loop.isGlucoseStale ? nil : loop.glucose?.glucose.milligramsPerDecilitre
        return glucose(loop) + self.loop(live, loop, mgdl) + pump(live)
    }

    private static func text(_ mgdl: Double) -> ValueText {
        mgdl.isFinite ? "\(mgdl.rounded(), unit: "mg/dL")" : "no number"
    }

    private static func glucose(_ loop: LoopDisplay) -> [Concern] {
        guard let reading = loop.glucose else { return [Concern(.glucose, .actionable, "no reading")] }
        guard !loop.isGlucoseStale else {
            return [Concern(.glucose, .actionable, "the last reading is old")]
        }
        let mgdl = reading.glucose.milligramsPerDecilitre
        var found: [Concern] = []
        if !mgdl.isFinite || mgdl < veryLow {
            found.append(Concern(.glucose, .safetyCritical, "glucose is \(text(mgdl))"))
        } else if mgdl < inRange.lowerBound || mgdl > high {
            found.append(Concern(.glucose, .actionable, "glucose is \(text(mgdl))"))
        }
        if !reading.isReliable {
            found.append(Concern(.glucose, .informational, "the sensor doubts its own value"))
        }
        return found
    }

    /// Closed, in session, and giving insulin.
    private static func loop(_ live: LiveSnapshot, _ loop: LoopDisplay, _ mgdl: Double?) -> [Concern] {
        var found: [Concern] = []
        switch loop.status {
        case .noSession: return [Concern(.loop, .actionable, "the loop is stopped")]
        case .openLoop:
            let isInRange = mgdl.map(inRange.contains) ?? false
            let at: ValueText =
                mgdl.map { isInRange ? "" : " at \(text($0))" } ?? ", and nobody knows the glucose"
            found.append(
                Concern(
                    .loop, isInRange ? .informational : .actionable,
                    "\(live.isFed ? "suggestions only" : "the loop is open")\(at)"))
        case .closedLoop:
            if let condition = live.pump?.condition, condition != .ready, condition != .bolusing {
                found.append(Concern(.loop, .actionable, "the loop gives no insulin"))
            }
        }
        if let last = loop.lastStep {
            if live.now.nanoseconds - last.nanoseconds > LoopTiming.freshness {
                found.append(Concern(.loop, .actionable, "no step for more than 15 min"))
            } else if loop.status == .closedLoop, let delivering = loop.lastDelivering,
                live.now.nanoseconds - delivering.nanoseconds > LoopTiming.freshness
            {
                found.append(Concern(.loop, .actionable, "no step has delivered for more than 15 min"))
            }
        } else {
            found.append(Concern(.loop, .informational, "waiting for the first step"))
        }
        if live.isDegraded {
            found.append(
                Concern(.loop, .actionable, "the algorithm gives no answer: the pump's own basal runs"))
        }
        return found
    }

    private static func pump(_ live: LiveSnapshot) -> [Concern] {
        guard let pump = live.pump else {
            return live.isFed ? [] : [Concern(.pump, .actionable, "no pump")]
        }
        var found: [Concern] = []
        switch pump.condition {
        case .fault: found.append(Concern(.pump, .safetyCritical, "the pump has failed: no insulin"))
        case .noPod: found.append(Concern(.pump, .actionable, "no pod: no insulin"))
        case .suspended: found.append(Concern(.pump, .actionable, "the pump is suspended: no insulin"))
        case .ready, .bolusing:
            if pump.isReservoirExact, pump.reservoir <= .zero {
                found.append(Concern(.pump, .safetyCritical, "the reservoir is empty: no insulin"))
            }
            if pump.pod == .expired { found.append(Concern(.pump, .actionable, "the pod has expired")) }
        }
        if !pump.isConnected {
            found.append(Concern(.pump, .informational, "the pump is not in reach"))
        }
        if wasAcknowledged(.pump, live) {
            for place in found.indices where found[place].severity > .informational {
                found[place].isAcknowledged = true
            }
        }
        return found
    }

    /// What was active last of a source was put away by hand, and not because it was over.
    private static func wasAcknowledged(_ source: AlertSource, _ live: LiveSnapshot) -> Bool {
        guard !live.alerts.contains(where: { $0.source == source && !$0.isPreview }) else { return false }
        return live.cleared.first { $0.alert.source == source && !$0.alert.isPreview }?.reason
            == .acknowledged
    }

    // MARK: A room

    private static func values(of room: RoomSnapshot, _ live: LiveSnapshot) -> [Concern] {
        room.metrics.compactMap { one in
            let name = one.metric.name
            guard let newest = one.newest else { return Concern(.values, .actionable, "\(name): no value") }
            guard !one.isStale else { return Concern(.values, .actionable, "\(name): the value is old") }
            let value = newest.value
            let said = ValueText(String("\(name) is \((value * 100).rounded() / 100) \(one.metric.unit)"))
            if one.metric.criticalBelow.map({ value < $0 }) ?? false
                || one.metric.criticalAbove.map({ value > $0 }) ?? false
            {
                return Concern(.values, .safetyCritical, said)
            }
            guard let set = live.thresholds.first(where: { $0.metric == one.metric }), set.isEnabled else {
                return nil
            }
            let isBeyond = set.low.map { value < $0 } ?? false || set.high.map { value > $0 } ?? false
            return isBeyond ? Concern(.values, .actionable, said) : nil
        }
    }
}

extension LiveSnapshot {
    /// As far as the session itself knows.
    package var health: SessionHealth { SessionHealth(self) }
}
