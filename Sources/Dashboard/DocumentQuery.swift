// A query over documents, as Nightscout's store answers it.
//
// Guarantees: values are compared as that store compares them: only with their own kind, text by its bytes; what a document lacks equals nothing and differs from all.
// The same query of the same documents has the same answer. Does not: read queries (`NightscoutQuery` does).

import IsletFiles

struct DocumentQuery {
    enum Operator: String, CaseIterable {
        case eq, ne, gt, gte, lt, lte
        /// One of a list, none of it.
        case `in`, nin
        /// Text that has the pattern in it.
        case re
    }

    enum Value: Hashable {
        case number(Double)
        case text(String)
        case flag(Bool)
    }

    struct Clause {
        /// Points lead into objects.
        var field: String
        var how: Operator
        /// One, or of a list all.
        var values: [Value]
        var pattern: TextPattern?
    }

    struct Order {
        var field: String
        var isAscending: Bool
    }

    var clauses: [Clause] = []
    var order: [Order] = []
    var skip = 0
    /// nil for all.
    var limit: Int?
    /// nil for all.
    var fields: [String]?

    func run(_ documents: [JSONValue]) -> [JSONValue] {
        var found = documents.filter { document in clauses.allSatisfy { $0.holds(document) } }
        if !order.isEmpty {
            found = found.enumerated().map { (place: $0, document: $1, keys: keys($1)) }.sorted {
                one, other in
                for (place, order) in order.enumerated() where one.keys[place] != other.keys[place] {
                    return (one.keys[place] < other.keys[place]) == order.isAscending
                }
                return one.place < other.place
            }.map(\.document)
        }
        found = Array(found.dropFirst(skip).prefix(limit ?? .max))
        return fields.map { fields in found.map { Self.project($0, fields) } } ?? found
    }

    private func keys(_ document: JSONValue) -> [Key] {
        order.map { Key(Self.value(of: $0.field, in: document)) }
    }

    static func project(_ document: JSONValue, _ fields: [String]) -> JSONValue {
        guard case .object(let members) = document else { return document }
        return .object(members.filter { fields.contains($0.key) })
    }

    /// The value of a field, or of one within objects (`a.b`); nil where the document has none.
    static func value(of field: String, in document: JSONValue) -> JSONValue? {
        field.split(separator: ".", omittingEmptySubsequences: false).reduce(document) {
            $0?[String($1)]
        }
    }

    /// In an order in which kinds stand behind each other.
    private enum Key: Comparable {
        case nothing
        case number(Double)
        case text([UInt8])
        case other
        case flag(Int)

        init(_ value: JSONValue?) {
            switch value {
            case nil, .null: self = .nothing
            case .string(let text): self = .text(Array(text.utf8))
            case .bool(let flag): self = .flag(flag ? 1 : 0)
            case .array, .object: self = .other
            case .integer(let number): self = .number(Double(number))
            case .unsigned(let number): self = .number(Double(number))
            case .number(let number): self = .number(number)
            }
        }

        private var rank: Int {
            switch self {
            case .nothing: 0
            case .number: 1
            case .text: 2
            case .other: 3
            case .flag: 4
            }
        }

        static func < (a: Key, b: Key) -> Bool {
            switch (a, b) {
            case (.number(let a), .number(let b)): a < b
            case (.text(let a), .text(let b)): a.lexicographicallyPrecedes(b)
            case (.flag(let a), .flag(let b)): a < b
            default: a.rank < b.rank
            }
        }
    }
}

extension DocumentQuery.Clause {
    func holds(_ document: JSONValue) -> Bool {
        let found = DocumentQuery.value(of: field, in: document).flatMap { DocumentQuery.Value($0) }
        switch how {
        case .eq, .in: return found.map { values.contains($0) } ?? false
        case .ne, .nin: return found.map { !values.contains($0) } ?? true
        case .re:
            guard case .text(let text)? = found else { return false }
            return pattern?.isFound(in: text) ?? false
        case .gt, .gte, .lt, .lte:
            guard let found, let wanted = values.first, let isLess = found.isLess(than: wanted) else {
                return false
            }
            return switch how {
            case .gt: !isLess && found != wanted
            case .gte: !isLess
            case .lt: isLess
            default: isLess || found == wanted
            }
        }
    }
}

extension DocumentQuery.Value {
    /// nil for what no query can say.
    init?(_ value: JSONValue) {
        switch value {
        case .string(let text): self = .text(text)
        case .bool(let flag): self = .flag(flag)
        case .integer(let number): self = .number(Double(number))
        case .unsigned(let number): self = .number(Double(number))
        case .number(let number): self = .number(number)
        case .null, .array, .object: return nil
        }
    }

    /// nil for values of two kinds.
    func isLess(than other: Self) -> Bool? {
        switch (self, other) {
        case (.number(let a), .number(let b)): a < b
        case (.text(let a), .text(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
        case (.flag(let a), .flag(let b)): !a && b
        default: nil
        }
    }
}
