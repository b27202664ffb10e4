// A command that is only a row and a function has all that others have: API, document, keyboard, form, bounds, words, and what it does.

import Foundation
import IsletAlerts
import IsletDevices
import IsletFiles
import IsletKernel
import IsletTrials
import Testing

@testable import Dashboard
@testable import IsletLive
@testable import Pages

@Suite("A new command is a row and a function") struct NewCommandTests {
    private static let row = InputRow.tablets
    private static var page: SessionPage {
        SessionPage(.home, SessionView(id: "a", name: "A"), timeline: [], clearedShown: 10, PageContext())
    }
    private static let input = LiveInput("tablets", ["count": .whole(3)])

    private func command(_ body: String) throws -> WardCommand {
        try WardCommand(try JSONBody(Array(body.utf8)), [try #require(WardCommand.Row(Self.row))])
    }

    @Test func itIsSaidByTheAPIAndStandsInItsDocument() throws {
        #expect(try command(#"{"command":"tablets","count":3}"#).wish == .input(Self.input))
        for body in [
            #"{"command":"tablets"}"#, #"{"command":"tablets","count":"3"}"#,
            #"{"command":"tablets","count":3.5}"#, #"{"command":"tablets","count":3,"units":1}"#,
        ] {
            #expect(throws: Ward.Refusal.self, "\(body)") { try command(body) }
        }
        let row = try #require(WardCommand.Row(Self.row))
        let body = try #require(OpenAPIDocument.body(.command, commands: [row]))
        guard case .array(let all)? = body["oneOf"], let schema = all.first else {
            Issue.record("no schema: \(body.compactText)")
            return
        }
        let count = schema["properties"]?["count"]
        #expect(count?["type"] == .string("integer"))
        #expect(count?["minimum"] == .number(1) && count?["maximum"] == .number(10))
        #expect(schema["required"] == .array([.string("command"), .string("count")]))
        #expect(schema["description"] == .string(Self.row.summary))
    }

    @Test func itIsTypedAndTheHelpHasIt() {
        func typed(_ line: String) -> LiveInput? {
            guard case .success((.input(let input), _)) = LiveWords.parse(line, [Self.row]) else {
                return nil
            }
            return input
        }
        #expect(typed("tablets 3") == Self.input)
        #expect(typed("tablets") == nil && typed("tablets x") == nil && typed("tablets 3 4") == nil)
        #expect(LiveWords.help([Self.row]).hasPrefix("tablets 3  "))
    }

    @Test func itsFormHasItsFieldAndBounds() {
        let form = Self.page.act(Self.row).text
        #expect(form.contains(#"<form data-command="tablets">"#))
        #expect(form.contains(#"name="count" type="number""#))
        #expect(form.contains(#"min="1" max="10""#) && form.contains("How many"))
    }

    @Test func itIsJudgedByItsBoundsAndItsSubject() throws {
        func code(_ count: Int64, _ kind: SubjectKind = .person) -> String? {
            let input = LiveInput("tablets", ["count": .whole(count)])
            let context = LiveInputContext(policy: .bionicloop, kind: kind)
            return Self.row.problem(of: input, in: context)?.code
        }
        #expect(code(1) == nil && code(10) == nil)
        #expect(code(0) == "out-of-range" && code(11) == "out-of-range")
        #expect(code(3, .growRoom) == "not-of-subject")
    }

    @Test func itDoesWhatItsFunctionSaysAndTheTimelineTells() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            func glucose(_ count: Int64?) throws -> Double {
                let session = try LiveSession(try desk.opening(), journal: nil)
                session.advance(to: .minutes(60))
                if let count {
                    try session.session.executor.inspect {
                        try Self.row.perform(LiveInput("tablets", ["count": .whole(count)]), by: session.door)
                    }
                }
                session.advance(to: .minutes(120))
                return try #require(session.person?.plasmaTruth.last)
            }
            #expect(try glucose(10) > glucose(nil) + 10)
            // What lacks its field is no such input.
            let session = try LiveSession(try desk.opening(), journal: nil)
            #expect(throws: LiveRefusal.self) {
                try session.session.executor.inspect {
                    try Self.row.perform(LiveInput("tablets"), by: session.door)
                }
            }
        }
        let words = TimelineWords(telling: Self.page.telling)
            .words(Self.input, as: Self.row)
        #expect(words.ask.text == "note 3 glucose tablets" && words.done?.text == "Glucose tablets: 3")
    }
}
