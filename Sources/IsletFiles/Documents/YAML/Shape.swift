// What a YAML file may say: one description that the reader checks against and the JSON Schema is printed from.
//
// Guarantees: a node that passed `YAMLReader.check` has exactly the keys, kinds and ranges that its shape says, so that
// decoding afterwards only picks values up. Schema and reader can't drift apart: neither has a list of its own.
// Does not: relate keys to each other beyond `exactlyOne` (a reference that must name an arm is the decoder's matter).

import IsletDevices

/// The shape of one value.
package indirect enum Shape: Sendable {
    /// A scalar that a rule accepts.
    case text(TextRule)
    /// A whole number, written in decimal without quotes.
    case wholeNumber(ClosedRange<UInt64>)
    /// A finite number, written without quotes.
    case number(ClosedRange<Double>)
    /// `true` or `false`.
    case flag
    /// One of a list of names.
    case choice(noun: String, [Choice])
    /// A list with a number of items in a range.
    case list(Shape, count: ClosedRange<Int>)
    /// Keys and values.
    case mapping(MappingShape)
    /// A mapping whose keys are no fixed names; the decoder looks at them.
    case open(expectation: String)
    /// Any of several shapes. The first whose kind (scalar, list, mapping) fits is the one that is checked.
    case either([Shape])

    /// One of the names of a choice.
    package struct Choice: Sendable {
        package var id: String
        package var summary: String

        package init(_ id: String, _ summary: String) {
            self.id = id
            self.summary = summary
        }
    }
}

/// What text must look like, in three forms: for the reader, for the schema, for the person.
package struct TextRule: Sendable {
    /// "a length of time such as 90s, 5m, 1h30m or 7d"
    package var expectation: String
    /// An ECMA 262 regular expression that every accepted text matches.
    package var pattern: String
    package var accepts: @Sendable (String) -> Bool

    package init(
        expectation: String, pattern: String, accepts: @escaping @Sendable (String) -> Bool
    ) {
        self.expectation = expectation
        self.pattern = pattern
        self.accepts = accepts
    }

    /// A name that can stand in a table, a file name and a chart: 1 to 100 characters on one line, no path separators.
    package static let name = TextRule(
        expectation: "a name of 1 to 100 characters without /, \\, control characters or outer spaces",
        pattern: #"^[^/\\\s\x00-\x1F\x7F]([^/\\\x00-\x1F\x7F]{0,98}[^/\\\s\x00-\x1F\x7F])?$"#,
        accepts: { text in
            let scalars = text.unicodeScalars
            guard let first = scalars.first, let last = scalars.last, scalars.count <= 100 else {
                return false
            }
            guard text != ".", text != ".." else { return false }
            return !first.properties.isWhitespace && !last.properties.isWhitespace
                && !scalars.contains { $0 == "/" || $0 == "\\" || isUnprintable($0) }
        })

    /// A sentence or two on one line: 1 to 300 characters.
    package static let sentence = TextRule(
        expectation: "a sentence of 1 to 300 characters on one line, without outer spaces",
        pattern: #"^[^\s\x00-\x1F\x7F]([^\x00-\x1F\x7F]{0,298}[^\s\x00-\x1F\x7F])?$"#,
        accepts: { text in
            let scalars = text.unicodeScalars
            guard let first = scalars.first, let last = scalars.last, scalars.count <= 300 else {
                return false
            }
            return !first.properties.isWhitespace && !last.properties.isWhitespace
                && !scalars.contains(where: isUnprintable)
        })

    /// A path: 1 to 4096 bytes without control characters.
    package static let path = TextRule(
        expectation: "a path", pattern: #"^[^\x00-\x1F\x7F]{1,4096}$"#,
        accepts: { !$0.isEmpty && $0.utf8.count <= 4096 && !$0.unicodeScalars.contains(where: isUnprintable) }
    )

    /// A length of time longer than zero, at most `longest`.
    package static func timeSpan(upTo longest: TimeSpan, saying limit: String) -> TextRule {
        TextRule(
            expectation: "a length of time such as 90s, 5m, 1h30m or 7d, more than 0, at most \(limit)",
            pattern: #"^(?=.)([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$"#,
            accepts: { text in
                guard let span = TimeSpan(text) else { return false }
                return span.nanoseconds > 0 && span <= longest
            })
    }
}

/// The keys that a mapping may have.
package struct MappingShape: Sendable {
    package var summary: String
    package var keys: [KeyShape]
    /// Keys of which exactly one must be there.
    package var exactlyOne: [String]
    /// A key on the left has a meaning only beside the key on the right.
    package var onlyBeside: [(key: String, other: String)]
    /// Where this is one of several shapes, a mapping with one of these keys is of this one.
    package var chosenBy: [String] = []
    /// What a key that is none of `keys` may hold; nil where there may be none. The decoder looks at its name.
    package var others: Shape?

    package init(
        summary: String, keys: [KeyShape], exactlyOne: [String] = [],
        onlyBeside: [(key: String, other: String)] = [], chosenBy: [String] = [], others: Shape? = nil
    ) {
        (self.chosenBy, self.others) = (chosenBy, others)
        self.summary = summary
        self.keys = keys
        self.exactlyOne = exactlyOne
        self.onlyBeside = onlyBeside
    }

    package var names: [String] { keys.map(\.name) }
}

/// One key of a mapping.
package struct KeyShape: Sendable {
    package var name: String
    package var shape: Shape
    /// One sentence, for the schema.
    package var summary: String
    package var isRequired: Bool
    /// What stands in for the key when it is left out, where that is one fixed value.
    package var defaultValue: JSONValue?
    /// What leaving the key out means, where that is no fixed value.
    package var leftOut: String?

    package init(
        _ name: String, _ shape: Shape, _ summary: String, isRequired: Bool = false,
        defaultValue: JSONValue? = nil, leftOut: String? = nil
    ) {
        self.name = name
        self.shape = shape
        self.summary = summary
        self.isRequired = isRequired
        self.defaultValue = defaultValue
        self.leftOut = leftOut
    }

    /// The key where leaving it out means something else.
    package func leavingOut(_ meaning: String) -> KeyShape {
        guard !isRequired else { return self }
        var key = self
        key.defaultValue = nil
        key.leftOut = meaning
        return key
    }
}

extension Shape {
    /// What a node of this shape is, for the `expected` half of a problem.
    package var expectation: String {
        switch self {
        case .text(let rule): rule.expectation
        case .wholeNumber(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .number(let range):
            "a number from \(JSONValue.numberText(range.lowerBound)) to \(JSONValue.numberText(range.upperBound))"
        case .flag: "true or false"
        case .choice(let noun, let choices): "\(noun): " + choices.map(\.id).joined(separator: ", ")
        case .list(_, let count) where count.lowerBound == 0: "a list of at most \(count.upperBound)"
        case .list(_, let count): "a list of \(count.lowerBound) to \(count.upperBound)"
        case .mapping(let shape): "a mapping with \(shape.names.joined(separator: ", "))"
        case .open(let expectation): expectation
        case .either(let shapes): shapes.map(\.expectation).joined(separator: "; or ")
        }
    }

    /// The names that may stand here as they are.
    var names: [String] {
        switch self {
        case .choice(_, let choices): choices.map(\.id)
        case .either(let shapes): shapes.flatMap(\.names)
        case .text, .wholeNumber, .number, .flag, .list, .mapping, .open: []
        }
    }

    /// This shape as a JSON Schema (draft 2020-12).
    package var schema: JSONValue { .object(schemaMembers) }

    private var schemaMembers: [JSONValue.Member] {
        switch self {
        case .text(let rule):
            [.init("type", .string("string")), .init("pattern", .string(rule.pattern))]
        case .wholeNumber(let range):
            [
                .init("type", .string("integer")), .init("minimum", .unsigned(range.lowerBound)),
                .init("maximum", .unsigned(range.upperBound)),
            ]
        case .number(let range):
            [
                .init("type", .string("number")), .init("minimum", .number(range.lowerBound)),
                .init("maximum", .number(range.upperBound)),
            ]
        case .flag: [.init("type", .string("boolean"))]
        case .choice(_, let choices):
            [
                .init("enum", .array(choices.map { .string($0.id) })),
                .init(
                    "description", .string(choices.map { "\($0.id): \($0.summary)" }.joined(separator: "; "))),
            ]
        case .list(let item, let count):
            [
                .init("type", .string("array")), .init("minItems", .integer(Int64(count.lowerBound))),
                .init("maxItems", .integer(Int64(count.upperBound))), .init("items", item.schema),
            ]
        case .mapping(let shape): shape.schemaMembers
        case .open(let expectation):
            [.init("type", .string("object")), .init("description", .string(expectation))]
        case .either(let shapes): [.init("anyOf", .array(shapes.map(\.schema)))]
        }
    }
}

extension MappingShape {
    fileprivate var schemaMembers: [JSONValue.Member] {
        let properties = keys.map { key in
            let leftOut = key.leftOut.map { " Default: \($0)." } ?? ""
            var members: [JSONValue.Member] = [.init("title", .string(key.summary + leftOut))]
            if case .object(let inner) = key.shape.schema { members += inner }
            if let value = key.defaultValue { members.append(.init("default", value)) }
            return JSONValue.Member(key.name, .object(members))
        }
        var members: [JSONValue.Member] = [
            .init("type", .string("object")), .init("description", .string(summary)),
            .init("properties", .object(properties)),
            .init("additionalProperties", others?.schema ?? .bool(false)),
        ]
        let required = keys.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { members.append(.init("required", .array(required))) }
        if !exactlyOne.isEmpty {
            let each = exactlyOne.map { JSONValue.object([.init("required", .array([.string($0)]))]) }
            members.append(.init("oneOf", .array(each)))
        }
        if !onlyBeside.isEmpty {
            let each = onlyBeside.map { JSONValue.Member($0.key, .array([.string($0.other)])) }
            members.append(.init("dependentRequired", .object(each)))
        }
        return members
    }
}
