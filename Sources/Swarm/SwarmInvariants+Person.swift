// The invariant of what a person asked for: late insulin is not given at all.

import IsletLoop
import IsletDevices
import IsletKernel
import IsletModels

/// Insulin for a meal is pushed within a quarter of an hour of the person's word, or never.
enum NoLateRequests: SwarmInvariant {
    static let name = "late-request"
    static let promise =
        "none of a person's request is pushed later than 15 min after it, but for the bolus under way, nor above the maximum bolus"

    static func violations(in evidence: SwarmEvidence) -> [Violation] {
        var found: [Violation] = []
        var steps: [Int64: SwarmEvidence.Step] = [:]
        /// What the algorithm made of the person's words, with the instant of the first of them.
        var asked: [(said: Instant, amount: InsulinAmount)] = []
        var last = Instant.start
        for step in evidence.steps {
            steps[step.input.algorithmTime] = step
            defer { if step.output != nil { last = step.input.now } }
            let personal = personal(step)
            guard personal > .zero else { continue }
            if let manual = step.input.user.manualBolus {
                // Nobody tells an algorithm when: at the person's last words that come to as much, since the last good step. What they
                // had asked for before lapsed while no step ran, and is asked for again.
                var (said, rest) = (last, manual.units - 1e-6)
                let now = step.input.now
                for word in evidence.manualBoluses.reversed()
                where rest > 0 && word.instant >= last && word.instant <= now {
                    said = word.instant
                    rest -= word.amount
                }
                asked.append((said, personal))
            } else if let meal = step.input.user.meal,
                evidence.meals.contains(where: { $0.instant == meal.instant })
            {
                asked.append((meal.instant, personal))
            } else {
                found.append(
                    violation(
                        step.input.now, "step \(step.input.algorithmTime)",
                        found: "\(personal.units) U for a meal that nobody spoke of", expected: "none"))
            }
        }
        let pulse = evidence.device.pulse.units
        for call in evidence.calls where call.pushed > 0 {
            guard let id = call.id, let step = steps[id], let output = step.output else { continue }
            var allowed = step.input.isOpenLoop ? 0 : (output.basal + output.correction).units
            allowed += step.input.pumpBasal?.withheld.units ?? 0
            // Parts of a pulse that earlier requests left.
            allowed += pulse + 1e-6
            for one in asked
            where one.said <= call.instant
                && call.instant.nanoseconds - one.said.nanoseconds <= LoopTiming.owed
            {
                allowed += one.amount.units
            }
            let units = Double(call.pushed) * pulse
            let maximum = step.input.therapy.maximumBolus.units
            if units > allowed || units > maximum + 1e-6 {
                found.append(
                    violation(
                        call.instant, "request \(id)", found: "\(units) U",
                        expected:
                            "at most \(allowed) U of its own step and of what was said in the last 15 min, and \(maximum) U in all"
                    ))
            }
        }
        return found
    }

    private static func personal(_ step: SwarmEvidence.Step) -> InsulinAmount {
        step.input.isOpenLoop ? step.input.user.manualBolus ?? .zero : step.output?.meal ?? .zero
    }
}
