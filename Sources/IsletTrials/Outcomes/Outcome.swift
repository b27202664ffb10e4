// The outcomes of a session: each is one row, and everything else follows from the rows.
//
// Guarantees: session, store, `sessions.csv`, `summary.json`, table, `islet metrics --help` and `docs/data.md` take names, units
// and meanings from here, and find values by name; no list has to keep another's order. Names are contracts that users
// script against: new rows go to the end of their group.
// Does not: sum up a study. `StudySummary` does.

package import IsletDevices

/// One outcome: a column of `sessions.csv` and of the store, a key of `summary.json`.
package struct Outcome: Sendable {
    /// What it is about. Comparisons are adjusted for their number within one kind.
    package enum Kind: String, Sendable, CaseIterable {
        /// The true plasma glucose.
        case truth = "true glucose"
        /// What the sensor said.
        case sensor = "sensor glucose"
        case treatment
        case alerts
        /// What the person heard and did, or whoever looks after a watched subject.
        case person
        /// True values of a watched subject.
        case subject = "watched subjects"
    }

    /// When the printed table has a row of it.
    package enum Display: Sendable {
        case always
        /// Among the differences between arms, where any arm has it at all.
        case differing
        /// In files only.
        case never
    }

    /// Between whom differences are found.
    package enum Compared: String, Sendable, CaseIterable {
        /// Arms, and policies in shadow.
        case arms
        /// Policies in shadow alone, which judge the same episodes: what an arm's policy found, its own person lived.
        case policies
        /// Nobody: it describes the trace or the scenario, or adds up over sessions that may be of unequal length.
        case never
    }

    /// As it stands in files.
    package let name: String
    /// What readers call it, without its unit.
    package let words: ValueText
    /// Empty for a pure number.
    package let unit: String
    /// What it is and how it is computed, in one line.
    package let meaning: String
    package let better: Better
    package let kind: Kind
    package let compared: Compared
    package let display: Display
    /// nil where it is undefined for the session.
    let value: @Sendable (SessionFacts) -> Double?

    init(
        _ name: String, _ words: ValueText, unit: String, _ meaning: String, better: Better, kind: Kind,
        compared: Compared = .arms,
        display: Display = .never, value: @escaping @Sendable (SessionFacts) -> Double?
    ) {
        self.name = name
        self.words = words
        self.unit = unit
        self.meaning = meaning
        self.better = better
        self.kind = kind
        self.compared = compared
        self.display = display
        self.value = value
    }

    /// Every outcome of people, in the order of the files. `SubjectKind.outcomes` has those of each kind.
    package static let all: [Outcome] =
        truth + treatment + alerts + truthByWeek + sensor + person + alertMetrics

    /// Whether arms are compared by it.
    package var isCompared: Bool { compared == .arms }

    /// The row under a name.
    package static func named(_ name: String) -> Outcome? { byName[name] }

    private static let byName: [String: Outcome] = Dictionary(everything.map { ($0.name, $0) }) { first, _ in
        first
    }

    /// Whether it is a part of a whole, from 0 to 1: readers see it in percent.
    package var isShare: Bool {
        PossibleValues.isShare(
            unit, isIndex: (kind == .truth || kind == .sensor) && !name.hasSuffix("_fraction"))
    }

    /// What a value of it can be at all.
    package var possible: ClosedRange<Double> { PossibleValues.of(name, unit, isShare: isShare) }

    /// The unit as a table shows it.
    var unitText: String { unit.isEmpty ? "-" : unit }
}

extension OutcomeValues {
    /// Computes every outcome of a session.
    init(_ facts: SessionFacts) {
        self.init(minimumCapacity: Outcome.all.count)
        let all = Outcome.all
        // By index: a row is five references to count.
        for index in all.indices { self[all[index].name] = all[index].value(facts) }
    }
}
