// JSON from outside, read strictly.
//
// Guarantees: a value has the type that is asked for, or the answer says which field is wrong; numbers are finite; unknown fields are refused: a slip in a
// name must not become a default. Reading costs no more than the text's length.

import IsletFiles
import IsletDevices

package struct JSONBody: Sendable {
    private let root: JSONValue

    /// - Throws: `Ward.Refusal.invalid` for what is no JSON.
    package init(_ bytes: [UInt8]) throws(Ward.Refusal) {
        do {
            root = try JSONValue.read(bytes, file: "the body")
        } catch {
            throw .invalid("the body is not JSON that is read here: \(error.description)")
        }
    }

    package func object(_ what: String) throws(Ward.Refusal) -> JSONFields {
        guard case .object(let members) = root else { throw .invalid("expected \(what) as a JSON object") }
        return JSONFields(members)
    }
}

package struct JSONFields: Sendable {
    private let fields: [String: JSONValue]

    /// The reader has refused a key that stands twice.
    init(_ members: [JSONValue.Member]) {
        fields = Dictionary(members.map { ($0.key, $0.value) }) { first, _ in first }
    }

    /// - Parameter nullable: the names that may say null; for others it is a slip, and not the same as nothing.
    package func check(only names: [String], nullable: [String] = []) throws(Ward.Refusal) {
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            if case .null = value, names.contains(name), !nullable.contains(name) {
                throw .invalid("\(name): found null, expected a value, or nothing of it at all")
            }
        }
        guard let other = fields.keys.sorted().first(where: { !names.contains($0) }) else { return }
        let meant = nearest(to: other, among: names).map { "; nearest: \($0)" } ?? ""
        throw .invalid("found a field `\(printable(other, limit: 40))` that has no meaning here\(meant)")
    }

    package func has(_ name: String) -> Bool { fields[name] != nil }

    package func text(_ name: String) throws(Ward.Refusal) -> String {
        guard let text = try optionalText(name) else { throw .invalid("\(name): expected text") }
        return text
    }

    package func optionalText(_ name: String) throws(Ward.Refusal) -> String? {
        switch fields[name] {
        case nil, .null: return nil
        case .string(let text):
            guard text.utf8.count <= 1 << 20 else { throw .invalid("\(name): too long") }
            return text
        default: throw .invalid("\(name): expected text")
        }
    }

    package func number(_ name: String) throws(Ward.Refusal) -> Double {
        guard let number = try optionalNumber(name) else { throw .invalid("\(name): expected a number") }
        return number
    }

    package func optionalNumber(_ name: String) throws(Ward.Refusal) -> Double? {
        switch fields[name] {
        case nil, .null: return nil
        case .number(let number): return number
        case .integer(let number): return Double(number)
        case .unsigned(let number): return Double(number)
        default: throw .invalid("\(name): expected a number")
        }
    }

    package func wholeNumber(_ name: String) throws(Ward.Refusal) -> Int {
        guard let number = try optionalWholeNumber(name) else {
            throw .invalid("\(name): expected a whole number")
        }
        return number
    }

    package func optionalWholeNumber(_ name: String) throws(Ward.Refusal) -> Int? {
        guard let number = try optionalNumber(name) else { return nil }
        guard number == number.rounded(), abs(number) < 1e15 else {
            throw .invalid("\(name): expected a whole number")
        }
        return Int(number)
    }

    package func flag(_ name: String) throws(Ward.Refusal) -> Bool? {
        switch fields[name] {
        case nil: return nil
        case .bool(let flag): return flag
        default: throw .invalid("\(name): expected true or false")
        }
    }

    /// `22:30` as minutes after midnight; nil for null.
    package func minute(_ name: String) throws(Ward.Refusal) -> Int? {
        guard let text = try optionalText(name) else { return nil }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isNumber) }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), (0...23).contains(hour),
            (0...59).contains(minute)
        else { throw .invalid("\(name): expected a time, as 22:30") }
        return hour * 60 + minute
    }
}
