// What the loop says of its insulin, on its way to the rules.
//
// Guarantees: for a dead app the instant at which too much would be missing is with the system, as the stepping deadline is; it
// moves with each step.

public import IsletKernel

extension AlertFlow {
    /// How long after `now` too much insulin is missing if no step runs; nil for never.
    public mutating func expectInsulin(missingAfter span: Int64?, at now: Instant) {
        memory.monitor.insulinToldAt = now
        memory.monitor.insulinMissingAfter = span
    }

    /// When too much is missing if no step runs from now on; nil for never.
    var insulinDeadline: Instant? {
        guard environment.isArmed, let span = memory.monitor.insulinMissingAfter,
            let told = memory.monitor.insulinToldAt
        else { return nil }
        return max(told, memory.monitor.lastStep ?? told).adding(span)
    }

    /// What lapsed, as rules of it will say it.
    mutating func describeLapses(_ words: String) {
        for rule in engine.rulesOfMetric[AlertMetric.droppedInsulin.index] {
            engine.describe(rule, AlertEngine.Details(message: words))
        }
    }
}

extension AlertRule {
    /// It compares what the catalogue's alert of that code compares: what is foretold of that holds for it.
    var isOfCatalogue: Bool { known.map { $0.test != nil && tests == AlertRule($0).tests } ?? false }
}
