// What inputs do in a session of a subject that is watched: somebody goes there.
//
// Guarantees: what only people have is refused, with what is missing.

import IsletDevices
import IsletTrials

final class WatchedActs: LiveActs {
    /// The session outlives it.
    private unowned let session: WatchedSession
    private let kind: SubjectKind

    init(_ session: WatchedSession, _ kind: SubjectKind) { (self.session, self.kind) = (session, kind) }

    var requestedBolus: RequestedBolus? { nil }
    var recommendedTo: (kind: String, stage: String) { (kind.id, session.look().stage) }
    func note(_ rows: SessionRecorder) {}

    func perform(_ input: LiveInput, _ number: Int) throws {
        if let missing = input.missing(in: kind) { throw missing }
        guard case .visit = input else {
            throw LiveRefusal(.notOfSubject, "not an input of a \(kind.spoken)")
        }
        try session.visit()
    }
}

extension SubjectKind {
    /// In a sentence.
    var spoken: String { id.replacing("-", with: " ") }
}
