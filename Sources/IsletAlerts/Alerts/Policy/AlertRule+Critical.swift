// What a rule's critical bounds come to.
//
// Guarantees: a critical bound can be reached: a sensor's floor and ceiling, which say "that much or more", count as beyond a bound that lies at them. A
// threshold reaches to its critical bounds wherever they lie: what is critical is a breach, also inside of the range that somebody set.
// Does not: touch the literal sketch, which stays as it was written.

extension AlertRule {
    /// `criticalBelow` as a value passes it.
    var reachedBelow: Double? {
        guard let criticalBelow, !isLiteral, criticalBelow == tests.first?.metric.sensed?.lowerBound else {
            return self.criticalBelow
        }
        return criticalBelow.nextUp
    }

    /// `criticalAbove` as a value passes it.
    var reachedAbove: Double? {
        guard let criticalAbove, !isLiteral, criticalAbove == tests.first?.metric.sensed?.upperBound else {
            return self.criticalAbove
        }
        return criticalAbove.nextDown
    }

    /// Whether a value beyond its critical bounds is raised without waiting. What is written under `rules` keeps the debounce that it has.
    var isCriticalAtOnce: Bool {
        code.isOfThreshold && !isLiteral && (criticalBelow != nil || criticalAbove != nil)
    }

    /// The bound that `value` is beyond: the critical one where only that is passed, else the rule's own.
    func boundPassed(by value: Double) -> Double? {
        guard let test = tests.first else { return nil }
        guard isCriticalAtOnce, !test.isBreached(by: value), isCritical(value) else { return test.bound }
        return test.side == .low ? criticalBelow : criticalAbove
    }

    /// Its comparisons as values pass them.
    var reachedTests: [MetricTest] {
        var tests = self.tests
        guard isCriticalAtOnce, let first = tests.first, first.bound.isFinite else { return tests }
        switch first.side {
        case .low:
            guard let critical = reachedBelow, critical > first.bound else { return tests }
            tests[0].bound = critical
            tests[0].clearAt = first.clearAt.map { max($0, critical) }
        case .high:
            guard let critical = reachedAbove, critical < first.bound else { return tests }
            tests[0].bound = critical
            tests[0].clearAt = first.clearAt.map { min($0, critical) }
        }
        return tests
    }
}
