import IsletDevices
import IsletLoop
import IsletFiles
import IsletAlerts
import IsletModels
import Testing

@testable import IsletTrials

/// A study with every key, in the written form of the documentation.
let completeStudy = """
    study: quickstart
    seed: 20260402
    start: 2026-03-02T06:00:00-05:00
    duration: 7d
    cohort: { generate: { model: uva-padova-2008, group: adult, count: 100 } }
    sensor: vettoretti-2019        # a comment
    pump: omnipod
    scenario: { meals: moderate }
    record: events
    arms:
      - { name: open-loop, algorithm: basal-bolus, alerts: bionicloop }
      - { name: closed-loop, algorithm: pid-insulin-feedback, alerts: bionicloop }
    compare: { reference: open-loop }

    """

/// The least that is a study.
let leastStudy = "cohort: { generate: {} }\narms: [{}]\n"

func refusal(of text: String, set: [String] = []) -> InputError? {
    do {
        var overrides: [SetOverride] = []
        for argument in set { overrides.append(try SetOverride(argument)) }
        _ = try Study.parse(text, file: "s.yaml", overrides: overrides)
        return nil
    } catch {
        return error
    }
}

@Suite struct StudyDecodingTests {
    @Test func `a study's arm takes a preset, and its manifest the whole of a policy`() throws {
        let policy = "{ policy: p, thresholds: [{ metric: glucose, min: 65, sensitivity: 20m }] }"
        let text = """
            cohort: { generate: { count: 2 } }
            arms: [{ name: a, alerts: dexcom-g7 }, { name: b, alerts: \(policy) }]
            """
        let study = try Study.parse(text, file: "study.yaml")
        #expect(study.arms[0].alerts.name == "dexcom-g7")
        #expect(study.arms[1].alerts.rules.map(\.code) == ["THRESHOLD-GLUCOSE-LOW"])
        #expect(try Study.parse(study.yaml, file: "resolved") == study)
    }

    @Test func theDocumentedStudyReads() throws {
        let study = try Study.parse(completeStudy, file: "s.yaml")
        #expect(study.name == "quickstart")
        #expect(study.seed == 20_260_402)
        #expect(study.start.text == "2026-03-02T06:00:00-05:00")
        #expect(study.start.offsetMinutes == -300)
        #expect(study.start.localSecondOfDay == 21_600)
        #expect(study.start.unixSeconds == 1_772_449_200)
        #expect(study.duration.days == 7)
        #expect(study.cohort == .generate(model: .uvaPadova2008, group: .adult, count: 100))
        #expect(study.arms.map(\.name) == ["open-loop", "closed-loop"])
        #expect(study.arms.map(\.algorithm) == [.basalBolus, .pidInsulinFeedback])
        #expect(study.reference == "open-loop")
    }

    @Test func everyKeyButCohortAndArmsHasADefault() throws {
        let study = try Study.parse(leastStudy, file: "s.yaml")
        #expect(study.seed == 1)
        #expect(study.duration.description == "7d")
        #expect(study.sensor == TunedSensor(.vettoretti2019))
        #expect(study.scenario.meals == .moderate)
        #expect(study.record == .events)
        #expect(
            study.arms == [
                .init(name: "pid-insulin-feedback", algorithm: .pidInsulinFeedback, alerts: .bionicloop)
            ])
        #expect(study.reference == nil)
        #expect(refusal(of: "arms: [{}]\n")?.found == "no `cohort`")
        #expect(refusal(of: "cohort: { generate: {} }\n")?.found == "no `arms`")
    }

    @Test func theDefaultsOfTheSchemaAreTheDefaultsOfTheDecoder() throws {
        let json = try Study.parse(leastStudy, file: "s.yaml").json
        for key in Study.shape.keys {
            if let value = key.defaultValue { #expect(json[key.name] == value, "\(key.name)") }
        }
        for key in Study.Cohort.Generated.keys.shape.keys {
            #expect(json["cohort"]?["generate"]?[key.name] == key.defaultValue, "\(key.name)")
        }
    }

    @Test(arguments: [
        completeStudy, leastStudy,
        "cohort: { table: 'a b.csv', subjects: [\"007\", adult#001, 'yes', '1e3'] }\narms: [{ name: \"2026\" }]\n",
        "cohort: { generate: {} }\narms: [{}]\nscenario: { meals: [{ at: 7:30, carbs: 45.5 }, { at: 1d2h, carbs: 0 }] }\n",
        "study: 'ünï: \"x\" # y'\nseed: 18446744073709551615\ncohort: { generate: {} }\narms: [{}]\ncompare: none\n",
        "cohort: { generate: {} }\narms: [{}]\nscenario: { meals: [] }\nsensor: { model: ideal }\n",
    ])
    func aResolvedStudyReadsBackAsItself(text: String) throws {
        let study = try Study.parse(text, file: "s.yaml")
        #expect(try Study.parse(study.yaml, file: "yaml") == study, "\(study.yaml)")
        #expect(try Study.parse(study.json.prettyText, file: "json") == study)
        #expect(try Study.parse(study.json.compactText, file: "json") == study)
    }

    @Test(
        arguments: [
            ("seed: 20260402", "seed: -1", 2, "`-1` at seed"),
            ("seed: 20260402", "seed: 1.5", 2, "`1.5` at seed"),
            ("seed: 20260402", "seed: 18446744073709551616", 2, "`18446744073709551616` at seed"),
            ("seed: 20260402", "seed: \"5\"", 2, "the text `5` at seed"),
            ("seed: 20260402", "seed:", 2, "nothing at seed"),
            ("seed: 20260402", "seed: 007", 2, "`007` at seed"),
            ("seed: 20260402", "seed: .nan", 2, "`.nan` at seed"),
            ("7d", "-7d", 4, "`-7d` at duration"), ("7d", "0s", 4, "`0s` at duration"),
            ("7d", "3651d", 4, "`3651d` at duration"), ("7d", "[7d]", 4, "a list of 1 at duration"),
            ("count: 100", "count: 0", 5, "`0` at cohort.generate.count"),
            ("count: 100", "count: .inf", 5, "`.inf` at cohort.generate.count"),
            ("count: 100", "count: 10000000", 5, "`10000000` at cohort.generate.count"),
            ("count: 100", "count: 1000001", 5, "1000001 subjects × 2 arms"),
            ("sensor:", "senser:", 6, "the unknown key `senser`"),
            ("omnipod", "omnipud", 7, "`omnipud` at pump"),
            ("meals: moderate", "meals: modest", 8, "`modest` at scenario.meals"),
            ("meals: moderate", "meals: [{ at: 24:00, carbs: 3 }]", 8, "`24:00` at scenario.meals[0].at"),
            (
                "meals: moderate", "meals: [{ at: 07:00, carbs: .nan }]", 8,
                "`.nan` at scenario.meals[0].carbs"
            ),
            ("meals: moderate", "meals: [{ at: 07:00, carbs: -3 }]", 8, "`-3` at scenario.meals[0].carbs"),
            ("meals: moderate", "meals: [{ at: 07:00 }]", 8, "no `carbs` at scenario.meals[0]"),
            ("closed-loop", "open-loop", 12, "the arm `open-loop` twice"),
            ("name: open-loop", "name: a/b", 11, "`a/b` at arms[0].name"),
            ("name: open-loop", "name: ''", 11, "the text `` at arms[0].name"),
            ("name: open-loop", "name: \"a\\nb\"", 11, "the text `a\\u{a}b` at arms[0].name"),
            ("name: open-loop", "name: ..", 11, "`..` at arms[0].name"),
            ("reference: open-loop", "reference: openloop", 13, "`openloop` at compare.reference"),
            ("06:00:00-05:00", "06:00:00.5-05:00", 3, "`2026-03-02T06:00:00.5-05:00` at start"),
            ("2026-03-02", "2026-02-29", 3, "`2026-02-29T06:00:00-05:00` at start"),
            ("06:00:00-05:00", "06:00:00", 3, "`2026-03-02T06:00:00` at start"),
        ] as [(String, String, Int, String)])
    func oneWrongThingIsNamedWithItsLine(old: String, new: String, line: Int, found: String) throws {
        let range = try #require(completeStudy.firstRange(of: old))
        let text = completeStudy.replacingCharacters(in: range, with: new)
        let problem = try #require(refusal(of: text))
        #expect(problem.file == "s.yaml")
        #expect(problem.line == line)
        #expect(problem.found.hasPrefix(found), "\(problem)")
    }

    @Test func theRefusalOfTooManySubjectsNamesTheLimit() throws {
        for text in ["count: 10000000", "count: 1100000"] {
            let study = completeStudy.replacing("count: 100", with: text)
            #expect(try #require(refusal(of: study)).expected.contains("2000000"))
        }
    }

    @Test func aListThatMakesTooManyMealsIsRefused() throws {
        let meals =
            "[" + Array(repeating: "{ at: 08:00, carbs: 1 }", count: 1000).joined(separator: ", ") + "]"
        let text = leastStudy + "duration: 3650d\nscenario: { meals: \(meals) }\n"
        #expect(try #require(refusal(of: text)).expected == "at most 100000 meals in a session")
    }

    @Test func unknownKeysNameTheNearestKnownOne() throws {
        let problem = try #require(
            refusal(of: completeStudy.replacing("algorithm: basal", with: "algoritm: basal")))
        #expect(problem.found == "the unknown key `algoritm` in arms[0]")
        #expect(problem.expected.hasPrefix("`algorithm`"))
    }

    @Test func startsAreRealInstants() {
        #expect(StudyStart("1970-01-01T00:00:00Z")?.unixSeconds == 0)
        #expect(StudyStart("2000-02-29T23:59:59+14:00")?.unixSeconds == 951_818_399)
        #expect(StudyStart("2026-03-02T06:00-05:00")?.localSecondOfDay == 21_600)
        for wrong in [
            "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2100-02-29T00:00:00Z", "2026-01-01T24:00:00Z",
            "2026-01-01T23:59:60Z", "2026-01-01T00:00:00+15:00", "2026-01-01T00:00:00+05:60",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00:00:00Zx", "1969-12-31T23:59:59Z", "", "2026-01-01T00:00:00-0500",
        ] {
            #expect(StudyStart(wrong) == nil, "\(wrong)")
        }
    }

    @Test func aTablePathIsSeenFromTheStudyFile() throws {
        let text = "cohort: { table: p.csv }\narms: [{}]\n"
        let study = try Study.parse(text, file: "s.yaml")
        #expect(study.tablePath(studyPath: "a/b.yaml") == "a/p.csv")
        #expect(study.tablePath(studyPath: "b.yaml") == "p.csv")
    }
}

extension String {
    func replacingCharacters(in range: Range<String.Index>, with new: String) -> String {
        self[..<range.lowerBound] + new + self[range.upperBound...]
    }
}
