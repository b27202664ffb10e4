// Text to `YAMLNode`, for text that nobody vouches for.
//
// Guarantees: any sequence of bytes ends in a tree or in one `InputError`; no input overflows the stack, expands
// aliases, or takes more than a few seconds. How:
//   - at most `maximumBytes` of text;
//   - libYAML itself stops at 1000 levels; composing them is a recursion that needs more than 1 MiB of stack, so it runs
//     on a thread that has 16; the tree that leaves here has at most `maximumDepth`;
//   - composing checks mappings for duplicate keys by hashing them, and an alias inside a key would be expanded there.
//     So text with more than `indicatorBudget` words that look like aliases, or lone question marks, is refused
//     unread. The count ignores quotes and comments on purpose: it may refuse an odd file, never let a bomb pass;
//   - anchors, and with them aliases, are refused after composing, with their line. So are tags.
// Does not: read several documents. A study is one.

package import IsletDevices
import Yams

/// Reads one YAML document.
package enum YAMLDocument {
    /// The largest document read: 1 MiB.
    package static let maximumBytes = 1 << 20
    /// The deepest nesting that leaves here.
    package static let maximumDepth = 32
    /// How many words may look like aliases, and how many stand-alone question marks there may be.
    static let indicatorBudget = 24

    /// The document in the file at `path`. A file that is called `.json` is JSON, and nothing else.
    package static func read(path: String) throws(InputError) -> YAMLNode {
        let text = try readTextInput(path, limitBytes: maximumBytes)
        return try path.hasSuffix(".json")
            ? JSONDocument.parse(text, file: path) : parse(text, file: path)
    }

    /// The document in `text`; `file` is what problems call it. Text that is JSON is read as JSON: in its strings nothing looks like an alias.
    /// - Parameter limitBytes: larger for what Islet wrote itself.
    package static func parse(
        _ text: String, file: String, limitBytes: Int = maximumBytes
    ) throws(InputError) -> YAMLNode {
        var text = text
        text.makeContiguousUTF8()
        guard text.utf8.count <= limitBytes else {
            throw InputError(
                file: file, found: "\(text.utf8.count) bytes",
                expected: "at most \(limitBytes) bytes of YAML")
        }
        if JSONDocument.isLikely(text),
            let json = try? JSONDocument.parse(text, file: file, limitBytes: limitBytes)
        {
            return json
        }
        try checkIndicators(text, file: file)
        // Composing, and letting go of what was composed, recurse as deep as the document; see the file's head.
        return try withStack(bytes: 16 << 20) { [text] in
            Result { () throws(InputError) -> YAMLNode in try compose(text, file: file) }
        }.get()
    }

    private static func compose(_ text: String, file: String) throws(InputError) -> YAMLNode {
        let parser: Parser
        let root: Node?
        do {
            // The encoding is named because the default one looks into the environment.
            parser = try Parser(yaml: text, resolver: .basic, encoding: .utf8)
            root = try parser.singleRoot()
        } catch {
            throw problem(from: error, text: text, file: file)
        }
        guard let root else {
            throw InputError(file: file, found: "nothing", expected: "a YAML document")
        }
        // A node holds its anchor weakly; the parser owns it.
        return try withExtendedLifetime(parser) { () throws(InputError) -> YAMLNode in
            try convert(root, file: file, depth: 1)
        }
    }

    private static func checkIndicators(_ text: String, file: String) throws(InputError) {
        var aliases = 0
        var questions = 0
        var line = 1
        var previous = UInt8(ascii: "\n")
        var bytes = text.utf8.makeIterator()
        var current = bytes.next()
        while let byte = current {
            let next = bytes.next()
            if byte == UInt8(ascii: "\n") { line += 1 }
            if isIndicator(byte, after: previous, before: next) {
                if byte == UInt8(ascii: "*") { aliases += 1 } else { questions += 1 }
            }
            if aliases > indicatorBudget || questions > indicatorBudget {
                let what = aliases > indicatorBudget ? "aliases (*name)" : "complex keys (?)"
                throw InputError(
                    file: file, line: line, found: "more than \(indicatorBudget) \(what)",
                    expected: "plain YAML without them, also not in comments")
            }
            previous = byte
            current = next
        }
    }

    /// Whether a byte may be what begins an alias or a complex key.
    static func isIndicator(_ byte: UInt8, after previous: UInt8, before next: UInt8?) -> Bool {
        guard !isWordByte(previous) else { return false }
        if byte == UInt8(ascii: "*") { return next.map { isWordByte($0) } ?? false }
        return byte == UInt8(ascii: "?") && next.map { $0 <= 0x20 || $0 >= 0x80 } ?? true
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func convert(_ node: Node, file: String, depth: Int) throws(InputError) -> YAMLNode {
        let origin = YAMLNode.Origin(file: file, line: node.mark?.line)
        guard depth <= maximumDepth else {
            throw InputError(
                file: file, line: origin.line, found: "nesting \(depth) levels deep",
                expected: "at most \(maximumDepth) levels")
        }
        if let anchor = node.anchor {
            throw InputError(
                file: file, line: origin.line, found: "the anchor \(quotedForMessage("&" + anchor.rawValue))",
                expected: "no anchors and no aliases")
        }
        let tag = node.tag.rawValue
        switch node {
        case .scalar(let scalar):
            try refuse(tag: tag, unless: .str, origin)
            return YAMLNode(.scalar(scalar.string, plain: scalar.style == .plain), origin: origin)
        case .sequence(let sequence):
            try refuse(tag: tag, unless: .seq, origin)
            var items: [YAMLNode] = []
            for item in sequence {
                items.append(try convert(item, file: file, depth: depth + 1))
            }
            return YAMLNode(.sequence(items), origin: origin)
        case .mapping(let mapping):
            try refuse(tag: tag, unless: .map, origin)
            var entries: [YAMLNode.Entry] = []
            for (key, value) in mapping {
                let converted = try convert(key, file: file, depth: depth + 1)
                guard case .scalar(let name, _) = converted.content else {
                    throw InputError(
                        file: file, line: converted.origin.line, found: "\(converted.summary) as a key",
                        expected: "a word as the key")
                }
                entries.append(
                    YAMLNode.Entry(
                        key: name, keyOrigin: converted.origin,
                        value: try convert(value, file: file, depth: depth + 1)))
            }
            return YAMLNode(.mapping(entries), origin: origin)
        case .alias:
            throw InputError(
                file: file, line: origin.line, found: "an alias", expected: "no anchors and no aliases")
        }
    }

    private static func refuse(
        tag: String, unless allowed: Tag.Name, _ origin: YAMLNode.Origin
    ) throws(InputError) {
        guard tag != allowed.rawValue else { return }
        throw InputError(
            file: origin.file, line: origin.line, found: "the tag \(quotedForMessage(tag))",
            expected: "no tags")
    }

    /// libYAML's complaint in our words, with the line that it names.
    private static func problem(from error: any Error, text: String, file: String) -> InputError {
        func malformed(_ what: String, _ line: Int?) -> InputError {
            InputError(
                file: file, line: line, found: "malformed YAML (\(printable(what, limit: 160)))",
                expected: "well-formed YAML")
        }
        guard let error = error as? YamlError else { return malformed("\(error)", nil) }
        switch error {
        case .reader(let what, let offset, let value, _):
            let line = offset.map { text.prefix($0).count(where: \.isNewline) + 1 }
            let which = value >= 0 ? " 0x" + String(value, radix: 16) : ""
            return malformed(what + which, line)
        case .scanner(let context, let what, let mark, _), .parser(let context, let what, let mark, _):
            if what.contains("nesting level") {
                return InputError(
                    file: file, line: mark.line, found: "nesting more than \(maximumDepth) levels deep",
                    expected: "at most \(maximumDepth) levels")
            }
            if character(of: text, at: mark) == "\t" {
                return InputError(
                    file: file, line: mark.line, found: "a tab", expected: "spaces for indentation")
            }
            return malformed(context.map { "\(what) \($0.text)" } ?? what, mark.line)
        case .composer(_, let what, let mark, _):
            if what.contains("alias") {
                return InputError(
                    file: file, line: mark.line, found: "an alias", expected: "no anchors and no aliases")
            }
            return InputError(
                file: file, line: mark.line, found: "a second document", expected: "one document a file")
        case .duplicatedKeysInMapping(let duplicates, let context):
            return InputError(
                file: file, line: context.mark.line,
                found: "the key \(quotedForMessage(duplicates.first ?? "")) twice", expected: "each key once")
        default:
            return malformed("\(error)", nil)
        }
    }

    private static func character(of text: String, at mark: Yams.Mark) -> Unicode.Scalar? {
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(mark.line - 1) else { return nil }
        return lines[mark.line - 1].dropFirst(mark.column - 1).first
    }
}
