// What went wrong with something that Islet wanted to write.
//
// Guarantees: the two kinds are the two exit codes of the public contract; the line names the path and the system's
// own words.

/// A failure to write: one line, and whether trying again can help.
public struct OutputError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// The output can't be made as asked: exit code 73.
        case cannotCreate
        /// Space, handles or a signal stood in the way; the same command may do later: exit code 75.
        case temporary
    }

    public var kind: Kind
    /// As the user named it.
    public var path: String
    /// What was tried and what the system said.
    public var message: String

    public init(_ kind: Kind, path: String, message: String) {
        self.kind = kind
        self.path = path
        self.message = message
    }

    public var description: String { "\(printable(path, limit: 4096)): \(message)" }
}
