// A study's plan: what changes it, what is said of a change, and what a registration proves.

import Foundation
import Glibc
import IsletDevices
import IsletFiles
import Testing

@testable import IsletTrials

@Suite("A study's plan")
struct StudyPlanTests {
    private func study(_ more: String = "") throws -> Study {
        try Study.parse(
            """
            question: Does waiting cost lows?
            seed: 4
            cohort: { generate: { count: 24 } }
            \(ClaimsTests.arms)
            primary: [tbr_54_percent, alerts_notifications_per_day]
            margin: { tbr_54_percent: 0.5 }
            confirm: { seed: 9 }
            """, file: "plan.yaml", overrides: more.isEmpty ? [] : [try SetOverride(more)])
    }

    @Test(
        "changes with whatever could be fitted to results, and the part is named",
        arguments: [
            (
                "margin.tbr_54_percent=0.4",
                "margin was {\"tbr_54_percent\":0.5}, and is {\"tbr_54_percent\":0.4}"
            ),
            ("primary=[tbr_70_percent, tbr_54_percent]", "primary was"),
            ("seed=5", "seeds was {\"study\":4,\"confirm\":9}, and is {\"study\":5,\"confirm\":9}"),
            ("confirm.seed=10", "seeds was"), ("confirm.select=front", "selection was"),
            (
                "question=Something else",
                "question was \"Does waiting cost lows?\", and is \"Something else\""
            ),
            ("compare.reference=quiet", "reference was \"usual\", and is \"quiet\""),
            ("arms[1].name=calm", "arms was"), ("duration=8d", "study_sha256 was"),
            ("arms[1].alerts=loop", "study_sha256 was"), ("cohort.generate.count=25", "study_sha256 was"),
            ("scenario.meals=hard", "study_sha256 was"),
        ])
    func changes(set: String, said: String) throws {
        let plan = StudyPlan(try study(), tableSHA256: nil)
        let other = StudyPlan(try study(set), tableSHA256: nil)
        #expect(plan.digest != other.digest)
        let lines = other.differences(from: plan.json)
        // Another first outcome is also another one to select by.
        #expect(lines.contains { $0.hasPrefix(said) } && lines.count <= 2, "\(lines)")
        #expect(plan.differences(from: plan.json).isEmpty)
    }

    @Test("is read back as it was registered, and refused where it was changed")
    func registration() throws {
        let plan = StudyPlan(try study(), tableSHA256: "ab")
        var registration = Registration(plan, registeredAt: "2026-03-01T10:00:00Z")
        let key = SealKey(Array("a key of some length: 0123".utf8))
        registration.seal(key)
        registration.sessionsThen = 0
        let path = FileManager.default.temporaryDirectory.appending(
            path: "islet-plan-\(UUID().uuidString).json"
        ).path
        try AtomicFile.write(registration.json.prettyText, to: path)
        defer { unlink(path) }
        let found = try Registration(path: path)
        #expect(found.digest == plan.digest && found.isBeforeFirstSession)
        #expect(plan.differences(from: found.plan).isEmpty)
        #expect(found.isSealed(with: key) == true)
        #expect(found.isSealed(with: SealKey(Array("another key of length 4567".utf8))) == false)
        #expect(found.words.hasPrefix("The plan was registered before the first session (by the clock of"))
        var late = found
        late.sessionsThen = 3
        #expect(late.words.contains("after the first session"))
        #expect(Registration(plan, registeredAt: nil).words.contains("nobody can know"))
        try AtomicFile.write(
            registration.json.prettyText.replacing(
                "\"tbr_54_percent\": 0.5", with: "\"tbr_54_percent\": 0.9"),
            to: path)
        #expect(throws: InputError.self) { try Registration(path: path) }
    }
}
