// What the policies made of one recorded trace.

package import IsletFiles
package import IsletAlerts
package import IsletDevices
package import IsletKernel

package struct ReplayedTrace: Sendable {
    package let trace: RecordedTrace
    package let calendar: SessionCalendar
    /// Whose it is.
    package var name: String { trace.name }
    package let reached: Instant
    /// Listened to: without gaps of more than a day.
    package let days: Double
    /// How many gaps are longer than 20 min.
    package let gaps: Int
    /// Parts between gaps of more than a day.
    package let stretches: Int
    /// mg/dL, every five minutes; NaN where nobody knows.
    package let truth: [Float]
    package let record: SessionRecord
    /// The tallies of each policy, by its rules.
    package let tallies: [[AlertTally]]
    /// The effects of each policy, in the order in which it alone would have them.
    package let effects: [[ShadowEffect]]

    /// What the sensor said, by time of measurement.
    package var readingRows: [ReadingRow] {
        trace.readings.map {
            ReadingRow(
                instant: Instant(
                    nanoseconds: ($0.time - calendar.startEpochSeconds * 1000) * (Nanoseconds.second / 1000)),
                mgdl: $0.mgdl)
        }
    }

    /// The effects of the policy at this place, as rows.
    package func rows(of policy: AlertPolicy, at place: Int) -> [AlertRow] {
        effects[place].map { AlertRow($0, of: policy) }
    }
}
