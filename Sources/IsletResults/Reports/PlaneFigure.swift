// The trade by person: rings spared against minutes below 70.
//
// Guarantees: a point is one person, arm less reference, in a week; the square is the mean, its region the 95 % confidence region of that pair of means.
// Does not: draw arms that ring alike in everybody.

import IsletFiles
import IsletTrials

struct PlaneFigure {
    let input: ReportInput

    init(_ input: ReportInput) { self.input = input }

    private static let most = 600

    var figures: [ReportFigure] {
        guard input.isOfPeople, input.recorded == nil, let arm = input.headlineArm,
            let own = input.arm(arm)?.index,
            let other = input.study.reference.flatMap({ input.arm($0)?.index }),
            let harm = input.harm
        else { return [] }
        let references = Dictionary(
            input.columns.rows(ofArm: other).map { ($0.subjectIndex, $0) },
            uniquingKeysWith: { first, _ in first })
        func difference(_ name: String, _ row: SubjectColumns.Row, _ reference: SubjectColumns.Row) -> Double?
        {
            guard let a = input.columns.value(name, row), let b = input.columns.value(name, reference) else {
                return nil
            }
            return a - b
        }
        let pairs = input.columns.rows(ofArm: own).compactMap {
            row -> (x: Double, y: Double, name: String)? in
            guard let reference = references[row.subjectIndex],
                let rings = difference(ReportInput.rings, row, reference),
                let minutes = difference(harm.name, row, reference)
            else { return nil }
            return (rings * 7, minutes * (harm.weekly?.factor ?? 1), row.subject)
        }
        guard pairs.count > 2, pairs.contains(where: { $0.x != 0 }) else { return [] }
        return [figure(arm, pairs)]
    }

    var note: HTML {
        "<p class=\"note\">Every point is one person\(input.people > Self.most ? ", the first \(Self.most) of them" : "" as HTML): left of zero the phone rings less, above zero there is more time below \(input.words.bound(70, withUnit: true)). The region is that of the means’ 95\u{a0}% confidence.</p>\n"
    }

    private func figure(_ arm: String, _ pairs: [(x: Double, y: Double, name: String)]) -> ReportFigure {
        let n = Double(pairs.count)
        let (x, y) = (pairs.reduce(0) { $0 + $1.x } / n, pairs.reduce(0) { $0 + $1.y } / n)
        var (xx, xy, yy) = (0.0, 0.0, 0.0)
        for pair in pairs {
            xx += (pair.x - x) * (pair.x - x)
            xy += (pair.x - x) * (pair.y - y)
            yy += (pair.y - y) * (pair.y - y)
        }
        let region = Region.ofMean(
            x: x, y: y, covariance: (xx / (n - 1), xy / (n - 1), yy / (n - 1)), n: pairs.count)
        var marks: [Mark] = [.rule(.x, at: 0, .strong, .solid), .rule(.y, at: 0, .strong, .solid)]
        marks.append(
            .points(
                pairs.prefix(Self.most).map {
                    ChartPoint(
                        $0.x, $0.y,
                        name:
                            "\($0.name): \(ChartNumber.text($0.x, places: 1)) rings, \(ChartNumber.text($0.y, places: 0)) min a week"
                    )
                }, .series(5), .circle, radius: 2.4))
        if let region { marks.append(.region(region, .series(1))) }
        marks.append(.points([ChartPoint(x, y, name: "mean", label: "mean")], .series(1), .square, radius: 4))
        let (harms, spared) = (pairs.count { $0.y > 0 }, pairs.count { $0.x < 0 })
        return ReportFigure(
            name: "plane",
            chart: Chart(
                title: "The trade by person, \(arm)",
                description:
                    "Rings and minutes below \(input.words.bound(70, withUnit: true)), a week, less the reference, of \(pairs.count) people. \(spared) ring less, \(harms) are longer below. Means \(ChartNumber.text(x, places: 1)) rings and \(ChartNumber.text(y, places: 0)) min.",
                panels: [
                    Panel(
                        title: "By person",
                        x: .linear("rings a week, less the reference", around: pairs.map(\.x)),
                        y: .linear(
                            "min a week below \(input.words.bound(70)), less the reference",
                            around: pairs.map(\.y)),
                        height: 240, marks: marks)
                ]))
    }
}
