// The table of `islet metrics`: what it accepts, and the line and words of each refusal.

import IsletFiles
import IsletDevices
import Testing

@Suite("Metrics CSV") struct MetricsCSVTests {
    private func refusal(of text: String) -> InputError? {
        do {
            _ = try MetricsCSV.parse(text, file: "x.csv")
            return nil
        } catch { return error }
    }

    @Test func `a plain table becomes a trace on its own clock`() throws {
        let trace = try MetricsCSV.parse(
            """
            time,glucose_mgdl
            2026-03-02T06:00:00-05:00,112
            2026-03-02T06:05:00-05:00,
            2026-03-02T06:10:00-05:00,108.5
            """, file: "x.csv")
        #expect(trace.mgdl == [112, 108.5])
        // 2026-03-02 is day 20514 since 1970.
        #expect(trace.localMilliseconds[0] == 20514 * 86_400_000 + 6 * 3_600_000)
        #expect(trace.span == trace.localMilliseconds[0]...(trace.localMilliseconds[0] + 600_000))
    }

    @Test func `order of columns, quotes, BOM, CRLF, blanks and other columns don't matter`() throws {
        let text =
            "\u{FEFF}\"glucose_mgdl\" , time,note\r\n100,2026-03-02 06:00,\r\n\r\n\"101.5\",2026-03-02T06:05:00.25,\"a,b\"\r\n"
        let trace = try MetricsCSV.parse(text, file: "x.csv")
        #expect(trace.mgdl == [100, 101.5])
        #expect(trace.localMilliseconds[1] - trace.localMilliseconds[0] == 300_250)
    }

    @Test func `a change of offset keeps real time and the first row's clock`() throws {
        let trace = try MetricsCSV.parse(
            """
            time,glucose_mgdl
            2026-03-29T01:55:00+01:00,112
            2026-03-29T03:00:00+02:00,110
            """, file: "x.csv")
        #expect(trace.localMilliseconds[1] - trace.localMilliseconds[0] == 300_000)
    }

    @Test(arguments: [
        ("", nil, "an empty file"),
        ("\n\n", nil, "an empty file"),
        ("time,glucose_mgdl\n", nil, "no rows"),
        ("time,glucose_mgdl\n2026-03-02T06:00Z,\n", nil, "no glucose in any of 1 row"),
        ("time,glucose\n", 1, "no column glucose_mgdl"),
        ("time;glucose_mgdl\n", 1, "no column time"),
        ("time,time,glucose_mgdl\n", 1, "the column time 2 times"),
        ("time,glucose_mgdl\nnow,100\n", 2, "the time \"now\""),
        ("time,glucose_mgdl\n2026-02-30T06:00Z,100\n", 2, "the time"),
        ("time,glucose_mgdl\n2026-02-20,100\n", 2, "the time"),
        ("time,glucose_mgdl\n2026-02-20T06:00Z\n", 2, "1 field"),
        ("time,glucose_mgdl\n2026-02-20T06:00Z,1,2\n", 2, "3 fields"),
        ("time,glucose_mgdl\n2026-02-20T06:00Z,nan\n", 2, "the glucose \"nan\""),
        ("time,glucose_mgdl\n2026-02-20T06:00Z,inf\n", 2, "the glucose"),
        ("time,glucose_mgdl\n2026-02-20T06:00Z,0x70\n", 2, "the glucose"),
        ("time,glucose_mgdl\n2026-02-20T06:00Z,1e999\n", 2, "the glucose"),
        ("time,glucose_mgdl\n2026-02-20T06:00Z,-100\n", 2, "the glucose"),
        ("time,glucose_mgdl\n2026-02-20T06:00Z,0\n", 2, "the glucose"),
        ("time,glucose_mgdl\n2026-02-20T06:00Z,5.5\n", 2, "mmol/L"),
        ("time,glucose_mgdl\n2026-02-20T06:00Z,4000\n", 2, "the glucose"),
        ("time,glucose_mgdl\n2026-02-20T06:00Z,\"100\n", 2, "a quote"),
        ("time,glucose_mgdl\n2026-02-20T06:00Z,100\n2026-02-20T07:00+01:00,100\n", 3, "second time"),
        ("time,glucose_mgdl\n2026-02-20T06:00Z,100\n2026-02-20T05:00Z,100\n", 3, "after a later one"),
        ("time,glucose_mgdl\n2026-02-20T06:00Z,100\n2026-02-20T06:05,100\n", 3, "the time"),
        ("time,glucose_mgdl\n2026-02-20T06:00Z,100\n9926-02-20T06:05Z,100\n", 3, "days after the first"),
        ("time,glucose_mgdl\n\u{0}\u{1}\n", 2, "no text"),
    ])
    func `a bad table names its line and what was found`(text: String, line: Int?, found: String) throws {
        let problem = try #require(refusal(of: text))
        #expect(problem.kind == .badData && problem.file == "x.csv")
        #expect(problem.line == line)
        #expect(problem.found.contains(found), "\(problem)")
        #expect(!problem.expected.isEmpty && !problem.description.contains("\n"))
    }

    @Test func `random bytes are refused, never a crash`() {
        var state: UInt64 = 42
        for length in 1..<300 {
            let bytes = (0..<length).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 56)
            }
            #expect(throws: InputError.self) { try MetricsCSV.parse(bytes: bytes, file: "x.csv") }
            #expect(throws: InputError.self) {
                try MetricsCSV.parse(bytes: Array("time,glucose_mgdl\n".utf8) + bytes, file: "x.csv")
            }
        }
    }

    @Test(arguments: [
        ("1970-01-01T00:00Z", 0, 0), ("1969-12-31 23:59:59.999Z", -1, 0),
        ("2024-02-29T12:00:00,5+0530", 1_709_208_000_500, 330),
        ("2000-03-01T00:00-08", 951_868_800_000, -480),
    ])
    func `ISO 8601 is read to the millisecond`(text: String, local: Int64, offset: Int) throws {
        let time = try #require(ISO8601Time(text))
        #expect(time.localMilliseconds == local && time.offsetMinutes == offset)
    }

    @Test(arguments: [
        "", "2026", "2026-1-2T03:04", "2026-13-01T00:00", "2026-00-01T00:00", "2025-02-29T00:00",
        "1900-02-29T00:00", "2026-01-01T24:00", "2026-01-01T23:60", "2026-01-01T23:59:60",
        "2026-01-01T00:00:00.", "2026-01-01T00:00+", "2026-01-01T00:00+1", "2026-01-01T00:00Zx",
        " 2026-01-01T00:00", "2026-01-01T00:00+25:00", "２026-01-01T00:00",
    ])
    func `what is no instant is nil`(text: String) { #expect(ISO8601Time(text) == nil) }
}
