// Every scenario file passes; malformed ones say where and why.

import IsletFiles
import Foundation
import IsletDevices
import Testing

@Suite struct ScenarioFileTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("AlertScenarios").path
    static let files: [String] =
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter {
            $0.hasSuffix(".yaml")
        }
        .sorted()

    @Test(arguments: files) func `every case of a scenario file passes`(file: String) throws {
        let scenario = try AlertScenario.read(path: Self.folder + "/" + file)
        for one in scenario.cases {
            let result = one.run()
            #expect(result.passed, "\(file): \(one.name)\n\(result.differences.joined(separator: "\n"))")
        }
    }

    @Test func `there are scenario files`() { #expect(Self.files.count >= 10) }

    static let head = "suite: s\ncases:\n  - name: n\n    until: 10m\n"

    @Test(arguments: [
        ("suite: s\n", "s.yaml:1", "`cases`"),
        ("suite: s\nplicy: none\ncases: []\n", "s.yaml:2", "`policy`"),
        (
            "suite: s\npolicy: bionicloops\ncases: [{ name: n, until: 1m, expect: [] }]\n", "s.yaml:2",
            "`bionicloop`"
        ),
        (head + "    expect: [{ at: 1m, rise: X }]\n", "s.yaml:5", "raise"),
        (head + "    expect: [{ at: 1m, suppress: X }]\n", "s.yaml:5", "compare"),
        (head + "    expect: [{ at: 1m, raise: X, clear: X }]\n", "s.yaml:5", "exactly one"),
        (head + "    expect: [{ at: 1 minute, raise: X }]\n", "s.yaml:5", "a length of time"),
        (
            head + "    expect: []\n    timeline: [{ at: 1m, pumpStatus: gone }]\n", "s.yaml:6",
            "known, missing"
        ),
        (head + "    expect: []\n    timeline: [{ at: 1m, pumpStats: known }]\n", "s.yaml:6", "`pumpStatus`"),
        (head + "    expect: []\n    timeline: [{ at: 1m, user: { snooze: X } }]\n", "s.yaml:6", "`for`"),
        (
            head + "    expect: []\n    timeline: [{ at: 1m, timeZone: America/Nowhere }]\n", "s.yaml:6",
            "IANA"
        ),
        (head + "    expect: []\n    series: { glucose: \"120-5y12\" }\n", "s.yaml:6", "samples"),
        (head + "    expect: []\n    states: [{ at: 11m, badge: 0 }]\n", "s.yaml:6", "at most 10m"),
        (head + "    expect: []\n    defaults: { start: yesterday }\n", "s.yaml:6", "a time with its offset"),
        (head + "    expect: []\n    policy: nowhere.yaml\n", "s.yaml:6", "policy file"),
    ])
    func `a malformed scenario names file, line and what was expected`(
        text: String, place: String, part: String
    ) throws {
        let problem = try #require(throws: InputError.self) {
            try AlertScenario.parse(text, file: "s.yaml")
        }
        #expect(problem.description.hasPrefix(place), "\(problem)")
        #expect(problem.expected.contains(part), "\(problem)")
    }

    static let noEffects = head + "    expect: []\n"

    @Test(arguments: [
        ("    timeline: [{ at: 1m, user: { snooze: ALERT-PUMP-FAULT, for: 0s } }]\n", "above 0s"),
        ("    timeline: [{ at: 1m, user: { acknowledge: ALERT-PUMP-FALT } }]\n", "`ALERT-PUMP-FAULT`"),
        ("    timeline: [{ at: 1m, user: { tap: LOW } }]\n", "the code of a rule"),
        ("    timeline: [{ at: 1m, user: { dismiss: LOW } }]\n", "the code of a rule"),
        ("    timeline: [{ at: 1m, user: { snooze: LOW, for: 1m } }]\n", "the code of a rule"),
        ("    timeline: [{ at: 1m, preview: LOW }]\n", "the code of a rule"),
        ("    timeline: [{ at: 1m, testAlert: LOW }]\n", "the code of a rule"),
        ("    states: [{ at: 1m, active: [ALERT-PUMP-FAULT, LOW] }]\n", "the code of a rule"),
        ("    states: [{ at: 1m, pending: [LOW] }]\n", "the code of a rule"),
        ("    states: [{ at: 1m, cleared: [LOW] }]\n", "the code of a rule"),
        ("    states: [{ at: 1m, banner: LOW }]\n", "the code of a rule"),
        ("    timeline: [{ at: 1m, pumpAlert: { issue: lowReservior } }]\n", "`lowReservoir`"),
        ("    timeline: [{ at: 1m, pumpAlert: { retract: lowreservoir } }]\n", "`lowReservoir`"),
        ("    timeline: [{ at: 1m, cgmAlert: { issue: sensorFailled } }]\n", "`sensorFailed`"),
        ("    timeline: [{ at: 11m, step: ok }]\n", "at most 10m"),
        ("    timeline: [{ at: 1m, timeChange: +1000w1000w }]\n", "a length of time with its sign"),
        ("    timeline: [{ at: 1m, timeChange: -20000d }, { at: 2m, timeChange: -3650d }]\n", "1970 to 2200"),
        (
            "    timeline: [" + (1...30).map { "{ at: \($0)s, timeChange: +3650d }" }.joined(separator: ", ")
                + "]\n", "1970 to 2200"
        ),
    ])
    func `what would be ignored, and a clock that leaves the calendar, is refused with its place`(
        text: String, part: String
    ) throws {
        let problem = try #require(throws: InputError.self) {
            try AlertScenario.parse(Self.noEffects + text, file: "s.yaml")
        }
        #expect(problem.kind == .badData)
        #expect(problem.description.hasPrefix("s.yaml:6"), "\(problem)")
        #expect(problem.expected.contains(part), "\(problem)")
    }

    @Test func `an expectation after the end, and a misspelt one, are refused`() throws {
        for (text, part) in [
            ("{ at: 11m, raise: ALERT-PUMP-FAULT }", "at most 10m"),
            ("{ at: 1m, raise: LOW }", "the code of"),
        ] {
            let problem = try #require(throws: InputError.self) {
                try AlertScenario.parse(Self.head + "    expect: [\(text)]\n", file: "s.yaml")
            }
            #expect(
                problem.description.hasPrefix("s.yaml:5") && problem.expected.contains(part), "\(problem)")
        }
    }

    @Test func `other names stay legal: vendors invent them, and clocks may jump and come back`() throws {
        let text =
            Self.noEffects
            + "    timeline:\n      - { at: 1m, pumpAlert: { issue: slotSevenBeep } }\n"
            + "      - { at: 1m, cgmAlert: { issue: g7.notice.12 } }\n"
            + "      - { at: 2m, timeChange: +36500d }\n      - { at: 3m, timeChange: -36500d }\n"
        #expect(try AlertScenario.parse(text, file: "s.yaml").cases.first?.run().passed == true)
    }

    /// A case that tested nothing must not pass.
    @Test(arguments: [
        ("{ at: 1m, app: quit }, { at: 2m, step: ok }", "! { at: 2m, step: ok } did nothing"),
        ("{ at: 1m, loop: disarmed }, { at: 2m, step: ok }", "! { at: 2m, step: ok } did nothing"),
        (
            "{ at: 1m, app: quit }, { at: 2m, user: { acknowledge: ALERT-PUMP-FAULT } }",
            "! { at: 2m, user: { acknowledge: ALERT-PUMP-FAULT } } did nothing"
        ),
        (
            "{ at: 1m, app: quit }, { at: 2m, testAlert: ALERT-PUMP-FAULT }",
            "! { at: 2m, testAlert: ALERT-PUMP-FAULT } did nothing"
        ),
        ("{ at: 1m, app: quit }, { at: 2m, app: relaunch }, { at: 2m, step: ok }", nil),
        // What was so before, in an instant with nothing else; beside something that happens, or at the launch, it is there to be read.
        ("{ at: 1m, app: foreground }", "! { at: 1m, app: foreground } did nothing"),
        ("{ at: 1m, pumpStatus: known }", "! { at: 1m, pumpStatus: known } did nothing"),
        (
            "{ at: 1m, readings: stopped }, { at: 2m, readings: stopped }",
            "! { at: 2m, readings: stopped } did nothing"
        ),
        ("{ at: 1m, app: background, pumpStatus: known }", nil),
        ("{ at: 1m, app: relaunch }, { at: 1m, app: foreground }", nil),
        ("{ at: 0s, app: foreground, pumpStatus: known }", nil),
    ])
    func `what did nothing fails its case`(timeline: String, line: String?) throws {
        let scenario = try AlertScenario.parse(
            Self.head + "    compare: [raise]\n    expect: []\n    timeline: [\(timeline)]\n", file: "s.yaml")
        #expect(scenario.cases[0].run().differences == (line.map { [$0] } ?? []))
    }

    @Test func `a held glucose beside a series, and an act that is not done, are nothing`() throws {
        let series = try AlertScenario.parse(
            Self.head
                + "    expect: []\n    series: { glucose: \"100x3\" }\n    timeline: [{ at: 1m, glucose: 50 }]\n",
            file: "s.yaml")
        #expect(series.cases[0].run().differences == ["! { at: 1m, glucose: 50.0 } did nothing"])
        let problem = #expect(throws: InputError.self) {
            try AlertScenario.parse(
                Self.head + "    expect: []\n    timeline: [{ at: 1m, settingsSaved: false }]\n",
                file: "s.yaml")
        }
        #expect(problem?.description.contains("s.yaml:6") == true)
    }

    @Test func `a failing case shows what was expected and what happened`() throws {
        let text =
            Self.head + "    timeline: [{ at: 1m, auth: signedOut }]\n"
            + "    expect: [{ at: 2m, raise: ALERT-AUTH-LOGIN-REQUIRED }]\n"
        let scenario = try AlertScenario.parse(text, file: "s.yaml")
        let result = try #require(scenario.cases.first).run()
        #expect(
            result.differences == [
                "- { at: 2m, raise: ALERT-AUTH-LOGIN-REQUIRED }",
                "+ { at: 1m, raise: ALERT-AUTH-LOGIN-REQUIRED, severity: actionable, reason: conditionHeld }",
            ])
        let xml = JUnitReport.text([("a&b.yaml", "s\u{FFFE}", [result])])
        #expect(xml.contains("failures=\"1\"") && xml.contains("a&amp;b.yaml") && xml.contains("<failure"))
        #expect(!xml.contains("\u{FFFE}"), "XML has no such character: a build server would refuse the file")
    }
}
