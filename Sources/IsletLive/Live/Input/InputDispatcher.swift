// Where inputs enter a session: at their instants, on its thread.
//
// Guarantees: an input is taken whole or refused whole, and either is an event of the session, so that a replay comes to the same. A refusal is
// an answer; only what breaks the body ends a session.
// Does not: look at an input by itself: `LiveInput.problem(in:)` has done so.

import IsletFiles
import IsletAlerts
import IsletLoop
package import IsletDevices
import DeviceLinks
package import IsletKernel
import IsletModels
import IsletTrials

/// What inputs do beside telling the alert center something. Called on the session's thread only.
protocol LiveActs: AnyObject {
    var kind: SubjectKind { get }
    /// Somebody goes there.
    /// - Throws: `LiveRefusal`; what breaks the body.
    func visit() throws
    /// A bolus that waits for its confirmation.
    var requestedBolus: RequestedBolus? { get }
    /// Whose ranges are recommended to it, as its subject is now.
    var recommendedTo: (kind: String, stage: String) { get }
    /// Keeps what was recorded and will not be in the recorder any more.
    func note(_ rows: SessionRecorder)
}

/// Called on the session's thread only.
final class InputDispatcher: @unchecked Sendable {
    /// The session outlives its dispatcher.
    private unowned let session: any StudySession
    private let acts: any LiveActs
    /// Whom alerts of metrics are about; empty for the person who hears them.
    private let subject: String
    /// What became of each input that this engine was given, in their order.
    private(set) var outcomes: [LiveOutcome] = []
    /// How many inputs another engine was given before.
    private(set) var inputsBefore = 0
    private(set) var policy: AlertPolicy { didSet { shownThresholds = thresholds.all(in: policy) } }
    private let metrics: [AlertMetric]
    private var thresholds: LiveThresholds
    /// Kept: a look costs nothing.
    private(set) var shownThresholds: [MetricThreshold] = []
    /// Notifications that a phone has confirmed, the newest last.
    private(set) var rings: [ToldRing] = []
    private static let mostRings = 200
    var requestedBolus: RequestedBolus? { acts.requestedBolus }
    func note(_ rows: SessionRecorder) { acts.note(rows) }
    /// nil for a subject that is no person.
    var personActs: PersonActs? { acts as? PersonActs }
    /// The number of the input that is being carried out.
    private(set) var number = 0

    func person() throws -> PersonActs {
        guard let personActs else {
            throw LiveRefusal(.notOfSubject, "not an input of a \(acts.kind.spoken)")
        }
        return personActs
    }

    /// What became of the input of this number; nil where it has no answer, or had it before an upgrade.
    func outcome(of number: Int) -> LiveOutcome? {
        let place = number - 1 - inputsBefore
        return outcomes.indices.contains(place) ? outcomes[place] : nil
    }

    /// What another engine goes on from, beside the alert center's policy.
    var carry: DoorCarry { DoorCarry(thresholds: thresholds.byName, rings: rings) }

    /// Goes on from another engine's. The alert center has done so.
    func adopt(_ carry: DoorCarry, inputs: Int) {
        inputsBefore = inputs
        rings = carry.rings
        thresholds.byName = carry.thresholds
        policy = session.executor.inspect { session.alerts.here { $0.currentPolicy } }
    }

    /// - Parameter metrics: that the session's thresholds can watch.
    init(
        _ session: any StudySession, _ acts: any LiveActs, policy: AlertPolicy, metrics: [AlertMetric],
        subject: String = ""
    ) {
        (self.session, self.acts, self.subject) = (session, acts, subject)
        self.metrics = metrics
        thresholds = LiveThresholds(metrics)
        self.policy = policy
        shownThresholds = thresholds.all(in: policy)
        session.executor.receiveInputs { [unowned self] in try take($0) }
    }

    private func take(_ external: ExternalInput) throws {
        number = inputsBefore + outcomes.count + 1
        var outcome = LiveOutcome.taken
        do {
            guard let input = LiveInput(bytes: external.bytes), let row = input.row else {
                throw LiveRefusal(.notAnInput, "not an input")
            }
            if let missing = row.missing(in: acts.kind) { throw missing }
            try row.perform(input, by: self)
        } catch let refusal as LiveRefusal {
            outcome = .refused(refusal)
        } catch let refused as LoopInputRefused {
            outcome = .refused(.loopLimit, Self.words(refused))
        } catch let error as PumpError {
            outcome = .refused(PersonActs.refusal(error))
        } catch let error as BasalScheduleError {
            outcome = .refused(.badSchedule, ValueText(error.reason))
        }
        outcomes.append(outcome)
        session.executor.journal.record(
            .liveInput, at: session.executor.now, UInt64(number), outcome == .taken ? 1 : 0)
    }

    /// Alerts go on under another policy from now on, whatever was set before.
    func exchange(_ other: AlertPolicy) {
        thresholds = LiveThresholds(metrics)
        policy = policy.exchanged(for: subject.isEmpty ? other : other.about(subject))
        session.executor.inspect { session.follow(policy) }
    }

    // MARK: What rows do

    func visit() throws { try acts.visit() }

    func foreground() throws {
        if !session.isAppAlive { session.reopenApp() }
        try tell(.foreground)
    }

    func bannerShown(_ alert: AlertName, _ episode: Int) throws {
        _ = try active(alert, episode)
        try tell(.bannerShown(alert))
    }

    func told(_ alert: AlertName) throws {
        try session.needsApp()
        rings.append(ToldRing(code: alert, at: session.executor.now))
        if rings.count > Self.mostRings { rings.removeFirst() }
    }

    /// Minutes since local midnight; nil for none.
    func quietHours(_ from: Int?, _ to: Int?) throws {
        var changed = policy
        changed.quietHours = from.flatMap { from in
            to.map { QuietHours(from: Self.nanoseconds(from), to: Self.nanoseconds($0)) }
        }
        try follow(changed)
    }

    /// The phone's clock is set whether or not the app lives.
    func clockStep(_ seconds: Double) {
        let moved = Int64((seconds * Double(Nanoseconds.second)).rounded())
        session.alerts.here(moved) { $0.wallClockMoved(by: $1) }
    }

    func threshold(_ metric: String, low: Double?, high: Double?, minutes: Int?, isEnabled: Bool?) throws {
        try session.needsApp()
        try follow(
            thresholds.set(
                try known(metric), low: low, high: high, sensitivity: minutes.map(Self.nanoseconds),
                isEnabled: isEnabled, in: policy))
    }

    func switchThreshold(_ metric: String, isEnabled: Bool) throws {
        try session.needsApp()
        let metric = try known(metric)
        guard let changed = thresholds.turn(metric, on: isEnabled, in: policy) else {
            throw LiveRefusal(
                .noThreshold, "\(metric.rawValue) has no threshold to switch on: set low, high, or both")
        }
        try follow(changed)
    }

    /// What isn't said is left alone, and what comes of both must make sense.
    func change(
        _ metric: String, _ low: ThresholdBound?, _ high: ThresholdBound?, _ minutes: Int?,
        _ isEnabled: Bool?, criticalBelow: ThresholdBound?, criticalAbove: ThresholdBound?
    ) throws {
        let metric = try known(metric)
        try session.needsApp()
        let before = thresholds.of(metric, in: policy)
        let bounds = (
            low: low.map(\.value) ?? before.low, high: high.map(\.value) ?? before.high
        )
        if let problem = LiveInput.contradiction(metric, low: bounds.low, high: bounds.high) { throw problem }
        if isEnabled == true, bounds.low == nil, bounds.high == nil {
            throw LiveRefusal(
                .noThreshold, "\(metric.rawValue) has no threshold to switch on: set low, high, or both")
        }
        var changed = thresholds.set(
            metric, low: bounds.low, high: bounds.high, sensitivity: minutes.map(Self.nanoseconds),
            isEnabled: isEnabled ?? !thresholds.isSwitchedOff(metric), in: policy)
        changed.setCritical(metric, below: criticalBelow, above: criticalAbove)
        try follow(changed)
    }

    func recommendThresholds() throws {
        try session.needsApp()
        let subject = acts.recommendedTo
        var changed = policy
        let found = metrics.compactMap {
            MetricRange.recommended(subject.kind, subject.stage, $0)
        }.filter { LiveInput.range(of: $0.metric) != nil }
        guard !found.isEmpty else {
            throw LiveRefusal(.nothingRecommended, "nothing is recommended for \(subject.stage)")
        }
        for one in found {
            changed = thresholds.set(
                one.metric, low: one.range.lowerBound, high: one.range.upperBound, sensitivity: nil,
                isEnabled: true, in: changed)
        }
        try follow(changed)
    }

    /// A limit in people's words.
    private static func words(_ refused: LoopInputRefused) -> ValueText {
        guard refused.kind == .manualBolus else { return ValueText(refused.description) }
        func units(_ value: Double) -> ValueText { "\((value * 100).rounded() / 100, unit: "U")" }
        let most = refused.range.upperBound
        if refused.value <= 0 || !refused.value.isFinite { return "a bolus is more than 0 U" }
        return most < 0.005
            ? "the loop takes no bolus by hand now: what was asked for before is at its limit"
            : "\(units(refused.value)) is more than the loop takes by hand now: at most \(units(most))"
    }

    func tell(_ input: AlertInput) throws {
        try session.needsApp()
        session.alerts.here(input) { $0.tell($1) }
    }

    private func known(_ metric: String) throws -> AlertMetric {
        guard let metric = AlertMetric(rawValue: metric) else {
            throw LiveRefusal(.unknownMetric, "no such metric")
        }
        return metric
    }

    /// An alert that the policy has a rule for. One of the catalogue that it has none for has one from now on, under which nothing is ever raised.
    func ruled(_ alert: String) throws -> AlertName {
        let name = AlertName(rawValue: alert)
        guard !policy.rules.contains(where: { $0.code == name }), let code = AlertCode(name) else {
            return name
        }
        var rule = AlertRule(code)
        rule.trigger = .metrics([])
        rule.claim = .none
        var changed = policy
        changed.rules.append(rule)
        try follow(changed)
        return name
    }

    /// Whoever is told that it was taken relies on it.
    func acknowledge(_ alert: AlertName, _ episode: Int?) throws {
        let active = try active(alert, episode, ": nothing to acknowledge")
        guard active.acknowledgement != .none else {
            throw LiveRefusal(.stays, "\(alert.rawValue) takes no acknowledgement: it stays until it is over")
        }
        try tell(.acknowledge(alert))
    }

    /// A code that is not active may be snoozed ahead; an episode that is over may not.
    func snooze(_ alert: AlertName, minutes: Int, _ episode: Int?) throws {
        if episode != nil { _ = try active(alert, episode) }
        try tell(.snooze(alert, for: Self.nanoseconds(minutes)))
    }

    /// What it held back is notified, if it still holds.
    func endSnooze(_ alert: AlertName) throws {
        try session.needsApp()
        guard session.alerts.here({ $0.face.snoozes }).contains(where: { $0.code == alert }) else {
            throw LiveRefusal(.notActive, "\(alert.rawValue) is not snoozed")
        }
        try tell(.snooze(alert, for: 0))
    }

    /// A banner that asks for something stays until that is done; the alert itself stays either way.
    func dismiss(_ alert: AlertName, _ episode: Int?) throws {
        let active = try active(alert, episode)
        guard active.isPreview || active.source == .policy else {
            throw LiveRefusal(.stays, "\(alert.rawValue) stays until it is over or acted on")
        }
        try tell(.dismiss(alert))
    }

    /// The alert that is meant: what was drawn of an episode that is over says nothing about the next one.
    private func active(
        _ alert: AlertName, _ episode: Int?, _ words: String = ""
    ) throws -> ActiveAlert {
        try session.needsApp()
        let active = session.alerts.here { $0.active }.first { $0.code == alert }
        guard let active else { throw LiveRefusal(.notActive, "\(alert.rawValue) is not active\(words)") }
        guard episode.map({ active.raisedAt.nanoseconds / Nanoseconds.second == Int64($0) }) ?? true else {
            throw LiveRefusal(.otherEpisode, "\(alert.rawValue) is another episode by now")
        }
        return active
    }

    private func follow(_ changed: AlertPolicy) throws {
        try session.needsApp()
        policy = subject.isEmpty ? changed : changed.about(subject)
        session.follow(policy)
    }

    static func nanoseconds(_ minutes: Int) -> Int64 { Int64(minutes) * Nanoseconds.minute }
}

/// A notification that a phone has shown.
package struct ToldRing: Hashable, Sendable, Codable {
    package var code: AlertName
    package var at: Instant

    package init(code: AlertName, at: Instant) { (self.code, self.at) = (code, at) }
}

extension StudySession {
    func needsApp() throws {
        guard isAppAlive else { throw LiveRefusal(.appDead, "the app is dead: nobody would hear it") }
    }
}

extension AlertPolicy {
    /// The rules of `other`, in the places of this one's, so that counts keep theirs. A rule that `other` has not got is there under a code
    /// that nothing raises.
    func exchanged(for other: AlertPolicy) -> AlertPolicy {
        var policy = other
        policy.rules = rules.map { old in
            if let new = other.rules.first(where: { $0.code == old.code }) { return new }
            var silent = AlertRule(
                code: AlertName(rawValue: "NONE-" + old.code.rawValue), trigger: .metrics([]),
                severity: old.severity)
            silent.claim = old.truth.map { .about($0) } ?? .none
            return silent
        }
        policy.rules += other.rules.filter { new in !rules.contains { $0.code == new.code } }
        return policy
    }
}

extension EventKind {
    /// An input was answered. Words: its number, 1 where it was taken.
    static let liveInput = EventKind(0x700, "liveInput")
    /// What an app said was given has entered. Words: units (bits), grams (bits).
    static let liveTreatment = EventKind(0x702, "liveTreatment")
    /// Another policy or algorithm took over. Words: 1 where it was a policy, 1 where it was an algorithm.
    static let liveExchange = EventKind(0x701, "liveExchange")
}
