// What is published about real weeks, row by row: whom it is of, how far ours may lie from it, and whether it was calibrated on.
//
// Guarantees: a row without a source can't be written; tolerances were written before anything was computed, by these rules: levels as in the first
// calibration (docs/life.md), spreads ± 25 %, lengths and rates ± 25 %, an effect of an alarm within a factor of 1.5, what lies between two
// publications between them. Does not: know who is judged.
//
// Of two publications that don't agree, both stand. People of the sources differ from row to row, and so do their devices.

import IsletDevices
package import IsletModels

/// What a figure is of.
package struct ValidationPeople: Hashable, Sendable {
    package enum Loop: String, Sendable {
        case open, closed
        /// Open-loop therapy without basal at a low, or before one.
        case suspending, predictive
    }
    /// What reaches somebody: `alone` is `life` without a person, `muted` a person whose phone rings silently.
    package enum Ears: String, Sendable { case alone, hearing, muted }

    package var group: AgeGroup
    package var loop: Loop
    package var ears: Ears
    /// Not fewer days a person.
    package var days = 7.0

    package var words: String {
        let heard =
            switch ears {
            case .alone: "without a person"
            case .hearing: "alarms are heard"
            case .muted: "the phone is silent"
            }
        let device =
            switch loop {
            case .open, .closed: "\(loop.rawValue) loop"
            case .suspending: "low-glucose suspension"
            case .predictive: "predictive suspension"
            }
        return "\(group.summary), \(device), \(heard)"
    }
}

package struct ValidationTarget: Sendable {
    package enum Role: String, Sendable { case calibrates, judges }

    /// What is computed of ours.
    package enum Quantity: Sendable {
        case course(ValidationMeasure)
        /// Rare events: their number, and the time in which they happened.
        case events(name: String, unit: String, @Sendable (PersonCourse) -> (events: Int, exposure: Double))
        /// The effect of an alarm on the same people, with it and without it.
        case effect(ValidationEffect)

        package var name: String {
            switch self {
            case .course(let measure): measure.name
            case .events(let name, _, _): name
            case .effect(let effect): effect.name
            }
        }
        package var unit: String {
            switch self {
            case .course(let measure): measure.unit
            case .events(_, let unit, _): unit
            case .effect(let effect): effect.unit
            }
        }
    }

    package let section: Section
    package let quantity: Quantity
    package let people: ValidationPeople
    /// As the source has it.
    package let published: String
    package let tolerance: ClosedRange<Double>
    package let role: Role
    package let source: String

    package enum Section: String, Sendable, CaseIterable {
        case levels, lows, treatment, exercise, drift, sensor, alarms, suspension, sites, safety
    }

    init(
        _ section: Section, _ quantity: Quantity, _ people: ValidationPeople, published: String,
        within tolerance: ClosedRange<Double>, _ role: Role, _ source: String
    ) {
        (self.section, self.quantity, self.people) = (section, quantity, people)
        (self.published, self.tolerance) = (published, tolerance)
        (self.role, self.source) = (role, source)
    }
}

/// What an alarm brings about: of the same people with it and without it.
package struct ValidationEffect: Sendable {
    package enum Contrast: Sendable {
        /// A phone that is heard against one that rings silently, the same policy in both.
        case heard
        /// A high alarm at 205 mg/dL or below against none, or one above 350; lows alike.
        case high
        /// A pump that stops its basal against one that doesn't; what is heard alike.
        case suspension
    }

    package let name: String
    package let unit: String
    package let contrast: Contrast
    let value: @Sendable ([(with: PersonCourse, without: PersonCourse)]) -> Double?

    /// The ratio of means over people.
    static func ratio(_ outcome: String, _ name: String, _ contrast: Contrast) -> Self {
        .init(name: name, unit: "", contrast: contrast) { pairs in
            let with = pairs.reduce(0) { $0 + ($1.with.outcomes[outcome] ?? 0) }
            let without = pairs.reduce(0) { $0 + ($1.without.outcomes[outcome] ?? 0) }
            return without > 0 ? with / without : nil
        }
    }
    /// The ratio of rates: all events in all exposure of all people.
    static func rate(
        _ name: String, _ contrast: Contrast,
        _ count: @escaping @Sendable (PersonCourse) -> (events: Double, exposure: Double)
    ) -> Self {
        .init(name: name, unit: "", contrast: contrast) { pairs in
            func rate(_ people: [PersonCourse]) -> Double? {
                let found = people.map(count)
                let exposure = found.reduce(0) { $0 + $1.exposure }
                return exposure > 0 ? found.reduce(0) { $0 + $1.events } / exposure : nil
            }
            guard let with = rate(pairs.map(\.with)), let without = rate(pairs.map(\.without)), without > 0
            else { return nil }
            return with / without
        }
    }
    static func difference(
        _ outcome: String, _ name: String, _ contrast: Contrast, unit: String = "points"
    ) -> Self {
        .init(name: name, unit: unit, contrast: contrast) { pairs in
            guard !pairs.isEmpty else { return nil }
            let sum = pairs.reduce(0) {
                $0 + ($1.with.outcomes[outcome] ?? 0) - ($1.without.outcomes[outcome] ?? 0)
            }
            return sum / Double(pairs.count)
        }
    }
}

extension ValidationTarget {
    /// All rows, by section.
    package static let all =
        levels + lows + nights + treatment + exercise + drift + sensor + alarms + suspension + sites + safety

    static let adultsOpen = ValidationPeople(group: .adult, loop: .open, ears: .alone)
    static let adultsClosed = ValidationPeople(group: .adult, loop: .closed, ears: .alone)
    static let adolescentsOpen = ValidationPeople(group: .adolescent, loop: .open, ears: .alone)
    private static let adolescentsClosed = ValidationPeople(group: .adolescent, loop: .closed, ears: .alone)
    static let childrenOpen = ValidationPeople(group: .child, loop: .open, ears: .alone)
    private static let childrenClosed = ValidationPeople(group: .child, loop: .closed, ears: .alone)
    private static let adultsHearing = ValidationPeople(group: .adult, loop: .open, ears: .hearing)

    private static let pivotal = "Omnipod 5 pivotal trial, user's manual"

    /// One column of the pivotal trial: mean (deviation between people), or a median.
    private static func column(
        _ people: ValidationPeople, _ role: Role, _ source: String, inRange: (Double, Double),
        mean: (Double, Double), sd: Double, cv: Double, below70: Double, below54: Double, above180: Double,
        above250: Double
    ) -> [Self] {
        func row(_ measure: ValidationMeasure, _ value: Double, _ room: Double) -> Self {
            .init(
                .levels, .course(measure), people, published: "\(value)",
                within: max(0, value - room)...(value + room), role, source)
        }
        let percent = "%"
        return [
            row(.meanOf("sensor_tir_70_180_percent", percent, "time 70 to 180, mean"), inRange.0, 4),
            row(
                .deviationOf("sensor_tir_70_180_percent", percent, "its deviation between people"), inRange.1,
                inRange.1 / 4),
            row(.meanOf("sensor_mean_mgdl", "mg/dL", "mean glucose"), mean.0, 7),
            row(
                .deviationOf("sensor_mean_mgdl", "mg/dL", "its deviation between people"), mean.1, mean.1 / 4),
            row(.meanOf("sensor_sd_mgdl", "mg/dL", "SD of glucose"), sd, 7),
            row(.meanOf("sensor_cv_percent", percent, "CV of glucose"), cv, 2.5),
            row(.medianOf("sensor_tbr_70_percent", percent, "time < 70, median"), below70, 0.6),
            row(.medianOf("sensor_tbr_54_percent", percent, "time < 54, median"), below54, 0.15),
            row(.meanOf("sensor_tar_180_percent", percent, "time > 180, mean"), above180, 4),
            row(.meanOf("sensor_tar_250_percent", percent, "time > 250, mean"), above250, 3),
        ]
    }

    private static let levels =
        column(
            adultsOpen, .calibrates, pivotal + ", 14 to 70 years, n = 128, two weeks of standard therapy",
            inRange: (64.7, 16.6), mean: (161, 28), sd: 57, cv: 35.2, below70: 2.00, below54: 0.22,
            above180: 32.4, above250: 10.1)
        + column(
            adultsClosed, .judges, pivotal + ", 14 to 70 years, n = 128, three months of automated delivery",
            inRange: (73.9, 11.0), mean: (154, 17), sd: 49, cv: 31.7, below70: 1.09, below54: 0.17,
            above180: 24.7, above250: 5.8)
        + column(
            adolescentsOpen, .judges, pivotal + ", 14 to 70 years: no column of their own",
            inRange: (64.7, 16.6), mean: (161, 28), sd: 57, cv: 35.2, below70: 2.00, below54: 0.22,
            above180: 32.4, above250: 10.1)
        + column(
            adolescentsClosed, .judges, pivotal + ", 14 to 70 years: no column of their own",
            inRange: (73.9, 11.0), mean: (154, 17), sd: 49, cv: 31.7, below70: 1.09, below54: 0.17,
            above180: 24.7, above250: 5.8)
        + column(
            childrenOpen, .judges, pivotal + ", 6 to 13.9 years, n = 112, two weeks of standard therapy",
            inRange: (52.5, 15.6), mean: (183, 32), sd: 68, cv: 37.5, below70: 1.38, below54: 0.10,
            above180: 45.3, above250: 19.1)
        + column(
            childrenClosed, .judges,
            pivotal + ", 6 to 13.9 years, n = 112, three months of automated delivery",
            inRange: (68.0, 8.1), mean: (160, 15), sd: 60, cv: 37.0, below70: 1.48, below54: 0.23,
            above180: 30.2, above250: 9.6)

    private static let injections =
        "first month with a sensor, 3696 people on injections (nights and days of real-world data, 2010 to 2023)"
    private static let jdrf =
        "JDRF trial, 36 467 nights of 176 people of all ages with alarms, Diabetes Care 33:1004, PMID 20200306"
    private static let nineTrials = "nine trials, doi 10.1089/dia.2022.0462"

    private static let lows: [Self] =
        [
            .init(
                .lows, .course(.lowMinutes(night: false)), adultsOpen, published: "40", within: 30...50,
                .calibrates, injections),
            .init(
                .lows, .course(.lowMinutes(night: true)), adultsOpen, published: "65", within: 48...82,
                .calibrates, injections),
            .init(
                .lows, .course(.lowMinutesMean), adultsOpen, published: "60 to 85", within: 60...85,
                .calibrates,
                "between the medians above and published means"),
            .init(
                .lows, .course(.lowsPerWeek(night: false)), adultsOpen, published: "2.25 [0.64, 5.25]",
                within: 1.7...2.9, .calibrates, injections),
            .init(
                .lows, .course(.lowsPerWeek(night: true)), adultsOpen, published: "0.54 [0, 1.5]",
                within: 0.4...0.7, .calibrates, injections),
            .init(
                .lows, .course(.depth(0..<1, "less than 1 %")), adultsOpen, published: "15", within: 11...19,
                .judges, nineTrials),
            .init(
                .lows, .course(.depth(2..<6, "2 to 6 %")), adultsOpen, published: "23.5 at 4 %",
                within: 17...30,
                .calibrates, nineTrials),
            .init(
                .lows, .course(.depth(7..<101, "more than 7 %")), adultsOpen, published: "42",
                within: 31...53,
                .judges, nineTrials),
        ]

    private static let nights: [Self] = [adultsOpen, adolescentsOpen, childrenOpen].flatMap {
        people -> [Self] in
        [
            .init(.lows, .course(.lowNights), people, published: "8.5", within: 6.4...10.6, .judges, jdrf),
            .init(.lows, .course(.longLowNights), people, published: "23", within: 17...29, .judges, jdrf),
        ]
    }

    private static let crossover = "32 people, crossover, 16 and 32 g, Front Endocrinol 14:1186680"
    private static let diaries = "93 adults, diaries, 483 episodes, Karger ANM 76:277"
    private static let pumpUsers = "48 lows of pump users, 16 g each, Gingras, Acta Diabetol 2017"
    private static let automated = "40 lows under automated delivery, Can J Diabetes 2023, PMID 37088417"

    private static let treatment: [Self] = [
        .init(
            .treatment, .course(.rescuesPerWeek), adultsOpen, published: "2.7 ± 2.0", within: 1.5...3.5,
            .calibrates, diaries),
        .init(
            .treatment, .course(.rescueGrams), adultsOpen, published: "25.9", within: 20...32, .calibrates,
            diaries),
        .init(
            .treatment, .course(.rise), adultsOpen, published: "+2 (16 g), +11 (32 g), +15 of pump users",
            within: 2...15, .calibrates, crossover),
        .init(
            .treatment, .course(.riseSpread), adultsOpen, published: "14, 16", within: 10...20, .calibrates,
            crossover),
        .init(
            .treatment, .course(.recovery), adultsOpen, published: "20 ± 12", within: 15...25, .calibrates,
            pumpUsers),
        .init(
            .treatment, .course(.recovered), adultsOpen, published: "38", within: 28...48, .judges, pumpUsers),
        .init(
            .treatment, .course(.rise), adultsClosed, published: "+16 (14), all plasma below 72",
            within: 8...24, .judges, automated),
        .init(
            .treatment, .course(.recovery), adultsClosed, published: "21 ± 16", within: 16...27, .judges,
            automated),
        .init(
            .treatment, .course(.recovered), adultsClosed, published: "45", within: 34...56, .judges,
            automated),
        .init(
            .treatment, .course(.rescuesPerWeek), adultsHearing, published: "2.7 ± 2.0", within: 1.5...3.5,
            .judges, diaries),
    ]

    private static let quarter = ValidationPeople(group: .adult, loop: .open, ears: .alone, days: 84)
    private static let threeMonths = "doi 10.1089/dia.2017.0455"
    private static let drift: [Self] = [
        .init(
            .drift, .course(.foretold("mean") { $0.mean }), quarter, published: ".85", within: 0.80...0.90,
            .calibrates, threeMonths),
        .init(
            .drift, .course(.foretold("CV") { $0.cv }), quarter, published: ".70", within: 0.62...0.78,
            .calibrates, threeMonths),
        .init(
            .drift, .course(.foretold("time < 70") { $0.below70 }), quarter, published: ".76",
            within: 0.68...0.84, .calibrates, threeMonths),
    ]

    private static let alertt1 = "ALERTT1, Lancet 397:2275: 254 adults, alarms against scanning"
    private static let alarms: [Self] = [
        .init(
            .alarms,
            .effect(
                .difference("sensor_tir_70_180_percent", "time 70 to 180: heard less silent", .heard)),
            adultsHearing, published: "6.85 [4.36, 9.34]", within: 4.6...10.3, .judges, alertt1),
        .init(
            .alarms, .effect(.ratio("sensor_tbr_54_percent", "time < 54: heard to silent", .heard)),
            adultsHearing, published: ".56", within: 0.37...0.84, .judges,
            alertt1 + " (its figures for < 54 not read in the paper itself)"),
        .init(
            .alarms, .effect(.ratio("sensor_tbr_70_percent", "time < 70: heard to silent", .heard)),
            adultsHearing, published: ".73", within: 0.49...1.09, .judges,
            "60 adults aware of lows, Diabetes Care 43:2744: alarms against scanning"),
        .init(
            .alarms,
            .effect(
                .ratio("sensor_tar_250_percent", "time > 250: high alarm ≤ 205 to none", .high)),
            adultsHearing, published: ".58 (an association)", within: 0.45...0.85, .judges,
            "Lin 2020, 95 people, PMID 31993548"),
    ]

    private static let safety: [Self] = [
        .init(
            .safety,
            .events(name: "ends by a low", unit: "1/100 y") {
                ($0.endedByLow ? 1 : 0, $0.days / 365.25 / 100)
            },
            ValidationPeople(group: .adult, loop: .open, ears: .muted),
            published: "severe events 31 without alarms (remembered), hardly any of them deadly",
            within: 0...5, .judges, alertt1 + "; the bar is ours")
    ]
}
