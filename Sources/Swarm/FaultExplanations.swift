// Which alert each kind of fault must end in, and what explains one that doesn't.
//
// Guarantees: every kind's row says it; the table in the documents is printed from here; an explanation is judged by the evidence,
// never by the kind alone where the kind has an alert.

import IsletTrials
import IsletAlerts
import IsletLoop
package import IsletDevices
import IsletKernel
package import IsletModels

/// One kind's line of the table.
package struct FaultRule: Sendable {
    package var kind: FaultKind
    /// An episode of one of these must overlap the fault; none where the kind is silent.
    package var alerts: [AlertName]
    /// In words, what explains a fault without one.
    package var explanation: String
    /// Says whether it explains this fault. A silent kind needs no asking.
    let explains: @Sendable (FaultRow, SwarmEvidence) -> Bool

    package static let all: [FaultRule] = FaultKind.all.map(rule)

    static func rule(_ kind: FaultKind) -> FaultRule {
        switch kind.notice {
        case .nothing(let why): FaultRule(kind: kind, alerts: [], explanation: why) { _, _ in true }
        case .alerts(let codes, let exemption):
            FaultRule(
                kind: kind, alerts: codes.map(AlertName.init(rawValue:)), explanation: words(exemption),
                explains: judge(exemption))
        }
    }

    private static func words(_ exemption: AlertExemption) -> String {
        switch exemption {
        case .unseen: "between two samples, or none of its samples reached a living app"
        case .short: "not longer than the debounce of 5 min, as a living app saw it"
        case .belowDetection:
            "over before 5 U were held back and confirmed for 30 min, or out of reach from the alarm on, or the app dead"
        case .outOfReach: "out of reach, or the app dead, until the pod was changed"
        case .soonBack:
            "back within 15 min, or before the first step, or dead since an earlier death that was told"
        }
    }

    private static func judge(
        _ exemption: AlertExemption
    ) -> @Sendable (FaultRow, SwarmEvidence) -> Bool {
        switch exemption {
        case .unseen: { isUnseen($0, $1) }
        case .short: { isShort($0, $1) }
        case .belowDetection: { isBelowDetection($0, $1) }
        case .outOfReach: { isOutOfReach($0, $1) }
        case .soonBack: { isSoonBack($0, $1) }
        }
    }

    // MARK: Explanations

    /// No sample that reached the app fell into it.
    private static func isUnseen(_ fault: FaultRow, _ evidence: SwarmEvidence) -> Bool {
        let losses = evidence.spans(of: .signalLoss) + evidence.appFaults
        let step = LoopTiming.step
        for (index, sensor) in evidence.timings.enumerated() {
            let next = index + 1 < evidence.timings.count ? evidence.timings[index + 1].insertedAt : nil
            let from = max(fault.instant, sensor.insertedAt, .start)
            let end = min(fault.end, evidence.endedAt, next ?? .distantFuture)
            let since = max(0, from.nanoseconds - sensor.phase)
            var sample = Instant(nanoseconds: (since + step - 1) / step * step + sensor.phase)
            while sample < end {
                // One that is on its way when the sensor is changed, or the session ends, is never seen.
                let arrives = sample.adding(sensor.delay)
                let isSeen = arrives < next ?? .distantFuture && arrives <= evidence.endedAt
                // A loss that is cut off by the session's end has not ended by then.
                let isLost = losses.contains {
                    $0.instant <= arrives && (arrives < $0.end || $0.end >= evidence.endedAt)
                }
                if isSeen, !isLost {
                    return false
                }
                sample = sample.adding(step)
            }
        }
        return true
    }

    /// No living app saw more of it than the debounce.
    private static func isShort(_ fault: FaultRow, _ evidence: SwarmEvidence) -> Bool {
        let end = min(fault.end, evidence.endedAt)
        var from = fault.instant
        for dead in evidence.appFaults.sorted(by: { $0.instant < $1.instant }) where dead.end > from {
            if dead.instant.nanoseconds - from.nanoseconds > AlertDebounce.pump, dead.instant <= end {
                return false
            }
            from = dead.end
            if from >= end { return true }
        }
        return end.nanoseconds - from.nanoseconds <= AlertDebounce.pump
    }

    /// Outages and a dead app cover all of it.
    private static func isOutOfReach(_ fault: FaultRow, _ evidence: SwarmEvidence) -> Bool {
        let end = min(fault.end, evidence.endedAt)
        var from = fault.instant
        let gaps = evidence.spans(of: .pumpOutage, .uncertainDelivery) + evidence.appFaults
        for gap in gaps.sorted(by: { $0.instant < $1.instant })
        where gap.instant <= from { from = max(from, gap.end) }
        return from >= end
    }

    private static func isTold(
        _ code: AlertCode, from: Instant, to: Instant, _ evidence: SwarmEvidence
    ) -> Bool {
        evidence.alerts.contains {
            $0.code == code.name && $0.effect == "notify" && $0.instant >= from && $0.instant <= to
        }
    }

    private static func isSoonBack(_ fault: FaultRow, _ evidence: SwarmEvidence) -> Bool {
        let end = min(fault.end, evidence.endedAt)
        guard let first = evidence.steps.first?.input.now, first < fault.instant else { return true }
        // Launched and dead in one instant it has been dead since before.
        let since = evidence.appFaults.filter { $0.instant < fault.instant && $0.end >= fault.instant }
            .map(\.instant).min()
        if let since, isTold(.steppingInterrupted, from: since, to: fault.instant, evidence) { return true }
        return end.nanoseconds - fault.instant.nanoseconds < AlertDebounce.stepping
    }

    /// Where the pump noticed, it must be heard. It may notice from 5 U on, half an hour later, and waits for a running bolus.
    private static func isBelowDetection(_ fault: FaultRow, _ evidence: SwarmEvidence) -> Bool {
        let stop = evidence.blockedStops.first { fault.overlaps(from: $0, to: $0) }
        if let stop {
            return isOutOfReach(FaultRow(instant: stop, end: fault.end, kind: fault.kind), evidence)
        }
        let device = evidence.device
        let limit = device.wholePulses(in: InsulinAmount(units: device.occlusionThreshold.upperBound))
        var held: Int64 = 0
        for run in evidence.boluses where run.ended > fault.instant && run.began < fault.end {
            // Of a bolus that was running when the cannula was blocked, only the rest is held.
            let began = max(run.began, fault.instant)
            let pulses = (run.ended.nanoseconds - began.nanoseconds) / device.bolusPulseInterval
            held += min(run.pulses, pulses)
            guard held >= limit else { continue }
            let latest = run.ended.adding(device.occlusionConfirmation + 20 * Nanoseconds.minute)
            return min(fault.end, evidence.endedAt) <= latest
        }
        return true
    }
}

enum AlertDebounce {
    /// How long a pump must be missing before the flow's two alerts of it.
    static let pump = 5 * Nanoseconds.minute
    /// Three steps without success.
    static let stepping = 15 * Nanoseconds.minute
}

/// Every true fault span ends in an alert, or is explained.
enum FaultsExplained: SwarmInvariant {
    static let name = "fault-explained"
    static let promise =
        "every true fault overlaps an episode of its alert, or is explained by the table below"

    static func violations(in evidence: SwarmEvidence) -> [Violation] {
        var found: [Violation] = []
        for fault in evidence.faults {
            guard let kind = FaultKind.named(fault.kind) else { continue }
            // What strikes as the session ends is nobody's any more.
            guard fault.instant < evidence.endedAt else { continue }
            let rule = FaultRule.rule(kind)
            guard !rule.alerts.isEmpty else { continue }
            // What the sensor's last sample in it says arrives a little later.
            let heardUntil = fault.end.adding(evidence.timings.map(\.delay).max() ?? 0)
            let isHeard = rule.alerts.contains { code in
                evidence.episodes(of: code).contains { $0.overlaps(from: fault.instant, to: heardUntil) }
                    || evidence.alerts.contains {
                        $0.code == code && $0.effect == "notify" && $0.instant >= fault.instant
                            && $0.instant <= heardUntil
                    }
            }
            if isHeard || rule.explains(fault, evidence) { continue }
            let seconds =
                (min(fault.end, evidence.endedAt).nanoseconds - fault.instant.nanoseconds)
                / Nanoseconds.second
            found.append(
                violation(
                    fault.instant, "\(fault.kind) of \(seconds) s", found: "no alert",
                    expected: rule.alerts.map(\.rawValue).joined(separator: " or ") + ", or: "
                        + rule.explanation))
        }
        return found
    }
}
