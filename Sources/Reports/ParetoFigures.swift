// What a policy's quiet costs: notifications against lows that nobody was told of.
//
// Guarantees: arms, which somebody may hear, and policies in shadow, which nobody hears, stand in figures of their own; a point is a mean over people, its
// region the 95 % confidence region of that pair of means (Hotelling). The front joins those that no other beats in both. Areas are in the page's unit.
// Does not: draw a region where fewer than 4 people have both values.

import Charts
import Trials

struct ParetoFigures {
    let input: ReportInput

    init(_ input: ReportInput) { self.input = input }

    static let missed = "alerts_missed_severity_per_day"
    private static let burdens = ["alerts_notifications_per_day", "alerts_notifications_night_per_day"]

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
            [
                figure(burden, ofArms(burden), isShadow: false),
                figure(burden, ofShadows(burden), isShadow: true),
            ].compactMap(\.self)
        }
    }

    private func ofArms(_ burden: String) -> [Candidate] {
        input.summary.arms.enumerated().compactMap { index, arm in
            guard let x = arm.outcomes[burden], let y = arm.outcomes[Self.missed] else { return nil }
            let pairs = input.columns.rows(ofArm: index).compactMap { row -> (Double, Double)? in
                guard let x = input.columns.value(burden, row), let y = input.columns.value(Self.missed, row)
                else { return nil }
                return (x, y)
            }
            return candidate(arm.name, burden, x, y, pairs)
        }
    }

    /// Of all arms' sessions, by policy; of several arms each has its own point.
    private func ofShadows(_ burden: String) -> [Candidate] {
        input.summary.arms.flatMap { arm in
            arm.policies.filter(\.isInShadow).compactMap { policy -> Candidate? in
                guard let x = policy.outcomes[burden], let y = policy.outcomes[Self.missed] else {
                    return nil
                }
                let name = input.isOneArm ? policy.policy : "\(policy.policy) (\(arm.name))"
                return candidate(name, burden, x, y, [])
            }
        }
    }

    private func candidate(
        _ name: String, _ burden: String, _ x: StudySummary.Estimate, _ y: StudySummary.Estimate,
        _ pairs: [(Double, Double)]
    ) -> Candidate {
        let (rung, missed) = (Outcome.named(burden), Outcome.named(Self.missed))
        let scale = input.words.factor(missed)
        let region = Self.region(pairs, x: x.mean, y: y.mean) ?? Self.box(x, y)
        return Candidate(
            name: name, x: x.mean, y: y.mean * scale,
            region: region?.map { ChartPoint($0.x, $0.y * scale) },
            text:
                "\(name): \(input.words.text(x, rung)) notifications a \(Self.isNight(burden) ? "night" : "day"), \(input.words.text(y, missed)) missed"
        )
    }

    /// Around the arm's own means: people without a low have no value of what was missed.
    private static func region(_ pairs: [(Double, Double)], x: Double, y: Double) -> [ChartPoint]? {
        let n = Double(pairs.count)
        guard n >= 4 else { return nil }
        let (meanX, meanY) = (pairs.reduce(0) { $0 + $1.0 } / n, pairs.reduce(0) { $0 + $1.1 } / n)
        var (xx, xy, yy) = (0.0, 0.0, 0.0)
        for (a, b) in pairs {
            xx += (a - meanX) * (a - meanX)
            xy += (a - meanX) * (b - meanY)
            yy += (b - meanY) * (b - meanY)
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

    private func figure(_ burden: String, _ candidates: [Candidate], isShadow: Bool) -> ReportFigure? {
        guard candidates.count > 1 else { return nil }
        var candidates = candidates
        for place in candidates.indices {
            let own = candidates[place]
            candidates[place].isOnFront = !candidates.contains {
                $0.x <= own.x && $0.y <= own.y && ($0.x < own.x || $0.y < own.y)
            }
        }
        let isCrowd = candidates.count > 10
        let front = candidates.filter(\.isOnFront).sorted { ($0.x, $0.y) < ($1.x, $1.y) }
        var marks: [Mark] = []
        for (place, candidate) in candidates.enumerated() {
            guard let region = candidate.region, !isCrowd || candidate.isOnFront else { continue }
            marks.append(.region(region, isCrowd ? .series(0) : .series(place)))
        }
        if front.count > 1 {
            marks.append(.line(front.map { ChartPoint($0.x, $0.y) }, .muted, .dashed, width: 1.2))
        }
        for (place, candidate) in candidates.enumerated() {
            let point = ChartPoint(
                candidate.x, candidate.y, name: candidate.text,
                label: isCrowd && !candidate.isOnFront ? nil : candidate.name)
            marks.append(
                isCrowd
                    ? .points(
                        [point], candidate.isOnFront ? .series(0) : .muted, .circle,
                        radius: candidate.isOnFront ? 4 : 2.5)
                    : .points([point], .series(place), .of(series: place)))
        }
        let xs = candidates.flatMap { [$0.x] + ($0.region?.map(\.x).filter { $0 >= 0 } ?? []) }
        let ys = candidates.flatMap { [$0.y] + ($0.region?.map(\.y).filter { $0 >= 0 } ?? []) }
        let isNight = Self.isNight(burden)
        let area = input.unit.text(ofUnit: "mg/dL·min")
        let unit = "\(area) below \(input.words.bound(54)), a day"
        let panel = Panel(
            title: isNight ? "By night" : "All day",
            x: .linear(isNight ? "notifications a night, 23 to 7 h" : "notifications a day", around: xs),
            y: .linear("missed lows, \(unit)", around: ys), height: 240, marks: marks)
        let told: HTML =
            "A low is missed where the phone gave no notification of it; one that nobody heard counts as given. Missed lows are a mean over people who had something to be told of."
        let who = isShadow ? "policies in shadow, which nobody heard" : "arms"
        let legend =
            isCrowd
            ? [
                LegendEntry("on the front", .series(0), .point(.circle)),
                LegendEntry("beaten by another", .muted, .point(.circle)),
            ]
            : candidates.enumerated().map {
                LegendEntry($0.element.name, .series($0.offset), .point(.of(series: $0.offset)))
            }
        return ReportFigure(
            name: "pareto-\(isNight ? "night" : "day")\(isShadow ? "-shadow" : "")",
            chart: Chart(
                title: "Notifications \(isNight ? "by night" : "a day") against missed lows: \(who)",
                description:
                    "Means with 95 % regions: notifications, and \(unit), in lows that nobody was told of; lower is better in both. On the front: \(Describe.list(front.map(\.text))). All: \(Describe.list(candidates.map(\.text))).",
                panels: [panel], legend: legend),
            caption:
                isShadow
                ? "Policies in shadow, over the same sessions. Boxes: the two 95 % intervals. \(told)"
                : "Arms. Regions: 95 % confidence of the pair of means. The dashed line joins the arms that no other beats in both. \(told)"
        )
    }
}
