// Who lives in a live session, and in which study: a journal's first line.
//
// Guarantees: what it takes to run the session again, but for the rows of a cohort's table, whose checksum it has. A journal of another version,
// of other mathematics or of somebody else is refused: it would come to other bits.

package import IsletDevices
import IsletFiles
import IsletKernel
package import IsletTrials

package struct LiveOpening: Sendable {
    package var study: Study
    /// Its number in the study, as in sessions.csv.
    package var session: Int
    package var version: String
    package var fingerprint: String
    /// Of the subject.
    package var checksum: String
    package let subject: LiveSubject
    /// Glucose comes from outside, and the study is what `Study.fed` makes of it.
    package let isFed: Bool
    /// Pump and sensor are outside of the session.
    package var isLinked = false
    /// Which app commands the pump outside; nil for a journal of before there were owners.
    package var owner: String?

    private static let format: UInt64 = 1

    package var subjectIndex: Int { session / study.arms.count }
    package var arm: Study.Arm {
        var arm = study.arms[session % study.arms.count]
        if isLinked { arm.alerts = arm.alerts.ofLinkedPump }
        if subject.person == nil { arm.alerts = arm.alerts.about(subject.name) }
        return arm
    }

    /// A session that this program begins.
    /// - Throws: `InputError` where the study has no such session; what `CohortLoader` throws.
    package init(study: Study, session: Int, studyPath: String, isFed: Bool = false) throws {
        try study.checkWritten(file: studyPath)
        self.study = study
        self.isFed = isFed
        self.session = session
        let arms = study.arms.count
        guard session >= 0, arms > 0 else {
            throw InputError(
                file: studyPath, found: "session \(session)", expected: "a session's number, from 0")
        }
        if isFed { try Self.check(study.subject.kind, file: studyPath) }
        subject = try LiveSubject(session / arms, of: study, studyPath: studyPath)
        version = BuildFacts.version
        fingerprint = NumericFingerprint.here
        checksum = subject.checksum
    }

    /// Only people have devices that can be elsewhere.
    package static func check(_ kind: SubjectKind, file: String, line: Int? = nil) throws(InputError) {
        guard kind.isPerson else {
            throw InputError(
                file: file, line: line, found: "a session of \(kind.words.many) with devices outside",
                expected: "one of people: what is measured of \(kind.words.many) is simulated")
        }
    }

    package var json: String {
        let kind: [JSONValue.Member] =
            (isFed ? [.init("fed", .bool(true))] : []) + (isLinked ? [.init("linked", .bool(true))] : [])
            + (owner.map { [.init("owner", .string($0))] } ?? [])
        return JSONValue.object(
            kind + [
                .init("format", .unsigned(Self.format)), .init("version", .string(version)),
                .init("numeric_fingerprint", .string(fingerprint)),
                .init("session", .integer(Int64(session))),
                .init("subject", .string(subject.name)), .init("arm", .string(arm.name)),
                .init("seed", .unsigned(study.seed)), .init("subject_checksum", .string(checksum)),
                .init("study", study.json),
            ]
        ).compactText
    }

    /// Reads a journal's first line.
    /// - Parameter studyPath: what a cohort table's path is relative to; nil for the journal.
    /// - Throws: `InputError`; what `CohortLoader` throws.
    package init(_ content: JournalContent, studyPath: String? = nil) throws {
        let file = content.path
        guard case .open(let json)? = content.lines.first else {
            throw InputError(file: file, line: 1, found: "no opening", expected: "a journal's first line")
        }
        let root = YAMLReader(
            try JSONDocument.parse(json, file: file, limitBytes: Study.writtenBytes + 1 << 20))
        func value(_ key: String) throws(InputError) -> YAMLReader {
            guard let reader = root[key] else {
                throw root.problem(found: "no \(key)", expected: "a journal that Islet wrote")
            }
            return reader
        }
        isFed = try root["fed"]?.flag() ?? false
        _ = try value("format").wholeNumber(in: Self.format...Self.format)
        version = try value("version").text()
        fingerprint = try value("numeric_fingerprint").text()
        checksum = try value("subject_checksum").text()
        session = Int(try value("session").wholeNumber(in: 0...UInt64(Study.maximumSessions)))
        for (name, mine, wanted) in [
            ("version", version, BuildFacts.version),
            ("numeric_fingerprint", fingerprint, NumericFingerprint.here),
        ] where mine != wanted {
            throw InputError(
                file: file, line: 1, found: "a journal of \(name) \(printable(mine, limit: 60))",
                expected: "\(name) \(wanted): results of the two may differ")
        }
        if let linked = root["linked"] { isLinked = try linked.flag() }
        owner = try root["owner"]?.text()
        study = try Study.decode(try value("study").node, hasRun: true)
        if isFed || isLinked { try Self.check(study.subject.kind, file: file, line: 1) }
        subject = try LiveSubject(session / study.arms.count, of: study, studyPath: studyPath ?? file)
        guard subject.checksum == checksum else {
            throw InputError(
                file: file, line: 1, found: "a subject of checksum \(printable(checksum, limit: 60))",
                expected:
                    "\(subject.checksum): the \(study.subject.kind.words.one) of this journal is another one here"
            )
        }
    }
}
