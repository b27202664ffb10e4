import Foundation
import IsletDevices
import IsletFiles
import IsletKernel
import Testing

@testable import IsletTrials

/// Answers and questions with anything wrong in them: a cause or an answer that may be given, and never a trap. ISLET_SOAK asks for a million of each.
@Suite struct PluginFuzzTests {
    private static let count = ProcessInfo.processInfo.environment["ISLET_SOAK"] == nil ? 20_000 : 1_000_000

    private let asked = (0..<3).map { AskedStep(handle: $0, step: 9, now: .minutes(45)) }
    private let questions: [(member: Int, question: StepQuestion)] = (0..<3).map { member in
        let therapy = TherapySettings(
            bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: 1),
            carbohydrateRatioGramsPerUnit: 10, correctionFactorMgdlPerUnit: 50,
            totalDailyInsulin: InsulinAmount(units: 40))
        let input = StepInput(
            algorithmTime: 9, now: .minutes(45), therapy: therapy,
            target: GlucoseConcentration(milligramsPerDecilitre: 120))
        return (member, StepQuestion(input: input, beginsAnew: false, undoesLast: false))
    }

    private func ready(_ encoding: String) throws -> PluginReady {
        try PluginReady(
            Array(
                #"{"protocol":"islet-step/1","encoding":"\#(encoding)","name":"f","runs":"together","numbers":[{"name":"a"},{"name":"b"}]}"#
                    .utf8))
    }

    /// What comes of an answer may be given: as many as were asked, no number that is no dose.
    private func judge(_ answers: [PluginAnswer]) {
        #expect(answers.count == 3)
        for answer in answers {
            guard case .dose(let output) = answer.step else { continue }
            let parts = [
                output.basal.units, output.correction.units, output.meal.units, output.glucagon.units,
            ]
            #expect(parts.allSatisfy { $0 >= 0 && $0 <= 100 })
            #expect(answer.numbers.count <= 2 && answer.numbers.allSatisfy { $0.value.isFinite })
        }
    }

    private func damage(_ whole: [UInt8], _ luck: inout RandomStream, mendsCRC: Bool = false) -> [UInt8] {
        var bytes = whole
        for _ in 0...luck.next() % 3 where !bytes.isEmpty {
            let place = Int(luck.next() % UInt64(bytes.count))
            switch luck.next() % 5 {
            case 0: bytes.remove(at: place)
            case 1: bytes.insert(UInt8(truncatingIfNeeded: luck.next()), at: place)
            case 2: bytes.removeLast(bytes.count - place)
            case 3: bytes[place] = [0, 0xFF, 0x7F, 0x80][Int(luck.next() % 4)]
            default: bytes[place] = UInt8(truncatingIfNeeded: luck.next())
            }
        }
        if mendsCRC, bytes.count > 20 {
            let crc = CRC32.of(bytes[..<(bytes.count - 4)])
            for place in 0..<4 {
                bytes[bytes.count - 4 + place] = UInt8(truncatingIfNeeded: crc >> (8 * UInt32(place)))
            }
        }
        return bytes
    }

    @Test func answersInFrames() throws {
        let reader = PluginAnswers(try ready("packed"), asked)
        var (doses, own): ([UInt8], [UInt8]) = ([], [])
        PluginFrame.own.append(to: &own, rows: 3) { bytes in
            for handle in 0..<UInt64(3) {
                let values: [Double] = [0.5, 2, .nan, .nan, .nan, .nan, .nan, .nan]
                for cell in [handle, 9] + values.map(\.bitPattern) { PluginFrame.append(cell, to: &bytes) }
            }
        }
        PluginFrame.dose.append(to: &doses, rows: 3) { bytes in
            for handle in 0..<UInt64(3) {
                let units = [0.1, 0.2, 0.3, 0].map(\.bitPattern)
                for cell in [handle, 9] + units + [0, Double.nan.bitPattern] {
                    PluginFrame.append(cell, to: &bytes)
                }
            }
        }
        judge(try #require(try reader.packed(own + doses)).0)
        var (luck, outcomes) = (RandomStream(key: 31, index: 1), (taken: 0, refused: 0, waiting: 0))
        for round in 0..<Self.count {
            let bytes =
                round % 2 == 0
                ? damage(own + doses, &luck)
                : damage(own, &luck, mendsCRC: true) + damage(doses, &luck, mendsCRC: true)
            do {
                if let (answers, _) = try reader.packed(bytes) {
                    outcomes.taken += 1
                    judge(answers)
                } else {
                    outcomes.waiting += 1
                }
            } catch { outcomes.refused += 1 }
        }
        #expect(outcomes.taken > 0 && outcomes.refused > Self.count / 3 && outcomes.waiting > 0)
    }

    @Test func answersInLines() throws {
        let reader = PluginAnswers(try ready("lines"), asked)
        let whole = Array(
            """
            {"fail":{"handle":2,"step":9,"text":"no"}}
            {"own":[{"handle":0,"step":9,"a":0.5},{"handle":1,"step":9,"b":-1e3}]}
            {"dose":[{"handle":0,"step":9,"basal":0.05,"forecast":120},{"handle":1,"step":9,"meal":1e1}]}

            """.utf8)
        judge(try #require(try reader.lines(whole)).0)
        var (luck, outcomes) = (RandomStream(key: 31, index: 2), (taken: 0, refused: 0, waiting: 0))
        for _ in 0..<Self.count {
            do {
                if let (answers, _) = try reader.lines(damage(whole, &luck)) {
                    outcomes.taken += 1
                    judge(answers)
                } else {
                    outcomes.waiting += 1
                }
            } catch { outcomes.refused += 1 }
        }
        #expect(outcomes.taken > 0 && outcomes.refused > Self.count / 3 && outcomes.waiting > 0)
    }

    /// The other direction: what a process that has loaded a library is told.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/cc")))
    func questionsToALibrary() throws {
        let library = FileManager.default.temporaryDirectory.appending(path: "islet-fuzz-\(UUID()).so").path()
        defer { try? FileManager.default.removeItem(atPath: library) }
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
            .standardizedFileURL
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/cc")
        compiler.currentDirectoryURL = root
        compiler.arguments = [
            "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-I", "C", "-o", library, "C/examples/pid.c",
            "-lm",
        ]
        try compiler.run()
        compiler.waitUntilExit()
        #expect(compiler.terminationStatus == 0)
        var (begin, step): ([UInt8], [UInt8]) = ([], [])
        let therapy = questions[0].question.input.therapy
        PluginFrame.begin.append(to: &begin, rows: 3) { bytes in
            for member in 0..<3 {
                let row = BeginRow(
                    handle: Int64(member), seed: 1, isSame: false, therapy: therapy,
                    target: GlucoseConcentration(milligramsPerDecilitre: 120), subject: "x")
                PluginFrame.append(row, to: &bytes)
            }
        }
        PluginFrame.step.append(to: &step, rows: 3) { bytes in
            for (member, question) in questions {
                let row = AskedRow(handle: Int64(member), question: question)
                PluginFrame.append(row, to: &bytes)
            }
        }
        var (luck, answered, refused) = (RandomStream(key: 31, index: 3), 0, 0)
        let hello = Array("{\"parameters\":{}}\n".utf8)
        for round in 0..<Self.count / 4 {
            let told =
                round % 2 == 0
                ? damage(begin + step, &luck)
                : begin + damage(step, &luck, mendsCRC: true)
            var (parts, said) = ([hello, told], 0)
            var host = try LibraryHost(path: library) {
                parts.isEmpty ? [] : parts.removeFirst()
            } write: { _ in
                said += 1
            }
            do { try host.serve() } catch { refused += 1 }
            // Its `ready` comes first.
            answered += said > 1 ? 1 : 0
        }
        #expect(refused > Self.count / 16 && answered > 0)
    }
}
