// What a threshold's setting would have rung, on readings that were there.
//
// Guarantees: the rule of the live engine on the same samples: a breach beyond the bound, held for the sensitivity, one ring an episode, until a value is back
// within the bound. A gap longer than fifteen minutes ends what waited.
// Does not: know cooldown, quiet hours or snoozes: it says what the setting itself does.

import IsletAlerts
package import IsletKernel

package struct ThresholdPreview: Hashable, Sendable {
    package struct Episode: Hashable, Sendable {
        package var isLow: Bool
        package var from: Instant
        /// When it would have rung.
        package var rings: Instant
        /// nil where it was still so at the end.
        package var to: Instant?
    }

    package var episodes: [Episode] = []

    private static let longestGap = 15 * Nanoseconds.minute

    /// - Parameters:
    ///   - series: by time.
    ///   - sensitivity: ns.
    package init(_ series: [MetricPoint], low: Double?, high: Double?, sensitivity: Int64) {
        for (isLow, bound) in [(true, low), (false, high)] {
            guard let bound else { continue }
            var since: Instant?
            var rang: Instant?
            var last: Instant?
            func isBeyond(_ value: Double) -> Bool { isLow ? value < bound : value > bound }
            for point in series {
                if let last, point.at.nanoseconds - last.nanoseconds > Self.longestGap, rang == nil {
                    since = nil
                }
                if let begun = since, rang == nil {
                    let due = begun.adding(sensitivity)
                    // Time alone makes it ring between two readings.
                    if due < point.at { rang = due }
                }
                if isBeyond(point.value) {
                    if since == nil { since = point.at }
                    if rang == nil, let since, point.at.nanoseconds - since.nanoseconds >= sensitivity {
                        rang = point.at
                    }
                } else {
                    if let since, let rang {
                        episodes.append(Episode(isLow: isLow, from: since, rings: rang, to: point.at))
                    }
                    (since, rang) = (nil, nil)
                }
                last = point.at
            }
            if let since, let rang {
                episodes.append(Episode(isLow: isLow, from: since, rings: rang, to: nil))
            }
        }
        episodes.sort { ($0.from, $0.isLow ? 0 : 1) < ($1.from, $1.isLow ? 0 : 1) }
    }
}
