// A sweep as what it is asked for: a decision. What varies are columns; variants that cannot differ, or did not, are one row.
//
// Guarantees: computed from the same sessions and comparisons as all of the summary; every point of the sweep stands in exactly one row of each arm that it
// varies; no two rows of one arm are equal, session by session, in all outcomes that are shown. The front is of means: no other row rings less often and costs no more.
// Does not: judge. `StudyClaims` does, and `StudySelection` picks.

import IsletAlerts
package import IsletDevices
package import IsletFiles

package struct SweepView: Hashable, Sendable {
    /// Why a point has no row of its own.
    package enum Reason: String, Sendable {
        case cannotDiffer = "cannot differ"
        case didNotDiffer = "did not differ in any session"
    }

    /// A point that stands in another one's row.
    package struct Join: Hashable, Sendable {
        /// By factor.
        package var values: [String]
        package var reason: Reason
    }

    /// What a row came to in one outcome.
    package struct Cell: Hashable, Sendable {
        package var mean: Double
        package var ci95: StudySummary.ConfidenceBounds?
        /// Row less reference; nil for the reference.
        package var difference: Double?
        package var bounds: StudySummary.ConfidenceBounds?
        /// After Holm's adjustment where there is one.
        package var p: Double?
        package var isAdjusted = false
        package var isEqual = false
        /// On which side of zero interval and ranks lie, where they say the same.
        package var side = 0
        package var n: Int
    }

    package struct Row: Hashable, Sendable {
        /// The arm that was lived, or the policy in shadow.
        package var name: String
        /// The listed arm that it is a variant of, or the arm in which it listened.
        package var of: String
        package var isReference: Bool
        /// All points that it stands for, by factor; none for the policy as it is.
        package var points: [[String]]
        package var joins: [Join]
        /// By outcome.
        package var cells: [String: Cell]
        package var isOnFront = false
        /// For each factor the values that it stands for, once an alternative: most rows have one.
        package var boxes: [[[String]]]
        /// What varies, as in `60m / 0s, 60s / –`.
        package var label: String
    }

    /// What one factor does by itself: means over the combinations of all other factors that have each of its values, as points of a grid do. Where
    /// points are listed one by one, a mean over all with a value would be of what else they were given.
    package struct Effect: Hashable, Sendable {
        package var factor: String
        package var levels: [Level]

        package struct Level: Hashable, Sendable {
            package var value: String
            package var gain: Double?
            package var cost: Double?
        }

        /// From the first level to the last.
        package var gainChange: Double? { Self.change(levels.map(\.gain)) }
        package var costChange: Double? { Self.change(levels.map(\.cost)) }

        private static func change(_ values: [Double?]) -> Double? {
            guard values.count > 1, let first = values.first ?? nil, let last = values.last ?? nil else {
                return nil
            }
            return last - first
        }
    }

    /// The policy's name that all else is taken from.
    package let policy: String
    package let mode: PolicySweep.Mode
    package let factors: [PolicySweep.Factor]
    /// How many points there are.
    package let variants: Int
    /// The outcomes that rows are shown by: the declared ones, the gate first.
    package let metrics: [String]
    package let reference: String?
    /// What waiting is to win, and what it may cost: the axes of the front.
    package let gain: String?
    package let cost: String?
    package private(set) var rows: [Row]
    package private(set) var effects: [Effect] = []
    /// Whom no alert reaches: not varied.
    package let unvaried: [String]
    /// The first sentence.
    package var headline = ValueText()

    /// The rows on the front, by rising gain.
    package var front: [Row] {
        rows.filter(\.isOnFront).sorted { a, b in
            guard let gain, let x = a.cells[gain]?.mean, let y = b.cells[gain]?.mean else { return false }
            return x < y
        }
    }

    /// Whether a point's row is on the front.
    /// - Parameters:
    ///   - values: by factor.
    ///   - arm: the listed arm that it is a variant of, or the one in which it listened.
    package func isOnFront(_ values: [String], of arm: String) -> Bool {
        rows.contains { $0.isOnFront && $0.of == arm && $0.points.contains(values) }
    }

    package func row(_ name: String) -> Row? { rows.first { $0.name == name } }

    // MARK: Making

    /// Candidates, before those that did not differ are joined.
    struct Entry {
        var name: String
        var of: String
        /// Places of points.
        var points: [Int]
        var isReference: Bool
        var cells: [String: Cell]
        /// Values of the outcomes that are shown, session by session.
        var values: [SubjectValues]
    }

    init?(_ sweep: PolicySweep, of study: Study, _ entries: [Entry], reference: String?) {
        guard !entries.isEmpty else { return nil }
        policy = sweep.of.name
        mode = sweep.mode
        factors = sweep.factors
        variants = sweep.variants.count
        self.reference = reference
        let wanted = Self.metrics(of: study, sweep.mode)
        metrics = wanted.filter { name in entries.contains { $0.cells[name] != nil } }
        (gain, cost) = Self.axes(of: study, metrics)
        unvaried =
            sweep.mode == .shadow
            ? []
            : study.arms.map(\.name).filter { name in !study.sweepArms.contains { $0.arm == name } }
        let names = factors.map(\.path)
        let values = sweep.points.indices.map { sweep.values(of: $0) }
        var rows: [Row] = []
        var first: [Entry] = []
        for entry in entries {
            let own = entry.points.map { values[$0] }
            if let place = first.indices.first(where: {
                first[$0].of == entry.of && Self.areEqual(first[$0].values, entry.values)
            }) {
                rows[place].joins += own.map { Join(values: $0, reason: .didNotDiffer) }
                rows[place].points += own
                if entry.isReference { rows[place].isReference = true }
                continue
            }
            first.append(entry)
            let alike = entry.name == entry.of || own.isEmpty ? own[...] : own.dropFirst()
            rows.append(
                Row(
                    name: entry.name, of: entry.of, isReference: entry.isReference, points: own,
                    joins: alike.map { Join(values: $0, reason: .cannotDiffer) }, cells: entry.cells,
                    boxes: [], label: ""))
        }
        for place in rows.indices {
            rows[place].boxes = Self.boxes(rows[place].points, factors.map(\.values))
            rows[place].label = Self.label(rows[place].boxes, policy: sweep.of.name, count: names.count)
        }
        self.rows = rows
        findFront()
        findEffects()
    }

    private static func areEqual(_ a: [SubjectValues], _ b: [SubjectValues]) -> Bool {
        a.count == b.count
            && zip(a, b).allSatisfy { x, y in
                x.count == y.count
                    && zip(x, y).allSatisfy { $0.subject == $1.subject && $0.value == $1.value }
            }
    }

    /// The declared ones, and what rings and what it costs where they say nothing of that.
    static func metrics(of study: Study, _ mode: PolicySweep.Mode) -> [String] {
        func known(_ name: String) -> Bool {
            mode == .shadow ? PolicyOutcome.named(name) != nil : Outcome.named(name)?.isCompared == true
        }
        var names = mode == .closed && study.margin != nil ? [study.gate] : []
        for name in study.primary where known(name) && !names.contains(name) { names.append(name) }
        // Both axes of the front, whatever is declared.
        if !names.contains(where: isBurden) { names.append("alerts_notifications_per_day") }
        if !names.contains(where: { !isBurden($0) && better($0) != .neither }) {
            names.append(
                mode == .shadow ? "alerts_suppressed_while_true_min_per_day" : StudyClaims.gate)
        }
        return names
    }

    /// What rings or wakes, not what is so.
    private static func isBurden(_ name: String) -> Bool {
        name.hasPrefix("alerts_notifications") || name.hasPrefix("wakings")
            || ["alerts_raised_per_day", "alerts_false_per_day", "alerts_nuisance_fraction"].contains(name)
    }

    private static func axes(of study: Study, _ metrics: [String]) -> (gain: String?, cost: String?) {
        let gain = metrics.first(where: isBurden)
        let cost =
            study.margin != nil && metrics.contains(study.gate)
            ? study.gate : metrics.first { !isBurden($0) && better($0) != .neither }
        return gain == nil || cost == nil ? (nil, nil) : (gain, cost)
    }

    static func better(_ name: String) -> Better {
        Outcome.named(name)?.better ?? PolicyOutcome.named(name)?.better ?? .neither
    }

    /// Points as few products of values as merging one factor at a time makes of them.
    private static func boxes(_ points: [[String]], _ order: [[String]]) -> [[[String]]] {
        var boxes = points.map { $0.map { [$0] } }
        var isDone = false
        while !isDone {
            isDone = true
            search: for a in boxes.indices {
                for b in boxes.indices.dropFirst(a + 1) {
                    let differing = boxes[a].indices.filter { boxes[a][$0] != boxes[b][$0] }
                    guard differing.count <= 1 else { continue }
                    if let factor = differing.first {
                        let all = Set(boxes[a][factor] + boxes[b][factor])
                        let rank = { (value: String) in order[factor].firstIndex(of: value) ?? -1 }
                        boxes[a][factor] = all.sorted { (rank($0), $0) < (rank($1), $1) }
                    }
                    boxes.remove(at: b)
                    isDone = false
                    break search
                }
            }
        }
        return boxes
    }

    private static func label(_ boxes: [[[String]]], policy: String, count: Int) -> String {
        guard !boxes.isEmpty else { return "\(policy) as it is" }
        return boxes.map { $0.map { $0.joined(separator: ", ") }.joined(separator: " / ") }.joined(
            separator: " or ")
    }

    /// Rows that no other of their arm beats in both.
    private mutating func findFront() {
        guard let gain, let cost else { return }
        func worth(_ row: Row, _ metric: String) -> Double? {
            row.cells[metric].map { Self.better(metric) == .higher ? -$0.mean : $0.mean }
        }
        for place in rows.indices {
            guard let g = worth(rows[place], gain), let c = worth(rows[place], cost) else { continue }
            rows[place].isOnFront = !rows.indices.contains { other in
                guard other != place, rows[other].of == rows[place].of, let x = worth(rows[other], gain),
                    let y = worth(rows[other], cost)
                else { return false }
                return x <= g && y <= c && (x < g || y < c || other < place)
            }
        }
    }

    private mutating func findEffects() {
        effects = factors.indices.map { factor in
            // By all that is beside the factor, the arm among it, the row of each of its values.
            var beside: [[String]: [String: Row]] = [:]
            for row in rows {
                for point in row.points {
                    var others = point
                    let value = others.remove(at: factor)
                    beside[[row.of] + others, default: [:]][value] = row
                }
            }
            let whole = beside.values.filter { row in factors[factor].values.allSatisfy { row[$0] != nil } }
            let levels = factors[factor].values.map { value in
                func mean(_ metric: String?) -> Double? {
                    guard let metric else { return nil }
                    // In one order, whatever the dictionary's is: a sum's last bits hang on it.
                    let values = whole.compactMap { $0[value]?.cells[metric]?.mean }.sorted()
                    return values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
                }
                return Effect.Level(value: value, gain: mean(gain), cost: mean(cost))
            }
            return Effect(factor: factors[factor].head, levels: levels)
        }
    }
}

extension StudySummary.Comparison {
    func cell(_ estimate: StudySummary.Estimate) -> SweepView.Cell {
        SweepView.Cell(
            mean: estimate.mean, ci95: estimate.ci95, difference: difference, bounds: ci95,
            p: pAdjusted ?? p, isAdjusted: pAdjusted != nil, isEqual: isEqualInEveryPair, side: side, n: n)
    }
}

extension StudySummary.Estimate {
    var cell: SweepView.Cell { SweepView.Cell(mean: mean, ci95: ci95, n: n) }
}
