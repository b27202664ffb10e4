import IsletFiles
import Foundation
import IsletDevices
import Testing

@testable import IsletTrials

/// The number in an environment variable, for longer runs by hand.
func scratchRuns(named name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
}

/// The files of the project, wherever it was checked out.
let projectDirectory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

@Suite struct StudySchemaTests {
    /// Every (path of keys, key shape) below a mapping shape.
    private func keys(of shape: MappingShape) -> [KeyShape] {
        shape.keys + shape.keys.flatMap { keys(of: $0.shape) }
    }

    private func keys(of shape: Shape) -> [KeyShape] {
        switch shape {
        case .mapping(let mapping): keys(of: mapping)
        case .list(let item, _): keys(of: item)
        case .either(let shapes): shapes.flatMap { keys(of: $0) }
        default: []
        }
    }

    private func propertyNames(of schema: JSONValue) -> [String] {
        switch schema {
        case .object(let members):
            members.flatMap { member -> [String] in
                guard member.key == "properties", case .object(let properties) = member.value else {
                    return propertyNames(of: member.value)
                }
                return properties.map(\.key) + properties.flatMap { propertyNames(of: $0.value) }
            }
        case .array(let items): items.flatMap { propertyNames(of: $0) }
        default: []
        }
    }

    @Test func everyKeyThatTheReaderKnowsIsInTheSchemaAndBack() {
        #expect(propertyNames(of: Study.jsonSchema).sorted() == keys(of: Study.shape).map(\.name).sorted())
    }

    @Test func everyTopLevelKeyIsEncoded() throws {
        let zone = try SetOverride("timeZone=America/New_York")
        let text =
            completeStudy + "question: Why?\nprimary: [mean_mgdl, tbr_70_percent]\nperson: typical\n"
            + "tolerate: 3\npolicies: [bionicloop]\nsweep: { of: loop, points: [{ notifyWhenStale: true }] }\n"
            + "referencePolicy: bionicloop\nsoleCauses: false\n"
            + "margin: { tbr_54_percent: 0.5 }\nconfirm: { seed: 2 }\n"
        guard case .object(let members) = try Study.parse(text, file: "s", overrides: [zone]).json else {
            Issue.record("a study is an object")
            return
        }
        // Those of other kinds of subject mean nothing for people; a study of rooms has them (`GrowRoomStudyTests`).
        #expect(members.map(\.key) == Study.shape.names.filter { $0 != "subject" && $0 != "keeper" })
    }

    @Test func theSchemaIsJSONThatFoundationReads() throws {
        let data = Data(Study.jsonSchema.prettyText.utf8)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(object["additionalProperties"] as? Bool == false)
        #expect(object["required"] as? [String] == ["cohort", "arms"])
    }

    @Test func whatTheDecoderAcceptsMatchesThePatterns() throws {
        let samples: [(TextRule, [String])] = [
            (StudyStart.rule, ["2026-03-02T06:00:00-05:00", "2026-03-02T06:00Z", "2026-03-02", "x"]),
            (MealTime.rule, ["07:30", "7:30", "1d2h", "0s", "7:3", "", "1h1d"]),
            (.timeSpan(upTo: Study.maximumDuration, saying: "3650d"), ["7d", "1h30m", "", "d", "-1d"]),
            (
                .name,
                [
                    "a", "open-loop", "adult#001", "a/b", "", " a", "a ", "a\nb",
                    String(repeating: "x", count: 101),
                ]
            ),
            (.path, ["a.csv", "../a b.csv", "", "a\u{7}"]),
        ]
        for (rule, texts) in samples {
            let pattern = try NSRegularExpression(pattern: rule.pattern)
            for text in texts {
                let matches =
                    pattern.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
                #expect(matches == rule.accepts(text), "\(text) against \(rule.pattern)")
            }
        }
    }

    @Test func theShippedStudiesAreStudies() throws {
        let directory = projectDirectory.appending(path: "Cohorts")
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path()).filter {
            $0.hasSuffix(".yaml")
        }
        #expect(
            Set(files).isSuperset(of: [
                "quickstart.yaml", "open-and-closed-loop.yaml", "speed.yaml", "adolescents.yaml",
                "children.yaml",
                "debounce-cooldown.yaml",
                "alert-presets.yaml",
            ]))
        for file in files {
            let study = try Study.read(path: directory.appending(path: file).path())
            #expect(file == study.name + ".yaml")
        }
    }
}
