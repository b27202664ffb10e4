// Series of samples in promtool's notation.
//
// `a-bxn` is a, then n more, each b lower; `a+bxn` each b higher; `axn` is a, then n more; `_xn` is n missing ones, `_` one;
// a plain number is one sample.

enum SeriesNotation {
    /// The most samples in one series.
    static let limit = 100_000

    static let rule = TextRule(
        expectation: "samples such as `120-5x12 _x3 55x6`, at most \(limit)",
        pattern: #"^ *([-+0-9._x]+ *)+$"#, accepts: { values($0) != nil })

    /// The samples that `text` says; nil where it isn't the notation.
    static func values(_ text: String) -> [Double?]? {
        var values: [Double?] = []
        for item in text.split(whereSeparator: { $0 == " " || $0 == "\n" || $0 == "\t" }) {
            guard let more = self.item(item), values.count + more.count <= limit else { return nil }
            values += more
        }
        return values.isEmpty ? nil : values
    }

    private static func item(_ item: Substring) -> [Double?]? {
        if item == "_" { return [nil] }
        let parts = item.split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { return nil }
        var count = 0
        if parts.count == 2 {
            guard let number = Int(parts[1]), (0...limit).contains(number), parts[1].first?.isNumber == true
            else {
                return nil
            }
            count = number
        }
        if parts[0] == "_" { return [Double?](repeating: nil, count: count) }
        guard parts.count == 2 else { return number(parts[0]).map { [$0] } }
        // The step's sign is the last one that does not begin the item.
        let body = parts[0]
        guard let sign = body.dropFirst().lastIndex(where: { $0 == "+" || $0 == "-" }) else {
            return number(body).map { [Double?](repeating: $0, count: count + 1) }
        }
        guard let start = number(body[..<sign]), let step = number(body[body.index(after: sign)...]) else {
            return nil
        }
        let delta = body[sign] == "-" ? -step : step
        return (0...count).map { start + Double($0) * delta }
    }

    private static func number(_ text: Substring) -> Double? {
        guard text.utf8.allSatisfy({ "0123456789.-".utf8.contains($0) }), let value = Double(text),
            value.isFinite
        else { return nil }
        return value
    }
}
