// What is imported is used, and what a target depends on is imported.
//
// Guarantees: an import without a trace of its module in the file is found. Does not: find one whose names the file uses for
// something else; the scan reads words, not meanings.

import Foundation
import Testing

@Suite struct ImportTests {
    /// Words of modules from outside that our code can be expected to use; others are not judged.
    nonisolated(unsafe) private static let outside: [String: Regex<Substring>] = [
        "Synchronization": #/\b(?:Atomic|Mutex|atomic)/#,
        "Yams": #/\bYams|\bParser|\bNode\b|\bMark\b|YamlError/#,
        "GRDB": #/\bDatabase|\bRow\b|\bStatement|\bSQL/#,
        "GRDBSQLite": #/\bsqlite3_|\bSQLITE_/#,
        "ArgumentParser":
            #/\b(?:ParsableCommand|AsyncParsableCommand|ParsableArguments|CommandConfiguration|ExpressibleByArgument|ValidationError|ExitCode|@?Option|@?Flag|@?Argument|ArgumentHelp|CleanExit)\b/#,
        "Foundation":
            #/\b(?:Foundation|URL\w*|Data|Date|FileManager|FileHandle|NSCondition|NS\w+|JSON(?:Serialization|Decoder|Encoder)|JSONEncoder|ProcessInfo|Process|Pipe|String\((?:format|contentsOf)|UUID|Calendar|TimeZone|Locale|DateFormatter|ISO8601\w+|Thread|RunLoop|Bundle|CharacterSet|LocalizedError|pow|exp|log|log2|log10|sin|cos|tanh|erfc?|lround|floor|ceil|fabs|sqrt|hypot|fmod|getenv|setenv|kill|errno|usleep|exit|open|close|read|write|stat|fputs|stderr|stdout|gettimeofday|clock_gettime|getpid|CommandLine)\b|\.(?:range\(of|replacingOccurrences|components\(|trimmingCharacters|contains\("|appending\(path|write\(to|utf8\)|formatted|data\(using|hasSuffix|rounded|capitalized|enumerateLines|isEqual|firstRange|padding\(|localizedDescription|timeIntervalSince|path\()|\bstrtod\b|\bmemcpy|\.self(?:Date|URL)/#,
        "Glibc":
            #/\b(?:open|close|read|write|fstat|stat|isatty|ioctl|getenv|setenv|strerror_r|poll\w*|pthread_\w+|errno|E[A-Z]{3,}|[SO]_[A-Z]+|exp|log|log2|pow|sin|cos|tanh|sinh|erfc?|sqrt|floor|lgamma|cbrt|fabs|hypot|memcmp|memcpy|clock_gettime|nanosleep|signal|kill|sigaction|SIG\w+|rename\w*|unlink|fsync|mkdir|mkstemp|fchmod|umask|lseek|pread|pwrite|ftruncate|memfd_create|fcntl|flock|getpid|sysconf|snprintf|strtod|usleep|sleep|exit|_exit|dl\w+|timespec|sched\w*|uname|getrusage|mmap|munmap|malloc\w*|free|expm1|log1p|atan|log10|STD\w+_FILENO|link\w*|dup2?|pipe\w*|waitpid|fopen|fclose|[gs]etrlimit|getcwd|realpath|TIOC\w+|winsize|termios)\b/#,
        "Testing": #/@Test|@Suite|#expect|#require|\bTag\b|\bIssue\.record\b/#,
    ]

    /// The names that each module of ours declares, at any level, and its argument labels.
    private static let names: [String: Set<String>] = {
        var names: [String: Set<String>] = [:]
        for file in Project.all { names[file.module, default: []].formUnion(declared(in: file)) }
        return names
    }()

    private static let declarations: Set<String> = [
        "struct", "class", "enum", "protocol", "actor", "func", "typealias", "associatedtype", "let", "var",
        "macro",
    ]

    private static func declared(in file: SourceFile) -> Set<String> {
        var found: Set<String> = []
        for line in file.code {
            let words = Word.all(in: line)
            for (before, word) in zip(words, words.dropFirst()) where declarations.contains(before.text) {
                found.insert(word.text)
            }
            if words.prefix(2).contains(where: { $0.text == "case" }) {
                found.formUnion(words.map(\.text).filter { $0.first?.isLowercase == true })
            }
            if words.contains(where: { $0.text == "init" || $0.text == "subscript" }) {
                for (place, word) in words.enumerated() where word.isBeforeColon {
                    // The label, where a parameter has two names.
                    found.insert(word.text)
                    if place > 0 { found.insert(words[place - 1].text) }
                }
            }
        }
        return found
    }

    static func unusedImports(of file: SourceFile) -> [(line: Int, module: String)] {
        let isImport = #/^(?:@\w+ )*(?:\w+ )?import\s.*/#
        var text = file.code.filter { !has($0, "import ") || $0.wholeMatch(of: isImport) == nil }
        // Interpolations count as strings in `code`.
        text += file.lines.compactMap { line in
            line.firstRange(of: "\\(").map { String(line[$0.upperBound...]) }
        }
        let words = Set(text.flatMap { Word.all(in: $0).map(\.text) })
        return file.imports.filter { _, module in
            if let own = names[module] { return own.isDisjoint(with: words) }
            guard let pattern = outside[module] else { return false }
            // The other kind sees no boundary in `ProcessInfo.processInfo`.
            let simple = pattern.wordBoundaryKind(.simple)
            return !text.contains { $0.contains(simple) }
        }
    }

    @Test func everyImportIsUsed() {
        for file in Project.all {
            for (line, module) in Self.unusedImports(of: file) {
                #expect(Bool(false), "\(file.path):\(line): nothing uses \(module)")
            }
        }
    }

    @Test func everyDependencyIsImportedAndEveryImportIsADependency() {
        let own = Set(Manifest.targets.map(\.name))
        for target in Manifest.targets {
            let files = Project.all.filter { $0.path.hasPrefix(target.folder + "/") }
            guard !files.isEmpty else { continue }
            let imported = Set(files.flatMap { $0.imports.map(\.module) })
            for dependency in target.dependencies where !imported.contains(dependency) {
                // A program is a dependency where its tests run it.
                if target.isTest, dependency.hasPrefix("islet") { continue }
                #expect(Bool(false), "Package.swift: nothing in \(target.name) imports \(dependency)")
            }
            for module in imported.sorted() where own.contains(module) && module != target.name {
                #expect(
                    target.dependencies.contains(module),
                    "Package.swift: \(target.name) imports \(module), undeclared")
            }
        }
    }

    @Test func theScanFindsWhatItIsFor() {
        let lines = [
            "import IsletDevices", "public import Synchronization", "@testable import IsletKernel",
            "import struct DriverContract.Nothing", "let theFirst = Instant.start  // Records",
        ]
        let file = SourceFile(path: "Sources/X/X.swift", lines: lines, code: Project.blanked(lines))
        #expect(
            file.imports.map(\.module) == [
                "IsletDevices", "Synchronization", "IsletKernel", "DriverContract",
            ])
        let unused = Self.unusedImports(of: file).map(\.module)
        #expect(unused.contains("Synchronization") && unused.contains("DriverContract"))
        #expect(!unused.contains("IsletKernel"))
        let text = """
                    // Floor 0
                    .systemLibrary(name: "C", pkgConfig: "c", providers: [.apt(["c"])]),
                    module("A"),
                    // Floor 1
                    module("B", ["A", .product(name: "Q", package: "R")]),
                    .executableTarget(name: "bench", dependencies: ["B"], path: "Benchmarks/B", swiftSettings: strict),
                    tests("BTests", ["B"]),
            """
        let targets = Manifest.parsed(text)
        #expect(targets.map(\.name) == ["C", "A", "B", "bench", "BTests"])
        #expect(targets.map(\.floor) == [0, 0, 1, nil, nil])
        #expect(targets.map(\.dependencies) == [[], [], ["A", "Q"], ["B"], ["B"]])
    }
}
