import IsletDevices
import Testing

@testable import IsletFiles

/// What is JSON is read as JSON: in its strings nothing means anything.
@Suite struct JSONDocumentTests {
    private func refusal(_ text: String) -> InputError? {
        do {
            _ = try JSONDocument.parse(text, file: "x.json")
            return nil
        } catch {
            return error
        }
    }

    private static let texts = [
        Array(repeating: "*a", count: 27).joined(separator: " "), String(repeating: "? ", count: 40),
        "a\u{1}b\u{7F}\u{85}\u{2028}\u{FEFF}\u{FFFE}\u{FFFF}", "\"\\/\u{8}\u{C}\n\r\t", "😀 👩‍👩‍👧 é e\u{301}",
        "null", "true", "1e3", "", "~", "&x", "!!int 1", "# no comment", "- a", "{", "]", ": ", "\u{202E}",
    ]

    /// Written by us, as JSON or as YAML, a text reads back to itself.
    @Test(arguments: texts) func anyTextReadsBack(text: String) throws {
        let value = JSONValue.object([
            .init("name", .string(text)), .init(text + "k", .array([.string(text), .integer(-3)])),
        ])
        for written in [value.compactText, value.prettyText] {
            let read = try JSONDocument.parse(written, file: "x")
            #expect(read["name"]?.content == .scalar(text, plain: false))
            #expect(YAMLReader(read)[text + "k"]?.items.count == 2)
            #expect(try YAMLDocument.parse(written, file: "x")["name"] == read["name"])
        }
        let read = try YAMLDocument.parse(yamlText(value), file: "x")
        #expect(try read["name"].map { try YAMLReader($0).text() } == text)
    }

    @Test func everyNodeKnowsItsLineAndItsKind() throws {
        let root = try JSONDocument.parse("{\n \"a\": [1,\n -0.5e+3, true, null]}\n", file: "x")
        #expect(root["a"]?.origin.line == 2)
        guard case .sequence(let items)? = root["a"]?.content else {
            Issue.record("no list")
            return
        }
        #expect(items.map(\.origin.line) == [2, 3, 3, 3])
        #expect(items.map(\.content) == ["1", "-0.5e+3", "true", "null"].map { .scalar($0, plain: true) })
        #expect(items[3].isNothing)
    }

    @Test(arguments: [
        "", " ", "{", "[", "[1", "[1,", "[1,]", "{\"a\"", "{\"a\":", "{\"a\":1,", "{\"a\":1,}", "{a:1}", "01",
        "1.",
        ".5", "+1", "1e", "-", "nul", "NaN", "Infinity", "'a'", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"",
        "\"\\ud800\\u0041\"", "\"\u{1}\"", "[1] 2", "{\"a\":1,\"a\":2}", "[1 2]", "//", "\"\n\"",
    ])
    func whatIsNoJSONIsOneErrorWithItsPlace(text: String) throws {
        let problem = try #require(refusal(text), "\(text)")
        #expect(problem.kind == .badData && !problem.description.contains("\n"))
        // Whatever it is read into: one grammar, one refusal.
        let same = #expect(throws: InputError.self) {
            try JSONValue.read(Array(text.utf8), file: "x.json")
        }
        #expect(problem == same)
    }

    @Test func deepNestingIsRefusedAndOverflowsNothing() throws {
        for open in ["[", "{\"a\":", "[{\"a\":"] {
            _ = try #require(refusal(String(repeating: open, count: 200_000)))
        }
        let deep = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
        #expect(refusal(deep) == nil && refusal("[\(deep)]") != nil)
    }

    /// A file that is called so is JSON and nothing else; a pipe in a folder of ours is refused, not waited for.
    @Test func aFileIsReadUpToItsLimitAndIsAFile() throws {
        let problem = try #require(refusal(#"{"a":""# + String(repeating: "x", count: 1 << 20) + #""}"#))
        #expect(problem.expected == "at most 1048576 bytes of JSON")
        #expect(throws: InputError.self) { try JSONDocument.read(path: "/dev/zero", limitBytes: 100) }
        #expect(throws: InputError.self) { try openRegular("/dev/zero") }
        #expect(throws: InputError.self) { try openRegular("/") }
    }
}
