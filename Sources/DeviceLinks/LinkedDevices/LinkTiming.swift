// The times of a link to a device, in nanoseconds of session time.

import IsletKernel

public enum LinkTiming {
    /// A command without an answer for so long counts as unanswered.
    public static let answer = 30 * Nanoseconds.second
    /// A command that waits for longer than this is dropped: its step is nearly over, and no driver has had it.
    public static let queued = 4 * Nanoseconds.minute
    /// A bolus of which nothing can be learnt for so long is unknowable.
    public static let knowable = 15 * Nanoseconds.minute
    /// Two steps of the loop and a little.
    public static let firstSteps = 12 * Nanoseconds.minute
    /// How often the pump is asked how it is; while a bolus runs; after it didn't answer.
    public static let poll = 150 * Nanoseconds.second
    public static let pollWhileBolusing = 60 * Nanoseconds.second
    public static let pollWhileLost = 60 * Nanoseconds.second
    /// A pump that was heard longer ago is out of reach.
    public static let freshness = 10 * Nanoseconds.minute
    /// A setting that the pump refused is not sent again for so long.
    public static let refused = 5 * Nanoseconds.minute
    /// Insulin of unknown fate acts no more after this.
    public static let insulinActs = 8 * Nanoseconds.hour
    /// A device's clock may be off by so much.
    public static let clockOffset = 2 * Nanoseconds.minute
    /// Readings that are nearer to each other than this are one.
    public static let readingSpacing = 30 * Nanoseconds.second
    /// A reading that arrives later than this is history.
    public static let readingIsNews = 15 * Nanoseconds.minute
    /// Older ones are refused.
    public static let readingHistory = Nanoseconds.day
}
