// Low and high events after the consensus (Battelino 2023).
//
// Guarantees: time decides, not the number of samples; no event spans a gap over 30 min. An event starts with a
// run of readings beyond the threshold that lasts 15 min or more, and ends with a run of 15 min or more that
// isn't beyond it, with a long gap, or with the trace. A reading stands for one sampling interval, so a run lasts
// from its first reading to its last plus one interval (at 5 min: three readings, as in iglu). A level 2 event is
// a level 1 event too (`EpisodeRule`). Does not: count readings that aren't there. A short gap within a run counts as time.

import IsletKernel

/// Counts of events in one trace.
package struct GlucoseEvents: Hashable, Sendable {
    /// Below 70 mg/dL.
    package var hypoL1 = 0
    /// Below 54 mg/dL.
    package var hypoL2 = 0
    /// Above 180 mg/dL.
    package var hyperL1 = 0
    /// Above 250 mg/dL.
    package var hyperL2 = 0

    static let minimumMilliseconds = 15 * GlucoseTrace.millisecondsPerMinute
    static let longestGapMilliseconds = 30 * GlucoseTrace.millisecondsPerMinute

    package init(_ trace: GlucoseTrace) {
        var (lowest, highest) = (Double.infinity, 0.0)
        trace.mgdl.withUnsafeBufferPointer { mgdl in
            for value in mgdl {
                if value < lowest { lowest = value }
                if value > highest { highest = value }
            }
        }
        if lowest < 70 { hypoL1 = Self.count(trace) { $0 < 70 } }
        if lowest < 54 { hypoL2 = Self.count(trace) { $0 < 54 } }
        if highest > 180 { hyperL1 = Self.count(trace) { $0 > 180 } }
        if highest > 250 { hyperL2 = Self.count(trace) { $0 > 250 } }
    }

    @inline(__always)
    private static func count(_ trace: GlucoseTrace, beyond: (Double) -> Bool) -> Int {
        // A single reading says nothing about how long it lasted.
        guard let interval = trace.intervalMilliseconds else { return 0 }
        let rule = EpisodeRule(
            shortest: minimumMilliseconds, standsFor: min(interval, longestGapMilliseconds),
            longestGap: longestGapMilliseconds)
        var events = 0
        trace.localMilliseconds.withUnsafeBufferPointer { instants in
            trace.mgdl.withUnsafeBufferPointer { mgdl in
                rule.forEachEpisode(
                    of: mgdl.count, at: { instants[$0] }, isBeyond: { beyond(mgdl[$0]) }
                ) { _, _ in events += 1 }
            }
        }
        return events
    }
}
