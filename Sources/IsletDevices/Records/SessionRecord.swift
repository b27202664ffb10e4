// The record of one finished session, and the store that keeps records.
//
// Guarantees: a record is whole: outcomes, digest and rows of one session, to be stored in one transaction or not at
// all. Sessions are keyed by their index in the study, never by order of arrival.

public import IsletKernel

/// How a session ended.
public enum SessionEnd: Hashable, Sendable {
    case completed
    /// The subject left the physiological range, or the session failed: what happened, in one line.
    case endedEarly(reason: String)

    public var reason: String? {
        if case .endedEarly(let reason) = self { return reason }
        return nil
    }
}

/// One finished session.
public struct SessionRecord: Sendable {
    /// subject index × arms + arm index.
    public var session: Int
    public var subjectIndex: Int
    public var subject: String
    public var armIndex: Int
    public var arm: String
    public var end: SessionEnd
    /// How far the session got.
    public var endedAt: Instant
    /// 32 hexadecimal digits.
    public var digest: String
    public var events: Int
    /// The digest on the way: canonical text, for bisecting. Empty where a session is short.
    public var checkpoints: String
    public var outcomes: OutcomeValues
    /// One a code of the arm's policy, then of the policies in shadow.
    public var alerts: [AlertTally]
    /// The outcomes of the arm's own policy and of those in shadow.
    public var policies: [PolicyValues]
    /// What the policies in shadow decided; empty for `record: summary`.
    public var shadows: [ShadowLogRow]
    public var recorder: SessionRecorder

    public init(
        session: Int, subjectIndex: Int, subject: String, armIndex: Int, arm: String, end: SessionEnd,
        endedAt: Instant, digest: String, events: Int, checkpoints: String = "", outcomes: OutcomeValues,
        alerts: [AlertTally] = [], policies: [PolicyValues] = [], shadows: [ShadowLogRow] = [],
        recorder: SessionRecorder
    ) {
        self.session = session
        self.subjectIndex = subjectIndex
        self.subject = subject
        self.armIndex = armIndex
        self.arm = arm
        self.end = end
        self.endedAt = endedAt
        self.digest = digest
        self.events = events
        self.checkpoints = checkpoints
        self.outcomes = outcomes
        self.alerts = alerts
        self.policies = policies
        self.shadows = shadows
        self.recorder = recorder
    }
}

/// What summaries are computed from: a record without its rows.
public struct SessionSummary: Hashable, Sendable {
    public var session: Int
    public var subjectIndex: Int
    public var subject: String
    public var armIndex: Int
    public var arm: String
    public var end: SessionEnd
    public var days: Double
    public var digest: String
    public var events: Int
    public var outcomes: OutcomeValues
    /// One a code of the arm's policy, then of those in shadow; empty where the store has none.
    public var alerts: [AlertTally]
    /// The arm's own policy first; empty where the store has none.
    public var policies: [PolicyValues]
    /// What the values of `policies` are of, in their order.
    public var policyKeys: [String]

    public init(
        session: Int, subjectIndex: Int, subject: String, armIndex: Int, arm: String, end: SessionEnd,
        days: Double, digest: String, events: Int, outcomes: OutcomeValues, alerts: [AlertTally] = [],
        policies: [PolicyValues] = [], policyKeys: [String] = []
    ) {
        self.session = session
        self.subjectIndex = subjectIndex
        self.subject = subject
        self.armIndex = armIndex
        self.arm = arm
        self.end = end
        self.days = days
        self.digest = digest
        self.events = events
        self.outcomes = outcomes
        self.alerts = alerts
        self.policies = policies
        self.policyKeys = policyKeys
    }
}

/// The outcomes of one policy in one session.
public struct PolicyValues: Hashable, Sendable {
    public var policy: String
    public var isInShadow: Bool
    /// In an order that the whole study shares; nil where undefined.
    public var values: [Double?]

    public init(policy: String, isInShadow: Bool, values: [Double?]) {
        self.policy = policy
        self.isInShadow = isInShadow
        self.values = values
    }
}

/// Keeps the records of one study. Used by one thread at a time.
public protocol ResultStore: AnyObject {
    /// The canonical text of the study that the store was made for.
    func studyText() throws -> String
    /// The sessions that are stored whole.
    func finishedSessions() throws -> Set<Int>
    /// Stores a batch in one transaction: all of it or nothing.
    func write(_ records: [SessionRecord]) throws
    /// Calls `body` with every summary, by session index.
    func forEachSummary(_ body: (SessionSummary) throws -> Void) throws
    /// Calls `body` with who and what each session is, by session index: what it came to is not read.
    func forEachOrigin(_ body: (StoredOrigin) throws -> Void) throws
    /// Takes over the sessions of another store of the same study that this one lacks.
    func absorb(storeAt path: String) throws
    /// The numbers that it keeps in place of names.
    var words: StringTable { get }
    /// What it says of itself; nil for a store that says nothing.
    func facts() throws -> StoreFacts?
    /// Brings everything into the one file and closes it.
    func close() throws
}

/// Who and what a session is.
public struct StoredOrigin: Hashable, Sendable {
    public var session: Int
    public var subjectIndex: Int
    public var subject: String
    public var armIndex: Int
    public var arm: String
    /// The digest of all that happened in the session.
    public var digest: String

    public init(
        session: Int, subjectIndex: Int, subject: String, armIndex: Int, arm: String, digest: String
    ) {
        (self.session, self.subjectIndex, self.subject) = (session, subjectIndex, subject)
        (self.armIndex, self.arm, self.digest) = (armIndex, arm, digest)
    }
}

/// What a store says of itself beside the study.
public struct StoreFacts: Hashable, Sendable {
    /// The version of the program that lived the session.
    public var version: String
    /// ISO 8601.
    public var start: String
    public var startEpochSeconds: Int64
    public var offsetSeconds: Int64

    public init(version: String, start: String, startEpochSeconds: Int64, offsetSeconds: Int64) {
        (self.version, self.start) = (version, start)
        (self.startEpochSeconds, self.offsetSeconds) = (startEpochSeconds, offsetSeconds)
    }
}

extension ResultStore {
    public func forEachOrigin(_ body: (StoredOrigin) throws -> Void) throws {
        try forEachSummary {
            try body(
                StoredOrigin(
                    session: $0.session, subjectIndex: $0.subjectIndex, subject: $0.subject,
                    armIndex: $0.armIndex, arm: $0.arm, digest: $0.digest))
        }
    }

    public func facts() throws -> StoreFacts? { nil }
    /// None, for a store that keeps names.
    public var words: StringTable { StringTable() }
}
