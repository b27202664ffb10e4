// What was shown in front only, and is notified after all: the front was left at once, or something urgent stayed without an answer.
//
// Guarantees: each attempt that the front held back is notified once at most by leaving, and an urgent one once by time; never what was acknowledged,
// snoozed, dismissed or opened since. A new attempt in front begins anew.
// Does not: know who looks. Its owner says when the app comes to the front and leaves it, also when that turns out late.

import IsletDevices
public import IsletKernel

extension AlertEngine {
    /// The app comes to the front, or leaves it, or turns out to have left it.
    public mutating func show(inForeground: Bool, at now: Instant) {
        isForeground = inForeground
        if inForeground { return }
        for rule in byCode {
            guard let held = state.tracks[rule].heldInFrontAt else { continue }
            state.tracks[rule].heldInFrontAt = nil
            guard let front = prepared.afterFront[rule], front.left > 0,
                now.nanoseconds - held.nanoseconds <= front.left, mayRemind(rule)
            else { continue }
            touch(rule)
            attempt(rule, .released)
        }
    }

    /// The front holds back what would be heard now.
    mutating func holdInFront(_ rule: Int, _ severity: AlertSeverity, at now: Instant) {
        guard prepared.afterFront[rule] != nil else { return }
        state.tracks[rule].heldInFrontAt = now
        if severity < .safetyCritical {
            state.tracks[rule].urgentInFrontSince = nil
        } else if state.tracks[rule].urgentInFrontSince == nil {
            state.tracks[rule].urgentInFrontSince = now
        }
    }

    /// Somebody answered what was shown in front, or it was heard, or it is over.
    public mutating func answerInFront(_ rule: Int) {
        state.tracks[rule].heldInFrontAt = nil
        state.tracks[rule].urgentInFrontSince = nil
    }

    /// When something urgent that stays without an answer is notified.
    func reminderAfterFront(_ rule: Int) -> Instant? {
        guard let since = state.tracks[rule].urgentInFrontSince, let front = prepared.afterFront[rule],
            front.unanswered > 0
        else { return nil }
        return since.adding(front.unanswered)
    }

    /// Notifies something urgent that nobody answered, in front or not.
    mutating func remindAfterFront(_ rule: Int, at now: Instant) {
        guard let due = reminderAfterFront(rule), due <= now else { return }
        state.tracks[rule].urgentInFrontSince = nil
        guard mayRemind(rule), state.tracks[rule].active?.severity == .safetyCritical else { return }
        // It rings, whatever else is due in this instant.
        attempts.removeAll { $0.rule == rule }
        attempt(rule, .unanswered)
    }

    private func mayRemind(_ rule: Int) -> Bool {
        state.tracks[rule].isRealActive && state.tracks[rule].active?.acknowledgedAt == nil
    }

    /// Whether leaving the front may notify something.
    var holdsInFront: Bool { state.tracks.contains { $0.heldInFrontAt != nil } }
}
