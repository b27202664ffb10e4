// A command that was refused is nowhere shown as done: not in the page's timeline, the API's events, a terminal's lines or its answer. Every row of the
// table of commands is tried, so that a new command is covered as soon as it is one.

import Foundation
import IsletAlerts
import IsletDevices
import IsletFiles
import IsletKernel
import IsletLoop
import Synchronization
import Testing

@testable import Dashboard
@testable import IsletLive
@testable import Pages

@Suite("A refused command nowhere reads as done") struct RefusalTests {
    /// One input of each row, with each field at its lower end.
    private static let inputs: [(name: String, input: LiveInput)] = WardCommand.rows.compactMap { row in
        guard let bytes = try? JSONSerialization.data(withJSONObject: CommandTests.body(row)),
            let command = try? WardCommand(try JSONBody(Array(bytes))), case .input(let input) = command.wish
        else { return nil }
        return (row.name, input)
    }

    /// The app's comings and goings are no news, taken or refused.
    private static let isNoNews: Set<String> = ["foreground", "background", "bannerShown"]

    @Test func everyRowOfTheTableButThePaceIsAnInput() {
        #expect(Set(Self.inputs.map(\.name)) == Set(WardCommand.rows.map(\.name)).subtracting(["pace"]))
        for (name, input) in Self.inputs where name != "threshold" { #expect(input.name == name) }
    }

    // MARK: By each door

    /// Whatever the session makes of a command: the answer and the timeline say the same.
    @Test func anAnswerByTheAPIAndItsEventSayTheSame() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 1)
            func newest() throws -> [String: Any] {
                let all = desk.answer("GET", "/api/sessions/\(id)/timeline").json["events"]
                return try #require((all as? [[String: Any]])?.last { $0["kind"] as? String != "alert" })
            }
            var refused = 0
            for row in WardCommand.rows where !["foreground", "background", "pace"].contains(row.name) {
                var bodies = [CommandTests.body(row)]
                for case (let name, .number(let range)) in row.fields.map({ ($0.name, $0.kind) }) {
                    var body = bodies[0]
                    body[name] = range.upperBound + 1
                    bodies.append(body)
                }
                for body in bodies {
                    let bytes = try JSONSerialization.data(withJSONObject: body)
                    let answer = desk.tell(id, String(decoding: bytes, as: UTF8.self))
                    guard answer.status == 409, answer.json["code"] is String else { continue }
                    refused += 1
                    let event = try newest()
                    #expect(event["outcome"] as? String == "refused", "\(row.name): \(event)")
                    #expect(event["code"] as? String == answer.json["code"] as? String)
                    #expect(event["reason"] as? String == answer.json["error"] as? String)
                    #expect((event["text"] as? String)?.localizedCaseInsensitiveContains("refused") == true)
                }
            }
            #expect(refused > 15)
        }
    }

    @Test func aSessionThatIsOverTakesNothingAndSaysSo() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 48)
            let before = desk.answer("GET", "/api/sessions/\(id)/timeline").text
            for row in WardCommand.rows {
                var body = CommandTests.body(row)
                // What a page says of itself is the server's to know, whatever its session is.
                if ["foreground", "background"].contains(row.name) { body["page"] = nil }
                let bytes = try JSONSerialization.data(withJSONObject: body)
                let answer = desk.tell(id, String(decoding: bytes, as: UTF8.self))
                // Who is no phone is refused before.
                #expect(answer.status == 409, "\(row.name): \(answer.text)")
                guard !["bannerShown", "told"].contains(row.name) else { continue }
                #expect(answer.json["code"] as? String == "over", "\(row.name): \(answer.text)")
            }
            #expect(desk.answer("GET", "/api/sessions/\(id)/timeline").text == before)
        }
    }

    /// What is typed says so with its first word, whatever is typed: every line of the help, in a session that is over.
    @Test func whatIsTypedIntoASessionThatIsOverIsRefusedInItsFirstWord() throws {
        try withFolder { folder in
            let session = try LiveSession(try Desk(folder).opening(), journal: nil)
            session.advance(to: session.duration)
            var typed = 0
            for row in InputRow.all {
                for keys in row.keys {
                    let line = keys.example.isEmpty ? keys.verb : "\(keys.verb) \(keys.example)"
                    guard case .success((.input(let input), let key)) = LiveWords.parse(line) else {
                        continue
                    }
                    let answer = session.take(LiveCommand(input, key: key), at: session.now)
                    #expect(EventText.text(answer).hasPrefix("refused: "), "\(line): \(answer)")
                    typed += 1
                }
            }
            #expect(typed > 25)
        }
    }

    @Test func aPaceThatIsRefusedWithoutAKeyIsNotTaken() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 48)
            #expect(desk.ward.host.setPace(.max, of: id).outcome.refusal?.code == RefusalCode.over.rawValue)
        }
    }

    // MARK: Every command, as every reader has it

    private static let calendar = SessionCalendar(startEpochSeconds: 0, offsetSeconds: 0)

    private func row(_ event: LiveEvent, _ unit: GlucoseUnit = .mgdl) throws -> String {
        var view = SessionView(id: "a", name: "A")
        view.now = .minutes(10)
        var context = PageContext()
        context.unit = unit
        let page = Page.session(.timeline, view, timeline: [event], clearedShown: 10, context)
        return page.firstMatch(of: #/<li[^>]*data-key="e\d+".*/#).map { String($0.output) } ?? ""
    }

    /// A fork leaves out inputs of any kind: here all of them, in a session that lives.
    @Test func whatAForkLeftOutIsToldAsRefused() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let opening = try desk.opening()
            let events = Mutex<[LiveEvent]>([])
            let session = try LiveSession(
                opening, journal: nil, listener: { event in events.withLock { $0.append(event) } })
            for (name, input) in Self.inputs {
                let before = events.withLock { $0.count }
                session.advance(to: session.now.adding(Nanoseconds.minute))
                let said = LiveInput.leftOut(
                    input: String(decoding: input.bytes, as: UTF8.self), reason: "not here")
                let stamped = StampedInput(
                    instant: session.now.adding(1),
                    input: ExternalInput(kind: LiveInput.kind, bytes: said.bytes))
                session.relive(stamped, key: "")
                let told = events.withLock { Array($0[before...]) }.filter { $0.kind == "input" }
                let event = try #require(told.first, "\(name)")
                #expect(told.count == 1 && event.outcome == .refused, "\(name)")
                #expect(event.problem?.code == RefusalCode.leftOut.rawValue)
                try readsAsRefused(event, name, taken: input)
            }
        }
    }

    @Test(arguments: RefusalCode.allCases)
    func aRefusalOfAnyKindIsShownAsOne(_ code: RefusalCode) throws {
        for (name, input) in Self.inputs {
            let said = String(decoding: input.bytes, as: UTF8.self)
            let outcome = LiveOutcome.refused(code, "for this reason")
            let event = LiveEvent(number: 1, instant: .minutes(5), .input(number: 1, said: said, outcome))
            try readsAsRefused(event, name, taken: input)
            let answer = EventText.text(LiveAnswer(outcome: outcome, number: 1, isRepeated: true))
            let word = event.outcome == .unknown ? "not sure whether it was done" : "refused"
            #expect(answer == "already \(word): for this reason")
        }
    }

    // MARK: In the reader's unit

    /// Harm: whoever reads mmol/L types 5.5 for 99, and is told of bounds that they can't compare with it.
    @Test func aRefusalsGlucoseIsInTheReadersUnit() throws {
        let context = LiveInputContext(policy: .bionicloop)
        var inputs = InputRow.all.flatMap { row in
            row.fields.filter { $0.unit == "mg/dL" && !row.marks.contains(.notWhereFed) }.map { field in
                LiveInput(row.name, [field.name: .number(9.5), "at": .whole(0)])
            }
        }
        inputs = inputs.filter { $0.name != "reading" }
        #expect(inputs.count >= 3)
        inputs += [
            .threshold(metric: "glucose", low: 9.5, high: nil),
            .threshold(metric: "glucose", low: 180, high: 70),
            .threshold(metric: "glucoseRate", low: nil, high: 25),
        ]
        for input in inputs {
            let refusal = try #require(input.problem(in: context), "\(input)")
            let event = LiveEvent(number: 1, instant: .minutes(5), .refusal(refusal))
            let (files, shown) = (try row(event), try row(event, .mmolL))
            #expect(files.contains("mg/dL") && !files.contains("mmol"), "\(files)")
            #expect(shown.contains("mmol/L") && !shown.contains("mg/dL"), "\(shown)")
            // The API has the sentence of files, and its parts.
            let object = SessionJSON.event(event, Self.calendar)
            #expect(object["reason"] == .string(refusal.reason.text))
            guard case .array(let parts)? = object["reason_parts"] else {
                Issue.record("no parts: \(object.compactText)")
                continue
            }
            #expect(parts.count { $0["value"] != nil } >= 2, "\(object.compactText)")
            let texts = parts.compactMap { part in
                if case .string(let text)? = part["text"] { text } else { nil as String? }
            }
            #expect(texts.joined() == refusal.reason.text)
        }
        let target = try #require(LiveInput.target(mgdl: 9.5).problem(in: context))
        let range = LoopController.targetRange
        #expect(
            target.reason.text
                == "target: found 9.5 mg/dL, expected \(Int(range.lowerBound)) to \(Int(range.upperBound))")
        #expect(
            GlucoseUnit.mmolL.text(target.reason)
                == "target: found 0.5 mmol/L, expected \(GlucoseUnit.mmolL.text(mgdl: range.lowerBound)) to \(GlucoseUnit.mmolL.text(mgdl: range.upperBound))"
        )
        // What is no number has no unit, in none.
        let none = try #require(LiveInput.target(mgdl: .nan).problem(in: context))
        #expect(GlucoseUnit.mmolL.text(none.reason).contains("found nan, expected"))
        // A share is told as it is said.
        let basal = try #require(LiveInput.temporaryBasal(multiplier: 11, minutes: 30).problem(in: context))
        #expect(basal.reason.text == "temporary basal: found 1100 %, expected 0 to 1000")
    }

    /// A page reads the answer to a command as it reads a sentence.
    @Test func anAnswersReasonHasItsParts() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 1)
            let answer = desk.tell(id, #"{"command":"target","mgdl":9.5}"#)
            #expect(answer.status == 409)
            let parts = try #require(answer.json["error_parts"] as? [[String: Any]])
            #expect(parts.compactMap { $0["text"] as? String }.joined() == answer.json["error"] as? String)
            #expect(parts.count { $0["unit"] as? String == "mg/dL" } == 3)
            let script = String(decoding: try #require(Page.asset("commands.js")).bytes, as: UTF8.self)
            #expect(script.contains("error_parts") && !script.contains(".map((one) => one.reason)"))
        }
    }

    private func readsAsRefused(_ event: LiveEvent, _ name: String, taken: LiveInput) throws {
        let isUnknown = event.outcome == .unknown
        #expect(event.outcome != .done)
        // The terminal, and the API's words.
        let line = EventText(Self.calendar).text(event)
        let word = try #require(line.firstRange(of: isUnknown ? "NOT SURE" : "REFUSED"), "\(line)")
        let json = try #require(line.firstIndex(of: "{"))
        #expect(word.lowerBound < json, "\(line)")
        // The API's values.
        let object = SessionJSON.event(event, Self.calendar)
        let text = object.compactText
        #expect(text.contains(isUnknown ? #""outcome":"unknown""# : #""outcome":"refused""#), "\(text)")
        // The page, and whoever reads it aloud: the first word says so, and none that it was done.
        let done = LiveEvent(
            number: 1, instant: event.instant,
            .input(number: 1, said: String(decoding: taken.bytes, as: UTF8.self), .taken))
        func words(_ row: String) -> String {
            row.replacing(#/^.*<\/time> /#, with: "").replacing(#/<[^>]*>/#, with: "")
        }
        for unit in GlucoseUnit.allCases {
            let (refused, asDone) = (try row(event, unit), words(try row(done, unit)))
            if Self.isNoNews.contains(name) {
                #expect(refused.isEmpty && asDone.isEmpty, "\(name)")
                continue
            }
            #expect(refused.contains("class=\"refused\""), "\(name): \(refused)")
            #expect(
                words(refused).hasPrefix(isUnknown ? "Not sure whether it was done:" : "Refused:"),
                "\(refused)")
            #expect(!asDone.isEmpty && !words(refused).contains(asDone), "\(name): \(refused)")
        }
    }

    // MARK: The document, and the page's scripts

    @Test func anEventHasWhatTheDocumentSays() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 3)
            let document = desk.answer("GET", "/openapi.json").json
            let schemas = (document["components"] as? [String: Any])?["schemas"] as? [String: Any]
            let schema = try #require(schemas?["Event"] as? [String: Any])
            let properties = try #require(schema["properties"] as? [String: Any])
            let all =
                desk.answer("GET", "/api/sessions/\(id)/timeline").json["events"] as? [[String: Any]] ?? []
            #expect(all.count > 20)
            for event in all { #expect(Set(event.keys) == Set(properties.keys)) }
            // Values have units: a reading is found without a look at its words.
            let readings = all.filter { $0["kind"] as? String == "reading" }
            let value = (readings.first?["values"] as? [[String: Any]])?.first
            #expect(value?["unit"] as? String == "mg/dL" && (value?["value"] as? Double ?? 0) > 10)
        }
    }

    /// What a page's script does with an event hangs on its values.
    @Test func noScriptOfThePageReadsAnEventsWords() throws {
        let script = String(decoding: try #require(Page.asset("live.js")).bytes, as: UTF8.self)
        #expect(script.contains("event.outcome") && !script.contains("event.text"))
    }
}
