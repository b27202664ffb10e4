// The app dies with insulin that somebody waits for, or whose outcome nobody knows.

import IsletLoop
import IsletDevices
import IsletKernel
import Testing

@Suite("A loop that dies")
struct LoopDeathTests {
    private func lab() throws -> Lab {
        try Lab.reading {
            StepOutput(meal: InsulinAmount(units: ($0.user.meal?.carbohydrate.grams ?? 0) / 10))
        }
    }

    private func eat(_ grams: Double, _ lab: Lab) throws {
        try lab.executor.inspect {
            try lab.loop.announce(
                MealAnnouncement(carbohydrate: Carbohydrate(grams: grams), instant: lab.executor.now))
        }
    }

    private func die(_ lab: Lab) { lab.executor.inspect { lab.loop.here { $0.kill() } } }

    /// Harm: a meal's insulin never comes, comes twice, or comes in the night.
    @Test(
        "while a meal's insulin is owed gives it once, or not at all when its time has passed",
        arguments: [4, 30] as [Int64])
    func owed(deadMinutes: Int64) throws {
        let lab = try lab()
        try lab.live(untilMinute: 2)
        lab.pump.isConnected = false
        try eat(60, lab)
        try lab.live(untilMinute: 7)
        #expect(lab.display.owed?.units == 6)
        die(lab)
        lab.pump.isConnected = true
        try lab.live(untilMinute: 7 + deadMinutes)
        lab.relaunch()
        try lab.live(untilMinute: 600)
        let asked = lab.pump.requests.map { ($0.amount.units * 10).rounded() / 10 }
        // After half an hour the meal's time has passed; what the zero withheld meanwhile is the first step's.
        #expect(asked == (deadMinutes == 4 ? [6] : [0.4]))
        #expect(lab.display.owed == nil && lab.display.dropped?.amount.units == (deadMinutes == 4 ? nil : 6))
    }

    /// Harm: nobody knows what became of the meal's insulin, so that whoever reads the log counts wrongly; or the loop gives it once more.
    @Test("with a request under way knows what became of it", arguments: [false, true])
    func outcome(isAnswered: Bool) throws {
        let lab = try lab()
        try lab.live(untilMinute: 3)
        try eat(60, lab)
        lab.pump.answersNoMore = !isAnswered
        try lab.live(untilMinute: 7)
        #expect(lab.pump.requests.map(\.amount.units) == [6])
        die(lab)
        lab.pump.answersNoMore = false
        try lab.live(untilMinute: 77)
        lab.relaunch()
        try lab.live(untilMinute: 600)
        // The meal once; beside it only what the zero withheld while nobody lived.
        let asked = lab.pump.requests.map(\.amount.units)
        #expect(asked.first == 6 && asked.dropFirst().allSatisfy { $0 <= 0.6 } && asked.count <= 2)
        #expect(abs(lab.pump.delivered - asked.reduce(0, +)) < 1e-9)
        #expect(!lab.memory.awaitsAnything && lab.memory.owed.isEmpty && lab.memory.carried == .zero)
        let accepted = lab.rows.map { $0.accepted?.units }
        #expect(accepted.filter { $0 != 0 } == asked)
    }

    /// Harm: a second death goes back to the state of the first.
    @Test("twice within a minute goes on from the second death")
    func twice() throws {
        let lab = try lab()
        try lab.live(untilMinute: 2)
        lab.pump.isConnected = false
        try eat(60, lab)
        try lab.live(untilMinute: 7)
        die(lab)
        die(lab)
        lab.relaunch()
        lab.pump.isConnected = true
        try lab.live(untilMinute: 11)
        #expect(lab.pump.requests.map(\.amount.units) == [6])
        die(lab)
        lab.relaunch()
        try lab.live(untilMinute: 600)
        #expect(lab.pump.requests.map(\.amount.units) == [6] && lab.pump.delivered == 6)
    }
}

extension LoopMemory {
    fileprivate var awaitsAnything: Bool { request != nil || user.meal != nil || user.manualBolus != nil }
}
