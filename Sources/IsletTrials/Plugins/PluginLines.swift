// Lines of `islet-step/1`: the same rows as JSON, one object a line, for any language and for one's own eyes.
//
// Guarantees: a number has the fewest digits that read back to it, what is absent is left out, an instant is seconds as text with nine places (nanoseconds leave the
// whole numbers of a double after 104 days). Does not: know what rows mean.

import IsletDevices
import IsletFiles

enum PluginLines {
    /// The longest line that a plug-in may say, a row.
    static let longestRow = 4096

    static func row<Row>(_ row: borrowing Row, _ fields: [StepField<Row>]) -> JSONValue {
        var members: [JSONValue.Member] = []
        var text: [UInt8] = []
        for field in fields {
            let bits = field.cell(row)
            switch field.kind {
            case .whole: members.append(.init(field.name, .integer(Int64(bitPattern: bits))))
            case .real:
                let value = Double(bitPattern: bits)
                if !value.isNaN { members.append(.init(field.name, .number(value))) }
            case .instant:
                let value = Int64(bitPattern: bits)
                if value != .min { members.append(.init(field.name, .string(seconds(value)))) }
            case .text: withUnsafeBytes(of: bits.littleEndian) { text += $0.prefix { $0 != 0 } }
            }
        }
        if fields.contains(where: { $0.kind == .text }) {
            members.append(.init("subject", .string(String(decoding: text, as: UTF8.self))))
        }
        return .object(members)
    }

    /// `300000000000` as `300.000000000`.
    static func seconds(_ nanoseconds: Int64) -> String {
        let magnitude = nanoseconds.magnitude
        let fraction = String(magnitude % 1_000_000_000)
        return (nanoseconds < 0 ? "-" : "") + "\(magnitude / 1_000_000_000)."
            + String(repeating: "0", count: 9 - fraction.count) + fraction
    }

    static func append(_ kind: String, _ rows: [JSONValue], to bytes: inout [UInt8]) {
        bytes += JSONValue.object([.init(kind, .array(rows))]).compactText.utf8
        bytes.append(UInt8(ascii: "\n"))
    }

    /// A dose as a line has it; what is left out is 0, or absent.
    static func dose(_ value: JSONValue) throws(PluginFrame.NoFrame) -> DoseRow {
        guard case .object(let members) = value else { throw .init("a dose that is no object") }
        var row = DoseRow()
        for member in members {
            switch member.key {
            case "handle": row.handle = try whole(member)
            case "step": row.step = try whole(member)
            case "flags": row.flags = try whole(member)
            case "basal": row.basal = try number(member)
            case "correction": row.correction = try number(member)
            case "meal": row.meal = try number(member)
            case "glucagon": row.glucagon = try number(member)
            case "forecast": row.forecast = try number(member)
            default: throw .init("a dose with the unknown key \(quotedForMessage(member.key))")
            }
        }
        guard members.contains(where: { $0.key == "handle" }), members.contains(where: { $0.key == "step" })
        else { throw .init("a dose without `handle` and `step`") }
        return row
    }

    private static func whole(_ member: JSONValue.Member) throws(PluginFrame.NoFrame) -> Int64 {
        if case .integer(let value) = member.value { return value }
        throw .init("`\(member.key)` that is no whole number")
    }

    /// null stands for what is not a number: JSON has no word for it.
    private static func number(_ member: JSONValue.Member) throws(PluginFrame.NoFrame) -> Double {
        switch member.value {
        case .integer(let value): return Double(value)
        case .unsigned(let value): return Double(value)
        case .number(let value): return value
        case .null: return .nan
        default: throw .init("`\(member.key)` that is no number")
        }
    }
}
