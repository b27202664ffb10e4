// Who lives in a live session, and in which study: a journal's first line.
//
// Guarantees: what it takes to run the session again, but for the rows of a cohort's table, whose checksum it has. A journal of another engine,
// of other mathematics or of somebody else is refused: it would come to other bits.

package import IsletDevices
import Foundation
import IsletFiles
import IsletKernel
import IsletLoop
package import IsletTrials

package struct LiveOpening: Sendable {
    package var study: Study
    /// Its number in the study, as in sessions.csv.
    package var session: Int
    package var version: String
    /// Which engine lives it (`BuildFacts.engine`).
    package private(set) var engine: Int
    /// What it goes on from; nil for a session that began with its journal.
    package private(set) var upgrade: LiveUpgrade?
    package var fingerprint: String
    /// The subject's checksum.
    package var checksum: String
    package let subject: LiveSubject
    /// Glucose comes from outside, and the study is what `Study.fed` makes of it.
    package let isFed: Bool
    /// Pump and sensor are outside of the session.
    package var isLinked = false
    /// The world goes on whatever becomes of this program: pump and sensor are outside, or glucose comes from there.
    package var hasWorldOutside: Bool { isLinked || isFed }
    /// Nobody but a driver answers its steps, and it goes by no clock (`LivePace.step`); its arm's algorithm is `recorded`.
    package private(set) var isDriven = false
    /// Which app commands the pump outside; nil for a journal of before there were owners.
    package var owner: String?

    private static let format: UInt64 = 1
    /// The most that is handed on, and what stands beside it.
    private static let carriedBytes = 16 << 20

    package var subjectIndex: Int { session / study.arms.count }
    /// As the study has it; `arm` prepares its policy anew for what is outside.
    private var written: Study.Arm { study.arms[session % study.arms.count] }
    package var armName: String { written.name }
    var algorithm: TunedAlgorithm { written.algorithm }
    package var arm: Study.Arm {
        var arm = written
        if isLinked { arm.alerts = arm.alerts.ofLinkedPump }
        if subject.person == nil { arm.alerts = arm.alerts.about(subject.name) }
        return arm
    }

    /// A session that this program begins.
    /// - Throws: `InputError` where the study has no such session; what `CohortLoader` throws.
    package init(
        study: Study, session: Int, studyPath: String, isFed: Bool = false, engine: Int = BuildFacts.engine
    ) throws {
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
        self.engine = engine
        fingerprint = NumericFingerprint.here
        checksum = subject.checksum
    }

    /// The same, for a driver: answers take the place of the arm's algorithm, as a study has them that were recorded.
    /// - Throws: `InputError` for whom nobody doses.
    package func driven(file: String) throws(InputError) -> LiveOpening {
        guard subject.person != nil, !hasWorldOutside else {
            throw InputError(
                file: file, found: "a session of \(study.subject.kind.words.many), or with devices outside",
                expected: "one of people whose devices are simulated: nobody doses others")
        }
        var (driven, arm) = (self, written)
        var steps = arm.recorded ?? RecordedSteps([])
        guard steps.beside == nil else {
            throw InputError(
                file: file, found: "an arm of forecasts that were recorded beside an algorithm",
                expected: "one whose doses are given step by step")
        }
        steps.texts = [""]
        arm.chosenAlgorithm = .recorded(steps)
        driven.study.arms[session % study.arms.count] = arm
        driven.isDriven = true
        return driven
    }

    /// Only people have devices that can be elsewhere.
    package static func check(_ kind: SubjectKind, file: String, line: Int? = nil) throws(InputError) {
        guard kind.isPerson else {
            throw InputError(
                file: file, line: line, found: "a session of \(kind.words.many) with devices outside",
                expected: "one of people: what is measured of \(kind.words.many) is simulated")
        }
    }

    /// The session goes on under this program's engine.
    mutating func begin(_ upgrade: LiveUpgrade?, engine: Int) {
        (self.upgrade, self.engine) = (upgrade, engine)
        (version, fingerprint) = (BuildFacts.version, NumericFingerprint.here)
        checksum = subject.checksum
    }

    /// Why a program of another engine doesn't go on with it.
    func otherEngine(_ path: String, here: Int) -> InputError {
        .otherEngine(path, line: 1, "a journal", engine: engine, version: version, here: here)
    }

    /// What is handed on is one member, whose text is JSON: its bytes are those that were kept.
    private var upgradeMembers: [JSONValue.Member] {
        guard let upgrade, let bytes = try? CarryJSON.bytes(upgrade.carry) else { return [] }
        return [
            .init("upgraded_from", .integer(Int64(upgrade.from))),
            .init("carried", .string(String(decoding: bytes, as: UTF8.self))),
        ]
    }

    package var json: String {
        let kind: [JSONValue.Member] =
            (isDriven ? [.init("driven", .bool(true))] : []) + (isFed ? [.init("fed", .bool(true))] : [])
            + (isLinked ? [.init("linked", .bool(true))] : [])
            + (owner.map { [.init("owner", .string($0))] } ?? [])
        return JSONValue.object(
            kind + [
                .init("format", .unsigned(Self.format)), .init("version", .string(version)),
                .init("engine", .integer(Int64(engine))),
                .init("numeric_fingerprint", .string(fingerprint)),
                .init("session", .integer(Int64(session))),
                .init("subject", .string(subject.name)), .init("arm", .string(armName)),
                .init("seed", .unsigned(study.seed)), .init("subject_checksum", .string(checksum)),
                .init("study", study.json),
            ] + upgradeMembers
        ).compactText
    }

    /// Which engine lived a journal, of which no more than its first line is read; nil for a file that begins otherwise.
    package static func engine(ofJournal path: String) -> Int? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        var bytes: [UInt8] = []
        while bytes.count < carriedBytes, let more = try? file.read(upToCount: 1 << 16), !more.isEmpty {
            bytes += more
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { continue }
            let content = try? JournalContent.parse(Array(bytes[...end]), path: path)
            return content.flatMap { try? engine(of: $0) }
        }
        return nil
    }

    /// Which engine lived a journal, by its first line alone.
    static func engine(of content: JournalContent) throws -> Int {
        guard case .open(let json)? = content.lines.first else { return BuildFacts.engine }
        let root = YAMLReader(
            try JSONDocument.parse(json, file: content.path, limitBytes: Study.writtenBytes + carriedBytes))
        return try BuildFacts.engine(recordedAs: root["engine"])
    }

    /// Reads a journal's first line.
    /// - Parameters:
    ///   - studyPath: what a cohort table's path is relative to; nil for the journal.
    ///   - engine: whose journals are read; nil for any engine's, of which nothing is lived again.
    /// - Throws: `InputError`; what `CohortLoader` throws.
    package init(
        _ content: JournalContent, studyPath: String? = nil, engine here: Int? = BuildFacts.engine
    ) throws {
        let file = content.path
        guard case .open(let json)? = content.lines.first else {
            throw InputError(file: file, line: 1, found: "no opening", expected: "a journal's first line")
        }
        let root = YAMLReader(
            try JSONDocument.parse(json, file: file, limitBytes: Study.writtenBytes + Self.carriedBytes))
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
        engine = try BuildFacts.engine(recordedAs: root["engine"])
        if let here, engine != here {
            throw InputError.otherEngine(
                file, line: 1, "a journal", engine: engine, version: version, here: here)
        }
        if here != nil, fingerprint != NumericFingerprint.here {
            throw InputError(
                file: file, line: 1,
                found: "a journal of numeric_fingerprint \(printable(fingerprint, limit: 60))",
                expected: "numeric_fingerprint \(NumericFingerprint.here): results of the two may differ")
        }
        if let linked = root["linked"] { isLinked = try linked.flag() }
        owner = try root["owner"]?.text()
        if let driven = root["driven"] { isDriven = try driven.flag() }
        study = try Study.decode(try value("study").node, hasRun: true)
        if isFed || isLinked { try Self.check(study.subject.kind, file: file, line: 1) }
        subject = try LiveSubject(session / study.arms.count, of: study, studyPath: studyPath ?? file)
        if let from = root["upgraded_from"], let text = root["carried"] {
            let carried = Array(try text.text().utf8)
            guard let carry = try? CarryJSON.value(LiveCarry.self, carried) else {
                throw text.problem(found: "what no session kept", expected: "what Islet wrote")
            }
            upgrade = LiveUpgrade(from: try BuildFacts.engine(recordedAs: from), carry: carry)
        }
        // Whom another engine drew is of no matter: what is outside goes on with what was handed on.
        guard subject.checksum == checksum || here == nil else {
            throw InputError(
                file: file, line: 1, found: "a subject of checksum \(printable(checksum, limit: 60))",
                expected:
                    "\(subject.checksum): the \(study.subject.kind.words.one) of this journal is another one here"
            )
        }
    }
}
