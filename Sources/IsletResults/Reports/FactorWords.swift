// What a sweep's factors and levels are called.

import IsletAlerts
import IsletFiles
import IsletDevices

/// `rules[LOW,HIGH].debounce` as `debounce`, of `LOW, HIGH`.
struct FactorWords {
    private let parts: [(name: String, detail: String)]

    init(_ paths: [String]) {
        let split = paths.map { path -> (name: String, detail: String) in
            let last = path.split(separator: ".").last.map(String.init) ?? path
            let name = String(last.prefix { $0 != "[" })
            guard let open = path.firstIndex(of: "["), let close = path.firstIndex(of: "]"), open < close
            else {
                let before = path.dropLast(last.count).split(separator: ".").joined(separator: " ")
                return (Self.spaced(name), before)
            }
            let items = path[path.index(after: open)..<close].split(separator: ",").map {
                AlertWords.name(of: $0.trimming)
            }
            return (Self.spaced(name), items == ["*"] ? "" : items.joined(separator: ", "))
        }
        // A detail is said where a name alone is another's too.
        let names = split.map(\.name)
        parts = split.map { part in
            let isAlone = names.filter { $0 == part.name }.count == 1
            return (part.name, isAlone && split.count > 1 ? "" : part.detail)
        }
    }

    subscript(place: Int) -> (name: String, detail: String) { parts[place] }

    /// `keepFiringFor` as `keep firing for`.
    private static func spaced(_ name: String) -> String {
        name.map { $0.isUppercase ? " \($0.lowercased())" : "\($0)" }.joined()
    }

    // MARK: Levels

    /// Seconds or a number, where it is one.
    private static func size(_ value: JSONValue) -> Double? {
        switch value {
        case .number(let number): number
        case .integer(let number): Double(number)
        case .unsigned(let number): Double(number)
        case .string(let text) where text == "0s": 0
        case .string(let text): TimeSpan(text).map { Double($0.nanoseconds) / 1e9 }
        default: nil
        }
    }

    static func sorted(_ values: [JSONValue]) -> [JSONValue] {
        let sizes = values.map { $0 == .null ? -1 : size($0) }
        guard sizes.allSatisfy({ $0 != nil }) else { return values }
        return zip(values, sizes).sorted { ($0.1 ?? 0) < ($1.1 ?? 0) }.map(\.0)
    }

    /// `15 min` of `15m`.
    static func level(_ value: JSONValue) -> String {
        switch value {
        case .null: return "default"
        case .bool(let isOn): return isOn ? "yes" : "no"
        case .string(let text):
            guard let seconds = size(value) else { return text }
            if seconds < 120, seconds != 60 || text.hasSuffix("s") {
                return "\(ChartNumber.text(seconds, places: 0))\u{a0}s"
            }
            return seconds < 7200 || Int(seconds) % 3600 != 0
                ? "\(ChartNumber.text(seconds / 60, places: 0))\u{a0}min"
                : "\(ChartNumber.text(seconds / 3600, places: 0))\u{a0}h"
        case .number, .integer, .unsigned: return value.compactText
        default: return value.compactText.filter { $0 != "\"" }
        }
    }
}

/// A policy's values, each by its path; what differs between policies are the factors of their study.
struct PolicyLeaves {
    private var values: [String: JSONValue] = [:]
    private(set) var paths: [String] = []

    init(_ policy: AlertPolicy) { add(policy.json, "") }

    subscript(path: String) -> JSONValue { values[path] ?? .null }

    private mutating func add(_ value: JSONValue, _ path: String) {
        switch value {
        case .object(let members):
            for member in members where !(path.isEmpty && member.key == "policy") {
                add(member.value, path.isEmpty ? member.key : "\(path).\(member.key)")
            }
        case .array(let items) where items.contains(where: Self.isObject):
            for (place, item) in items.enumerated() {
                add(item, "\(path)[\(Self.key(item) ?? "\(place)")]")
            }
        default:
            values[path] = value
            paths.append(path)
        }
    }

    private static func isObject(_ value: JSONValue) -> Bool {
        if case .object = value { true } else { false }
    }

    /// What tells an item from its neighbours: a rule's code, a threshold's metric.
    private static func key(_ item: JSONValue) -> String? {
        for name in ["code", "metric"] {
            if case .string(let text) = item[name] ?? .null { return text }
        }
        return nil
    }

    /// The leaves that differ, those that always change together as one: its name lists their items.
    static func varying(_ all: [PolicyLeaves]) -> [(name: String, path: String)] {
        var (seen, paths): (Set<String>, [String]) = ([], [])
        for one in all { for path in one.paths where seen.insert(path).inserted { paths.append(path) } }
        var groups: [(values: [JSONValue], paths: [String])] = []
        var places: [[JSONValue]: Int] = [:]
        for path in paths {
            let values = all.map { $0[path] }
            guard values.contains(where: { $0 != values[0] }) else { continue }
            if let place = places[values] {
                groups[place].paths.append(path)
            } else {
                places[values] = groups.count
                groups.append((values, [path]))
            }
        }
        return groups.map { group in (name(group.paths), group.paths[0]) }
    }

    /// `rules[LOW].debounce` and `rules[HIGH].debounce` are `rules[LOW,HIGH].debounce`.
    private static func name(_ paths: [String]) -> String {
        guard let first = paths.first, let open = first.firstIndex(of: "["),
            let close = first.firstIndex(of: "]")
        else { return paths.first ?? "" }
        let (head, tail) = (first[...open], first[close...])
        let items = paths.compactMap { path -> Substring? in
            guard path.hasPrefix(head), path.hasSuffix(tail) else { return nil }
            return path.dropFirst(head.count).dropLast(tail.count)
        }
        return "\(head)\(items.joined(separator: ","))\(tail)"
    }
}

extension Substring {
    fileprivate var trimming: String { String(drop { $0 == " " }) }
}
