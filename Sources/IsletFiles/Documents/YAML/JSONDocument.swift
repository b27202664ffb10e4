// JSON to `YAMLNode`: what Islet wrote itself, and whatever a user gives that is JSON.
//
// Guarantees: those of `JSONReader`, which reads it; a tree has at most as many levels as YAML's, so that no input overflows the stack.
// Does not: round numbers. A number is the text that stands there, which the shape that it meets judges.

package import IsletDevices

/// Reads one JSON document.
package enum JSONDocument {
    /// The document in a file that Islet wrote.
    package static func read(path: String, limitBytes: Int) throws(InputError) -> YAMLNode {
        let bytes = try readInput(path, limitBytes: limitBytes, onlyRegular: true)
        return try parse(try text(of: bytes, file: path), file: path, limitBytes: limitBytes)
    }

    /// The document in `text`; `file` is what problems call it.
    package static func parse(
        _ text: String, file: String, limitBytes: Int = YAMLDocument.maximumBytes
    ) throws(InputError) -> YAMLNode {
        guard text.utf8.count <= limitBytes else {
            throw InputError(
                file: file, found: "\(text.utf8.count) bytes", expected: "at most \(limitBytes) bytes of JSON"
            )
        }
        var reader = JSONReader<YAMLNode>(Array(text.utf8), file: file)
        return try reader.read()
    }

    /// Whether a text may be JSON: only then is it worth trying.
    static func isLikely(_ text: String) -> Bool {
        let first = text.utf8.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }
}

extension YAMLNode: JSONTree {
    package static func text(_ text: String, at place: JSONPlace) -> YAMLNode {
        YAMLNode(.scalar(text, plain: false), origin: Origin(place))
    }

    package static func name(_ name: JSONName, at place: JSONPlace) -> YAMLNode {
        YAMLNode(.scalar(name.rawValue, plain: true), origin: Origin(place))
    }

    package static func number(_ text: String, at place: JSONPlace) -> YAMLNode? {
        YAMLNode(.scalar(text, plain: true), origin: Origin(place))
    }

    package static func list(_ items: [YAMLNode], at place: JSONPlace) -> YAMLNode {
        YAMLNode(.sequence(items), origin: Origin(place))
    }

    package static func member(_ key: String, _ value: YAMLNode, at place: JSONPlace) -> Entry {
        Entry(key: key, keyOrigin: Origin(place), value: value)
    }

    package static func object(_ members: [Entry], at place: JSONPlace) -> YAMLNode {
        YAMLNode(.mapping(members), origin: Origin(place))
    }
}

extension YAMLNode.Origin {
    fileprivate init(_ place: JSONPlace) { self.init(file: place.file, line: place.line) }
}
