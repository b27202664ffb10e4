// Which way a person wants a number.

/// The better direction of an outcome or a metric.
package enum Better: String, Sendable, CaseIterable {
    case lower, higher
    /// It describes; no direction is better by itself.
    case neither
}
