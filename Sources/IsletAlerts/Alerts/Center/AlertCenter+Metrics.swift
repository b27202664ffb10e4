// What a session without pump and glucose sensor tells its alert center: values of any metric.
//
// Guarantees: policies in shadow hear what this one hears; a value of which nothing comes costs a few comparisons and no event.

public import IsletKernel

extension AlertCenter {
    /// A value of a metric, as it is measured.
    public func hear(_ metric: AlertMetric, _ value: Double, sampledAt: Instant) {
        shadows?.here((metric, value, sampledAt)) { $0.hear($1.0, $1.1, sampledAt: $1.2) }
        let isNews = app.flow.hear(metric, value, sampledAt: sampledAt, at: executor.now)
        if isNews || app.hasStore { judgeLater() }
    }
}
