// The invariant of insulin that did not come: who lives with the loop is told in time.

import IsletLoop
import IsletDevices
import IsletKernel
import IsletModels

/// Where a fifth of the programme of two hours is missing, it is told within a quarter of an hour.
enum MissingIsTold: SwarmInvariant {
    static let name = "missing-told"
    static let promise =
        "where more than a fifth of two hours' programme, and a pulse, is missing under an active pod, `LOOP-INSULIN-MISSING` is active or rings within 5 min, the app alive or dead"

    /// A step may begin early, and wait for its reading.
    private static let within = LoopTiming.step + 2 * LoopTiming.earlyWindow

    static func violations(in evidence: SwarmEvidence) -> [Violation] {
        guard let first = evidence.steps.first(where: { $0.input.firstStepTime != nil }),
            let grid = first.input.firstStepTime
        else { return [] }
        let perStep = first.input.therapy.basalRate.unitsPerHour / 12
        guard perStep > 0 else { return [] }
        let pulse = evidence.device.pulse.units
        let (missing, madeGood, asked) = missing(evidence, grid: grid, perStep: perStep)
        let wantedNothing = evidence.steps.filter(\.wantsNothing).map { Int($0.input.algorithmTime) }
        let told = toldSpans(evidence)
        /// What the pump gives by itself stands in for what was asked for before, unless it would have given that anyway.
        func flow(_ first: Int, _ last: Int) -> Double {
            guard evidence.basalSource == .algorithm else { return 0 }
            return evidence.flow(
                from: grid.adding(Int64(first) * LoopTiming.step),
                to: grid.adding(Int64(last + 1) * LoopTiming.step))
        }
        var found: [Violation] = []
        // A stretch is told of once.
        var since: (instant: Instant, isFound: Bool)?
        for number in missing.indices {
            let from = max(0, number + 1 - Int(BasalAccount.window))
            let at = grid.adding(Int64(number) * LoopTiming.step)
            // What comes later makes nothing good yet.
            func made(good of: ClosedRange<Int>) -> Double {
                madeGood.reduce(0) { $1.by <= number && of.contains($1.of) ? $0 + $1.units : $0 }
            }
            /// Of what a step asked for beyond the programme, which a zero takes and the pump's basal gives.
            func left(_ step: Int, _ beyond: Double) -> Double {
                min(beyond, missing[step] - flow(step, step) - made(good: step...step))
            }
            var good = made(good: from...number)
            // One request that was lost alone, and that nobody wanted any more. What was given later, as a zero had withheld it, or in its place is
            // not lost.
            let lost = asked.filter { (from...number).contains($0.step) && left($0.step, $0.beyond) >= pulse }
            if lost.count == 1, wantedNothing.contains(where: { $0 > lost[0].step && $0 <= number }) {
                good += left(lost[0].step, lost[0].beyond)
            }
            let flowed = flow(from, number)
            let sum = missing[from...number].reduce(0, +) - good - flowed - pulse
            let programmed = perStep * Double(number + 1 - from)
            guard number >= BasalAccount.begins, sum > (1 - BasalAccount.bound / 100) * programmed else {
                since = nil
                continue
            }
            let begun = since?.instant ?? at
            if since == nil { since = (at, false) }
            let due = begun.adding(within)
            guard at >= due, since?.isFound == false,
                !told.contains(where: { $0.instant <= due && $0.end > begun })
            else { continue }
            since?.isFound = true
            let share = Int((100 * (1 - sum / programmed)).rounded())
            found.append(
                violation(
                    at, "the insulin of two hours", found: "\(share) % came, and nobody was told",
                    expected: "told by minute \(due.minutes)"))
        }
        return found
    }

    /// U of each grid point that nobody pushed: what a step with a fresh reading asked for, and the programme where no step ran. What the
    /// pump gave by itself is to be taken off. Without an active pod nothing counts. What came of a step above the programme was asked for
    /// before, and is made good by that step; what a low forbids to give afterwards is nobody's loss.
    private static func missing(
        _ evidence: SwarmEvidence, grid: Instant, perStep: Double
    ) -> (
        missing: [Double], madeGood: [(by: Int, of: Int, units: Double)], asked: [(step: Int, beyond: Double)]
    ) {
        let count = Int((evidence.endedAt.nanoseconds - grid.nanoseconds) / LoopTiming.step)
        guard count > 0 else { return ([], [], []) }
        var madeGood: [(by: Int, of: Int, units: Double)] = []
        /// Of what was asked for: what is not made good yet.
        var lacking = [Double](repeating: 0, count: count)
        var asked: [(step: Int, beyond: Double)] = []
        let programme = evidence.basalSource == .algorithm ? perStep : 0
        var missing = [Double](repeating: 0, count: count)
        let pushed = evidence.pushedByRequest()
        let pulse = evidence.device.pulse.units
        var ran = [Bool](repeating: false, count: count)
        /// What a step was given of what a zero withheld before it.
        var repaid: [(number: Int, units: Double)] = []
        var rest = 0.0
        for (place, step) in evidence.steps.enumerated() {
            let number = Int(step.input.algorithmTime)
            guard ran.indices.contains(number), let output = step.output else { continue }
            ran[number] = true
            guard !step.input.isOpenLoop, step.input.cgm != nil else { continue }
            let given = Double(pushed[step.input.algorithmTime] ?? 0) * pulse
            // Above the maximum bolus the step's own part goes first: that is a limit's, and not missing.
            let room = max(0, step.input.therapy.maximumBolus.units - output.meal.units)
            let own = min((output.basal + output.correction).units, room)
            if given > 0 {
                // What a zero withheld comes first, of each step its programme at most.
                if let withheld = step.input.pumpBasal?.withheld, withheld > .zero {
                    repaid.append((number, min(withheld.units, max(0, given - own))))
                    repay(repaid.last, to: &lacking, perStep: perStep)
                }
                var extra = max(0, min(own, given) - programme)
                for before in lacking[..<number].indices.reversed() where extra > 0 && lacking[before] > 0 {
                    let good = min(extra, lacking[before])
                    lacking[before] -= good
                    extra -= good
                    madeGood.append((number, before, good))
                }
                rest = min(pulse, max(0, rest + own - given))
            } else if rest + own < pulse {
                rest += own
            } else if !evidence.isGivingABolus(at: step) {
                missing[number] = own
                lacking[number] = own
                asked.append((number, own - programme))
            }
            if evidence.basalSource == .temporary { missing[number] += evidence.refusedFlow(ofStepAt: place) }
        }
        for number in missing.indices where missing[number] > 0 || !ran[number] {
            let begin = grid.adding(Int64(number) * LoopTiming.step)
            let end = begin.adding(LoopTiming.step)
            guard !evidence.podGaps.contains(where: { $0.overlaps(from: begin, to: end) }) else {
                missing[number] = 0
                continue
            }
            // Where the pump gives the basal it does so without steps too, and a rate that one of them set is no loss.
            if !ran[number], evidence.basalSource == .algorithm { missing[number] = perStep }
        }
        for one in repaid { repay(one, to: &missing, perStep: perStep) }
        return (missing, madeGood + heldBack(evidence, missing, perStep: perStep), asked)
    }

    /// A zero withholds a step's programme, and no more; the newest is repaid first.
    private static func repay(
        _ repaid: (number: Int, units: Double)?, to lacking: inout [Double], perStep: Double
    ) {
        guard var (number, left) = repaid else { return }
        while left > 0, number > 0 {
            number -= 1
            let paid = min(left, lacking[number], perStep)
            lacking[number] -= paid
            left -= paid
        }
    }

    /// The programme that was withheld since a step could dose, where a step then has a low, or foresees one: it would give nothing of it.
    private static func heldBack(
        _ evidence: SwarmEvidence, _ missing: [Double], perStep: Double
    ) -> [(by: Int, of: Int, units: Double)] {
        var found: [(by: Int, of: Int, units: Double)] = []
        let pushed = evidence.pushedByRequest()
        var begin = 0
        for step in evidence.steps {
            let number = Int(step.input.algorithmTime)
            guard missing.indices.contains(number), begin <= number else { continue }
            let glucose = step.input.cgm?.glucose.milligramsPerDecilitre ?? .infinity
            let foreseen = step.output?.forecast?.milligramsPerDecilitre ?? .infinity
            if glucose < 80 || foreseen < 70 {
                for withheld in begin..<number where missing[withheld] > 0 {
                    found.append((number, withheld, min(perStep, missing[withheld])))
                }
                begin = number
            }
            // What was withheld, and sent, and never came, is withheld still.
            let isLost =
                step.input.pumpBasal?.withheld ?? .zero > .zero
                && pushed[step.input.algorithmTime, default: 0] == 0
            if step.input.insulinPump.isAvailable, !isLost { begin = number + 1 }
        }
        return found
    }

    /// From each raise or ring to the end of its episode.
    private static func toldSpans(_ evidence: SwarmEvidence) -> [FaultRow] {
        var spans: [FaultRow] = []
        for row in evidence.alerts where row.code.rawValue == "LOOP-INSULIN-MISSING" {
            switch row.effect {
            case "raise", "notify":
                if spans.last?.end != .distantFuture {
                    spans.append(FaultRow(instant: row.instant, end: .distantFuture, kind: ""))
                }
            case "clear":
                if let last = spans.indices.last { spans[last].end = min(spans[last].end, row.instant) }
            default: break
            }
        }
        return spans
    }
}

/// An hour without insulin is told, whatever has died: the pod, the way to it, or the app.
enum PodIsTold: SwarmInvariant {
    static let name = "pod-told"
    static let promise =
        "where no pod gives insulin for an hour, somebody was rung in it, in the hour before, or since the app is dead, about pump, insulin or steps, or such an alert is active"

    /// Any of them sends a person to the pump, or to the app that shows it.
    private static let alerts: Set<String> = [
        "ALERT-PUMP-FAULT", "ALERT-PUMP-NO-ACTIVE-POD", "ALERT-PUMP-SIGNAL-LOSS", "LOOP-INSULIN-MISSING",
        "ALERT-ALGORITHM-STEPPING-INTERRUPTED",
    ]

    static func violations(in evidence: SwarmEvidence) -> [Violation] {
        let rows = evidence.alerts.filter { alerts.contains($0.code.rawValue) }
        let episodes = Set(rows.map(\.code)).flatMap { evidence.episodes(of: $0) }
        return evidence.podGaps.compactMap { gap in
            let due = gap.instant.adding(Nanoseconds.hour)
            guard min(gap.end, evidence.endedAt) >= due else { return nil }
            // Of a pod that fails while the app is dead nobody can tell: its death was told, and nobody opened it.
            let deaths = evidence.appFaults.filter { $0.overlaps(from: gap.instant, to: due) }
            let from = deaths.map(\.instant).reduce(gap.instant.adding(-Nanoseconds.hour), min)
            // Who has the app in front of them is shown it, and not rung.
            let isTold =
                rows.contains {
                    ($0.effect == "notify" || $0.effect == "suppress" && $0.reason == "foreground")
                        && $0.instant >= from && $0.instant <= due
                }
                || episodes.contains { $0.overlaps(from: due, to: due) }
            guard !isTold else { return nil }
            return violation(
                due, "an hour without a pod", found: "nobody was rung",
                expected: "a ring about pump, insulin or steps by then")
        }
    }
}

extension SwarmEvidence.Step {
    /// It could dose, and asked for no basal and no correction.
    fileprivate var wantsNothing: Bool {
        guard let output, !input.isOpenLoop, input.cgm != nil, input.insulinPump.isAvailable else {
            return false
        }
        return output.basal + output.correction <= .zero
    }
}

extension SwarmEvidence {
    /// The pump could take no bolus beside the one that it gave: that is its limit, and not missing.
    func isGivingABolus(at step: Step) -> Bool {
        let now = step.input.now
        return step.isPumpInReach && boluses.contains { $0.began <= now && now < $0.ended }
    }

    /// U that a step's temporary rate would have given during its step, and that did not flow: the pump never took the rate.
    ///
    /// The step after it has a wish of its own: where one ran late, the next may follow at once.
    func refusedFlow(ofStepAt place: Int) -> Double {
        let step = steps[place]
        guard let answer = step.output?.temporaryBasal, answer.minutes > 0 else { return 0 }
        let begin = step.input.now
        let next = place + 1 < steps.count ? steps[place + 1].input.now : .distantFuture
        let end = min(next, begin.adding(LoopTiming.step - LoopTiming.earlyWindow))
        // Of a rate that went with its pod out of reach nobody knows before the pump is back: as far as the loop knows, it runs.
        if !step.isPumpInReach {
            let seen = steps[..<place].last(where: \.isPumpInReach)?.input.now ?? .start
            if podGaps.contains(where: { $0.overlaps(from: seen, to: end) }) { return 0 }
        }
        let hours = Double(end.nanoseconds - begin.nanoseconds) / Double(Nanoseconds.hour)
        let wanted = min(answer.rate, step.input.therapy.maximumBasal).unitsPerHour
        let lacking = wanted - flow(from: begin, to: end) / hours
        return lacking > device.basalStep.unitsPerHour / 2 + 1e-9 ? lacking * hours : 0
    }

    /// U of the pump's own basal between two instants.
    func flow(from begin: Instant, to end: Instant) -> Double {
        var units = 0.0
        for place in flows.indices {
            let until = place + 1 < flows.count ? flows[place + 1].instant : .distantFuture
            let (from, to) = (max(begin, flows[place].instant), min(end, until))
            if from < to {
                units +=
                    flows[place].unitsPerHour * Double(to.nanoseconds - from.nanoseconds)
                    / Double(Nanoseconds.hour)
            }
        }
        return units
    }
}
