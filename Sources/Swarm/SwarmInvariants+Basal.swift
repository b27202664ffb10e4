// The invariants of the pump's own basal: it is the floor when steps stop, and no algorithm is kept in the dark about it.

import IsletLoop
import IsletDevices
import IsletKernel
import IsletModels

/// The programmed basal runs whenever nobody has dosed for half an hour.
enum BasalFloor: SwarmInvariant {
    static let name = "basal-floor"
    static let promise =
        "a pump that has a pod runs its programmed basal but for the 30 min after a step that could dose; the algorithm hears of all that flowed"

    static func violations(in evidence: SwarmEvidence) -> [Violation] { starved(evidence) + untold(evidence) }

    /// A zero that outlasts the last step that could have renewed it, also where steps come back before it ends. One that was sent
    /// again may come five minutes late.
    private static func starved(_ evidence: SwarmEvidence) -> [Violation] {
        // A step that could dose, or that decided by a fresh reading to give nothing.
        let doses = evidence.steps.filter { step in
            guard let output = step.output else { return false }
            let isNothing = step.input.cgm != nil && output.basal + output.correction <= .zero
            return step.input.insulinPump.isAvailable || isNothing
        }.map(\.input.now)
        var found: [Violation] = []
        var zeroSince: Instant?
        func judge(until end: Instant) {
            guard let began = zeroSince else { return }
            // Without a pod nothing can flow.
            let gaps = evidence.podGaps.filter { $0.overlaps(from: began, to: end) }
            var ends = [end] + gaps.map { min($0.instant, end) }
            if gaps.contains(where: { $0.end >= end }) { ends.removeFirst() }
            for dose in doses where dose > began && dose < end {
                let before = max(began, doses.last { $0 < dose } ?? began)
                if !gaps.contains(where: { $0.overlaps(from: before, to: dose) }) { ends.append(dose) }
            }
            for end in ends.sorted() where end > began {
                let since = doses.last { $0 < end } ?? began
                guard
                    end.nanoseconds - since.nanoseconds > evidence.device.temporaryBasalRange.lowerBound
                        + LoopTiming.step
                else {
                    continue
                }
                found.append(
                    violation(
                        end, "the pump's own basal",
                        found:
                            "none since minute \(began.minutes), \(Int((end.minutes - since.minutes).rounded())) min after the last dose",
                        expected: "the programmed rate after 30 min"))
            }
        }
        for flow in evidence.flows {
            if flow.unitsPerHour > 0 {
                judge(until: flow.instant)
                zeroSince = nil
            } else {
                zeroSince = zeroSince ?? flow.instant
            }
        }
        judge(until: evidence.endedAt)
        return found
    }

    /// What the good steps were told adds up to what the pump pushed by itself since the first of them.
    private static func untold(_ evidence: SwarmEvidence) -> [Violation] {
        var base: Int64?
        var told = 0.0
        for step in evidence.steps where step.output != nil {
            guard let given = step.input.pumpBasal else {
                if base == nil, step.isPumpInReach { base = step.basalPushed }
                continue
            }
            // Told for the first time, and nobody knew where it began: an estimate.
            guard let from = base else {
                base = step.basalPushed
                continue
            }
            told += (given.amount - given.withheld).units
            let pushed = Double(step.basalPushed - from) * evidence.device.pulse.units
            guard abs(told - pushed) > 1e-6 else { continue }
            return [
                violation(
                    step.input.now, "step \(step.input.algorithmTime)",
                    found: "told of \(told) U that the pump gave by itself so far", expected: "\(pushed) U")
            ]
        }
        return []
    }
}
