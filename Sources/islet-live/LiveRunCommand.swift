// `islet-live run STUDY --session K --pace P --journal DIR`: one session, with what happens line by line.

import ArgumentParser
import DeviceLinks
import IsletDevices
import IsletFiles
import Glibc
import IsletLive
import IsletKernel
import IsletTrials

/// `islet-live run`
struct LiveRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Live one session of a study, or go on with it.",
        discussion: """
            Prints readings, steps, deliveries, alerts and what the person does as they happen. What is typed is an input of the session (`help`
            lists them): it is in the journal, on disk, before it takes effect and is answered. Ctrl-C and kill leave a journal
            that the same command goes on with: at pace 1 up to now, at other paces from where it stood.

            With --feed glucose comes from a real sensor: from a file of its readings, which may grow while it is read, from a Nightscout site
            (ISLET_NIGHTSCOUT_TOKEN has its token) or from Dexcom Share (ISLET_SHARE_PASSWORD). Everything is a suggestion then: no
            insulin is given, and none of what is suggested counts as given. The study's arm says who suggests and who alerts.
            """)

    @Argument(help: "The study, a YAML file.", completion: .file(extensions: ["yaml", "yml", "json"]))
    var study: String

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Change one value of the study before it is read; may be repeated.", valueName: "path=value"))
    var set: [String] = []

    @Option(help: "The session's index, as in sessions.csv.")
    var session: Int

    @Option(help: ArgumentHelp("Session seconds per second: 1, 60, 600, or `max`.", valueName: "P"))
    var pace = "1"

    @Option(help: ArgumentHelp("The directory of its journal, session-K.journal.", valueName: "DIR"))
    var journal: String

    @Option(
        help: ArgumentHelp(
            "Glucose from outside in place of the study's sensor; doses are suggestions only.",
            valueName: "file:TRACE.csv|nightscout:URL|dexcom-share:URL"))
    var feed: String?

    @Option(
        help: ArgumentHelp(
            "Sensor and pump of a simulated person elsewhere on this machine (`islet-live pump`).",
            valueName: "loopback:PORT"))
    var pump: String?

    @Option(
        help: ArgumentHelp(
            "With --pump: the name by which the pump knows this app. A pump takes commands of one.",
            valueName: "NAME"))
    var owner: String?

    @Option(
        help: ArgumentHelp(
            "Seal the journal with this key, line by line, in session-K.journal.seal; `islet verify JOURNAL --key` checks it.",
            valueName: "KEYFILE"))
    var seal: String?

    /// How long an algorithm may take for a step, ns.
    private static let deadline = 5 * Nanoseconds.second

    func validate() throws {
        if let pump {
            if feed != nil {
                throw ValidationError(
                    "--feed and --pump exclude each other: both say where glucose comes from.")
            }
            guard PumpAddress(pump) != nil else {
                throw ValidationError("--pump takes loopback:PORT. No other pump can be commanded.")
            }
            guard case .scaled(let speed) = LivePace(pace), speed <= 60 else {
                throw ValidationError("--pump takes a pace up to 60.")
            }
        }
        guard let known = LivePace(pace), known != .step else {
            throw ValidationError("--pace takes a number from 0.01 to 100000, or max.")
        }
        if let feed {
            switch try FeedSource(feed) {
            case .file:
                if pace == "max" { throw ValidationError("--feed takes a --pace that is a number.") }
            case .server:
                if LivePace(pace) != .real {
                    throw ValidationError("--feed from a server takes --pace 1: it goes by the clock.")
                }
            }
        }
        if let owner, !LiveSession.isKey(owner) || owner.isEmpty || pump == nil {
            throw ValidationError(
                "--owner takes up to 64 letters, digits, points, hyphens and underscores, with --pump.")
        }
        if session < 0 { throw ValidationError("--session takes an index from 0.") }
    }

    func run() throws {
        let read = try Study.read(path: self.study, overrides: try set.map { try SetOverride($0) })
        if self.feed != nil || pump != nil { try LiveOpening.check(read.subject.kind, file: self.study) }
        let source = try feed.map { try FeedSource($0) }
        let key = try seal.map { try SealKey(file: $0) }
        var (feed, server): (Feed?, (any GlucoseServer)?) = (nil, nil)
        let isFed = source != nil
        let path = "\(journal)/session-\(session).journal"
        let known = isFed ? try start(ofJournal: path) : nil
        if case .file(let path)? = source {
            feed = try Feed(path, zone: read.start.offsetMinutes, goingOnFrom: known)
        }
        if case .server(let named, _)? = source { server = named }
        let grows = feed?.isLive(utcNanoseconds: SystemClocks().utcNanoseconds()) ?? false
        // Whoever is watched is watched now: the past is caught up with, and time is the wall clock's.
        let isNow = LivePace(pace) == .real && grows
        let start = try feed?.start ?? (server == nil ? nil : known ?? startNow(read))
        let study = start.map { read.fed(from: $0) } ?? read
        if let feed, isNow, known == nil { try check(study, lastsBeyondNow: feed) }
        if mkdir(journal, 0o700) != 0, errno != EEXIST {
            throw OutputError(path: journal, doing: "create the directory", errno: errno)
        }
        let host = LiveHost()
        let id = "session-\(session)"
        var before: LiveSnapshot?
        try host.add(id, pace: LivePace(pace) ?? .real) { listener in
            let isNew = access(path, F_OK) != 0 || JournalContent.isUnbegun(path)
            let live = try isNew ? begin(study, path, key, listener) : goOn(study, path, key, listener)
            if !isNew {
                before = live.snapshot
                live.leaveFront()
            }
            if isNow || server != nil { live.keepToWallClock() }
            if let feed, isNow { live.catchUp(on: feed, utcNanoseconds: SystemClocks().utcNanoseconds()) }
            return live
        }
        if let feed { tell(feed, isNow) }
        if case .server(let server, let hasSecret)? = source { tell(server, hasSecret) }
        let drivers = drivers(of: host, id, goesOn: before != nil)
        defer { drivers?.stop() }
        let terminal = Terminal(
            host: host, id: id, calendar: study.start.calendar,
            feed: feed.map { Feeder(feed: $0, slack: isNow ? LiveInput.futureStamp : 0) }
                ?? server.map { ServerFeeder($0, start: study.start) },
            goesOnUnheard: pump != nil || feed != nil || server != nil)
        try terminal.live(goingOnFrom: before)
        host.remove(id)
    }

    private func begin(
        _ study: Study, _ path: String, _ key: SealKey?, _ listener: @escaping (LiveEvent) -> Void
    ) throws -> LiveSession {
        var opening = try LiveOpening(
            study: study, session: session, studyPath: self.study, isFed: feed != nil)
        opening.isLinked = pump != nil
        if pump != nil { opening.owner = owner ?? "\(study.name)-\(session)" }
        let live = try LiveSession(
            opening, journal: try JournalFile.create(path, opening: opening.json),
            deadline: Self.deadline, listener: listener)
        if let key { try live.seal(with: key) }
        return live
    }

    private func goOn(
        _ study: Study, _ path: String, _ key: SealKey?, _ listener: @escaping (LiveEvent) -> Void
    ) throws -> LiveSession {
        let standing = try key.map { try JournalSealFile.check(path, key: $0) }
        if let note = standing?.note {
            StandardStream.output.writeLineIgnoringFailure(printable("\(path): \(note)", limit: 4096))
        }
        let live = try LiveReplay.resume(
            path, studyPath: self.study, deadline: Self.deadline, listener: listener)
        guard live.opening.study == study, live.opening.session == session,
            live.opening.isFed == (feed != nil), live.opening.isLinked == (pump != nil)
        else {
            throw InputError(
                file: path, line: 1, found: "a session of another study, or another version of it",
                expected: "the study that this journal began with, or another directory")
        }
        if live.opening.isLinked, let known = live.anchor?.pace, known != LivePace(pace) {
            throw InputError(
                file: path, line: 1, found: "--pace \(pace)",
                expected: "--pace \(known): sensor and pump outside have gone on at that one")
        }
        if let key { try live.seal(with: key, after: standing) }
        return live
    }

    private func drivers(of host: LiveHost, _ id: String, goesOn: Bool) -> LinkedDrivers? {
        guard let address = pump.flatMap({ PumpAddress($0) }), case .scaled(let speed) = LivePace(pace) else {
            return nil
        }
        let seconds = min(20, 20 / speed)
        return LinkedDrivers(
            host: host, id: id, pump: LoopbackPumpDriver(address, timeoutSeconds: seconds),
            glucose: LoopbackGlucoseFeed(address), speed: speed, timeout: .seconds(seconds), goesOn: goesOn)
    }

    /// Whoever is to be watched would not be, from the first minute on.
    private func check(_ study: Study, lastsBeyondNow feed: Feed) throws {
        let elapsed = SystemClocks().utcNanoseconds() / Nanoseconds.second - feed.start.unixSeconds
        guard study.duration.seconds <= elapsed else { return }
        throw InputError(
            file: self.study,
            found:
                "a duration of \(study.duration), over before now: \(feed.file.path) begins at \(feed.start.text)",
            expected:
                "one that reaches beyond now, as with --set duration=\(elapsed / 86_400 + 30)d, or a file that begins later"
        )
    }

    /// Whichever engine lived it: this one goes on. nil where nothing has begun.
    private func start(ofJournal path: String) throws -> StudyStart? {
        guard access(path, F_OK) == 0, !JournalContent.isUnbegun(path) else { return nil }
        return try LiveOpening(try JournalContent.read(path), studyPath: study, engine: nil).study.start
    }

    private func startNow(_ study: Study) throws -> StudyStart {
        let now = SystemClocks().utcNanoseconds() / Nanoseconds.second
        guard let start = Feed.start(unixSeconds: now, offsetMinutes: study.start.offsetMinutes) else {
            throw InputError(
                file: "the clock", found: "\(now) s since 1970", expected: "a time between 1970 and 2200")
        }
        return start
    }

    /// What can't be printed keeps nobody from being watched.
    private func tell(_ server: any GlucoseServer, _ hasSecret: Bool) {
        var lines = ["glucose from \(server.endpoint), asked every minute"] + Self.suggestions
        if hasSecret, server.isReadableOnTheWay {
            lines.append("the secret goes over http, where others on the way can read it: use https")
        }
        for line in lines { StandardStream.output.writeLineIgnoringFailure(printable(line, limit: 4096)) }
    }

    private static let suggestions = [
        "SUGGESTIONS ONLY: no insulin is given, and no suggestion counts as given. Only the programmed basal of the study's person is",
        "taken to run; insulin that is injected or pumped elsewhere is not known here.",
    ]

    private func tell(_ feed: Feed, _ isLive: Bool) {
        let count = feed.file.readings.count
        var lines =
            [
                "glucose from \(feed.file.path): \(count) reading\(count == 1 ? "" : "s") from \(feed.start.text) on"
                    + (isLive ? ", and what is appended" : ", as recorded")
            ] + Self.suggestions
        lines += feed.file.dropped.map { "left out: \($0)" }
        for line in lines { StandardStream.output.writeLineIgnoringFailure(printable(line, limit: 4096)) }
    }
}
