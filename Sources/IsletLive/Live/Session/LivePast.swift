// A past instant of a live session, to be looked at.
//
// Guarantees: the session as it stood at the end of that instant, wherever it lies between the journal's lines; its journal is read only, and may be written
// meanwhile: a last line that is being written is no error. Nothing that is done with it reaches anybody.

package import IsletDevices
package import IsletKernel
import IsletTrials

package enum LivePast {
    /// - Parameters:
    ///   - studyPath: what a cohort table's path is relative to; nil for the journal.
    ///   - at: in a stretch that nobody lived through the session stands where that began.
    ///   - now: how far the session has come, where that is further than its journal says.
    ///   - onUpgrade: as in `LiveReplay`.
    ///   - onRows: sees what was recorded since the last time, before the events of it are told.
    ///   - listener: hears all that happened up to then, from the first event on.
    ///   - isWanted: as in `LiveReplay`.
    /// - Returns: a session without a journal, that nobody advances.
    /// - Throws: `NobodyWaits`; `InputError` for an instant that isn't in the session's past; `LiveSession.Divergence` for a journal that isn't what it comes to here.
    package static func open(
        _ content: JournalContent, studyPath: String? = nil, at: Instant, now: Instant? = nil,
        onUpgrade: ((LiveUpgrade) -> Void)? = nil, onRows: ((SessionRecorder) -> Void)? = nil,
        onInsulin: ((InsulinLook) -> Void)? = nil,
        isWanted: @escaping () -> Bool = { true },
        listener: @escaping (LiveEvent) -> Void = { _ in }
    ) throws -> LiveSession {
        let end = max(content.end, now ?? .start)
        guard at >= .start, at <= end else {
            throw InputError(
                file: content.path, found: "minute \(at.minutes)",
                expected: "one from minute 0 to minute \(end.minutes), where the session stands")
        }
        var stop = at
        for case .leap(let from, let to) in content.lines where from < at && at < to { stop = from }
        let replay = try LiveReplay(
            content, studyPath: studyPath, until: stop, onUpgrade: onUpgrade, onRows: onRows,
            onInsulin: onInsulin, isWanted: isWanted, listener: listener)
        if let divergence = replay.divergence { throw divergence }
        if let upgrade = replay.session.opening.upgrade, at < upgrade.carry.at {
            throw upgrade.before(at, content.path)
        }
        try replay.session.stand(at: stop)
        return replay.session
    }
}

extension LiveSession {
    /// Comes to the end of an instant between two lines of a journal.
    fileprivate func stand(at instant: Instant) throws {
        guard phase == .running else { return }
        if now <= instant { try approach(instant) }
        report()
        look()
    }
}
