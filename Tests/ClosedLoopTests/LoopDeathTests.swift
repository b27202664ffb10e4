// The app dies with insulin that somebody waits for, or whose outcome nobody wrote down: with a store, without, and with a store that
// fails at that very time.

import IsletLoop
import IsletDevices
import IsletKernel
import Testing

/// What stands behind the loop, and what happens to it.
private enum Storage: CaseIterable {
    case none, working, fullAtDeath, fullSinceAnHour, unreadableAtLaunch
    /// A new process, which knows what the store holds and no more.
    case workingInAnotherProcess, fullAtDeathInAnotherProcess, fullSinceAnHourInAnotherProcess

    var isAnotherProcess: Bool {
        switch self {
        case .none, .working, .fullAtDeath, .fullSinceAnHour, .unreadableAtLaunch: false
        case .workingInAnotherProcess, .fullAtDeathInAnotherProcess, .fullSinceAnHourInAnotherProcess: true
        }
    }
    var isFullSinceAnHour: Bool { self == .fullSinceAnHour || self == .fullSinceAnHourInAnotherProcess }
    var isFullAtDeath: Bool { self == .fullAtDeath || self == .fullAtDeathInAnotherProcess }
}

@Suite("A loop that dies")
struct LoopDeathTests {
    private func lab(_ storage: Storage) throws -> Lab {
        let lab = try Lab(hasStore: storage != .none, diesBetweenInstants: !storage.isAnotherProcess) {
            StepOutput(meal: InsulinAmount(units: ($0.user.meal?.carbohydrate.grams ?? 0) / 10))
        }
        lab.sensor.latestReading = reading(at: 0)
        return lab
    }

    private func eat(_ grams: Double, _ lab: Lab) throws {
        try lab.executor.inspect {
            try lab.loop.announce(
                MealAnnouncement(carbohydrate: Carbohydrate(grams: grams), instant: lab.executor.now))
        }
    }

    private func die(_ lab: Lab, _ storage: Storage) {
        if storage.isFullAtDeath { lab.store.canWrite = false }
        lab.executor.inspect { lab.loop.here { $0.kill() } }
    }

    private func launch(_ lab: Lab, _ storage: Storage) {
        lab.store.canRead = storage != .unreadableAtLaunch
        if storage.isAnotherProcess {
            lab.relaunch()
        } else {
            lab.executor.inspect { lab.loop.here { $0.relaunch() } }
        }
    }

    /// Harm: a meal's insulin never comes, comes twice, or comes in the night.
    @Test(
        "while a meal's insulin is owed gives it once, or not at all when its time has passed",
        arguments: Storage.allCases.filter { !$0.isFullSinceAnHour }, [4, 30] as [Int64])
    fileprivate func owed(storage: Storage, deadMinutes: Int64) throws {
        let lab = try lab(storage)
        try lab.live(untilMinute: 2)
        lab.pump.isConnected = false
        try eat(60, lab)
        try lab.live(untilMinute: 7)
        #expect(lab.display.owed?.units == 6)
        die(lab, storage)
        lab.pump.isConnected = true
        try lab.live(untilMinute: 7 + deadMinutes)
        launch(lab, storage)
        lab.store.canWrite = true
        try lab.live(untilMinute: 7 + deadMinutes + 2)
        lab.store.canRead = true
        try lab.live(untilMinute: 600)
        let asked = lab.pump.requests.map { ($0.amount.units * 10).rounded() / 10 }
        // After half an hour the meal's time has passed; what the zero withheld meanwhile is the first step's, where it is known.
        let withheld = storage == .fullAtDeath ? [] : [0.4]
        #expect(asked == (deadMinutes == 4 ? [6] : withheld))
        #expect(lab.display.owed == nil && lab.display.dropped?.amount.units == (deadMinutes == 4 ? nil : 6))
        if storage != .none { #expect(lab.store.memory?.isLike(lab.memory) == true) }
    }

    /// Harm: the log says for ever that nobody knows what became of the meal's insulin, so that whoever reads it counts
    /// wrongly; or the loop gives it once more.
    @Test(
        "before a request's outcome is written down writes it when the store writes again",
        arguments: Storage.allCases)
    fileprivate func outcome(storage: Storage) throws {
        let lab = try lab(storage)
        try lab.live(untilMinute: 3)
        try eat(60, lab)
        if storage != .none, storage != .working, storage != .workingInAnotherProcess {
            // The step and its request are written; the outcome is not.
            lab.pump.beforeRequest = { _ in lab.store.canWrite = false }
        }
        try lab.live(untilMinute: storage.isFullSinceAnHour ? 67 : 7)
        #expect(lab.pump.requests.map(\.amount.units) == [6])
        lab.pump.beforeRequest = nil
        die(lab, storage)
        try lab.live(untilMinute: 77)
        launch(lab, storage)
        try lab.live(untilMinute: 79)
        lab.store.canRead = true
        lab.store.canWrite = true
        try lab.live(untilMinute: 600)
        // The meal once; beside it only what the zero withheld while nobody lived.
        let asked = lab.pump.requests.map(\.amount.units)
        #expect(asked.first == 6 && asked.dropFirst().allSatisfy { $0 <= 0.6 } && asked.count <= 2)
        #expect(abs(lab.pump.delivered - asked.reduce(0, +)) < 1e-9)
        #expect(!lab.memory.awaitsAnything && lab.memory.owed.isEmpty && lab.memory.carried == .zero)
        guard storage != .none else { return }
        #expect(lab.store.log.map { $0.accepted?.units }.filter { $0 != 0 } == asked)
        #expect(lab.store.memory?.isLike(lab.memory) == true)
    }

    /// Harm: what the store knows of insulin under way is written over by a loop that never could read it.
    @Test("before it could read its store leaves it as it is")
    func neverRead() throws {
        let lab = try Lab(diesBetweenInstants: true)
        var memory = LoopMemory()
        memory.target = GlucoseConcentration(milligramsPerDecilitre: 100)
        memory.firstRequestID = 70
        lab.store.inner.save(memory)
        lab.store.canRead = false
        try lab.live(untilMinute: 3)
        lab.executor.inspect { lab.loop.here { $0.kill() } }
        #expect(lab.store.memory == memory)
        lab.store.canRead = true
        lab.executor.inspect { lab.loop.here { $0.relaunch() } }
        try lab.live(untilMinute: 61)
        #expect(lab.memory.target?.milligramsPerDecilitre == 100 && lab.memory.firstRequestID == 70)
    }

    /// Harm: a second death before anything was written goes back to the state of the first.
    @Test("twice within a minute goes on from the second death")
    func twice() throws {
        let lab = try lab(.fullAtDeath)
        try lab.live(untilMinute: 2)
        lab.pump.isConnected = false
        try eat(60, lab)
        try lab.live(untilMinute: 7)
        die(lab, .fullAtDeath)
        die(lab, .fullAtDeath)
        launch(lab, .fullAtDeath)
        lab.pump.isConnected = true
        lab.store.canWrite = true
        try lab.live(untilMinute: 11)
        #expect(lab.pump.requests.map(\.amount.units) == [6])
        die(lab, .fullAtDeath)
        launch(lab, .fullAtDeath)
        lab.store.canWrite = true
        try lab.live(untilMinute: 600)
        #expect(lab.pump.requests.map(\.amount.units) == [6] && lab.pump.delivered == 6)
    }
}

extension LoopMemory {
    fileprivate var awaitsAnything: Bool { request != nil || user.meal != nil || user.manualBolus != nil }

    /// In all that decides about insulin. What devices last said is written with the next step.
    fileprivate func isLike(_ other: LoopMemory) -> Bool {
        request == other.request && delivery == other.delivery && owed == other.owed
            && carried == other.carried
            && dropped == other.dropped && user == other.user && nextStep == other.nextStep
            && firstRequestID == other.firstRequestID && isOpenLoop == other.isOpenLoop
    }
}
