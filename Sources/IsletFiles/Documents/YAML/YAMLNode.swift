// A YAML document as a plain tree in which every node knows where it was written.
//
// Guarantees: no aliases, no tags, no cycles, at most `YAMLDocument.maximumDepth` levels deep, keys are text and
// unique within their mapping. Whoever holds a `YAMLNode` may walk it recursively.
// Does not: give types to scalars. Whether `5` is a number or a name is said by the shape that it meets.

import IsletDevices

/// One node of a YAML document, with its place.
package struct YAMLNode: Hashable, Sendable {
    /// Where a node was written: a file and line, or a `--set` override.
    package struct Origin: Hashable, Sendable {
        package var file: String
        /// 1-based; nil for what was said on the command line.
        package var line: Int?

        package init(file: String, line: Int? = nil) {
            self.file = file
            self.line = line
        }

        /// What a text that came over a network is called: `text:study`. Whatever it says, no file is read for it.
        package static let textPrefix = "text:"
        package var isOfNoFile: Bool { file.hasPrefix(Self.textPrefix) }
    }

    /// A key of a mapping and its value.
    package struct Entry: Hashable, Sendable {
        package var key: String
        package var keyOrigin: Origin
        package var value: YAMLNode

        package init(key: String, keyOrigin: Origin, value: YAMLNode) {
            self.key = key
            self.keyOrigin = keyOrigin
            self.value = value
        }
    }

    package enum Content: Hashable, Sendable {
        /// `plain` is false where the text was quoted or a block: such text is never a number.
        case scalar(String, plain: Bool)
        case sequence([YAMLNode])
        case mapping([Entry])
    }

    package var content: Content
    package var origin: Origin

    package init(_ content: Content, origin: Origin) {
        self.content = content
        self.origin = origin
    }

    /// The value of `key`, where this is a mapping that has it.
    package subscript(key: String) -> YAMLNode? {
        guard case .mapping(let entries) = content else { return nil }
        return entries.first { $0.key == key }?.value
    }

    /// True for `key:` with nothing after it, `~` and `null`.
    package var isNothing: Bool {
        guard case .scalar(let text, plain: true) = content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// What this is, for the `found` half of a problem: short, one line, without control characters.
    package var summary: String {
        switch content {
        case .scalar where isNothing: "nothing"
        case .scalar(let text, plain: true): quotedForMessage(text)
        case .scalar(let text, plain: false): "the text \(quotedForMessage(text))"
        case .sequence(let items): "a list of \(items.count)"
        case .mapping: "a mapping"
        }
    }
}

/// `text` between backquotes, cut to 60 characters, everything that could break a line or a terminal escaped.
package func quotedForMessage(_ text: String) -> String {
    "`" + printable(text, limit: 60) + "`"
}
