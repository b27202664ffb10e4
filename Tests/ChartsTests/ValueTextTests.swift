// A sentence's values are shown in any unit, whatever its words are.

import IsletDevices
import Testing

@testable import IsletFiles

@Suite("Values in sentences")
struct ValueTextTests {
    private let mmol = GlucoseUnit.mmolL

    /// As the alert center says it.
    private func low(_ value: Double, _ bound: Double) -> ValueText {
        "Ada: Glucose \(value, unit: "mg/dL", comparedWith: bound), 16 min ago, below \(bound, unitless: "mg/dL", comparedWith: value) since \(timeOfDay: "02:05"); lowest \(48, unit: "mg/dL"), 70 % of 70"
    }

    @Test("stand in the reader's unit; words, times and what has another unit stay")
    func shown() {
        #expect(
            low(54, 70).text
                == "Ada: Glucose 54 mg/dL, 16 min ago, below 70 since 02:05; lowest 48 mg/dL, 70 % of 70")
        #expect(GlucoseUnit.mgdl.text(low(54, 70)) == low(54, 70).text)
        #expect(
            mmol.text(low(54, 70))
                == "Ada: Glucose 3.0 mmol/L, 16 min ago, below 3.9 since 02:05; lowest 2.7 mmol/L, 70 % of 70"
        )
        // Both on their side of each other, with as many decimals as that needs.
        #expect(mmol.text(low(69.5, 70)).contains("3.86 mmol/L, 16 min ago, below 3.89 since"))
        let rate: ValueText =
            "rate \(-2.5, unit: "mg/dL/min", comparedWith: -1.5), \(30, unit: "% RH")"
        #expect(mmol.text(rate) == "rate -0.14 mmol/L/min, 30 % RH")
    }

    /// Harm: one word is put better, and a page in mmol/L shows mg/dL, or one number in each unit.
    @Test("are the same ones when each word of the sentence is another")
    func otherWords() {
        func numbers(_ text: String) -> [String] {
            text.matches(of: #/-?\d+(\.\d+)?/#).map { String($0.output.0) }
        }
        for value in [39.0, 54, 69.5, 70, 181.25, 400] {
            let sentence = low(value, 70)
            var other: ValueText = ""
            for part in sentence.parts {
                switch part {
                case .words(let words): other += ValueText(words.replacing(#/[A-Za-z,;]+/#, with: "wort"))
                case .amount(let amount, _): other += ValueText(amount)
                case .timeOfDay(let time): other += "\(timeOfDay: time)"
                }
            }
            #expect(other.text.contains("wort") && !mmol.text(other).contains("mg/dL"))
            #expect(numbers(mmol.text(other)) == numbers(mmol.text(sentence)))
            #expect(numbers(other.text) == numbers(sentence.text))
            #expect(mmol.text(other).components(ofUnit: "mmol/L") == 2)
        }
    }

    @Test("keep their places where a name is left out, and where sentences are put together")
    func places() {
        let plain = low(54, 70).removingFirst("Ada: ")
        #expect(plain.text.hasPrefix("Glucose 54 mg/dL"))
        #expect(mmol.text(plain).hasPrefix("Glucose 3.0 mmol/L, 16 min ago, below 3.9 since 02:05"))
        // What is a value is no name.
        #expect(low(54, 70).removingFirst("54 mg/dL").text == low(54, 70).text)
        let both = [plain, "é: " + plain].joined(separator: " und ")
        #expect(both.text == plain.text + " und é: " + plain.text)
        #expect(mmol.text(both) == mmol.text(plain) + " und é: " + mmol.text(plain))
        // The words between them are one part.
        #expect(both.parts.count == 2 * plain.parts.count - 1)
    }
}

extension String {
    fileprivate func components(ofUnit unit: String) -> Int { ranges(of: unit).count }
}
