// Cells as bytes: the same as the slow way writes them.

import Documents
import Foundation
import SessionTime
import Testing

@testable import Trials

@Suite("A row's text")
struct RowTextTests {
    private func cell(_ value: StepValue, _ format: StepFormat = .csv) -> String {
        var text = RowText(format)
        text.append(value)
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
            #expect(cell(.number(value)) == JSONValue.numberText(value))
            #expect(Double(cell(.number(value))) == value)
        }
        #expect(cell(.number(.nan)).isEmpty && cell(.number(.infinity), .jsonl) == "null")
    }

    @Test("has instants as the calendar says them")
    func instants() {
        for (start, offset) in [(1_772_449_200, -18_000), (0, 0), (1_798_709_400, 19_800), (-1, 3600)]
            as [(Int64, Int64)]
        {
            let calendar = SessionCalendar(startEpochSeconds: start, offsetSeconds: offset)
            var text = RowText(.csv)
            for _ in 0..<2000 {
                let second = Int64.random(in: -100_000...400_000_000)
                let fraction = [0, 500_000_000, 1, 120_000, 999_999_999].randomElement() ?? 0
                let instant = Instant(nanoseconds: second * Span.second + Int64(fraction))
                text.removeAll()
                text.append(instant: instant, calendar)
                #expect(text.text == calendar.iso8601(at: instant))
            }
        }
    }

    @Test("has whole numbers, flags, nothing, and text as each format wants it")
    func others() {
        #expect(
            cell(.integer(.min)) == "\(Int64.min)" && cell(.integer(0)) == "0" && cell(.integer(-70)) == "-70"
        )
        #expect(cell(.absent).isEmpty && cell(.absent, .jsonl) == "null" && cell(.flag(true)) == "true")
        #expect(cell(.text("a \"b\", c")) == "\"a \"\"b\"\", c\"")
        #expect(cell(.text("a \"b\"\n"), .jsonl) == "\"a \\\"b\\\"\\n\"")
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
