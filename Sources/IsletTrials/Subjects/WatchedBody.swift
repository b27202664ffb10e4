// A subject that a monitor watches and somebody looks after: what a kind has to say of it, and the row that follows.
//
// Guarantees: monitor, alert center, listeners in shadow, keeper, truth, outcomes and scoring are the same for all such kinds: a kind is its body, its metrics and
// its settings.
// Does not: serve people with diabetes, whose loop acts by itself (`Session`).

package import IsletAlerts
package import IsletDevices
import IsletFiles
package import IsletKernel

/// What broke, and since when.
package struct BrokenPart: Hashable, Sendable, Codable {
    /// As rows of results name it.
    package var kind: String
    package var since: Instant

    package init(kind: String, since: Instant) { (self.kind, self.since) = (kind, since) }
}

/// The body of a watched subject. Belongs to one session; instants never go back.
package protocol WatchedBody: AnyObject {
    /// Lives up to `instant`.
    /// - Throws: what ends the session before its time.
    func advance(to instant: Instant) throws
    /// What is true now, one value a metric of the kind, in their order.
    var truth: [Double] { get }
    /// What the monitor shows now: asked once a reading, so that it may draw.
    func measure() -> [Double]
    /// What is broken now.
    var broken: [BrokenPart] { get }
    /// Somebody is there and puts right what they find.
    func mend()
    /// Evaluations of its right-hand side so far; 0 for a body without one.
    var evaluations: Int { get }
    /// The stage of its life, as rows of recommended ranges name it; empty for a kind without stages.
    var stage: String { get }
}

extension WatchedBody {
    package var evaluations: Int { 0 }
    package var stage: String { "" }
}

/// What a body is made from beside its settings.
package struct BodyOrigin: Sendable {
    /// Who the subject is: the same in every arm.
    package var own: RandomStreams
    /// What happens to it: another with an arm's `luckOffset`.
    package var luck: RandomStreams
    package var calendar: SessionCalendar
    /// How long the study lasts.
    package var duration: Instant
}

extension SubjectKind {
    /// A kind that is watched.
    ///
    ///     static let waterTank = SubjectKind(
    ///         id: "water-tank", summary: "...", words: ("tank", "tanks"), metrics: [.level],
    ///         settings: WaterTank.Settings(), parameters: []) { WaterTank($0, $1) }
    /// - Parameters:
    ///   - settings: where a study sets nothing.
    ///   - fields: what a study may set, and where it lives in `settings`.
    ///   - makeBody: a body that nobody else holds.
    package init<Settings: Sendable>(
        id: String, summary: String, words: (one: String, many: String), metrics: [AlertMetric],
        settings: Settings, parameters fields: [NumberRow<Settings, Void>],
        makeBody: @escaping @Sendable (Settings, BodyOrigin) throws -> any WatchedBody
    ) {
        self.init(
            id: id, summary: summary, words: words, metrics: metrics,
            parameters: TunableParameter.list(fields, of: settings), foreignKeys: Self.keysOfPeople,
            outcomes: Outcome.ofWatched(metrics), isPerson: false
        ) { study, studyPath, _ in
            let tuned = TunableParameter.set(study.subject.values, fields, of: settings)
            return try WatchedCohort(study, studyPath: studyPath) { try makeBody(tuned, $0) }
        }
    }

    /// What only people have.
    private static let keysOfPeople = [
        "sensor", "pump", "scenario", "faults", "person", "margin", "confirm", "cohort.table",
        "cohort.generate.model", "cohort.generate.group", "arms.algorithm", "arms.listener", "arms.person",
        "arms.sensor",
    ]
}

/// Watched subjects: drawn by the seed when they are lived.
struct WatchedCohort: StudyCohort {
    let count: Int
    private let seed: UInt64
    private let word: String
    private let kind: TunedSubject
    private let makeBody: @Sendable (BodyOrigin) throws -> any WatchedBody

    init(
        _ study: Study, studyPath: String,
        makeBody: @escaping @Sendable (BodyOrigin) throws -> any WatchedBody
    ) throws {
        count = study.cohort.subjectCount ?? 0
        try study.checkSessions(subjects: count, file: studyPath)
        (seed, word, kind) = (study.seed, study.subject.kind.words.one, study.subject)
        self.makeBody = makeBody
    }

    func name(_ index: Int) -> String { "\(word)#\(index + 1)" }

    /// A subject is its seed, its place and what the study sets.
    func absorb(_ index: Int, into digest: inout Digest128) {
        for word in Journal.words(of: Array("\(kind.kind.id) \(name(index))".utf8)) { digest.absorb(word) }
        digest.absorb(seed)
        for value in kind.values { digest.absorb(value.bitPattern) }
    }

    func session(
        _ study: Study, index: Int, arm: Study.Arm, shadows: ShadowPlan?, scoring: PolicyScoring?
    ) throws -> any StudySession {
        let own = RandomStreams(seed: study.seed, subject: UInt64(index))
        let origin = BodyOrigin(
            own: own, luck: own.offset(by: arm.luckOffset), calendar: study.start.calendar,
            duration: Instant(nanoseconds: study.duration.nanoseconds))
        return try WatchedSession(
            study, body: try makeBody(origin), origin: origin, arm: arm, shadows: shadows, scoring: scoring)
    }
}
