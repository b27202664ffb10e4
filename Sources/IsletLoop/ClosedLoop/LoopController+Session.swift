// The start and the end of a session.
//
// Guarantees: a start is no amnesty. The grid goes on, a reading serves one step whoever's session it is, and insulin on board of the last eight hours, given
// or of unknown fate, is the next session's too. What a person asked for lapses with the session, and that is told.
// Does not: begin the person's programme; the pump has it.

import IsletDevices
import IsletKernel

extension LoopController {
    /// Starts a session: timers and state are reset. The grid of an earlier session goes on, else it begins at this instant; what was given before
    /// stays on board, and a reading that has served a step serves none here.
    public func startSession() throws {
        try checkBasal(settings.therapy.basalRate)
        // A maximum below the programme would take the floor away.
        try checkBasal(settings.therapy.basalRate, atMost: settings.therapy.maximumBasal)
        var fresh = cleared(memory)
        let before = memory
        // What was said before there was a session is for its first step.
        if !before.isInSession {
            fresh.user = before.user
            fresh.userInputTimes = before.userInputTimes
        }
        fresh.isInSession = true
        fresh.sessionStart = Self.nextPoint(of: fresh.grid, at: executor.now)
        fresh.subject =
            memory.chosenSubject
            ?? LoopSubject(
                id: settings.subjectID, bodyWeightKilograms: settings.therapy.bodyWeightKilograms)
        fresh.algorithm = AlgorithmIdentity(algorithm)
        fresh.awaitsHistory =
            fresh.firstRequestID > 0 || fresh.stated != nil || fresh.before != nil || fresh.givenByHand != nil
        memory = fresh
        if before.isInSession { tellEnded(before) }
        state.clear()
        listener?.clear()
        journal.record(.loopSession, at: executor.now, 1)
        tellNothingMissing()
        waitForTemporaryBasal()
        schedule()
    }

    /// Ends the session: the state is cleared and what the algorithm remembers is deleted; the log stays.
    public func endSession() {
        let fresh = cleared(memory)
        let before = memory
        memory = fresh
        tellEnded(before)
        state.clear()
        listener?.clear()
        journal.record(.loopSession, at: executor.now, 0)
        tellNothingMissing()
        waitForTemporaryBasal()
        applyBasal()
        schedule()
    }

    /// What outlives a session.
    private func cleared(_ before: LoopMemory) -> LoopMemory {
        var memory = LoopMemory()
        // Insulin that may be on its way belongs to the body, not to the session.
        memory.request = before.request
        memory.request?.isOfEarlierSession = true
        memory.delivery = before.delivery
        memory.delivery?.isOfEarlierSession = true
        memory.readUpTo = before.readUpTo
        // A reading serves one step, and a point of the grid has one, whoever's session it is.
        memory.lastCgmTime = before.lastCgmTime
        memory.grid = before.isInSession ? before.nextStep : before.grid
        memory.typedLow = before.typedLow
        memory.stated = before.stated
        memory.before = before.before
        memory.givenByHand = before.givenByHand
        memory.firstRequestID = before.nextRequestID
        memory.temporaryBasal = before.temporaryBasal
        memory.isZeroUnpaid = before.isZeroUnpaid
        memory.podDeadSince = before.podDeadSince
        memory.dropped = before.dropped
        memory.cut = before.cut
        memory.forcesOpenLoop = before.forcesOpenLoop
        memory.target = before.target
        memory.customFields = before.customFields
        memory.subject = before.subject
        memory.chosenSubject = before.chosenSubject
        return memory
    }

    /// Where a session's grid begins: at the first point of the old grid that no step has had and that isn't over.
    private static func nextPoint(of grid: Instant?, at now: Instant) -> Instant {
        guard let grid else { return now }
        let late = now.nanoseconds - grid.nanoseconds
        guard late > LoopTiming.latest else { return grid }
        return grid.adding(
            (late - LoopTiming.latest + LoopTiming.step - 1) / LoopTiming.step * LoopTiming.step)
    }
}
