// What Nightscout's store finds, written from its documentation and apart from `DocumentQuery`: one clause, a document as Foundation reads it.

import Foundation

/// What a clause finds, by the documentation of Nightscout and of the store behind it.
struct QueryReference {
    enum Wanted: Equatable {
        case number(Double), text(String)
    }
    var field: String
    var how: String
    var wanted: [Wanted]

    func finds(_ document: [String: Any]) -> Bool {
        let value = Self.value(document, field.split(separator: "."))
        switch how {
        case "eq", "in": return wanted.contains { Self.order(value, $0) == 0 }
        case "ne", "nin": return !wanted.contains { Self.order(value, $0) == 0 }
        case "re":
            guard let text = value as? String, case .text(let pattern) = wanted[0] else { return false }
            return text.range(of: pattern, options: .regularExpression) != nil
        case "re/i":
            guard let text = value as? String, case .text(let pattern) = wanted[0] else { return false }
            return text.range(of: pattern, options: [.regularExpression, .caseInsensitive]) != nil
        default:
            guard let order = Self.order(value, wanted[0]) else { return false }
            return ["gt": order > 0, "gte": order >= 0, "lt": order < 0, "lte": order <= 0][how] ?? false
        }
    }

    static func value(_ document: Any?, _ path: [Substring]) -> Any? {
        guard let first = path.first else { return document }
        return value((document as? [String: Any])?[String(first)], Array(path.dropFirst()))
    }

    /// Kinds are never compared with each other.
    static func order(_ value: Any?, _ wanted: Wanted) -> Int? {
        switch wanted {
        case .number(let number):
            guard let value = value as? NSNumber, !isFlag(value) else { return nil }
            return value.doubleValue < number ? -1 : value.doubleValue > number ? 1 : 0
        case .text(let text):
            guard let value = value as? String else { return nil }
            return order(Array(value.utf8), Array(text.utf8))
        }
    }

    static func isFlag(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }

    static func order(_ a: [UInt8], _ b: [UInt8]) -> Int {
        for (x, y) in zip(a, b) where x != y { return x < y ? -1 : 1 }
        return a.count - b.count
    }

    /// In the order of a sort: nothing, numbers, texts.
    static func sorts(_ a: Any?, _ b: Any?) -> Int {
        func rank(_ value: Any?) -> Int { value is String ? 2 : value is NSNumber ? 1 : 0 }
        if rank(a) != rank(b) { return rank(a) - rank(b) }
        if let b = b as? String { return order(a, .text(b)) ?? 0 }
        if let b = b as? NSNumber { return order(a, .number(b.doubleValue)) ?? 0 }
        return 0
    }
}
