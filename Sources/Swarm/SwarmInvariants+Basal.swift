// The invariants of the pump's own basal: it is the floor when steps stop, and no algorithm is kept in the dark about it.

import IsletLoop
import IsletDevices
import IsletKernel
import IsletModels

/// The programmed basal runs whenever nobody has dosed for half an hour.
enum BasalFloor: SwarmInvariant {
    static let name = "basal-floor"
    static let promise =
        "a pump that has a pod runs its programmed basal but for the 30 min after a step that could dose, or for the length of a temporary rate that a step answered with, of its height and within the maximum; the algorithm hears of all that flowed"

    static func violations(in evidence: SwarmEvidence) -> [Violation] {
        (evidence.basalSource == .temporary ? astray(evidence) : starved(evidence)) + untold(evidence)
    }

    /// Flow that is not the programme's, and that no step answered with: another height, above the maximum, or beyond its end.
    private static func astray(_ evidence: SwarmEvidence) -> [Violation] {
        guard let first = evidence.steps.first else { return [] }
        let therapy = first.input.therapy
        let programme = therapy.basalRate.unitsPerHour
        let rounding = evidence.device.basalStep.unitsPerHour / 2 + 1e-9
        let answers = evidence.temporaryAnswers
        var found: [Violation] = []
        for place in evidence.flows.indices {
            let flow = evidence.flows[place]
            guard abs(flow.unitsPerHour - programme) > rounding else { continue }
            if flow.unitsPerHour > therapy.maximumBasal.unitsPerHour + rounding {
                found.append(
                    violation(
                        flow.instant, "the pump's own basal", found: "\(flow.unitsPerHour) U/h",
                        expected: "at most \(therapy.maximumBasal.unitsPerHour) U/h"))
            }
            let next = place + 1 < evidence.flows.count ? evidence.flows[place + 1].instant : evidence.endedAt
            // Without a pod nothing can flow, and a new one knows no temporary rate.
            let isInGap = evidence.podGaps.contains { $0.overlaps(from: flow.instant, to: flow.instant) }
            if flow.unitsPerHour == 0, isInGap { continue }
            let gap = evidence.podGaps.first { $0.instant > flow.instant && $0.instant < next }
            let end = gap?.instant ?? next
            let allowed = answers.lazy.filter {
                $0.instant <= end && abs($0.unitsPerHour - flow.unitsPerHour) <= rounding
            }.map(\.ends).max()
            guard let allowed, allowed >= end else {
                found.append(
                    violation(
                        end, "the pump's own basal",
                        found: "\(flow.unitsPerHour) U/h since minute \(flow.instant.minutes)",
                        expected: allowed.map { "the programmed rate from minute \($0.minutes) on" }
                            ?? "the programmed rate, \(programme) U/h"))
                continue
            }
        }
        return found
    }

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

extension SwarmEvidence {
    /// A temporary rate that a step answered with, as the loop may set it.
    struct TemporaryAnswer {
        var instant: Instant
        var unitsPerHour: Double
        /// The latest that it may run: one that was sent again may come up to a step late.
        var ends: Instant
    }

    var temporaryAnswers: [TemporaryAnswer] {
        var answers: [TemporaryAnswer] = []
        var typed: Instant?
        for step in steps where !step.input.isOpenLoop {
            let now = step.input.now
            if step.input.user.bloodGlucose != nil || step.input.user.calibration != nil { typed = now }
            func add(_ rate: Double, _ minutes: Double) {
                let shortest = Double(device.temporaryBasalRange.lowerBound) / Double(Nanoseconds.minute)
                let length = max(shortest, min(minutes, 120)) * Double(Nanoseconds.minute)
                answers.append(
                    TemporaryAnswer(
                        instant: now, unitsPerHour: rate, ends: now.adding(Int64(length) + LoopTiming.step)))
            }
            if let answer = step.output?.temporaryBasal, answer.minutes > 0 {
                add(min(answer.rate, step.input.therapy.maximumBasal).unitsPerHour, answer.minutes)
            }
            // A low that was typed in stops insulin for a while.
            if let typed, now.nanoseconds - typed.nanoseconds <= 4 * LoopTiming.step { add(0, 30) }
        }
        return answers
    }
}
