// Files with glucose in each vendor's documented layout, made from one list of readings. Nothing real is in them.

import IsletFiles
import IsletAlerts
import IsletKernel

/// One made-up reading.
struct MadeReading: Equatable {
    /// ms since 1970 in UTC.
    var time: Int64
    /// Whole mg/dL.
    var mgdl: Int
}

enum TraceFiles {
    static let newYork = "America/New_York"

    /// A day and more of glucose that goes up and down, every `minutes`.
    /// - Parameter start: whole minutes.
    static func readings(
        from start: String = "2026-03-02T06:00:00-05:00", count: Int = 300, every minutes: Int64 = 5
    ) -> [MadeReading] {
        let begin = epoch(start)
        return (0..<count).map { place in
            let wave = (place * 37 % 83) + (place / 40 % 3) * 60
            return MadeReading(time: begin + Int64(place) * minutes * 60_000, mgdl: 60 + wave)
        }
    }

    /// ms since 1970 of an ISO 8601 text with an offset.
    static func epoch(_ text: String) -> Int64 {
        guard
            let time = try? RecordedTrace.parse(
                Array("time,glucose_mgdl\n\(text),100\n".utf8), file: "epoch", zoned("UTC")
            ).readings.first?.time
        else { return 0 }
        return time
    }

    static func zoned(_ name: String?) -> TraceOptions {
        var options = TraceOptions()
        options.timeZone = name
        return options
    }

    // MARK: Times

    struct Parts {
        var (year, month, day, hour, minute, second) = (0, 0, 0, 0, 0, 0)

        init(localMilliseconds: Int64) {
            let seconds = Int(localMilliseconds / 1000)
            (year, month, day) = CivilDate.date(daysSince1970: seconds / 86_400)
            (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
        }
    }

    static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    static func local(_ time: Int64, _ zone: String) -> Parts {
        let offset = ZoneTable.named(zone, around: time / 1000)?.offset(at: time / 1000) ?? 0
        return Parts(localMilliseconds: time + offset * 1000)
    }

    static func iso(_ parts: Parts, separator: String = "T") -> String {
        "\(parts.year)-\(two(parts.month))-\(two(parts.day))\(separator)\(two(parts.hour)):\(two(parts.minute)):\(two(parts.second))"
    }

    // MARK: Layouts

    static func plain(_ readings: [MadeReading]) -> String {
        "time,glucose_mgdl\n"
            + readings.map { "\(iso(Parts(localMilliseconds: $0.time)))Z,\($0.mgdl)\n" }.joined()
    }

    static func nightscout(_ readings: [MadeReading], device: String = "xDrip-DexcomG6") -> String {
        // As the API has it: newest first.
        let entries = readings.reversed().map {
            """
            {"_id":"\($0.time)","device":"\(device)","date":\($0.time),"dateString":"\(iso(Parts(localMilliseconds: $0.time))).000Z","sgv":\($0.mgdl),"direction":"Flat","type":"sgv","raw":{"unfiltered":[1,2]},"utcOffset":0,"sysTime":"x"}
            """
        }
        return "[" + entries.joined(separator: ",\n") + "]\n"
    }

    static let clarityHeader =
        "Index,Timestamp (YYYY-MM-DDThh:mm:ss),Event Type,Event Subtype,Patient Info,Device Info,Source Device ID,Glucose Value (mg/dL),Insulin Value (u),Carb Value (grams),Duration (hh:mm:ss),Glucose Rate of Change (mg/dL/min),Transmitter Time (Long Integer),Transmitter ID"

    static let clarityBlock = [
        "1,,FirstName,,Made,,,,,,,,,", "2,,LastName,,Up,,,,,,,,,", "3,,DateOfBirth,,1990-01-01,,,,,,,,,",
        "4,,Device,,,Dexcom G6 Mobile App,iPhone G6,,,,,,,", "5,,Alert,Fall,,,iPhone G6,,,,,3,,",
        "6,,Alert,Urgent Low,,,iPhone G6,55,,,00:30:00,,,",
    ]

    static func clarityRow(
        _ index: Int, _ time: String, _ value: String, kind: String = "EGV", transmitter: String = "8AM1EY"
    ) -> String {
        "\(index),\(time),\(kind),,,,iPhone G6,\(value),,,,,\(4_237_574 + index * 300),\(transmitter)"
    }

    static func clarity(_ readings: [MadeReading], zone: String = newYork, lines: String = "\r\n") -> String {
        let rows = readings.enumerated().map {
            clarityRow($0.offset + 7, iso(local($0.element.time, zone)), "\($0.element.mgdl)")
        }
        return "\u{FEFF}" + ([clarityHeader] + clarityBlock + rows).joined(separator: lines) + lines
    }

    static let libreHeader =
        "Device,Serial Number,Device Timestamp,Record Type,Historic Glucose mg/dL,Scan Glucose mg/dL,Non-numeric Rapid-Acting Insulin,Rapid-Acting Insulin (units),Non-numeric Food,Carbohydrates (grams),Carbohydrates (servings),Non-numeric Long-Acting Insulin,Long-Acting Insulin (units),Notes,Strip Glucose mg/dL,Ketone mmol/L,Meal Insulin (units),Correction Insulin (units),User Change Insulin (units)"

    static func libreRow(_ time: String, _ type: Int, historic: String = "", scan: String = "") -> String {
        "FreeStyle LibreLink,ABC-123,\(time),\(type),\(historic),\(scan),,,,,,,,,,,,,"
    }

    static func libreTime(_ parts: Parts) -> String {
        "\(two(parts.day))-\(two(parts.month))-\(parts.year) \(two(parts.hour)):\(two(parts.minute))"
    }

    static func libreview(_ readings: [MadeReading], zone: String = newYork) -> String {
        let rows = readings.map {
            libreRow(libreTime(local($0.time, zone)), 0, historic: "\($0.mgdl)")
        }
        return (["Glucose Data,Generated on,05-03-2026 10:00 UTC,Generated by,Made Up", libreHeader] + rows)
            .joined(separator: "\n") + "\n"
    }

    static let tidepoolHeader =
        "Zulu Time,Local Time,Device Time,Tidepool Data Type,Value,Units,Timezone Offset,Conversion Offset,Clock Drift Offset,Device Id,Id,Upload Id,Payload,Annotations"

    static func tidepool(_ readings: [MadeReading], zone: String = newYork) -> String {
        let rows = readings.map { reading -> String in
            let here = local(reading.time, zone)
            let offset =
                (ZoneTable.named(zone, around: reading.time / 1000)?.offset(at: reading.time / 1000) ?? 0)
                / 60
            return
                "\(iso(Parts(localMilliseconds: reading.time), separator: " ")),\(iso(here, separator: " ")),\(iso(here, separator: " ")),cbg,\(reading.mgdl),mg/dL,\(offset),0,0,DexG6MobRec_X,id,up,\"{\"\"a\"\":\"\"b, c\"\"}\","
        }
        return ([tidepoolHeader] + rows).joined(separator: "\n") + "\n"
    }

    /// Every layout with the options that it needs.
    static func all(_ readings: [MadeReading]) -> [(format: TraceFormat, text: String, options: TraceOptions)]
    {
        let here = zoned(newYork)
        var dayFirst = here
        dayFirst.dateOrder = .dayFirst
        return [
            (.plain, plain(readings), here), (.nightscout, nightscout(readings), here),
            (.clarity, clarity(readings), here), (.libreview, libreview(readings), dayFirst),
            (.tidepool, tidepool(readings), TraceOptions()),
        ]
    }

    static func parse(_ text: String, _ options: TraceOptions = zoned(newYork)) throws -> RecordedTrace {
        try RecordedTrace.parse(Array(text.utf8), file: "trace", options)
    }
}
