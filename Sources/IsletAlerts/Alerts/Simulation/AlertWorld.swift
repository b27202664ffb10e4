// A virtual phone, cloud, pump, sensor and loop around one app: what scenario files and property tests run in.
//
// Guarantees: a value, so that a copy is another possible future; virtual time; at each instant inputs come first, then
// readings, then the step, then the app judges, then the system delivers what was scheduled. When the app is killed its
// memory is gone and the world goes on; at launch the app finds its store and its environment.
// Does not: simulate glucose. Values are held, or given as series.

public import IsletDevices
public import IsletKernel

/// What can happen in the world.
public enum AlertWorldEvent: Hashable, Sendable {
    public enum AppState: String, Sendable, CaseIterable {
        case foreground
        case background
        case quit
    }
    public enum LoopState: String, Sendable, CaseIterable {
        case armed
        case disarmed
        case reset
    }
    case app(AppState)
    case relaunch
    case loop(LoopState)
    case steps(isRunning: Bool)
    case pod(Bool)
    case podExpires(in: Int64)
    case cgmState(SensorState)
    case cgmLifecycle(SensorLifecycle)
    case glucose(Double)
    case clockSkew(seconds: Double?)
    /// What is so from now on, and nothing but that.
    case environment(EnvironmentFlag)
    case zone(ZoneTable)
    case reading(Double, isReliable: Bool, age: Int64)
    case value(AlertMetric, Double)
    case readings(isRunning: Bool)
    case step(succeeded: Bool)
    case handlers(pump: Bool?, cgm: Bool?)
    case timeChange(Int64)
    case user(AlertInput)
}

/// A metric's samples on a grid from t = 0; nil for a missing one.
public struct AlertSeries: Hashable, Sendable {
    public var metric: AlertMetric
    public var values: [Double?]
    public var interval: Int64

    public init(_ metric: AlertMetric, _ values: [Double?], interval: Int64 = 5 * Nanoseconds.minute) {
        self.metric = metric
        self.values = values
        self.interval = interval
    }
}

public struct AlertWorld: Sendable {
    public static let grid = 5 * Nanoseconds.minute
    public static let podLife = 72 * Nanoseconds.hour

    private let prepared: PreparedPolicy
    public var policy: AlertPolicy { prepared.policy }
    public private(set) var now = Instant.start
    public private(set) var app: AlertApp?
    public private(set) var store = MemoryAlertStore()
    public private(set) var system = SimulatedNotificationCenter()
    public private(set) var effects: [AlertEffect] = []
    public private(set) var deaths = 0
    /// What was to happen and could come to nothing.
    package private(set) var idle: [Idle] = []
    public var environment: AppEnvironment
    public var wallClock: WallClock
    public var appState: AlertWorldEvent.AppState
    public var stepsRun: Bool
    public var readingsRun = true
    public var glucose: Double
    public var series: [AlertSeries]
    /// Kills the app instead of its n-th write from now.
    public var diesAtWrite: Int?

    private var stateBeforeQuit = AlertWorldEvent.AppState.foreground
    private var unsettled: [AlertInput] = []
    private var newest: [AlertEngine.Sample?]
    private var steppedAt: Instant?
    /// By metric, when an event last gave its value, which then takes the place of the regular one.
    private var takenAt: [Instant?]
    private var hasBegun = false

    public init(
        policy: AlertPolicy, wallClock: WallClock, environment: AppEnvironment,
        appState: AlertWorldEvent.AppState = .foreground, stepsRun: Bool = true, glucose: Double = 120,
        series: [AlertSeries] = []
    ) {
        prepared = PreparedPolicy(policy)
        self.wallClock = wallClock
        self.environment = environment
        self.appState = appState
        self.stepsRun = stepsRun
        self.glucose = glucose
        self.series = series
        newest = [AlertEngine.Sample?](repeating: nil, count: AlertMetric.allCases.count)
        takenAt = [Instant?](repeating: nil, count: AlertMetric.allCases.count)
    }

    // MARK: Time

    /// The next instant at which something happens by itself.
    public func nextInstant() -> Instant {
        if !hasBegun { return now }
        let onGrid = Instant(nanoseconds: (now.nanoseconds / Self.grid + 1) * Self.grid)
        var next = onGrid
        for one in series {
            let place = now.nanoseconds / one.interval + 1
            if place < one.values.count { next = min(next, Instant(nanoseconds: place * one.interval)) }
        }
        if let deadline = app?.flow.nextDeadline(after: now) { next = min(next, deadline) }
        if let due = systemCenter.nextDue, due > now { next = min(next, due) }
        return next
    }

    private var systemCenter: SimulatedNotificationCenter {
        app.flatMap { $0.port as? SimulatedNotificationCenter } ?? system
    }

    /// What rang so far.
    public var deliveries: [SimulatedNotificationCenter.Delivery] { systemCenter.deliveries }
    /// What the lock screen shows.
    public var shown: [String] { systemCenter.shown.map(\.identifier).sorted() }
    /// What the store holds.
    public var memory: AlertMemory { app.flatMap { ($0.store as? MemoryAlertStore)?.memory } ?? store.memory }
    /// Writes of the store so far.
    public var writes: Int { app.flatMap { ($0.store as? MemoryAlertStore)?.writes } ?? store.writes }

    /// Lets `instant` happen: `events`, then what the world does by itself, then the app's judgement.
    public mutating func happen(_ events: [AlertWorldEvent], at instant: Instant) {
        now = instant
        // The first instant is a launch.
        var isAnything = !hasBegun
        if !hasBegun {
            hasBegun = true
            stateBeforeQuit = appState == .quit ? .foreground : appState
            if appState != .quit { launch() }
        }
        var restated: [Idle] = []
        for event in events {
            let isNews = !isSo(event)
            isAnything = isAnything || isNews
            if !take(event) {
                idle.append(Idle(at: now, event: event))
            } else if !isNews {
                restated.append(Idle(at: now, event: event))
            }
        }
        // Beside something that happens it is there to be read.
        if !isAnything { idle += restated }
        readSensors()
        if stepsRun, now.nanoseconds % Self.grid == 0, steppedAt != now { _ = step(succeeded: true) }
        judge()
        deliver()
    }

    /// Runs the world by itself up to and with `limit`.
    public mutating func run(to limit: Instant) {
        while true {
            let next = nextInstant()
            guard next <= limit else { return }
            happen([], at: next)
        }
    }

    // MARK: The app's life

    private mutating func launch() {
        unsettled = []
        var store = store
        store.diesAtWrite = diesAtWrite
        guard
            var fresh = try? AlertApp(
                policy: prepared, wallClock: wallClock, environment: environment, store: store, port: system
            )
        else { return }
        do {
            try fresh.launch(inForeground: appState == .foreground, at: now)
            app = fresh
        } catch {
            app = fresh
            return die()
        }
        for metric in AlertMetric.allCases {
            if let sample = newest[metric.index] {
                tell(.metric(metric, sample.value, sampledAt: sample.sampledAt))
            }
        }
    }

    private mutating func leave() {
        if let left = app?.store as? MemoryAlertStore { store = left }
        if let left = app?.port as? SimulatedNotificationCenter { system = left }
        store.diesAtWrite = nil
        app = nil
    }

    /// Killed in the middle of something: comes back at once, and what was under way is delivered again.
    private mutating func die() {
        deaths += 1
        diesAtWrite = nil
        let again = unsettled
        leave()
        launch()
        for input in again { tell(input) }
    }

    /// - Returns: whether an app was there to hear it.
    @discardableResult
    private mutating func tell(_ input: AlertInput) -> Bool {
        guard app != nil else { return false }
        unsettled.append(input)
        arm()
        do { try app?.apply(input, at: now) } catch { die() }
        disarm()
        return true
    }

    private mutating func judge() {
        guard app != nil else { return }
        arm()
        do {
            effects += try app?.settle(at: now) ?? []
            unsettled = []
            disarm()
        } catch {
            die()
            judge()
        }
    }

    private mutating func arm() {
        guard let left = diesAtWrite, var store = app?.store as? MemoryAlertStore else { return }
        store.diesAtWrite = left
        app?.store = store
    }

    private mutating func disarm() {
        guard diesAtWrite != nil, var store = app?.store as? MemoryAlertStore else { return }
        diesAtWrite = store.diesAtWrite
        store.diesAtWrite = nil
        app?.store = store
    }

    /// The system shows what was scheduled; in the foreground the app keeps it back.
    private mutating func deliver() {
        var center = systemCenter
        let due = center.deliverDue(at: now)
        guard !due.isEmpty else { return }
        if app == nil { system = center } else { app?.port = center }
        for request in due {
            effects.append(
                AlertEffect(
                    instant: now, kind: .notify, code: request.category, severity: request.severity,
                    reason: .deadline, message: ValueText(request.body)))
        }
    }

    // MARK: The world

    private mutating func readSensors() {
        for one in series where now.nanoseconds % one.interval == 0 {
            let place = Int(now.nanoseconds / one.interval)
            if takenAt[one.metric.index] == now { continue }
            if place < one.values.count, let value = one.values[place] { measure(one.metric, value) }
        }
        guard readingsRun, !series.contains(where: { $0.metric == .glucose }),
            takenAt[AlertMetric.glucose.index] != now, now.nanoseconds % Self.grid == 0,
            environment.cgmState == .ok, environment.cgmLifecycle == .ok
        else { return }
        measure(.glucose, glucose)
    }

    private mutating func measure(_ metric: AlertMetric, _ value: Double, age: Int64 = 0) {
        let sampledAt = now.adding(-age)
        if newest[metric.index].map({ $0.sampledAt < sampledAt }) ?? true {
            newest[metric.index] = AlertEngine.Sample(value: value, sampledAt: sampledAt)
        }
        tell(.metric(metric, value, sampledAt: sampledAt))
    }

    private mutating func step(succeeded: Bool) -> Bool {
        steppedAt = now
        guard environment.isArmed, app != nil else { return false }
        tell(.step(succeeded: succeeded))
        return true
    }

    private mutating func change(_ body: (inout AppEnvironment) -> Void) {
        body(&environment)
        tell(.environment(environment))
    }

    private var hasGlucoseSeries: Bool { series.contains { $0.metric == .glucose } }

    /// - Returns: whether anything could come of it: somebody was there to hear it, and nothing speaks in its place. What the world is may
    ///   be said at any time.
    private mutating func take(_ event: AlertWorldEvent) -> Bool {
        switch event {
        case .app(let state): move(to: state)
        case .relaunch:
            if app != nil {
                // The instant is not judged yet: what it brought so far is delivered again.
                let again = unsettled
                leave()
                launch()
                for input in again { tell(input) }
            } else {
                appState = stateBeforeQuit
                launch()
            }
        case .loop(let state):
            if state == .reset {
                environment.isArmed = false
                tell(.loopReset)
            } else {
                change { $0.isArmed = state == .armed }
            }
        case .steps(let isRunning): stepsRun = isRunning
        case .pod(let isActive):
            let end = now.adding(Self.podLife)
            change {
                if isActive, !$0.hasPod { $0.podExpiresAt = end }
                $0.hasPod = isActive
            }
        case .podExpires(let span):
            let end = now.adding(span)
            change { $0.podExpiresAt = end }
        case .cgmState(let state): change { $0.cgmState = state }
        case .cgmLifecycle(let state): change { $0.cgmLifecycle = state }
        case .glucose(let value):
            glucose = value
            return !hasGlucoseSeries
        case .clockSkew(let seconds): change { $0.clockSkewSeconds = seconds }
        case .environment(let flag): change { $0[keyPath: flag.path] = flag.value }
        case .zone(let zone):
            wallClock.zone = zone
            tell(.wallClock(wallClock))
        case .reading(let value, let isReliable, let age):
            takenAt[AlertMetric.glucose.index] = now
            if isReliable { measure(.glucose, value, age: age) }
        case .value(let metric, let value):
            takenAt[metric.index] = now
            measure(metric, value)
        case .readings(let isRunning):
            readingsRun = isRunning
            return !hasGlucoseSeries
        case .step(let succeeded): return step(succeeded: succeeded)
        case .handlers(let pump, let cgm):
            change {
                if let pump { $0.isPumpHandlerRegistered = pump }
                if let cgm { $0.isCGMHandlerRegistered = cgm }
            }
        case .timeChange(let jump):
            wallClock.jump += jump
            tell(.wallClock(wallClock))
        case .user(let input): return tell(input)
        }
        return true
    }

    private mutating func move(to state: AlertWorldEvent.AppState) {
        guard state != appState else { return }
        if state == .quit {
            judge()
            stateBeforeQuit = appState
            appState = .quit
            leave()
        } else if appState == .quit {
            appState = state
            launch()
        } else {
            appState = state
            tell(state == .foreground ? .foreground : .background)
        }
    }
}
