// What a policy's quiet costs: notifications against lows that nobody was told of.
//
// Guarantees: arms, and for each arm the policies that listened to it in shadow, stand in figures of their own: points of one figure share people, and in
// shadow sessions. A point is a mean over people, its region the 95 % confidence region of that pair of means (Hotelling). The front joins those that no
// other beats in both. Arms whose people hear nothing are left out: their rings are no burden, and tell nobody. Areas are in the page's unit.
// In an arm who had no low has missed nothing and counts as 0, or an arm that prevents lows would look worse; policies in shadow listened to the same lows,
// so that theirs is the mean over people who had one.
// Does not: draw a region where fewer than 4 people have both values.

import IsletFiles
import IsletTrials

struct ParetoFigures {
    let input: ReportInput

    init(_ input: ReportInput) { self.input = input }

    static let missed = "alerts_missed_severity_per_day"
    private static let burdens = ["alerts_notifications_per_day", "alerts_notifications_night_per_day"]

    /// Below the figures.
    static let note: HTML =
        "<p class=\"note\">A low is missed where the phone never rang of it; a ring that nobody heard counts. The area of an arm is a mean over all people, who had no low missed none; that of policies in shadow, which all listened to the same lows, is one over people who had a low.</p>\n"

    /// More than these are numbered, and named below.
    private static let mostNamed = 10

    private static func isNight(_ burden: String) -> Bool { burden == burdens[1] }

    private struct Candidate {
        var name: String
        var x: Double
        var y: Double
        var region: [ChartPoint]?
        var isOnFront = false
        var text: String
    }

    var figures: [ReportFigure] {
        Self.burdens.flatMap { burden -> [ReportFigure] in
            let shadows = input.summary.arms.indices.map {
                figure(burden, ofShadows(burden, in: $0), shadowsOf: $0)
            }
            return ([figure(burden, ofArms(burden), shadowsOf: nil)] + shadows).compactMap(\.self)
        }
    }

    /// Arms whose people aren't made to hear nothing.
    private var hearing: [Int] {
        input.summary.arms.indices.filter {
            input.study.person(in: input.study.arms[$0])?.isDeafToAlerts != true
        }
    }

    private func ofArms(_ burden: String) -> [Candidate] {
        hearing.compactMap { index in
            guard let rung = input.summary.arms[index].outcomes[burden] else { return nil }
            let pairs = input.columns.rows(ofArm: index).compactMap { row in
                input.columns.value(burden, row).map { ($0, input.columns.value(Self.missed, row) ?? 0) }
            }
            guard !pairs.isEmpty else { return nil }
            let n = Double(pairs.count)
            let (x, y) = (pairs.reduce(0) { $0 + $1.0 } / n, pairs.reduce(0) { $0 + $1.1 } / n)
            return candidate(
                input.summary.arms[index].name, burden, x: x, y: y, region: Self.region(pairs, x: x, y: y),
                text: (
                    input.words.text(rung, Outcome.named(burden)),
                    input.words.text(y, Outcome.named(Self.missed))
                ))
        }
    }

    private func ofShadows(_ burden: String, in arm: Int) -> [Candidate] {
        input.summary.arms[arm].policies.filter(\.isInShadow).compactMap { policy in
            guard let x = policy.outcomes[burden], let y = policy.outcomes[Self.missed] else { return nil }
            return candidate(
                policy.policy, burden, x: x.mean, y: y.mean, region: Self.box(x, y),
                text: (
                    input.words.text(x, Outcome.named(burden)),
                    input.words.text(y, Outcome.named(Self.missed))
                ))
        }
    }

    private func candidate(
        _ name: String, _ burden: String, x: Double, y: Double, region: [ChartPoint]?,
        text: (rung: String, missed: String)
    ) -> Candidate {
        let scale = input.words.factor(Outcome.named(Self.missed))
        return Candidate(
            name: name, x: x, y: y * scale, region: region?.map { ChartPoint($0.x, $0.y * scale) },
            text:
                "\(name): \(text.rung) rings a \(Self.isNight(burden) ? "night" : "day"), \(text.missed) missed"
        )
    }

    private static func region(_ pairs: [(Double, Double)], x: Double, y: Double) -> [ChartPoint]? {
        let n = Double(pairs.count)
        guard n >= 4 else { return nil }
        var (xx, xy, yy) = (0.0, 0.0, 0.0)
        for (a, b) in pairs {
            xx += (a - x) * (a - x)
            xy += (a - x) * (b - y)
            yy += (b - y) * (b - y)
        }
        return Region.ofMean(
            x: x, y: y, covariance: (xx / (n - 1), xy / (n - 1), yy / (n - 1)), n: pairs.count)
    }

    /// Where only the two intervals are known: their rectangle.
    private static func box(_ x: StudySummary.Estimate, _ y: StudySummary.Estimate) -> [ChartPoint]? {
        guard let a = x.ci95, let b = y.ci95 else { return nil }
        return [
            ChartPoint(a.lower, b.lower), ChartPoint(a.upper, b.lower), ChartPoint(a.upper, b.upper),
            ChartPoint(a.lower, b.upper),
        ]
    }

    /// Policies in shadow that no other beats all day in the same arm, one of each that came to the same.
    var shadowFront: [String] {
        input.summary.arms.indices.flatMap { arm in
            Self.fronts(Self.marked(ofShadows(Self.burdens[0], in: arm))).compactMap(\.first?.name)
        }
    }

    private static func marked(_ candidates: [Candidate]) -> [Candidate] {
        candidates.map { own in
            var own = own
            own.isOnFront = !candidates.contains {
                $0.x <= own.x && $0.y <= own.y && ($0.x < own.x || $0.y < own.y)
            }
            return own
        }
    }

    /// The front from left to right, each place with all who came to the same.
    private static func fronts(_ candidates: [Candidate]) -> [[Candidate]] {
        var places: [[Candidate]] = []
        for one in candidates.filter(\.isOnFront).sorted(by: { ($0.x, $0.y) < ($1.x, $1.y) }) {
            if let last = places.last?.first, last.x == one.x, last.y == one.y {
                places[places.count - 1].append(one)
            } else {
                places.append([one])
            }
        }
        return places
    }

    private func figure(_ burden: String, _ candidates: [Candidate], shadowsOf arm: Int?) -> ReportFigure? {
        // Where nobody missed a low there is nothing to trade.
        guard candidates.count > 1, candidates.contains(where: { $0.y > 0 }) else { return nil }
        let candidates = Self.marked(candidates)
        let isCrowd = candidates.count > Self.mostNamed
        let fronts = Self.fronts(candidates)
        var marks: [Mark] = []
        if !isCrowd {
            for (place, candidate) in candidates.enumerated() {
                if let region = candidate.region { marks.append(.region(region, .series(place))) }
            }
        }
        if fronts.count > 1 {
            let line = fronts.compactMap(\.first).map { ChartPoint($0.x, $0.y) }
            marks.append(.line(line, .muted, .dashed, width: 1.2))
        }
        if isCrowd {
            let beaten = candidates.filter { !$0.isOnFront }
            marks.append(
                .points(beaten.map { ChartPoint($0.x, $0.y, name: $0.text) }, .muted, .circle, radius: 2.5))
            for (place, alike) in fronts.enumerated() {
                guard let first = alike.first else { continue }
                let name = alike.map(\.text).prefix(4).joined(separator: "; ")
                marks.append(
                    .points(
                        [ChartPoint(first.x, first.y, name: name, label: "\(place + 1)")], .series(0), .circle
                    ))
            }
        } else {
            for (place, candidate) in candidates.enumerated() {
                let point = ChartPoint(
                    candidate.x, candidate.y, name: candidate.text, label: candidate.name)
                marks.append(.points([point], .series(place), .of(series: place)))
            }
        }
        let regions = isCrowd ? [] : candidates.flatMap { $0.region ?? [] }
        let isNight = Self.isNight(burden)
        let area = input.unit.text(ofUnit: "mg/dL·min")
        let unit = "\(area) below \(input.words.bound(54)), a day"
        let panel = Panel(
            title: isNight ? "Missed lows, by night" : "Missed lows, all day",
            x: .linear(
                isNight ? "rings a night, 23 to 7 h" : "rings a day",
                around: candidates.map(\.x) + regions.map(\.x).filter { $0 >= 0 }),
            y: .linear(
                "missed lows, \(unit)", around: candidates.map(\.y) + regions.map(\.y).filter { $0 >= 0 }),
            height: 240, marks: marks)
        let name = arm.map { input.isOneArm ? "" : " of \(input.summary.arms[$0].name)" }
        let who = name.map { "policies in shadow\($0), which nobody heard" } ?? "arms"
        let legend =
            isCrowd
            ? [
                LegendEntry("on the front", .series(0), .point(.circle)),
                LegendEntry("beaten by another", .muted, .point(.circle)),
            ]
            : candidates.enumerated().map {
                LegendEntry($0.element.name, .series($0.offset), .point(.of(series: $0.offset)))
            }
        let front = candidates.filter(\.isOnFront).map(\.text)
        return ReportFigure(
            name: "pareto-\(isNight ? "night" : "day")"
                + (arm.map { input.isOneArm ? "-shadow" : "-shadow-\($0 + 1)" } ?? ""),
            chart: Chart(
                title: "Rings \(isNight ? "by night" : "a day") against missed lows: \(who)",
                description:
                    "Means with 95 % regions: rings, and \(unit), in lows that nobody was told of; lower is better in both. On the front: \(Describe.list(front)). All: \(Describe.list(candidates.map(\.text))).",
                panels: [panel], legend: legend),
            caption: caption(fronts, count: candidates.count, isCrowd: isCrowd, shadowsOf: arm))
    }

    private func caption(_ fronts: [[Candidate]], count: Int, isCrowd: Bool, shadowsOf arm: Int?) -> HTML {
        let name = arm.map { input.isOneArm ? "" : " of \(input.summary.arms[$0].name)" }
        var text: HTML =
            name.map { "Policies in shadow, over the same sessions\($0). " } ?? "Arms whose people may hear. "
        if isCrowd {
            text += "Dots: means; the table has their intervals. On the front, which no other beats in both: "
            text += fronts.prefix(Self.mostNamed).enumerated().map { place, alike -> HTML in
                let others: HTML = alike.count > 1 ? " and \(alike.count - 1) with the same numbers" : ""
                return "<b>\(place + 1)</b> \(alike[0].name)\(others)"
            }.joined("; ")
            text += fronts.count > Self.mostNamed ? "; and \(fronts.count - Self.mostNamed) more. " : ". "
        } else {
            text +=
                arm != nil
                ? "Boxes: the two 95 % intervals. " : "Regions: 95 % confidence of the pair of means. "
            text += "The dashed line joins those that no other beats in both. "
        }
        let all = arm.map { input.summary.arms[$0].policies.count(where: \.isInShadow) } ?? hearing.count
        let left = all - count
        if left > 0 {
            text +=
                "\(left) \(left == 1 ? "is" : "are") not drawn: nobody had a low there that could be missed. "
        }
        return text
    }
}
