// Where inputs enter a session: at their instants, on its thread.
//
// Guarantees: an input is taken whole or refused whole, and either is an event of the session, so that a replay comes to the same. A refusal is
// an answer; only what breaks the body ends a session.
// Does not: look at an input by itself: `LiveInput.problem(in:)` has done so.

import Alerts
import ClosedLoop
import Devices
import LinkedDevices
import Records
import SessionTime
import SimulatedDevices
import SimulationKernel
import Trials

/// Called on the session's thread only.
final class LiveDoor: @unchecked Sendable {
    /// The session outlives its door.
    private unowned let session: Session
    /// By an input's number, from 1.
    private(set) var outcomes: [LiveOutcome] = []
    /// Boluses that wait for their confirmation, by the number of their request.
    private var requested: [Int: (units: Double, at: Instant)] = [:]
    private(set) var policy: AlertPolicy { didSet { shownThresholds = thresholds.all(in: policy) } }
    private var thresholds = LiveThresholds()
    /// Kept: a look costs nothing.
    private(set) var shownThresholds: [MetricThreshold] = []
    private var isSignedIn = true
    /// The one that waits, if one does.
    var requestedBolus: RequestedBolus? {
        let now = session.executor.now
        return requested.first.flatMap { number, asked in
            let until = asked.at.adding(LiveInput.confirmsWithin)
            return until < now ? nil : RequestedBolus(number: number, units: asked.units, until: until)
        }
    }
    private let isFed: Bool
    /// Of the readings so far, ns since the start.
    private var stamps: Set<Int64> = []
    private var newestStamp = Int64.min

    init(_ session: Session, policy: AlertPolicy, isFed: Bool = false) {
        self.session = session
        self.isFed = isFed
        self.policy = policy
        shownThresholds = thresholds.all(in: policy)
        session.executor.receiveInputs { [unowned self] in try take($0) }
    }

    private func take(_ external: ExternalInput) throws {
        let number = outcomes.count + 1
        var outcome = LiveOutcome.taken
        do {
            guard let input = LiveInput(bytes: external.bytes) else { throw Refusal("not an input") }
            try perform(input, number)
        } catch let refusal as Refusal {
            outcome = .refused(refusal.reason)
        } catch let refused as LoopInputRefused {
            outcome = .refused(refused.description)
        } catch let error as LoopError {
            outcome = .refused(
                error == .notKept ? "the loop can't keep it" : "a controller is frozen: controls are disabled"
            )
        } catch let error as PumpError {
            outcome = .refused(Self.text(error))
        } catch let error as BasalScheduleError {
            outcome = .refused(error.reason)
        }
        outcomes.append(outcome)
        session.executor.journal.record(
            .liveInput, at: session.executor.now, UInt64(number), outcome == .taken ? 1 : 0)
    }

    /// Alerts go on under another policy from now on, whatever was set before.
    func exchange(_ other: AlertPolicy) {
        thresholds = LiveThresholds()
        policy = policy.exchanged(for: other)
        session.executor.inspect { session.follow(policy) }
    }

    private func perform(_ input: LiveInput, _ number: Int) throws {
        switch input {
        case .meal(let grams, let isEaten, let isAnnounced):
            let amount = Carbohydrate(grams: grams)
            if isAnnounced {
                try needsApp()
                try needsSession()
                try session.loop.announce(
                    MealAnnouncement(carbohydrate: amount, instant: session.executor.now))
                if !isEaten { session.recorder.did(.announcement, grams, at: session.executor.now) }
            }
            if isEaten {
                try isOfTheStudy()
                try session.eat(amount)
            }
        case .requestBolus(let units):
            try needsApp()
            try needsSession()
            // Whoever asks anew has thought better of what was asked before.
            requested = [number: (units, session.executor.now)]
        case .confirmBolus(let request, let units): try confirm(request, units)
        case .bloodGlucose, .calibration, .cancelOwed, .target, .temporaryBasal, .cancelTemporaryBasal,
            .openLoop,
            .closedLoop, .startSession, .endSession, .subject:
            try needsApp()
            try session.loop.here(input) { try $0.perform($1) }
            if !isSignedIn, input == .startSession || input == .endSession { tellWhoIsSignedIn() }
        case .signIn, .signOut:
            try needsApp()
            isSignedIn = input == .signIn
            tellWhoIsSignedIn()
        case .subjectClaim(let isOk): session.alerts.here(isOk) { $0.claimed(isOk: $1) }
        case .openSettings: try tell(.settingsOpened)
        case .saveSettings: try tell(.settingsSaved)
        case .suspend(let minutes): try session.controls.suspend(nanoseconds: minutes.map(Self.nanoseconds))
        case .resume: try session.controls.resume()
        case .cancelBolus:
            // Whether or not the pump can be told: what has not arrived isn't sent again.
            if session.isAppAlive { session.loop.here { $0.cancelRequest() } }
            _ = try session.controls.cancelBolus()
        case .changePod:
            try isOfTheStudy()
            session.pump.here { $0.changePodNow() }
            session.recorder.did(.podChange, 0, at: session.executor.now)
        case .changeSensor:
            try isOfTheStudy()
            try session.sensor.here { try $0.changeNow() }
            session.recorder.did(.sensorChange, 0, at: session.executor.now)
        case .acknowledge(let alert): try tell(.acknowledge(AlertName(rawValue: alert)))
        case .snooze(let alert, let minutes):
            try tell(.snooze(AlertName(rawValue: alert), for: Self.nanoseconds(minutes)))
        case .testAlert(let alert): try tell(.testAlert(AlertName(rawValue: alert)))
        case .dismiss(let alert): try dismiss(AlertName(rawValue: alert))
        case .tap(let alert): try tell(.tap(try ruled(alert)))
        case .preview(let alert): try tell(.preview(try ruled(alert)))
        case .dismissDropped:
            try needsApp()
            guard session.loop.here({ $0.lastDropped }) != nil else { throw Refusal("nothing was dropped") }
            session.loop.here { $0.dismissDropped() }
        case .foreground:
            if !session.isAppAlive { session.reopenApp() }
            try tell(.foreground)
        case .background: try tell(.background)
        case .quietHours(let from, let to):
            var changed = policy
            changed.quietHours = from.flatMap { from in
                to.map { QuietHours(from: Self.nanoseconds(from), to: Self.nanoseconds($0)) }
            }
            try follow(changed)
        case .threshold(let metric, let low, let high, let minutes, let isEnabled):
            try needsApp()
            let metric = try known(metric)
            try follow(
                thresholds.set(
                    metric, low: low, high: high, sensitivity: minutes.map(Self.nanoseconds),
                    isEnabled: isEnabled, in: policy))
        case .switchThreshold(let metric, let isEnabled):
            try needsApp()
            let metric = try known(metric)
            guard let changed = thresholds.turn(metric, on: isEnabled, in: policy) else {
                throw Refusal("\(metric.rawValue) has no threshold to switch on: set low, high, or both")
            }
            try follow(changed)
        case .reading(let at, let mgdl): try feed(at, mgdl)
        case .device(let input):
            guard let links = session.links else { throw Refusal("no device is outside of this session") }
            if let reason = links.hear(input) { throw Refusal("not believed: \(reason.text)") }
        case .leftOut(_, let reason): throw Refusal(reason)
        case .clockStep(let seconds):
            // The phone's clock is set whether or not the app lives.
            let moved = Int64((seconds * Double(Nanoseconds.second)).rounded())
            session.alerts.here(moved) { $0.wallClockMoved(by: $1) }
        }
    }

    private func confirm(_ request: Int, _ units: Double) throws {
        try needsApp()
        try needsSession()
        let now = session.executor.now
        guard let asked = requested[request] else {
            throw Refusal("request \(request) is not waiting: it was confirmed, replaced, or never made")
        }
        guard now.nanoseconds - asked.at.nanoseconds <= LiveInput.confirmsWithin else {
            requested = [:]
            throw Refusal("request \(request) is more than 5 min old: ask again")
        }
        guard asked.units == units else {
            throw Refusal("request \(request) was of \(asked.units) U, not of \(units) U")
        }
        requested = [:]
        try session.loop.request(manualBolus: InsulinAmount(units: units))
        session.recorder.did(.manualBolus, units, at: now)
    }

    /// A reading is news while it is the newest and at most as old as a step may use; what comes later is history.
    private func feed(_ stamp: Int64, _ mgdl: Double) throws {
        guard isFed else { throw Refusal("the sensor is simulated") }
        let now = session.executor.now.nanoseconds
        guard stamp >= 0 else { throw Refusal("a reading from before the session's start") }
        guard stamp <= now + LiveInput.futureStamp else {
            throw Refusal("a reading from \((stamp - now) / Nanoseconds.minute) min in the future")
        }
        let instant = min(stamp, now)
        guard stamps.insert(instant).inserted else { throw Refusal("a second reading of that time") }
        let isNews = instant > newestStamp && now - instant <= LoopTiming.freshness
        newestStamp = max(newestStamp, instant)
        session.feed(
            GlucoseReading(
                instant: Instant(nanoseconds: instant),
                glucose: GlucoseConcentration(milligramsPerDecilitre: mgdl), isBackfilled: !isNews))
    }

    /// What a person outside does with body, pod and sensor, nobody here does.
    private func isOfTheStudy() throws {
        guard session.links == nil else { throw Refusal("body, pump and sensor are outside of this session") }
    }

    private func needsApp() throws {
        guard session.isAppAlive else { throw Refusal("the app is dead: nobody would hear it") }
    }

    /// What waits for a step waits for nothing where none comes.
    private func needsSession() throws {
        guard session.loop.here({ $0.display().status }) != .noSession else {
            throw Refusal("no session runs, and nobody would give it: start one, or use the pump")
        }
    }

    private func tell(_ input: AlertInput) throws {
        try needsApp()
        session.alerts.here(input) { $0.tell($1) }
    }

    private func known(_ metric: String) throws -> AlertMetric {
        guard let metric = AlertMetric(rawValue: metric) else { throw Refusal("no such metric") }
        return metric
    }

    /// An alert that the policy has a rule for. One of the catalogue that it has none for has one from now on, under which nothing is ever raised.
    private func ruled(_ alert: String) throws -> AlertName {
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

    /// A banner that asks for something stays until that is done; the alert itself stays either way.
    private func dismiss(_ alert: AlertName) throws {
        try needsApp()
        let active = session.alerts.here { $0.active }.first { $0.code == alert }
        guard let active else { throw Refusal("\(alert.rawValue) is not active") }
        guard active.isPreview || active.source == .policy else {
            throw Refusal("\(alert.rawValue) stays until it is over or acted on")
        }
        try tell(.dismiss(alert))
    }

    /// Nobody has to be signed in for a session that has ended.
    private func tellWhoIsSignedIn() {
        let hasSession = session.loop.here { $0.display().status } != .noSession
        session.alerts.here((isSignedIn, hasSession)) { $0.signedIn($1.0, hasSession: $1.1) }
    }

    private func follow(_ changed: AlertPolicy) throws {
        try needsApp()
        policy = changed
        session.follow(changed)
    }

    private static func nanoseconds(_ minutes: Int) -> Int64 { Int64(minutes) * Nanoseconds.minute }

    private static func text(_ error: PumpError) -> String {
        switch error {
        case .notConnected: "the pump can't be reached"
        case .notReady(let condition): "the pump is not ready: \(condition)"
        case .commandFailed: "the command didn't reach the pump"
        case .outOfRange(let amount, let limit): "\(amount.units) U: the pump takes up to \(limit.units) U"
        case .uncertain: "sent and not answered: it may have been carried out"
        case .underWay: "on its way to the pump, and not confirmed yet"
        }
    }
}

/// Why an input can't be taken.
private struct Refusal: Error {
    var reason: String
    init(_ reason: String) { self.reason = reason }
}

extension LoopController {
    /// What concerns the loop alone.
    fileprivate func perform(_ input: LiveInput) throws {
        switch input {
        case .bloodGlucose(let mgdl):
            try enter(bloodGlucose: GlucoseConcentration(milligramsPerDecilitre: mgdl))
        case .calibration(let mgdl):
            try enter(calibration: GlucoseConcentration(milligramsPerDecilitre: mgdl))
        case .cancelOwed: cancelOwed()
        case .target(let mgdl): try setTarget(GlucoseConcentration(milligramsPerDecilitre: mgdl))
        case .temporaryBasal(let multiplier, let minutes):
            try setTemporaryBasal(multiplier: multiplier, steps: minutes / 5)
        case .cancelTemporaryBasal: cancelTemporaryBasal()
        case .openLoop: try setOpenLoop(true)
        case .closedLoop: try setOpenLoop(false)
        case .startSession: try startSession()
        case .endSession: try endSession()
        case .subject(let id, let kilograms):
            try setSubject(LoopSubject(id: id, bodyWeightKilograms: kilograms))
        default: break
        }
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
    /// Another policy or algorithm took over. Words: 1 where it was a policy, 1 where it was an algorithm.
    static let liveExchange = EventKind(0x701, "liveExchange")
}
