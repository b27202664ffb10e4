// Times as vendors write them.

import IsletDevices
import IsletKernel

/// Dates whose day and month stand in an order that the text itself doesn't say.
struct TraceTime {
    /// Milliseconds since 1970-01-01T00:00 on the clock that was written.
    typealias Local = Int64

    /// `15-01-2024 14:30`, `01/15/2024 2:30 PM`, `15.01.2024 14:30:10`, `2024-01-15 14:30`; nil for anything else.
    struct Parts {
        var first: Int
        var second: Int
        var year: Int
        var isYearFirst: Bool
        var millisecondOfDay: Int64

        init?(_ text: String) {
            let words = text.split(separator: " ")
            guard words.count == 2 || words.count == 3 else { return nil }
            let date = words[0].split(omittingEmptySubsequences: false) { "-/.".contains($0) }
            guard date.count == 3, let a = Self.number(date[0]), let b = Self.number(date[1]),
                let c = Self.number(date[2])
            else { return nil }
            isYearFirst = date[0].utf8.count == 4
            guard isYearFirst || date[2].utf8.count == 4 else { return nil }
            (first, second, year) = isYearFirst ? (b, c, a) : (a, b, c)
            let time = words[1].split(separator: ":", omittingEmptySubsequences: false)
            guard time.count == 2 || time.count == 3, var hour = Self.number(time[0]),
                let minute = Self.number(time[1]), minute < 60,
                let seconds = time.count == 3 ? Self.number(time[2]) : 0, seconds < 60
            else { return nil }
            if words.count == 3 {
                let half = words[2].uppercased()
                guard half == "AM" || half == "PM", (1...12).contains(hour) else { return nil }
                hour = hour % 12 + (half == "PM" ? 12 : 0)
            }
            guard hour < 24 else { return nil }
            millisecondOfDay = Int64((hour * 3600 + minute * 60 + seconds) * 1000)
        }

        private static func number(_ text: Substring) -> Int? {
            (1...4).contains(text.utf8.count) && text.utf8.allSatisfy { (48...57).contains($0) }
                ? Int(text) : nil
        }

        /// nil for a date that no calendar has.
        func local(_ order: TraceOptions.DateOrder) -> Local? {
            let (month, day) = isYearFirst || order == .monthFirst ? (first, second) : (second, first)
            guard (1...12).contains(month), day >= 1, day <= CivilDate.days(inMonth: month, of: year) else {
                return nil
            }
            return Int64(CivilDate.daysSince1970(year: year, month: month, day: day)) * 86_400_000
                + millisecondOfDay
        }
    }
}

extension TraceRows {
    private static let years: ClosedRange<Int64> = 0...7_258_118_400_000

    /// A time in ISO 8601.
    /// - Parameter isUTC: whether one without an offset is of UTC.
    func time(
        _ text: String, line: Int, isUTC: Bool = false
    ) throws(InputError) -> (time: Int64, offset: Int32) {
        guard let time = ISO8601Time(text) else {
            throw problem(
                line, "the time \(quoted(text))", "an ISO 8601 time such as 2026-03-02T06:00:00-05:00")
        }
        guard let offset = time.offsetMinutes else {
            return (
                try inRange(time.localMilliseconds, text, line: line),
                isUTC ? TraceRow.unknownOffset : TraceRow.noOffset
            )
        }
        guard abs(offset) <= 14 * 60 else {
            throw problem(line, "the time \(quoted(text))", "an offset of at most 14 h")
        }
        // "Z" says when it was, and nothing of the clock on the wall.
        let isZulu = text.utf8.last == UInt8(ascii: "Z") || text.utf8.last == UInt8(ascii: "z")
        return (
            try inRange(time.utcMilliseconds, text, line: line),
            isZulu ? TraceRow.unknownOffset : Int32(offset)
        )
    }

    func inRange(_ time: Int64, _ text: String, line: Int) throws(InputError) -> Int64 {
        guard Self.years.contains(time) else {
            throw problem(line, "the time \(quoted(text))", "one of the years 1970 to 2199")
        }
        return time
    }
}
