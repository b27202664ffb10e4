// Cells as bytes: the same as the slow way writes them.

import IsletDevices
import IsletFiles
import Foundation
import IsletKernel
import Testing

@testable import IsletTrials

@Suite("A row's text")
struct RowTextTests {
    private func cell(_ value: RecordedColumn<Void>.Value, _ format: StepFormat = .csv) -> String {
        let text = RowText(format)
        withUnsafePointer(to: ()) {
            text.append(value, of: $0, SessionCalendar(startEpochSeconds: 0, offsetSeconds: 0))
        }
        return text.text
    }

    @Test("has numbers with the fewest digits that read back to them")
    func numbers() {
        var generator = SystemRandomNumberGenerator()
        var values = [
            0, -0.0, 1, -1, 0.05, 0.1 + 0.2, 1e-4, -1e-4, 1e-5, 123.4567, 123.45678, 1e11,
            99_999_999_999.9999,
            1e15, 1e16, 9_007_199_254_740_992, -0.00005, Double.leastNonzeroMagnitude,
            Double.greatestFiniteMagnitude, -9_223_372_036_854_775_808, 0.35, 2.675, 1e-3,
            100_000_000_000.1,
        ]
        for _ in 0..<20_000 {
            values.append(Double.random(in: -500...500, using: &generator))
            values.append(Double(Int.random(in: -2_000_000...2_000_000, using: &generator)) / 1e4)
            values.append(Double(Float.random(in: 10...1000, using: &generator)))
            values.append(Double(bitPattern: .random(in: 0 ... .max, using: &generator)))
        }
        for value in values where value.isFinite {
            #expect(cell(.real { _ in value }) == JSONValue.numberText(value))
            #expect(Double(cell(.real { _ in value })) == value)
        }
        #expect(cell(.real { _ in .nan }).isEmpty && cell(.real { _ in .infinity }, .jsonl) == "null")
    }

    @Test("has instants as the calendar says them")
    func instants() {
        for (start, offset) in [(1_772_449_200, -18_000), (0, 0), (1_798_709_400, 19_800), (-1, 3600)]
            as [(Int64, Int64)]
        {
            let calendar = SessionCalendar(startEpochSeconds: start, offsetSeconds: offset)
            let text = RowText(.csv)
            for _ in 0..<2000 {
                let second = Int64.random(in: -100_000...400_000_000)
                let fraction = [0, 500_000_000, 1, 120_000, 999_999_999].randomElement() ?? 0
                let instant = Instant(nanoseconds: second * Nanoseconds.second + Int64(fraction))
                text.removeAll()
                text.append(instant: instant, calendar)
                #expect(text.text == calendar.iso8601(at: instant))
            }
        }
    }

    @Test("has whole numbers, flags, nothing, and text as each format wants it")
    func others() {
        for number in [0, 7, 10, 99, 100, -70, 12_345_678_901, Int.max, .min] {
            #expect(cell(.whole { _ in number }) == "\(number)")
        }
        #expect(cell(.text { _ in nil }).isEmpty && cell(.real { _ in nil }, .jsonl) == "null")
        #expect(cell(.flag { _ in true }) == "true" && cell(.flag { _ in false }, .jsonl) == "false")
        #expect(cell(.text { _ in "a \"b\", c" }) == "\"a \"\"b\"\", c\"")
        #expect(cell(.text { _ in "a \"b\"\n" }, .jsonl) == "\"a \\\"b\\\"\\n\"")
        #expect(cell(.text { _ in "" }, .jsonl) == "\"\"" && cell(.text { _ in "Zoë" }) == "Zoë")
        #expect(cell(.identifier({ _ in "key" }, { _ in -1 }), .jsonl) == "\"key--1\"")
    }

    @Test("has seconds since the session's start as the number that they are")
    func seconds() {
        for nanoseconds in [
            0, 1, -1, Nanoseconds.second, -Nanoseconds.second, 1_500_000_000, 315_360_000_000_000_001,
        ] {
            let instant = Instant(nanoseconds: nanoseconds)
            #expect(
                cell(.seconds { _ in instant }) == JSONValue.numberText(Double(nanoseconds) / 1e9))
        }
    }

    @Test("of any length has all its bytes, however often it grows")
    func growth() {
        let text = RowText(.csv)
        var whole = ""
        for length in [0, 1, 4095, 4096, 4097, 100_000] {
            let word = String(repeating: "x", count: length)
            text.append(quoted: word)
            text.append(integer: Int64(length))
            whole += word + "\(length)"
        }
        let start = text.count
        text.repeatBytes(from: 0, count: start)
        #expect(text.text == whole + whole && text.bytes == Array((whole + whole).utf8))
    }

    @Test("spooled beyond memory, is whole: by block and by line")
    func spool() throws {
        for size in [0, 1, 100_000, SpooledText.memoryLimit + 1] {
            let line = "0123456789\n"
            let (blocks, lines) = (SpooledText(), SpooledText())
            var written = 0
            while written < size {
                let part = String(repeating: line, count: 9000)
                try blocks.append(Array(part.utf8), lines: 9000)
                try lines.append(Array(part.utf8), lines: 9000)
                written += part.utf8.count
            }
            var read = 0
            while let block = try blocks.nextBlock() { read += block.count }
            #expect(read == written && blocks.lines == written / 11)
            var count = 0
            while let found = try lines.nextLine() {
                #expect(found == "0123456789")
                count += 1
            }
            #expect(count == lines.lines)
        }
    }
}
