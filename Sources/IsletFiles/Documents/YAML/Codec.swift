// How a value stands in a file: what may stand there, and the way to it and back.
//
// Guarantees: a node that has passed its shape decodes; what was encoded decodes to an equal value.

package import IsletDevices

/// One value's form in YAML and JSON.
///
///     static let share = Codec.number(0...1)
package struct Codec<Value: Sendable>: Sendable {
    package let shape: Shape
    package let encode: @Sendable (Value) -> JSONValue
    private let read: @Sendable (YAMLReader) throws(InputError) -> Value

    package init(
        _ shape: Shape, decode: @escaping @Sendable (YAMLReader) throws(InputError) -> Value,
        encode: @escaping @Sendable (Value) -> JSONValue
    ) {
        self.shape = shape
        read = decode
        self.encode = encode
    }

    /// The value that stands at a place that has passed the shape.
    package func decode(_ reader: YAMLReader) throws(InputError) -> Value { try read(reader) }

    /// Text that a rule accepts, and what it stands for.
    package static func text(
        _ rule: TextRule, _ read: @escaping @Sendable (String) -> Value?,
        write: @escaping @Sendable (Value) -> String
    ) -> Codec {
        Codec(.text(rule)) { reader throws(InputError) in
            guard let value = read(try reader.text()) else {
                throw reader.problem(expected: rule.expectation)
            }
            return value
        } encode: {
            .string(write($0))
        }
    }
}

extension Codec where Value == String {
    package static func text(_ rule: TextRule) -> Codec { .text(rule, { $0 }, write: { $0 }) }
}

extension Codec where Value == UInt64 {
    package static func wholeNumber(_ range: ClosedRange<UInt64>) -> Codec {
        Codec(.wholeNumber(range)) { reader throws(InputError) in
            try reader.wholeNumber(in: range)
        } encode: {
            .unsigned($0)
        }
    }
}

extension Codec where Value == Int {
    /// A number of things.
    package static func count(_ range: ClosedRange<UInt64>) -> Codec {
        Codec(.wholeNumber(range)) { reader throws(InputError) in
            Int(clamping: try reader.wholeNumber(in: range))
        } encode: {
            .unsigned(UInt64(clamping: $0))
        }
    }
}

extension Codec where Value == Double {
    package static func number(_ range: ClosedRange<Double>) -> Codec {
        Codec(.number(range)) { reader throws(InputError) in
            try reader.number(in: range)
        } encode: {
            .number($0)
        }
    }
}

extension Codec where Value == TimeSpan {
    package static func timeSpan(upTo longest: TimeSpan, saying limit: String) -> Codec {
        .text(.timeSpan(upTo: longest, saying: limit), TimeSpan.init(_:), write: \.description)
    }
}

extension Codec {
    /// Several, in their order.
    package static func list<Element>(
        of element: Codec<Element>, count: ClosedRange<Int>
    ) -> Codec where Value == [Element] {
        Codec(.list(element.shape, count: count)) { reader throws(InputError) in
            var values: [Element] = []
            for item in reader.items { values.append(try element.decode(item)) }
            return values
        } encode: {
            .array($0.map(element.encode))
        }
    }

    /// As a mapping with the keys of the value's own table.
    package static func mapping() -> Codec where Value: Keyed {
        Codec(.mapping(Value.keys.shape)) { reader throws(InputError) in
            try Value.keys.decode(reader)
        } encode: {
            Value.keys.json(of: $0)
        }
    }
}
