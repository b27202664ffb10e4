// What is Decodable, out of a JSON value that was read.
//
// Guarantees: takes what Foundation's encoder writes of numbers, flags, text, lists, enums and structs of them; a whole number stands for any number that holds it, spelled
// as it may be. A key that lacks, and a value of another kind, is refused.
// Does not: say where; dates, data and addresses, for which Foundation has spellings of its own.

extension JSONValue {
    /// - Throws: `JSONValue.Mismatch`, and what `Value` itself throws.
    package func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
        try ValueDecoder(value: self).decode(type)
    }

    /// A value is not what was to be read.
    package struct Mismatch: Error, Hashable, Sendable {}

    /// - Throws: `Mismatch` for what is no whole number, or none that the type holds.
    package func whole<Whole: FixedWidthInteger>() throws -> Whole {
        let whole: Whole? =
            switch self {
            case .integer(let value): Whole(exactly: value)
            case .unsigned(let value): Whole(exactly: value)
            case .number(let value): Whole(exactly: value)
            default: nil
            }
        guard let whole else { throw Mismatch() }
        return whole
    }

    /// - Throws: `Mismatch` for what is no number.
    package func double() throws -> Double {
        switch self {
        case .number(let value): return value
        case .integer(let value): return Double(value)
        case .unsigned(let value): return Double(value)
        default: throw Mismatch()
        }
    }

    /// - Throws: `Mismatch` for what is neither true nor false.
    package func flag() throws -> Bool {
        guard case .bool(let value) = self else { throw Mismatch() }
        return value
    }

    /// - Throws: `Mismatch` for what is no text.
    package func text() throws -> String {
        guard case .string(let value) = self else { throw Mismatch() }
        return value
    }

    fileprivate func keyed<Key: CodingKey>(by type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = self else { throw Mismatch() }
        return KeyedDecodingContainer(KeyedValues<Key>(members: members))
    }

    fileprivate func listed() throws -> ListedValues {
        guard case .array(let items) = self else { throw Mismatch() }
        return ListedValues(items: items)
    }
}

/// One value. It remembers no way to it, and nobody has told it anything.
private struct ValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: JSONValue
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try value.keyed(by: type)
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try value.listed() }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { value == .null }
    func decode(_ type: Bool.Type) throws -> Bool { try value.flag() }
    func decode(_ type: String.Type) throws -> String { try value.text() }
    func decode(_ type: Double.Type) throws -> Double { try value.double() }
    func decode(_ type: Float.Type) throws -> Float { Float(try value.double()) }
    func decode<Whole: FixedWidthInteger & Decodable>(_ type: Whole.Type) throws -> Whole {
        try value.whole()
    }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }
}

private struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [JSONValue.Member]
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { members.compactMap { Key(stringValue: $0.key) } }

    private func value(_ key: some CodingKey) throws -> JSONValue {
        let name = key.stringValue
        for member in members where member.key == name { return member.value }
        throw JSONValue.Mismatch()
    }

    func contains(_ key: Key) -> Bool {
        let name = key.stringValue
        return members.contains { $0.key == name }
    }

    /// Looked for once: the library's own way is to look whether it is there, whether it is null, and then for it.
    private func present(_ key: Key) -> JSONValue? {
        let name = key.stringValue
        for member in members where member.key == name {
            if case .null = member.value { return nil }
            return member.value
        }
        return nil
    }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try present(key)?.flag() }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try present(key)?.text() }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try present(key)?.double()
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try present(key)?.whole() }
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try present(key).map { try ValueDecoder(value: $0).decode(type) }
    }

    func decodeNil(forKey key: Key) throws -> Bool { try value(key) == .null }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(key).flag() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try value(key).text() }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(key).double() }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { Float(try value(key).double()) }
    func decode<Whole: FixedWidthInteger & Decodable>(_ type: Whole.Type, forKey key: Key) throws -> Whole {
        try value(key).whole()
    }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try ValueDecoder(value: value(key)).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try value(key).keyed(by: type) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try value(key).listed()
    }
    func superDecoder() throws -> any Decoder { ValueDecoder(value: .object(members)) }
    func superDecoder(forKey key: Key) throws -> any Decoder { ValueDecoder(value: try value(key)) }
}

private struct ListedValues: UnkeyedDecodingContainer {
    let items: [JSONValue]
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex >= items.count }

    init(items: [JSONValue]) { self.items = items }

    private mutating func next() throws -> JSONValue {
        guard !isAtEnd else { throw JSONValue.Mismatch() }
        defer { currentIndex += 1 }
        return items[currentIndex]
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, items[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }
    mutating func decode(_ type: Bool.Type) throws -> Bool { try next().flag() }
    mutating func decode(_ type: String.Type) throws -> String { try next().text() }
    mutating func decode(_ type: Double.Type) throws -> Double { try next().double() }
    mutating func decode(_ type: Float.Type) throws -> Float { Float(try next().double()) }
    mutating func decode<Whole: FixedWidthInteger & Decodable>(_ type: Whole.Type) throws -> Whole {
        try next().whole()
    }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try ValueDecoder(value: next()).decode(type)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try next().keyed(by: type) }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().listed() }
    mutating func superDecoder() throws -> any Decoder { ValueDecoder(value: try next()) }
}
