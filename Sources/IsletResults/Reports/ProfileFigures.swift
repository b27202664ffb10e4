// The day's glucose of each arm: ambulatory glucose profiles of the true plasma glucose.

import IsletFiles
import IsletTrials

struct ProfileFigures {
    let input: ReportInput

    init(_ input: ReportInput) { self.input = input }

    private static let shares = [0.05, 0.25, 0.5, 0.75, 0.95]

    var html: HTML {
        if let obstacle = input.again.obstacle { return "<p>Not drawn: \(obstacle)</p>\n" }
        let figures = figures
        guard !figures.isEmpty else { return "<p>Not drawn: no session has a true glucose.</p>\n" }
        let people = input.again.profiles.map(\.sessions).max() ?? 0
        let all = input.people
        let which: HTML =
            people >= all
            ? "All people."
            : "\(people) of \(all) people, spread evenly over the cohort and the same in every arm."
        return
            "<p class=\"note\">Lines: median; bands: 25 to 75 and 5 to 95 % of all values at that time of day, over days and people. Dashed: \(input.words.bound(70)) and \(input.words.bound(180, withUnit: true)). \(which)\(input.recorded == nil ? " Their sessions were run again from the seed, and their digests are the stored ones." : " Gaps count as nothing.")</p>\n<div class=\"figures\(figures.count > 4 ? " many" : figures.count < 3 ? " few" : "" as HTML)\">\(figures.map(\.html))</div>\n"
    }

    var figures: [ReportFigure] {
        let range = range
        return zip(input.summary.arms, input.again.profiles).enumerated().compactMap { place, pair in
            let (arm, profile) = pair
            guard profile.values > 0 else { return nil }
            return figure(
                arm.name, profile, place, holding: range, isSmall: input.summary.arms.count > 4)
        }
    }

    /// What is drawn lies within; the same in all arms.
    private var range: ClosedRange<Double> {
        func ends(_ share: Double) -> [Double] {
            input.again.profiles.flatMap { profile in
                (0..<GlucoseProfile.slots).compactMap { profile.percentile(share, slot: $0) }
            }
        }
        let lowest = ends(Self.shares[0]).min() ?? 40
        return lowest...max(lowest, ends(Self.shares[4]).max() ?? 40)
    }

    private func figure(
        _ name: String, _ profile: GlucoseProfile, _ place: Int, holding range: ClosedRange<Double>,
        isSmall: Bool
    ) -> ReportFigure {
        /// The day's end is its beginning.
        let slots = Array(0...GlucoseProfile.slots)
        let length = 1440.0 / Double(GlucoseProfile.slots)
        func value(_ share: Int, _ slot: Int) -> Double {
            profile.percentile(Self.shares[share], slot: slot % GlucoseProfile.slots) ?? .nan
        }
        func time(_ slot: Int) -> Double { min(1440, (Double(slot) + 0.5) * length) }
        func band(_ lower: Int, _ upper: Int) -> [BandPoint] {
            [BandPoint(0, value(lower, 0), value(upper, 0))]
                + slots.map { BandPoint(time($0), value(lower, $0), value(upper, $0)) }
        }
        let median = [ChartPoint(0, value(2, 0))] + slots.map { ChartPoint(time($0), value(2, $0)) }
        let unit = input.unit
        let hours = [0, 6, 12, 18].map { hour -> String in
            let slot = hour * GlucoseProfile.slots / 24
            let texts = Self.shares.indices.map { unit.text(mgdl: value($0, slot)) }
            return "at \(hour) h \(texts.joined(separator: ", "))"
        }
        let panel = Panel(
            title: name, x: .clock(""), y: .glucose(unit, holding: range), height: isSmall ? 170 : 230,
            marks: [
                .span(.y, from: 70, to: 180, .target, opacity: 0.08),
                .band(band(0, 4), .series(0), opacity: 0.2), .band(band(1, 3), .series(0), opacity: 0.4),
                .rule(.y, at: 70, .low), .rule(.y, at: 180, .high), .line(median, .series(0), width: 2.2),
            ])
        return ReportFigure(
            name: "profile-\(place)",
            chart: Chart(
                title: "Glucose over the day, \(name)",
                description:
                    "\(input.recorded == nil ? "True plasma glucose" : "The traces, smoothed,") by time of day, \(unit.rawValue), as 5, 25, 50, 75 and 95 %: \(hours.joined(separator: "; ")). Of \(profile.sessions) sessions.",
                panels: [panel]))
    }
}
