// Traces: inputs by the minute, the size of the meal, and the text that comes out.

import IsletDevices
import Testing

@testable import IsletModels

@Suite struct TraceRunTests {
    private func problem(_ text: String) -> InputError? {
        do {
            _ = try TraceInputs(text, file: "in.csv")
            return nil
        } catch { return error }
    }

    @Test func missingMinutesHaveNoInputs() throws {
        let inputs = try TraceInputs("minute,carbs_g,insulin_u\n2,10,0.5\n5,0,0\n", file: "in.csv")
        #expect(inputs.minutes == 6)
        let p = try generatedParameters(.adult, 0)
        let run = try TraceRun(UVAPadova2008(parameters: p), subject: "x", inputs: inputs)
        #expect(run.rows.map(\.minute) == Array(0...6))
        let dense = (0...5).map {
            TraceInputs.Row(minute: $0, carbsGrams: $0 == 2 ? 10 : 0, insulinUnits: $0 == 2 ? 0.5 : 0)
        }
        let same = try TraceRun(
            UVAPadova2008(parameters: p), subject: "x", inputs: TraceInputs(rows: dense))
        #expect(same == run)
    }

    @Test func theMealIsWhatWasInTheStomachAndAllThatWasEaten() throws {
        let model = UVAPadova2008(parameters: try generatedParameters(.adult, 0), settings: .trace)
        func minute(_ grams: Double) throws {
            model.eatDuringNextMinute(Carbohydrate(grams: grams))
            try model.advance(byMinutes: 1)
        }
        for grams in [5.0, 5, 3] { try minute(grams) }
        #expect(abs(model.mealSize.grams - 13) < 1e-9)
        for _ in 0..<30 { try minute(0) }
        #expect(abs(model.mealSize.grams - 13) < 1e-9)
        let stomach = (model.snapshot[0] + model.snapshot[1]) / 1000
        #expect(stomach > 1)
        try minute(20)
        #expect(abs(model.mealSize.grams - stomach - 20) < 1e-9)
    }

    @Test func eatingContinuouslyEndsWithTheSameMealSize() throws {
        let model = UVAPadova2008(parameters: try generatedParameters(.child, 0))
        model.setCarbohydrateRate(milligramsPerMinute: 5000)
        try model.advance(byMinutes: 4)
        #expect(abs(model.mealSize.grams - 20) < 1e-9)
        model.setCarbohydrateRate(milligramsPerMinute: 2500)
        try model.advance(byMinutes: 4)
        model.setCarbohydrateRate(milligramsPerMinute: 0)
        try model.advance(byMinutes: 100)
        #expect(abs(model.mealSize.grams - 30) < 1e-9)
    }

    @Test func continuousEatingAndMinuteTablesAgreeClosely() throws {
        let p = try generatedParameters(.adult, 3)
        let a = UVAPadova2008(parameters: p, settings: .trace)
        let b = UVAPadova2008(parameters: p, settings: .trace)
        a.setCarbohydrateRate(milligramsPerMinute: 5000)
        for _ in 0..<10 {
            b.eatDuringNextMinute(Carbohydrate(grams: 5))
            try b.advance(byMinutes: 1)
        }
        try a.advance(byMinutes: 10)
        a.setCarbohydrateRate(milligramsPerMinute: 0)
        b.eatDuringNextMinute(.zero)
        var worst = 0.0
        for _ in 0..<100 {
            try a.advance(byMinutes: 5)
            try b.advance(byMinutes: 5)
            worst = max(worst, abs(a.plasma - b.plasma))
        }
        #expect(worst < 0.5)
    }

    @Test func textHasTwelveDecimals() throws {
        let model = UVAPadova2008(parameters: try generatedParameters(.adult, 0))
        let run = try TraceRun(
            model, subject: "x",
            inputs: TraceInputs(rows: [.init(minute: 0, carbsGrams: 0, insulinUnits: 0.02)]))
        let lines = run.csv.split(separator: "\n")
        #expect(lines[0] == "minute,plasma_mgdl,interstitial_mgdl")
        #expect(lines.count == 3)
        for (line, row) in zip(lines.dropFirst(), run.rows) {
            let fields = line.split(separator: ",")
            #expect(fields[1].split(separator: ".")[1].count == 12)
            #expect(abs((Double(fields[1]) ?? 0) - row.plasma.milligramsPerDecilitre) < 1e-11)
        }
    }

    @Test func brokenInputsAreRefusedWithTheirLine() {
        let header = "minute,carbs_g,insulin_u\n"
        #expect(problem("")?.found == "an empty file")
        #expect(problem("minute,carbs,insulin_u\n0,0,0\n")?.found.contains("carbs_g") == true)
        #expect(problem(header)?.found == "no rows")
        for row in [
            "0,0", "0,0,0,0", "0.5,0,0", "-1,0,0", "x,0,0", "0,-1,0", "0,nan,0", "0,0,inf", "0,501,0",
        ]
            + ["0,0,1e9", "1e15,0,0", "0,0,"]
        {
            #expect(problem(header + row + "\n")?.line == 2, "\(row)")
        }
        #expect(problem(header + "1,0,0\n1,0,0\n")?.line == 3)
        #expect(problem(header + "2,0,0\n1,0,0\n")?.line == 3)
    }
}
