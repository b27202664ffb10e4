// Closed sweeps: who is varied, which variants cannot differ, and what a resolved study says of that.

import IsletAlerts
import IsletDevices
import IsletFiles
import IsletKernel
import IsletModels
import Testing

@testable import IsletTrials

@Suite("A closed sweep's arms")
struct SweepJoinTests {
    private static let grid = """
        sweep:
          of: dexcom-g7
          mode: closed
          grid:
            "rules[LOW,HIGH].debounce": [0s, 5m, 15m, 60m]
            "rules[LOW,HIGH].cooldown": [0s, 60s, 5m, 30m]
            "rules[LOW,HIGH].repeatEvery": [null, 15m, 30m]
        """

    static func study(
        _ sweep: String = grid, _ more: String = "", arms: String = "", count: Int = 2
    ) throws -> Study {
        try Study.parse(
            """
            cohort: { generate: { count: \(count) } }
            person: typical
            arms: [{ name: usual, alerts: dexcom-g7 }, { name: deaf, alerts: dexcom-g7, person: deaf }\(arms)]
            \(sweep)
            \(more)
            """, file: "sweep.yaml")
    }

    @Test("the deaf arm is lived once, and cooldowns that hold nothing back are one arm")
    func once() throws {
        let study = try Self.study()
        #expect(study.sweep?.variants.count == 48)
        // 4 debounces × (up to 5 min, 30 min) × 3 repeats, of which one is the arm as it is; and the deaf one.
        #expect(study.arms.count == 25)
        #expect(study.arms.map(\.name).prefix(2) == ["usual", "deaf"])
        let usual = try #require(study.sweepArms.first)
        #expect(usual.arm == "usual" && usual.of == "usual")
        let names = usual.points.compactMap { study.sweep?.variants[$0].name }
        #expect(
            names == [
                "dexcom-g7 LOW+HIGH.debounce=0s LOW+HIGH.cooldown=0s LOW+HIGH.repeatEvery=default",
                "dexcom-g7 LOW+HIGH.debounce=0s LOW+HIGH.cooldown=60s LOW+HIGH.repeatEvery=default",
                "dexcom-g7 LOW+HIGH.debounce=0s LOW+HIGH.cooldown=5m LOW+HIGH.repeatEvery=default",
            ])
        #expect(!study.sweepArms.contains { $0.of == "deaf" })
        // Every point is in exactly one arm.
        #expect(study.sweepArms.flatMap(\.points).sorted() == Array(0..<48))
        #expect(study.shadowPolicies.isEmpty)
    }

    @Test("the resolved study says which arm stands for which points, and is read back as it is")
    func resolved() throws {
        let study = try Self.study()
        #expect(try Study.parse(study.yaml, file: "resolved") == study)
        #expect(try Study.parse(study.json.prettyText, file: "resolved") == study)
        let swapped = study.yaml.replacing("of: usual", with: "of: deaf")
        #expect(throws: InputError.self) { try Study.parse(swapped, file: "resolved") }
    }

    @Test(
        "what a resolved study can't mean is one line",
        arguments: [
            ("arms: [{ arm: nobody, of: usual, points: [1] }]", "the arm `nobody`"),
            ("arms: [{ arm: deaf, of: usual, points: [3] }]", "the arm `deaf`"),
            ("arms: [{ arm: usual, of: usual, points: [48] }]", "48"),
        ])
    func refused(arms: String, found: String) {
        do {
            _ = try Self.study(Self.grid + "\n  " + arms)
            Issue.record("accepted")
        } catch {
            #expect("\(error)".contains(found), "\(error)")
        }
    }

    @Test(
        "where an app may die, or rings in front of others, or repeats sooner, nothing is joined that may differ"
    )
    func notJoined() throws {
        let sweep = """
            sweep: { of: dexcom-g7, mode: closed, grid: { "rules[LOW,HIGH].cooldown": [60s, 5m] } }
            """
        #expect(try Self.study(sweep).arms.count == 2)
        #expect(try Self.study(sweep, "faults: { app-quit: true }").arms.count == 4)
        let often = """
            sweep: { of: dexcom-g7, mode: closed, grid: { "rules[LOW,HIGH].cooldown": [60s, 4m], "rules[LOW,HIGH].repeatEvery": [2m] } }
            """
        #expect(try Self.study(often).arms.count == 4)
        let afterFront = """
            sweep: { of: { policy: mine, extends: dexcom-g7, notifyInForeground: false, afterFront: { left: 2m } }, mode: closed, grid: { "rules[LOW,HIGH].cooldown": [60s, 5m] } }
            """
        #expect(try Self.study(afterFront).arms.count == 4)
        let signal = """
            sweep: { of: dexcom-g7, mode: closed, grid: { "rules[SIGNAL-LOSS].cooldown": [61s, 4m] } }
            """
        #expect(try Self.study(signal).arms.count == 4)
    }

    /// The claim behind joining, tried on what it is about: sessions with lost signals, failing sensors and whatever else strikes.
    @Test("variants that are joined decide the same, effect by effect, in sessions in which much goes wrong")
    func same() throws {
        var study = try Self.study(
            Self.grid,
            """
            duration: 10d
            scenario: { preset: life }
            faults: { signal-loss: { rate: 3 }, temporary-sensor-error: { rate: 2 }, sensor-failure: { rate: 0.3 } }
            """, count: 4)
        let sweep = try #require(study.sweep)
        let joined = study.joined(sweep.variants).filter { $0.count > 1 }
        #expect(joined.count == 12)
        study.sweep = nil
        let people = try CohortLoader.subjects(of: study, studyPath: "", jobs: 2)
        var effects = 0
        for index in people.indices {
            let session = try Session(
                study: study, subject: people[index], index: index, arm: study.arms[0],
                shadows: ShadowPlan(sweep.variants))
            _ = session.run()
            let told = session.shadowEffects
            for group in joined {
                for place in group.dropFirst() {
                    #expect(told[place].count == told[group[0]].count)
                    #expect(
                        zip(told[place], told[group[0]]).allSatisfy {
                            $0.instant == $1.instant && $0.kind == $1.kind && $0.reason == $1.reason
                        })
                }
            }
            effects += told.reduce(0) { $0 + $1.count }
            // And those that are not joined do differ.
            #expect(Set(told.map(\.count)).count > 1)
        }
        #expect(effects > 1000)
    }
}
