// What a person reads in mmol/L is what the files say in mg/dL.

import IsletDevices
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

    @Test("stand in sentences in place of the others, bounds too, and no word of them is read")
    func sentences() {
        let pairs: [(ValueText, String)] = [
            (
                "Glucose \(54, unit: "mg/dL", comparedWith: 70), below \(70, unitless: "mg/dL", comparedWith: 54)",
                "Glucose 3.0 mmol/L, below 3.9"
            ),
            (
                "Glucose \(300.5, unit: "mg/dL", comparedWith: 250), 16 min ago, above \(250, unitless: "mg/dL", comparedWith: 300.5)",
                "Glucose 16.7 mmol/L, 16 min ago, above 13.9"
            ),
            (
                "Glucose rate \(-2.5, unit: "mg/dL/min", comparedWith: -1.5), below \(-1.5, unitless: "mg/dL/min", comparedWith: -2.5)",
                "Glucose rate -0.14 mmol/L/min, below -0.08"
            ),
            (
                "time in range, \(70, unitless: "mg/dL") to \(180, unit: "mg/dL")",
                "time in range, 3.9 to 10.0 mmol/L"
            ),
            ("how much for each mg/dL below 70", "how much for each mg/dL below 70"),
        ]
        for (files, shown) in pairs {
            #expect(mmol.text(files) == shown)
            #expect(GlucoseUnit.mgdl.text(files) == files.text)
        }
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
