// What reaches a live session from outside: the name of its row in `InputRow.all`, and what it says, by field.
//
// Guarantees: encoded and decoded to an equal value; equal values give equal bytes, which are what the journal keeps and the digest hashes. What no row
// names, or lacks what its row must have, is not read.
// Does not: validate (`problem(in:)` does, before anything is told) or act (its row does, at its instant).

package import DeviceLinks
import Foundation
import IsletFiles
import IsletKernel

package struct LiveInput: Hashable, Sendable {
    /// As its JSON has it.
    package let name: String
    /// By field; what isn't said is not there.
    package let values: [String: LiveValue]

    package init(_ name: String, _ values: [String: LiveValue?] = [:]) {
        (self.name, self.values) = (name, values.compactMapValues { $0 })
    }

    package func number(_ field: String) -> Double? {
        if case .number(let value)? = values[field] { value } else { nil }
    }
    package func flag(_ field: String) -> Bool? {
        if case .flag(let value)? = values[field] { value } else { nil }
    }
    package func text(_ field: String) -> String? {
        if case .text(let value)? = values[field] { value } else { nil }
    }
    package func whole(_ field: String) -> Int? {
        if case .whole(let value)? = values[field] { Int(value) } else { nil }
    }

    /// The kind that it has in a kernel's journal.
    package static let kind = "live"

    /// Canonical: keys in alphabetical order.
    package var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return (try? encoder.encode(self)).map(Array.init) ?? []
    }

    /// nil for what no input wrote.
    package init?(bytes: [UInt8]) {
        guard let json = try? JSONValue.read(bytes, file: "input"), case .object(let named) = json,
            named.count == 1, let row = InputRow.named(named[0].key), case .object(let said) = named[0].value
        else { return nil }
        var values: [String: LiveValue] = [:]
        for field in row.fields {
            let value = said.first { $0.key == field.name }?.value ?? .null
            if value == .null, !field.isRequired { continue }
            guard let read = try? LiveValue(value, as: field.kind) else { return nil }
            values[field.name] = read
        }
        self.init(row.name, values)
    }
}

/// What one field of an input says, in the units of its row.
package enum LiveValue: Hashable, Sendable {
    case number(Double)
    case whole(Int64)
    case flag(Bool)
    case text(String)
    /// What a driver of a device outside says.
    case link(LinkInput)
}

extension LiveValue {
    /// - Throws: for JSON that is no value of that kind.
    fileprivate init(_ json: JSONValue, as kind: InputFacts.Kind) throws {
        self =
            switch kind {
            case .number: .number(try json.double())
            case .whole, .clock: .whole(try json.whole())
            case .flag: .flag(try json.flag())
            case .text, .alert, .metric: .text(try json.text())
            case .bound: json == .string("off") ? .text("off") : .number(try json.double())
            case .link: .link(try json.decoded(as: LinkInput.self))
            }
    }
}

/// `{"temporaryBasal":{"minutes":30,"multiplier":0.5}}`
extension LiveInput: Encodable {
    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        var said = container.nestedContainer(keyedBy: Key.self, forKey: Key(stringValue: name))
        for (field, value) in values.sorted(by: { $0.key < $1.key }) {
            let key = Key(stringValue: field)
            switch value {
            case .number(let value): try said.encode(value, forKey: key)
            case .whole(let value): try said.encode(value, forKey: key)
            case .flag(let value): try said.encode(value, forKey: key)
            case .text(let value): try said.encode(value, forKey: key)
            case .link(let value): try said.encode(value, forKey: key)
            }
        }
    }
}

/// One side of a threshold, as somebody says it: a number, or that it is off.
package enum ThresholdBound: Hashable, Sendable {
    case off
    case at(Double)

    /// nil for off.
    package var value: Double? { if case .at(let value) = self { value } else { nil } }

    package init(_ value: Double?) { self = value.map { .at($0) } ?? .off }

    /// As an input has it.
    var said: LiveValue { value.map { .number($0) } ?? .text("off") }
}

/// An input with the name that its sender gave it.
package struct LiveCommand: Hashable, Sendable {
    package var input: LiveInput
    /// Said again under the same key it is taken once; empty for none.
    package var key: String

    package init(_ input: LiveInput, key: String = "") {
        self.input = input
        self.key = key
    }
}

/// What its sender hears.
package struct LiveAnswer: Hashable, Sendable {
    package var outcome: LiveOutcome
    /// The number of the input in its journal; nil where it was refused before it got one.
    package var number: Int?
    /// It had been answered before.
    package var isRepeated = false
    /// Nothing reached the session, which is frozen: it may be said again.
    package var isFrozen = false
    /// What the person must know beside that it was noted; empty for nothing.
    package var note = ""

    package init(
        outcome: LiveOutcome, number: Int? = nil, isRepeated: Bool = false, isFrozen: Bool = false,
        note: String = ""
    ) {
        (self.outcome, self.number) = (outcome, number)
        (self.isRepeated, self.isFrozen, self.note) = (isRepeated, isFrozen, note)
    }
}
