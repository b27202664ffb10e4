// A place in a YAML document, and what may be asked of it.
//
// Guarantees: whatever the node holds, an answer or one `InputError` that says the file and line, what was found at
// which key (`arms[0].name`) and what was expected. Unknown keys name the nearest known one.
//
//     let root = YAMLReader(try YAMLDocument.read(path: path))
//     try root.check(shape)
//     let seed = try root["seed"]?.wholeNumber() ?? 1

package import IsletDevices

/// A cursor on one node.
package struct YAMLReader: Sendable {
    package let node: YAMLNode
    /// As a person would say it: `cohort.generate.count`; empty at the root.
    package let path: String

    package init(_ node: YAMLNode, path: String = "") {
        self.node = node
        self.path = path
    }

    /// The value of `key`; nil where there is none.
    package subscript(key: String) -> YAMLReader? {
        node[key].map { YAMLReader($0, path: path.isEmpty ? key : "\(path).\(key)") }
    }

    /// The items of a list; none where this is not a list.
    package var items: [YAMLReader] {
        guard case .sequence(let items) = node.content else { return [] }
        return items.enumerated().map { YAMLReader($1, path: "\(path)[\($0)]") }
    }

    package var isList: Bool {
        if case .sequence = node.content { true } else { false }
    }

    package var isMapping: Bool {
        if case .mapping = node.content { true } else { false }
    }

    /// A problem at this place. `found` is what stands here unless said otherwise.
    package func problem(found: String? = nil, expected: String) -> InputError {
        let found = found ?? node.summary
        return InputError(
            file: node.origin.file, line: node.origin.line,
            found: path.isEmpty ? found : "\(found) at \(path)",
            expected: expected)
    }

    // MARK: Scalars

    /// The scalar's text, quoted or not.
    package func text(expected: String = "text") throws(InputError) -> String {
        guard case .scalar(let text, _) = node.content, !node.isNothing else {
            throw problem(expected: expected)
        }
        return text
    }

    /// A whole number in decimal, without quotes, underscores or leading zeros.
    package func wholeNumber(
        in range: ClosedRange<UInt64> = 0...UInt64.max
    ) throws(InputError) -> UInt64 {
        guard case .scalar(let text, plain: true) = node.content,
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            text == "0" || !text.hasPrefix("0"), let value = UInt64(text), range.contains(value)
        else { throw problem(expected: Shape.wholeNumber(range).expectation) }
        return value
    }

    /// A finite number, without quotes.
    package func number(in range: ClosedRange<Double>) throws(InputError) -> Double {
        guard case .scalar(let text, plain: true) = node.content,
            text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }),
            let value = Double(text), value.isFinite, range.contains(value)
        else { throw problem(expected: Shape.number(range).expectation) }
        return value
    }

    /// `true` or `false`.
    package func flag() throws(InputError) -> Bool {
        guard case .scalar(let text, plain: true) = node.content, text == "true" || text == "false" else {
            throw problem(expected: Shape.flag.expectation)
        }
        return text == "true"
    }

    // MARK: Shapes

    /// Checks this node and everything below it.
    package func check(_ shape: Shape) throws(InputError) {
        switch shape {
        case .text(let rule):
            guard rule.accepts(try text(expected: rule.expectation)) else {
                throw problem(expected: rule.expectation)
            }
        case .wholeNumber(let range): _ = try wholeNumber(in: range)
        case .number(let range): _ = try number(in: range)
        case .flag: _ = try flag()
        case .choice(_, let choices):
            let word = try text(expected: shape.expectation)
            guard !choices.contains(where: { $0.id == word }) else { return }
            throw problem(expected: shape.expectation + meant(by: word, in: [shape]))
        case .list(let item, let count):
            guard isList, count.contains(items.count) else { throw problem(expected: shape.expectation) }
            for reader in items { try reader.check(item) }
        case .mapping(let mapping):
            guard isMapping else { throw problem(expected: shape.expectation) }
            try check(mapping)
        case .open: guard isMapping else { throw problem(expected: shape.expectation) }
        case .either(let shapes):
            guard let fitting = shapes.first(where: isChosen) ?? shapes.first(where: fits) else {
                throw problem(expected: shape.expectation)
            }
            do {
                try check(fitting)
            } catch let problem {
                // A scalar that is none of several scalar forms is told all of them.
                guard !isList, !isMapping else { throw problem }
                guard case .scalar(let word, _) = node.content else { throw problem }
                throw self.problem(expected: shape.expectation + meant(by: word, in: shapes))
            }
        }
    }

    /// ` (nearest: ...)`, where one of the names that these shapes allow is near.
    private func meant(by word: String, in shapes: [Shape]) -> String {
        nearest(to: word, among: shapes.flatMap(\.names)).map { " (nearest: `\($0)`)" } ?? ""
    }

    /// Whether a key of this mapping says that it is of this shape.
    private func isChosen(_ shape: Shape) -> Bool {
        guard case .mapping(let mapping) = shape else { return false }
        return mapping.chosenBy.contains { node[$0] != nil }
    }

    private func fits(_ shape: Shape) -> Bool {
        switch shape {
        case .text, .wholeNumber, .number, .flag, .choice: !isList && !isMapping
        case .list: isList
        case .mapping, .open: isMapping
        case .either(let shapes): shapes.contains(where: fits)
        }
    }

    private func check(_ shape: MappingShape) throws(InputError) {
        guard case .mapping(let entries) = node.content else { return }
        for entry in entries {
            guard let key = shape.keys.first(where: { $0.name == entry.key }) else {
                guard let others = shape.others else { throw unknownKey(entry, shape.names) }
                try YAMLReader(entry.value, path: path.isEmpty ? entry.key : "\(path).\(entry.key)").check(
                    others)
                continue
            }
            try YAMLReader(entry.value, path: path.isEmpty ? key.name : "\(path).\(key.name)").check(
                key.shape)
        }
        for key in shape.keys where key.isRequired && node[key.name] == nil {
            throw problem(
                found: "no \(quotedForMessage(key.name))", expected: "the key `\(key.name)` (\(key.summary))")
        }
        for rule in shape.onlyBeside where node[rule.key] != nil && node[rule.other] == nil {
            guard let entry = entries.first(where: { $0.key == rule.key }) else { continue }
            throw InputError(
                file: entry.keyOrigin.file, line: entry.keyOrigin.line,
                found: "`\(rule.key)` in \(path) without `\(rule.other)`",
                expected: "`\(rule.key)` only beside `\(rule.other)`")
        }
        guard !shape.exactlyOne.isEmpty else { return }
        let present = shape.exactlyOne.filter { node[$0] != nil }
        guard present.count == 1 else {
            throw problem(
                found: present.isEmpty
                    ? "neither " + shape.exactlyOne.joined(separator: " nor ")
                    : present.joined(separator: " and "),
                expected: "exactly one of " + shape.exactlyOne.joined(separator: ", "))
        }
    }

    private func unknownKey(_ entry: YAMLNode.Entry, _ known: [String]) -> InputError {
        let place = path.isEmpty ? "" : " in \(path)"
        let all = known.joined(separator: ", ")
        let expected =
            nearest(to: entry.key, among: known).map { "`\($0)` (known keys: \(all))" } ?? "one of \(all)"
        return InputError(
            file: entry.keyOrigin.file, line: entry.keyOrigin.line,
            found: "the unknown key \(quotedForMessage(entry.key))\(place)", expected: expected)
    }
}
