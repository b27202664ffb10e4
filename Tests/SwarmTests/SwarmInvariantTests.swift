// Each invariant, shown evidence that breaks it.

@testable import Swarm
import IsletLoop
import IsletDevices
import IsletModels
import IsletKernel
import Testing

@testable import IsletTrials

@Suite("An invariant of the swarm")
struct SwarmInvariantTests {
    /// A quiet day with some faults, and nothing wrong with it.
    private static func evidence(_ faults: String = "none") throws -> SwarmEvidence {
        let study = try Study.parse(
            """
            study: watched
            seed: 5
            duration: 12h
            sensor: dexcom-g7
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 1 } }
            faults: \(faults)
            arms: [{ algorithm: pid-insulin-feedback }]
            """, file: "watched.yaml")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 1)
        return try SwarmTrial(study: study, subject: subjects[0]).watch().0
    }

    private func names(_ evidence: SwarmEvidence) -> [String] {
        var names: [String] = []
        for violation in SwarmInvariants.violations(in: evidence) where !names.contains(violation.invariant) {
            names.append(violation.invariant)
        }
        return names
    }

    @Test("finds nothing in a quiet day, nor in one of explained faults")
    func quiet() throws {
        #expect(names(try Self.evidence()) == [])
        #expect(
            names(
                try Self.evidence(
                    """
                    { scheduled: [{ at: 2h, kind: pump-outage, for: 4m }, { at: 3h, kind: signal-loss, for: 30m },
                    { at: 5h, kind: pod-fault, for: 20m }, { at: 7h, kind: sensor-failure, for: 40m }] }
                    """)) == [])
    }

    @Test("sees a second delivery under one number")
    func doubleDelivery() throws {
        var evidence = try Self.evidence()
        let index = try #require(evidence.calls.firstIndex { $0.pushed > 0 })
        evidence.calls.insert(evidence.calls[index], at: index + 1)
        #expect(NoDoubleDelivery.violations(in: evidence).map(\.instant) == [evidence.calls[index].instant])
        // Other books don't add up either.
        #expect(names(evidence).contains(InsulinConserved.name))
    }

    @Test("sees insulin in a call that asks for none")
    func unasked() throws {
        var evidence = try Self.evidence()
        evidence.calls.append(
            .init(instant: .minutes(60), kind: .other, id: nil, pushed: 1, counted: 0, isBalanced: true))
        #expect(!NoDoubleDelivery.violations(in: evidence).isEmpty)
    }

    @Test("sees doses beyond the limits")
    func limits() throws {
        var evidence = try Self.evidence()
        evidence.steps[20].output?.correction = InsulinAmount(units: 5)
        #expect(NoDoseAboveLimits.violations(in: evidence).map(\.instant) == [evidence.steps[20].input.now])
        evidence.steps[20].output?.correction = InsulinAmount(units: .nan)
        #expect(NoDoseAboveLimits.violations(in: evidence).count == 1)
        // An algorithm that says no limit has none but the pump's.
        evidence.steps[20].output?.correction = InsulinAmount(units: 5)
        evidence.steps[20].largestDose = nil
        #expect(NoDoseAboveLimits.violations(in: evidence).isEmpty)
        evidence.steps[20].output?.correction = .zero
        evidence.calls[3].pushed = 601
        #expect(NoDoseAboveLimits.violations(in: evidence).map(\.instant) == [evidence.calls[3].instant])
    }

    @Test("sees glucose that the sensor never gave, is too old, or was used before")
    func staleGlucose() throws {
        let sound = try Self.evidence()
        var evidence = sound
        evidence.steps[20].input.cgm?.glucose = GlucoseConcentration(milligramsPerDecilitre: 77.7)
        #expect(NoDoseOnStaleGlucose.violations(in: evidence).count == 1)
        evidence = sound
        evidence.steps[20].input.cgm = sound.steps[15].input.cgm
        // Never of this step, used by step 15, and too old to be pushed.
        #expect(NoDoseOnStaleGlucose.violations(in: evidence).count >= 2)
        evidence = sound
        evidence.steps[20].input.cgm = nil
        evidence.steps[20].output?.correction = InsulinAmount(units: 0.1)
        #expect(!NoDoseOnStaleGlucose.violations(in: evidence).isEmpty)
        evidence = sound
        let late = try #require(evidence.calls.lastIndex { $0.pushed > 0 })
        evidence.calls[late].instant = evidence.calls[late].instant.adding(LoopTiming.step)
        #expect(!NoDoseOnStaleGlucose.violations(in: evidence).isEmpty)
    }

    @Test("sees a correction that outlives its step")
    func leftOver() throws {
        var evidence = try Self.evidence()
        // Its own request carries a second step's worth of insulin that no step could dose.
        let index = try #require(evidence.calls.lastIndex { $0.pushed > 0 })
        evidence.calls[index].pushed += 3
        #expect(!NoDoseOnStaleGlucose.violations(in: evidence).isEmpty)
    }

    @Test("sees steps lost, doubled, renumbered or off their points")
    func steps() throws {
        let sound = try Self.evidence()
        var evidence = sound
        evidence.steps.remove(at: 30)
        #expect(!StepsConsistent.violations(in: evidence).isEmpty)
        evidence = sound
        evidence.steps.insert(evidence.steps[30], at: 30)
        #expect(!StepsConsistent.violations(in: evidence).isEmpty)
        evidence = sound
        evidence.steps[30].input.algorithmTime += 1
        #expect(!StepsConsistent.violations(in: evidence).isEmpty)
        evidence = sound
        evidence.steps[30].input.now = evidence.steps[30].input.now.adding(-28 * Nanoseconds.second)
        #expect(!StepsConsistent.violations(in: evidence).isEmpty)
        evidence = sound
        evidence.steps.removeLast(3)
        evidence.loopSteps.removeLast(3)
        #expect(!StepsConsistent.violations(in: evidence).isEmpty)
        evidence = sound
        evidence.loopSteps[5].algorithmTime = 6
        #expect(!StepsConsistent.violations(in: evidence).isEmpty)
    }

    @Test("lets an app's death excuse the steps of its dead time, and no others")
    func deathExcusesNoOtherStep() throws {
        let sound = try Self.evidence("{ scheduled: [{ at: 600m, kind: app-quit, for: 31m }] }")
        #expect(StepsConsistent.violations(in: sound).isEmpty)
        var evidence = sound
        evidence.steps.remove(at: 30)
        evidence.loopSteps.remove(at: 30)
        evidence.skipped += 1
        #expect(!StepsConsistent.violations(in: evidence).isEmpty)
        evidence = sound
        evidence.steps.removeAll { $0.input.now > .minutes(60) }
        evidence.loopSteps.removeAll { $0.instant > .minutes(60) }
        #expect(!StepsConsistent.violations(in: evidence).isEmpty)
    }

    @Test("sees a pulse too many or too few, in account, body and the loop's eyes")
    func insulin() throws {
        let sound = try Self.evidence()
        var evidence = sound
        let ledger = sound.ledger
        evidence.ledger = PumpLedger(
            requested: ledger.requested, delivered: ledger.delivered + 1, refused: ledger.refused,
            basal: ledger.basal, lost: ledger.lost, uncertain: ledger.uncertain, held: ledger.held)
        #expect(!InsulinConserved.violations(in: evidence).isEmpty)
        evidence = sound
        evidence.bodyBolus += 0.05
        #expect(!InsulinConserved.violations(in: evidence).isEmpty)
        evidence = sound
        evidence.calls[4].isBalanced = false
        #expect(!InsulinConserved.violations(in: evidence).isEmpty)
        evidence = sound
        let index = try #require(evidence.loopSteps.firstIndex { $0.accepted > .zero })
        evidence.loopSteps[index].accepted = .zero
        #expect(!InsulinConserved.violations(in: evidence).isEmpty)
    }

    @Test("sees an algorithm that nobody told of a dose that never came")
    func shortfall() throws {
        var evidence = try Self.evidence("{ scheduled: [{ at: 2h, kind: command-failure, for: 90m }] }")
        #expect(names(evidence) == [])
        evidence = try Self.evidence("{ scheduled: [{ at: 1h, kind: uncertain-delivery, for: 8h }] }")
        let told = evidence.steps.indices.filter { evidence.steps[$0].input.shortfall != nil }
        #expect(!told.isEmpty)
        #expect(names(evidence) == [])
        evidence.steps[told[0]].input.shortfall = nil
        #expect(names(evidence) == [InsulinConserved.name])
    }

    @Test(
        "sees a fault without its alert",
        arguments: [
            ("pump-outage", "20m", "ALERT-PUMP-SIGNAL-LOSS"), ("pod-fault", "30m", "ALERT-PUMP-FAULT"),
            ("sensor-failure", "30m", "ALERT-CGM-FAILED-OR-EXPIRED"),
            ("temporary-sensor-error", "1h", "ALERT-CGM-UNAVAILABLE"),
            ("occlusion", "10h", "ALERT-PUMP-FAULT"),
        ])
    func unheard(kind: String, length: String, code: AlertName) throws {
        var evidence = try Self.evidence("{ scheduled: [{ at: 62m, kind: \(kind), for: \(length) }] }")
        #expect(names(evidence) == [])
        #expect(evidence.alerts.contains { $0.code == code })
        evidence.alerts.removeAll { $0.code == code }
        #expect(FaultsExplained.violations(in: evidence).map(\.instant) == [.minutes(62)])
    }

    /// The notification of the first death was taken down together with the one that the step between them had scheduled.
    @Test("hears of a second death of the app that comes right after the first")
    func twoDeaths() throws {
        let evidence = try Self.evidence(
            """
            { scheduled: [{ at: 1h7m7s, kind: app-quit, for: 13m25s },
            { at: 1h21m41s, kind: app-quit, for: 18m5s }] }
            """)
        #expect(evidence.faults.count == 2)
        #expect(names(evidence) == [])
        let rings = evidence.alerts.filter {
            $0.effect == "notify" && $0.code.rawValue == "ALERT-ALGORITHM-STEPPING-INTERRUPTED"
        }.map(\.instant.minutes)
        #expect(rings.count == 2, "\(rings)")
    }

    @Test("takes what explains a fault for an explanation")
    func explained() throws {
        for fault in [
            "pump-outage, for: 5m", "temporary-sensor-error, for: 2m", "sensor-failure, for: 1m",
            "occlusion, for: 20m",
        ] {
            let evidence = try Self.evidence("{ scheduled: [{ at: 62m, kind: \(fault) }] }")
            #expect(evidence.faults.count == 1, "\(fault)")
            #expect(names(evidence) == [], "\(fault)")
        }
        let hidden = try Self.evidence(
            "{ scheduled: [{ at: 60m, kind: pump-outage, for: 1h }, { at: 70m, kind: pod-fault, for: 5m }] }")
        #expect(!hidden.alerts.contains { $0.code == "ALERT-PUMP-FAULT" && $0.effect == "raise" })
        #expect(names(hidden) == [])
    }

    @Test("sees a zero that outlasts its steps, and basal that nobody told the algorithm of")
    func basalFloor() throws {
        let sound = try Self.evidence()
        #expect(BasalFloor.violations(in: sound).isEmpty && sound.flows.last?.unitsPerHour == 0)
        var evidence = sound
        evidence.steps.removeAll { $0.input.now > .minutes(300) }
        let last = try #require(evidence.steps.last).input.now
        #expect(BasalFloor.violations(in: evidence).map(\.instant) == [evidence.endedAt])
        // The programme is back.
        for (minutes, isBroken) in [(30, false), (36, true)] as [(Int64, Bool)] {
            let back = last.adding(minutes * Nanoseconds.minute)
            evidence.flows = sound.flows.filter { $0.instant <= last }
            evidence.flows.append(.init(instant: back, unitsPerHour: 1))
            #expect(BasalFloor.violations(in: evidence).map(\.instant) == (isBroken ? [back] : []))
        }
        // A pulse that the pump gave by itself, and no step heard of.
        evidence = sound
        evidence.steps[40].basalPushed += 1
        #expect(BasalFloor.violations(in: evidence).map(\.instant) == [evidence.steps[40].input.now])
    }

    @Test("sees insulin for a meal of more than a quarter of an hour ago, for none, and above the maximum")
    func lateRequest() throws {
        let sound = try Self.evidence()
        #expect(NoLateRequests.violations(in: sound).isEmpty)
        let step = try #require(
            sound.steps.firstIndex { ($0.output?.meal ?? .zero) > InsulinAmount(units: 1) })
        let said = try #require(sound.steps[step].input.user.meal).instant
        let call = try #require(
            sound.calls.firstIndex { $0.id == sound.steps[step].input.algorithmTime && $0.pushed > 0 })
        var evidence = sound
        evidence.calls[call].instant = said.adding(LoopTiming.owed)
        #expect(NoLateRequests.violations(in: evidence).isEmpty)
        evidence.calls[call].instant = said.adding(LoopTiming.owed + 1)
        #expect(NoLateRequests.violations(in: evidence).map(\.instant) == [evidence.calls[call].instant])
        evidence = sound
        evidence.meals.removeAll { $0.instant == said }
        #expect(NoLateRequests.violations(in: evidence).map(\.instant).first == sound.steps[step].input.now)
        evidence = sound
        evidence.steps[step].input.therapy.maximumBolus = InsulinAmount(units: 1)
        #expect(NoLateRequests.violations(in: evidence).map(\.instant) == [sound.calls[call].instant])
    }

    @Test("sees insulin that is missing for two hours, and nobody told, the app alive or dead")
    func missingIsTold() throws {
        for fault in ["command-failure, for: 3h", "app-quit, for: 45m"] {
            let sound = try Self.evidence("{ scheduled: [{ at: 4h, kind: \(fault) }] }")
            #expect(MissingIsTold.violations(in: sound).isEmpty)
            var evidence = sound
            // No pump gave anything by itself.
            evidence.flows = [.init(instant: .start, unitsPerHour: 0)]
            evidence.alerts.removeAll { $0.code.rawValue == "LOOP-INSULIN-MISSING" }
            let found = MissingIsTold.violations(in: evidence)
            #expect(found.count == 1, "\(fault): \(found)")
        }
        // A quiet day lacks nothing, told or not.
        var quiet = try Self.evidence()
        #expect(!quiet.alerts.contains { $0.code.rawValue.hasPrefix("LOOP-") })
        quiet.alerts = []
        #expect(MissingIsTold.violations(in: quiet).isEmpty)
    }

    @Test("sees an hour without a pod that nobody is told of, the app alive or dead")
    func podIsTold() throws {
        let pod = "{ at: 4h, kind: pod-fault, for: 2h }"
        for faults in [pod, "\(pod), { at: 245m, kind: app-quit, for: 2h }"] {
            let sound = try Self.evidence("{ scheduled: [\(faults)] }")
            #expect(PodIsTold.violations(in: sound).isEmpty)
            var evidence = sound
            evidence.alerts.removeAll {
                $0.code.rawValue.hasPrefix("ALERT-PUMP-") || $0.code.rawValue.hasPrefix("LOOP-")
                    || $0.code.rawValue.hasSuffix("STEPPING-INTERRUPTED")
            }
            #expect(PodIsTold.violations(in: evidence).count == 1)
            // A pod that is back within the hour is nobody's alarm.
            evidence.podGaps[0].end = evidence.podGaps[0].instant.adding(59 * Nanoseconds.minute)
            #expect(PodIsTold.violations(in: evidence).isEmpty)
        }
    }

    @Test("sees a loop that doesn't recover within three steps")
    func recovery() throws {
        let sound = try Self.evidence("{ scheduled: [{ at: 122m, kind: pump-outage, for: 20m }] }")
        // The outage ends at minute 142; the third step after it is that of minute 155.
        func broken(at minute: Int64) throws -> [Violation] {
            var evidence = sound
            let index = try #require(evidence.steps.firstIndex { $0.input.now == .minutes(minute) })
            evidence.steps[index].input.insulinPump = .unavailable
            return LoopRecovers.violations(in: evidence)
        }
        #expect(try broken(at: 150).isEmpty)
        #expect(try broken(at: 155).map(\.instant) == [.minutes(155)])
        #expect(try broken(at: 300).map(\.instant) == [.minutes(300)])
        var evidence = sound
        evidence.steps[70].input.cgm = nil
        #expect(LoopRecovers.violations(in: evidence).count == 1)
    }

    @Test("sees a session that fails, and forgives a body that leaves its range")
    func failure() throws {
        var evidence = try Self.evidence()
        evidence.endedEarly = "something"
        #expect(names(evidence) == [SessionRuns.name])
        evidence.leftRange = true
        #expect(names(evidence) == [])
    }
}
