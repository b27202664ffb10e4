// Why a program of somebody's own can't go on.
//
// Guarantees: the cause in one line, and what the program wrote last; a call that took too long is another error than all else, since a time must not pick who counts.

import IsletDevices

/// The program failed: the sessions that asked it end as failed.
package struct PluginFailure: Error, Sendable, CustomStringConvertible {
    /// As the study names it.
    package var program: String
    /// In one line.
    package var cause: String
    /// Where the sessions stood, such as `step 12`; empty before the first.
    package var place = ""
    /// What it wrote to standard error, the last 20 lines.
    package var lastLines: [String] = []

    package var description: String {
        "\(program): \(cause)" + (place.isEmpty ? "" : " at \(place)")
    }

    /// The description with what the program wrote last, a line each.
    package var whole: String { ([description] + lastLines.map { "    " + $0 }).joined(separator: "\n") }

    /// The same, of a session.
    func at(_ session: Int) -> PluginFailure {
        var failure = self
        failure.place = "session \(session)" + (place.isEmpty ? "" : ", \(place)")
        return failure
    }

    /// As a refusal of the study.
    func refusal(file: String, line: Int?) -> InputError {
        let said = lastLines.suffix(3).joined(separator: " | ")
        return InputError(
            file: file, line: line, found: description + (said.isEmpty ? "" : " (\(said))"),
            expected: "a program that answers `ready` (docs/algorithms.md)")
    }
}

/// A call took longer than the study's `timeout`.
package struct PluginTimeout: Error, Sendable, CustomStringConvertible {
    package var program: String
    package var seconds: Int64
    package var place: String
    package var lastLines: [String]

    package var description: String {
        "\(program): no answer within \(seconds) s at \(place.isEmpty ? "its start" : place)"
    }
}
