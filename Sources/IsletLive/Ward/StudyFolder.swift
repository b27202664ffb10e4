// Results that can be watched: folders, and the sessions in them.

import IsletDevices
import IsletResults
import IsletTrials

package struct StudyFolder: Sendable {
    /// As the page names it.
    package var name: String
    package var study: String
    /// What kind of subject it is about.
    package var kind: String
    /// The first thousand.
    package var sessions: [Session]
    package var sessionCount: Int

    package struct Session: Hashable, Sendable {
        package var index: Int
        package var subject: String
        package var arm: String
        package var digest: String
    }

    private static let limit = 1000

    /// - Throws: what can't be read.
    package init(name: String, path: String) throws {
        let store = try StudyStore(readingAt: ResultFolder(path: path).storePath)
        let found = try ResultSessions(store, directory: path, jobs: 1)
        self.name = name
        (study, kind) = (found.study.name, found.study.subject.kind.id)
        sessionCount = found.entries.count
        sessions = found.entries.prefix(Self.limit).map {
            Session(index: $0.session, subject: $0.subject, arm: $0.arm, digest: $0.digest)
        }
    }
}

extension Ward.Options {
    /// What can be read of the results folders; what can't is left out.
    package var studyFolders: [StudyFolder] {
        resultFolders.compactMap { try? StudyFolder(name: $0.name, path: $0.path) }
    }
}
