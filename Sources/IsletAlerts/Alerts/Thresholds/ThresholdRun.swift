// Values of many subjects through a threshold center, in virtual time.
//
// Guarantees: at each instant all its values come first, then the judgement; timers fire at their own instants in between.

package import IsletKernel

/// A value of one subject's metric.
package struct SubjectValue: Hashable, Sendable {
    package var at: Instant
    package var subject: String
    package var metric: AlertMetric
    /// In the metric's unit.
    package var value: Double

    package init(at: Instant, subject: String, metric: AlertMetric, value: Double) {
        self.at = at
        self.subject = subject
        self.metric = metric
        self.value = value
    }
}

extension ThresholdCenter {
    /// Runs values, in the order of their instants, and what time brings about, up to and with `end`.
    package mutating func run(_ values: [SubjectValue], until end: Instant) -> [Notice] {
        var notices: [Notice] = []
        var now = Instant.start
        var next = 0
        while true {
            var instant = nextDeadline(after: now)
            if next < values.count, values[next].at <= instant ?? values[next].at {
                instant = values[next].at
            }
            guard let at = instant, at <= end else { return notices }
            while next < values.count, values[next].at <= at {
                let value = values[next]
                sample(value.subject, value.metric, value.value, sampledAt: value.at, at: at)
                next += 1
            }
            notices += settle(at: at)
            now = at
        }
    }
}
