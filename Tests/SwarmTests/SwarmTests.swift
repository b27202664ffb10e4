// The swarm finds what it is for, shrinks it, and is quiet where nothing is wrong.

import IsletFiles
@testable import Swarm
import IsletDevices
import Foundation
import IsletKernel
import IsletLoop
import IsletModels
import Testing

@testable import IsletTrials

/// The seeded bug: a driver of a pump without any memory of what it was asked. It can't say what became of a request,
/// and hands each one to the pump under a number of its own, so that the pump can't know it again either.
final class ForgetfulPump: InsulinPumpPort, @unchecked Sendable {
    private let pump: any InsulinPumpPort
    private var sent: Int64 = 0
    init(_ pump: any InsulinPumpPort) { self.pump = pump }

    var status: PumpStatus { pump.status }
    var isReady: Bool { pump.isReady }
    var pulse: InsulinAmount { pump.pulse }
    func completedBolus(after id: Int64?) throws -> BolusStatus? { try pump.completedBolus(after: id) }
    func setProgrammedBasal(_ rate: InsulinRate) throws { try pump.setProgrammedBasal(rate) }
    var limits: PumpLimits { pump.limits }
    var basalDelivered: InsulinAmount? { pump.basalDelivered }
    func setTemporaryBasal(_ rate: InsulinRate, nanoseconds: Int64) throws {
        try pump.setTemporaryBasal(rate, nanoseconds: nanoseconds)
    }
    func cancelTemporaryBasal() throws { try pump.cancelTemporaryBasal() }

    func requestBolus(_ amount: InsulinAmount, id: Int64) throws -> BolusAnswer {
        sent += 1
        return try pump.requestBolus(amount, id: sent)
    }

    func outcome(of id: Int64) throws -> RequestOutcome {
        _ = try pump.outcome(of: id)
        return .neverArrived
    }
}

private func quiet(_ count: Int) -> ProgressLine { ProgressLine(sessions: count, style: .silent) }

@Suite("The swarm")
struct SwarmTests {
    @Test("breaks no invariant, and its verdict doesn't depend on workers")
    func holds() throws {
        let seeds: ClosedRange<UInt64> = 1...40
        let verdicts = try Swarm(seeds: seeds, jobs: 2).run(progress: quiet(40))
        for verdict in verdicts {
            #expect(verdict.violations.isEmpty, "seed \(verdict.seed): \(verdict.violations.prefix(2))")
        }
        #expect(verdicts.map(\.seed) == Array(seeds))
        #expect(verdicts.reduce(0) { $0 + $1.faults } > 300)
        let again = try Swarm(seeds: 38...40, jobs: 1).run(progress: quiet(3))
        #expect(again.map(\.digest) == verdicts.suffix(3).map(\.digest))
    }

    @Test(
        "breaks none in five days, where what a person does after days of faults is judged too",
        // A pod taken off out of the app's reach, one left half filled there, and a rate that went with one; a bolus asked for again with
        // the app that let it lapse. Insulin missing at both ends of two hours; beside a meal that waits; under a zero, before the pod died; and foretold
        // for the seconds in which the app died that waited for a reading.
        arguments: [
            (61, .pidInsulinFeedback), (1588, .pidInsulinFeedback), (850, .oref1Style), (1663, .loopStyle),
            (445, .pidInsulinFeedback), (3086, .loopStyle), (7605, .pidInsulinFeedback),
            (5342, .pidInsulinFeedback), (7286, .pidInsulinFeedback), (17536, .pidInsulinFeedback),
            // The next pod's alarm beside an acknowledgement of the one before; a command sent again on old glucose.
            (13390, .basalBolus), (8070, .oref1Style),
        ] as [(UInt64, AlgorithmKind)])
    func holdsForDays(seed: UInt64, algorithm: AlgorithmKind) throws {
        let days = TimeSpan(seconds: 5 * 86_400)
        let swarm = Swarm(seeds: seed...seed, duration: days, jobs: 1, algorithm: Tuned(algorithm))
        for verdict in try swarm.run(progress: quiet(1)) {
            #expect(verdict.violations.isEmpty, "\(verdict.violations.prefix(2))")
        }
    }

    @Test("watches without changing a session")
    func watching() throws {
        let trial = try Swarm(seeds: 1...1, jobs: 1).trial(3)
        let plain = try Session(
            study: trial.study, subject: trial.subject, index: 0, arm: trial.study.arms[0])
        #expect(try trial.run().digest == plain.run().digest.description)
    }

    @Test("draws kinds on and off with rates of their own, as faults that stand in a study file")
    func plans() throws {
        var on = Set<String>()
        var counts = Set<Int>()
        for seed in 1...60 as ClosedRange<UInt64> {
            let study = try SwarmPlan.study(seed: seed)
            #expect(try Study.parse(study.yaml, file: "plan") == study)
            #expect(try SwarmPlan.study(seed: seed) == study)
            let kinds = Set(study.faults.scheduled.map(\.kind.id))
            #expect(kinds.count < FaultKind.all.count)
            on.formUnion(kinds)
            for kind in FaultKind.all where study.faults.settings[kind.index] != .off {
                #expect(!kind.canBeScheduled)
                on.insert(kind.id)
            }
            counts.insert(study.faults.scheduled.count { $0.kind == .pumpOutage })
            let instants = study.faults.plan(start: study.start, duration: study.duration, group: nil)
            #expect(instants.scheduled.count == study.faults.scheduled.count)
        }
        #expect(on == Set(FaultKind.all.filter(\.strikesClosedLoop).map(\.id)))
        #expect(counts.count > 5)
    }

    @Test(
        "finds a pump that delivers a request twice, and shrinks it to three faults or fewer with one replay")
    func seededBug() throws {
        let swarm = Swarm(seeds: 1...60, jobs: 2) { ForgetfulPump($0) }
        let verdicts = try swarm.run(progress: quiet(60))
        let broken = verdicts.filter { $0.violations.contains { $0.invariant == NoDoubleDelivery.name } }
        #expect(!broken.isEmpty)
        for verdict in broken.prefix(3) {
            let violation = try #require(verdict.violations.first { $0.invariant == NoDoubleDelivery.name })
            let trial = try swarm.trial(verdict.seed)
            let shrunk = try SwarmShrink(trial, breaking: violation)
            #expect((1...3).contains(shrunk.faultCount), "\(SwarmText.plan(shrunk.trial.study.faults))")
            #expect(shrunk.faultCount < trial.study.faults.scheduled.count)
            // The plan as it is written breaks it again, to the violation; and a sound pump bears it.
            let study = try Study.parse(shrunk.trial.study.yaml, file: "shrunk")
            let again = try SwarmTrial(study: study, subject: trial.subject) { ForgetfulPump($0) }.run()
            #expect(again.violations.contains(shrunk.violation))
            #expect(try SwarmTrial(study: study, subject: trial.subject).run().violations.isEmpty)
            // Shrinking is a function of the trial.
            let twin = try SwarmShrink(trial, breaking: violation)
            #expect(twin.trial.study == shrunk.trial.study && twin.violation == shrunk.violation)
            // Not one fault can go.
            for index in study.faults.scheduled.indices {
                var fewer = study
                fewer.faults.scheduled.remove(at: index)
                let mended = try SwarmTrial(study: fewer, subject: trial.subject) { ForgetfulPump($0) }.run()
                #expect(!mended.violations.contains { $0.invariant == NoDoubleDelivery.name })
            }
        }
    }

    @Test(
        "reads ranges of seeds",
        arguments: ["1..2000", "7", "0..0", "3..2", "x", "1..", "1..99999999999", ""])
    func ranges(text: String) {
        let expected: ClosedRange<UInt64>? =
            switch text {
            case "1..2000": 1...2000
            case "7": 7...7
            case "0..0": 0...0
            default: nil
            }
        #expect(Swarm.seeds(text) == expected)
    }

    @Test("has the tables of SWARM.md, word by word")
    func tables() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let text = try String(contentsOf: root.appending(path: "SWARM.md"), encoding: .utf8)
        for line in SwarmText.tables().split(separator: "\n") {
            let isThere = text.contains(line)
            #expect(isThere, "SWARM.md lacks: \(line)")
        }
    }
}
