import Foundation
import Testing

/// Rule 6 of DETERMINISM.md: what engine and model code must not say.
@Suite struct DeterminismTests {
    /// The exception: `start` is the one place that starts tasks.
    private func isExcepted(_ word: String, in path: String) -> Bool {
        switch word {
        case "Task(", "Task {": path == "Sources/IsletKernel/SimulationKernel/SessionExecutor.swift"
        default: false
        }
    }

    private static let forbidden = [
        "Task {", "Task(", "Task.detached", "Task.sleep", "Task.yield", "Task.immediate", "@concurrent",
        "Date(", "Date.now", "UUID(", "SystemRandomNumberGenerator", "Hasher(", ".hashValue", "DispatchQueue",
        "DispatchTime", "import Dispatch", "ContinuousClock", "SuspendingClock", "clock_gettime",
        "gettimeofday", "arc4random", "drand48", "getrandom", "AsyncStream", "Thread(", "ProcessInfo",
        "globalActor", "@MainActor",
    ]
    /// Draws without a generator of ours.
    private static let ungenerated = [".random(in:", ".shuffled()", ".shuffle()", ".randomElement()"]

    @Test func engineAndModelCodeSaysNothingThatDependsOnTheMachine() {
        for file in Project.sources where Floors.isEngine(file) {
            for (index, line) in file.code.enumerated() {
                for word in Self.forbidden where contains(line, word) {
                    #expect(isExcepted(word, in: file.path), "\(file.path):\(index + 1): \(word)")
                }
                for word in Self.ungenerated where has(line, word) {
                    #expect(
                        line.contains("using:"), "\(file.path):\(index + 1): \(word) without a generator")
                }
            }
        }
    }

    /// Whether `word` stands in `line` and is not the end of a longer name.
    private func contains(_ line: String, _ word: String) -> Bool {
        guard has(line, word) else { return false }
        var rest = line[...]
        while let range = rest.range(of: word) {
            let isWhole =
                range.lowerBound == line.startIndex || !(word.first?.isLetter ?? false)
                || !isNamePart(line[line.index(before: range.lowerBound)])
            if isWhole { return true }
            rest = rest[range.upperBound...]
        }
        return false
    }

    private func isNamePart(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }

    @Test func theKernelStartsTasksInOnePlaceOnly() {
        let places = Project.sources.filter { $0.target == "IsletKernel" }.flatMap { file in
            file.code.enumerated().filter { contains($0.element, "Task(") || contains($0.element, "Task {") }
                .map { "\(file.path):\($0.offset + 1)" }
        }
        #expect(places.count == 1, "\(places)")
    }

    /// As far as a scan can tell: names that a file declares as a Set or a Dictionary and then walks through.
    @Test func nothingWalksThroughASetOrADictionary() {
        for file in Project.sources where Floors.isEngine(file) {
            let names = unorderedNames(in: file)
            for (index, line) in file.code.enumerated() {
                for name in names where walks(line, through: name) {
                    #expect(line.contains(".sorted"), "\(file.path):\(index + 1): walks through \(name)")
                }
            }
        }
    }

    /// Declarations such as `var parked: [ObjectIdentifier: Wakeup]`, `let seen: Set<Int>`, `= Set(`.
    private func unorderedNames(in file: SourceFile) -> [String] {
        file.code.compactMap { line in
            guard has(line, "var ") || has(line, "let ") else { return nil }
            let declaration =
                #/\b(?:var|let)\s+(\w+)\s*(?::\s*(?:Set<|Dictionary<|\[[^\[\]()]*:[^\[\]]*\])|=\s*(?:Set[<(]|Dictionary[<(]|\[[\w.]+\s*:\s*[^\]]+\]\())/#
            return (try? declaration.firstMatch(in: line)).map { String($0.output.1) }
        }
    }

    private func walks(_ line: String, through name: String) -> Bool {
        let words = [
            "in \(name) ", "in \(name).", "\(name).values", "\(name).keys", "\(name).map", "\(name).forEach",
            "\(name).reduce", "\(name).filter", "\(name).compactMap", "\(name).flatMap", "\(name).first",
            "\(name).min", "\(name).max", "Array(\(name))", "\(name).enumerated", "\(name).popFirst",
        ]
        return words.contains { contains(line, $0) }
    }

    @Test func theScanFindsWhatItIsFor() {
        let bad = SourceFile(
            path: "Sources/X/X.swift", lines: [],
            code: Project.blanked([
                "var parked: [ObjectIdentifier: Int] = [:]  // a comment", "let seen: Set<Int> = []",
                "let table = [String: Int]()", "let list: [Int] = []",
                "for (a, b) in parked {", "for x in seen.sorted() {", "let text = \"Task { Date()\"",
                "Task { await go() }", "MyTask { }", "let x = parked.values.first",
            ]))
        #expect(unorderedNames(in: bad) == ["parked", "seen", "table"])
        #expect(walks(bad.code[4], through: "parked") && walks(bad.code[9], through: "parked"))
        #expect(!contains(bad.code[6], "Task {") && !contains(bad.code[6], "Date("))
        #expect(contains(bad.code[7], "Task {") && !contains(bad.code[8], "Task {"))
        #expect(Project.blanked(["a /* b", "c */ d // e", "\"\\\"//\" f"]) == ["a ", " d ", " f"])
    }
}
