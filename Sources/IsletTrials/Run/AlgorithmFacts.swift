// Which programs of somebody's own made a folder's sessions, as its manifest says it.
//
// Guarantees: sessions of two versions of a program, or of two files, are not joined as one study's; whatever runtimes they had are all named.
// Does not: know what a program imports beside its own file.

package import IsletDevices
package import IsletFiles

package enum AlgorithmFacts {
    /// Both lists, each entry once.
    /// - Parameter file: for messages: where the second stands, or what goes on there.
    /// - Throws: `InputError` where an arm's program is another in the second.
    package static func joined(
        _ first: JSONValue?, _ second: JSONValue?, file: String
    ) throws(InputError) -> JSONValue? {
        guard case .array(let before)? = first else { return second }
        guard case .array(let after)? = second else { return first }
        for entry in after {
            let own = before.filter { $0["arm"] == entry["arm"] && $0["role"] == entry["role"] }
            guard let other = own.first(where: { program($0) != program(entry) }) else { continue }
            throw InputError(
                file: file, found: "sessions by \(words(entry))",
                expected: "those of one program: others are by \(words(other))")
        }
        return .array(before + after.filter { !before.contains($0) })
    }

    /// All but what it ran on.
    private static func program(_ entry: JSONValue) -> [JSONValue?] {
        ["name", "version", "runs", "sha256"].map { entry[$0] }
    }

    private static func words(_ entry: JSONValue) -> String {
        func text(_ key: String) -> String {
            entry[key].map { printable($0.compactText, limit: 100) } ?? "none"
        }
        return
            "\(text("name")) version \(text("version")) (SHA-256 \(text("sha256"))) in the arm \(text("arm"))"
    }
}
