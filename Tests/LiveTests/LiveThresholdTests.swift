import IsletFiles
import IsletAlerts
import IsletLoop
import Foundation
import IsletDevices
import IsletKernel
import Testing
import IsletTrials

@testable import IsletLive

/// Thresholds with their sensitivity and switch.
@Suite(.timeLimit(.minutes(45))) struct LiveThresholdTests {
    private static let high = "THRESHOLD-GLUCOSE-HIGH"
    private static let low = "THRESHOLD-GLUCOSE-LOW"

    @Test func whatIsSetCanBeReadBack() throws {
        let told = try Told()
        told.session.advance(to: .minutes(30))
        #expect(
            told.session.snapshot.thresholds.map(\.metric)
                == AlertMetric.inStudies.filter { LiveInput.range(of: $0) != nil })
        #expect(told.session.snapshot.thresholds.allSatisfy { !$0.isEnabled })
        func says(_ low: Double?, _ high: Double?, _ minutes: Int64, _ isEnabled: Bool) -> Bool {
            told.glucose
                == MetricThreshold(
                    metric: .glucose, low: low, high: high, sensitivity: minutes * Nanoseconds.minute,
                    isEnabled: isEnabled)
        }
        told.say(60, .threshold(metric: "glucose", low: 70, high: 180, sensitivityMinutes: 15))
        #expect(says(70, 180, 15, true))
        told.say(61, .threshold(metric: "glucose", low: 75, high: nil))
        #expect(says(75, nil, 15, true))
        told.say(62, .switchThreshold(metric: "glucose", isEnabled: false))
        #expect(says(75, nil, 15, false))
        told.say(
            63, .threshold(metric: "glucose", low: 60, high: 200, sensitivityMinutes: 60, isEnabled: false))
        #expect(says(60, 200, 60, false))
        told.say(64, .switchThreshold(metric: "glucose", isEnabled: true))
        #expect(says(60, 200, 60, true))
        let rules = told.session.snapshot.policy?.rules.filter { $0.code.rawValue.hasPrefix("THRESHOLD-") }
        #expect(rules?.map(\.debounce) == [60 * Nanoseconds.minute, 60 * Nanoseconds.minute])
        told.say(65, .threshold(metric: "glucose", low: nil, high: nil))
        #expect(says(nil, nil, 60, false))
        #expect(isRefused(told.say(66, .switchThreshold(metric: "glucose", isEnabled: true)), "set low"))
        // The policy's own are there too.
        var study = try smallStudy()
        study.arms[0].alerts = try AlertPolicy.parse(
            "policy: p\nthresholds: [{ metric: glucose, min: 65, max: 240, sensitivity: 20m }]",
            file: "p.yaml")
        let own = try Told(0, study)
        own.say(1, .switchThreshold(metric: "glucose", isEnabled: false))
        own.say(2, .switchThreshold(metric: "glucose", isEnabled: true))
        #expect(
            own.glucose
                == MetricThreshold(
                    metric: .glucose, low: 65, high: 240, sensitivity: 20 * Nanoseconds.minute,
                    isEnabled: true))
        #expect(own.session.snapshot.policy?.rules == study.arms[0].alerts.rules)
    }

    /// Harm: whoever asks for an hour while a wait is under way waits for an hour more; whoever asks for less hears nothing until the next breach.
    @Test(arguments: [(60, 114), (30, 84), (0, 65), (5, 65)])
    func anotherSensitivityCountsFromWhenTheConditionBegan(_ minutes: Int, _ rings: Int64) throws {
        let told = try Told()
        told.say(50, .threshold(metric: "glucose", low: nil, high: 45, sensitivityMinutes: 15))
        told.session.advance(to: .minutes(60))
        #expect(told.session.snapshot.waiting.map(\.rawValue) == [Self.high])
        told.say(65, .threshold(metric: "glucose", low: nil, high: 45, sensitivityMinutes: minutes))
        told.session.advance(to: .minutes(200))
        #expect(told.rings(Self.high).first == rings)
    }

    /// Harm: a critical low that waits is waited for longer because of what somebody typed about the threshold.
    @Test func aCriticalLowThatNoThresholdWaitsForRingsWhateverTheSensitivityIs() throws {
        let study = try alwaysUrgentlyLow()
        let told = try Told(0, study)
        told.say(10, .threshold(metric: "glucose", low: 390, high: nil, sensitivityMinutes: 60))
        #expect(told.active(30).contains("ALERT-CGM-URGENT-LOW") && !told.active().contains(Self.low))
        told.say(31, .switchThreshold(metric: "glucose", isEnabled: false))
        #expect(told.active(32).contains("ALERT-CGM-URGENT-LOW"))
    }

    /// Harm: one that is active is silently gone, or rings at each touch of the picker.
    @Test func anotherSensitivityLeavesWhatIsActive() throws {
        let told = try Told()
        told.say(50, .threshold(metric: "glucose", low: nil, high: 45))
        told.session.advance(to: .minutes(55))
        let before = told.session.snapshot.alerts.first { $0.code.rawValue == Self.high }
        for (minute, sensitivity) in [(Int64(61), 60), (62, 15), (63, 0), (64, 1440)] {
            told.say(
                minute, .threshold(metric: "glucose", low: nil, high: 45, sensitivityMinutes: sensitivity))
        }
        let after = told.session.snapshot.alerts.first { $0.code.rawValue == Self.high }
        #expect(after != nil && after?.raisedAt == before?.raisedAt && after?.severity == before?.severity)
        #expect(told.rings(Self.high) == [54])
    }

    /// Harm: an alert that was switched off rings on; one that was switched on again never rings, or at each click.
    @Test func offAndOnAgainWhileItIsActive() throws {
        let told = try Told()
        told.say(50, .threshold(metric: "glucose", low: nil, high: 45))
        told.session.advance(to: .minutes(55))
        told.say(61, .switchThreshold(metric: "glucose", isEnabled: false))
        #expect(!told.active().contains(Self.high))
        told.say(62, .switchThreshold(metric: "glucose", isEnabled: true))
        // By the next reading, as every new threshold.
        #expect(told.active(65).contains(Self.high))
        told.say(66, .switchThreshold(metric: "glucose", isEnabled: false))
        told.say(66, .switchThreshold(metric: "glucose", isEnabled: false))
        #expect(!told.active().contains(Self.high))
        told.say(67, .switchThreshold(metric: "glucose", isEnabled: true))
        told.session.advance(to: .minutes(90))
        #expect(told.rings(Self.high) == [54, 64, 69])
    }

    /// Harm: the numbers are lost with the process, or come back as another policy's.
    @Test func whatWasSwitchedOffOutlivesAKill() throws {
        try withFolder { folder in
            let (path, opening) = (folder + "/a.journal", try opening(0))
            _ = try LiveSession(opening, journal: try JournalFile.create(path, opening: opening.json))
            let inputs: [(Int64, LiveInput)] = [
                (60, .threshold(metric: "glucose", low: 60, high: 150, sensitivityMinutes: 15)),
                (70, .switchThreshold(metric: "glucose", isEnabled: false)), (80, .signOut),
                (90, .preview(alert: "ALERT-PUMP-FAULT")), (95, .subjectClaim(isOk: false)),
            ]
            var (before, digest) = (LiveSnapshot(), Digest128())
            for (minute, input) in inputs {
                let session = try LiveReplay.resume(path)
                #expect(session.take(LiveCommand(input), at: .minutes(minute)).outcome == .taken)
                (before, digest) = (session.snapshot, session.digest)
            }
            let session = try LiveReplay.resume(path)
            #expect(session.digest == digest && session.snapshot.thresholds == before.thresholds)
            #expect(before.thresholds.first?.low == 60 && before.thresholds.first?.isEnabled == false)
            #expect(session.snapshot.alerts == before.alerts && !session.snapshot.isSignedIn)
            _ = session.take(
                LiveCommand(.switchThreshold(metric: "glucose", isEnabled: true)), at: .minutes(100))
            #expect(session.snapshot.thresholds.first?.high == 150)
            #expect(session.snapshot.thresholds.first?.sensitivity == 15 * Nanoseconds.minute)
        }
    }

    /// Harm: a journal that was written before comes to other bits.
    @Test func whatJournalsHadBeforeReadsBackToTheSameBytes() throws {
        for (input, bytes) in [
            (
                LiveInput.threshold(metric: "glucose", low: nil, high: 45),
                #"{"threshold":{"high":45,"metric":"glucose"}}"#
            ),
            (
                .threshold(metric: "glucose", low: 70.5, high: 180),
                #"{"threshold":{"high":180,"low":70.5,"metric":"glucose"}}"#
            ),
            (
                .threshold(metric: "glucose", low: nil, high: nil), #"{"threshold":{"metric":"glucose"}}"#
            ),
        ] {
            #expect(String(decoding: input.bytes, as: UTF8.self) == bytes)
            #expect(LiveInput(bytes: Array(bytes.utf8)) == input)
        }
        // And to the same rules: what the policy says of its own side stays, a new side has none.
        let policy = try AlertPolicy.parse(
            "policy: p\nthresholds: [{ metric: glucose, max: 240, sensitivity: 20m }]", file: "p.yaml")
        var thresholds = LiveThresholds()
        let set = thresholds.set(
            .glucose, low: 70, high: 180, sensitivity: nil, isEnabled: nil, in: policy)
        #expect(set == policy.with(low: 70, high: 180, of: .glucose))
        #expect(set.rules.map(\.debounce) == [20 * Nanoseconds.minute, 0])
    }

    @Test func wordsForAllThis() {
        func input(_ line: String) -> LiveInput? {
            guard case .success((.input(let input), _)) = LiveWords.parse(line) else { return nil }
            return input
        }
        #expect(input("login") == .signIn && input("logout") == .signOut)
        #expect(input("settings") == .openSettings && input("save") == .saveSettings)
        #expect(input("dismiss X") == .dismiss(alert: "X") && input("dismiss") == .dismissDropped)
        #expect(input("tap X") == .tap(alert: "X") && input("preview X") == .preview(alert: "X"))
        #expect(
            input("threshold glucose 70-180 15")
                == .threshold(metric: "glucose", low: 70, high: 180, sensitivityMinutes: 15))
        #expect(input("threshold glucose off") == .switchThreshold(metric: "glucose", isEnabled: false))
        #expect(input("threshold glucose on") == .switchThreshold(metric: "glucose", isEnabled: true))
        #expect(input("threshold glucose 70-180 soon") == nil)
    }
}
