import CIslet
import IsletDevices
import IsletFiles
import IsletKernel
import Testing

@testable import IsletTrials

/// Frames and lines of `islet-step/1`.
@Suite struct PluginFrameTests {
    private func step(_ number: Int64 = 3) -> AskedRow {
        let therapy = TherapySettings(
            bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: 1),
            carbohydrateRatioGramsPerUnit: 10, correctionFactorMgdlPerUnit: 50,
            totalDailyInsulin: InsulinAmount(units: 40))
        let input = StepInput(
            algorithmTime: number, now: .minutes(15), therapy: therapy,
            target: GlucoseConcentration(milligramsPerDecilitre: 120))
        return AskedRow(
            handle: 4, question: StepQuestion(input: input, beginsAnew: false, undoesLast: true))
    }

    private func dose(_ cells: [UInt64]) -> [UInt8] {
        var bytes: [UInt8] = []
        PluginFrame.dose.append(to: &bytes, rows: cells.count / StepFields.dose.count) { bytes in
            for cell in cells { PluginFrame.append(cell, to: &bytes) }
        }
        return bytes
    }

    @Test func theChecksumIsThatOfZlib() {
        #expect(CRC32.of(Array("123456789".utf8)[...]) == 0xCBF4_3926)
        #expect(CRC32.of([]) == 0)
        #expect(CRC32.of(Array("The quick brown fox jumps over the lazy dog".utf8)[...]) == 0x414F_A339)
    }

    /// Where the processor multiplies no polynomials both are by tables.
    @Test func byProductsOfPolynomialsItIsTheSame() {
        let bytes = (0..<700).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 &+ $0 / 7) }
        for start in 0..<16 {
            for count in 0...(600 + start) {
                let (fast, plain) = bytes[start...].withUnsafeBufferPointer {
                    (islet_crc32($0.baseAddress, count), islet_crc32_plain($0.baseAddress, count))
                }
                #expect(fast == plain)
            }
        }
    }

    @Test func fieldsHaveNamesOfTheirOwnAndTheirPlace() {
        for names in [
            StepFields.begin.map(\.name), StepFields.step.map(\.name), StepFields.history.map(\.name),
            StepFields.dose.map(\.name),
        ] {
            #expect(Set(names).count == names.count)
            #expect(names.first == "handle")
        }
        var bytes: [UInt8] = []
        PluginFrame.step.append(to: &bytes, rows: 1) {
            PluginFrame.append(step(), to: &$0)
        }
        #expect(bytes.count == 16 + 8 * StepFields.step.count + 4)
        func cell(_ name: String) -> UInt64 {
            PluginFrame.cell(bytes, 16 + 8 * (StepFields.step.firstIndex { $0.name == name } ?? 0))
        }
        #expect(cell("handle") == 4 && cell("step") == 3 && cell("flags") == 16)
        #expect(Double(bitPattern: cell("target")) == 120 && Double(bitPattern: cell("cgm")).isNaN)
        #expect(cell("now") == UInt64(15 * Nanoseconds.minute) && Int64(bitPattern: cell("cgm_time")) == .min)
    }

    @Test func aRowWritesTheCellsOfItsTable() {
        func compare<Row: CellRow>(_ row: Row, _ fields: [StepField<Row>]) {
            var bytes: [UInt8] = []
            PluginFrame.append(row, to: &bytes)
            #expect(bytes.count == 8 * fields.count && Row.cells == fields.count)
            for (place, field) in fields.enumerated() where 8 * place + 8 <= bytes.count {
                #expect(PluginFrame.cell(bytes, 8 * place) == field.cell(row), "\(field.name)")
            }
        }
        compare(step(), StepFields.step)
        var input = step().question.input
        input.customFields = ["age": 7, "zeal": 2]
        let question = StepQuestion(input: input, beginsAnew: false, undoesLast: true)
        compare(AskedRow(handle: 1, question: question), StepFields.step)
        let name = "Müller, a name of more than sixty-four bytes, of which the last are cut off"
        compare(
            BeginRow(
                handle: 2, seed: .max, isSame: true, therapy: question.input.therapy,
                target: GlucoseConcentration(milligramsPerDecilitre: 110), subject: name),
            StepFields.begin)
        let given = GivenInsulin(amount: .zero, since: .minutes(5), until: .minutes(10))
        compare(HistoryRow(handle: 3, complete: .minutes(1), given: given), StepFields.history)
        compare(
            GymRow(status: .over, reached: .minutes(3), bolus: 1, basal: 2, plasma: 3), GymFields.step)
        compare(GymTruth(handle: 4, at: .minutes(5), plasma: 99), GymFields.truth)
    }

    @Test func aLineLeavesOutWhatIsAbsentAndHasTimesAsText() throws {
        let text = PluginLines.text(step(), StepFields.step)
        let line = try JSONValue.read(Array(text.utf8), file: "line")
        #expect(line["now"] == .string("900.000000000") && line["cgm"] == nil && line["cgm_time"] == nil)
        #expect(line["target"] == .integer(120))
        #expect(
            PluginLines.seconds(-1) == "-0.000000001" && PluginLines.seconds(9_000_000_001) == "9.000000001")
    }

    @Test func anAnswerIsReadBackToTheBit() throws {
        let cells: [UInt64] = [
            4, 3, 0.1.bitPattern, 0.2.bitPattern, 0.3.bitPattern, 0, 1, Double.nan.bitPattern,
        ]
        let bytes = dose(cells)
        let frame = try #require(try PluginFrame.read(bytes, from: 0, mostRows: 1))
        #expect(frame.kind == .dose && frame.rows == 1 && frame.end == bytes.count)
        let row = StepFields.dose((0..<8).map { PluginFrame.cell(bytes, frame.body.lowerBound + 8 * $0) })
        #expect(row.handle == 4 && row.step == 3 && row.basal == 0.1 && row.meal == 0.3 && row.forecast.isNaN)
        for count in 0..<bytes.count {
            #expect(try PluginFrame.read(Array(bytes[..<count]), from: 0, mostRows: 1) == nil)
        }
    }

    @Test func damagedFramesAndLinesAreRefusedAndNeverTrap() {
        let whole = dose([UInt64](repeating: 7, count: 16))
        var (luck, refused) = (RandomStream(key: 1, index: 2), 0)
        let line = Array(#"{"dose":[{"handle":0,"step":9,"basal":0.1,"forecast":120}]}"#.utf8)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0...luck.next() % 3 {
                bytes[Int(luck.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: luck.next())
            }
            if luck.next() % 4 == 0 { bytes.removeLast(Int(luck.next() % UInt64(bytes.count))) }
            do { _ = try PluginFrame.read(bytes, from: 0, mostRows: 2) } catch { refused += 1 }
            var text = line
            text[Int(luck.next() % UInt64(text.count))] = UInt8(truncatingIfNeeded: luck.next())
            guard let value = try? JSONValue.read(text, file: "answer"), case .array(let rows) = value["dose"]
            else { continue }
            for row in rows { _ = try? PluginLines.dose(row) }
        }
        #expect(refused > 10_000)
    }

    @Test func aReadyIsJudgedBeforeAnythingIsAsked() throws {
        let good =
            #"{"protocol":"islet-step/1","encoding":"packed","name":"mine","basalSource":"programmed","runs":"together","runtime":"x"}"#
        let ready = try PluginReady(Array(good.utf8))
        #expect(ready.isPacked && ready.isTogether && ready.basalSource == .programmed && ready.version == 1)
        for (word, other) in [
            ("islet-step/1", "islet-step/9"), ("packed", "morse"), ("together", "seldom"),
            ("programmed", "somewhere"), ("mine", ""),
        ] {
            let bad = good.split(separator: word, omittingEmptySubsequences: false).joined(separator: other)
            #expect(throws: PluginFrame.NoFrame.self, "\(word)") { try PluginReady(Array(bad.utf8)) }
        }
    }
}
