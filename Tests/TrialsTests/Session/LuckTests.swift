// What chance may do to a session: sensors with a phase of their own, faults that shift no other's, luck that arms share.

import IsletFiles
import IsletLoop
import IsletDevices
import IsletKernel
import IsletModels
import Testing

@testable import IsletTrials

@Suite("The luck of a session")
struct LuckTests {
    private func study(_ overrides: String...) throws -> Study {
        try Study.parse(
            """
            study: luck
            seed: 5
            duration: 1d
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 12 } }
            sensor: dexcom-g6
            record: full
            arms: [{ name: closed, algorithm: pid-insulin-feedback }, { name: open, algorithm: basal-bolus }]
            """, file: "luck.yaml", overrides: overrides.map { try SetOverride($0) })
    }

    private func session(
        _ study: Study, subject: Int = 0, arm: Int = 0, keepsStepLog: Bool = false
    ) throws -> Session {
        let subjects = try CohortLoader.subjects(of: study, studyPath: "luck.yaml", jobs: 1)
        return try Session(
            study: study, subject: subjects[subject], index: subject, arm: study.arms[arm],
            keepsStepLog: keepsStepLog)
    }

    // MARK: Phase and delay

    @Test(
        "steps on readings that have arrived, each once, early where one arrives just before its grid point")
    func phases() throws {
        let study = try study()
        var (early, onTime) = (0, 0)
        for subject in 0..<12 {
            let session = try session(study, subject: subject, keepsStepLog: true)
            let outcome = session.run()
            let sensor = try #require(session.sensorTimings.first)
            let log = session.takeStepLog()
            // A session of a day has 288 points after its start, one that ends early those up to there; the last step may
            // still wait for its reading.
            let points = Int(outcome.endedAt.nanoseconds / (5 * Nanoseconds.minute))
            #expect(log.count == points || log.count == points - 1)
            var used: Set<Instant> = []
            for step in log {
                let now = step.input.now
                let reading = try #require(step.input.cgm)
                // On the phone before the step, not merely measured before it.
                #expect(reading.instant.adding(sensor.delay) <= now)
                #expect(
                    now.nanoseconds - reading.instant.nanoseconds <= 5 * Nanoseconds.minute + sensor.delay)
                #expect(reading.instant.nanoseconds % (5 * Nanoseconds.minute) == sensor.phase)
                #expect(used.insert(reading.instant).inserted)
                let offset = now.nanoseconds % (5 * Nanoseconds.minute)
                let isEarly = offset >= 5 * Nanoseconds.minute - LoopTiming.earlyWindow
                #expect(isEarly || offset <= LoopTiming.earlyWindow)
                if isEarly { early += 1 } else { onTime += 1 }
            }
        }
        // One sensor in eleven is heard within the window.
        #expect(onTime > early && early > 0, "\(early) early, \(onTime) on time")
    }

    @Test("costs as much with a sensor's phase as on the grid: events and evaluations")
    func cost() throws {
        var (own, grid) = (0, 0)
        var events = ["dexcom-g6": 0, "ideal": 0]
        for subject in 0..<12 {
            for sensor in ["dexcom-g6", "ideal"] {
                let session = try session(study("sensor=\(sensor)"), subject: subject)
                let outcome = session.run()
                if sensor == "ideal" { grid += session.evaluations } else { own += session.evaluations }
                events[sensor, default: 0] += outcome.events
            }
        }
        #expect(events["dexcom-g6", default: 0] <= events["ideal", default: 0] + 12 * 4, "\(events)")
        #expect(Double(own) < 1.15 * Double(grid), "\(own) evaluations against \(grid)")
    }

    // MARK: Arms

    @Test("strikes what two arms send at the same instant alike")
    func arms() throws {
        let study = try study("duration=4d", "faults={ command-failure: { rate: 0.2 } }")
        var failures: [Set<Instant>] = []
        for arm in 0..<2 {
            let session = try session(study, arm: arm)
            _ = session.run()
            failures.append(
                Set(session.recorder.faults.filter { $0.kind == "command-failure" }.map(\.instant)))
        }
        let common = failures[0].intersection(failures[1])
        let fewer = failures.map(\.count).min() ?? 0
        #expect(fewer > 50)
        // By counters it would be one in five of them; what the arms send at the same instants fails alike.
        #expect(Double(common.count) > 0.5 * Double(fewer), "\(common.count) of \(fewer)")
    }

    // MARK: Kinds of other devices

    /// Rates at which each kind comes a few times in two days.
    private static func rate(_ kind: FaultKind) -> String {
        switch kind {
        case .compressionLow, .signalLoss, .temporarySensorError, .pumpOutage, .appRelaunch, .appQuit: "4"
        case .sensorFailure: "0.9"
        case .lateSensorChange, .latePodChange: "10"
        case .commandFailure, .uncertainDelivery: "0.1"
        case .occlusion, .podFault: "1"
        case .siteFailure: "0.05"
        default: "\(kind.rate.defaultValue)"
        }
    }

    /// - Parameter arms: missing pulses are refused beside a closed loop.
    private func onsets(_ kinds: [FaultKind], arms: String) throws -> [String: [Instant]] {
        let rates = kinds.map {
            $0 == .missingPulses ? "\($0.id): true" : "\($0.id): { rate: \(Self.rate($0)) }"
        }
        let session = try session(
            study("duration=2d", "record=events", "faults={ \(rates.joined(separator: ", ")) }", arms))
        _ = session.run()
        return Dictionary(grouping: session.recorder.faults, by: \.kind).mapValues {
            $0.map(\.instant).sorted()
        }
    }

    /// A sensor's faults hang on nothing that pump, app or person do; outages and deaths of the app on nothing at all. What
    /// pods and commands do to each other is `SharedLuckTests`'.
    @Test(
        "has each kind's own onsets, whichever kinds of other devices are on", arguments: FaultKind.all)
    func pairs(kind: FaultKind) throws {
        let (closed, open) = (
            "arms=[{ algorithm: pid-insulin-feedback }]", "arms=[{ algorithm: basal-bolus }]"
        )
        let alone = try [closed, open].map {
            kind.strikesClosedLoop || $0 == open ? try onsets([kind], arms: $0) : [:]
        }
        let sensors: [FaultKind] = [
            .compressionLow, .signalLoss, .temporarySensorError, .sensorFailure, .lateSensorChange,
        ]
        let free: [FaultKind] = [.pumpOutage, .appQuit]
        for other in FaultKind.all where other != kind {
            let isClosed = kind.strikesClosedLoop && other.strikesClosedLoop
            let both = try onsets([kind, other], arms: isClosed ? closed : open)
            let alone = alone[isClosed ? 0 : 1]
            let isStrict =
                free.contains(kind) || (sensors.contains(kind) && !sensors.contains(other))
                || kind == .appRelaunch && other != .appQuit
            if isStrict {
                #expect(both[kind.id] == alone[kind.id], "\(kind) with \(other)")
            } else if kind == .appRelaunch {
                // A dead app isn't launched again before its time.
                #expect(Set(both[kind.id] ?? []).isSubset(of: alone[kind.id] ?? []))
            }
        }
    }

    // MARK: Rates

    @Test("resolves a kind that is on to the rate that it has, as the schema says")
    func resolved() throws {
        let on = try study("faults={ site-failure: true, occlusion: true }")
        let json = on.json.compactText.filter { !$0.isWhitespace }
        #expect(
            json.contains(
                #""site-failure":{"rate":{"adult":0.00027,"adolescent":0.00083,"child":0.00063,"other":0.00047}}"#
            ),
            "\(json)")
        #expect(json.contains(#""occlusion":{"rate":0.01}"#))
        let schema = Study.jsonSchema.compactText
        #expect(
            schema.filter { !$0.isWhitespace }.contains(
                #""default":{"adult":0.00027,"adolescent":0.00083,"child":0.00063,"other":0.00047}"#))
        // What is written out is what runs.
        let start = try #require(StudyStart(StudyStart.defaultText))
        let again = try Study.parse(json, file: "json")
        for group in [AgeGroup.adult, .adolescent, .child, nil] {
            let plans = [on, again].map { $0.faults.plan(start: start, duration: $0.duration, group: group) }
            #expect(plans[0] == plans[1])
        }
        // A whole study's faults are written out, too.
        let all = try study("faults=all")
        #expect(try Study.parse(all.json.compactText, file: "json") == all)
        #expect(all.json.compactText.filter { !$0.isWhitespace }.contains(#""signal-loss":{"rate":1.7}"#))
    }
}
