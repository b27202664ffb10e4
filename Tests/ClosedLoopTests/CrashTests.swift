// The app dies between any two writes of a step, and comes back.

import IsletLoop
import IsletDevices
import IsletKernel
import Testing

/// While it is off, nothing that the dying app does reaches the outside.
private final class Power: @unchecked Sendable {
    var isOn = true
    /// Goes off after so many effects on the outside world; nil never.
    var cutsAfter: Int?
    private(set) var effects = 0

    /// Lets one effect through, or not; the cut comes right after it.
    func passes() -> Bool {
        guard isOn else { return false }
        if let cutsAfter, effects == cutsAfter {
            isOn = false
            return false
        }
        effects += 1
        return true
    }

    func restore() {
        isOn = true
        cutsAfter = nil
    }
}

private final class MortalStore: LoopStore, @unchecked Sendable {
    let inner = MemoryLoopStore()
    let power: Power
    init(_ power: Power) { self.power = power }
    func load() -> LoopMemory? { inner.load() }
    func save(_ memory: LoopMemory) { if power.passes() { inner.save(memory) } }
    func append(_ step: StepRecord, _ memory: LoopMemory) { if power.passes() { inner.append(step, memory) } }
    func settle(
        _ requestID: Int64, accepted: InsulinAmount?, pumpError: String, _ memory: LoopMemory
    ) {
        if power.passes() {
            inner.settle(requestID, accepted: accepted, pumpError: pumpError, memory)
        }
    }
    func steps(since instant: Instant) -> [StepRecord] { inner.steps(since: instant) }
}

private final class MortalLink: InsulinPumpPort, @unchecked Sendable {
    let pump: FakePump
    let power: Power
    init(_ pump: FakePump, _ power: Power) {
        self.pump = pump
        self.power = power
    }
    var status: PumpStatus { pump.status }
    var pulse: InsulinAmount { pump.pulse }
    func completedBolus(after id: Int64?) throws -> BolusStatus? {
        guard power.passes() else { throw PumpError.notConnected }
        return try pump.completedBolus(after: id)
    }
    func requestBolus(_ amount: InsulinAmount, id: Int64) throws -> BolusAnswer {
        guard power.passes() else { throw PumpError.notConnected }
        return try pump.requestBolus(amount, id: id)
    }
    func outcome(of id: Int64) throws -> RequestOutcome {
        guard power.passes() else { throw PumpError.notConnected }
        return try pump.outcome(of: id)
    }
    func setProgrammedBasal(_ rate: InsulinRate) throws {
        if power.passes() { try pump.setProgrammedBasal(rate) }
    }
    var limits: PumpLimits { pump.limits }
    var basalDelivered: InsulinAmount? { pump.basalDelivered }
    func setTemporaryBasal(_ rate: InsulinRate, nanoseconds: Int64) throws {
        guard power.passes() else { throw PumpError.notConnected }
        try pump.setTemporaryBasal(rate, nanoseconds: nanoseconds)
    }
    func cancelTemporaryBasal() throws {
        guard power.isOn else { throw PumpError.notConnected }
        try pump.cancelTemporaryBasal()
    }
}

/// One life of 12 steps, in which the app may die once.
private struct Life {
    let seed: UInt64
    let steps = 12
    var requests: [[Double]] = []
    var log: [StepRecord] = []
    /// What each step was told of the bolus before.
    var told: [[Double]] = []
    var carried = 0.0
    var effects = 0
    var skipped = 0

    /// - Parameters:
    ///   - cut: the effect after which the app dies; nil to live on.
    ///   - deadSeconds: how long it stays dead.
    ///   - isCut: whether the pod ends the meal's bolus before its time.
    init(seed: UInt64, cut: Int?, deadSeconds: Int64 = 0, isCut: Bool = false) throws {
        self.seed = seed
        let executor = SessionExecutor()
        let power = Power()
        power.cutsAfter = cut
        let store = MortalStore(power)
        let pump = FakePump()
        pump.takesItsTime = true
        let link = MortalLink(pump, power)
        let sensor = PunctualSensor(executor)
        let recorder = SessionRecorder(level: .summary)
        func launch() -> LoopController {
            let algorithm = FakeAlgorithm(basalSource: .algorithm) { input in
                // What it asks for depends on its state and on the meal, so that a lost byte or input would show.
                var draw = RandomStreams(seed: seed, subject: 1).stream(
                    "dose", index: UInt64(input.algorithmTime))
                return StepOutput(
                    basal: InsulinAmount(units: Double.random(in: 0...0.3, using: &draw)),
                    meal: InsulinAmount(units: (input.user.meal?.carbohydrate.grams ?? 0) / 10))
            }
            return LoopController(
                executor: executor, algorithm: algorithm,
                settings: LoopSettings(
                    therapy: TherapySettings(
                        bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: 1.2),
                        carbohydrateRatioGramsPerUnit: 10, correctionFactorMgdlPerUnit: 40,
                        totalDailyInsulin: InsulinAmount(units: 45)),
                    target: GlucoseConcentration(milligramsPerDecilitre: 120)),
                sensor: sensor, pump: link, recorder: recorder, store: store)
        }
        var loop = launch()
        executor.start("app") { [loop] in try await loop.begin() }
        var random = RandomStreams(seed: seed, subject: 2).stream("meals")
        let meal = Int64.random(in: 1...50, using: &random)
        /// The pod cuts the first bolus of more than a unit short, within a minute after it was asked for.
        var hasCut = !isCut
        var diedAt: Instant?
        var hasAnnounced = false
        /// Buries the dead app, and launches another once its time has come.
        func revive(before end: Instant) throws {
            guard !power.isOn else { return }
            let dead = diedAt ?? executor.now
            if diedAt == nil { executor.inspect { loop.here { $0.kill() } } }
            diedAt = dead
            let back = dead.adding(deadSeconds * Nanoseconds.second)
            guard back < end else { return }
            try executor.advance(to: max(back, executor.now))
            power.restore()
            loop = launch()
            try executor.inspect { try loop.here { try $0.begin() } }
            try executor.advance(to: executor.now)
        }
        for minute in 0..<Int64(steps) * 5 {
            // What was asked for in the minute before is over by now.
            if !hasCut, let last = pump.requests.last, last.amount.units > 1 {
                hasCut = true
                pump.cutCompleted(to: InsulinAmount(units: 0.5), by: .pump)
            }
            pump.isBolusRunning = false
            try executor.advance(to: .minutes(minute))
            try revive(before: .minutes(minute + 1))
            // The person says it again where the app died before it was kept.
            while !hasAnnounced, minute >= meal, power.isOn {
                try executor.inspect {
                    try loop.announce(
                        MealAnnouncement(carbohydrate: Carbohydrate(grams: 60), instant: executor.now))
                }
                hasAnnounced = power.isOn
                try revive(before: .minutes(minute + 1))
            }
        }
        try executor.advance(to: .minutes(Int64(steps) * 5 - 1))
        requests = pump.requests.map { [Double($0.id), $0.amount.units] }
        log = store.inner.log
        told = log.map { $0.input.insulinPump.lastBolus.map { [Double($0.id), $0.delivered.units] } ?? [] }
        carried = store.inner.memory?.carried.units ?? 0
        skipped = store.inner.memory?.stepsSkipped ?? 0
        effects = power.effects
        delivered = pump.delivered
        try executor.end()
    }

    var delivered = 0.0
}

@Suite("A crash of the app")
struct CrashTests {
    @Test(
        "between any two writes or pump calls of a step leaves everything as if it hadn't been, when the app is back at once"
    )
    func everyKillPoint() throws {
        var killPoints = 0
        for seed in UInt64(0)..<330 {
            let isCut = seed % 2 == 1
            let undisturbed = try Life(seed: seed, cut: nil, isCut: isCut)
            for cut in 0..<undisturbed.effects {
                let life = try Life(seed: seed, cut: cut, isCut: isCut)
                killPoints += 1
                let place = "seed \(seed), after effect \(cut)"
                #expect(life.requests == undisturbed.requests, "\(place)")
                #expect(life.log.map(\.algorithmTime) == undisturbed.log.map(\.algorithmTime), "\(place)")
                #expect(life.log.map(\.accepted) == undisturbed.log.map(\.accepted), "\(place)")
                #expect(abs(life.carried - undisturbed.carried) < 1e-9, "\(place)")
                #expect(life.told == undisturbed.told, "\(place)")
            }
        }
        #expect(killPoints >= 10_000)
    }

    @Test("loses only the steps of its dead time, doubles none, and doubles no dose")
    func deadTime() throws {
        for seed in UInt64(0)..<60 {
            let whole = try Life(seed: seed, cut: nil)
            for cut in 0..<whole.effects {
                for dead in [Int64(20), 200, 500, 900] {
                    let life = try Life(seed: seed, cut: cut, deadSeconds: dead)
                    let ids = life.requests.map { $0[0] }
                    #expect(Set(ids).count == ids.count, "a dose was doubled: seed \(seed), effect \(cut)")
                    let numbers = life.log.map(\.algorithmTime)
                    #expect(
                        Set(numbers).count == numbers.count, "a step was doubled: seed \(seed), effect \(cut)"
                    )
                    let lost = whole.log.count - life.log.count
                    #expect(lost <= Int((dead + 299) / 300), "seed \(seed), effect \(cut), \(dead) s dead")
                }
            }
        }
    }
}
