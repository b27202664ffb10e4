// Which values an axis names.
//
// Guarantees: round numbers (1, 2, 5 times a power of ten; decades; quarters of hours, hours and days; the consensus' bounds of glucose), all with as
// many decimals as the step takes.

import IsletKernel

enum Ticks {
    /// The smallest round step that leaves at most so many ticks in `span`.
    static func step(for span: Double, atMost most: Int) -> Double {
        let rough = max(span / Double(max(1, most - 1)), 1e-300)
        let decade = power(10, decimalLogarithm(rough).rounded(.down))
        for factor in [1.0, 2, 5, 10] where factor * decade >= rough * (1 - 1e-9) { return factor * decade }
        return 10 * decade
    }

    static func linear(_ lower: Double, _ upper: Double, atMost most: Int) -> [Axis.Tick] {
        let step = step(for: upper - lower, atMost: most)
        let places = step >= 0.999 ? 0 : min(6, Int((-decimalLogarithm(step) + 0.999).rounded(.down)))
        let first = (lower / step - 1e-9).rounded(.up)
        let last = (upper / step + 1e-9).rounded(.down)
        guard first <= last, last - first < 100 else { return [] }
        return stride(from: first, through: last, by: 1).map {
            Axis.Tick(value: $0 * step, label: ChartNumber.text($0 * step, places: places))
        }
    }

    /// Decades, with 2 and 5 between them where there is room; of many decades every n-th.
    static func logarithmic(_ lower: Double, _ upper: Double, atMost most: Int) -> [Axis.Tick] {
        let first = Int((decimalLogarithm(lower) - 1e-9).rounded(.up))
        let last = Int((decimalLogarithm(upper) + 1e-9).rounded(.down))
        guard first <= last else { return linear(lower, upper, atMost: most) }
        let decades = last - first + 1
        let factors: [Double] = decades * 3 - 2 <= most ? [1, 2, 5] : [1]
        let every = (decades + most - 1) / most
        var ticks: [Axis.Tick] = []
        for decade in stride(from: first, through: last, by: every) {
            for factor in factors {
                let value: Double = factor * power(10, Double(decade))
                guard value >= lower * (1 - 1e-9), value <= upper * (1 + 1e-9) else { continue }
                ticks.append(Axis.Tick(value: value, label: label(ofPowers: value)))
            }
        }
        return ticks
    }

    private static func label(ofPowers value: Double) -> String {
        guard value < 1 else { return ChartNumber.text(value, places: 0) }
        let places = min(6, Int((-decimalLogarithm(value) + 0.999).rounded(.down)))
        return ChartNumber.text(value, places: places)
    }

    static func clock(atMost most: Int) -> [Axis.Tick] {
        let step = [60.0, 120, 180, 240, 360, 480, 720].first { 1440 / $0 + 1 <= Double(most) } ?? 1440
        return stride(from: 0, through: 1440, by: step).map {
            Axis.Tick(value: $0, label: ChartNumber.twoDigits(Int64($0) / 60) + ":00")
        }
    }

    private static let minutes: [Int64] = [
        1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 480, 720, 1440, 2880, 10_080, 20_160, 43_200, 144_000,
        525_600,
        1_440_000,
    ]

    /// Round local times. A midnight is named by its day of the week.
    static func time(
        _ lower: Double, _ upper: Double, _ calendar: SessionCalendar, atMost most: Int
    ) -> [Axis.Tick] {
        guard abs(lower) < 1e8, abs(upper) < 1e8 else { return [] }
        let step = minutes.first { (upper - lower) / Double($0) + 1 <= Double(most) } ?? 1_440_000
        var ticks: [Axis.Tick] = []
        guard step < 1440 else {
            let from = calendar.day(of: .minutes(Int64(lower)))
            for day in from...max(from, calendar.day(of: .minutes(Int64(upper))))
            where day % (step / 1440) == 0 {
                let minute = calendar.instant(ofDay: day, nanosecondOfDay: 0).minutes
                guard minute >= lower, minute <= upper else { continue }
                ticks.append(Axis.Tick(value: minute, label: calendar.midnightName(ofDay: day, isLong: true)))
            }
            return ticks
        }
        // Local clocks may be put forward or back on the way: each whole hour (or step) is asked what they show.
        let pace = min(step, 60)
        let start = calendar.startOfDayOffset / Nanoseconds.minute
        var minute = ((Int64(lower.rounded(.up)) + start + pace - 1) / pace) * pace - start
        while Double(minute) <= upper {
            let shown = calendar.timeOfDay(at: .minutes(minute)) / Nanoseconds.minute
            if shown % step == 0, Double(minute) >= lower {
                let label =
                    shown == 0
                    ? calendar.midnightName(ofDay: calendar.day(of: .minutes(minute)), isLong: false)
                    : ChartNumber.twoDigits(shown / 60) + ":" + ChartNumber.twoDigits(shown % 60)
                ticks.append(Axis.Tick(value: Double(minute), label: label))
            }
            minute += pace
        }
        return ticks
    }

    /// What the consensus draws, as it writes it in mg/dL and mmol/L, the most telling first.
    private static let bounds: [(mgdl: Double, millimoles: String)] = [
        (70, "3.9"), (180, "10.0"), (54, "3.0"), (250, "13.9"), (350, "19.4"), (400, "22.2"), (450, "25.0"),
        (500, "27.8"), (600, "33.3"), (750, "41.6"),
        (1000, "55.5"), (0, "0"),
    ]

    /// 54, 70, 180, 250 and 400 mg/dL.
    static func profile(_ unit: GlucoseUnit) -> [Axis.Tick] {
        [54.0, 70, 180, 250, 400].map { mgdl in
            Axis.Tick(
                value: mgdl,
                label: unit == .mgdl
                    ? ChartNumber.text(mgdl, places: 0)
                    : bounds.first { $0.mgdl == mgdl }?.millimoles ?? unit.text(mgdl: mgdl))
        }
    }

    /// The consensus' bounds, as far as there is room for them.
    static func glucose(
        _ lower: Double, _ upper: Double, _ unit: GlucoseUnit, atMost most: Int, apart: Double
    ) -> [Axis.Tick] {
        var kept: [(mgdl: Double, millimoles: String)] = []
        for bound in bounds where bound.mgdl >= lower && bound.mgdl <= upper && kept.count < most {
            // What is beyond the bounds of the consensus needs less to be named.
            let room = bound.mgdl > 250 ? max(apart, 0.15) : apart
            guard kept.allSatisfy({ abs($0.mgdl - bound.mgdl) >= room * (upper - lower) }) else { continue }
            kept.append(bound)
        }
        guard kept.count > 1 else {
            return linear(unit.value(mgdl: lower), unit.value(mgdl: upper), atMost: most).map {
                let mgdl = unit == .mgdl ? $0.value : $0.value * GlucoseUnit.mgdlPerMillimole
                return Axis.Tick(value: mgdl, label: $0.label)
            }
        }
        return kept.sorted { $0.mgdl < $1.mgdl }.map {
            Axis.Tick(
                value: $0.mgdl,
                label: unit == .mgdl ? ChartNumber.text($0.mgdl, places: 0) : $0.millimoles)
        }
    }
}
