// What a session's folder says of it beside its journal.

import IsletFiles
import IsletModels
import IsletDevices
import IsletKernel
import IsletTrials

struct SessionFile: Sendable {
    var name: String
    /// What a cohort table's path is relative to; nil where the study needs none.
    var studyPath: String?
    var origin: SessionOrigin
    /// The digest that a study's table has for the session; nil for one of no study.
    var storedDigest: String?
    /// How a session was begun anew: from which session of another engine, and what of its settings was refused; nil for others.
    var anew: Anew?

    struct Anew: Hashable, Sendable {
        var of: String
        var refused: [LiveRefusal]
    }

    private static let format: UInt64 = 1

    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("format", .unsigned(Self.format)), .init("name", .string(name)),
        ]
        if let studyPath { members.append(.init("study_path", .string(studyPath))) }
        if let anew {
            members.append(.init("anew_of", .string(anew.of)))
            members.append(
                .init(
                    "not_set_again",
                    .array(
                        anew.refused.map {
                            ["code": .string($0.code), "reason": .string($0.reason.text)]
                        })))
        }
        switch origin {
        case .own: break
        case .study(let folder, let session, _):
            members.append(.init("results", .string(folder)))
            members.append(.init("session", .integer(Int64(session))))
            if let storedDigest { members.append(.init("digest", .string(storedDigest))) }
        case .fork(let of, let at, let change):
            members.append(.init("fork_of", .string(of)))
            members.append(.init("fork_at_ns", .integer(at.nanoseconds)))
            members.append(.init("change", .string(change)))
        }
        return .object(members)
    }

    static func read(_ path: String) throws(InputError) -> SessionFile {
        let root = YAMLReader(
            try JSONDocument.read(path: path, limitBytes: YAMLDocument.maximumBytes))
        guard let name = root["name"] else {
            throw root.problem(found: "no name", expected: "a session that Islet wrote")
        }
        _ = try root["format"]?.wholeNumber(in: format...format)
        var file = SessionFile(name: try name.text(), studyPath: try root["study_path"]?.text(), origin: .own)
        if let old = root["anew_of"] {
            file.anew = Anew(
                of: try old.text(),
                refused: try root["not_set_again"]?.items.map { reader throws(InputError) in
                    LiveRefusal(
                        code: try reader["code"]?.text() ?? "",
                        reason: ValueText(try reader["reason"]?.text() ?? ""))
                } ?? [])
        }
        if let folder = root["results"], let session = root["session"] {
            file.origin = .study(
                folder: try folder.text(), session: Int(try session.wholeNumber(in: 0...UInt64(Int32.max))),
                isSame: nil)
            file.storedDigest = try root["digest"]?.text()
        } else if let original = root["fork_of"], let at = root["fork_at_ns"] {
            file.origin = .fork(
                of: try original.text(),
                at: Instant(nanoseconds: Int64(try at.wholeNumber(in: 0...UInt64(Int64.max)))),
                change: try root["change"]?.text() ?? "")
        }
        return file
    }
}

extension Ward {
    func file(of id: String) throws -> SessionFile {
        try SessionFile.read(Self.card(beside: journalPath(of: id)))
    }

    /// Where a session's card stands.
    static func card(beside journal: String) -> String {
        String(journal[..<(journal.lastIndex(of: "/") ?? journal.startIndex)]) + "/session.json"
    }
}

extension SessionView.Facts {
    init(_ id: String, _ file: SessionFile, _ opening: LiveOpening? = nil, end: Instant = .start) {
        self.init(
            id: id, name: file.name,
            kind: opening.map { $0.subject.person == nil ? .room : .person } ?? .person,
            origin: file.origin, end: end,
            calendar: opening?.study.start.calendar
                ?? SessionCalendar(startEpochSeconds: 0, offsetSeconds: 0),
            stage: opening?.subject.stage ?? "",
            storedDigest: file.storedDigest, anew: file.anew)
    }
}
