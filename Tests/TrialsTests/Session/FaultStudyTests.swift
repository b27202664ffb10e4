// Studies with faults: what the key says, what a session makes of it, and that the account stays exact.

import IsletFiles
import IsletDevices
import IsletKernel
import IsletModels
import Testing

@testable import IsletTrials

@Suite("A study with faults")
struct FaultStudyTests {
    private func study(_ overrides: String...) throws -> Study {
        try Study.parse(
            """
            study: faulty
            seed: 5
            duration: 1d
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 10 } }
            sensor: dexcom-g7
            faults: all
            record: events
            arms: [{ algorithm: pid-insulin-feedback }]
            """, file: "faulty.yaml", overrides: overrides.map { try SetOverride($0) })
    }

    @Test(
        "reads back as itself",
        arguments: [
            "all", "none", "{ occlusion: true, signal-loss: { rate: 4.5 } }",
            "{ site-failure: { rate: { child: 0.5 } }, uncertain-delivery: true }",
            "{ site-failure: { rate: 0.01 } }",
            "{ pod-fault: false, scheduled: [{ at: 2h, kind: occlusion, for: 90m }, { at: 03:00, kind: signal-loss }] }",
        ])
    func roundTrip(faults: String) throws {
        let study = try study("faults=\(faults)")
        #expect(try Study.parse(study.yaml, file: "yaml") == study, "\(study.yaml)")
        #expect(try Study.parse(study.json.compactText, file: "json") == study)
    }

    @Test(
        "refuses what is no fault",
        arguments: [
            "some", "{ oclusion: true }", "{ occlusion: { rate: -1 } }", "{ command-failure: { rate: 1.5 } }",
            "{ scheduled: [{ at: 2h, kind: missing-pulses, for: 1h }] }",
            "{ scheduled: [{ at: 2h, for: 1h }] }",
            "{ scheduled: [{ at: 2h, kind: occlusion, for: 0s }] }",
        ])
    func refusals(faults: String) {
        #expect(throws: InputError.self) { try study("faults=\(faults)") }
    }

    /// A study with it came to the same as one without, and said so of a fault that had never struck.
    @Test(
        "refuses missing pulses where an arm gives all basal as boluses, with their line, and runs them in open loop"
    )
    func missingPulses() throws {
        let text = """
            study: pulses
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 1 } }
            faults:
              occlusion: true
              missing-pulses: ON
            arms: [{ algorithm: basal-bolus }, { name: loop, algorithm: ALGORITHM }]
            """
        func parse(_ on: String, _ algorithm: String, hasRun: Bool = false) throws -> Study {
            let study = text.replacing("ON", with: on).replacing("ALGORITHM", with: algorithm)
            return try Study.parse(study, file: "pulses.yaml", hasRun: hasRun)
        }
        for on in ["true", "{ rate: 1 }"] {
            let problem = #expect(throws: InputError.self) { try parse(on, "pid-insulin-feedback") }
            #expect(
                problem?.description
                    == "pulses.yaml:5: found missing-pulses with the arm `loop` at faults.missing-pulses, expected arms in open loop only: "
                    + "pid-insulin-feedback gives all basal as boluses, and missing-pulses strikes temporary basal rates alone",
                "\(problem as Any)")
            #expect(try parse(on, "basal-bolus").faults.settings[FaultKind.missingPulses.index] != .off)
            // What has run is read as it ran.
            #expect(try parse(on, "pid-insulin-feedback", hasRun: true).arms.count == 2)
        }
        #expect(
            try parse("false", "pid-insulin-feedback").faults.settings[FaultKind.missingPulses.index] == .off)
        // All that can go wrong leaves it out, and is on for everything else.
        let all = try study().faults
        #expect(FaultKind.all.filter { all.settings[$0.index] == .off } == [.missingPulses])
    }

    @Test("has the site failures of its age group, and scheduled faults by local time")
    func plans() throws {
        let faults = try study("faults={ site-failure: true, scheduled: [{ at: 07:00, kind: pod-fault }] }")
            .faults
        let start = try #require(StudyStart(StudyStart.defaultText))
        let week = TimeSpan(seconds: 7 * 86_400)
        let groups: [AgeGroup?] = [.adult, .adolescent, .child, nil]
        let rates = groups.map {
            faults.plan(start: start, duration: week, group: $0).rate(of: .siteFailure)
        }
        #expect(rates == [2.7e-4, 8.3e-4, 6.3e-4, 4.7e-4])
        let own = try study("faults={ site-failure: { rate: { child: 0.5, other: 0.25 } } }").faults
        let ownRates = groups.map {
            own.plan(start: start, duration: week, group: $0).rate(of: .siteFailure)
        }
        #expect(ownRates == [2.7e-4, 8.3e-4, 0.5, 0.25])
        // The study starts at 06:00.
        let scheduled = faults.plan(start: start, duration: week, group: nil).scheduled
        #expect(scheduled.map(\.at) == (0..<7).map { Instant.minutes(60 + 1440 * $0) })
    }

    @Test("repeats, and differs from the study without")
    func digests() throws {
        let subjects = try CohortLoader.subjects(of: study(), studyPath: "faulty.yaml", jobs: 1)
        func digest(_ study: Study) throws -> Digest128 {
            try Session(study: study, subject: subjects[0], index: 0, arm: study.arms[0]).run().digest
        }
        let faulty = try digest(study())
        #expect(try digest(study()) == faulty)
        #expect(try digest(study("faults=none")) != faulty)
        // Off is off: a mapping that switches nothing on is no fault at all.
        #expect(try digest(study("faults={ occlusion: false }")) == digest(study("faults=none")))
    }

    @Test("is heard of by the alert center")
    func alerts() throws {
        let study = try study(
            """
            faults={ scheduled: [{ at: 2h, kind: pump-outage, for: 20m }, { at: 5h, kind: pod-fault, for: 30m }, \
            { at: 8h, kind: sensor-failure, for: 30m }, { at: 12h, kind: temporary-sensor-error, for: 1h }] }
            """, "scenario.meals=none", "sensor=ideal")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "faulty.yaml", jobs: 1)
        let session = try Session(study: study, subject: subjects[0], index: 0, arm: study.arms[0])
        _ = session.run()
        func raised(_ code: AlertName) -> [Double] {
            session.recorder.alerts.filter { $0.code == code && $0.effect == "raise" }.map(\.instant.minutes)
        }
        #expect(raised("ALERT-PUMP-SIGNAL-LOSS") == [125])
        #expect(raised("ALERT-PUMP-FAULT") == [300])
        #expect(raised("ALERT-CGM-FAILED-OR-EXPIRED") == [480])
        // An ideal sensor needs no warm-up: the temporary error alone.
        #expect(raised("ALERT-CGM-UNAVAILABLE") == [720])
        #expect(session.recorder.faults.map { $0.end.minutes - $0.instant.minutes } == [20, 30, 30, 60])
    }

    @Test(
        "that has no signal for twenty hours rings as each policy promises",
        arguments: ["dexcom-g7", "xdrip", "bionicloop"])
    func lostSignal(policy: String) throws {
        let study = try study(
            "faults={ scheduled: [{ at: 2h, kind: signal-loss, for: 20h }] }", "sensor=ideal",
            "scenario.meals=[{ at: 1h, carbs: 200 }]", "arms=[{ algorithm: basal-bolus, alerts: \(policy) }]")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "faulty.yaml", jobs: 1)
        let session = try Session(study: study, subject: subjects[0], index: 0, arm: study.arms[0])
        _ = session.run()
        func minutes(_ effect: String, _ code: AlertName? = nil) -> [Double] {
            session.recorder.alerts.filter { $0.effect == effect && (code ?? $0.code) == $0.code }.map(
                \.instant.minutes)
        }
        switch policy {
        case "dexcom-g7":
            // The last reading came at 115 min; the next one comes at 22 h.
            #expect(minutes("raise", "SIGNAL-LOSS") == [135])
            #expect(minutes("notify", "SIGNAL-LOSS") == [135])
            #expect(minutes("clear", "SIGNAL-LOSS") == [1320])
        case "xdrip":
            // High when the signal goes: it rings while the value is fresh, and no more until there is another. The silence is told once.
            #expect(minutes("notify", "HIGH").contains { $0 < 120 })
            #expect(minutes("notify").filter { $0 > 130 && $0 < 1320 } == [135])
            #expect(minutes("notify", "SIGNAL-LOSS") == [135])
        default:
            #expect(minutes("raise").filter { $0 > 120 && $0 < 1320 } == [])
        }
    }

    @Test("keeps its account of insulin to a pulse in each of a thousand sessions, and logs true spans")
    func ledger() throws {
        // Rates that put every kind into the small days, and one subject's body for all of them.
        let rates = FaultKind.all.filter(\.strikesClosedLoop).map { kind -> String in
            switch kind {
            case .occlusion, .podFault, .pumpOutage: "\(kind.id): { rate: 6 }"
            case .siteFailure: "\(kind.id): { rate: 0.2 }"
            case .commandFailure, .uncertainDelivery: "\(kind.id): { rate: 0.2 }"
            default: "\(kind.id): true"
            }
        }
        let study = try study("faults={ \(rates.joined(separator: ", ")) }", "duration=2h")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "faulty.yaml", jobs: 1)
        var (requested, lost, uncertain, refused) = (Int64(0), Int64(0), Int64(0), Int64(0))
        var kinds: Set<String> = []
        for index in 0..<1000 {
            let session = try Session(
                study: study, subject: subjects[index % subjects.count], index: index, arm: study.arms[0])
            try session.advance(to: session.duration)
            let ledger = session.ledger
            #expect(ledger.isBalanced, "session \(index): \(ledger)")
            requested += ledger.requested
            lost += ledger.lost
            uncertain += ledger.uncertain
            refused += ledger.refused
            _ = session.run()
            for fault in session.recorder.faults {
                #expect(fault.end >= fault.instant && fault.end <= session.duration.adding(Nanoseconds.day))
                kinds.insert(fault.kind)
            }
        }
        #expect(requested > 0 && lost > 0 && uncertain > 0 && refused > 0)
        #expect(kinds.isSuperset(of: ["occlusion", "site-failure", "pump-outage", "uncertain-delivery"]))
    }
}
