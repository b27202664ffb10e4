// A program of somebody's own as a study names it: `algorithm: { python: mine.py, gain: 0.4 }`.
//
// Guarantees: two that say the same are equal, wherever they stand; once the program has been started its file's SHA-256 is a part of the study, and another file under
// the same name is refused. Does not: start anything (`PluginHost`).

import IsletDevices
package import IsletFiles
import IsletLoop

package struct PluginReference: Hashable, Sendable {
    package enum Program: Hashable, Sendable {
        /// A file that Python runs.
        case python(String)
        /// A program and its arguments.
        case command([String])
        /// A shared library in C, loaded by a process of Islet's own.
        case library(String)

        package var key: String {
            switch self {
            case .python: "python"
            case .command: "command"
            case .library: "library"
            }
        }
    }

    package struct Parameter: Hashable, Sendable {
        package var name: String
        package var value: Double

        package init(_ name: String, _ value: Double) { (self.name, self.value) = (name, value) }
    }

    package var program: Program
    /// As the study gives them, in its order; the program says which there are.
    package var parameters: [Parameter] = []
    /// How many people are asked at once in `together`.
    package var group = 100
    /// The longest that a call may take.
    package var timeout = TimeSpan(seconds: 60)
    /// The most memory that the program's process may take, MiB.
    package var memoryMiB = 1024
    /// Whether a library is loaded by this program itself, which a fault in it then takes down.
    package var isInProcess = false
    /// SHA-256 of the program's files, hexadecimal; nil where it has not been started.
    package var sha256: String?
    package var origin = Origin()

    package init(_ program: Program) { self.program = program }

    /// Where a study names it; no part of what it is.
    package struct Origin: Hashable, Sendable {
        package var file = "algorithm"
        package var line: Int?
        package var lines: [String: Int] = [:]
        package static func == (a: Self, b: Self) -> Bool { true }
        package func hash(into hasher: inout Hasher) {}
    }

    /// Without the folders that it stands in.
    var unplaced: PluginReference {
        func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
        var own = self
        switch program {
        case .python(let file): own.program = .python(name(file))
        case .library(let file): own.program = .library(name(file))
        case .command(let words): own.program = .command(words.map { $0.hasPrefix("-") ? $0 : name($0) })
        }
        return own
    }

    /// As tables call it, where the arm has no name.
    package var name: String {
        let word: String
        switch program {
        case .python(let file), .library(let file): word = file
        case .command(let words):
            word = words.dropFirst().first { !$0.hasPrefix("-") } ?? words.first ?? "program"
        }
        let file = word.split(separator: "/").last.map(String.init) ?? word
        let stem = file.lastIndex(of: ".").map { $0 > file.startIndex ? String(file[..<$0]) : file } ?? file
        return TextRule.name.accepts(stem) ? stem : "program"
    }

    /// For messages.
    package var words: String {
        switch program {
        case .python(let file): "python: \(printable(file, limit: 200))"
        case .library(let file): "library: \(printable(file, limit: 200))"
        case .command(let words): "command: [\(printable(words.joined(separator: ", "), limit: 200))]"
        }
    }

    package static let keys = ["python", "command", "library"]
    static let settings = ["group", "timeout", "memory", "inProcess", "sha256"]

    /// A program and its parameters.
    static let mapping = MappingShape(
        summary: "A program of one's own, and its parameters.", keys: keyShapes, exactlyOne: keys,
        onlyBeside: [(key: "inProcess", other: "library")], chosenBy: keys, others: .number(-1e300...1e300))

    static let codec = Codec<PluginReference>(.mapping(mapping)) { reader throws(InputError) in
        try decode(reader)
    } encode: {
        $0.json
    }

    /// The keys of the shape; parameters are the program's own.
    static let keyShapes: [KeyShape] = [
        KeyShape(
            "python", .text(.path),
            "A file that defines a dosing algorithm with `islet.algorithm` (docs/algorithms.md), relative to the study's file; every other key beside is a parameter of its own."
        ),
        KeyShape(
            "command", .list(.text(.path), count: 1...100),
            "A program of any language that speaks `islet-step/1`, and its arguments."),
        KeyShape(
            "library", .text(.path),
            "A shared library in C with `islet_algorithm` (docs/algorithms.md), loaded by a process of Islet's own."
        ),
        KeyShape(
            "group", .wholeNumber(1...1000),
            "How many people a program that runs `together` is asked about at once.", defaultValue: 100),
        KeyShape(
            "timeout", .text(.timeSpan(upTo: TimeSpan(seconds: 3600), saying: "1h")),
            "How long the program may take for one answer; then the run ends.", defaultValue: "60s"),
        KeyShape(
            "memory", .wholeNumber(16...1_000_000), "How much memory its process may take, MiB.",
            defaultValue: 1024),
        KeyShape(
            "inProcess", .flag,
            "Whether a library is loaded by the program that runs the study: faster, and a fault in it ends the run.",
            defaultValue: .bool(false)),
        KeyShape("sha256", .text(.sha256), "Of its files: another one is refused.", leftOut: "any"),
    ]

    static func decode(_ reader: YAMLReader) throws(InputError) -> PluginReference {
        var reference: PluginReference
        if let file = reader["python"] {
            reference = PluginReference(.python(try file.text()))
        } else if let file = reader["library"] {
            reference = PluginReference(.library(try file.text()))
        } else {
            var words: [String] = []
            for item in reader["command"]?.items ?? [] { words.append(try item.text()) }
            reference = PluginReference(.command(words))
        }
        reference.origin.file = reader.node.origin.file
        reference.origin.line = reader.node.origin.line
        if let value = reader["group"] { reference.group = Int(try value.wholeNumber(in: 1...1000)) }
        if let value = reader["timeout"] {
            reference.timeout = TimeSpan(try value.text()) ?? reference.timeout
        }
        if let value = reader["memory"] {
            reference.memoryMiB = Int(try value.wholeNumber(in: 16...1_000_000))
        }
        if let value = reader["inProcess"] { reference.isInProcess = try value.flag() }
        if let value = reader["sha256"] { reference.sha256 = try value.text() }
        guard case .mapping(let entries) = reader.node.content else { return reference }
        for entry in entries where !(keys + settings).contains(entry.key) {
            guard TextRule.name.accepts(entry.key), let value = reader[entry.key] else {
                throw InputError(
                    file: entry.keyOrigin.file, line: entry.keyOrigin.line,
                    found: "the key \(quotedForMessage(entry.key)) in \(reader.path)",
                    expected: "a parameter's name")
            }
            reference.parameters.append(
                Parameter(entry.key, try value.number(in: -1e300...1e300)))
            reference.origin.lines[entry.key] = entry.keyOrigin.line
        }
        return reference
    }

    var json: JSONValue {
        var members: [JSONValue.Member] = []
        switch program {
        case .python(let file): members.append(.init("python", .string(file)))
        case .library(let file): members.append(.init("library", .string(file)))
        case .command(let words): members.append(.init("command", .array(words.map { .string($0) })))
        }
        if group != 100 { members.append(.init("group", .integer(Int64(group)))) }
        if timeout != TimeSpan(seconds: 60) { members.append(.init("timeout", .string(timeout.description))) }
        if memoryMiB != 1024 { members.append(.init("memory", .integer(Int64(memoryMiB)))) }
        if isInProcess { members.append(.init("inProcess", .bool(true))) }
        if let sha256 { members.append(.init("sha256", .string(sha256))) }
        return .object(members + parameters.map { .init($0.name, .number($0.value)) })
    }
}

extension TextRule {
    /// 64 hexadecimal digits.
    static let sha256 = TextRule(
        expectation: "64 hexadecimal digits, lower case", pattern: "^[0-9a-f]{64}$",
        accepts: {
            $0.utf8.count == 64 && $0.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        })
}

/// The program of an arm: its reference, and who speaks to it once it may run.
package struct ArmPlugin: Hashable, Sendable {
    package var reference: PluginReference
    /// nil until somebody allows it (`Study.startAlgorithms`).
    package var host: PluginHost?

    package static func == (a: Self, b: Self) -> Bool { a.reference == b.reference }
    package func hash(into hasher: inout Hasher) { hasher.combine(reference) }

    /// - Throws: `InputError` where nobody has allowed it.
    func started() throws(InputError) -> PluginHost {
        if let host { return host }
        throw InputError(
            file: reference.origin.file, line: reference.origin.line,
            found: "an algorithm that is a program of its own (\(reference.words))",
            expected:
                "--allow-algorithm, which lets `islet run`, `verify`, `replay`, `export` and `report` start it; live sessions run built-in algorithms"
        )
    }

    /// What its arm says of it until it has been started: its name. A session of it doesn't begin before that (`started`).
    var unstarted: AlgorithmKind {
        AlgorithmKind(id: reference.name, summary: reference.words, basalSource: .programmed) {
            [name = reference.name] in
            PluginAlgorithm(name: name, version: 1, basalSource: .programmed, forecastMinutes: 1)
        }
    }
}

/// To the loop: an algorithm that answers from outside.
struct PluginAlgorithm: OutsideAlgorithm {
    let name: String
    let version: Int
    let basalSource: BasalSource
    let forecastMinutes: Double?
}
