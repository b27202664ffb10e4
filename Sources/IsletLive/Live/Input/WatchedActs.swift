// What inputs do in a session of a subject that is watched: somebody goes there.
//
// Does not: what only people have, which `InputRow.missing` refuses with what is missing.

import IsletDevices
import IsletTrials

final class WatchedActs: LiveActs {
    /// The session outlives it.
    private unowned let session: WatchedSession
    let kind: SubjectKind

    init(_ session: WatchedSession, _ kind: SubjectKind) { (self.session, self.kind) = (session, kind) }

    var requestedBolus: RequestedBolus? { nil }
    var recommendedTo: (kind: String, stage: String) { (kind.id, session.look().stage) }
    func note(_ rows: SessionRecorder) {}

    func visit() throws { try session.visit() }
}

extension SubjectKind {
    /// In a sentence.
    var spoken: String { id.replacing("-", with: " ") }
}
