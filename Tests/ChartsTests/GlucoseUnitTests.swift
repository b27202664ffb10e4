// What a person reads in mmol/L is what the files say in mg/dL.

import Testing

@testable import IsletFiles

@Suite("Units of glucose")
struct GlucoseUnitTests {
    private let mmol = GlucoseUnit.mmolL

    @Test("have one factor for whatever has glucose in its unit, and none for what hasn't")
    func factors() {
        for unit in ["mg/dL", "mg/dL/min", "mg/dL·min", "mg/dL/U"] {
            #expect(abs(mmol.factor(of: unit) - 1 / 18.016) < 1e-15)
            #expect(mmol.text(ofUnit: unit) == "mmol/L" + unit.dropFirst(5))
            #expect(GlucoseUnit.mgdl.factor(of: unit) == 1 && GlucoseUnit.mgdl.text(ofUnit: unit) == unit)
        }
        for unit in ["%", "", "1/week", "g/day", "U/day", "min"] {
            #expect(mmol.factor(of: unit) == 1 && mmol.text(ofUnit: unit) == unit)
        }
        #expect(mmol.text(ofName: "mean_mgdl") == "mean_mmoll")
        #expect(mmol.text(ofName: "tbr_70_percent") == "tbr_70_percent")
        #expect(mmol.text(ofName: "j_index") == "j_index")
    }

    @Test(
        "stand in sentences in place of the others, bounds too",
        arguments: [
            ("Glucose 54 mg/dL, below 70", "Glucose 3.0 mmol/L, below 3.9"),
            ("Glucose 300.5 mg/dL, 16 min ago, above 250", "Glucose 16.7 mmol/L, 16 min ago, above 13.9"),
            ("Glucose 72 mg/dL, was below 70.", "Glucose 4.0 mmol/L, was below 3.9."),
            ("Glucose rate -2.5 mg/dL/min, below -1.5", "Glucose rate -0.14 mmol/L/min, below -0.08"),
            ("reliable, fresh reading < 55 mg/dL", "reliable, fresh reading < 3.1 mmol/L"),
            (
                "plasma glucose 9.3 mg/dL at minute 3850: outside 10 to 1000 mg/dL",
                "plasma glucose 0.5 mmol/L at minute 3850: outside 0.6 to 55.5 mmol/L"
            ),
            (
                "looks: 98 mg/dL, acknowledges, 3 min after the raise",
                "looks: 5.4 mmol/L, acknowledges, 3 min after the raise"
            ),
            ("in mg/dL or not", "in mmol/L or not"),
            ("no glucose here, below 70", "no glucose here, below 70"),
        ])
    func sentences(_ pair: (files: String, shown: String)) {
        #expect(mmol.words(pair.files) == pair.shown)
        #expect(GlucoseUnit.mgdl.words(pair.files) == pair.files)
    }

    /// `Glucose 3.9 mmol/L, below 3.9` would be a riddle.
    @Test("keep a value on its side of the bound, however close it lies")
    func sides() throws {
        for bound in [54.0, 55, 70, 80, 180, 250] {
            for step in -300...300 {
                let value = bound + Double(step) / 100
                let shown = mmol.pair(value, bound)
                let (a, b) = (
                    try #require(Double(shown.value)), try #require(shown.bound.flatMap { Double($0) })
                )
                #expect(
                    (a < b) == (value < bound) && (a > b) == (value > bound), "\(value) \(bound): \(shown)")
                #expect(abs(a - value / 18.016) <= 0.05 + 1e-9)
            }
        }
        #expect(mmol.pair(100, 70) == ("5.6", "3.9") && mmol.pair(69.5, 70) == ("3.86", "3.89"))
    }
}
