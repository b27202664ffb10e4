// A sweep as heat maps: two factors are the axes, a third gives small multiples, each outcome its own.
//
// Guarantees: levels that change nothing share an axis place; a cell has its value as text and its interval as a whisker, on one scale for all maps of an
// outcome; darker is worse; what no other combination beats is ringed, the reference has a frame. Does not: fill a cell that was not run.

import IsletFiles
import IsletDevices
import IsletTrials

struct SweepFigure {
    let input: ReportInput
    let sweep: SweepModel

    init(_ input: ReportInput, _ sweep: SweepModel) { (self.input, self.sweep) = (input, sweep) }

    private static let mostMaps = 12
    private static let mostOutcomes = 3

    /// A factor as an axis: its levels, those that come to the same together.
    private struct Side {
        var factor: Int?
        var groups: [[Int]]

        var count: Int { groups.count }
    }

    /// x, y, and the others.
    private var sides: (x: Side, y: Side, others: [Side]) {
        let all = sweep.factors.indices.map { factor in
            Side(
                factor: factor,
                groups: sweep.isFull
                    ? sweep.groups(of: factor) : sweep.factors[factor].levels.indices.map { [$0] })
        }
        // What changes nothing is no axis. The longest lies, the next stands.
        var open = all.filter { $0.count > 1 }
        let none = Side(factor: nil, groups: [[0]])
        guard !open.isEmpty else { return (none, none, []) }
        let x = open.remove(at: open.indices.max { open[$0].count < open[$1].count } ?? 0)
        guard !open.isEmpty else { return (x, none, []) }
        let y = open.remove(at: open.indices.max { open[$0].count < open[$1].count } ?? 0)
        return (x, y, open)
    }

    var figures: [ReportFigure] {
        let (x, y, others) = sides
        guard x.factor != nil else { return [] }
        let outcomes = shownOutcomes
        var figures: [ReportFigure] = []
        for outcome in outcomes {
            for (place, levels) in Self.combinations(others).enumerated() where figures.count < Self.mostMaps
            {
                figures.append(figure(outcome, x, y, others, levels, place))
            }
        }
        return figures
    }

    /// The first and the last of those that have a better side, and what is between while there is room.
    private var shownOutcomes: [Outcome] {
        let all = sweep.outcomes
        return all.count <= Self.mostOutcomes
            ? all : Array(all.prefix(Self.mostOutcomes - 1)) + [all[all.count - 1]]
    }

    private static func combinations(_ sides: [Side]) -> [[[Int]]] {
        sides.reduce([[]]) { found, side in found.flatMap { before in side.groups.map { before + [$0] } } }
    }

    private func point(_ wanted: [Int: [Int]]) -> SweepModel.Point? {
        sweep.points.first { point in
            wanted.allSatisfy { factor, levels in levels.contains(point.levels[factor]) }
        }
    }

    private func isReference(_ wanted: [Int: [Int]]) -> Bool {
        sweep.points.contains { point in
            point.isReference && wanted.allSatisfy { factor, levels in levels.contains(point.levels[factor]) }
        }
    }

    private func figure(
        _ outcome: Outcome, _ x: Side, _ y: Side, _ others: [Side], _ levels: [[Int]], _ place: Int
    ) -> ReportFigure {
        let words = input.words
        let rest = zip(others, levels).compactMap { side, levels in
            side.factor.map { "\(sweep.factors[$0].words) \(sweep.words(levels, of: $0))" }
        }.joined(separator: ", ")
        let name = words.name(outcome.name).capitalised
        let title = "\(name), \(words.unitText(outcome))"
        // A phone shows 340: five columns keep their letters there.
        let most = x.count > 4 ? 88.0 : 120
        let names = y.groups.map { group in y.factor.map { sweep.words(group, of: $0) } ?? "" }
        let left = min(most, (names.map { TextWidth.of($0, size: 12) }.max() ?? 0) + 8)
        let cell = (width: max(44, min(66, (340 - left) / Double(max(1, x.count)))), height: 38.0)
        let top = (rest.isEmpty ? 30.0 : 46) + (y.factor == nil ? 0 : 16)
        let width = max(240, left + Double(x.count) * cell.width + 4)
        var picture = Picture(
            title: rest.isEmpty ? title : "\(title); \(rest)", description: "", width: width,
            height: top + Double(y.count) * cell.height + 40)
        picture.text(TextWidth.fitted(title, width: width, size: 14), x: 0, y: 14, style: "t")
        if !rest.isEmpty {
            picture.text(TextWidth.fitted(rest, width: width, size: 12), x: 0, y: 31, style: "m")
        }
        if let standing = y.factor.map({ "\(sweep.factors[$0].words) ↓" }) {
            picture.text(TextWidth.fitted(standing, width: width, size: 12), x: 0, y: top - 14, style: "m")
        }
        if let lying = x.factor.map({ "\(sweep.factors[$0].words) →" }) {
            picture.text(
                TextWidth.fitted(lying, width: width, size: 12), x: width - 4, y: picture.height - 6, .end,
                style: "m")
        }
        let rows = sweep.rows
        let front = Set(rows.filter { sweep.isOnFront($0, among: rows) }.map(\.point.path))
        let scale = scale(outcome)
        var told: [String] = []
        for (row, yGroup) in y.groups.enumerated() {
            let top = top + Double(row) * cell.height
            picture.text(
                TextWidth.fitted(names[row], width: left - 6, size: 12), x: left - 6, y: top + 22, .end,
                style: "m")
            for (column, xGroup) in x.groups.enumerated() {
                var wanted: [Int: [Int]] = [:]
                if let factor = x.factor { wanted[factor] = xGroup }
                if let factor = y.factor { wanted[factor] = yGroup }
                for (side, group) in zip(others, levels) {
                    if let factor = side.factor { wanted[factor] = group }
                }
                guard let point = point(wanted), let estimate = point.outcomes[outcome.name] else { continue }
                let from = left + Double(column) * cell.width
                let share = scale.place(estimate.mean)
                let text = words.text(estimate.mean, outcome, estimate.ci95)
                let worse = outcome.better == .higher ? 1 - share : share
                let whole = words.text(estimate, outcome)
                told.append("\(x.factor.map { sweep.words(xGroup, of: $0) } ?? "") / \(names[row]): \(whole)")
                picture.rectangle(
                    x: from, y: top, width: cell.width - 2, height: cell.height - 2, .series(1),
                    opacity: 0.06 + 0.42 * worse, corner: 2, facts: [("cell", point.path)],
                    name: "\(point.name): \(whole)")
                picture.text(text, x: from + cell.width / 2 - 1, y: top + 20, .middle)
                if let ci95 = estimate.ci95 {
                    let room = cell.width - 14
                    picture.line(
                        from: (from + 6 + scale.place(ci95.lower) * room, top + 29),
                        to: (from + 6 + scale.place(ci95.upper) * room + 1, top + 29), .strong, width: 3)
                }
                if isReference(wanted) {
                    picture.frame(
                        x: from + 1, y: top + 1, width: cell.width - 4, height: cell.height - 4, .strong,
                        thickness: 1.6, corner: 2, .dashed)
                }
                if rows.contains(where: { front.contains($0.point.path) && covers($0, point) }) {
                    picture.frame(
                        x: from + 3, y: top + 3, width: cell.width - 8, height: cell.height - 8, .series(2),
                        thickness: 2, corner: 5)
                }
            }
        }
        for (column, group) in x.groups.enumerated() {
            let text = x.factor.map { sweep.words(group, of: $0) } ?? ""
            picture.text(
                TextWidth.fitted(text, width: cell.width - 4, size: 12),
                x: left + (Double(column) + 0.5) * cell.width - 1, y: picture.height - 24, .middle, style: "m"
            )
        }
        picture.description = "\(title)\(rest.isEmpty ? "" : ", \(rest)"): \(Describe.list(told))."
        return ReportFigure(
            name: "sweep-\(outcome.name.replacing("_", with: "-"))\(place == 0 ? "" : "-\(place + 1)")",
            chart: picture)
    }

    private func covers(_ row: SweepModel.Row, _ point: SweepModel.Point) -> Bool {
        row.levels.indices.allSatisfy { row.levels[$0].contains(point.levels[$0]) }
    }

    /// From the lowest to the highest of an outcome's means and ends.
    private struct Scale {
        var low: Double
        var high: Double

        func place(_ value: Double) -> Double {
            high > low ? max(0, min(1, (value - low) / (high - low))) : 0
        }
    }

    private func scale(_ outcome: Outcome) -> Scale {
        let all = sweep.points.compactMap { $0.outcomes[outcome.name] }
        let values = all.flatMap { [$0.mean] + ($0.ci95.map { [$0.lower, $0.upper] } ?? []) }.filter(
            \.isFinite)
        return Scale(low: values.min() ?? 0, high: values.max() ?? 1)
    }
}
