import IsletDevices
import IsletKernel
import Testing

@testable import IsletTrials

/// Steps of a group come in any order, and some of the group's only; they are sent in the order of its places.
@Suite struct AskedStepsTests {
    private func row(_ handle: Int64, step: Int64) -> AskedRow {
        let therapy = TherapySettings(
            bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: 1),
            carbohydrateRatioGramsPerUnit: 10, correctionFactorMgdlPerUnit: 50,
            totalDailyInsulin: InsulinAmount(units: 40))
        let input = StepInput(
            algorithmTime: step, now: .minutes(5 * step), therapy: therapy,
            target: GlucoseConcentration(milligramsPerDecilitre: 120))
        return AskedRow(
            handle: handle, question: StepQuestion(input: input, beginsAnew: false, undoesLast: false))
    }

    private func handles(_ bytes: [UInt8]) -> [UInt64] {
        stride(from: PluginFrame.headBytes, to: bytes.count - PluginFrame.tailBytes, by: AskedRow.cells * 8)
            .map {
                PluginFrame.cell(bytes, $0)
            }
    }

    @Test func areSentInOrder() {
        var steps = AskedSteps(isPacked: true, members: 3)
        // Of all that come after these nothing is left over.
        for (step, asks) in [[2, 0, 1], [2, 0], [1], [0, 1, 2]].enumerated() {
            for member in asks { steps.add(member, row(Int64(member), step: Int64(step))) }
            var bytes: [UInt8] = []
            let asked = steps.take(into: &bytes)
            #expect(asked.map(\.handle) == asks.sorted().map(Int64.init))
            #expect(asked.allSatisfy { $0.step == step })
            #expect(handles(bytes) == asks.sorted().map(UInt64.init))
        }
    }

    @Test func areSaidInOrder() {
        var steps = AskedSteps(isPacked: false, members: 3)
        for asks in [[2, 0, 1], [2, 0]] {
            for member in asks { steps.add(member, row(Int64(member), step: 4)) }
            var bytes: [UInt8] = []
            #expect(steps.take(into: &bytes).map(\.handle) == asks.sorted().map(Int64.init))
            var whole: [UInt8] = []
            PluginLines.append(
                "step", asks.sorted().map { row(Int64($0), step: 4) }, StepFields.step, to: &whole)
            #expect(bytes == whole)
        }
    }
}
