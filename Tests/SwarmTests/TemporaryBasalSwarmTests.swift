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

/// What was seen of a session of the study's first arm, lived by another algorithm, and what it came to.
private func lived(
    _ study: Study, _ subject: VirtualSubject, _ index: Int, by algorithm: any DosingAlgorithm
) throws -> (evidence: SwarmEvidence, outcome: SessionOutcome) {
    let witness = SwarmWitness()
    var seams = witness.seams()
    let watched = seams.algorithm
    seams.algorithm = { _ in watched(algorithm) }
    let session = try Session(study: study, subject: subject, index: index, arm: study.arms[0], seams: seams)
    session.executor.journal.observer = { witness.see($0) }
    let outcome = session.run()
    session.executor.journal.observer = nil
    return (witness.finish(session, outcome), outcome)
}

@Suite("Temporary basal rates under faults")
struct TemporaryBasalSwarmTests {
    /// Whatever sets such rates.
    private static let kinds = AlgorithmKind.all.filter { $0.basalSource == .temporary }

    @Test("break no invariant of the swarm", arguments: kinds)
    func holds(_ kind: AlgorithmKind) throws {
        let quiet = ProgressLine(sessions: 40, style: .silent)
        let verdicts = try Swarm(seeds: 1...40, jobs: 2, algorithm: TunedAlgorithm(kind)).run(progress: quiet)
        for verdict in verdicts {
            #expect(verdict.violations.isEmpty, "seed \(verdict.seed): \(verdict.violations.prefix(2))")
        }
        #expect(verdicts.reduce(0) { $0 + $1.faults } > 300)
    }

    /// A rate that was never taken, one that went with its pod, a word between steps in the step's way, a death at the instant of a deadline: each told late, or by
    /// nobody.
    @Test(
        "break none at the seeds at which they once did",
        arguments: [
            (AlgorithmKind.loopStyle, [1937, 2918, 4828, 8300, 9940]), (.oref1Style, [5498]),
            (.hovorkaMPC, [4786, 4919, 7743, 7864, 9498]),
        ] as [(AlgorithmKind, [UInt64])])
    func onceBroken(_ kind: AlgorithmKind, _ seeds: [UInt64]) throws {
        for seed in seeds {
            let quiet = ProgressLine(sessions: 1, style: .silent)
            let swarm = Swarm(seeds: seed...seed, jobs: 1, algorithm: TunedAlgorithm(kind))
            for verdict in try swarm.run(progress: quiet) {
                #expect(verdict.violations.isEmpty, "seed \(seed): \(verdict.violations.prefix(2))")
                #expect(verdict.faults > 3)
            }
        }
    }

    /// `ISLET_LEDGER_DAYS` says how many days of each algorithm, where sixty are too few.
    @Test(
        "leave an algorithm's ledger with what the pump pushed, to a pulse, after days of faults",
        arguments: kinds)
    func ledger(_ kind: AlgorithmKind) throws {
        var compared = 0
        let days = ProcessInfo.processInfo.environment["ISLET_LEDGER_DAYS"].flatMap { UInt64($0) } ?? 60
        for seed in 1...max(60, days) {
            let trial = try Swarm(seeds: seed...seed, jobs: 1, algorithm: TunedAlgorithm(kind)).trial(seed)
            let evidence = try trial.watch().0
            for miss in LedgerCheck.misses(in: evidence, compared: &compared) {
                Issue.record("seed \(seed): \(miss)")
            }
        }
        #expect(compared > 5000)
        print("\(kind.id): \(compared) steps compared")
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
            let evidence = try lived(study, subject, index, by: AlwaysHigh()).evidence
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

    /// Harm: the third step whose rate the pump doesn't take makes a fifth of two hours' insulin missing, and the app dies before
    /// the fourth could say so.
    @Test(
        "that the pump never took are told of at the end of their step, the app dead; taken late they are not"
    )
    func refusedThenDead() throws {
        func rings(outage: String, death: String) throws -> [Instant?] {
            let study = try Study.parse(
                """
                study: refused
                seed: 12
                duration: 4h
                cohort: { generate: { model: uva-padova-2008, group: adult, count: 10 } }
                scenario: { meals: [] }
                faults:
                  scheduled:
                    - { at: 3h0m30s, kind: pump-outage, for: \(outage) }
                    - { at: \(death), kind: app-quit, for: 9m }
                arms: [{ algorithm: oref1-style }]
                """, file: "refused.yaml")
            let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 2)
            return try subjects.enumerated().map { index, subject in
                return try lived(study, subject, index, by: AlwaysHigh()).evidence.alerts.first {
                    $0.code.rawValue == "LOOP-INSULIN-MISSING" && $0.effect == "notify"
                }?.instant
            }
        }
        for instant in try rings(outage: "50m", death: "3h40m33s") {
            let instant = try #require(instant)
            #expect(instant >= .minutes(224) && instant <= .minutes(226), "\(instant)")
        }
        for instant in try rings(outage: "40m30s", death: "3h43m") { #expect(instant == nil) }
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
                var (situation, activity) = (Oref1Situation(), Oref1Activity())
                algorithm.understand(step.input, &output, &probe, &situation, &activity)
                if dump != nil { lines.append(Self.line(situation, activity)) }
                #expect(algorithm.run(step.input, state: &state) == step.output)
            }
            #expect(evidence.steps.count > 200)
        }
        if let dump {
            try lines.joined(separator: "\n").write(toFile: dump, atomically: true, encoding: .utf8)
        }
    }

    private static func line(_ s: Oref1Situation, _ activity: Oref1Activity) -> String {
        func number(_ value: Double) -> String { value.isFinite ? "\(value)" : "inf" }
        func flag(_ value: Bool) -> String { value ? "1" : "0" }
        func points(_ points: Oref1Activity.Points) -> String {
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
            + [flag(s.skipsNeutral), number(s.minuteOfHour), points(activity.ahead), points(activity.zero)]
        return all.joined(separator: " ")
    }
}

/// The same persons' weeks twice: by ours, and by oref0 itself, from its own counts of insulin and carbohydrate to its decision.
@Suite("oref1-style in closed loop, beside oref0 in closed loop")
struct Oref1BesideOref0Tests {
    /// `ISLET_OREF0` names a checkout of oref0 0.7.1, without which there is nothing to run. What comes out stands in docs/algorithms/oref1-style.md.
    ///
    /// Where its history is the rates that ran, it makes pulses of 0.05 U of them: who differs by these lives another week, and the last expectation is not met.
    @Test(
        "gives the same until a rounding's edge, and the same time in range to a tenth",
        .enabled(if: ProcessInfo.processInfo.environment["ISLET_OREF0"] != nil), .serialized,
        arguments: Oref0Algorithm.Count.allCases)
    fileprivate func beside(_ count: Oref0Algorithm.Count) throws {
        // Readings come with the step that hears of them: oref0 reckons what insulin does at the reading, ours at the step.
        let study = try Study.parse(
            """
            study: beside
            seed: 21
            duration: 7d
            sensor: ideal
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 20 } }
            arms: [{ algorithm: oref1-style }]
            """, file: "beside.yaml")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 2)
        let oracle = try Oref0Process()
        var (steps, equal, worst, sum) = (0, 0, 0.0, 0.0)
        for (index, subject) in subjects.enumerated() {
            func week(_ other: any DosingAlgorithm) throws -> ([StepOutput], Double) {
                let (evidence, outcome) = try lived(study, subject, index, by: other)
                let inRange = try #require(outcome.outcomes["tir_70_180_percent"])
                return (evidence.steps.compactMap(\.output), inRange)
            }
            let ours = try week(SensorRange(within: Oref1Style()))
            let theirs = try week(SensorRange(within: Oref0Algorithm(oracle, countsBy: count)))
            #expect(ours.0.count == theirs.0.count)
            let first = zip(ours.0, theirs.0).enumerated().first { !Self.same($0.element.0, $0.element.1) }
            steps += ours.0.count
            equal += zip(ours.0, theirs.0).count { Self.same($0, $1) }
            worst = max(worst, abs(ours.1 - theirs.1))
            sum += ours.1 - theirs.1
            if let (at, (a, b)) = first {
                print(
                    "\(subject.name): equal for \(at) of \(ours.0.count) steps; then \(Self.text(a)), theirs \(Self.text(b)); in range \(ours.1) \(theirs.1)"
                )
            } else {
                print("\(subject.name): equal for all \(ours.0.count) steps")
            }
        }
        let mean = sum / Double(subjects.count)
        print(
            """
            by \(count): \(equal) of \(steps) answers equal; time in range differs by \(mean) points on the mean, within \(worst); asked the \
            same at each of oref0's own steps, ours differs at \(oracle.differences.count) of \(oracle.asked)
            """)
        for difference in oracle.differences.prefix(20) { print(difference) }
        #expect(abs(mean) < 0.1)
        if count == .deliveries {
            #expect(Double(oracle.differences.count) < 0.001 * Double(oracle.asked))
            #expect(oracle.asked > 40_000)
        }
        #expect(worst < 0.1)
    }

    private static func same(_ a: StepOutput, _ b: StepOutput) -> Bool {
        a.correction == b.correction && a.meal == b.meal && a.temporaryBasal == b.temporaryBasal
    }

    private static func text(_ a: StepOutput) -> String {
        let rate = a.temporaryBasal.map { "\($0.rate.unitsPerHour) U/h for \($0.minutes) min" }
        return "\(a.correction.units) U and \(rate ?? "no rate")"
    }
}

/// Tests/Oracles/oref1_loop_oracle.js, asked line by line.
private final class Oref0Process: @unchecked Sendable {
    private let process = Process()
    private let questions = Pipe()
    private let answers = Pipe()
    private var rest = Data()
    var asked = 0
    /// Ours, asked the same, answered otherwise.
    var differences: [String] = []

    init() throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Oracles/oref1_loop_oracle.js")
        process.executableURL = URL(filePath: "/usr/bin/env")
        let checkout = ProcessInfo.processInfo.environment["ISLET_OREF0"] ?? ""
        process.arguments = ["node", script.path, checkout]
        process.standardInput = questions
        process.standardOutput = answers
        try process.run()
    }

    deinit {
        try? questions.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    struct Answer: Decodable {
        var rate, minutes, bolus: Double?
        var iob, cob: Double?
        var error: String?
    }

    func ask(_ question: some Encodable) throws -> Answer {
        try questions.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(question) + Data("\n".utf8))
        while true {
            if let end = rest.firstIndex(of: 10) {
                let line = rest[rest.startIndex..<end]
                rest = Data(rest[rest.index(after: end)...])
                let answer = try JSONDecoder().decode(Answer.self, from: Data(line))
                if let error = answer.error { throw Failure(text: error) }
                return answer
            }
            let more = answers.fileHandleForReading.availableData
            guard !more.isEmpty else { throw Failure(text: "oref0 has ended") }
            rest += more
        }
    }

    struct Failure: Error { var text: String }
}

/// Readings as a real sensor has them, from 40 to 400: oref0 passes over what is below 39.
private struct SensorRange<Inner: DosingAlgorithm>: DosingAlgorithm {
    let within: Inner
    var name: String { within.name }
    var basalSource: BasalSource { within.basalSource }

    func run(_ input: borrowing StepInput, state: inout Inner.State) throws -> StepOutput {
        var input = copy input
        if let reading = input.cgm {
            let value = min(400, max(40, reading.glucose.milligramsPerDecilitre))
            input.cgm = GlucoseReading(
                instant: reading.instant, glucose: GlucoseConcentration(milligramsPerDecilitre: value))
        }
        return try within.run(input, state: &state)
    }
}

/// oref0 as a session's algorithm. It hears of readings, meals, boluses and rates, and counts for itself.
private struct Oref0Algorithm: DosingAlgorithm {
    struct State: AlgorithmState {
        var hasBegun = false
        /// Min.
        var last = 0.0
        /// What was asked for at the last step.
        var bolus = 0.0
        /// The end of the temporary rate that it knows of, min.
        var ends = -1.0
        var rate = -1.0
        /// Ours, told the same, and that oref0's insulin is what was asked for.
        var ours = Oref1Style.State()
    }

    private struct Question: Encodable {
        struct Glucose: Encodable { var value, at: Double }
        struct Temp: Encodable { var at, rate, minutes: Double }
        struct Bolus: Encodable { var at, units: Double }
        var begin: Bool
        var now: Double
        var glucose: Glucose?
        var temps: [Temp] = []
        var boluses: [Bolus] = []
        var flows: [Bolus] = []
        var meal: Double
        var mealAt = 0.0
        /// Whether small boluses are on: a pump that still gives a meal's takes none.
        var small = true
        var hours = 6.0, peak = 75.0
        var basal, sens, cr, target, maxIOB, maxRate: Double
        var rate = 0.0, minutes = 0.0
    }

    /// What its history of insulin is made of.
    enum Count: CaseIterable {
        /// What the pump gave in each five minutes beyond or below its programme.
        case deliveries
        /// The rates that run, as a rig reads them: oref0 makes pulses of 0.05 U of them.
        case rates
    }

    let oracle: Oref0Process
    let countsBy: Count
    let name = "oref0"
    let basalSource = BasalSource.temporary

    init(_ oracle: Oref0Process, countsBy: Count) { (self.oracle, self.countsBy) = (oracle, countsBy) }

    func run(_ input: borrowing StepInput, state: inout State) throws -> StepOutput {
        let therapy = input.therapy
        let now = input.now.minutes
        var output = StepOutput()
        let grams = input.user.meal?.carbohydrate.grams ?? 0
        output.meal = InsulinAmount(units: grams / therapy.carbohydrateRatioGramsPerUnit)
        var question = Question(
            begin: !state.hasBegun, now: now, meal: grams, basal: therapy.basalRate.unitsPerHour,
            sens: therapy.correctionFactorMgdlPerUnit, cr: therapy.carbohydrateRatioGramsPerUnit,
            target: input.target.milligramsPerDecilitre,
            maxIOB: 50 / therapy.carbohydrateRatioGramsPerUnit + 3 * therapy.basalRate.unitsPerHour,
            maxRate: therapy.maximumBasal.unitsPerHour)
        question.small = input.insulinPump.isAvailable
        question.mealAt = input.user.meal?.instant.minutes ?? now
        question.glucose = input.cgm.map {
            .init(value: $0.glucose.milligramsPerDecilitre, at: $0.instant.minutes)
        }
        if let running = input.temporaryBasal {
            question.rate = running.rate.unitsPerHour
            question.minutes = max(0, (running.ends.minutes - now).rounded())
            if countsBy == .rates,
                running.ends.minutes != state.ends || running.rate.unitsPerHour != state.rate
            {
                let minutes = (running.ends.minutes - state.last).rounded()
                question.temps = [.init(at: state.last, rate: running.rate.unitsPerHour, minutes: minutes)]
                (state.ends, state.rate) = (running.ends.minutes, running.rate.unitsPerHour)
            }
        } else if state.ends > now + 0.5 {
            question.temps = [.init(at: state.last, rate: 0, minutes: 0)]
            state.ends = -1
        }
        if state.bolus > 0 { question.boluses.append(.init(at: state.last, units: state.bolus)) }
        if countsBy == .deliveries, let flowed = input.pumpBasal {
            let since = flowed.since.minutes
            let programmed = therapy.basalRate.unitsPerHour * (now - since) / 60
            let net = (flowed.amount - flowed.withheld).units - programmed
            let cells = max(1, ((now - since) / 5).rounded())
            for cell in stride(from: 0, to: cells, by: 1) {
                question.flows.append(.init(at: now - 5 * (cells - cell) + 2.5, units: net / cells))
            }
        }
        if output.meal > .zero { question.boluses.append(.init(at: now, units: output.meal.units)) }
        state.hasBegun = true
        let answer = try oracle.ask(question)
        let bolus = answer.bolus ?? 0
        var (situation, activity) = (Oref1Situation(), Oref1Activity())
        var unused = StepOutput()
        Oref1Style().understand(input, &unused, &state.ours, &situation, &activity)
        var predictions = Oref1Predictions()
        let decision = situation.decide(&activity, &predictions)
        state.ours.ledger.note(own: InsulinAmount(units: bolus), of: input)
        if bolus > 0 { state.ours.lastBolus = now }
        oracle.asked += 1
        if decision.bolus != bolus || decision.rate?.unitsPerHour != answer.rate
            || decision.rate?.minutes != answer.minutes
        {
            oracle.differences.append(
                """
                minute \(now): ours \(decision.bolus) U, \(decision.rate.map { "\($0)" } ?? "no rate"), \
                theirs \(bolus) U, \(answer.rate ?? -1) U/h for \(answer.minutes ?? -1) min; on board \(situation.iob) U, theirs \(answer.iob ?? .nan); carbohydrate \(situation.carbsOnBoard) g, \
                theirs \(answer.cob ?? .nan); \(decision.reason)
                """)
        }
        output.correction = InsulinAmount(units: bolus)
        if let rate = answer.rate, let minutes = answer.minutes {
            output.temporaryBasal = TemporaryBasalAnswer(
                rate: InsulinRate(unitsPerHour: rate), minutes: minutes)
        }
        (state.last, state.bolus) = (now, bolus)
        return output
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
