// Each invariant of the swarm, broken by a live session with a seeded bug.
//
// A part of the session (pump, algorithm, body, the loop's clock, the policy of its alerts) is broken on purpose, and the invariant that watches
// over it must see it; the same day without the bug must break nothing. No invariant may lack a bug.

@testable import Swarm
import IsletLoop
import IsletDevices
import IsletModels
import IsletKernel
import Testing

@testable import IsletTrials

/// Passes everything on; a bug overrides what it breaks.
private class PumpDouble: InsulinPumpPort, @unchecked Sendable {
    let pump: any InsulinPumpPort
    let now: () -> Instant
    init(_ pump: any InsulinPumpPort, now: @escaping () -> Instant) {
        self.pump = pump
        self.now = now
    }

    var status: PumpStatus { pump.status }
    var isReady: Bool { pump.isReady }
    var pulse: InsulinAmount { pump.pulse }
    var limits: PumpLimits { pump.limits }
    var basalDelivered: InsulinAmount? { pump.basalDelivered }
    func completedBolus(after id: Int64?) throws -> BolusStatus? { try pump.completedBolus(after: id) }
    func requestBolus(_ amount: InsulinAmount, id: Int64) throws -> BolusAnswer {
        try pump.requestBolus(amount, id: id)
    }
    func outcome(of id: Int64) throws -> RequestOutcome { try pump.outcome(of: id) }
    func setProgrammedBasal(_ rate: InsulinRate) throws { try pump.setProgrammedBasal(rate) }
    func setTemporaryBasal(_ rate: InsulinRate, nanoseconds: Int64) throws {
        try pump.setTemporaryBasal(rate, nanoseconds: nanoseconds)
    }
    func cancelTemporaryBasal() throws { try pump.cancelTemporaryBasal() }
}

/// Knows no request again: hands each to the pump under a number of its own.
private final class NumberlessPump: PumpDouble, @unchecked Sendable {
    private var sent: Int64 = 0
    override func requestBolus(_ amount: InsulinAmount, id: Int64) throws -> BolusAnswer {
        sent += 1
        return try pump.requestBolus(amount, id: sent)
    }
    override func outcome(of id: Int64) throws -> RequestOutcome {
        _ = try pump.outcome(of: id)
        return .neverArrived
    }
}

/// Says that it took a pulse less than it pushes.
private final class UnderstatingPump: PumpDouble, @unchecked Sendable {
    override func requestBolus(_ amount: InsulinAmount, id: Int64) throws -> BolusAnswer {
        guard case .accepted(let taken) = try pump.requestBolus(amount, id: id) else { return .underWay }
        return .accepted(max(.zero, taken - pulse))
    }
}

/// Each temporary rate lasts as long as it can.
private final class LongZeroPump: PumpDouble, @unchecked Sendable {
    override func setTemporaryBasal(_ rate: InsulinRate, nanoseconds: Int64) throws {
        try pump.setTemporaryBasal(rate, nanoseconds: limits.temporaryBasalRange.upperBound)
    }
}

/// Never says that anything flowed by itself.
private final class SilentBasalPump: PumpDouble, @unchecked Sendable {
    override var basalDelivered: InsulinAmount? { pump.basalDelivered.map { _ in .zero } }
}

/// Puts a meal's bolus off for twenty minutes.
private final class TardyPump: PumpDouble, @unchecked Sendable {
    private var kept: (amount: InsulinAmount, at: Instant)?
    override func requestBolus(_ amount: InsulinAmount, id: Int64) throws -> BolusAnswer {
        if let kept, now().nanoseconds - kept.at.nanoseconds >= 20 * Nanoseconds.minute {
            self.kept = nil
            return try pump.requestBolus(amount + kept.amount, id: id)
        }
        guard amount.units > 1.5 else { return try pump.requestBolus(amount, id: id) }
        if kept == nil { kept = (amount, now()) }
        throw PumpError.commandFailed
    }
}

/// Is never ready again after its first outage.
private final class SulkingPump: PumpDouble, @unchecked Sendable {
    private var sulks = false
    override var isReady: Bool {
        sulks = sulks || !pump.status.isConnected
        return pump.isReady && !sulks
    }
}

/// Changes the answers of the controller behind it.
private struct AlgorithmDouble: AlgorithmWrapper {
    let base = PIDInsulinFeedback()
    let change: @Sendable (borrowing StepInput, inout StepOutput) -> Void

    var wrapped: any DosingAlgorithm { base }
    func run(_ input: borrowing StepInput, state: inout PIDInsulinFeedback.State) -> StepOutput {
        var output = base.run(input, state: &state)
        change(input, &output)
        return output
    }
}

/// Takes a while of boluses, then fails.
private final class FailingBody: InsulinReceiver, @unchecked Sendable {
    struct TestError: Error {}
    let body: any InsulinReceiver
    private var left = 20
    init(_ body: any InsulinReceiver) { self.body = body }
    func receive(_ amount: InsulinAmount, over nanoseconds: Int64) throws {
        left -= 1
        guard left >= 0 else { throw TestError() }
        try body.receive(amount, over: nanoseconds)
    }
    func stopReceiving() throws -> InsulinAmount { try body.stopReceiving() }
    func setBasalRate(_ rate: InsulinRate) throws { try body.setBasalRate(rate) }
}

struct SeededBug: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var breaks: String
    var faults = "none"
    var alerts = "bionicloop"
    var pump: @Sendable (any InsulinPumpPort, @escaping () -> Instant) -> any InsulinPumpPort = { pump, _ in
        pump
    }
    /// In place of the PID controller.
    var algorithm: (any DosingAlgorithm)?
    var body: @Sendable (any InsulinReceiver) -> any InsulinReceiver = { $0 }
    /// What else goes wrong while the session runs.
    var live: @Sendable (Session) throws -> Void = { _ in }

    static let all: [SeededBug] = [
        SeededBug(
            testDescription: "a body that fails", breaks: SessionRuns.name, body: { FailingBody($0) }),
        SeededBug(
            testDescription: "a pump that knows no request again", breaks: NoDoubleDelivery.name,
            faults: "{ uncertain-delivery: { rate: 1 }, command-failure: { rate: 0.3 } }",
            pump: { NumberlessPump($0, now: $1) }),
        SeededBug(
            testDescription: "an algorithm that corrects by four times the basal",
            breaks: NoDoseAboveLimits.name,
            algorithm:
                AlgorithmDouble { input, output in
                    if input.algorithmTime == 60 {
                        output.correction = InsulinAmount(
                            units: input.therapy.basalRate.unitsPerHour / 12 * 4)
                    }
                }),
        SeededBug(
            testDescription: "an algorithm that corrects without glucose", breaks: NoDoseOnStaleGlucose.name,
            faults: "{ scheduled: [{ at: 2h, kind: signal-loss, for: 1h }] }",
            algorithm:
                AlgorithmDouble { input, output in
                    if input.cgm == nil { output.correction = InsulinAmount(units: 0.05) }
                }),
        SeededBug(
            testDescription: "a loop that sleeps while its app lives", breaks: StepsConsistent.name,
            live: { session in
                try session.advance(to: .minutes(121))
                session.executor.inspect { session.loop.here { $0.suspend() } }
                try session.advance(to: .minutes(144))
                session.executor.inspect { session.loop.here { $0.resume() } }
            }),
        SeededBug(
            testDescription: "a pump that understates what it took", breaks: InsulinConserved.name,
            pump: { UnderstatingPump($0, now: $1) }),
        SeededBug(
            testDescription: "a pump whose zero lasts twelve hours", breaks: BasalFloor.name,
            faults: "{ scheduled: [{ at: 2h, kind: app-quit, for: 3h }] }",
            pump: { LongZeroPump($0, now: $1) }),
        SeededBug(
            testDescription: "a pump that hides its own basal", breaks: BasalFloor.name,
            faults: "{ scheduled: [{ at: 2h, kind: app-quit, for: 3h }] }",
            pump: { SilentBasalPump($0, now: $1) }),
        SeededBug(
            testDescription: "a pump that gives a meal's bolus twenty minutes later",
            breaks: NoLateRequests.name, pump: { TardyPump($0, now: $1) }),
        SeededBug(
            testDescription: "an algorithm that doses for a meal that nobody spoke of",
            breaks: NoLateRequests.name,
            algorithm:
                AlgorithmDouble { input, output in
                    if input.algorithmTime == 100 { output.meal = InsulinAmount(units: 2) }
                }),
        SeededBug(
            testDescription: "alerts that know of glucose alone", breaks: FaultsExplained.name,
            faults: "{ scheduled: [{ at: 2h, kind: pump-outage, for: 30m }] }", alerts: "dexcom-g7"),
        SeededBug(
            testDescription: "a pump that is never ready after an outage", breaks: LoopRecovers.name,
            faults: "{ scheduled: [{ at: 2h, kind: pump-outage, for: 20m }] }",
            pump: { SulkingPump($0, now: $1) }),
        SeededBug(
            testDescription: "alerts that say nothing of insulin", breaks: MissingIsTold.name,
            faults: "{ scheduled: [{ at: 4h, kind: pump-outage, for: 3h }] }", alerts: "none"),
        SeededBug(
            testDescription: "alerts that say nothing of pods", breaks: PodIsTold.name,
            faults: "{ scheduled: [{ at: 4h, kind: pod-fault, for: 3h }] }", alerts: "none"),
    ]

    func violations(isBroken: Bool) throws -> [Violation] {
        let bug = isBroken ? self : SeededBug(testDescription: "none", breaks: "")
        let study = try Study.parse(
            """
            study: seeded
            seed: 5
            duration: 12h
            sensor: dexcom-g7
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 1 } }
            faults: \(faults)
            record: events
            arms: [{ algorithm: pid-insulin-feedback, alerts: \(bug.alerts) }]
            """, file: "seeded.yaml")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 1)
        let witness = SwarmWitness()
        // The bugs stand behind the witness: what it sees is what truly happens.
        nonisolated(unsafe) var executor: SessionExecutor?
        var seams = witness.seams(wrapPump: { bug.pump($0) { executor?.now ?? .start } })
        let (algorithm, body) = (seams.algorithm, seams.body)
        seams.algorithm = { algorithm(bug.algorithm ?? $0) }
        seams.body = { body(bug.body($0)) }
        let session = try Session(
            study: study, subject: subjects[0], index: 0, arm: study.arms[0], seams: seams)
        executor = session.executor
        session.executor.journal.observer = { witness.see($0) }
        try bug.live(session)
        let outcome = session.run()
        session.executor.journal.observer = nil
        executor = nil
        return SwarmInvariants.violations(in: witness.finish(session, outcome))
    }
}

@Suite("A seeded bug")
struct SeededBugTests {
    @Test(
        "breaks the invariant that watches for it, and its day without it breaks none",
        arguments: SeededBug.all)
    func breaks(_ bug: SeededBug) throws {
        let found = try bug.violations(isBroken: true)
        #expect(found.contains { $0.invariant == bug.breaks }, "\(found.prefix(3))")
        #expect(try bug.violations(isBroken: false).isEmpty)
    }

    @Test("is there for each invariant")
    func each() {
        let broken = Set(SeededBug.all.map(\.breaks))
        let lacking = SwarmInvariants.all.map { $0.name }.filter { !broken.contains($0) }
        #expect(lacking.isEmpty, "no seeded bug breaks \(lacking)")
    }
}
