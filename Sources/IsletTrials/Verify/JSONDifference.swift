// Where a JSON file differs from what it should say.

import IsletFiles
import Foundation
import IsletDevices

enum JSONDifference {
    /// One line a place, at most a few: the rest is summed up in the last line.
    /// - Parameters:
    ///   - found: as `JSONSerialization` gives it.
    ///   - leaving: keys of the outermost object that are not compared.
    ///   - optional: keys that may be lacking.
    static func between(
        _ found: Any, _ expected: JSONValue, leaving: Set<String>, optional: Set<String> = []
    ) -> [String] {
        var differences: [String] = []
        collect(found, expected, at: "", leaving: leaving, optional, into: &differences)
        guard differences.count > 20 else { return differences }
        return differences.prefix(20) + ["and \(differences.count - 20) more places"]
    }

    private static func collect(
        _ found: Any, _ expected: JSONValue, at path: String, leaving: Set<String>, _ optional: Set<String>,
        into list: inout [String]
    ) {
        switch expected {
        case .object(let members):
            guard let object = found as? [String: Any] else {
                return note("no object", expected, path, &list)
            }
            let names = Set(members.map(\.key))
            for key in object.keys.sorted() where !names.contains(key) && !leaving.contains(key) {
                list.append("\(joined(path, key)) should not be there")
            }
            for member in members where !leaving.contains(member.key) {
                if let value = object[member.key] {
                    collect(
                        value, member.value, at: joined(path, member.key), leaving: [], optional, into: &list)
                } else if !optional.contains(member.key) {
                    list.append("\(joined(path, member.key)) is lacking")
                }
            }
        case .array(let items):
            guard let array = found as? [Any], array.count == items.count else {
                let count = (found as? [Any]).map { "\($0.count) items" } ?? "no list"
                return note(count, .string("\(items.count) items"), path, &list)
            }
            for (index, item) in items.enumerated() {
                collect(array[index], item, at: "\(path)[\(index)]", leaving: [], optional, into: &list)
            }
        default:
            if !isEqual(found, expected) { note("\(found)", expected, path, &list) }
        }
    }

    private static func joined(_ path: String, _ key: String) -> String {
        path.isEmpty ? printable(key, limit: 60) : path + "." + printable(key, limit: 60)
    }

    private static func note(_ found: String, _ expected: JSONValue, _ path: String, _ list: inout [String]) {
        let wanted = printable(expected.compactText, limit: 100)
        list.append("\(path.isEmpty ? "the whole" : path) is \(printable(found, limit: 100)), not \(wanted)")
    }

    private static func isEqual(_ found: Any, _ expected: JSONValue) -> Bool {
        switch expected {
        case .null: found is NSNull
        case .bool(let value): (found as? NSNumber)?.boolValue == value
        case .integer(let value): (found as? NSNumber).map { $0.doubleValue == Double(value) } ?? false
        case .unsigned(let value): (found as? NSNumber)?.uint64Value == value
        case .number(let value):
            // What is no number is written as null.
            value.isFinite
                // Foundation's reader may be a last bit off.
                ? ((found as? NSNumber).map { abs($0.doubleValue - value) <= 4e-15 * abs(value) } ?? false)
                : found is NSNull
        case .string(let value): found as? String == value
        case .array, .object: false
        }
    }
}
