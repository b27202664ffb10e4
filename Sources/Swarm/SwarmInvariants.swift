// What must hold in every session, whatever goes wrong with its devices.
//
// Guarantees: each invariant is a pure function of the evidence, named as reports name it, and says when it was broken, by
// what, and what was expected. Where a body left its range the session is judged up to there.

import IsletTrials
package import IsletKernel
import IsletLoop
import IsletDevices
import IsletModels

/// One breach.
package struct Violation: Hashable, Sendable {
    package var invariant: String
    package var instant: Instant
    package var what: String
    package var found: String
    package var expected: String
}

package protocol SwarmInvariant: Sendable {
    static var name: String { get }
    /// One line for documents.
    static var promise: String { get }
    /// The breaches, the first ones first.
    static func violations(in evidence: SwarmEvidence) -> [Violation]
}

extension SwarmInvariant {
    static func violation(_ instant: Instant, _ what: String, found: String, expected: String) -> Violation {
        Violation(invariant: name, instant: instant, what: what, found: found, expected: expected)
    }
}

package enum SwarmInvariants {
    package static let all: [any SwarmInvariant.Type] = [
        SessionRuns.self, NoDoubleDelivery.self, NoDoseAboveLimits.self, NoDoseOnStaleGlucose.self,
        StepsConsistent.self, InsulinConserved.self, BasalFloor.self, NoLateRequests.self,
        FaultsExplained.self, LoopRecovers.self, MissingIsTold.self, PodIsTold.self,
    ]

    /// Every breach, by time.
    package static func violations(in evidence: SwarmEvidence) -> [Violation] {
        all.flatMap { $0.violations(in: evidence) }.enumerated()
            .sorted { ($0.element.instant, $0.offset) < ($1.element.instant, $1.offset) }.map(\.element)
    }
}

/// The session runs to its end, or to where the body's model means nothing any more.
enum SessionRuns: SwarmInvariant {
    static let name = "session-runs"
    static let promise = "the session runs to its end, or until the body leaves the physiological range"

    static func violations(in evidence: SwarmEvidence) -> [Violation] {
        guard let reason = evidence.endedEarly, !evidence.leftRange else { return [] }
        return [violation(evidence.endedAt, "the session", found: reason, expected: "its end")]
    }
}

/// What the pump pushes for a request is at most what was asked, however often it is asked.
enum NoDoubleDelivery: SwarmInvariant {
    static let name = "double-delivery"
    static let promise =
        "what the pump truly pushes for one request is at most what was asked, however often it is sent"

    static func violations(in evidence: SwarmEvidence) -> [Violation] {
        var found: [Violation] = []
        var asked: [Int64: Int64] = [:]
        var pushed: [Int64: Int64] = [:]
        for call in evidence.calls {
            guard let id = call.id else {
                if call.pushed > 0 {
                    found.append(
                        violation(
                            call.instant, "a call that asks for none", found: "\(call.pushed) pulses",
                            expected: "none"))
                }
                continue
            }
            if case .request(let amount) = call.kind {
                asked[id] = max(asked[id] ?? 0, evidence.device.wholePulses(in: amount))
            }
            guard call.pushed > 0 else { continue }
            pushed[id, default: 0] += call.pushed
            let (all, limit) = (pushed[id] ?? 0, asked[id] ?? 0)
            if all > limit {
                found.append(
                    violation(
                        call.instant, "request \(id)", found: "\(all) pulses pushed",
                        expected: "at most \(limit)"))
            }
        }
        return found
    }
}

/// No bolus beyond the pump's limit; no step asks for more than its algorithm's limit.
enum NoDoseAboveLimits: SwarmInvariant {
    static let name = "dose-above-limits"
    static let promise =
        "no bolus above the pump's largest, no step's basal and correction above its algorithm's limit, no dose that is negative"

    static func violations(in evidence: SwarmEvidence) -> [Violation] {
        var found: [Violation] = []
        let largest = evidence.device.wholePulses(in: evidence.device.largestBolus)
        for call in evidence.calls where call.pushed > largest {
            found.append(
                violation(
                    call.instant, "a bolus", found: "\(call.pushed) pulses", expected: "at most \(largest)"))
        }
        for step in evidence.steps {
            guard let output = step.output else { continue }
            let dose = (output.basal + output.correction).units
            let limit = step.largestDose?.units ?? .infinity
            if !(dose <= limit + 1e-9) || !(output.meal.units >= 0) || !(dose >= 0) {
                found.append(
                    violation(
                        step.input.now, "step \(step.input.algorithmTime)",
                        found: "\(dose) U beside a meal's \(output.meal.units) U",
                        expected: "0 to \(limit) U"))
            }
        }
        return found
    }
}

/// A dose that hangs on glucose hangs on a reading that the sensor truly gave, at most 15 min before the pump pushes it.
enum NoDoseOnStaleGlucose: SwarmInvariant {
    static let name = "dose-on-stale-glucose"
    static let promise =
        "a correction hangs on a live reading of at most 15 min, used once, is pushed within its own step or never"

    static func violations(in evidence: SwarmEvidence) -> [Violation] {
        unfoundedSteps(evidence) + lateDoses(evidence) + leftOverCorrections(evidence)
    }

    /// Steps whose glucose the sensor never gave, gave too long ago, or that another step has used.
    private static func unfoundedSteps(_ evidence: SwarmEvidence) -> [Violation] {
        var found: [Violation] = []
        var given: [Instant: GlucoseReading] = [:]
        for news in evidence.sensor {
            if let reading = news.reading, !reading.isBackfilled, reading.isReliable {
                given[reading.instant] = reading
            }
        }
        var used: [Instant: Int64] = [:]
        for step in evidence.steps {
            let input = step.input
            let name = "step \(input.algorithmTime)"
            guard let reading = input.cgm else {
                if let output = step.output, output.correction > .zero {
                    found.append(
                        violation(
                            input.now, name + " without glucose",
                            found: "a correction of \(output.correction.units) U", expected: "none"))
                }
                continue
            }
            let age = input.now.nanoseconds - reading.instant.nanoseconds
            if given[reading.instant] != reading || age < 0 || age > LoopTiming.freshness {
                found.append(
                    violation(
                        input.now, name, found: "a reading of minute \(reading.instant.minutes)",
                        expected: "one that the sensor gave in the last 15 min"))
            }
            if let other = used[reading.instant], other != input.algorithmTime {
                found.append(
                    violation(
                        input.now, name, found: "the reading of step \(other)", expected: "one of its own"))
            }
            used[reading.instant] = input.algorithmTime
        }
        return found
    }

    /// Pushes after their step's five minutes, or on a reading that has grown old since.
    private static func lateDoses(_ evidence: SwarmEvidence) -> [Violation] {
        var steps: [Int64: SwarmEvidence.Step] = [:]
        for step in evidence.steps { steps[step.input.algorithmTime] = step }
        var found: [Violation] = []
        for call in evidence.calls where call.pushed > 0 {
            guard let id = call.id, let step = steps[id] else {
                found.append(
                    violation(
                        call.instant, "\(call.pushed) pulses", found: "no step that decided them",
                        expected: "one"))
                continue
            }
            let late = call.instant.nanoseconds - step.input.now.nanoseconds
            if late >= LoopTiming.step {
                found.append(
                    violation(
                        call.instant, "the dose of step \(id)",
                        found: "pushed \(late / Nanoseconds.second) s later",
                        expected: "within 300 s"))
            }
            if let reading = step.input.cgm,
                call.instant.nanoseconds - reading.instant.nanoseconds > LoopTiming.freshness
            {
                found.append(
                    violation(
                        call.instant, "the dose of step \(id)",
                        found: "a reading of minute \(reading.instant.minutes)",
                        expected: "one of the last 15 min"))
            }
        }
        return found
    }

    /// Only what the person waits for outlives a step that didn't deliver it: all that was pushed is at most the meals, and
    /// the basal and corrections of the steps whose own request was carried out, up to parts of a pulse.
    private static func leftOverCorrections(_ evidence: SwarmEvidence) -> [Violation] {
        let pushed = evidence.pushedByRequest()
        var requested: Set<Int64> = []
        for call in evidence.calls {
            if case .request = call.kind, let id = call.id { requested.insert(id) }
        }
        var allowed = evidence.device.pulse.units + 1e-6
        var sum: Int64 = 0
        var calls = evidence.calls.filter { $0.pushed > 0 }[...]
        var found: [Violation] = []
        func take(before instant: Instant) {
            while let call = calls.first, call.instant < instant {
                calls.removeFirst()
                let run = evidence.boluses.first { $0.began == call.instant }
                sum += call.pushed - (run?.cutOff ?? 0)
                let units = Double(sum) * evidence.device.pulse.units
                guard units > allowed, found.isEmpty else { continue }
                found.append(
                    violation(
                        call.instant, "insulin pushed so far", found: "\(units) U",
                        expected: "at most \(allowed) U: meals, and steps that could dose"))
            }
        }
        for step in evidence.steps {
            take(before: step.input.now)
            guard let output = step.output else { continue }
            allowed += output.meal.units
            let id = step.input.algorithmTime
            let isMissed = requested.contains(id) && (pushed[id] ?? 0) == 0
            if step.input.insulinPump.isAvailable, !isMissed {
                allowed += (output.basal + output.correction).units
                allowed += step.input.pumpBasal?.withheld.units ?? 0
            }
        }
        take(before: .distantFuture)
        return found
    }
}

extension PumpDevice {
    /// Whole pulses in an amount, as the pump counts them.
    func wholePulses(in amount: InsulinAmount) -> Int64 {
        let count = amount.units / pulse.units + 1e-6
        return count.isFinite && count > 0 ? Int64(min(count, 1e9)) : 0
    }
}
