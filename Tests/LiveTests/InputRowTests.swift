// The table of inputs: each row whole, and nothing beside it that knows a row by its name but what is listed here.

import DeviceLinks
import Foundation
import IsletKernel
import Testing

@testable import IsletLive

@Suite struct InputRowTests {
    @Test func namesAreUniqueAndSoIsWhatIsTyped() {
        let names = InputRow.all.map(\.name)
        #expect(Set(names).count == names.count)
        let commands = WardCommand.rows.map(\.name)
        #expect(Set(commands).count == commands.count)
        for row in InputRow.all {
            #expect(Set(row.fields.map(\.name)).count == row.fields.count, "\(row.name)")
            #expect(!row.summary.isEmpty && !row.words.ask.isEmpty)
            // A form says every field.
            if let form = row.form {
                #expect(form.labels.count == row.fields.count { $0.said != nil }, "\(row.name)")
            }
        }
    }

    /// What the help shows can be typed, and comes to an input of its row or, as `temp off`, of another.
    @Test func whatTheHelpShowsIsUnderstood() throws {
        let page = try String(
            contentsOf: Self.root.appending(path: "docs/live.md"), encoding: .utf8)
        for row in InputRow.all {
            for keys in row.keys {
                let line = keys.example.isEmpty ? keys.verb : "\(keys.verb) \(keys.example)"
                guard case .success((.input(let input), _)) = LiveWords.parse(line) else {
                    Issue.record("`\(line)` is not understood")
                    continue
                }
                #expect(input.name == row.name, "\(line)")
                #expect(LiveInput(bytes: input.bytes) == input)
                #expect(page.contains("`\(keys.verb)") || page.contains(" `\(keys.verb)"), "\(keys.verb)")
            }
        }
    }

    /// Harm: a journal that was written before comes to other bits. Written down from the enum that inputs were.
    @Test func bytesAreThoseOfJournalsBefore() {
        let all: [(LiveInput, String)] = [
            (
                LiveInput.meal(grams: 40.5, isEaten: true, isAnnounced: false),
                #"{"meal":{"grams":40.5,"isAnnounced":false,"isEaten":true}}"#
            ),
            (.confirmBolus(request: 4, units: 1, anyway: nil), #"{"confirmBolus":{"request":4,"units":1}}"#),
            (
                .confirmBolus(request: 4, units: 1.25, anyway: true),
                #"{"confirmBolus":{"anyway":true,"request":4,"units":1.25}}"#
            ),
            (
                .temporaryBasal(multiplier: 0.5, minutes: 30),
                #"{"temporaryBasal":{"minutes":30,"multiplier":0.5}}"#
            ),
            (.suspend(minutes: nil), #"{"suspend":{}}"#),
            (.suspend(minutes: 30), #"{"suspend":{"minutes":30}}"#),
            (.changePod, #"{"changePod":{}}"#),
            (.stateInsulin(units: 6.5, minutesAgo: 40), #"{"stateInsulin":{"minutesAgo":40,"units":6.5}}"#),
            (.subject(id: "A/B \"é\"", kilograms: 70), #"{"subject":{"id":"A/B \"é\"","kilograms":70}}"#),
            (.quietHours(fromMinute: nil, toMinute: nil), #"{"quietHours":{}}"#),
            (
                .quietHours(fromMinute: 1320, toMinute: 420),
                #"{"quietHours":{"fromMinute":1320,"toMinute":420}}"#
            ),
            (
                .threshold(metric: "glucose", low: 70, high: nil, sensitivityMinutes: 15, isEnabled: false),
                #"{"threshold":{"isEnabled":false,"low":70,"metric":"glucose","sensitivityMinutes":15}}"#
            ),
            (
                .changeThreshold(
                    metric: "glucose", low: .off, high: .at(180.5), sensitivityMinutes: nil, isEnabled: true,
                    criticalBelow: .at(54), criticalAbove: .off),
                #"{"changeThreshold":{"criticalAbove":"off","criticalBelow":54,"high":180.5,"isEnabled":true,"low":"off","metric":"glucose"}}"#
            ),
            (
                .switchThreshold(metric: "vpd", isEnabled: true),
                #"{"switchThreshold":{"isEnabled":true,"metric":"vpd"}}"#
            ),
            (.subjectClaim(isOk: false), #"{"subjectClaim":{"isOk":false}}"#),
            (.dismiss(alert: "X", episode: 300), #"{"dismiss":{"alert":"X","episode":300}}"#),
            (.dismiss(alert: "X"), #"{"dismiss":{"alert":"X"}}"#),
            (.bannerShown(alert: "X", episode: 1), #"{"bannerShown":{"alert":"X","episode":1}}"#),
            (.reading(at: 300000000000, mgdl: 100), #"{"reading":{"at":300000000000,"mgdl":100}}"#),
            (.device(.relaunched), #"{"device":{"_0":{"relaunched":{}}}}"#),
            (
                .device(.reading(mgdl: 101.5, at: 5, isReliable: true)),
                #"{"device":{"_0":{"reading":{"at":5,"isReliable":true,"mgdl":101.5}}}}"#
            ),
            (
                .leftOut(input: "{\"visit\":{}}", reason: "not here"),
                #"{"leftOut":{"input":"{\"visit\":{}}","reason":"not here"}}"#
            ),
            (.clockStep(seconds: -3600), #"{"clockStep":{"seconds":-3600}}"#),
            (.target(mgdl: .nan), #"{"target":{"mgdl":"nan"}}"#),
            (.target(mgdl: 0.1), #"{"target":{"mgdl":0.1}}"#),
            (
                .meal(grams: 1e21, isEaten: true, isAnnounced: true),
                #"{"meal":{"grams":1e+21,"isAnnounced":true,"isEaten":true}}"#
            ),
            (.recommendThresholds, #"{"recommendThresholds":{}}"#),
            (
                .treatment(
                    PostedTreatment(
                        id: "a-1", by: "app", at: Instant(nanoseconds: 5), units: nil, grams: 20,
                        document: "{}")),
                #"{"treatment":{"at":5,"by":"app","document":"{}","grams":20,"id":"a-1"}}"#
            ),
        ]
        for (input, bytes) in all {
            #expect(String(decoding: input.bytes, as: UTF8.self) == bytes)
            // What is no number is refused before it is written.
            guard !bytes.contains("nan") else { continue }
            #expect(LiveInput(bytes: Array(bytes.utf8)) == input, "\(bytes)")
        }
    }

    /// What is said under a wrong kind, without a field, or by no row's name is no input.
    @Test(arguments: [
        #"{"tablets":{}}"#, #"{"target":{}}"#, #"{"target":{"mgdl":"110"}}"#, #"{"target":{"mgdl":null}}"#,
        #"{"suspend":{"minutes":1.5}}"#, #"{"target":{"mgdl":110},"resume":{}}"#, #"{}"#, #"{"resume":1}"#,
    ])
    func whatNoInputWroteIsNotRead(_ text: String) {
        #expect(LiveInput(bytes: Array(text.utf8)) == nil)
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Sentences that hang on what is said, and steps that are one with another input: nothing else asks for a row's name.
    private static let known: [String: Set<String>] = [
        "TimelineWords.swift": [
            "meal", "quietHours", "subjectClaim", "threshold", "changeThreshold", "switchThreshold",
        ],
        "LiveInput+Said.swift": ["requestBolus", "snooze", "testAlert", "told", "leftOut", "reading"],
        "SessionRequest.swift": ["confirmBolus"], "WardOwner.swift": ["quietHours"],
    ]

    @Test func nothingBesideTheTableSwitchesOverCommands() throws {
        let names = Set(InputRow.all.map(\.name))
        var (found, files): ([String: Set<String>], Int) = ([:], 0)
        for folder in ["IsletLive/Live", "IsletLive/Ward", "Pages", "Dashboard", "islet-live"] {
            let path = Self.root.appending(path: "Sources/\(folder)").path()
            let all = try #require(FileManager.default.enumerator(atPath: path))
            for case let file as String in all where file.hasSuffix(".swift") {
                files += 1
                let text = try String(contentsOfFile: path + "/" + file, encoding: .utf8)
                let name = file.split(separator: "/").last.map(String.init) ?? file
                guard !name.hasPrefix("InputRow") else { continue }
                let switched = text.matches(of: #/name == "(\w+)"|input\.name.*"(\w+)"/#).map {
                    String($0.output.1 ?? $0.output.2 ?? "")
                }
                for one in switched where names.contains(one) { found[name, default: []].insert(one) }
                if text.contains("switch input.name") {
                    for match in text.matches(of: #/"(\w+)"/#) where names.contains(String(match.output.1)) {
                        found[name, default: []].insert(String(match.output.1))
                    }
                }
                #expect(
                    !text.contains(#/case (let )?\.(requestBolus|confirmBolus|changePod|bannerShown)\b.*:/#),
                    "\(name)")
            }
        }
        #expect(files > 100 && found == Self.known, "\(found)")
    }
}
