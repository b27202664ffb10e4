// Algorithms that set temporary rates under every kind of fault: their ledger beside the pump, and what a dead phone leaves running.

import Foundation
import IsletFiles
@testable import Swarm
@testable import IsletLoop
import IsletDevices
import IsletKernel
import IsletModels
import Testing

@testable import IsletTrials

/// Three times the programme for half an hour, at every step.
private struct AlwaysHigh: DosingAlgorithm {
    let name = "always-high"
    let basalSource = BasalSource.temporary

    func run(_ input: borrowing StepInput, state: inout NoState) -> StepOutput {
        var output = StepOutput()
        let rate = 3 * input.therapy.basalRate.unitsPerHour
        output.temporaryBasal = TemporaryBasalAnswer(rate: InsulinRate(unitsPerHour: rate), minutes: 30)
        return output
    }
}

@Suite("Temporary basal rates under faults")
struct TemporaryBasalSwarmTests {
    static let algorithms: [TunedAlgorithm] = [.oref1Style, .loopStyle]

    @Test("break no invariant of the swarm", arguments: algorithms)
    func holds(_ algorithm: TunedAlgorithm) throws {
        let quiet = ProgressLine(sessions: 40, style: .silent)
        let verdicts = try Swarm(seeds: 1...40, jobs: 2, algorithm: algorithm).run(progress: quiet)
        for verdict in verdicts {
            #expect(verdict.violations.isEmpty, "seed \(verdict.seed): \(verdict.violations.prefix(2))")
        }
        #expect(verdicts.reduce(0) { $0 + $1.faults } > 300)
    }

    @Test(
        "leave an algorithm's ledger with what the pump pushed, to a pulse, after days of faults",
        arguments: algorithms)
    func ledger(_ algorithm: TunedAlgorithm) throws {
        var compared = 0
        for seed in 1...60 as ClosedRange<UInt64> {
            let trial = try Swarm(seeds: seed...seed, jobs: 1, algorithm: algorithm).trial(seed)
            let evidence = try trial.watch().0
            for miss in LedgerCheck.misses(in: evidence, compared: &compared) {
                Issue.record("seed \(seed): \(miss)")
            }
        }
        #expect(compared > 5000)
    }

    @Test("go on for two hours' death of the phone until their end, and no minute longer")
    func deadPhone() throws {
        let study = try Study.parse(
            """
            study: dead
            seed: 11
            duration: 6h
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 200 } }
            scenario: { meals: [] }
            faults: { scheduled: [{ at: 3h2m, kind: app-quit, for: 2h }] }
            arms: [{ algorithm: oref1-style }]
            """, file: "dead.yaml")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 2)
        #expect(subjects.count == 200)
        for (index, subject) in subjects.enumerated() {
            let witness = SwarmWitness()
            var seams = witness.seams()
            let watched = seams.algorithm
            seams.algorithm = { _ in watched(AlwaysHigh()) }
            let session = try Session(
                study: study, subject: subject, index: index, arm: study.arms[0], seams: seams)
            session.executor.journal.observer = { witness.see($0) }
            let outcome = session.run()
            session.executor.journal.observer = nil
            let evidence = witness.finish(session, outcome)
            let dead = Instant.minutes(182)
            let back = Instant.minutes(302)
            // The last step before the death set it for half an hour.
            let last = try #require(evidence.steps.last { $0.input.now < dead }?.input.now)
            let ends = last.adding(30 * Nanoseconds.minute)
            let device = evidence.device
            let basal = try #require(evidence.steps.first).input.therapy.basalRate
            func rounded(_ rate: Double) -> InsulinRate {
                let step = device.basalStep.unitsPerHour
                return InsulinRate(unitsPerHour: (rate / step).rounded() * step)
            }
            let (high, programme) = (rounded(3 * basal.unitsPerHour), rounded(basal.unitsPerHour))
            for flow in evidence.flows where flow.instant >= dead && flow.instant < back {
                #expect(flow.instant == ends && flow.unitsPerHour == programme.unitsPerHour)
            }
            let before = evidence.flows.last { $0.instant < ends }?.unitsPerHour
            #expect(before == high.unitsPerHour)
            // By hand: what is left of the half hour, at the rate's height above the programme.
            let hours = Double(ends.nanoseconds - dead.nanoseconds) / Double(Nanoseconds.hour)
            let excess = (high.unitsPerHour - programme.unitsPerHour) * hours
            let flowed = evidence.flow(from: dead, to: back)
            #expect(abs(flowed - programme.unitsPerHour * 2 - excess) < 1e-9)
        }
    }

    @Test("are seen where they run on beyond their end, above the maximum, or at a height that no step named")
    func astray() throws {
        let trial = try Swarm(seeds: 3...3, jobs: 1, algorithm: .oref1Style).trial(3)
        let sound = try trial.with(.none).watch().0
        #expect(BasalFloor.violations(in: sound).isEmpty)
        let programme = try #require(sound.steps.first).input.therapy.basalRate.unitsPerHour
        let place = try #require(sound.flows.firstIndex { $0.unitsPerHour > programme + 0.1 })
        // Nobody asked for it.
        var evidence = sound
        evidence.flows[place].unitsPerHour += 0.2
        #expect(!BasalFloor.violations(in: evidence).isEmpty)
        evidence.flows[place].unitsPerHour = 5 * programme
        #expect(BasalFloor.violations(in: evidence).contains { $0.expected.hasPrefix("at most") })
        // It never ended.
        evidence = sound
        evidence.flows.removeSubrange((place + 1)...)
        evidence.steps.removeAll { $0.input.now > sound.flows[place].instant }
        #expect(BasalFloor.violations(in: evidence).contains { $0.expected.contains("from minute") })
    }
}

/// Closed loops for the oracle: what each step's decision went by, one a line, in the columns of Tests/Oracles/oref1_oracle.js.
@Suite("oref1-style in closed loop")
struct Oref1ClosedLoopTests {
    /// `ISLET_OREF1_DUMP=FILE` writes 20 people's week there; without, a person's day is looked at.
    @Test("decides by what its steps were told alone: run again on them it answers the same")
    func again() throws {
        let dump = ProcessInfo.processInfo.environment["ISLET_OREF1_DUMP"]
        let study = try Study.parse(
            """
            study: again
            seed: 21
            duration: \(dump == nil ? "1d" : "7d")
            sensor: dexcom-g7
            cohort: { generate: { model: uva-padova-2008, group: adult, count: \(dump == nil ? 2 : 20) } }
            faults: { signal-loss: true, pump-outage: true, command-failure: true }
            arms: [{ algorithm: oref1-style }]
            """, file: "again.yaml")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 2)
        var lines: [String] = []
        var algorithm = Oref1Style()
        algorithm.settings = .init()
        for (index, subject) in subjects.enumerated() {
            let evidence = try SwarmTrial(study: study, subject: subject, index: index).watch().0
            var state = Oref1Style.State()
            for step in evidence.steps {
                var output = StepOutput()
                var probe = state
                let situation = algorithm.understand(step.input, &output, &probe)
                if dump != nil { lines.append(Self.line(situation)) }
                #expect(algorithm.run(step.input, state: &state) == step.output)
            }
            #expect(evidence.steps.count > 200)
        }
        if let dump {
            try lines.joined(separator: "\n").write(toFile: dump, atomically: true, encoding: .utf8)
        }
    }

    private static func line(_ s: Oref1Situation) -> String {
        func number(_ value: Double) -> String { value.isFinite ? "\(value)" : "inf" }
        func flag(_ value: Bool) -> String { value ? "1" : "0" }
        func points(_ points: Oref1Situation.Points) -> String {
            points.indices.map { "\((points[$0] * 10_000).rounded())" }.joined(separator: ",")
        }
        let numbers = [
            s.glucose, s.delta, s.shortDelta, s.longDelta, s.minutesOld, s.basal, s.sensitivity, s.carbRatio,
            s.lowTarget, s.highTarget, s.iob, s.minutesSinceBolus, s.running.rate, s.running.minutes, s.carbs,
            s.carbsOnBoard, s.minutesSinceCarbs, s.slopeFromMax, s.slopeFromMin, s.ratio ?? 0,
        ].map(number)
        let last = [s.maximumIOB, s.maximumRate].map(number)
        let settings = [s.bolusMinutes, s.unannouncedBolusMinutes, s.bolusIncrement].map(number)
        let all =
            numbers + [flag(s.raisesTarget), flag(s.lowersTarget)] + last
            + [flag(s.expectsUnannounced), flag(s.allowsBoluses)] + settings
            + [flag(s.skipsNeutral), number(s.minuteOfHour), points(s.activity), points(s.zeroActivity)]
        return all.joined(separator: " ")
    }
}

/// A ledger filled from what a session's steps were told, beside the pump's own account.
enum LedgerCheck {
    static func misses(in evidence: SwarmEvidence, compared: inout Int) -> [String] {
        let pulse = evidence.device.pulse.units
        var ledger = InsulinLedger()
        var misses: [String] = []
        // What fell out of the ledger's eight hours is added up beside it.
        var before = 0.0
        var base: Int64?
        var asked: [(at: Instant, units: Double)] = []
        for step in evidence.steps {
            guard let output = step.output else { continue }
            let now = step.input.now
            let aged = ledger.aged(to: step.input.algorithmTime)
            before += ledger.sum - aged.sum
            ledger.take(step.input)
            if step.input.earlier != nil { return misses }
            if base == nil, step.isPumpInReach {
                base = step.basalPushed
                // Told for the first time after a time out of reach: an estimate of what was before.
                if let told = step.input.pumpBasal { before -= (told.amount - told.withheld).units }
            }
            // Where the pump answers, nothing is under way, and what came of everything has been told.
            if step.input.insulinPump.isAvailable, let base {
                compared += 1
                let known = ledger.sum + before
                let pushed = step.basalPushed - base + step.requestPushed - step.requestCut
                let truth = Double(pushed) * pulse
                // What the person still waits for is counted, and asked for again.
                asked.removeAll { now.nanoseconds - $0.at.nanoseconds > 4 * LoopTiming.step }
                let waiting = asked.reduce(0) { $0 + $1.units }
                let difference = known - truth
                if difference < -pulse - 1e-6 || difference > pulse + waiting + 1e-6 {
                    misses.append(
                        "step \(step.input.algorithmTime): \(known) U in the ledger, \(truth) U pushed")
                }
            }
            if output.meal > .zero { asked.append((now, output.meal.units)) }
            ledger.note(meal: output.meal, of: step.input)
            ledger.note(own: output.basal + output.correction, of: step.input)
        }
        return misses
    }
}
