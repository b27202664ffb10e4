// The metrics of one trace, computed in a few passes.
//
// Guarantees: pure; a metric without a value is nil, never NaN; percentages are of readings that are there; each
// reading's risk is computed once. Quick enough to run at the end of every session (2016 readings in about a
// tenth of a millisecond). Formulas: Battelino 2023 (ranges, events), Bergenstal 2018 (GMI), Kovatchev 1997 and
// 2006 (risk, ADRR), Klonoff 2023 (GRI), Wojcicki 1995 (J), McDonnell 2005 (CONGA). Where iglu 4 has the metric,
// the conventions are iglu's.

/// Glucose metrics of one trace. Concentrations in mg/dL.
package struct GlucoseMetrics: Hashable, Sendable {
    /// Readings.
    package var n = 0
    /// First to last instant of observation, in days; nil without any.
    package var days: Double?
    /// Readings per reading that the sampling interval allows over the span, at most 100; nil under two readings.
    package var coveragePercent: Double?
    package var meanMgdl: Double?
    /// n − 1; nil under two readings, as are CV, J and whatever else needs it.
    package var sdMgdl: Double?
    package var cvPercent: Double?
    package var gmiPercent: Double?
    /// 70...180, both ends in.
    package var tir70to180Percent: Double?
    /// 70...140, both ends in.
    package var titr70to140Percent: Double?
    package var tbr70Percent: Double?
    package var tbr54Percent: Double?
    package var tar180Percent: Double?
    package var tar250Percent: Double?
    package var lbgi: Double?
    package var hbgi: Double?
    package var gri: Double?
    /// Mean over local calendar days of greatest low risk plus greatest high risk.
    package var adrr: Double?
    /// nil unless two grid instants a day apart both have glucose.
    package var moddMgdl: Double?
    /// iglu's `mage(version = "ma", short_ma = 5, long_ma = 32, direction = "avg")`; nil without an excursion
    /// above one SD.
    package var mageMgdl: Double?
    package var jIndex: Double?
    /// nil under two pairs of grid instants an hour apart, or if the sampling interval is over an hour.
    package var conga1h: Double?
    package var hypoEventsL1 = 0
    package var hypoEventsL2 = 0
    package var hyperEventsL1 = 0
    package var hyperEventsL2 = 0

    /// Computes all metrics of a trace.
    ///
    /// Days are calendar days of the trace's local clock. Gaps: no percentage counts them; no event spans one over
    /// 30 min; MODD, CONGA and MAGE bridge gaps up to 45 min by a straight line, as iglu does, and no longer ones.
    package init(_ trace: GlucoseTrace) {
        describeSpan(trace)
        let count = trace.mgdl.count
        guard count > 0 else { return }
        let total = Double(count)

        let mean = trace.mgdl.reduce(0, +) / total
        meanMgdl = mean
        gmiPercent = 3.31 + 0.02392 * mean
        if count >= 2 {
            var squares = 0.0
            for value in trace.mgdl { squares += (value - mean) * (value - mean) }
            let sd = (squares / (total - 1)).squareRoot()
            sdMgdl = sd
            cvPercent = 100 * sd / mean
            jIndex = 0.001 * (mean + sd) * (mean + sd)
        }
        countRanges(trace.mgdl)
        sumRisks(trace)

        let events = GlucoseEvents(trace)
        hypoEventsL1 = events.hypoL1
        hypoEventsL2 = events.hypoL2
        hyperEventsL1 = events.hyperL1
        hyperEventsL2 = events.hyperL2

        if let interval = trace.intervalMilliseconds {
            let minute = GlucoseTrace.millisecondsPerMinute
            let step = max(1, Int((interval + minute / 2) / minute))
            let grid = GlucoseGrid(trace, stepMinutes: step)
            moddMgdl = grid?.meanOfDailyDifferences
            conga1h = grid?.deviationOfHourlyDifferences
            let fine = step == MeanAmplitude.stepMinutes ? grid : GlucoseGrid(trace, stepMinutes: 5)
            mageMgdl = fine.flatMap { MeanAmplitude.movingAverages($0) }
        }
    }

    private mutating func describeSpan(_ trace: GlucoseTrace) {
        n = trace.mgdl.count
        guard let span = trace.span else { return }
        let length = span.upperBound - span.lowerBound
        days = Double(length) / Double(GlucoseTrace.millisecondsPerDay)
        if let interval = trace.intervalMilliseconds {
            let expected = (Double(length) / Double(interval)).rounded() + 1
            coveragePercent = min(100, 100 * Double(n) / expected)
        }
    }

    private mutating func countRanges(_ values: [Double]) {
        var below54 = 0
        var below70 = 0
        var upTo140 = 0
        var above180 = 0
        var above250 = 0
        values.withUnsafeBufferPointer {
            for value in $0 {
                // Without a look for overflow, which would keep the loop from taking several readings at once.
                below54 &+= value < 54 ? 1 : 0
                below70 &+= value < 70 ? 1 : 0
                upTo140 &+= value <= 140 ? 1 : 0
                above180 &+= value > 180 ? 1 : 0
                above250 &+= value > 250 ? 1 : 0
            }
        }
        func percent(_ count: Int) -> Double { 100 * Double(count) / Double(values.count) }
        tbr54Percent = percent(below54)
        tbr70Percent = percent(below70)
        titr70to140Percent = percent(upTo140 - below70)
        tir70to180Percent = percent(values.count - below70 - above180)
        tar180Percent = percent(above180)
        tar250Percent = percent(above250)
        gri = min(
            100,
            3.0 * percent(below54) + 2.4 * percent(below70 - below54) + 1.6 * percent(above250)
                + 0.8 * percent(above180 - above250))
    }

    private mutating func sumRisks(_ trace: GlucoseTrace) {
        var low = 0.0
        var high = 0.0
        var daysSeen = 0
        var ranges = 0.0
        trace.localMilliseconds.withUnsafeBufferPointer { instants in
            var start = 0
            while start < instants.count {
                let dayEnds = (GlucoseGrid.day(of: instants[start]) + 1) * GlucoseTrace.millisecondsPerDay
                let end = Self.firstPlace(in: instants, from: start, notBefore: dayEnds)
                var dayLow = 0.0
                var dayHigh = 0.0
                GlucoseRisk.eachSymmetrized(trace.mgdl, in: start..<end) { f in
                    let risk = 10 * f * f
                    if f < 0 {
                        low += risk
                        if risk > dayLow { dayLow = risk }
                    } else {
                        high += risk
                        if risk > dayHigh { dayHigh = risk }
                    }
                }
                daysSeen += 1
                ranges += dayLow + dayHigh
                start = end
            }
        }
        lbgi = low / Double(trace.mgdl.count)
        hbgi = high / Double(trace.mgdl.count)
        adrr = ranges / Double(daysSeen)
    }

    /// By halves; their count where all are before it.
    private static func firstPlace(
        in instants: UnsafeBufferPointer<Int64>, from start: Int, notBefore instant: Int64
    ) -> Int {
        var (low, high) = (start, instants.count)
        while low < high {
            let middle = (low + high) / 2
            if instants[middle] < instant { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The value under a key; nil where the metric is undefined.
    package subscript(key: GlucoseMetricKey) -> Double? { key.value(self) }

    /// All keys with their values, in output order.
    package var ordered: [(key: GlucoseMetricKey, value: Double?)] {
        GlucoseMetricKey.allCases.map { ($0, self[$0]) }
    }
}
