import Foundation
import Testing

/// How a file in Sources looks, whatever it says.
@Suite struct FileTests {
    /// A file ends with a line break, and what follows it counts as a line here.
    @Test func noFileIsLongerThan900Lines() {
        for file in Project.all {
            #expect(file.lines.count <= 901, "\(file.path):\(file.lines.count): too long")
        }
    }

    /// Functions that were longer when the limit came, with their lengths: they may shrink, and no other may join them.
    private static let longer = [
        "Session.swift init": 135, "ServeCommand.swift serve": 105, "LoopController+Step.swift finish": 104,
        "StudySummary.swift init": 102, "SweepFigure.swift figure": 83,
        "VerifyCommand.swift check": 76, "PreparedPolicy.swift init": 74,
    ]

    @Test func noFunctionIsLongerThan70Lines() {
        var met: Set<String> = []
        for file in Project.sources {
            for function in functions(of: file) where function.lines > 70 {
                let name = "\(file.path.split(separator: "/").last ?? "") \(function.name)"
                let limit = Self.longer[name] ?? 70
                met.insert(name)
                #expect(
                    function.lines <= limit,
                    "\(file.path):\(function.line): \(function.name) has \(function.lines) lines, at most \(limit)"
                )
            }
        }
        #expect(
            met == Set(Self.longer.keys),
            "what has shrunk leaves the list: \(Set(Self.longer.keys).subtracting(met))")
    }

    /// By what `swift format` makes of them: a function ends at the brace that stands below its first letter.
    private func functions(of file: SourceFile) -> [(name: String, line: Int, lines: Int)] {
        file.code.enumerated().compactMap { begin, text in
            guard has(text, "func ") || has(text, "init") else { return nil }
            let words = Word.all(in: text)
            guard let place = words.firstIndex(where: { $0.text == "func" || $0.text == "init" }),
                words[..<place].allSatisfy({ Self.modifiers.contains($0.text) })
            else { return nil }
            let indent = text.prefix { $0 == " " }
            let isFunction = words[place].text == "func"
            let name = isFunction && words.count > place + 1 ? words[place + 1].text : words[place].text
            for (offset, line) in file.code[begin...].enumerated() {
                if line.hasPrefix(indent + "}") { return (name, begin + 1, offset + 1) }
                let isInside = line.hasPrefix(indent + " ") || line.hasPrefix(indent + ")")
                if offset > 0, !line.isEmpty, !isInside { return nil }
            }
            return nil
        }
    }

    private static let modifiers: Set<String> = [
        "public", "package", "internal", "fileprivate", "private", "static", "class", "final", "mutating",
        "nonisolated",
        "override", "convenience", "isolated", "discardableResult", "inlinable", "MainActor", "consuming",
        "borrowing",
    ]

    @Test func everyFileOpensWithAComment() {
        for file in Project.sources {
            // A file may import first and then open with its one type's documentation.
            let first = file.lines.first { !$0.isEmpty && !$0.contains(#/^(@\w+ )*(\w+ )?import\s/#) }
            #expect(
                first?.hasPrefix("//") == true || first?.hasPrefix("/*") == true, "\(file.path):1: no comment"
            )
        }
    }

    /// `assert` and `precondition` state what the program itself keeps; what comes from outside is refused with a message.
    @Test func sourcesForceNothingAndLeaveNothingForLater() {
        for file in Project.sources {
            for (index, line) in file.code.enumerated() {
                for word in ["try!", "fatalError", "as!", "print("] where has(line, word) {
                    if word == "print(", !Floors.isEngine(file) { continue }
                    #expect(Bool(false), "\(file.path):\(index + 1): \(word)")
                }
                #expect(!Self.forces(line), "\(file.path):\(index + 1): a force unwrap")
                // Where files and arguments are read, nothing may end the program.
                guard !Floors.isEngine(file) else { continue }
                for word in ["precondition(", "preconditionFailure(", "assertionFailure("]
                where has(line, word) {
                    #expect(Bool(false), "\(file.path):\(index + 1): \(word) on a path that input reaches")
                }
            }
            for (index, line) in file.lines.enumerated() {
                for word in ["TODO", "FIXME", "XXX", "HACK"] where has(line, word) {
                    #expect(Bool(false), "\(file.path):\(index + 1): \(word)")
                }
            }
        }
    }

    /// Whether a line takes for granted that something is there.
    private static func forces(_ line: some StringProtocol) -> Bool {
        line.utf8.contains(UInt8(ascii: "!")) && String(line).contains(#/[\w)\]]!(?!=)/#)
    }

    @Test func aForceUnwrapIsFound() {
        for line in ["rows.first!", "f(x)!.y", "a[0]! + 1", "let x: Int! = nil"] {
            #expect(Self.forces(line), "\(line)")
        }
        for line in ["if !x, !(y) {", "a != b", "a!=b", "return !f()", "x && !y"] {
            #expect(!Self.forces(line), "\(line)")
        }
    }

    @Test func nothingForbidsOthersToDependOnThePackage() throws {
        let manifest = try Project.text("Package.swift").split(separator: "\n").filter { !$0.contains("///") }
        // None but in our own builds, which say so in the environment.
        #expect(
            manifest.filter { $0.contains("unsafe") } == [
                #"    ? [] : [.unsafeFlags(["-O"], .when(configuration: .debug))]"#,
                #"    Context.environment["ISLET_OPTIMISED"] == nil ? [] : [.unsafeFlags(["-O2"], .when(configuration: .debug))]"#,
                #"let early: [SwiftSetting] = Context.environment["ISLET_EARLY"] == nil ? [] : [.unsafeFlags(["-disable-cmo"])]"#,
            ])
        #expect(manifest.contains(#"    Context.environment["ISLET_OPTIMISED"] == nil"#))
        // Flags of release builds have one place.
        for path in [
            "Makefile", ".ci/run", ".ci/test.sh", ".ci/trial.sh", "README.md", "HACKING.md", "SWARM.md",
        ] {
            #expect(
                !(try Project.text(path)).contains("swift build -c release"), "\(path): use .ci/release.sh")
            #expect(!(try Project.text(path)).contains("swift run -c release"), "\(path): use .ci/release.sh")
        }
        #expect(try Project.text(".ci/release.sh").contains("-enforce-exclusivity=unchecked"))
    }

    /// A first `make trial` resolves three packages and builds one program, whatever other products there are.
    @Test func aFirstTrialBuildsNothingForSessionsInRealTime() throws {
        // A package is resolved where some target names a product of it without the trait. `.ci/test.sh` looks at what SwiftPM made of it.
        let manifest = try Project.text("Package.swift")
        let named = manifest.matches(of: #/\.product\(name: "[^"]+", package: "([^"]+)"\)/#)
            .map { String($0.output.1).lowercased() }
        #expect(Set(named) == ["swift-argument-parser", "grdb.swift"])
        #expect(manifest.contains("condition: .when(traits: [\"Serve\"])"))
        #expect(manifest.contains("condition: .when(traits: [\"TLS\"])"))
        let trial = try Project.text(".ci/trial.sh")
        let builds = trial.matches(of: #/release\.sh build [^\n)]*/#).map { String($0.output) }
        #expect(builds == ["release.sh build --product islet", "release.sh build --show-bin-path"])
    }

    /// One file that calls libm keeps the numeric fingerprint honest.
    @Test func engineCodeReachesTheLibraryOfTheSystemInNamedPlacesOnly() {
        let allowed = ["IsletKernel/LibM.swift", "SimulationKernel/SessionExecutor.swift"]
        for file in Project.sources
        where Floors.isEngine(file) && file.target != "IsletNumerics"
            && !allowed.contains(where: { file.path.hasSuffix("/\($0)") })
        {
            for (index, line) in file.code.enumerated() {
                #expect(!line.hasSuffix("import Glibc"), "\(file.path):\(index + 1): import Glibc")
            }
        }
    }
}
