// `--set path=value`: one change to a document, made before anything of it is decoded.
//
// Guarantees: what an override puts in carries `--set PATH` as its place, so that a wrong value is blamed on the
// command line and not on a line of the file. Overrides apply in order; the last one of a path stays.
//
//     cohort.generate.count=10      arms[0].algorithm=basal-bolus      scenario={meals: none}

package import IsletDevices

/// One `--set path=value`.
package struct SetOverride: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        case key(String)
        case index(Int)
    }

    /// As written before the `=`.
    package let path: String
    let steps: [Step]
    let value: YAMLNode

    /// How deep a path may go.
    static let maximumSteps = 16

    /// Reads `path=value`; the value is YAML, so that `{meals: none}` and `[a, b]` are possible.
    package init(_ argument: String) throws(InputError) {
        guard let equals = argument.firstIndex(of: "=") else {
            throw InputError(
                file: "--set \(printable(argument, limit: 100))", found: "no `=`",
                expected: "path=value, for example cohort.generate.count=10")
        }
        path = String(argument[..<equals])
        let file = "--set \(printable(path, limit: 100))"
        guard let steps = Self.steps(path) else {
            throw InputError(
                file: file, found: "the path \(quotedForMessage(path))",
                expected: "keys joined by dots with [n] for list items, for example arms[0].algorithm")
        }
        self.steps = steps
        let text = String(argument[argument.index(after: equals)...])
        guard text.contains(where: { !$0.isWhitespace }) else {
            throw InputError(file: file, found: "no value", expected: "a value after the `=`")
        }
        let origin = YAMLNode.Origin(file: file)
        value = try YAMLDocument.parse(text, file: file).placed(at: origin)
    }

    private static func steps(_ path: String) -> [Step]? {
        var steps: [Step] = []
        for part in path.split(separator: ".", omittingEmptySubsequences: false) {
            let pieces = part.split(separator: "[", omittingEmptySubsequences: false)
            guard let key = pieces.first, !key.isEmpty, !key.contains("]") else { return nil }
            steps.append(.key(String(key)))
            for piece in pieces.dropFirst() {
                guard piece.last == "]", let index = Int(piece.dropLast()), index >= 0,
                    piece.first != "+", index < 1_000_000
                else { return nil }
                steps.append(.index(index))
            }
        }
        return steps.count <= maximumSteps ? steps : nil
    }

    /// `document` with this change made. Missing mappings on the way are added; list items must be there.
    package func applied(to document: YAMLNode) throws(InputError) -> YAMLNode {
        try place(in: document, steps[...], walked: "")
    }

    private func place(
        in node: YAMLNode, _ steps: ArraySlice<Step>, walked: String
    ) throws(InputError) -> YAMLNode {
        guard let step = steps.first else { return value }
        let rest = steps.dropFirst()
        let file = value.origin.file
        var node = node
        switch (step, node.content) {
        case (.key(let key), .mapping(var entries)):
            let here = walked.isEmpty ? key : "\(walked).\(key)"
            if let index = entries.firstIndex(where: { $0.key == key }) {
                entries[index].value = try place(in: entries[index].value, rest, walked: here)
            } else {
                let empty = YAMLNode(.mapping([]), origin: value.origin)
                entries.append(
                    .init(key: key, keyOrigin: value.origin, value: try place(in: empty, rest, walked: here)))
            }
            node.content = .mapping(entries)
            return node
        case (.index(let index), .sequence(var items)):
            guard items.indices.contains(index) else {
                throw InputError(
                    file: file, found: "item [\(index)] of \(items.count) in \(walked)",
                    expected: items.isEmpty ? "a list with items" : "an item from [0] to [\(items.count - 1)]"
                )
            }
            items[index] = try place(in: items[index], rest, walked: "\(walked)[\(index)]")
            node.content = .sequence(items)
            return node
        case (.key(let key), _):
            throw InputError(
                file: file, found: "\(node.summary) at \(walked.isEmpty ? "the top" : walked)",
                expected: "a mapping that can hold `\(printable(key, limit: 60))`")
        case (.index, _):
            throw InputError(file: file, found: "\(node.summary) at \(walked)", expected: "a list")
        }
    }
}

extension YAMLNode {
    /// The tree as if it came from `origin`.
    package func placed(at origin: Origin) -> YAMLNode {
        switch content {
        case .scalar: YAMLNode(content, origin: origin)
        case .sequence(let items): YAMLNode(.sequence(items.map { $0.placed(at: origin) }), origin: origin)
        case .mapping(let entries):
            YAMLNode(
                .mapping(
                    entries.map { Entry(key: $0.key, keyOrigin: origin, value: $0.value.placed(at: origin)) }),
                origin: origin)
        }
    }
}
