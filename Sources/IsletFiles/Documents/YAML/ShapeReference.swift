// A page of reference from a shape: each key with what it takes, what it means, and its default.
//
// Guarantees: what stands on the page is what the reader checks and the schema says; all three come from one shape. A mapping
// that occurs in several places is described once.
// Does not: explain how keys work together. That is written by hand, around the tables.

extension MappingShape {
    /// Markdown: one table for this mapping and one for each mapping within it.
    /// - Parameters:
    ///   - title: of the outermost table.
    ///   - level: of its heading.
    package func reference(title: String, level: Int = 2) -> String {
        var sections: [String] = []
        var described: [String] = []
        describe(path: "", title: title, level: level, &sections, &described)
        return sections.joined(separator: "\n")
    }

    private func describe(
        path: String, title: String, level: Int, _ sections: inout [String], _ described: inout [String]
    ) {
        let rows = keys.map { key in
            let place = path.isEmpty ? key.name : "\(path).\(key.name)"
            return
                "| `\(key.name)` | \(key.shape.takes(at: place)) | \(key.summary.inCell) | \(key.defaultText) |"
        }
        sections.append(
            """
            \(String(repeating: "#", count: level)) \(title)

            \(summary)\(rules)

            | key | value | meaning | default |
            |---|---|---|---|
            \(rows.joined(separator: "\n"))

            """ + meanings)
        for key in keys {
            let place = path.isEmpty ? key.name : "\(path).\(key.name)"
            for (path, mapping) in key.shape.mappings(at: place) {
                // By its keys: the same mapping has the same ones wherever it stands.
                let signature = mapping.summary + mapping.names.joined(separator: ",")
                guard !described.contains(signature) else { continue }
                described.append(signature)
                let by =
                    mapping.chosenBy.isEmpty
                    ? "" : " with " + mapping.chosenBy.map { "`\($0)`" }.joined(separator: ", ")
                mapping.describe(path: path, title: "`\(path)`\(by)", level: level + 1, &sections, &described)
            }
        }
    }

    /// What the names of the choices mean, a line each.
    private var meanings: String {
        let lines = keys.flatMap { key in
            key.shape.choices.map { "- `\(key.name): \($0.id)`: \($0.summary)\n" }
        }
        return lines.isEmpty ? "" : "\n" + lines.joined()
    }

    private var rules: String {
        var text = ""
        if !exactlyOne.isEmpty {
            text += " Exactly one of " + exactlyOne.map { "`\($0)`" }.joined(separator: ", ") + "."
        }
        for (key, other) in onlyBeside { text += " `\(key)` only beside `\(other)`." }
        return text
    }
}

extension KeyShape {
    fileprivate var defaultText: String {
        if isRequired { return "required" }
        if let defaultValue { return "`\(defaultValue.compactText)`".inCell }
        return (leftOut ?? "").inCell
    }
}

extension Shape {
    /// What may stand here, for a cell.
    fileprivate func takes(at path: String) -> String {
        switch self {
        case .choice(_, let choices): choices.map { "`\($0.id)`" }.joined(separator: ", ")
        case .flag: "`true` or `false`"
        case .wholeNumber(let range) where range == 0...UInt64.max: "a whole number"
        case .number(let range) where range.upperBound >= .greatestFiniteMagnitude: "a number"
        case .list(let item, _): "a list of: " + item.takes(at: path + "[]")
        case .mapping: "keys of `\(path)`"
        case .either(let shapes): shapes.map { $0.takes(at: path) }.joined(separator: "; or ")
        case .text, .wholeNumber, .number, .open: expectation.inCell
        }
    }

    /// The names that may stand here and say more than themselves.
    fileprivate var choices: [Choice] {
        switch self {
        case .choice(_, let choices): choices.filter { !$0.summary.isEmpty && $0.summary != $0.id }
        case .either(let shapes): shapes.flatMap(\.choices)
        case .text, .wholeNumber, .number, .flag, .list, .mapping, .open: []
        }
    }

    /// The mappings within, with their places.
    fileprivate func mappings(at path: String) -> [(path: String, mapping: MappingShape)] {
        switch self {
        case .mapping(let mapping): [(path, mapping)]
        case .list(let item, _): item.mappings(at: path + "[]")
        case .either(let shapes): shapes.flatMap { $0.mappings(at: path) }
        case .text, .wholeNumber, .number, .flag, .choice, .open: []
        }
    }
}

extension String {
    /// As it can stand in a cell of a table.
    fileprivate var inCell: String { replacing("|", with: "\\|") }
}
