// Whether a notification called for nothing.
//
// Guarantees: one is a nuisance where its truth neither holds nor begins within 30 min; where the person had treated it in the 15 min before; or where the plasma
// comes back within its bound in the next 15 min at the pace of the last 15. The plasma that is still to come is not looked at for the last.

import IsletKernel

enum Nuisance {
    static let foresight = 30 * Nanoseconds.minute
    private static let recent = 15 * Nanoseconds.minute

    static func isOne(_ instant: Instant, _ about: AlertTruth, _ truth: SessionTruth) -> Bool {
        guard let spans = truth[about], spans.touches(instant, instant.adding(foresight)) else { return true }
        if isTreated(instant, about, truth) { return true }
        return spans.contains(instant) && isRecovering(instant, about, truth)
    }

    private static func isTreated(_ instant: Instant, _ about: AlertTruth, _ truth: SessionTruth) -> Bool {
        let topic = about.topic
        return truth.treatments.contains {
            $0.topic == topic && $0.instant < instant && $0.instant >= instant.adding(-recent)
        }
    }

    private static func isRecovering(_ instant: Instant, _ about: AlertTruth, _ truth: SessionTruth) -> Bool {
        guard let (side, bound) = about.plasma, let now = truth.plasma(at: instant),
            let before = truth.plasma(at: instant.adding(-recent))
        else { return false }
        // As far again in the next as in the last quarter of an hour.
        let next = now + (now - before)
        return side == .low ? next >= bound : next <= bound
    }
}
