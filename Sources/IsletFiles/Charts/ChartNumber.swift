// Numbers as charts and reports write them.
//
// Guarantees: the same bits give the same text on every machine: no locale, no printf, integer arithmetic after one
// rounding; a number for readers has the typographic minus sign, one for machines the ASCII one; what is not finite is a dash, never `nan`.

package enum ChartNumber {
    /// For readers, with so many decimal places (0 to 6): `−1.50`; a dash for what is not finite.
    package static func text(_ value: Double, places: Int) -> String {
        guard value.isFinite else { return "–" }
        return plain(value, places: places).replacingMinus
    }

    /// For readers: at least three significant digits and at most `places` decimals: 0.0123, 1.23, 12.3, 123.
    package static func significant(_ value: Double) -> String {
        let size = abs(value)
        let places =
            size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 0.995 ? 2 : size >= 0.0995 ? 3 : 4
        return text(value, places: places)
    }

    /// For machines: decimal notation with so many places; `0` for what is not finite.
    package static func plain(_ value: Double, places: Int) -> String {
        guard value.isFinite else { return "0" }
        var scale = 1.0
        for _ in 0..<max(0, min(6, places)) { scale *= 10 }
        // Beyond this the integer below could overflow: no chart has such numbers, and they stay readable.
        guard abs(value) < 1e12 else { return "\(value)" }
        let units = Int64((abs(value) * scale).rounded())
        let sign = value < 0 && units != 0 ? "-" : ""
        guard scale > 1 else { return sign + "\(units)" }
        let part = "\(units % Int64(scale))"
        return sign + "\(units / Int64(scale))."
            + String(repeating: "0", count: max(0, min(6, places) - part.utf8.count)) + part
    }

    /// Tenths of a unit as a coordinate: `12.3`, `-.5`, `7`.
    static func coordinate(tenths: Int) -> String {
        let size = abs(tenths)
        let sign = tenths < 0 ? "-" : ""
        guard size % 10 != 0 else { return sign + "\(size / 10)" }
        return sign + (size < 10 ? "" : "\(size / 10)") + ".\(size % 10)"
    }

    /// A coordinate rounded to a tenth of a unit.
    static func coordinate(_ value: Double) -> String { coordinate(tenths: tenths(value)) }

    /// 0 for what is not finite: nothing outside a drawing's arithmetic may reach the file as `nan`.
    static func tenths(_ value: Double) -> Int {
        guard value.isFinite else { return 0 }
        return Int((max(-1e6, min(1e6, value)) * 10).rounded())
    }

    /// Two digits at least.
    static func twoDigits(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}

extension String {
    fileprivate var replacingMinus: String {
        hasPrefix("-") ? "\u{2212}" + dropFirst() : self
    }
}
