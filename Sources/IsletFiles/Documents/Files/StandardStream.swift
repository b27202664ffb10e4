// Standard output and standard error, unbuffered.
//
// Guarantees: what was written is with the system when the call returns, also when redirected (`print` would keep it
// back); a failure is thrown and ends in the exit code, not ignored; long texts are written whole.

import Glibc
package import IsletDevices

/// One of the process's two output streams.
package enum StandardStream: Sendable {
    case output
    case error

    private var descriptor: Int32 { self == .output ? STDOUT_FILENO : STDERR_FILENO }
    private var name: String { self == .output ? "standard output" : "standard error" }

    /// Writes `text` now.
    package func write(_ text: String) throws(OutputError) {
        var text = text
        let failure = text.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
        if let failure { throw OutputError(path: name, doing: "write", errno: failure) }
    }

    /// Writes bytes now.
    package func write(_ bytes: [UInt8]) throws(OutputError) {
        let failure = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
        if let failure { throw OutputError(path: name, doing: "write", errno: failure) }
    }

    /// Writes `text` and a newline now.
    package func writeLine(_ text: String) throws(OutputError) { try write(text + "\n") }

    /// Writes a line where there is nobody left to tell about a failure.
    package func writeLineIgnoringFailure(_ text: String) {
        try? write(text + "\n")
    }

    /// True where a person may be looking.
    package var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Columns of the terminal, where it says so.
    package var terminalColumns: Int? {
        var size = winsize()
        guard isTerminal, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Columns that tables are made for: the terminal's, else what the environment says (`COLUMNS`), else 100.
    package var tableColumns: Int {
        terminalColumns ?? getenv("COLUMNS").flatMap { Int(String(cString: $0)) } ?? 100
    }

    /// True where colour is welcome: a terminal that is not dumb, and no `NO_COLOR` (no-color.org: set and not empty).
    package var allowsColor: Bool {
        isTerminal && Self.environmentAllowsColor
    }

    static var environmentAllowsColor: Bool {
        if let value = getenv("NO_COLOR"), value[0] != 0 { return false }
        if let value = getenv("TERM"), String(cString: value) == "dumb" { return false }
        return true
    }
}
