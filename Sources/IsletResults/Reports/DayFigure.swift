// The day's glucose: ambulatory profiles of the true plasma glucose, arms over each other, their difference, and when their phones rang.
//
// Guarantees: every profile has the same axis, 40 to 400 mg/dL, with the consensus' bounds named; a band or line is named where it ends; the difference is of
// people's own medians, paired, with its 95 % interval. Which arms are drawn is said. One person's days are drawn as they were, in place of percentiles.
// Does not: show what lies beyond the axis: it stands at its border.

import IsletFiles
import IsletDevices
import IsletKernel
import IsletNumerics
import IsletTrials

struct DayFigure {
    let input: ReportInput

    init(_ input: ReportInput) { self.input = input }

    /// Arms that are drawn at all, over each other.
    static let most = 4
    private static let shares = [0.05, 0.25, 0.5, 0.75, 0.95]

    /// The arms that a report draws days of: all where they are few, else the reference, the one that the first line is about, and others in their order that
    /// are not identical to the reference.
    static func arms(_ study: Study, _ summary: StudySummary) -> [Int] {
        let all = summary.arms.indices
        guard all.count > most else { return Array(all) }
        let compared = ComparedArms(study: study, summary: summary)
        var found: [Int] = []
        let first = [study.reference, compared.headline].compactMap { name in
            all.first { summary.arms[$0].name == name }
        }
        let others = all.filter { !compared.isIdentical(summary.arms[$0].name) }
        for index in first + others where !found.contains(index) && found.count < most { found.append(index) }
        return found.sorted()
    }

    private var drawn: [(index: Int, name: String, days: ArmDays)] {
        let reference = input.study.reference.flatMap { input.arm($0)?.index }
        let sweep = SweepModel(input)
        return input.again.days.sorted { a, b in
            // The reference comes first.
            (a.key == reference ? -1 : a.key) < (b.key == reference ? -1 : b.key)
        }.filter { $0.value.profile.values > 0 && input.summary.arms.indices.contains($0.key) }.map {
            index, days in
            // A sweep's arms by their levels, but for the reference.
            let name = input.summary.arms[index].name
            let point = index == reference ? nil : sweep?.points.first { $0.name == name }
            return (index, point.flatMap { sweep?.name(of: $0) } ?? name, days)
        }
    }

    // MARK: Figures

    var figures: [ReportFigure] {
        let drawn = drawn
        guard let first = drawn.first else { return [] }
        let isOnePerson = drawn.count == 1 && first.days.traces.count > 0
        let title = isOnePerson ? "Days of one person" : "Glucose over the day"
        return [
            ReportFigure(
                name: "profile", chart: chart(title, drawn, width: 720),
                narrow: chart(title, drawn, width: 338))
        ]
    }

    private func ink(_ place: Int) -> Ink { place == 0 ? .muted : .series(place - 1) }

    private func chart(
        _ title: String, _ arms: [(index: Int, name: String, days: ArmDays)], width: Double
    ) -> Chart {
        let isWide = width > 500
        let isAlone = arms.count == 1
        let edgeWidth = isWide ? 108.0 : isAlone ? 46 : 74
        var marks: [Mark] = Self.nights + Self.bounds
        var edge: [EdgeName] = []
        let profile = arms[0].days.profile
        let isOnePerson = !arms[0].days.traces.isEmpty
        if isOnePerson {
            for (place, arm) in arms.enumerated() {
                for trace in arm.days.traces {
                    marks.append(
                        .line(
                            trace.map { ChartPoint($0.minute, $0.mgdl) }, isAlone ? .series(0) : ink(place),
                            .solid,
                            width: 0.9))
                }
            }
        } else if isAlone {
            marks += [
                .band(Self.band(profile, 0.05, 0.95), .series(0), opacity: 0.2),
                .band(Self.band(profile, 0.25, 0.75), .series(0), opacity: 0.4),
            ]
            for share in Self.shares {
                edge.append(
                    EdgeName(
                        share == 0.5 ? "median" : "\(ChartNumber.text(share * 100, places: 0)) %",
                        at: Self.value(profile, share, 0), share == 0.5 ? .series(0) : .muted))
            }
        } else {
            marks.append(.band(Self.band(profile, 0.25, 0.75), .muted, opacity: 0.22))
        }
        for (place, arm) in arms.enumerated() {
            let ink = isAlone ? Ink.series(0) : ink(place)
            if !isOnePerson || arm.days.traces.count > 1 {
                marks.append(
                    .line(Self.line(arm.days.profile, 0.5), ink, Dash.of(series: place * 8), width: 2.4))
            }
            if !isAlone { edge.append(EdgeName(arm.name, at: Self.value(arm.days.profile, 0.5, 0), ink)) }
        }
        let glucose = Panel(
            title: isWide ? title : nil, x: .clock(""),
            y: .profile(input.unit), height: isWide ? 252 : 252,
            marks: marks, hasGrid: false
        ).named(edge, in: edgeWidth)
        var panels = [glucose]
        if let difference = difference(arms, edgeWidth: edgeWidth) { panels.append(difference) }
        if let rings = rings(arms, edgeWidth: edgeWidth, isWide: isWide) { panels.append(rings) }
        return Chart(
            title: title, description: description(arms), width: width, sharesX: true, panels: panels,
            legend: isOnePerson || isAlone
                ? []
                : [LegendEntry("\(arms[0].name), 25–75 % of values", .muted, .fill(opacity: 0.22))]
                    + (arms.count == 2 || isWide
                        ? [LegendEntry("medians", .muted, .line(.solid))] : []))
    }

    private static let nights: [Mark] = [
        .span(.x, from: 0, to: 420, .muted, opacity: 0.09),
        .span(.x, from: 1380, to: 1440, .muted, opacity: 0.09),
    ]

    private static let bounds: [Mark] = [
        .line([ChartPoint(0, 70), ChartPoint(1440, 70)], .target, .solid, width: 2),
        .line([ChartPoint(0, 180), ChartPoint(1440, 180)], .target, .solid, width: 2),
        .rule(.y, at: 54, .low), .rule(.y, at: 250, .high),
    ]

    // MARK: Parts

    private static func value(_ profile: GlucoseProfile, _ share: Double, _ slot: Int) -> Double {
        profile.percentile(share, slot: slot % GlucoseProfile.slots) ?? .nan
    }

    /// The day's end is its beginning.
    private static func times() -> [(slot: Int, minute: Double)] {
        let length = 1440.0 / Double(GlucoseProfile.slots)
        var times: [(slot: Int, minute: Double)] = [(0, 0)]
        for slot in 0..<GlucoseProfile.slots { times.append((slot, (Double(slot) + 0.5) * length)) }
        times.append((0, 1440))
        return times
    }

    private static func line(_ profile: GlucoseProfile, _ share: Double) -> [ChartPoint] {
        times().map { ChartPoint($0.minute, value(profile, share, $0.slot)) }
    }

    private static func band(_ profile: GlucoseProfile, _ lower: Double, _ upper: Double) -> [BandPoint] {
        times().map { BandPoint($0.minute, value(profile, lower, $0.slot), value(profile, upper, $0.slot)) }
    }

    /// Arm less reference by the hour; nil where there is no other arm, or too few people.
    private func difference(
        _ arms: [(index: Int, name: String, days: ArmDays)], edgeWidth: Double
    ) -> Panel? {
        guard arms.count > 1 else { return nil }
        let unit = input.unit
        var marks: [Mark] = Self.nights + [.rule(.y, at: 0, .strong, .solid)]
        var values: [Double] = []
        var edge: [EdgeName] = []
        for (place, arm) in arms.enumerated().dropFirst() {
            let found = arm.days.differences(from: arms[0].days)
            var band: [BandPoint] = []
            var line: [ChartPoint] = []
            for (hour, one) in found.enumerated() {
                guard let one else { continue }
                let ends = [one.interval.lower, one.interval.upper].map { unit.value(mgdl: $0) }
                values += ends
                band.append(BandPoint(Double(hour) * 60 + 30, ends[0], ends[1]))
                line.append(ChartPoint(Double(hour) * 60 + 30, unit.value(mgdl: one.mean)))
            }
            guard line.count > 1 else { continue }
            marks += [.band(band, ink(place), opacity: 0.22), .line(line, ink(place), width: 2)]
            edge.append(EdgeName(arm.name, at: line[line.count - 1].y, ink(place)))
        }
        guard !values.isEmpty else { return nil }
        // A difference that nobody would feel is not drawn as if it filled the day.
        let floor = unit.value(mgdl: 10)
        return Panel(
            x: .clock(""),
            y: .linear("median, less \(arms[0].name), \(unit.rawValue)", around: values + [-floor, floor]),
            height: 76, marks: marks
        ).named(edge, in: edgeWidth)
    }

    /// When phones rang, each arm a row of half hours; nil where none did.
    private func rings(
        _ arms: [(index: Int, name: String, days: ArmDays)], edgeWidth: Double, isWide: Bool
    ) -> Panel? {
        let counts = arms.map { arm in
            arm.days.rings.map { arm.days.days > 0 ? Double($0) / arm.days.days : 0 }
        }
        let most = counts.flatMap(\.self).max() ?? 0
        guard most > 0 else { return nil }
        var marks: [Mark] = []
        var edge: [EdgeName] = []
        for (place, arm) in arms.enumerated() {
            let ink = arms.count == 1 ? Ink.series(0) : ink(place)
            for (slot, count) in counts[place].enumerated() where count > 0 {
                let from = Double(slot) * 30
                marks.append(
                    .band(
                        [
                            BandPoint(from + 2, Double(place) - 0.36, Double(place) + 0.36),
                            BandPoint(from + 28, Double(place) - 0.36, Double(place) + 0.36),
                        ], ink, opacity: 0.12 + 0.88 * count / most))
            }
            edge.append(
                EdgeName(
                    "\(ChartNumber.text(ringsPerDay(arm), places: 1)) a day", at: Double(place), ink))
        }
        return Panel(
            title: "When it rang", x: .clock(isWide ? "time of day; night is shaded" : ""),
            y: .categories("", arms.map { TextWidth.fitted($0.name, width: isWide ? 84 : 56, size: 12) }),
            height: Double(arms.count) * 17 + 4, marks: marks
        ).named(edge, in: edgeWidth)
    }

    /// Of all people, as everywhere else; of those whose days are drawn where the summary has none.
    private func ringsPerDay(_ arm: (index: Int, name: String, days: ArmDays)) -> Double {
        input.summary.arms[arm.index].outcomes[ReportInput.rings]?.mean ?? arm.days.ringsPerDay
    }

    private func description(_ arms: [(index: Int, name: String, days: ArmDays)]) -> String {
        let unit = input.unit
        return arms.map { arm in
            let hours = [0, 6, 12, 18].map { hour -> String in
                let slot = hour * GlucoseProfile.slots / 24
                let texts = Self.shares.map { unit.text(mgdl: Self.value(arm.days.profile, $0, slot)) }
                return "at \(hour) h \(texts.joined(separator: ", "))"
            }
            return
                "\(arm.name): \(hours.joined(separator: "; ")); \(ChartNumber.text(ringsPerDay(arm), places: 1)) rings a day"
        }.joined(separator: ". ")
            + ". Values in \(unit.rawValue) are the 5th, 25th, 50th, 75th and 95th of a hundred."
    }

    // MARK: Words

    var html: HTML {
        if let obstacle = input.again.obstacle {
            return "<p class=\"note\">The day is not drawn: \(obstacle)</p>\n"
        }
        let figures = figures
        guard !figures.isEmpty else {
            return "<p class=\"note\">No session has a true glucose to draw.</p>\n"
        }
        return
            "<div class=\"figures whole\">\(figures.map(\.html))</div>\n"
    }

    /// What the lines and bands are, and of whom.
    var note: HTML {
        guard input.again.obstacle == nil, !input.again.days.isEmpty else { return "" }
        let people = input.again.days.values.map(\.profile.sessions).max() ?? 0
        let left = input.summary.arms.count - input.again.days.count
        let which: HTML =
            people >= input.people
            ? ""
            : " They are of \(people) of \(input.people) people, spread evenly over the cohort and the same in every arm."
        let arms: HTML =
            left > 0
            ? " Drawn are \(input.again.days.count) of \(input.summary.arms.count) arms, the reference among them."
            : ""
        let again: HTML =
            input.recorded == nil
            ? " Their sessions were run again from the seed, and their digests are the stored ones."
            : " Gaps count as nothing."
        return
            "<p class=\"note\">In the day’s figure lines are medians of all values at that time of day, bands what lies between percentiles; the difference is the mean over people of their own hourly medians, with its 95\u{a0}% interval.\(which)\(arms)\(again)</p>\n"
    }
}

extension Panel {
    /// With names at its right edge.
    fileprivate func named(_ edge: [EdgeName], in width: Double) -> Panel {
        var panel = self
        (panel.edge, panel.edgeWidth) = (edge, width)
        return panel
    }
}
