// Finished sessions without their rows, in memory.
//
// Guarantees: what summaries are computed from is what a file would give, in the order of session indices. Does not: keep anything beyond its own life.

package import IsletDevices
import IsletKernel

package final class MemoryStore: ResultStore {
    private let text: String
    private var summaries: [Int: SessionSummary] = [:]

    package init(of study: Study) { text = study.yaml }

    package func studyText() -> String { text }
    package func finishedSessions() -> Set<Int> { Set(summaries.keys) }

    package func write(_ records: [SessionRecord]) {
        for record in records {
            summaries[record.session] = SessionSummary(
                session: record.session, subjectIndex: record.subjectIndex, subject: record.subject,
                armIndex: record.armIndex, arm: record.arm, end: record.end,
                days: Double(record.endedAt.nanoseconds) / Double(Nanoseconds.day), digest: record.digest,
                events: record.events, outcomes: record.outcomes, alerts: record.alerts,
                policies: record.policies, policyKeys: PolicyOutcome.storedNames)
        }
    }

    package func forEachSummary(_ body: (SessionSummary) throws -> Void) throws {
        for session in summaries.keys.sorted() {
            if let summary = summaries[session] { try body(summary) }
        }
    }

    /// There is no other store that it could take over.
    package func absorb(storeAt path: String) {}
    package func close() {}
}
