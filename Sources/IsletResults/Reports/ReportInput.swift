// What a report is made of: a folder's results, and what was run again of them.
//
// Guarantees: everything comes from the folder; nothing in it tells how long or on how many threads anything took, so that the same folder gives the
// same report.

package import IsletFiles
import IsletDevices
package import IsletTrials

package struct ReportInput: Sendable {
    package var study: Study
    package var summary: StudySummary
    package var columns: SubjectColumns
    /// What the manifest says of who made the results.
    package var origin: Origin
    package var unit: GlucoseUnit
    /// What was run again.
    package var again: Again
    /// What was recorded, for a report of traces that were really measured; nil for a study.
    package var recorded: Recorded?

    /// Recorded traces: what stands in place of a study's people and assumptions.
    package struct Recorded: Sendable {
        /// What counts as true.
        package var truth: String
        /// One a trace: what it is, and what was done with its rows.
        package var traces: [(name: String, words: [String])]
        /// What a policy has that no trace can judge.
        package var notJudged: [(policy: String, codes: [String])]

        package init(
            truth: String, traces: [(name: String, words: [String])],
            notJudged: [(policy: String, codes: [String])]
        ) {
            (self.truth, self.traces, self.notJudged) = (truth, traces, notJudged)
        }
    }

    /// What comes of sessions that were run again, since no table has it.
    package struct Again: Sendable {
        /// The days of the arms that are drawn, by the arms' indices; none where they could not be made.
        package var days: [Int: ArmDays] = [:]
        package var examples: [ExampleSession] = []
        /// Why there are none, in words; nil where there are.
        package var obstacle: String?

        package init() {}
    }

    /// How far what was selected has been tried on other people.
    package enum Confirmation: Sendable {
        case notRun
        /// Its results are there, a page of them isn't, or not beside this one.
        case run
        /// Its page stands beside this one.
        case linked
    }

    /// Who made the results.
    package struct Origin: Sendable {
        package var version: String?
        package var fingerprint: String?
        package var commit: String?
        /// `2/3` of a part; nil for the whole.
        package var shard: String?
        package var isComplete: Bool
        package var confirmation: Confirmation
        /// Whether the plan was registered before the first session, in words; nil where the folder doesn't say.
        package var plan: String?

        package init(
            version: String?, fingerprint: String?, commit: String?, shard: String?, isComplete: Bool,
            confirmation: Confirmation, plan: String? = nil
        ) {
            (self.version, self.fingerprint, self.commit) = (version, fingerprint, commit)
            self.plan = plan
            (self.shard, self.isComplete, self.confirmation) = (shard, isComplete, confirmation)
        }
    }

    package init(
        study: Study, summary: StudySummary, columns: SubjectColumns, origin: Origin, unit: GlucoseUnit,
        again: Again, recorded: Recorded? = nil
    ) {
        (self.study, self.summary, self.columns) = (study, summary, columns)
        (self.origin, self.unit, self.again) = (origin, unit, again)
        self.recorded = recorded
    }

    /// Whether sessions have a glucose: profiles, examples and the front of missed lows are of it.
    var isOfPeople: Bool { study.subject.kind.isPerson }
    /// What the sessions were about, many.
    var subjectsWord: String { study.subject.kind.words.many }
    /// What the glucose is that counts.
    var glucoseWords: String { recorded == nil ? "true glucose" : "trace, smoothed" }
    var words: OutcomeWords { OutcomeWords(unit) }
    var isOneArm: Bool { summary.arms.count == 1 }
    /// People whom the sessions were about.
    var people: Int { columns.subjects }
    var listeners: [StudySummary.PolicySummary] { summary.arms.flatMap(\.policies).filter(\.isInShadow) }

    func arm(_ name: String) -> (index: Int, arm: StudySummary.Arm)? {
        summary.arms.firstIndex { $0.name == name }.map { ($0, summary.arms[$0]) }
    }

    func comparison(_ metric: String, _ arm: String) -> (index: Int, comparison: StudySummary.Comparison)? {
        summary.comparisons.firstIndex { $0.metric == metric && $0.arm == arm }
            .map { ($0, summary.comparisons[$0]) }
    }
}
