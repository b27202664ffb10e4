// ISO 8601 instants, read by hand.
//
// Guarantees: no allocation and no Foundation; a date that no calendar has, such as 30 February, is nil. Reads
// `YYYY-MM-DD`, `T` or one space, `hh:mm`, optionally `:ss`, a fraction after `.` or `,`, and `Z` or `±hh[:mm]`.
// Does not: read week dates, ordinal dates, leap seconds or 24:00.

import IsletKernel

/// An instant as its writer's clock showed it.
package struct ISO8601Time: Hashable, Sendable {
    /// Milliseconds since 1970-01-01T00:00 on the clock that was written; fractions below are cut off.
    package var localMilliseconds: Int64
    /// East of UTC; nil if the text says none.
    package var offsetMinutes: Int?

    /// Milliseconds since the epoch in UTC; without an offset, as if it were UTC.
    package var utcMilliseconds: Int64 { localMilliseconds - Int64(offsetMinutes ?? 0) * 60_000 }

    /// nil unless the whole text is such an instant.
    package init?(_ text: some StringProtocol) {
        var text = String(text)
        guard let time = text.withUTF8({ Self(utf8: $0) }) else { return nil }
        self = time
    }

    /// nil unless all the bytes are such an instant.
    package init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        var reader = Reader(bytes: bytes)
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
            let day = reader.number(2), reader.take("T") || reader.take("t") || reader.take(" "),
            let hour = reader.number(2), reader.take(":"), let minute = reader.number(2),
            (1...12).contains(month), day >= 1, day <= CivilDate.days(inMonth: month, of: year), hour < 24,
            minute < 60
        else { return nil }
        var milliseconds = 0
        if reader.take(":") {
            guard let second = reader.number(2), second < 60 else { return nil }
            milliseconds = second * 1000
            if reader.take(".") || reader.take(",") {
                guard let fraction = reader.fractionMilliseconds() else { return nil }
                milliseconds += fraction
            }
        }
        if reader.take("Z") || reader.take("z") {
            offsetMinutes = 0
        } else if let sign = reader.take("+") ? 1 : reader.take("-") ? -1 : nil {
            guard let hours = reader.number(2), hours < 24 else { return nil }
            var minutes = 0
            if reader.take(":") || !reader.isAtEnd {
                guard let written = reader.number(2), written < 60 else { return nil }
                minutes = written
            }
            offsetMinutes = sign * (hours * 60 + minutes)
        }
        guard reader.isAtEnd else { return nil }
        let days = CivilDate.daysSince1970(year: year, month: month, day: day)
        localMilliseconds = Int64(days * 86_400_000 + (hour * 60 + minute) * 60_000 + milliseconds)
    }

    private struct Reader {
        let bytes: UnsafeBufferPointer<UInt8>
        var at = 0

        var isAtEnd: Bool { at == bytes.count }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard at < bytes.count, UInt32(bytes[at]) == character.value else { return false }
            at += 1
            return true
        }

        private mutating func digit() -> Int? {
            guard at < bytes.count, bytes[at] >= 48, bytes[at] <= 57 else { return nil }
            at += 1
            return Int(bytes[at - 1]) - 48
        }

        mutating func number(_ digits: Int) -> Int? {
            var value = 0
            for _ in 0..<digits {
                guard let next = digit() else { return nil }
                value = value * 10 + next
            }
            return value
        }

        mutating func fractionMilliseconds() -> Int? {
            guard var value = digit() else { return nil }
            var weight = 100
            value *= weight
            while let next = digit() {
                weight /= 10
                value += next * weight
            }
            return value
        }
    }
}
