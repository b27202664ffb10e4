// A sweep as its factors: what was set to which values, and what every combination came to.
//
// Guarantees: a factor is what the study varies, by the sweep's own paths, or, where arms are the variants, by the leaves in which the arms' policies differ;
// leaves that always change together are one factor. Levels stand in the order of their values. Rows that come to the same in all that is shown are joined,
// and their levels listed. Every number has its place in summary.json.
// Does not: test an effect. A main effect is the mean over the other factors of the differences between two levels.

import IsletAlerts
import IsletFiles
import IsletDevices
import IsletTrials

struct SweepModel {
    struct Factor: Sendable {
        /// `debounce`
        var name: String
        /// What it is set of, where names alone don't tell: `LOW, HIGH`.
        var detail: String
        /// In the order of their values.
        var levels: [String]

        var words: String { detail.isEmpty ? name : "\(name) of \(detail)" }
    }

    struct Point: Sendable {
        /// By factor, the level.
        var levels: [Int]
        /// The variant's or the arm's name.
        var name: String
        /// `policies.3` in summary.json.
        var path: String
        var outcomes: [String: StudySummary.Estimate]
        var isReference: Bool
        /// As `SweepView` has it: no other rings less and costs no more; nil where the summary has no sweep.
        var isOnFront: Bool?
    }

    /// Combinations that came to the same: of each factor, the levels.
    struct Row: Sendable {
        var levels: [[Int]]
        var point: Point
        var hasReference: Bool
    }

    private(set) var factors: [Factor] = []
    private(set) var points: [Point] = []
    /// What is shown of every combination, burden first.
    private(set) var outcomes: [Outcome] = []
    /// Where the variants listened; nil where they are arms.
    private(set) var shadowArm: String?
    /// Whether the variants listened, and nobody heard them.
    private(set) var isInShadow = false
    /// What stays as it is.
    private(set) var base = ""

    private static let fewest = 4
    private static let mostFactors = 5

    /// nil for a study that is no sweep.
    init?(_ input: ReportInput) {
        guard input.recorded == nil else { return nil }
        guard let found = Self.ofShadow(input) ?? Self.ofPoints(input) ?? Self.ofArms(input) else {
            return nil
        }
        self = found
    }

    // MARK: Variants in shadow

    private static func ofShadow(_ input: ReportInput) -> SweepModel? {
        guard let sweep = input.study.sweep, sweep.mode == .shadow,
            let arm = input.summary.arms.first(where: { $0.policies.contains(where: \.isInShadow) })
        else { return nil }
        let all = input.summary.arms.flatMap { arm in arm.policies.map { (arm.name, $0) } }
        var rows: [(settings: [(path: String, value: JSONValue)], point: Point)] = []
        let reference = input.summary.policyComparisons.first?.difference.reference
        let view = input.summary.sweep
        for (place, (variant, settings)) in zip(sweep.variants, sweep.points).enumerated() {
            guard
                let policy = all.firstIndex(where: {
                    $0.0 == arm.name && $0.1.isInShadow && $0.1.policy == variant.name
                })
            else { continue }
            rows.append(
                (
                    settings.map { ($0.path, $0.value) },
                    Point(
                        levels: [], name: variant.name, path: "policies.\(policy)",
                        outcomes: all[policy].1.outcomes,
                        isReference: variant.name == reference,
                        isOnFront: view?.isOnFront(sweep.values(of: place), of: arm.name))
                ))
        }
        let declared = input.study.primary.filter { PolicyOutcome.named($0) != nil }
        let names =
            declared.isEmpty ? [ReportInput.rings, "alerts_suppressed_while_true_min_per_day"] : declared
        var model = SweepModel(
            rows, names, shadowArm: input.isOneArm ? nil : arm.name, base: sweep.of.name)
        model?.isInShadow = true
        return model
    }

    // MARK: Variants that are arms

    /// By the sweep's own points, each with what the arm came to that it was lived as.
    private static func ofPoints(_ input: ReportInput) -> SweepModel? {
        guard let sweep = input.study.sweep, sweep.mode == .closed,
            Set(input.study.sweepArms.map(\.of)).count == 1
        else { return nil }
        var rows: [(place: Int, settings: [(path: String, value: JSONValue)], point: Point)] = []
        for made in input.study.sweepArms {
            guard let arm = input.summary.arms.firstIndex(where: { $0.name == made.arm }) else { continue }
            for place in made.points where sweep.points.indices.contains(place) {
                let own = input.summary.arms[arm]
                let point = Point(
                    levels: [], name: own.name, path: "arms.\(arm)", outcomes: own.outcomes,
                    isReference: own.name == input.study.reference,
                    isOnFront: input.summary.sweep?.isOnFront(sweep.values(of: place), of: made.of))
                rows.append((place, sweep.points[place].map { ($0.path, $0.value) }, point))
            }
        }
        rows.sort { $0.place < $1.place }
        return SweepModel(
            rows.map { ($0.settings, $0.point) }, judged(input), shadowArm: nil, base: sweep.of.name)
    }

    /// Burden first: main effects are ranked by it.
    private static func judged(_ input: ReportInput) -> [String] {
        var names = input.judged.map(\.name)
        if let place = names.firstIndex(of: ReportInput.rings) {
            names.insert(names.remove(at: place), at: 0)
        }
        if let harm = input.harm?.name, !names.contains(harm) { names.append(harm) }
        return names
    }

    private static func ofArms(_ input: ReportInput) -> SweepModel? {
        let yardstick = input.summary.claims?.loss?.deafArm
        let arms = input.study.arms.enumerated().filter { $0.element.name != yardstick }
        guard arms.count > Self.fewest, input.study.reference != nil else { return nil }
        guard let first = arms.first?.element else { return nil }
        func others(_ arm: Study.Arm) -> Study.Arm {
            var arm = arm
            arm.name = ""
            arm.alerts = first.alerts
            return arm
        }
        // Who differs in more than the policy is no variant of it.
        guard arms.allSatisfy({ others($0.element) == others(first) }) else {
            return nil
        }
        let leaves = arms.map { PolicyLeaves($0.element.alerts) }
        let paths = PolicyLeaves.varying(leaves)
        let rows = zip(arms, leaves).compactMap {
            arm, leaves -> (settings: [(path: String, value: JSONValue)], point: Point)? in
            guard input.summary.arms.indices.contains(arm.offset) else { return nil }
            let own = input.summary.arms[arm.offset]
            return (
                paths.map { ($0.name, leaves[$0.path]) },
                Point(
                    levels: [], name: own.name, path: "arms.\(arm.offset)", outcomes: own.outcomes,
                    isReference: own.name == input.study.reference)
            )
        }
        return SweepModel(rows, judged(input), shadowArm: nil, base: "")
    }

    private init?(
        _ rows: [(settings: [(path: String, value: JSONValue)], point: Point)], _ names: [String],
        shadowArm: String?, base: String
    ) {
        guard rows.count >= Self.fewest else { return nil }
        (self.shadowArm, self.base) = (shadowArm, base)
        outcomes = names.prefix(4).compactMap { Outcome.named($0) }.filter { outcome in
            rows.contains { $0.point.outcomes[outcome.name] != nil }
        }
        var paths: [String] = []
        for row in rows {
            for setting in row.settings where !paths.contains(setting.path) { paths.append(setting.path) }
        }
        func value(_ row: (settings: [(path: String, value: JSONValue)], point: Point), _ path: String)
            -> JSONValue
        {
            row.settings.first { $0.path == path }?.value ?? .null
        }
        // What stands at one level in every row is no factor.
        paths = paths.filter { path in Set(rows.map { value($0, path) }).count > 1 }
        guard !paths.isEmpty, paths.count <= Self.mostFactors, !outcomes.isEmpty else { return nil }
        let words = FactorWords(paths)
        var levels: [[JSONValue]] = []
        for (place, path) in paths.enumerated() {
            var seen: [JSONValue] = []
            for row in rows where !seen.contains(value(row, path)) { seen.append(value(row, path)) }
            levels.append(FactorWords.sorted(seen))
            factors.append(
                Factor(
                    name: words[place].name, detail: words[place].detail,
                    levels: levels[place].map(FactorWords.level)))
        }
        points = rows.map { row in
            var point = row.point
            point.levels = paths.enumerated().map { place, path in
                levels[place].firstIndex(of: value(row, path)) ?? 0
            }
            return point
        }
        // Variants that no level tells apart are no grid.
        guard Set(points.map(\.levels)).count == points.count else { return nil }
    }

    // MARK: What came to the same

    private func signature(_ point: Point) -> [Double] {
        outcomes.flatMap { outcome -> [Double] in
            guard let estimate = point.outcomes[outcome.name] else { return [-1, -1, -1] }
            return [estimate.mean, estimate.ci95?.lower ?? -1, estimate.ci95?.upper ?? -1]
        }
    }

    /// Rows whose numbers are equal, joined factor by factor.
    var rows: [Row] {
        var rows = points.map { Row(levels: $0.levels.map { [$0] }, point: $0, hasReference: $0.isReference) }
        for factor in factors.indices.reversed() {
            var joined: [Row] = []
            for row in rows {
                let own = signature(row.point)
                if let place = joined.firstIndex(where: { other in
                    signature(other.point) == own
                        && factors.indices.allSatisfy { $0 == factor || other.levels[$0] == row.levels[$0] }
                }) {
                    joined[place].levels[factor] = (joined[place].levels[factor] + row.levels[factor])
                        .sorted()
                    joined[place].hasReference = joined[place].hasReference || row.hasReference
                    if row.point.isOnFront == true { joined[place].point.isOnFront = true }
                } else {
                    joined.append(row)
                }
            }
            rows = joined
        }
        return rows.sorted { a, b in
            for (x, y) in zip(a.levels, b.levels) where x != y { return x.lexicographicallyPrecedes(y) }
            return false
        }
    }

    /// `0 s, 60 s, 5 min`; all of a factor are `any`.
    func words(_ levels: [Int], of factor: Int) -> String {
        levels.count == factors[factor].levels.count && levels.count > 1
            ? "any" : levels.map { factors[factor].levels[$0] }.joined(separator: ", ")
    }

    /// Of all factors that change anything: `60 min · 30 min · 5 min`.
    func name(of point: Point) -> String {
        factors.indices.map { factors[$0].levels[point.levels[$0]] }.joined(separator: " · ")
    }

    /// What levels in a name are of: `debounce of Low, High · cooldown`.
    var factorNames: String { factors.map(\.words).joined(separator: " · ") }

    /// The reference with one factor set otherwise; nil where there is none.
    func variant(of factor: Int, at level: Int) -> Point? {
        guard let reference = points.first(where: \.isReference) else { return nil }
        var wanted = reference.levels
        wanted[factor] = level
        return points.first { $0.levels == wanted }
    }

    /// Levels of a factor that come to the same everywhere, in groups; one group where it changes nothing.
    func groups(of factor: Int) -> [[Int]] {
        var groups: [(signature: [[Int]: [Double]], levels: [Int])] = []
        for level in factors[factor].levels.indices {
            var own: [[Int]: [Double]] = [:]
            for point in points where point.levels[factor] == level {
                var others = point.levels
                others.remove(at: factor)
                own[others] = signature(point)
            }
            if let place = groups.firstIndex(where: { $0.signature == own }) {
                groups[place].levels.append(level)
            } else {
                groups.append((own, [level]))
            }
        }
        return groups.map(\.levels)
    }

    /// Whether every combination is there.
    var isFull: Bool { points.count == factors.reduce(1) { $0 * $1.levels.count } }

    /// Rows that no other beats in both: as the summary says, or where it has no sweep, as arms are its variants, the first outcome and the last that has
    /// a better side.
    func isOnFront(_ row: Row, among rows: [Row]) -> Bool {
        if let isOnFront = row.point.isOnFront { return isOnFront }
        let judged = outcomes.filter { $0.better != .neither }
        guard let a = judged.first, let b = judged.last, a.name != b.name else { return false }
        func value(_ row: Row, _ outcome: Outcome) -> Double? {
            row.point.outcomes[outcome.name].map { outcome.better == .higher ? -$0.mean : $0.mean }
        }
        guard let x = value(row, a), let y = value(row, b) else { return false }
        return !rows.contains { other in
            guard let p = value(other, a), let q = value(other, b) else { return false }
            return p <= x && q <= y && (p < x || q < y)
        }
    }

    // MARK: Main effects

    struct Effect: Sendable {
        var factor: Int
        var from: Int
        var to: Int
        /// By outcome, the difference; nil where no two points differ in this factor alone.
        var differences: [Double?]
    }

    /// The effect of a factor: from the reference's level, else the lowest, to the level that is farthest from it in the first outcome.
    func effect(of factor: Int) -> Effect? {
        let from = points.first(where: \.isReference)?.levels[factor] ?? 0
        let effects = factors[factor].levels.indices.filter { $0 != from }.map { to in
            Effect(
                factor: factor, from: from, to: to,
                differences: outcomes.map { difference($0, factor, from, to) })
        }
        return effects.max {
            abs($0.differences.first.flatMap(\.self) ?? 0) < abs($1.differences.first.flatMap(\.self) ?? 0)
        }
    }

    private func difference(_ outcome: Outcome, _ factor: Int, _ from: Int, _ to: Int) -> Double? {
        var values: [[Int]: Double] = [:]
        for point in points where point.levels[factor] == from {
            var others = point.levels
            others.remove(at: factor)
            values[others] = point.outcomes[outcome.name]?.mean
        }
        let pairs = points.filter { $0.levels[factor] == to }.compactMap { point -> Double? in
            var others = point.levels
            others.remove(at: factor)
            guard let before = values[others], let after = point.outcomes[outcome.name]?.mean else {
                return nil
            }
            return after - before
        }
        return pairs.isEmpty ? nil : pairs.reduce(0, +) / Double(pairs.count)
    }
}
