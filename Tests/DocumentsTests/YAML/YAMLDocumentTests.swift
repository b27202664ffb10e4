import IsletDevices
import Testing

@testable import IsletFiles

/// The problem that reading `text` ends in; nil when it is a document.
private func refusal(_ text: String) -> InputError? {
    do {
        _ = try YAMLDocument.parse(text, file: "x.yaml")
        return nil
    } catch {
        return error
    }
}

@Suite struct YAMLDocumentTests {
    @Test func everyNodeKnowsItsLine() throws {
        let document = try YAMLDocument.parse("a: 1\nb:\n  - x\n  - { c: \"2\" }\n", file: "x.yaml")
        #expect(document["a"]?.origin == .init(file: "x.yaml", line: 1))
        let items = YAMLReader(document)["b"]?.items ?? []
        #expect(items.map(\.node.origin.line) == [3, 4])
        #expect(items.last?["c"]?.path == "b[1].c")
        #expect(items.last?["c"]?.node.content == .scalar("2", plain: false))
    }

    @Test(arguments: [
        ("", "nothing"), ("# only a comment\n", "nothing"), ("a: 1\na: 2\n", "the key `a` twice"),
        ("a: 1\n---\nb: 2\n", "a second document"), ("a:\n\t- 1\n", "a tab"),
        ("a: &x 1\n", "the anchor `&x`"),
        ("a: *x\n", "an alias"), ("a: !!int 1\n", "the tag `tag:yaml.org,2002:int`"),
        ("? [a, b]\n: 1\n", "a list of 2 as a key"), ("a: [1, 2\n", "malformed YAML"),
        ("a: \u{0}", "malformed YAML"),
        ("a: &x [*x]\n", "an alias"),
    ])
    func whatIsNotPlainYAMLIsOneError(text: String, found: String) throws {
        let problem = try #require(refusal(text))
        #expect(problem.found.hasPrefix(found), "\(problem)")
        #expect(problem.kind == .badData)
        #expect(!problem.description.contains("\n"))
    }

    @Test(arguments: [
        String(repeating: "[", count: 100_000), String(repeating: "{a: ", count: 50_000),
        String(repeating: "- ", count: 50_000),
        String(repeating: "[", count: 999) + String(repeating: "]", count: 999),
        (0..<1200).map { String(repeating: " ", count: $0) + "a:" }.joined(separator: "\n"),
        String(repeating: "? ", count: 50_000),
        String(repeating: "[", count: 33) + String(repeating: "]", count: 33),
    ])
    func deepNestingIsRefusedAndOverflowsNothing(text: String) throws {
        _ = try #require(refusal(text))
    }

    @Test func aliasesInsideKeysAreNeverExpanded() throws {
        var bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        for level in 1..<12 {
            let references = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
            bomb += "a\(level): &a\(level) [\(references)]\n"
        }
        let problem = try #require(refusal(bomb + "? *a11\n: 1\n"))
        #expect(problem.found.contains("aliases"))
    }

    @Test func aFileIsReadUpToItsLimit() throws {
        let problem = try #require(refusal(String(repeating: "a: b\n", count: 1 << 18)))
        #expect(problem.expected == "at most 1048576 bytes of YAML")
    }

    @Test func whatIsFoundIsPrintedOnOneLineWithoutControls() {
        let node = YAMLNode(.scalar("a\u{1B}[31m\n\u{202E}b", plain: true), origin: .init(file: "f"))
        #expect(node.summary == "`a\\u{1b}[31m\\u{a}\\u{202e}b`")
        #expect(printable(String(repeating: "x", count: 100), limit: 3) == "xxx…")
    }

    /// Fuzzing found names with control characters in stores: each one broke its refusal into several lines.
    @Test func aProblemIsOneLineWhateverItsPartsHold() {
        let problem = InputError(file: "a\nb", line: 3, found: "`x\r\u{2028}y`", expected: "no\u{85}control")
        #expect(problem.description == "a\\u{a}b:3: found `x\\u{d}\\u{2028}y`, expected no\\u{85}control")
    }

    @Test func nearMissesAreNamedAndStrangersAreNot() {
        let keys = ["study", "seed", "duration", "cohort", "scenario", "arms", "sensor", "pump"]
        #expect(nearest(to: "senser", among: keys) == "sensor")
        #expect(nearest(to: "Seed", among: keys) == "seed")
        #expect(nearest(to: "amrs", among: keys) == "arms")
        #expect(nearest(to: "banana", among: keys) == nil)
        #expect(nearest(to: String(repeating: "s", count: 1_000_000), among: keys) == nil)
    }
}

@Suite struct TimeSpanTests {
    @Test(
        arguments: [
            ("90s", 90), ("5m", 300), ("2h", 7200), ("7d", 604_800), ("1h30m", 5400), ("52w", 31_449_600),
            ("0s", 0),
            ("1w2d3h4m5s", 788_645), ("36500d", 3_153_600_000),
        ] as [(String, Int64)])
    func readsLengths(text: String, seconds: Int64) throws {
        let span = try #require(TimeSpan(text))
        #expect(span.seconds == seconds)
        #expect(TimeSpan(span.description) == span)
    }

    @Test(arguments: [
        "", "5", "m", "-5m", "+5m", "5 m", "5M", "1m1h", "1h1h", "1.5h", "36501d", "9999999999999999999999w",
        "५m", "5m ",
        "1e3s", "inf", "nan",
    ])
    func refusesWhatIsNoLength(text: String) {
        #expect(TimeSpan(text) == nil)
    }
}
