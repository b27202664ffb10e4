// What a command's row says of its fields is what is checked: the API's document is made from the same rows.
//
// Guarantees: what is required is there, each value has its kind, and a text the form that its row gives it. Whether a number is in range is judged by the session, which
// keeps the refusal (`LiveInput.problem(in:)`); a test holds both to the rows' ranges.

extension JSONFields {
    func check(_ field: WardCommand.Field) throws(Ward.Refusal) {
        guard has(field.name) else {
            if field.isRequired {
                throw .invalid("\(field.name): found nothing, expected \(field.kind.words)")
            }
            return
        }
        switch field.kind {
        case .number: _ = try optionalNumber(field.name)
        case .wholeNumber: _ = try optionalWholeNumber(field.name)
        case .flag: _ = try flag(field.name)
        case .text(_, let pattern):
            guard let text = try optionalText(field.name), let pattern else { return }
            guard text.utf8.count <= WardCommand.longestText, Self.matches(text, pattern) else {
                throw .invalid("\(field.name): expected \(field.kind.words)")
            }
        }
    }

    /// As JSON Schema has it: by Unicode scalars.
    private static func matches(_ text: String, _ pattern: String) -> Bool {
        guard let pattern = try? Regex(pattern) else { return false }
        return text.firstMatch(of: pattern.matchingSemantics(.unicodeScalar)) != nil
    }
}

extension WardCommand {
    /// The longest text of a field with a pattern, bytes of UTF-8: no pattern lets a longer one pass.
    static let longestText = 1000
}

extension JSONBody {
    /// An object that has the fields of a table, each in its range.
    package func object(_ what: String, _ table: [WardCommand.Field]) throws(Ward.Refusal) -> JSONFields {
        let fields = try object(what)
        try fields.check(only: table.map(\.name), nullable: table.filter(\.canBeNull).map(\.name))
        for field in table {
            try fields.check(field)
            let isFine =
                switch field.kind {
                case .number(let range): try fields.optionalNumber(field.name).map(range.contains) ?? true
                case .wholeNumber(let range):
                    try fields.optionalWholeNumber(field.name).map(range.contains) ?? true
                case .flag, .text: true
                }
            guard isFine else { throw .invalid("\(field.name): expected \(field.kind.words)") }
        }
        return fields
    }
}

extension WardCommand.Field.Kind {
    /// What is expected.
    var words: String {
        switch self {
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .wholeNumber(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .flag: "true or false"
        case .text(let words, _): words
        }
    }
}
