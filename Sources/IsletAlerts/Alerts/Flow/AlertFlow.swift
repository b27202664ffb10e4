// From what happens around the app to conditions of the engine's rules.
//
// Guarantees: a pure value; what it must remember is in `memory` and `engine.state`, the rest it finds in its
// environment, so that a launch rebuilds it. An input delivered twice counts once.
// Does not: write or notify. `AlertApp` does both.

import IsletDevices
public import IsletKernel

public struct AlertFlow: Sendable {
    public package(set) var engine: AlertEngine
    public internal(set) var memory: AlertMemory
    let limits: AlertLimits
    public internal(set) var environment: AppEnvironment
    /// Whether the stepping deadline is also scheduled with the system.
    public var schedulesAhead = false

    /// Nobody hears it.
    var isShadow = false
    /// Whether some rule waits for what a source says.
    let hasSources: Bool

    /// Whether the instant's inputs are all in: only then is time asked.
    var isJudging = false
    /// The instant of the newest input.
    var inputInstant: Instant?
    /// What the engine was told to hold.
    var held = AlertCodeSet()
    let rules: [Int?]
    let watchesStepping: Bool
    /// The rule of missing insulin, as the catalogue has it; nil where there is none.
    let insulinRule: Int?
    static let codesInOrder: [AlertCode] = AlertCode.allCases.sorted { $0.rawValue < $1.rawValue }

    public init(
        policy: PreparedPolicy, wallClock: WallClock, memory: AlertMemory, environment: AppEnvironment
    ) {
        engine = AlertEngine(policy: policy, wallClock: wallClock, state: memory.center)
        self.memory = memory
        limits = policy.policy.limits
        self.environment = environment
        rules = policy.rulesOfSource
        watchesStepping = rules[AlertCode.steppingInterrupted.index] != nil
        hasSources = rules.contains { $0 != nil }
        let insulin = policy.indexOfCode[AlertCode.insulinMissing.name]
        insulinRule = insulin.flatMap { policy.policy.rules[$0].isOfCatalogue ? $0 : nil }
    }

    /// Everything that a relaunch starts from.
    public var rememberedMemory: AlertMemory {
        var memory = memory
        memory.center = engine.state
        return memory
    }

    // MARK: Launch

    /// The app comes to life: restores, replays, cleans up, checks.
    public mutating func launch(inForeground: Bool, at now: Instant) {
        engine.followBlame(to: now)
        engine.isForeground = inForeground
        engine.countDelivered(at: now)
        engine.followPolicy(at: now)
        engine.endPreviews(at: now)
        engine.show(inForeground: inForeground, at: now)
        for code in AlertCode.allCases {
            guard let rule = rules[code.index] else { continue }
            held.set(code, engine.state.tracks[rule].holds || engine.state.tracks[rule].isRealActive)
        }
        followArming(at: now)
        // What the system rang while nobody was there is raised with the words that it would have had.
        if held.contains(.steppingInterrupted), let rule = rules[AlertCode.steppingInterrupted.index],
            !engine.state.tracks[rule].isRealActive
        {
            engine.describe(rule, details(.steppingInterrupted, at: now))
        }
        // Live state speaks for the sensor, not messages of an earlier life.
        memory.cgm.retract(at: now) { _ in true }
        if environment.isPumpHandlerRegistered { replayAcknowledgements(at: now) }
        memory.pendingAcknowledgements.removeAll {
            environment.isCGMHandlerRegistered && AlertCode($0.code)?.source == .cgm
        }
        if !environment.hasPod { cleanUpPod(at: now) }
        checkClock(at: now)
        checkClaim()
        sync(at: now)
    }

    private mutating func cleanUpPod(at now: Instant) {
        memory.pump.retract(at: now) { $0.code?.isPodBound == true }
        for code in Self.codesInOrder where code.isPodBound {
            guard let rule = rules[code.index], held.contains(code) else { continue }
            held.set(code, false)
            engine.tell(rule, .away(.cleanup))
        }
    }

    /// What was acknowledged while the pump's handler was away reaches its store before anything is restored from it.
    mutating func replayAcknowledgements(at now: Instant) {
        for pending in memory.pendingAcknowledgements {
            memory.pump.acknowledge(at: pending.at) {
                $0.code?.name == pending.code
                    && $0.issuedAt <= pending.at
            }
        }
        memory.pendingAcknowledgements.removeAll { AlertCode($0.code)?.source == .pump }
    }

    // MARK: Inputs

    /// Applies one input. Its effects come when the instant is settled.
    public mutating func apply(_ input: AlertInput, at now: Instant) {
        beginInput(at: now)
        engine.noteInputInBlame()
        switch input {
        case .environment(let new): change(to: new, at: now)
        case .loopReset:
            environment.isArmed = false
            memory.monitor.lastStep = nil
            followArming(at: now)
            sync(at: now)
        case .step(let succeeded): step(succeeded: succeeded, at: now)
        case .pumpIssue(let issue, let text):
            let code = AlertCode.pump(issue: issue, text: text)
            memory.pump.issue(issue, text: text, code: code, at: now)
            if let code { takeNative(code, at: now) }
            sync(at: now)
        case .pumpRetract(let issue):
            memory.pump.retract(at: now) { $0.issue == issue }
            sync(because: .retracted, at: now)
        case .cgmIssue(let issue, let text):
            memory.cgm.issue(issue, text: text, code: AlertCode.cgm(issue: issue, text: text), at: now)
            sync(at: now)
        case .cgmRetract(let issue):
            memory.cgm.retract(at: now) { $0.issue == issue }
            sync(because: .retracted, at: now)
        case .metric(let metric, let value, let sampledAt):
            _ = hear(metric, value, sampledAt: sampledAt, at: now)
        case .foreground:
            engine.show(inForeground: true, at: now)
            let last = memory.monitor.lastClockCheck
            if last.map({ now.nanoseconds - $0.nanoseconds > limits.clockCheck }) ?? true {
                checkClock(at: now)
            }
            checkClaim()
            sync(at: now)
        case .background: engine.show(inForeground: false, at: now)
        case .wallClock(let clock):
            engine.wallClock = clock
            checkClock(at: now)
            sync(at: now)
        case .settingsSaved, .settingsOpened:
            checkClaim()
            sync(at: now)
        case .acknowledge(let code): acknowledge(code, at: now)
        case .snooze(let code, let span):
            if let rule = engine.index(of: code), engine.policy.takesSnoozes {
                engine.snooze(rule, for: span)
            }
        case .tap(let code):
            if let rule = engine.index(of: code) {
                engine.tap(rule, at: now)
                engine.answerInFront(rule)
            }
        case .dismiss(let code):
            if let rule = engine.index(of: code) {
                engine.endPreview(rule)
                engine.answerInFront(rule)
            }
        case .bannerShown: break
        case .preview(let code):
            if let rule = engine.index(of: code) { engine.preview(rule) }
        case .testAlert(let code):
            if let rule = engine.index(of: code) { engine.testAlert(rule, at: now) }
        }
    }

    /// What hangs on the pod's windows counts with the instant's first input.
    private mutating func beginInput(at now: Instant) {
        engine.followBlame(to: now)
        engine.nextInput()
        guard inputInstant != now else { return }
        inputInstant = now
        guard environment.hasPod, let end = environment.podExpiresAt else { return }
        let left = end.nanoseconds - now.nanoseconds
        if left == limits.podExpiring || left == 0 || left == -limits.podService { sync(at: now) }
    }

    /// A value of a metric. Cheap where nothing comes of it.
    /// - Returns: whether the instant needs settling.
    public mutating func hear(
        _ metric: AlertMetric, _ value: Double, sampledAt: Instant, at now: Instant
    ) -> Bool {
        beginInput(at: now)
        var needsSettling = engine.sample(metric, value, sampledAt: sampledAt, at: now)
        guard metric == .glucose, engine.followsTrend else { return needsSettling }
        if !engine.rulesOfMetric[AlertMetric.glucoseIn20m.index].isEmpty {
            needsSettling = foretell(value, sampledAt: sampledAt, at: now) || needsSettling
        }
        if !engine.rulesOfMetric[AlertMetric.glucoseRate.index].isEmpty {
            if let last = memory.monitor.lastGlucose, sampledAt > last.sampledAt,
                sampledAt.nanoseconds - last.sampledAt.nanoseconds <= limits.freshness
            {
                let minutes = sampledAt.minutes - last.sampledAt.minutes
                let rate = (value - last.value) / minutes
                needsSettling =
                    engine.sample(.glucoseRate, rate, sampledAt: sampledAt, at: now) || needsSettling
            }
            if memory.monitor.lastGlucose.map({ sampledAt > $0.sampledAt }) ?? true {
                memory.monitor.lastGlucose = AlertEngine.Sample(value: value, sampledAt: sampledAt)
            }
        }
        return needsSettling
    }

    /// Draws the line on through a reading that is news.
    /// - Returns: whether the instant needs settling.
    private mutating func foretell(_ value: Double, sampledAt: Instant, at now: Instant) -> Bool {
        guard value.isFinite, now.nanoseconds - sampledAt.nanoseconds <= limits.freshness else {
            return false
        }
        let last = memory.monitor.trend?.readings.last?.sampledAt
        if let last, sampledAt < last { return false }
        // In place: a copy of the readings would be made else. What was kept when the app died is delivered again, and counts once.
        if memory.monitor.trend == nil { memory.monitor.trend = GlucoseTrend() }
        if sampledAt != last {
            memory.monitor.trend?.add(AlertEngine.Sample(value: value, sampledAt: sampledAt))
        }
        guard let prediction = memory.monitor.trend?.prediction else { return false }
        return engine.sample(.glucoseIn20m, prediction, sampledAt: sampledAt, at: now)
    }

    /// A reliable reading that came too late to be news.
    /// - Returns: whether the instant needs settling.
    public mutating func hearHistory(sampledAt: Instant, at now: Instant) -> Bool {
        engine.noteReading(sampledAt: sampledAt, at: now)
    }

    private mutating func change(to new: AppEnvironment, at now: Instant) {
        let old = environment
        environment = new
        if old.isArmed != new.isArmed { followArming(at: now) }
        // The next sensor's readings don't go on from this one's.
        if new.isBetweenSensors { memory.monitor.trend = nil }
        let wasOk = liveSensor(old) == nil
        if !wasOk, liveSensor(new) == nil { memory.cgm.retract(at: now) { _ in true } }
        if old.isClaimOk, !new.isClaimOk { memory.monitor.hasConflict = true }
        if !old.isPumpHandlerRegistered, new.isPumpHandlerRegistered { replayAcknowledgements(at: now) }
        if !old.isCGMHandlerRegistered, new.isCGMHandlerRegistered {
            memory.pendingAcknowledgements.removeAll { AlertCode($0.code)?.source == .cgm }
        }
        sync(at: now)
    }

    private mutating func acknowledge(_ code: AlertName, at now: Instant) {
        // Nobody acknowledges what has not been shown yet: an alert of this very instant.
        guard let rule = engine.index(of: code), let active = engine.state.tracks[rule].active,
            active.raisedAt < now, engine.policy.rules[rule].acknowledgement != .none
        else { return }
        if let known = AlertCode(code), !active.isPreview {
            let isRegistered =
                known.source == .pump
                ? environment.isPumpHandlerRegistered : environment.isCGMHandlerRegistered
            if known.source == .pump || known.source == .cgm, !isRegistered {
                let pending = PendingAcknowledgement(code: code, at: now)
                if !memory.pendingAcknowledgements.contains(pending) {
                    memory.pendingAcknowledgements.append(pending)
                }
            } else if known.source == .pump, engine.policy.rules[rule].acknowledgement == .closes {
                memory.pump.acknowledge(at: now) { $0.code == known }
            }
            if engine.policy.rules[rule].acknowledgement == .closes { sync(because: .acknowledged, at: now) }
            // Closed at its source: what the source issues from now on is another alert.
            if isClosedAtSource(known) { return }
        }
        engine.acknowledge(rule)
    }

    /// Whether a pump's own alert of this code was on, and is off now.
    private func isClosedAtSource(_ code: AlertCode) -> Bool {
        code.source == .pump && rules[code.index] != nil && !held.contains(code)
    }
}
