// Lines of `islet-step/1`: the same rows as JSON, one object a line, for any language and for one's own eyes.
//
// Guarantees: a number has the fewest digits that read back to it, what is absent is left out, an instant is seconds as text with nine places (nanoseconds leave the
// whole numbers of a double after 104 days). Does not: know what rows mean.

import IsletDevices
import IsletFiles

enum PluginLines {
    /// The longest line that a plug-in may say, a row.
    static let longestRow = 4096

    /// Appends `{"kind":[{...},...]}` and a newline.
    static func append<Row>(
        _ kind: String, _ rows: [Row], _ fields: [StepField<Row>], to bytes: inout [UInt8]
    ) {
        bytes += "{\"\(kind)\":[".utf8
        for (place, row) in rows.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            append(row, fields, to: &bytes)
        }
        bytes += "]}\n".utf8
    }

    /// Appends one row as an object: written as it goes, since each step of a person makes one.
    static func append<Row>(_ row: Row, _ fields: [StepField<Row>], to bytes: inout [UInt8]) {
        var (text, hasText, separator): ([UInt8], Bool, UInt8) = ([], false, UInt8(ascii: "{"))
        func key(_ name: String) {
            bytes.append(separator)
            separator = UInt8(ascii: ",")
            bytes.append(UInt8(ascii: "\""))
            bytes += name.utf8
            bytes += "\":".utf8
        }
        for field in fields {
            let bits = field.cell(row)
            switch field.kind {
            case .whole:
                key(field.name)
                bytes += String(Int64(bitPattern: bits)).utf8
            case .real:
                let value = Double(bitPattern: bits)
                guard !value.isNaN else { continue }
                key(field.name)
                bytes += JSONValue.numberText(value).utf8
            case .instant:
                let value = Int64(bitPattern: bits)
                guard value != .min else { continue }
                key(field.name)
                bytes.append(UInt8(ascii: "\""))
                bytes += seconds(value).utf8
                bytes.append(UInt8(ascii: "\""))
            case .text:
                hasText = true
                withUnsafeBytes(of: bits.littleEndian) { text += $0.prefix { $0 != 0 } }
            }
        }
        if hasText {
            key("subject")
            bytes += JSONValue.quoted(String(decoding: text, as: UTF8.self)).utf8
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// `300000000000` as `300.000000000`.
    static func seconds(_ nanoseconds: Int64) -> String {
        let magnitude = nanoseconds.magnitude
        let (whole, rest) = magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
        // Its first digit is cut off: it keeps the zeros behind the point.
        return (nanoseconds < 0 ? "-" : "") + "\(whole)." + String(1_000_000_000 + rest).dropFirst()
    }

    /// One row as text.
    static func text<Row>(_ row: Row, _ fields: [StepField<Row>]) -> String {
        var bytes: [UInt8] = []
        append(row, fields, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
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

    /// Numbers of one's own as a line has them; what is left out is absent.
    static func own(_ value: JSONValue, _ names: [String]) throws(PluginFrame.NoFrame) -> OwnRow {
        guard case .object(let members) = value else { throw .init("numbers that are no object") }
        var row = OwnRow()
        for member in members {
            switch member.key {
            case "handle": row.handle = try whole(member)
            case "step": row.step = try whole(member)
            default:
                guard let place = names.firstIndex(of: member.key) else {
                    throw .init("numbers with the unknown key \(quotedForMessage(member.key))")
                }
                row.values[place] = try number(member)
            }
        }
        guard members.contains(where: { $0.key == "handle" }), members.contains(where: { $0.key == "step" })
        else { throw .init("numbers without `handle` and `step`") }
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
