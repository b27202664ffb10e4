/// What is wrong with something a user gave: one line, where it is, what was found, what was expected.
///
/// Every reader of studies, tables, policies and scenarios throws this and nothing else about its input; the
/// command line prints `description` on standard error and leaves with `kind`'s exit code.
public struct InputError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// The data is malformed: exit code 65.
        case badData
        /// The file is not there or can't be opened: exit code 66.
        case missing
        /// The file is there, and the system failed at reading it: the same command may do later, exit code 75.
        case temporary
    }

    public var kind: Kind
    /// As the user named it: a path, or `--set` for a command-line override.
    public var file: String
    /// 1-based; nil where the problem is the file as a whole.
    public var line: Int?
    public var found: String
    public var expected: String

    public init(
        _ kind: Kind = .badData, file: String, line: Int? = nil, found: String, expected: String
    ) {
        self.kind = kind
        self.file = file
        self.line = line
        self.found = found
        self.expected = expected
    }

    /// One line, whatever was found: a name with control characters is shown with them escaped.
    public var description: String {
        let place = line.map { "\(file):\($0)" } ?? file
        return printable("\(place): found \(found), expected \(expected)", limit: .max)
    }
}
