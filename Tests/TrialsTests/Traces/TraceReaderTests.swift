// Recorded glucose in five layouts: what is read, what is refused, and what is said of the rest.

import IsletFiles
import IsletAlerts
import IsletDevices
import Testing

@Suite("Readers of recorded glucose")
struct TraceReaderTests {
    private func refusal(_ text: String, _ options: TraceOptions = TraceFiles.zoned("UTC")) -> InputError? {
        do {
            _ = try TraceFiles.parse(text, options)
            return nil
        } catch let error as InputError {
            return error
        } catch {
            return nil
        }
    }

    private func values(_ trace: RecordedTrace) -> [MadeReading] {
        trace.readings.map { MadeReading(time: $0.time, mgdl: Int($0.mgdl.rounded())) }
    }

    @Test("the same glucose in five layouts is the same trace")
    func fiveLayouts() throws {
        let made = TraceFiles.readings(count: 2000)
        for (format, text, options) in TraceFiles.all(made) {
            let trace = try TraceFiles.parse(text, options)
            #expect(trace.format == format && trace.unit == .mgdl)
            #expect(values(trace) == made, "\(format)")
            #expect(trace.counts.outOfOrder == 0 && trace.counts.duplicates == 0, "\(format) \(trace.counts)")
            var named = options
            named.format = format
            #expect(values(try TraceFiles.parse(text, named)) == made)
            named.format = format == .plain ? .clarity : .plain
            #expect(refusal(text, named) != nil, "\(format) read as another")
        }
    }

    @Test("a night in which clocks are put back loses and doubles no reading, in either order of the file")
    func clocksBack() throws {
        // 2026-11-01T06:00Z: 02:00 becomes 01:00 in New York.
        let made = TraceFiles.readings(from: "2026-10-31T20:00:00-04:00", count: 240)
        for text in [
            TraceFiles.clarity(made), TraceFiles.clarity(made.reversed()), TraceFiles.libreview(made),
        ] {
            var options = TraceFiles.zoned(TraceFiles.newYork)
            options.dateOrder = .dayFirst
            let trace = try TraceFiles.parse(text, options)
            #expect(values(trace) == made)
            #expect(trace.counts.ambiguous == 24 && trace.counts.duplicates == 0)
            #expect(trace.counts.words.contains { $0.contains("clocks show twice") })
        }
        // Sorted by what clocks showed: each time stands twice below itself.
        let sorted = made.sorted {
            let (a, b) = (
                TraceFiles.local($0.time, TraceFiles.newYork), TraceFiles.local($1.time, TraceFiles.newYork)
            )
            return (TraceFiles.iso(a), $0.time) < (TraceFiles.iso(b), $1.time)
        }
        #expect(values(try TraceFiles.parse(TraceFiles.clarity(sorted))) == made)
    }

    @Test("a night in which clocks are put forward: what they skip is counted by the offset before")
    func clocksForward() throws {
        // 2026-03-08T07:00Z: 02:00 becomes 03:00. A receiver that was not put forward until 02:30.
        let rows = [
            "2026-03-08T01:55:00", "2026-03-08T02:00:00", "2026-03-08T02:25:00", "2026-03-08T03:30:00",
        ].enumerated().map { TraceFiles.clarityRow($0.offset, $0.element, "\(100 + $0.offset)") }
        let trace = try TraceFiles.parse(([TraceFiles.clarityHeader] + rows).joined(separator: "\n"))
        let minutes = trace.readings.map { ($0.time - trace.readings[0].time) / 60_000 }
        #expect(minutes == [0, 5, 30, 35])
        #expect(trace.counts.missingHour == 2)
    }

    @Test("words for what is out of range are readings, a Low below every low alarm")
    func words() throws {
        let rows = ["Low", "low", "High", "120"].enumerated().map {
            TraceFiles.clarityRow($0.offset, "2026-03-02T06:\(TraceFiles.two($0.offset * 5)):00", $0.element)
        }
        let trace = try TraceFiles.parse(([TraceFiles.clarityHeader] + rows).joined(separator: "\n"))
        #expect(trace.readings.map(\.mgdl) == [39, 39, 401, 120])
        #expect(trace.counts.lowWords == 2 && trace.counts.highWords == 1)
        let libre = [
            TraceFiles.libreRow("15-01-2026 06:00", 0, historic: "LO"),
            TraceFiles.libreRow("15-01-2026 06:15", 1, scan: "HI"),
        ]
        let other = try TraceFiles.parse(([TraceFiles.libreHeader] + libre).joined(separator: "\n"))
        #expect(other.readings.map(\.mgdl) == [39, 501])
    }

    @Test("mmol/L with comma decimals and semicolons, as spreadsheets of half the world write them")
    func commaDecimals() throws {
        let header = TraceFiles.libreHeader.replacing("mg/dL", with: "mmol/L").replacing(",", with: ";")
        let rows = ["5,5", "3,0", "10"].enumerated().map {
            TraceFiles.libreRow("15-01-2026 06:\(TraceFiles.two($0.offset * 15))", 0, historic: "#")
                .replacing(
                    ",", with: ";"
                ).replacing("#", with: $0.element)
        }
        let text = "\u{FEFF}Glucose Data;Generated on;x\r\n" + ([header] + rows).joined(separator: "\r\n")
        let trace = try TraceFiles.parse(text)
        #expect(trace.unit == .mmolL)
        #expect(trace.readings.map { ($0.mgdl / 18.016 * 10).rounded() / 10 } == [5.5, 3.0, 10.0])
        // The same within quotes, between commas.
        let quoted = try TraceFiles.parse(
            "time,glucose_mmoll\n2026-01-15T06:00:00+01:00,\"5,5\"\n", TraceOptions())
        #expect(quoted.readings.map(\.mgdl) == [5.5 * 18.016])
    }

    @Test("a unit is said or named, never guessed")
    func units() throws {
        func refused(_ body: String, _ unit: GlucoseUnit? = nil) -> InputError? {
            var options = TraceFiles.zoned("UTC")
            options.unit = unit
            return refusal(body, options)
        }
        let row = "2026-03-02T06:00:00Z,"
        #expect(refused("time,glucose_mgdl\n\(row)5.5\n")?.line == 2)
        #expect(refused("time,glucose_mgdl\n\(row)5.5\n")?.found.contains("mmol/L?") == true)
        #expect(refused("time,glucose_mmoll\n\(row)112\n")?.found.contains("mg/dL?") == true)
        #expect(refused("time,glucose\n\(row)112\n")?.expected.contains("--trace-units") == true)
        #expect(refused("time,glucose\n\(row)112\n", .mgdl) == nil)
        #expect(refused("time,glucose\n\(row)5.5\n", .mmolL) == nil)
        #expect(refused("time,glucose_mgdl\n\(row)112\n", .mmolL)?.line == 1)
        // All within what a mg/dL may be, and yet no person.
        let high = (0..<9).map { "2026-03-02T06:0\($0):00Z,1\($0)\n" }.joined()
        #expect(refused("time,glucose_mgdl\n\(high)")?.found.contains("median") == true)
        let entry = TraceFiles.nightscout([MadeReading(time: 1_772_000_000_000, mgdl: 55)])
        #expect(refused(entry.replacing("\"sgv\":55", with: "\"sgv\":5.5")) != nil)
        let two = TraceFiles.tidepool(TraceFiles.readings(count: 2))
        let mixed = two.split(separator: "\n").enumerated().map {
            $0.offset == 2 ? String($0.element).replacing("mg/dL", with: "mmol/L") : String($0.element)
        }
        #expect(refusal(mixed.joined(separator: "\n"), TraceOptions())?.line == 3)
    }

    @Test("times without a zone are refused, and so are times in UTC: nights would be elsewhere")
    func zones() throws {
        let made = TraceFiles.readings(count: 3)
        for text in [TraceFiles.clarity(made), TraceFiles.plain(made), TraceFiles.nightscout(made)] {
            let error = refusal(text, TraceOptions())
            #expect(error?.line != nil && error?.expected.contains("--time-zone") == true)
        }
        #expect(
            refusal(TraceFiles.plain(made), TraceFiles.zoned("Nowhere/Town"))?.found.contains("Nowhere")
                == true)
        let mixed = "time,glucose_mgdl\n2026-03-02T06:00:00,100\n2026-03-02T06:05:00-05:00,100\n"
        #expect(refusal(mixed)?.line == 3)
        // What rows say of their own offset is taken, also where it changes.
        let travelled = try TraceFiles.parse(
            "time,glucose_mgdl\n2026-03-02T06:00:00-05:00,100\n2026-03-02T13:00:00+01:00,100\n",
            TraceOptions())
        #expect(travelled.zone.transitions.map(\.offsetSeconds) == [3600])
        let nights = try TraceFiles.parse(
            TraceFiles.nightscout(made).replacing("\"utcOffset\":0", with: "\"utcOffset\":-300"),
            TraceOptions())
        #expect(nights.zone.firstOffsetSeconds == -18_000)
    }

    @Test("day and month that could be either way round are refused until somebody names their order")
    func dateOrder() throws {
        func file(_ time: String) -> String {
            [TraceFiles.libreHeader, TraceFiles.libreRow(time, 0, historic: "100")].joined(separator: "\n")
        }
        #expect(refusal(file("03-04-2026 06:00"))?.expected.contains("--date-order") == true)
        var options = TraceFiles.zoned("UTC")
        options.dateOrder = .monthFirst
        let american = try TraceFiles.parse(file("03-04-2026 06:00"), options)
        #expect(american.readings[0].time == TraceFiles.epoch("2026-03-04T06:00:00+00:00"))
        let half = try TraceFiles.parse(file("01-15-2026 12:30 AM"), TraceFiles.zoned("UTC"))
        #expect(half.readings[0].time == TraceFiles.epoch("2026-01-15T00:30:00+00:00"))
        #expect(refusal(file("31-02-2026 06:00"))?.line == 2)
        let both =
            file("15-01-2026 06:00") + "\n" + TraceFiles.libreRow("01-16-2026 06:00", 0, historic: "100")
        #expect(refusal(both)?.expected.contains("one order") == true)
    }

    @Test("what is no reading of a sensor is skipped and counted by what it is")
    func others() throws {
        let time = "2026-03-02T06:00:00"
        let rows = [
            TraceFiles.clarityRow(7, time, "110"), TraceFiles.clarityRow(8, time, "140", kind: "Calibration"),
            TraceFiles.clarityRow(9, time, "", kind: "Insulin"),
            TraceFiles.clarityRow(10, "2026-03-02T06:05:00", ""),
        ]
        let text = ([TraceFiles.clarityHeader] + TraceFiles.clarityBlock + rows).joined(separator: "\n")
        let trace = try TraceFiles.parse(text)
        #expect(trace.readings.map(\.mgdl) == [110])
        #expect(trace.counts.words.contains("1 × Calibration skipped"))
        #expect(trace.counts.words.contains("2 × Alert skipped"))
        #expect(trace.counts.empty == 1 && trace.counts.rows == 10 && trace.counts.skipped == 9)
        // The sensor was there to the last row.
        #expect(trace.span.upperBound - trace.span.lowerBound == 300_000)

        let entries = """
            [{"type":"mbg","mbg":100,"date":1772000000000},{"type":"sgv","sgv":9,"date":1772000000000},
            {"type":"cal","slope":1,"date":1772000000000},{"type":"sgv","sgv":39,"date":1772000300000}]
            """
        let nights = try TraceFiles.parse(entries)
        #expect(nights.readings.map(\.mgdl) == [39])
        #expect(nights.counts.words.contains("1 × sensor error codes skipped"))
    }

    @Test("duplicates, rows out of order and other values for the same time are said")
    func order() throws {
        let text = """
            time,glucose_mgdl
            2026-03-02T06:00:00-05:00,100
            2026-03-02T06:10:00-05:00,120
            2026-03-02T06:05:00-05:00,110
            2026-03-02T06:05:00-05:00,110
            2026-03-02T06:10:00-05:00,99
            2026-03-02T06:15:00-05:00,130
            """
        let trace = try TraceFiles.parse(text, TraceOptions())
        #expect(trace.readings.map(\.mgdl) == [100, 110, 120, 130])
        #expect(trace.counts.duplicates == 1 && trace.counts.conflicts == 1 && trace.counts.outOfOrder == 2)
    }

    @Test("an export of one session is a trace, with what was filled in later; one of several is refused")
    func exported() throws {
        let text = """
            session,subject,time,glucose_mgdl,backfilled
            3,adult,2026-03-02T06:00:00-05:00,100,
            3,adult,2026-03-02T06:05:00-05:00,110,2026-03-02T06:31:00-05:00
            """
        let trace = try TraceFiles.parse(text, TraceOptions())
        #expect(trace.readings.map { ($0.received - $0.time) / 60_000 } == [0, 26])
        #expect(refusal(text + "\n4,adult,2026-03-02T06:10:00-05:00,100,", TraceOptions())?.line == 4)
        let before = text.replacing("06:31", with: "06:01")
        #expect(refusal(before, TraceOptions())?.line == 3)
    }

    @Test("of two sensors at once one is followed, until it is silent for more than a quarter of an hour")
    func twoSensors() throws {
        var lines = ["time,glucose_mgdl,sensor"]
        func add(_ minute: Int, _ mgdl: Int, _ sensor: String) {
            lines.append(
                "2026-03-02T\(TraceFiles.two(6 + minute / 60)):\(TraceFiles.two(minute % 60)):00-05:00,\(mgdl),\(sensor)"
            )
        }
        for minute in stride(from: 0, to: 60, by: 5) {
            add(minute, 100 + minute, "A")
            if minute >= 30 { add(minute + 2, 200 + minute, "B") }
        }
        for minute in stride(from: 60, to: 90, by: 5) { add(minute + 2, 200 + minute, "B") }
        let trace = try TraceFiles.parse(lines.joined(separator: "\n"), TraceOptions())
        #expect(trace.counts.overlapping == 5)
        #expect(trace.readings.prefix(12).allSatisfy { $0.sensor == 0 })
        #expect(trace.readings.dropFirst(12).map(\.mgdl) == [255, 260, 265, 270, 275, 280, 285])
    }

    @Test("a file without a usable reading is refused, and says what was in it")
    func nothing() throws {
        #expect(refusal("")?.found == "an empty file")
        #expect(refusal("time,glucose_mgdl\n")?.found.contains("no glucose in 0 rows") == true)
        #expect(
            refusal("time,glucose_mgdl\n2026-03-02T06:00:00Z,\n")?.found.contains("1 row without a value")
                == true)
        #expect(refusal("[]") != nil && refusal("{\"a\":1}") != nil && refusal("[{\"sgv\":100}") != nil)
        let block = ([TraceFiles.clarityHeader] + TraceFiles.clarityBlock).joined(separator: "\n")
        #expect(refusal(block)?.found.contains("2 × Alert skipped") == true)
        #expect(refusal("a,b,c\n1,2,3\n")?.line == 1)
        #expect(refusal("time,glucose_mgdl\n1970-01-01T00:00:00Z,100\n2026-03-02T06:00:00Z,100\n") != nil)
        #expect(refusal("time,glucose_mgdl\n2026-03-02T06:00:00Z\n")?.line == 2)
    }
}
