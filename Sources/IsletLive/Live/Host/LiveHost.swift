// Many live sessions by the wall clock.
//
// Guarantees: sessions are added, removed, paused and re-paced at any time; each is advanced when its next instant or an input is due, by one thread at a
// time, a piece of at most six hours at once, so that a session with much to catch up on starves no other. A session that fails is
// shown as failed and touches no other. Looks (`status`, `events`) read what the last advance left behind and never wait for a session
// that runs. A session whose thread does not come back (its code hangs, its disk blocks) is told of by `watch`, which needs nothing of it: it is frozen, its inputs are
// refused, and whoever waited for it is let go; whoever says again under its key what may be in its thread's hands hears that nobody knows yet. Nothing of that stands in its
// journal. A session that is held for its algorithm's answer holds no thread and no lock: it is looked at again when there is one, or its deadline has passed.
// A step of the wall clock reaches sessions of real pace as an input; no timer moves with it. That nobody looks at a session's app any more reaches it as soon as it takes anything.
// Does not: own threads. `run` is a thread's work; `HostCrew` has the threads.

import IsletFiles
import Glibc
import DeviceLinks
import IsletDevices
package import IsletKernel
package import IsletTrials
import Synchronization

package final class LiveHost: Sendable {
    /// How much session time one turn may take, ns.
    static let piece = 6 * Nanoseconds.hour
    /// The wall clock may be corrected by so much without anybody's hearing of it, ns.
    static let quietClockStep = 2 * Nanoseconds.second

    private let clocks: any LiveClocks
    /// A session whose thread takes longer than this counts as frozen, ns of the continuous clock.
    private let deadline: Int64
    /// So does one that is due and that no thread has come to for so long, ns: a host that is busy is late before it is frozen.
    private var lateness: Int64 { 2 * deadline }
    private let roll = Mutex(Roll())
    private let board = Board()
    /// UTC less the continuous clock, as sessions were last told, ns.
    private let utcOffset: Atomic<Int64>
    private let bell = Bell()

    /// - Parameter deadline: how long one piece of work may take before its session counts as frozen, ns. Whoever watches is to know within 10 s.
    package init(clocks: any LiveClocks = SystemClocks(), deadline: Int64 = 5 * Nanoseconds.second) {
        self.clocks = clocks
        self.deadline = deadline
        utcOffset = Atomic(clocks.utcNanoseconds() - clocks.continuousNanoseconds())
    }

    // MARK: Sessions

    /// Takes a session on. It goes on from where it stands; one of real pace whose journal says when it stood there catches up.
    /// - Parameter make: makes the session with the listener that it is given.
    package func add(
        _ id: String, pace: LivePace, make: (_ listener: @escaping (LiveEvent) -> Void) throws -> LiveSession
    ) throws {
        let slot = Slot(id: id, board.place())
        let session = try make { [slot] event in slot.log.withLock { $0.append(event) } }
        session.asker.onAnswer = { [weak self, weak slot] in
            guard let self, let slot else { return }
            board.schedule(slot, at: 0)
            bell.ring()
        }
        // Who is driven goes by no clock, and nobody else stands still for a driver.
        let pace: LivePace = session.isDriven ? .step : pace == .step ? .paused : pace
        let (now, utc, boot) = (clocks.continuousNanoseconds(), clocks.utcNanoseconds(), clocks.bootID)
        var instant = session.now
        if session.opening.isLinked {
            let known = session.anchor?.pace
            guard case .scaled = pace, known == nil || known == pace else {
                throw OtherPace(known: known, asked: pace)
            }
        }
        var clockStep: Int64 = 0
        if let known = session.anchor, known.pace == pace, case .scaled(let speed) = pace,
            speed == 1 || session.opening.isLinked
        {
            // Its world went on, or its devices did. Where the machine has not been started anew nobody can have set the clock that says for how long;
            // else the wall clock is all there is, and one that was set back takes nothing back.
            let byUTC = utc.subtractingReportingOverflow(known.utcNanoseconds)
            var passed = byUTC.overflow ? 0 : max(0, byUTC.partialValue)
            if let then = known.boot, !boot.isEmpty, then.id == boot, now >= then.continuousNanoseconds {
                passed = now - then.continuousNanoseconds
                clockStep = byUTC.overflow ? 0 : byUTC.partialValue - passed
            }
            let gone = speed == 1 ? passed : Int64(min(Double(passed) * speed, 1e18))
            instant = min(max(instant, known.instant.adding(gone)), session.duration)
        }
        try roll.withLock { roll in
            guard roll.slots[id] == nil else { throw DuplicateSession(id: id) }
            roll.slots[id] = slot
            board.list(slot)
        }
        slot.core.withLock { core in
            core.session = session
            slot.place.advancedAt = now
            core.anchor(pace, at: instant, continuous: now, utc: utc, boot: boot)
        }
        // The phone's clock was set while nobody lived: those who go by it hear of it.
        if pace == .real, abs(clockStep) > Self.quietClockStep {
            slot.clockStep.wrappingAdd(clockStep, ordering: .relaxed)
        }
        slot.core.withLock { settle(slot, $0) }
        bell.ring()
    }

    /// How session time and the clocks belong together where a session that stands at an instant goes on now.
    func anchor(_ pace: LivePace, at instant: Instant) -> LiveAnchor {
        let (now, utc, boot) = (clocks.continuousNanoseconds(), clocks.utcNanoseconds(), clocks.bootID)
        return LiveAnchor(
            instant: instant, pace: pace, utcNanoseconds: utc,
            boot: boot.isEmpty ? nil : LiveBoot(id: boot, continuousNanoseconds: now))
    }

    /// Lets a session go, where it stands; its journal stays, and is on disk when this returns. Waits for an advance that is under way; a frozen session is
    /// let go when its thread comes back.
    package func remove(_ id: String) {
        guard let slot = roll.withLock({ $0.remove(id) }) else { return }
        slot.isRemoved.store(true, ordering: .relaxed)
        board.unlist(slot)
        reach(slot) { Self.letGo(&$0) }
        bell.ring()
    }

    private static func letGo(_ core: inout Slot.Core) {
        core.session?.sync()
        core.session = nil
    }

    private static let frozen = LiveAnswer(
        outcome: .refused(.frozen, "the session is frozen: nothing reaches it"), isFrozen: true)
    private static let unanswered = LiveAnswer(
        outcome: .refused(
            .unanswered,
            "the same was said before under this key and has no answer yet: it may be done, or not"))

    /// What a session says to what is said under a key.
    /// - Parameter body: nil where the session is frozen. The same may be in the hands of its thread then, and be done when that comes back.
    private func answer(_ key: String, of slot: Slot, _ body: () -> LiveAnswer?) -> LiveAnswer {
        let wasUnderWay = slot.begin(key)
        let answer = body()
        let isUnderWay = slot.end(key)
        bell.ring()
        return answer ?? (wasUnderWay || isUnderWay ? Self.unanswered : Self.frozen)
    }

    /// Does something with a session, alone.
    /// - Returns: nil where it is frozen, or comes to be while this waits.
    @discardableResult
    private func reach<Result: Sendable>(
        _ slot: Slot, _ body: (inout Slot.Core) -> Result
    ) -> Result? {
        slot.waiting.wrappingAdd(1, ordering: .relaxed)
        defer { slot.waiting.wrappingSubtract(1, ordering: .relaxed) }
        while true {
            let done: Result? = slot.core.withLockIfAvailable { core in
                slot.busySince.store(clocks.continuousNanoseconds(), ordering: .relaxed)
                defer {
                    slot.busySince.store(0, ordering: .relaxed)
                    // Somebody wanted it gone meanwhile, and could not wait.
                    if slot.isRemoved.load(ordering: .relaxed) { Self.letGo(&core) }
                }
                return body(&core)
            }
            if let done { return done }
            if isFrozen(slot, at: clocks.continuousNanoseconds()) { return nil }
            usleep(500)
        }
    }

    /// The same with a session that has come to now and is held for no answer: that is waited for without holding it.
    /// - Parameter body: also gets how far session time has come.
    private func reachSettled<Result: Sendable>(
        _ slot: Slot, _ body: (inout Slot.Core, Instant) -> Result
    ) -> Result? {
        while true {
            let done = reach(slot) { core -> Result? in
                let goal = core.goal(at: clocks.continuousNanoseconds(), piece: nil)
                live(slot, core, to: goal)
                if core.session?.isAsking ?? false {
                    settle(slot, core)
                    return nil
                }
                return body(&core, goal)
            }
            guard let reached = done else { return nil }
            if let reached { return reached }
            usleep(1000)
        }
    }

    /// Does what a driver wants.
    package func drive(_ id: String, _ wish: DriverWish) -> Swift.Result<DriverStand, LiveRefusal> {
        guard let slot = slot(id) else { return .failure(LiveRefusal(.gone, "the session is gone")) }
        let frozen = LiveRefusal(.frozen, "the session is frozen: nothing reaches it")
        guard !isFrozen(slot, at: clocks.continuousNanoseconds()) else { return .failure(frozen) }
        let answer = reach(slot) { core -> Swift.Result<DriverStand, LiveRefusal> in
            defer { settle(slot, core) }
            guard let session = core.session else {
                return .failure(LiveRefusal(.gone, "the session is gone"))
            }
            do throws(LiveRefusal) {
                let stand = try session.drive(wish)
                // No thread comes to it by itself.
                return .success(try tellLeft(slot, core) ? session.drive(.look) : stand)
            } catch {
                return .failure(error)
            }
        }
        bell.ring()
        return answer ?? .failure(frozen)
    }

    /// The study that a session is one of, with what its driver answered so far; nil where it is frozen or gone.
    package func study(of id: String) -> Study? {
        guard let slot = slot(id) else { return nil }
        return reach(slot) { $0.session?.drivenStudy } ?? nil
    }

    /// Goes on at another pace from here; `.paused` stops it. Says whether it does: devices outside keep the pace that they have.
    /// - Parameter key: said again under it nothing happens.
    @discardableResult
    package func setPace(_ pace: LivePace, of id: String, key: String = "") -> LiveAnswer {
        guard let slot = slot(id) else { return LiveAnswer(outcome: .refused(.gone, "the session is gone")) }
        let (now, utc) = (clocks.continuousNanoseconds(), clocks.utcNanoseconds())
        return answer(key, of: slot) {
            reachSettled(slot) { core, _ -> LiveAnswer in
                defer { settle(slot, core) }
                guard let session = core.session else {
                    return LiveAnswer(outcome: .refused(.gone, "the session is gone"))
                }
                guard !session.opening.isLinked else {
                    return LiveAnswer(
                        outcome: .refused(.paceIsFixed, "devices outside keep the pace that they have"))
                }
                guard !session.isDriven, pace != .step else {
                    return LiveAnswer(
                        outcome: .refused(
                            .paceIsFixed,
                            session.isDriven
                                ? "a session that is driven goes by no clock"
                                : "a session is opened for a driver, or not: pace `step` can't be set"))
                }
                session.advance(to: core.goal(at: now, piece: nil))
                if let known = session.saidBefore("pace \(pace)", key: key) { return known }
                guard session.phase == .running else {
                    return LiveAnswer(outcome: .refused(LiveSession.refusal(session.phase)))
                }
                core.anchor(pace, at: session.now, continuous: now, utc: utc, boot: clocks.bootID)
                // On disk before it is answered, and under its key last: what was not written is done when it is asked again.
                session.sync()
                session.keepSaid("pace \(pace)", key: key)
                guard session.phase == .running else {
                    return LiveAnswer(outcome: .refused(LiveSession.refusal(session.phase)))
                }
                return LiveAnswer(outcome: .taken)
            }
        }
    }

    /// Moves a session's time over a stretch that nobody lived through, and goes on from there at its pace. Says whether it did.
    @discardableResult
    package func leap(_ id: String, by nanoseconds: Int64) -> Bool {
        guard let slot = slot(id), !isFrozen(slot, at: clocks.continuousNanoseconds()) else { return false }
        let (now, utc) = (clocks.continuousNanoseconds(), clocks.utcNanoseconds())
        let hasLeapt = reachSettled(slot) { core, _ -> Bool in
            defer { settle(slot, core) }
            guard let session = core.session else { return false }
            session.advance(to: core.goal(at: now, piece: nil))
            let before = session.now
            session.leap(to: before.adding(nanoseconds))
            core.anchor(core.pace, at: session.now, continuous: now, utc: utc, boot: clocks.bootID)
            return session.now > before
        }
        bell.ring()
        return hasLeapt ?? false
    }

    /// Hands an input in. When this returns it is on disk and has taken effect, or is refused.
    package func take(_ command: LiveCommand, for id: String) -> LiveAnswer {
        take(for: id, key: command.key, isComing: command.input == .foreground) { _ in command }
    }

    /// - Parameter isComing: whether somebody looks at the app from now on.
    private func take(
        for id: String, key: String, isComing: Bool = false, _ said: (Slot.Core) -> LiveCommand?
    ) -> LiveAnswer {
        guard let slot = slot(id) else {
            return LiveAnswer(outcome: .refused(.gone, "no session \(printable(id, limit: 60))"))
        }
        let since = clocks.continuousNanoseconds()
        if isComing { slot.isLeft.store(false, ordering: .relaxed) }
        return answer(key, of: slot) {
            guard !isFrozen(slot, at: since) else { return nil }
            return reachSettled(slot) { core, goal -> LiveAnswer in
                defer { settle(slot, core) }
                guard let session = core.session else {
                    return LiveAnswer(outcome: .refused(.gone, "the session is gone"))
                }
                guard let command = said(core) else {
                    return LiveAnswer(
                        outcome: .refused(.otherDevices, "the session goes by no clock of devices"))
                }
                let answer = session.take(command, at: goal)
                // Whoever came has gone again while this waited.
                if isComing, slot.leftAt.load(ordering: .relaxed) > since {
                    slot.isLeft.store(true, ordering: .relaxed)
                    tellLeft(slot, core)
                }
                return answer
            }
        }
    }

    // MARK: Who looks

    /// Nobody looks at a session's app any more. It is told by a thread on which sessions live, as soon as it takes anything: one that is frozen, or held at a step,
    /// hears of it afterwards. This waits for nobody.
    package func leaveFront(_ id: String) {
        guard let slot = slot(id) else { return }
        let now = clocks.continuousNanoseconds()
        slot.leftAt.store(now, ordering: .relaxed)
        slot.isLeft.store(true, ordering: .relaxed)
        board.schedule(slot, at: now)
        bell.ring()
    }

    /// Somebody looks at an app that is in front, and may not have been told yet that it was left.
    package func keepFront(_ id: String) { slot(id)?.isLeft.store(false, ordering: .relaxed) }

    /// - Returns: whether the session was told that nobody looks any more.
    @discardableResult
    private func tellLeft(_ slot: Slot, _ core: Slot.Core) -> Bool {
        guard slot.isLeft.load(ordering: .relaxed), let session = core.session, session.phase == .running,
            !session.isHeld
        else { return false }
        slot.isLeft.store(false, ordering: .relaxed)
        return session.leaveFront()
    }

    // MARK: Devices outside

    /// Says who gets a session's commands from now on.
    /// - Returns: those that nobody has had.
    func attach(to id: String, _ send: @escaping @Sendable (LinkCommand) -> Void) -> [LinkCommand] {
        guard let slot = slot(id) else { return [] }
        return reach(slot) { core in
            core.session?.onCommand = send
            return core.session?.takeUnsent() ?? []
        } ?? []
    }

    func detach(from id: String) {
        if let slot = slot(id) { reach(slot) { $0.session?.onCommand = nil } }
    }

    /// Hands in what a device said. What time of the session's that was is asked as the session hears it, since one that is frozen can't say.
    func take(_ said: Door.Said, for id: String) -> LiveAnswer {
        take(for: id, key: "") { core in said(core).map { LiveCommand(.device($0)) } }
    }

    var continuousNanoseconds: Int64 { clocks.continuousNanoseconds() }

    // MARK: Looks

    package var ids: [String] { roll.withLock { Array($0.slots.keys) }.sorted() }

    package func status(of id: String) -> Status? {
        slot(id).map { slot in
            let shown = slot.shown
            return Status(
                id: id, snapshot: shown.snapshot, pace: shown.pace,
                isFrozen: isFrozen(slot, at: clocks.continuousNanoseconds()))
        }
    }

    /// Events after a number: all that are kept; none for now where its thread has come to a stop amid one.
    package func events(of id: String, after number: Int, atMost limit: Int = .max) -> LiveEvents? {
        guard let slot = slot(id) else { return nil }
        var looks = 0
        // Those who ask ask again.
        return slot.log.look(until: {
            looks += 1
            return looks > 40
        }) { $0.after(number, atMost: limit) } ?? LiveEvents(events: [], missing: 0)
    }

    /// Whether one is frozen now, or gone.
    func isFrozen(_ id: String) -> Bool {
        slot(id).map { isFrozen($0, at: clocks.continuousNanoseconds()) } ?? true
    }

    /// The sessions that are frozen now, for whoever watches from outside.
    package func watch() -> [String] {
        let now = clocks.continuousNanoseconds()
        return slots.filter { isFrozen($0, at: now) }.map(\.id).sorted()
    }

    /// How many advances have not returned for so long, ns of the continuous clock: each has a thread that does nothing else meanwhile.
    func advances(longerThan nanoseconds: Int64) -> Int {
        let now = clocks.continuousNanoseconds()
        return roll.withLock { $0.underWay }.count {
            let since = $0.busySince.load(ordering: .relaxed)
            return since != 0 && now - since > nanoseconds
        }
    }

    /// The sessions whose algorithm gave no answer for their last step.
    package func degraded() -> [String] {
        slots.filter { $0.shown.snapshot.isDegraded }.map(\.id).sorted()
    }

    /// The sessions that have failed: they don't go on, and nothing of them rings.
    package func failed() -> [String] {
        slots.filter { slot in
            if case .failed = slot.shown.snapshot.phase { true } else { false }
        }.map(\.id).sorted()
    }

    /// How long, by the continuous clock, until session time comes to an instant; 0 where it has, nil where it doesn't by itself.
    package func nanoseconds(until instant: Instant, of id: String) -> Int64? {
        guard let slot = slot(id), let moment = reach(slot, { $0.continuous(at: instant) }) ?? nil else {
            return nil
        }
        return max(0, moment - clocks.continuousNanoseconds())
    }

    private func isFrozen(_ slot: Slot, at now: Int64) -> Bool {
        let since = slot.busySince.load(ordering: .relaxed)
        if since != 0 { return now - since > deadline }
        let (due, last) = (slot.dueAt.load(ordering: .relaxed), slot.place.advancedAt)
        return due != .max && now - max(due, last) > lateness
    }

    private func slot(_ id: String) -> Slot? { roll.withLock { $0.slots[id] } }
    private var slots: [Slot] { roll.withLock { Array($0.slots.values) } }

    // MARK: Time

    /// Advances what is due, one session a time, until nothing is, or until `isOver` says so, which is asked before each.
    /// - Returns: when something is due next, by the continuous clock; nil for nothing.
    @discardableResult
    package func turn(until isOver: () -> Bool = { false }) -> Int64? {
        while !isOver() {
            noteClockStep()
            let now = clocks.continuousNanoseconds()
            let (slot, next) = board.takeDue(at: now)
            guard let slot else { return next }
            let due = advance(slot)
            board.finish(slot, due: due)
            bell.ring()
        }
        return nil
    }

    /// A thread's work: turns until `isOver` says so. Any number of threads may run one host.
    package func run(until isOver: () -> Bool) {
        while !isOver() {
            let heard = bell.count
            let next = turn(until: isOver)
            if isOver() { return }
            let wait = next.map { max(0, $0 - clocks.continuousNanoseconds()) } ?? Nanoseconds.second
            // Looks at the wall clock, and at whether it is over, now and then.
            bell.wait(after: heard, atMost: min(wait, Nanoseconds.second / 5))
        }
    }

    /// Returns when something has happened in some session since `count` was `heard`, or after so many nanoseconds.
    package func waitForNews(after heard: UInt64, atMost nanoseconds: Int64) {
        bell.wait(after: heard, atMost: nanoseconds)
    }

    /// Rises with whatever happens.
    package var newsCount: UInt64 { bell.count }

    /// Wakes the threads that wait.
    package func wake() { bell.ring() }

    /// - Returns: when it wants to be advanced next, by the continuous clock; nil for never.
    private func advance(_ slot: Slot) -> Int64? {
        // Whoever waits for it looks every half a millisecond.
        for _ in 0..<5 where slot.waiting.load(ordering: .relaxed) > 0 { usleep(1000) }
        // Who has it has it scheduled when they are done.
        return slot.core.withLockIfAvailable { core -> Int64? in
            guard core.session != nil else { return nil }
            slot.busySince.store(clocks.continuousNanoseconds(), ordering: .relaxed)
            defer {
                slot.place.advancedAt = clocks.continuousNanoseconds()
                slot.busySince.store(0, ordering: .relaxed)
            }
            tellClockStep(slot, &core)
            live(slot, core, to: core.goal(at: clocks.continuousNanoseconds(), piece: Self.piece))
            show(slot, core)
            // Somebody wanted it gone, and could not wait.
            if slot.isRemoved.load(ordering: .relaxed) { Self.letGo(&core) }
            return due(core)
        } ?? clocks.continuousNanoseconds() + Self.otherHand
    }

    /// Lives on to where session time has come. That nobody looks any more comes first: what rings on the way is to be heard.
    private func live(_ slot: Slot, _ core: Slot.Core, to goal: Instant) {
        tellLeft(slot, core)
        core.live(to: goal, .brief)
    }

    /// When a session is tried again that somebody else has just then, ns.
    private static let otherHand = Nanoseconds.second / 200

    /// When it wants to be advanced next; where its algorithm is asked, when to look whether there is an answer.
    private func due(_ core: Slot.Core) -> Int64? {
        guard let session = core.session, session.isAsking, let deadline = session.asker.deadline else {
            return core.due
        }
        return clocks.continuousNanoseconds() + StepAsker.pause(deadline)
    }

    /// Keeps what is shown, and when it wants to be advanced next.
    private func show(_ slot: Slot, _ core: Slot.Core) {
        slot.dueAt.store(due(core) ?? .max, ordering: .relaxed)
        guard let snapshot = core.session?.snapshot else { return }
        slot.show(snapshot, core.pace)
    }

    /// Keeps what is shown, and has the session advanced when it wants to be.
    private func settle(_ slot: Slot, _ core: Slot.Core) {
        show(slot, core)
        board.schedule(slot, at: due(core))
    }

    /// Notes where the wall clock was set, and has sessions of real pace told of it. Waits for none of them.
    private func noteClockStep() {
        let before = clocks.continuousNanoseconds()
        let offset = clocks.utcNanoseconds() - before
        // Where the process was held up between the two looks, they say nothing of each other.
        guard clocks.continuousNanoseconds() - before < Nanoseconds.second else { return }
        let known = utcOffset.load(ordering: .relaxed)
        guard abs(offset - known) > Self.quietClockStep,
            utcOffset.compareExchange(expected: known, desired: offset, ordering: .relaxed).exchanged
        else { return }
        for slot in slots {
            slot.clockStep.wrappingAdd(offset - known, ordering: .relaxed)
            board.schedule(slot, at: before)
        }
    }

    private func tellClockStep(_ slot: Slot, _ core: inout Slot.Core) {
        let step = slot.clockStep.exchange(0, ordering: .relaxed)
        guard step != 0, core.pace == .real, let session = core.session, session.phase == .running else {
            return
        }
        live(slot, core, to: core.goal(at: clocks.continuousNanoseconds(), piece: nil))
        // What is held for its algorithm takes nothing: whoever comes next tells it.
        guard !session.isAsking else {
            slot.clockStep.wrappingAdd(step, ordering: .relaxed)
            return
        }
        let (now, utc) = (clocks.continuousNanoseconds(), clocks.utcNanoseconds())
        _ = session.take(
            LiveCommand(.clockStep(seconds: Double(step) / Double(Nanoseconds.second))),
            at: core.goal(at: now, piece: nil))
        // The anchor is by the wall clock as it is from now on.
        core.anchor(.real, at: session.now, continuous: now, utc: utc, boot: clocks.bootID, isClockStep: true)
    }
}
