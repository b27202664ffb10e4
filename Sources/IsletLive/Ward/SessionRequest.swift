// What a session that is to begin is made of: a session of a study file, of a study's text, or of a results folder; or a grow room, with no study at all.
//
// Guarantees: files are named by the ward's own lists, never by a path from outside; a study whose text came from outside can't name a file, either.

package import IsletFiles
import IsletAlerts
import Foundation
import IsletResults
import IsletDevices
import IsletModels
import IsletKernel
import IsletTrials

package struct SessionRequest: Sendable {
    package enum Source: Sendable {
        /// A file of the ward's study folders, by its name.
        case file(String)
        /// A file on this machine's disk: for whoever started the ward, never for the page.
        case path(String)
        case text(String)
        /// A results folder by its name, watched only.
        case results(String)
        /// A grow room of its own, in this stage of growth.
        case room(stage: String)
        /// A person of its own: one of an age group, in a scenario, drawn by a seed.
        case person(group: String, scenario: String, seed: UInt32)
    }

    /// When a session begins on its calendar.
    package enum Start: Sendable {
        /// As its study says.
        case study
        /// So that it has come to the wall clock's now when it is there, with local time so many minutes ahead of UTC.
        case now(offsetMinutes: Int)
        case at(StudyStart)

        /// `now`, `now-05:00`, or an instant as studies have it; nil for anything else.
        package init?(_ text: String) {
            guard text.hasPrefix("now") else {
                guard let start = StudyStart(text) else { return nil }
                self = .at(start)
                return
            }
            let zone = text == "now" ? "Z" : String(text.dropFirst(3))
            guard let start = StudyStart("2026-01-01T00:00:00" + zone) else { return nil }
            self = .now(offsetMinutes: start.offsetMinutes)
        }

        package static let expectation = "`now`, `now-05:00`, or an instant such as 2026-03-02T06:00:00-05:00"
    }

    package var name: String?
    package var source: Source
    /// Its index, as in sessions.csv.
    package var session = 0
    package var pace = LivePace.real
    /// Lived before it begins to go by the clock.
    package var from: Int64 = 0
    package var start = Start.study
    /// What it is told at its beginning, and when: within what is lived before; at its end where nothing is said.
    package var say: [LiveInput] = []
    package var sayAt: Int64?

    package init(_ source: Source) { self.source = source }

    /// - Throws: `Ward.Refusal.invalid`.
    package init(_ body: JSONBody) throws(Ward.Refusal) {
        let fields = try body.object("a session")
        try fields.check(
            only: [
                "name", "study", "study_text", "results", "room", "recommended", "session", "pace", "person",
                "scenario", "seed", "start", "history_hours",
            ])
        let sources: [Source] = [
            try Self.person(fields),
            try fields.optionalText("room").map { .room(stage: $0) },
            try fields.optionalText("study").map { .file($0) },
            try fields.optionalText("study_text").map { .text($0) },
            try fields.optionalText("results").map { .results($0) },
        ].compactMap { $0 }
        guard sources.count == 1 else {
            throw .invalid("expected one of `study`, `study_text`, `results`, `room` and `person`")
        }
        source = sources[0]
        if case .room(let stage) = source {
            guard Self.stages.contains(stage) else {
                throw .invalid("room: expected one of \(Self.stages.joined(separator: ", "))")
            }
            guard !fields.has("session") else { throw .invalid("session: a room of its own has none") }
            if try fields.flag("recommended") == true { say = [.recommendThresholds] }
        } else if fields.has("recommended") {
            throw .invalid("recommended: expected beside `room` only")
        }
        let index = try fields.optionalWholeNumber("session") ?? 0
        guard (0...Study.maximumSessions).contains(index) else {
            throw .invalid("session: expected a session's number, from 0")
        }
        session = index
        name = try Self.name(fields)
        try begin(fields)
        if let text = try fields.optionalText("pace") {
            guard let known = text == "paused" ? .paused : LivePace(text) else {
                throw .invalid("pace: expected a number from 0.01 to 100000, `max`, `paused` or `step`")
            }
            pace = known
        }
        if pace == .step { try checkDriven(fields) }
    }

    /// A session that is driven is lived by its driver alone.
    private mutating func checkDriven(_ fields: JSONFields) throws(Ward.Refusal) {
        switch source {
        case .results: throw .invalid("pace: a session of results is watched, and driven by nobody")
        case .room: throw .invalid("pace: a room has no steps that somebody could answer")
        default: break
        }
        guard !fields.has("history_hours") else {
            throw .invalid("history_hours: a session of pace `step` begins at its start")
        }
        from = 0
    }

    /// Where a person is asked for; nil where none is.
    private static func person(_ fields: JSONFields) throws(Ward.Refusal) -> Source? {
        guard let group = try fields.optionalText("person") else {
            for name in ["scenario", "seed"] where fields.has(name) {
                throw .invalid("\(name): expected beside `person` only")
            }
            return nil
        }
        guard groups.contains(group) else {
            throw .invalid("person: expected one of \(groups.joined(separator: ", "))")
        }
        let scenario = try fields.optionalText("scenario") ?? scenarios[0]
        guard scenarios.contains(scenario) else {
            throw .invalid("scenario: expected one of \(scenarios.joined(separator: ", "))")
        }
        guard !fields.has("session") else { throw .invalid("session: a person of their own has none") }
        let seed = try fields.optionalWholeNumber("seed") ?? Int(UInt32.random(in: 0...UInt32.max))
        guard let seed = UInt32(exactly: seed) else {
            throw .invalid("seed: expected a whole number from 0 to \(UInt32.max)")
        }
        return .person(group: group, scenario: scenario, seed: seed)
    }

    /// When it begins, and what it has lived before.
    private mutating func begin(_ fields: JSONFields) throws(Ward.Refusal) {
        for name in ["start", "history_hours"] where fields.has(name) {
            switch source {
            case .results: throw .invalid("\(name): a session of results is lived as its study says")
            case .room: throw .invalid("\(name): a room of its own begins now")
            default: break
            }
        }
        if let text = try fields.optionalText("start") {
            guard let start = Start(text) else { throw .invalid("start: expected \(Start.expectation)") }
            self.start = start
        }
        if case .person = source {
            from = Self.usualHistory
            if !fields.has("start") { start = .now(offsetMinutes: 0) }
        }
        if let hours = try fields.optionalNumber("history_hours") {
            guard Self.historyHours.contains(hours) else {
                throw .invalid(
                    "history_hours: expected a number from \(Self.historyHours.lowerBound) to \(Self.historyHours.upperBound)"
                )
            }
            from = Int64(hours * 3600) * Nanoseconds.second
        }
    }

    /// Lived before a session of somebody's wish begins to go by the clock, h.
    package static let historyHours = 0.0...72.0
    /// How much of its past a person's session begins with: apps ask for a day.
    private static let usualHistory = 24 * Nanoseconds.hour

    /// What somebody calls a session; nil where they said nothing.
    package static func name(_ fields: JSONFields) throws(Ward.Refusal) -> String? {
        guard let text = try fields.optionalText("name"), !text.isEmpty else { return nil }
        guard text.count <= 80, !text.unicodeScalars.contains(where: { isUnprintable($0) }) else {
            throw .invalid("name: expected up to 80 printable characters")
        }
        return text
    }

    var origin: SessionOrigin {
        if case .results(let folder) = source {
            return .study(folder: folder, session: session, isSame: nil)
        }
        return .own
    }

    /// Lives its beginning.
    /// - Throws: `NobodyWaits`.
    func live(_ session: LiveSession, isWanted: () -> Bool) throws {
        try advance(session, to: sayAt ?? from, isWanted)
        var lastBolus: (number: Int, units: Double)?
        for input in say {
            var input = input
            // A bolus in two steps, said in one breath.
            if input.name == "confirmBolus", let asked = lastBolus {
                input = .confirmBolus(
                    request: asked.number, units: asked.units, anyway: input.flag("anyway"))
            }
            let answer = session.take(LiveCommand(input), at: session.now)
            if let units = input.requestedUnits, let number = answer.number {
                lastBolus = (number, units)
            }
        }
        try advance(session, to: from, isWanted)
    }

    /// As it would have gone by a clock: the day's account has its places.
    private func advance(
        _ session: LiveSession, to nanoseconds: Int64, _ isWanted: () -> Bool
    ) throws {
        let goal = min(Instant(nanoseconds: nanoseconds), session.duration)
        while session.now < goal, session.phase == .running {
            guard isWanted() else { throw NobodyWaits() }
            session.advance(to: min(goal, session.now.adding(15 * Nanoseconds.minute)))
        }
    }

    /// A session goes on wherever its server is started from.
    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    /// What the results folder says of the session; nil for one that isn't of any.
    func storedDigest(_ options: Ward.Options) throws -> String? {
        guard case .results(let name) = source,
            let folder = options.resultFolders.first(where: { $0.name == name })
        else { return nil }
        let store = try StudyStore(readingAt: ResultFolder(path: folder.path).storePath)
        let found = try ResultSessions(store, directory: name, jobs: 1)
        return try found.entries(session: session, arm: nil).first?.digest
    }

    func resolve(_ options: Ward.Options) throws -> (name: String, study: Study, studyPath: String?) {
        var (study, path): (Study, String?)
        switch source {
        case .path(let file): (study, path) = (try Study.read(path: file), Self.absolute(file))
        case .file(let name):
            guard let file = options.studyFiles.first(where: { $0.name == name }) else {
                throw Ward.Refusal.invalid("study: expected one of the ward's study files")
            }
            (study, path) = (try Study.read(path: file.path), Self.absolute(file.path))
        case .text(let text):
            let read = try Study.parse(text, file: YAMLNode.Origin.textPrefix + "study")
            if case .generate = read.cohort {
            } else {
                throw Ward.Refusal.invalid(
                    "study_text: expected a study whose cohort is generated, not read from a file")
            }
            (study, path) = (read, nil)
        case .room(let stage):
            let text = Self.roomStudy(stage)
            (study, path) = (try Study.parse(text, file: YAMLNode.Origin.textPrefix + "room"), nil)
        case .person(let group, let scenario, let seed):
            let text = Self.personStudy(group, scenario, seed)
            (study, path) = (try Study.parse(text, file: YAMLNode.Origin.textPrefix + "person"), nil)
        case .results(let name):
            guard let folder = options.resultFolders.first(where: { $0.name == name }) else {
                throw Ward.Refusal.invalid("results: expected one of the ward's results folders")
            }
            let store = try StudyStore(readingAt: ResultFolder(path: folder.path).storePath)
            (study, path) = (
                try Study.parse(try store.studyText(), file: name, hasRun: true), Self.absolute(folder.path)
            )
        }
        switch start {
        case .study: break
        case .at(let start): study.start = start
        case .now(let minutes):
            let begun = SessionCalendar(
                startEpochSeconds: Int64(Date().timeIntervalSince1970) - from / Nanoseconds.second,
                offsetSeconds: Int64(minutes) * 60)
            study.start = StudyStart(begun.iso8601(at: .start)) ?? study.start
        }
        guard session >= 0, !study.arms.isEmpty else {
            throw Ward.Refusal.invalid("session: found \(session), expected a session's number, from 0")
        }
        if case .room(let stage) = source { return (name ?? "Room, \(stage)", study, path) }
        if case .person(let group, _, _) = source { return (name ?? "Person, \(group)", study, path) }
        let arm = study.arms[session % study.arms.count].name
        return (name ?? "\(study.name) \(session)\(study.arms.count > 1 ? " \(arm)" : "")", study, path)
    }
}

extension SessionRequest {
    /// Stages of growth, in their order.
    package static let stages = AlertMetric.stages
    /// Whom a person of its own may be one of.
    package static let groups = AgeGroup.allCases.map(\.rawValue)
    /// What happens to them; the first one where nothing is said.
    package static let scenarios = ["life", "plain"]

    /// A person in closed loop for a month.
    private static func personStudy(_ group: String, _ scenario: String, _ seed: UInt32) -> String {
        """
        study: person
        seed: \(seed)
        duration: 30d
        cohort: { generate: { model: uva-padova-2008, group: \(group), count: 1 } }
        scenario: { preset: \(scenario) }
        arms: [{ name: closed-loop, algorithm: pid-insulin-feedback, alerts: dexcom-g7 }]
        """
    }

    /// A room of its own for a year, from now on; nothing rings until a threshold is set.
    private static func roomStudy(_ stage: String) -> String {
        let start = utcText(Int64(Date().timeIntervalSince1970))
        return """
            study: room
            subject: { kind: grow-room, seedlings: \(stage == "seedling" ? 1 : 0), flowering: \(stage == "flowering" ? 1 : 0) }
            seed: \(UInt32.random(in: 0...UInt32.max))
            start: \(start)
            duration: 365d
            cohort: { generate: { count: 1 } }
            arms: [{ name: \(stage), alerts: none }]
            """
    }
}

/// A file or folder that the ward offers, by the name that the page has for it.
package struct WardFileName: Hashable, Sendable {
    package var name: String
    package var path: String
}

extension Ward.Options {
    /// Study files of the ward's folders, by name.
    package var studyFiles: [WardFileName] {
        studies.flatMap { folder in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.sorted().filter { $0.hasSuffix(".yaml") }.compactMap { name -> WardFileName? in
                let path = "\(folder)/\(name)"
                guard let text = try? String(contentsOfFile: path, encoding: .utf8),
                    text.split(separator: "\n").contains(where: { $0.hasPrefix("study:") })
                else { return nil }
                return WardFileName(name: name, path: path)
            }
        }
    }

    /// Folders with results, by name.
    package var resultFolders: [WardFileName] {
        results.flatMap { folder in
            if access("\(folder)/study.sqlite", R_OK) == 0 {
                return [
                    WardFileName(name: String(folder.split(separator: "/").last ?? "results"), path: folder)
                ]
            }
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.sorted().filter { access("\(folder)/\($0)/study.sqlite", R_OK) == 0 }
                .map { WardFileName(name: $0, path: "\(folder)/\($0)") }
        }
    }
}
