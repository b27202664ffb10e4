// Runs the parts of a plan over one session.
//
// Guarantees: a part decides what it would decide if its policy ran alone and nobody acknowledged anything. It is woken only by
// what can change it: a value that passes one of its edges, a source's condition of its codes, an hour of its own; and is
// brought up to the group's state before it is told. What all parts of a group have in common (devices, memory, newest values)
// is kept once, and a reading that passes no edge costs a few comparisons, however many policies listen.
// Does not: write, ask the system, or hear what the person does with another policy's alerts.

import IsletDevices
import IsletKernel

struct ShadowEngine: Sendable {
    let plan: ShadowPlan
    var groups: [Group]
    var parts: [Part]
    /// When each part wants to be asked again, ns.
    var deadlines: [Int64]
    var earliest = Int64.max
    /// Parts to be settled in this instant.
    var told: [Int] = []
    /// Parts that the input at hand concerns.
    var called: [Int] = []
    private(set) var isDead = false
    /// How often parts were judged.
    private(set) var judgements = 0
    /// Of each part, whether it tells what stands in the way of its rules. Such a part hears of everything that changes that: the end
    /// of a gap, the app coming to the front while something goes on, its death.
    let keepsBlame: [Bool]
    var log: ShadowLog

    struct Part: Sendable {
        var flow: AlertFlow
        var isTold = false
        var isCalled = false
        /// Nothing goes on in any rule.
        var isCalm = true
        /// Every value of its metrics counts: what is owed for want of a fresh one, comparisons joined, the literal sketch.
        var isEager = false
        /// The system was asked to ring then; the app is dead.
        var rings: [(rule: Int, ring: AlertEngine.RingsAhead.Ring)] = []
    }

    struct Group: Sendable {
        var flow: AlertFlow
        /// By metric. Before the first value nobody asks.
        var cells: [Int]
        /// By metric: what lies strictly between these is in the same cell.
        var low: [Double]
        var high: [Double]
        /// Whether some part is eager.
        var hasEager = false
        /// Whether to some part stepping is interrupted.
        var hasInterrupted = false
        var nextAge = Instant.distantFuture
        var nextWindow = Instant.distantFuture
        /// When stepping counts as interrupted; nil while nothing is watched.
        var steppingDeadline: Instant?
        /// The stepping deadline that has been judged.
        var judgedDeadline: Instant?
    }

    init(
        plan: ShadowPlan, environment: AppEnvironment, wallClock: WallClock, keepsEffects: Bool,
        keepsBlame isScored: Bool
    ) {
        self.plan = plan
        keepsBlame = plan.parts.map { isScored && $0.isJudged }
        groups = plan.groups.map {
            Group(
                flow: $0.flow, cells: $0.edges.map { _ in 0 }, low: $0.edges.map { _ in .infinity },
                high: $0.edges.map { _ in -.infinity })
        }
        parts = plan.parts.map { Part(flow: $0.flow) }
        deadlines = [Int64](repeating: .max, count: plan.parts.count)
        log = ShadowLog(plan, wallClock: wallClock, keepsEffects: keepsEffects)
        set(wallClock)
        for group in groups.indices { groups[group].flow.environment = environment }
        for part in parts.indices {
            parts[part].flow.environment = environment
            if keepsBlame[part] { parts[part].flow.engine.keepBlame(from: .start) }
        }
    }

    /// Nobody is told: what hangs on the clock is looked at by the next input.
    mutating func set(_ wallClock: WallClock) {
        log.wallClock = wallClock
        for group in groups.indices { groups[group].flow.engine.wallClock = wallClock }
        for part in parts.indices { parts[part].flow.engine.wallClock = wallClock }
    }

    /// Whether something waits to be judged.
    private(set) var isTold = false

    // MARK: Waking

    /// Has the part know what its group knows.
    mutating func bringUp(_ part: Int) {
        let group = plan.parts[part].group
        // Field by field: a whole flow is large to copy.
        parts[part].flow.environment = groups[group].flow.environment
        parts[part].flow.inputInstant = groups[group].flow.inputInstant
        if plan.parts[part].followsReadings || parts[part].flow.hasSources {
            parts[part].flow.memory.monitor = groups[group].flow.memory.monitor
        }
        if parts[part].flow.hasSources {
            parts[part].flow.memory.pump = groups[group].flow.memory.pump
            parts[part].flow.memory.cgm = groups[group].flow.memory.cgm
            parts[part].flow.memory.pendingAcknowledgements =
                groups[group].flow.memory.pendingAcknowledgements
        }
        parts[part].flow.engine.state.samples = groups[group].flow.engine.state.samples
        parts[part].flow.engine.noteSampleInBlame(nil)
        parts[part].flow.engine.state.newestReading = groups[group].flow.engine.state.newestReading
        parts[part].flow.engine.isForeground = groups[group].flow.engine.isForeground
        parts[part].flow.engine.order = groups[group].flow.engine.order
    }

    mutating func settleLater(_ part: Int) {
        if parts[part].isTold { return }
        parts[part].isTold = true
        isTold = true
        told.append(part)
    }

    mutating func call(_ part: Int) {
        if parts[part].isCalled { return }
        parts[part].isCalled = true
        called.append(part)
    }

    mutating func call(_ some: [Int]) {
        for part in some { call(part) }
    }

    /// Tells each part that was called, and forgets the calls.
    mutating func tellCalled(_ tell: (inout AlertFlow) -> Bool) {
        if called.isEmpty { return }
        for part in called {
            parts[part].isCalled = false
            bringUp(part)
            if tell(&parts[part].flow) { settleLater(part) }
        }
        called.removeAll(keepingCapacity: true)
    }

    // MARK: Inputs

    mutating func apply(_ input: AlertInput, at now: Instant) {
        for group in groups.indices {
            callForWindow(group, at: now)
            callForInput(group, input)
            callForForeground(group, input)
            tellCalled {
                $0.apply(input, at: now)
                return true
            }
            groups[group].flow.apply(input, at: now)
            lookForWindow(group, after: now)
        }
    }

    /// Parts whose conditions the input may change.
    private mutating func callForInput(_ group: Int, _ input: AlertInput) {
        var codes = AlertCodeSet()
        switch input {
        case .environment(let new): codes = groups[group].flow.environment.codes(changing: new)
        case .pumpIssue(let issue, let text):
            if let code = AlertCode.pump(issue: issue, text: text) { codes.insert(code) }
        case .pumpRetract(let issue):
            for alert in groups[group].flow.memory.pump.alerts
            where alert.issue == issue && alert.retractedAt == nil {
                if let code = alert.code { codes.insert(code) }
            }
        case .wallClock: return call(plan.groups[group].parts)
        case .background, .step, .metric: break
        case .foreground: if !groups[group].flow.isCloudQuiet() { codes = .all }
        case .loopReset, .cgmIssue, .cgmRetract, .settingsSaved, .settingsOpened, .acknowledge, .snooze, .tap,
            .dismiss, .bannerShown, .preview, .testAlert:
            codes = .all
        }
        // One takes the other's place.
        if codes.contains(.pumpExpired) || codes.contains(.pumpExpiring) {
            codes.insert(.pumpExpiring)
            codes.insert(.pumpExpired)
        }
        call(plan.groups[group].literal)
        if codes.isEmpty { return }
        for code in AlertCode.allCases where codes.contains(code) {
            call(plan.groups[group].waiting[code.index])
        }
    }

    /// The loop says when too much insulin is missing if it dies.
    mutating func expectInsulin(missingAfter span: Int64?, at now: Instant) {
        for group in groups.indices { groups[group].flow.expectInsulin(missingAfter: span, at: now) }
    }

    /// A step succeeded.
    mutating func stepped(at now: Instant) {
        for group in groups.indices {
            if groups[group].hasInterrupted {
                groups[group].hasInterrupted = false
                for part in plan.groups[group].waiting[AlertCode.steppingInterrupted.index]
                where parts[part].flow.lookUpSteppingInterrupted() {
                    bringUp(part)
                    parts[part].flow.step(succeeded: true, at: now)
                    settleLater(part)
                }
            }
            groups[group].flow.step(succeeded: true, at: now)
            groups[group].steppingDeadline = groups[group].flow.lookUpSteppingDeadline()
        }
    }

    // MARK: Life

    mutating func launch(at now: Instant) {
        for group in groups.indices {
            for part in plan.groups[group].parts {
                parts[part].flow.launch(inForeground: false, at: now)
                settleLater(part)
            }
            groups[group].flow.launch(inForeground: false, at: now)
            groups[group].nextAge =
                plan.groups[group].ages.values.first.map { Instant.start.adding($0) } ?? .distantFuture
            lookForWindow(group, after: now)
        }
    }

    /// The app dies.
    mutating func kill(at now: Instant) {
        if isDead { return }
        isDead = true
        dieInBlame(at: now)
        for group in groups.indices {
            groups[group].flow.engine.isForeground = false
            for part in plan.groups[group].scheduled {
                bringUp(part)
                parts[part].flow.scheduleAhead(at: now)
                parts[part].rings = parts[part].flow.engine.scheduled
                // Parts have seen different inputs; what one engine schedules at its death stands in the order of codes.
                collect(part, at: ShadowLog.Place())
            }
        }
        log.endInstant()
    }

    /// What the system rang of itself before `now`, while the app was dead.
    private mutating func ring(before now: Instant) {
        var rung: [(part: Int, rule: Int, ring: AlertEngine.RingsAhead.Ring)] = []
        for part in parts.indices where !parts[part].rings.isEmpty {
            for (rule, ring) in parts[part].rings where ring.due < now { rung.append((part, rule, ring)) }
            parts[part].rings = []
        }
        func code(_ one: (part: Int, rule: Int, ring: AlertEngine.RingsAhead.Ring)) -> Int {
            plan.parts[one.part].codes[one.rule]
        }
        for one in rung.sorted(by: { ($0.ring.due, code($0)) < ($1.ring.due, code($1)) }) {
            let effect = AlertEffect(
                instant: one.ring.due, kind: .notify, code: plan.parts[one.part].policy.rules[one.rule].code,
                severity: one.ring.severity, reason: .deadline, rule: one.rule)
            if keepsBlame[one.part] { parts[one.part].flow.engine.noteDelivered(effect, at: effect.instant) }
            log.take(one.part, effect, ShadowLog.Place())
            log.endInstant()
        }
    }

    /// The app comes to life again, and finds the world like this.
    mutating func relaunch(_ environment: AppEnvironment, inForeground: Bool, at now: Instant) {
        kill(at: now)
        isDead = false
        ring(before: now)
        reviveInBlame(at: now)
        for group in groups.indices {
            for part in plan.groups[group].parts
            where !parts[part].isCalm || parts[part].isTold || !plan.parts[part].sources.isEmpty
                || plan.parts[part].isLiteral || plan.groups[group].scheduled.contains(part)
            {
                bringUp(part)
                parts[part].flow.relaunch(environment, inForeground: inForeground, at: now)
                // What rang while it was dead holds: a step of this very instant ends it.
                if parts[part].flow.lookUpSteppingInterrupted() { groups[group].hasInterrupted = true }
                settleLater(part)
            }
            groups[group].flow.relaunch(environment, inForeground: inForeground, at: now)
            lookForWindow(group, after: now)
        }
    }

    /// The session is over: what the system rang of itself until `now` counts.
    mutating func finish(at now: Instant) {
        if isDead { ring(before: now.adding(1)) }
    }

    // MARK: Time

    /// Parts that a pod's window concerns, where this instant's first input falls on one.
    mutating func callForWindow(_ group: Int, at now: Instant) {
        guard let end = groups[group].flow.environment.podExpiresAt, groups[group].flow.environment.hasPod,
            groups[group].flow.inputInstant != now
        else { return }
        let left = end.nanoseconds - now.nanoseconds
        guard
            left == plan.groups[group].limits.podExpiring || left == 0
                || left == -plan.groups[group].limits.podService
        else { return }
        windowParts(group) { $0.call($1) }
    }

    private mutating func windowParts(_ group: Int, _ body: (inout Self, Int) -> Void) {
        for code in [AlertCode.pumpExpiring, .pumpExpired] {
            for part in plan.groups[group].waiting[code.index] { body(&self, part) }
        }
    }

    private mutating func lookForWindow(_ group: Int, after now: Instant) {
        groups[group].steppingDeadline = groups[group].flow.lookUpSteppingDeadline()
        groups[group].nextWindow = groups[group].flow.nextWindow(after: now) ?? .distantFuture
    }

    /// Judges what was told, and what is due.
    mutating func settle(at now: Instant) {
        for group in groups.indices { callWhatIsDue(group, at: now) }
        if earliest <= now.nanoseconds {
            for part in deadlines.indices where deadlines[part] <= now.nanoseconds && !parts[part].isTold {
                bringUp(part)
                // A deadline that has moved on since it was set is nothing to judge.
                let due = parts[part].flow.deadline(after: now.adding(-1))
                if due <= now.nanoseconds { settleLater(part) } else { deadlines[part] = due }
            }
        }
        for part in told {
            bringUp(part)
            parts[part].isTold = false
            parts[part].flow.settle(at: now)
            collect(part)
            rest(part, at: now)
        }
        judgements += told.count
        told.removeAll(keepingCapacity: true)
        isTold = false
        log.endInstant()
        for group in groups.indices { groups[group].flow.engine.order = 0 }
        earliest = deadlines.min() ?? .max
    }

    private mutating func callWhatIsDue(_ group: Int, at now: Instant) {
        if let deadline = groups[group].steppingDeadline, deadline <= now,
            groups[group].judgedDeadline != deadline
        {
            groups[group].judgedDeadline = deadline
            for part in plan.groups[group].waiting[AlertCode.steppingInterrupted.index] { settleLater(part) }
        }
        if groups[group].nextWindow <= now {
            windowParts(group) { $0.settleLater($1) }
            lookForWindow(group, after: now)
        }
        guard groups[group].nextAge <= now else { return }
        let ages = plan.groups[group].ages
        let newest = groups[group].flow.engine.state.newestReading ?? .start
        let age = now.nanoseconds - newest.nanoseconds
        for place in ages.values.indices where newest.adding(ages.values[place]) == groups[group].nextAge {
            for part in ages.parts[place] { settleLater(part) }
        }
        groups[group].nextAge = ages.next(above: age).map { newest.adding($0) } ?? .distantFuture
    }

    /// - Parameter place: of all of them; nil for each one's own.
    private mutating func collect(_ part: Int, at place: ShadowLog.Place? = nil) {
        let count = parts[part].flow.gatherEffects()
        if count == 0 { return }
        for index in 0..<count {
            log.take(
                part, parts[part].flow.engine.effects[index],
                place ?? parts[part].flow.engine.places[index])
        }
        parts[part].flow.forgetEffects()
    }

    /// What the part waits for from now on.
    private mutating func rest(_ part: Int, at now: Instant) {
        let rest = parts[part].flow.rest(after: now)
        deadlines[part] = rest.deadline
        parts[part].isCalm = rest.isAtRest
        parts[part].isEager = rest.isEager
        if rest.isEager { groups[plan.parts[part].group].hasEager = true }
        if rest.isInterrupted { groups[plan.parts[part].group].hasInterrupted = true }
    }
}
