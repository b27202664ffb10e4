// The `Retry-After` header of RFC 9110: seconds, or an HTTP date.

import IsletKernel

/// The seconds to wait from `now`; 0 for a date that has passed, nil for what is neither.
public func retryAfterSeconds(_ text: String, nowEpochSeconds now: Double) -> Double? {
    let text = text.trimmingSpaces
    if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) { return Double(text) }
    return httpDateEpochSeconds(text).map { max(0, Double($0) - now) }
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`: the one form that may be sent today.
private func httpDateEpochSeconds(_ text: String) -> Int64? {
    let words = text.split(separator: " ")
    guard words.count == 6, words[5] == "GMT", words[0].hasSuffix(",") else { return nil }
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let clock = words[4].split(separator: ":")
    guard let day = Int(words[1]), let month = months.firstIndex(of: String(words[2])),
        words[3].utf8.count == 4,
        let year = Int(words[3]), year >= 1970,
        (1...CivilDate.days(inMonth: month + 1, of: year)).contains(day), clock.count == 3,
        let hour = Int(clock[0]), (0..<24).contains(hour), let minute = Int(clock[1]),
        (0..<60).contains(minute), let second = Int(clock[2]), (0...60).contains(second)
    else { return nil }
    let days = CivilDate.daysSince1970(year: year, month: month + 1, day: day)
    return Int64(days * 86_400 + hour * 3600 + minute * 60 + second)
}

extension String {
    var trimmingSpaces: String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        var rest = self[...]
        while let first = rest.first, isSpace(first) { rest.removeFirst() }
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return String(rest)
    }
}
