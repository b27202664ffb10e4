// Values of metrics, and the age of the newest reading: who has to hear of them.
//
// Guarantees: a value that stays between the same edges concerns nobody but those for whom every value counts, or who have
// something due at its instant.

import IsletKernel

extension ShadowEngine {
    /// What follows from a reading, and the readings before it; nil where nobody asks, or it can't be said.
    private struct Derived {
        var rate: Double?
        var prediction: Double?

        subscript(_ metric: AlertMetric) -> Double? {
            metric == .glucoseRate ? rate : metric == .glucoseIn20m ? prediction : nil
        }
    }

    /// Whether a part in which nothing goes on may begin something: all comparisons of a rule are breached by the newest values.
    private func mayBegin(_ part: Int, _ group: Int, _ value: Double, _ derived: Derived, _ news: AlertMetric)
        -> Bool
    {
        var isBreached = true
        for place in plan.parts[part].tests.indices {
            let (test, endsRule) = plan.parts[part].tests[place]
            if isBreached, test.metric != .readingAge {
                let known: Double? =
                    test.metric == news
                    ? value
                    : derived[test.metric]
                        ?? groups[group].flow.engine.state.samples[test.metric.index]?.value
                isBreached = known.map { test.isBreached(by: $0) } ?? false
            }
            guard endsRule else { continue }
            if isBreached { return true }
            isBreached = true
        }
        return false
    }

    /// A value of a metric. Costs little where no part has to hear it.
    mutating func hear(_ metric: AlertMetric, _ value: Double, sampledAt: Instant, at now: Instant) {
        for group in groups.indices { hear(group, metric, value, sampledAt: sampledAt, at: now) }
    }

    /// The reservoir as it was asked for at a step: only those hear of it that had it asked for.
    mutating func hearAsked(_ metric: AlertMetric, _ value: Double, at now: Instant) {
        for group in groups.indices where plan.groups[group].watchesReservoir {
            hear(group, metric, value, sampledAt: now, at: now)
        }
    }

    private mutating func hear(
        _ group: Int, _ metric: AlertMetric, _ value: Double, sampledAt: Instant, at now: Instant
    ) {
        callForWindow(group, at: now)
        let isNews =
            groups[group].flow.engine.state.samples[metric.index].map { sampledAt > $0.sampledAt } ?? true
        if isNews, value.isFinite {
            callForValues(group, metric, value, sampledAt: sampledAt, at: now)
            if metric == .glucose { callForAge(group, sampledAt: sampledAt, at: now) }
        }
        tellCalled { $0.hear(metric, value, sampledAt: sampledAt, at: now) }
        _ = groups[group].flow.hear(metric, value, sampledAt: sampledAt, at: now)
    }

    private mutating func callForValues(
        _ group: Int, _ metric: AlertMetric, _ value: Double, sampledAt: Instant, at now: Instant
    ) {
        guard now.nanoseconds - sampledAt.nanoseconds <= plan.groups[group].limits.freshness else { return }
        var derived = Derived()
        if metric == .glucose {
            if plan.groups[group].hasRate { derived.rate = rate(group, value, sampledAt) }
            if plan.groups[group].hasTrend { derived.prediction = prediction(group, value, sampledAt) }
        }
        var endsGap = callForEdges(group, metric, value, at: now)
        if let rate = derived.rate, callForEdges(group, .glucoseRate, rate, at: now) { endsGap = true }
        if let soon = derived.prediction, callForEdges(group, .glucoseIn20m, soon, at: now) { endsGap = true }
        // Calm ones hear only of what may begin something, and of a gap's end if they were blind and have to tell.
        if !called.isEmpty {
            var kept = 0
            for part in called {
                if parts[part].isCalm, !(endsGap && keepsBlame[part]),
                    !mayBegin(part, group, value, derived, metric)
                {
                    parts[part].isCalled = false
                } else {
                    called[kept] = part
                    kept += 1
                }
            }
            called.removeLast(called.count - kept)
        }
        callForDeadlines(group, at: now)
        if groups[group].hasEager {
            var hasEager = false
            for part in plan.groups[group].parts where parts[part].isEager {
                call(part)
                hasEager = true
            }
            groups[group].hasEager = hasEager
        }
    }

    /// What is due at the instant of a value counts with the value.
    private mutating func callForDeadlines(_ group: Int, at now: Instant) {
        if earliest > now.nanoseconds { return }
        for part in plan.groups[group].parts where deadlines[part] <= now.nanoseconds { call(part) }
    }

    /// As `AlertFlow.hear` finds it; nil where there is none.
    private func rate(_ group: Int, _ value: Double, _ sampledAt: Instant) -> Double? {
        guard let last = groups[group].flow.memory.monitor.lastGlucose, sampledAt > last.sampledAt,
            sampledAt.nanoseconds - last.sampledAt.nanoseconds <= plan.groups[group].limits.freshness
        else { return nil }
        return (value - last.value) / (sampledAt.minutes - last.sampledAt.minutes)
    }

    /// As `AlertFlow.hear` finds it; nil where there is none.
    private func prediction(_ group: Int, _ value: Double, _ sampledAt: Instant) -> Double? {
        let reading = AlertEngine.Sample(value: value, sampledAt: sampledAt)
        return groups[group].flow.memory.monitor.trend?.prediction(with: reading)
    }

    /// Parts of which the value passes an edge. After a gap it is as if it came from nowhere: whoever has the metric.
    /// - Returns: whether there was a gap.
    private mutating func callForEdges(
        _ group: Int, _ metric: AlertMetric, _ value: Double, at now: Instant
    ) -> Bool {
        let place = metric.index
        if plan.groups[group].edges[place].isEmpty { return false }
        let before = groups[group].flow.engine.state.samples[place]
        let hasGap =
            before.map { now.nanoseconds - $0.sampledAt.nanoseconds > plan.groups[group].limits.freshness }
            ?? true
        if metric.isNewsAtEachRise, before.map({ value > $0.value }) ?? true {
            for part in plan.groups[group].edges[place].parts { call(part) }
        }
        let cell = groups[group].cells[place]
        if !hasGap, value > groups[group].low[place], value < groups[group].high[place] { return false }
        let edges = plan.groups[group].edges[place]
        let new = edges.cell(of: value)
        groups[group].cells[place] = new
        (groups[group].low[place], groups[group].high[place]) = edges.between(cell: new)
        for edge in hasGap ? edges.parts.indices : edges.edges(between: cell, new) { call(edges.parts[edge]) }
        return hasGap
    }

    /// A reliable reading that came too late to be news.
    mutating func hearHistory(sampledAt: Instant, at now: Instant) {
        for group in groups.indices {
            callForWindow(group, at: now)
            callForAge(group, sampledAt: sampledAt, at: now)
            callForDeadlines(group, at: now)
            tellCalled { $0.hearHistory(sampledAt: sampledAt, at: now) }
            _ = groups[group].flow.hearHistory(sampledAt: sampledAt, at: now)
        }
    }

    /// A newer reading makes the age younger.
    private mutating func callForAge(_ group: Int, sampledAt: Instant, at now: Instant) {
        if plan.groups[group].ages.isEmpty { return }
        let newest = groups[group].flow.engine.state.newestReading
        if let newest, sampledAt <= newest { return }
        let young = now.nanoseconds - sampledAt.nanoseconds
        let old = now.nanoseconds - (newest ?? .start).nanoseconds
        let first = plan.groups[group].firstAge
        if old < first, young < first {
            groups[group].nextAge = sampledAt.adding(first)
            return
        }
        let ages = plan.groups[group].ages
        groups[group].nextAge = ages.next(above: young).map { sampledAt.adding($0) } ?? .distantFuture
        let (from, to) = (ages.cell(of: old), ages.cell(of: young))
        guard from != to else { return }
        for place in ages.edges(between: from, to) { call(ages.parts[place]) }
    }

    /// When time alone may next change something.
    mutating func nextDeadline(after now: Instant) -> Instant? {
        if isDead { return nil }
        var next = earliest == .max ? Instant.distantFuture : Instant(nanoseconds: earliest)
        for group in groups.indices {
            next = min(next, groups[group].nextWindow, groups[group].nextAge)
            if let deadline = groups[group].steppingDeadline, deadline > now,
                plan.groups[group].watchesStepping
            {
                next = min(next, deadline)
            }
        }
        return next == .distantFuture ? nil : next
    }
}
