// The invariants of counting: steps, insulin, and the way back after a fault.

import IsletLoop
import IsletDevices
import IsletKernel
import IsletModels

/// One step a grid point, none lost, none doubled.
enum StepsConsistent: SwarmInvariant {
    static let name = "steps-consistent"
    static let promise =
        "a step's number is its grid point, no point has two, none is missing unless the app was dead and counted it"

    static func violations(in evidence: SwarmEvidence) -> [Violation] {
        guard let first = evidence.steps.first else { return [] }
        var found: [Violation] = []
        let grid = evidence.steps.lazy.compactMap(\.input.firstStepTime).first ?? first.input.now
        var skipped: Int64 = 0
        var last: Int64 = -1
        for step in evidence.steps {
            let input = step.input
            let name = "step \(input.algorithmTime)"
            if let known = input.firstStepTime, known != grid {
                found.append(
                    violation(
                        input.now, name, found: "a grid from minute \(known.minutes)",
                        expected: "from minute \(grid.minutes)"))
            }
            let point = grid.adding(input.algorithmTime * LoopTiming.step)
            let offset = input.now.nanoseconds - point.nanoseconds
            if offset < -LoopTiming.earlyWindow || offset > LoopTiming.latest {
                found.append(
                    violation(
                        input.now, name,
                        found: "\(Double(offset) / Double(Nanoseconds.second)) s off its point",
                        expected: "-27 to 150 s"))
            }
            if input.algorithmTime <= last {
                found.append(
                    violation(input.now, name, found: "after step \(last)", expected: "a higher number"))
            } else if input.algorithmTime > last + 1 {
                skipped += input.algorithmTime - last - 1
                // Each of the missing must itself have found the app dead.
                for number in (last + 1)..<input.algorithmTime {
                    let missed = grid.adding(number * LoopTiming.step)
                    // It may have died as its step waited for the reading that was due.
                    guard !evidence.isAppDead(from: missed, to: missed.adding(LoopTiming.earlyWindow)) else {
                        continue
                    }
                    found.append(
                        violation(
                            input.now, name, found: "after step \(last), and the app lived at step \(number)",
                            expected: "step \(number)"))
                    break
                }
            }
            last = max(last, input.algorithmTime)
        }
        if skipped > evidence.skipped {
            found.append(
                violation(
                    evidence.endedAt, "skipped grid points", found: "\(skipped)",
                    expected: "\(evidence.skipped), as counted"))
        }
        return found + missing(evidence, grid: grid, last: last) + unreported(evidence)
    }

    /// Points after the last step.
    private static func missing(_ evidence: SwarmEvidence, grid: Instant, last: Int64) -> [Violation] {
        var number = last + 1
        while true {
            let next = grid.adding(number * LoopTiming.step)
            let latest = next.adding(LoopTiming.earlyWindow)
            guard latest < evidence.endedAt else { return [] }
            guard evidence.isAppDead(from: next, to: latest) else {
                return [violation(next, "step \(number)", found: "none", expected: "one on its grid point")]
            }
            number += 1
        }
    }

    /// What the loop says of its steps is what its algorithm was asked.
    private static func unreported(_ evidence: SwarmEvidence) -> [Violation] {
        for (step, said) in zip(evidence.steps, evidence.loopSteps)
        where step.input.algorithmTime != said.algorithmTime || step.input.now != said.instant {
            return [
                violation(
                    said.instant, "the loop's record", found: "step \(said.algorithmTime)",
                    expected: "step \(step.input.algorithmTime)")
            ]
        }
        let missing = evidence.steps.count - evidence.loopSteps.count
        guard missing < 0 || missing > (evidence.endedEarly == nil ? 0 : 1) else { return [] }
        return [
            violation(
                evidence.endedAt, "the loop's record", found: "\(evidence.loopSteps.count) steps",
                expected: "\(evidence.steps.count)")
        ]
    }
}

/// Not a pulse appears or disappears between loop, pump, account and body, and the algorithm is told what never arrived.
enum InsulinConserved: SwarmInvariant {
    static let name = "insulin-conserved"
    static let promise =
        "requested = delivered + refused + lost + uncertain + held, to a pulse; account, body, loop and algorithm agree on it"

    static func violations(in evidence: SwarmEvidence) -> [Violation] {
        account(evidence) + body(evidence) + loop(evidence) + algorithm(evidence)
    }

    private static func account(_ evidence: SwarmEvidence) -> [Violation] {
        var found: [Violation] = []
        var (requested, pushed): (Int64, Int64) = (0, 0)
        for call in evidence.calls {
            requested += call.counted
            pushed += call.pushed
            var mayCount: Int64 = 0
            if case .request(let amount) = call.kind { mayCount = evidence.device.wholePulses(in: amount) }
            if !call.isBalanced || (call.counted != 0 && call.counted != mayCount) {
                found.append(
                    violation(
                        call.instant, "the pump's account",
                        found: "\(call.counted) pulses counted, \(call.isBalanced ? "" : "un")balanced",
                        expected: "\(mayCount) counted or none, and a balance"))
            }
        }
        let ledger = evidence.ledger
        if !ledger.isBalanced || ledger.requested != requested || ledger.pushed != pushed {
            found.append(
                violation(
                    evidence.endedAt, "the pump's account",
                    found:
                        "\(ledger.requested) = \(ledger.delivered) + \(ledger.refused) + \(ledger.lost) + "
                        + "\(ledger.uncertain) + \(ledger.held)",
                    expected: "a balance, with \(requested) requested and \(pushed) pushed"))
        }
        return found
    }

    private static func body(_ evidence: SwarmEvidence) -> [Violation] {
        let pulse = evidence.device.pulse.units
        let received = (evidence.bodyBolus + evidence.bodyBasal) / pulse
        let sent = Double(evidence.ledger.delivered + evidence.ledger.basal)
        // A delivery that is stopped is rounded to a pulse; each flow that ends leaves part of one.
        let slack = 1e-4 + 0.5 * Double(evidence.stops) + Double(evidence.basalChanges)
        guard abs(received - sent) > slack, !evidence.leftRange else { return [] }
        return [
            violation(
                evidence.endedAt, "the body's insulin", found: "\(received) pulses",
                expected: "\(sent), as the pump delivered")
        ]
    }

    /// What the loop believes of a request, once it is answered or settled, is what the pump did.
    private static func loop(_ evidence: SwarmEvidence) -> [Violation] {
        let pushed = evidence.pushedByRequest()
        let cut = evidence.cutByRequest()
        var found: [Violation] = []
        func judge(_ id: Int64, _ amount: InsulinAmount, at instant: Instant) {
            let believed = evidence.device.wholePulses(in: amount)
            guard believed != pushed[id] ?? 0, believed != cut[id] else { return }
            found.append(
                violation(
                    instant, "request \(id)", found: "\(believed) pulses in the loop's eyes",
                    expected: "\(pushed[id] ?? 0), as pushed"))
        }
        let settled = Set(evidence.settled.map(\.id))
        let open = Set(evidence.unanswered.map(\.id)).subtracting(settled)
        for step in evidence.loopSteps
        where !settled.contains(step.algorithmTime) && !open.contains(step.algorithmTime) {
            judge(step.algorithmTime, step.accepted, at: step.instant)
        }
        for outcome in evidence.settled { judge(outcome.id, outcome.amount, at: outcome.instant) }
        return found
    }

    /// An algorithm that counted a dose hears of it when it never came.
    private static func algorithm(_ evidence: SwarmEvidence) -> [Violation] {
        let pushed = evidence.pushedByRequest()
        let cut = evidence.cutByRequest()
        let pulse = evidence.device.pulse.units
        var told: [Int64: InsulinAmount] = [:]
        var found: [Violation] = []
        for step in evidence.steps where step.output != nil {
            guard let shortfall = step.input.shortfall else { continue }
            told[shortfall.algorithmTime, default: .zero] += shortfall.amount
        }
        var asked: [Int64: Double] = [:]
        var known: [Int64: Instant] = [:]
        for call in evidence.calls {
            guard case .request(let amount) = call.kind, let id = call.id else { continue }
            asked[id] = max(asked[id] ?? 0, amount.units)
            known[id] = call.instant
        }
        // What was left to the pump's own basal or was above the maximum was decided with the rest, and never asked for.
        for left in evidence.leftToPump + evidence.cuts { asked[left.id]? += left.amount.units }
        for outcome in evidence.unanswered { known[outcome.id] = .distantFuture }
        for outcome in evidence.settled { known[outcome.id] = outcome.instant }
        let lastGood = evidence.steps.last { $0.output != nil }?.input.now ?? .start
        for step in evidence.steps {
            let id = step.input.algorithmTime
            guard let output = step.output, let asked = asked[id], let known = known[id] else { continue }
            let came = Double(cut[id] ?? pushed[id] ?? 0) * pulse
            // It was told of what was withheld as of insulin that comes with this request.
            let withheld = step.input.pumpBasal?.withheld.units ?? 0
            let own = (output.basal + output.correction).units + withheld
            let heard = told[id]?.units ?? 0
            if heard + came > asked + withheld + 1e-6 {
                found.append(
                    violation(
                        min(known, evidence.endedAt), "step \(id)",
                        found: "told that \(heard) U never came, and \(came) U did",
                        expected: "\(asked) U in all"))
            } else if pushed[id] ?? 0 == 0, own > 0, known < lastGood, abs(heard - own) > 1e-9 {
                found.append(
                    violation(
                        min(known, evidence.endedAt), "step \(id), whose request never arrived",
                        found: "told of \(heard) U",
                        expected: "\(own) U"))
            }
        }
        return found
    }
}

/// Three steps after the last fault the loop has glucose, a pump, and doses again.
enum LoopRecovers: SwarmInvariant {
    static let name = "loop-recovers"
    static let promise =
        "from the third step after the faults' end on, each step has fresh glucose and a pump, and does not fail"

    static func violations(in evidence: SwarmEvidence) -> [Violation] {
        guard let first = evidence.steps.first?.input.now else { return noSteps(evidence) }
        let faults = faults(evidence)
        var found: [Violation] = []
        var said: [Int64: SwarmEvidence.LoopStep] = [:]
        for step in evidence.loopSteps { said[step.algorithmTime] = step }
        for step in evidence.steps {
            let now = step.input.now
            // The third grid point after an instant is more than two steps away from it.
            let since = now.adding(-2 * LoopTiming.step)
            guard !faults.contains(where: { $0.overlaps(from: since, to: now) }) else { continue }
            var lacks: [String] = []
            if step.input.cgm == nil { lacks.append("no fresh glucose") }
            let isBolusing = evidence.boluses.contains { $0.began < now && $0.ended >= now }
            if !step.input.insulinPump.isAvailable, !isBolusing { lacks.append("no pump") }
            if step.output == nil || said[step.input.algorithmTime]?.hasFailed != false,
                now < evidence.endedAt
            {
                lacks.append("a failure")
            }
            guard !lacks.isEmpty else { continue }
            found.append(
                violation(
                    now, "step \(step.input.algorithmTime), \(quiet(evidence, faults, now))",
                    found: lacks.joined(separator: ", "), expected: "glucose, a pump and no failure"))
        }
        if first.nanoseconds > 2 * LoopTiming.step + LoopTiming.earlyWindow,
            !faults.contains(where: { $0.instant < first })
        {
            found += [violation(first, "the first step", found: "this late", expected: "by the third point")]
        }
        return found
    }

    private static func noSteps(_ evidence: SwarmEvidence) -> [Violation] {
        let faults = faults(evidence)
        let ends = faults.map(\.end).max() ?? .start
        guard ends < evidence.endedAt.adding(-3 * LoopTiming.step) else { return [] }
        return [violation(ends, "the loop", found: "no step", expected: "three after the faults")]
    }

    private static func quiet(_ evidence: SwarmEvidence, _ faults: [FaultRow], _ now: Instant) -> String {
        guard let last = faults.filter({ $0.end <= now }).max(by: { $0.end < $1.end }) else {
            return "before any fault"
        }
        return
            "\((now.nanoseconds - last.end.nanoseconds) / Nanoseconds.minute) min after the end of \(last.kind)"
    }

    /// When something truly hindered the loop. An occlusion doesn't before its pod is stopped, a failing site and a compression
    /// never do.
    static func faults(_ evidence: SwarmEvidence) -> [FaultRow] {
        evidence.spans(
            of: .signalLoss, .temporarySensorError, .sensorFailure, .lateSensorChange, .pumpOutage,
            .commandFailure, .uncertainDelivery, .podFault)
            + evidence.appFaults + evidence.sensorGaps + evidence.podGaps
    }
}

extension SwarmEvidence {
    /// When the app was dead.
    var appFaults: [FaultRow] { faults.filter { $0.kind.hasPrefix("app-") } }

    func isAppDead(from: Instant, to: Instant) -> Bool {
        appFaults.contains { $0.end > $0.instant && $0.overlaps(from: from, to: to) }
    }
}
