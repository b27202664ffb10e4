// The keys of a mapping, a row each: name, codec, summary, and the property whose value it is.
//
// Guarantees: reader, writer, schema and default of a key come from its row, and the default from the property itself: none of
// them can be forgotten or differ. Keys are written in the order of their rows.

package import IsletDevices

/// What has a table of keys.
///
///     struct Snack: Keyed {
///         var grams = 15.0
///         static let keys = KeyTable<Snack>("A snack.", [KeyRow("grams", \.grams, .number(0...100), "How much.")])
///     }
package protocol Keyed: Sendable {
    /// As it is where no key is given.
    init()
    static var keys: KeyTable<Self> { get }
    /// What keys that were left out take from others; called when all have been read.
    mutating func complete(_ reader: YAMLReader)
}

extension Keyed {
    package mutating func complete(_ reader: YAMLReader) {}
}

/// One key of a mapping.
package struct KeyRow<Root: Sendable>: Sendable {
    package let shape: KeyShape
    /// Changes nothing where the key was left out.
    let decode: @Sendable (YAMLReader, inout Root) throws(InputError) -> Void
    /// nil where the key is not written.
    let encode: @Sendable (Root) -> JSONValue?

    /// A key that reads and writes in its own way. It may look at what rows before it have read.
    package init(
        _ shape: KeyShape,
        decode: @escaping @Sendable (YAMLReader, inout Root) throws(InputError) -> Void,
        encode: @escaping @Sendable (Root) -> JSONValue?
    ) {
        self.shape = shape
        self.decode = decode
        self.encode = encode
    }
}

extension KeyRow where Root: Keyed {
    /// A key and its property, whose value in `Root()` is the default.
    /// - Parameters:
    ///   - leftOut: what leaving it out means, where that is no fixed value.
    ///   - isWritten: whether a resolved file has it.
    package init<Value>(
        _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ codec: Codec<Value>,
        _ summary: String, isRequired: Bool = false, leftOut: String? = nil, hasDefault: Bool = true,
        isWritten: @escaping @Sendable (Root) -> Bool = { _ in true }
    ) {
        let hasDefault = hasDefault && !isRequired && leftOut == nil
        self.init(
            KeyShape(
                name, codec.shape, summary, isRequired: isRequired,
                defaultValue: hasDefault ? codec.encode(Root()[keyPath: path]) : nil, leftOut: leftOut)
        ) { reader, root throws(InputError) in
            root[keyPath: path] = try codec.decode(reader)
        } encode: {
            isWritten($0) ? codec.encode($0[keyPath: path]) : nil
        }
    }

    /// A key that may be absent, and is not written then.
    package init<Value>(
        _ name: String, optional path: any WritableKeyPath<Root, Value?> & Sendable,
        _ codec: Codec<Value>, _ summary: String, leftOut: String? = nil
    ) {
        self.init(KeyShape(name, codec.shape, summary, leftOut: leftOut)) {
            reader, root throws(InputError) in
            root[keyPath: path] = try codec.decode(reader)
        } encode: {
            $0[keyPath: path].map(codec.encode)
        }
    }

    /// A number within its bounds, as its row has it.
    /// - Parameters:
    ///   - summary: what is said of the key, the row's meaning by default.
    ///   - leftOut: what leaving it out means, where that is no fixed value.
    package init<More>(
        _ row: NumberRow<Root, More>, _ summary: String? = nil, leftOut: String? = nil,
        isWritten: @escaping @Sendable (Root) -> Bool = { _ in true }
    ) {
        self.init(
            row.name, row.path, .number(row.range), summary ?? row.meaning, leftOut: leftOut,
            isWritten: isWritten)
    }
}

extension NumberFacts {
    /// A meaning that is a phrase, as the summary of a key.
    package func summary(isAssumed: Bool) -> String {
        meaning.prefix(1).uppercased() + meaning.dropFirst() + (unit.isEmpty ? "" : ", \(unit)")
            + (isAssumed ? " (assumed)." : ".")
    }
}

/// Every key of a mapping.
package struct KeyTable<Root: Keyed>: Sendable {
    package let rows: [KeyRow<Root>]
    package let shape: MappingShape

    package init(
        _ summary: String, _ rows: [KeyRow<Root>], exactlyOne: [String] = [],
        onlyBeside: [(key: String, other: String)] = []
    ) {
        self.rows = rows
        shape = MappingShape(
            summary: summary, keys: rows.map(\.shape), exactlyOne: exactlyOne, onlyBeside: onlyBeside)
    }

    /// What a mapping says; it has passed `shape`.
    package func decode(_ reader: YAMLReader) throws(InputError) -> Root {
        var root = Root()
        try rows.decode(reader, into: &root)
        root.complete(reader)
        return root
    }

    package func json(of root: Root) -> JSONValue { .object(rows.members(of: root)) }
}

extension Array {
    /// Takes what a mapping says; what it does not say stays.
    package func decode<Root>(_ reader: YAMLReader, into root: inout Root) throws(InputError)
    where Element == KeyRow<Root> {
        for row in self {
            if let value = reader[row.shape.name] { try row.decode(value, &root) }
        }
    }

    package func members<Root>(of root: Root) -> [JSONValue.Member] where Element == KeyRow<Root> {
        compactMap { row in row.encode(root).map { .init(row.shape.name, $0) } }
    }
}
