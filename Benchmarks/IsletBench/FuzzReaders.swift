// What `islet-bench fuzz` reads: every reader of the project that meets bytes from outside, or from a disk, with inputs that are whole.

import IsletFiles
import IsletAlerts
import IsletKernel
import Dashboard
import Foundation
import IsletLive
import IsletResults
import IsletDevices
import IsletTrials

struct FuzzReaders {
    static let names = [
        "yaml", "json", "recordings", "requests", "journal", "owner-store", "study-store", "cursors",
        "alert-memory",
    ]

    /// Where stores and wards may be.
    let folder: String

    func reader(_ name: String) throws -> Fuzz.Reader? {
        switch name {
        case "yaml": try yaml()
        case "json": try json()
        case "recordings": recordings()
        case "requests": try requests()
        case "journal": try journal()
        case "owner-store": try ownerStore()
        case "study-store": try studyStore()
        case "cursors": try cursors()
        default: nil
        }
    }

    static let study = """
        study: fuzzed
        seed: 3
        duration: 1h
        cohort: { generate: { model: uva-padova-2008, group: adult, count: 1 } }
        faults: { occlusion: { rate: 0.5 }, scheduled: [{ at: 20m, kind: occlusion, for: 10m }] }
        scenario: { meals: [{ at: 5m, carbs: 45 }] }
        record: full
        arms: [{ name: a, algorithm: pid-insulin-feedback, alerts: bionicloop }]
        """

    private static let policy = """
        policy: mine
        extends: dexcom-g7
        thresholds: [{ metric: glucose, min: 70, max: 250, critical: { below: 54 }, sensitivity: 15m }]
        rules: [{ code: X-1, severity: actionable, when: glucose < 60 and glucoseRate < -1, debounce: 5m, cooldown: 1h }]
        """

    private func files(_ path: String, below limit: Int) -> [[UInt8]] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.sorted().filter { $0.hasSuffix(".yaml") }.compactMap {
            try? readInput(path + "/" + $0, limitBytes: limit)
        }
    }

    // MARK: Text

    private func yaml() throws -> Fuzz.Reader {
        let scenarios = files("Tests/AlertScenarios", below: 20_000)
        let studies = files("Cohorts", below: 20_000)
        let seeds = [Array(Self.study.utf8), Array(Self.policy.utf8)] + scenarios + studies
        return Fuzz.Reader(name: "yaml", seeds: seeds) { bytes, number in
            let text = try text(of: bytes, file: "text:x")
            switch number % 3 {
            case 0: _ = try Study.parse(text, file: "text:x")
            case 1: _ = try AlertPolicy.parse(text, file: "text:x")
            default: _ = try AlertScenario.parse(text, file: "text:x")
            }
        }
    }

    private func json() throws -> Fuzz.Reader {
        let study = try Study.parse(Self.study, file: "study")
        let policy = try AlertPolicy.parse(Self.policy, file: "policy")
        var ledger = SettingsLedger(device: "phone")
        for subject in ["basil", "mint-2.b"] {
            try ledger.set(
                .threshold(AlertThreshold(subject: subject, metric: .humidity, min: 40, max: 70)), clock: 100)
        }
        let request = ledger.request()
        let answer = ledger.answer(request, clock: 100, epoch: "e")
        let inputs: [LiveInput] = [
            .meal(grams: 40, isEaten: true, isAnnounced: true), .quietHours(fromMinute: 1320, toMinute: nil),
            .threshold(metric: "glucose", low: 70, high: nil), .clockStep(seconds: -3),
        ]
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let change = try LiveFork.Change(policy: "story", algorithm: nil)
        func node(_ bytes: [UInt8]) throws -> YAMLNode {
            try JSONDocument.parse(try text(of: bytes, file: "x"), file: "x")
        }
        var kinds: [(seed: [UInt8], read: ([UInt8]) throws -> Void)] = [
            (Array(study.json.prettyText.utf8), { _ = try Study.decode(try node($0), hasRun: true) }),
            (Array(study.json.compactText.utf8), { _ = try JSONValue.read($0, file: "x") }),
            (Array(policy.json.compactText.utf8), { _ = try AlertPolicy.decode(try node($0)) }),
            (
                Array(change.json.utf8),
                { _ = try LiveFork.Change(json: try text(of: $0, file: "x"), file: "x") }
            ),
            (
                Array(try encoder.encode(request)),
                { [ledger] in
                    let asked = try? JSONDecoder().decode(SettingsRequest.self, from: Data($0))
                    guard let asked else { throw Fuzz.Refused() }
                    var hub = ledger
                    _ = hub.answer(asked, clock: 100, epoch: "e")
                }
            ),
            (
                Array(try encoder.encode(answer)),
                {
                    let said = try? JSONDecoder().decode(SettingsAnswer.self, from: Data($0))
                    guard let said else { throw Fuzz.Refused() }
                    var device = SettingsLedger(device: "tablet")
                    let asked = device.request()
                    device.take(said, to: asked)
                }
            ),
        ]
        kinds += inputs.map { input in
            (input.bytes, { guard LiveInput(bytes: $0) != nil else { throw Fuzz.Refused() } })
        }
        return Fuzz.Reader(name: "json", seeds: kinds.map(\.seed), byTurns: true) { bytes, number in
            try kinds[number % kinds.count].read(bytes)
        }
    }

    private func recordings() -> Fuzz.Reader {
        let rows = 0..<60
        func lines(_ header: String, _ row: (Int) -> String) -> [UInt8] {
            Array((header + "\n" + rows.map(row).joined(separator: "\n") + "\n").utf8)
        }
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let seeds = [
            lines("time,glucose_mgdl") {
                "2026-11-01T\(two($0 / 12)):\(two($0 % 12 * 5)):00-04:00,\(60 + $0)"
            },
            lines(
                "Index,Timestamp (YYYY-MM-DDThh:mm:ss),Event Type,Source Device ID,Glucose Value (mg/dL),Transmitter ID"
            ) {
                "\($0),2026-11-01T\(two($0 / 12)):\(two($0 % 12 * 5)):00,EGV,phone,\(60 + $0),8AM"
            },
            lines("Zulu Time,Tidepool Data Type,Value,Units,Timezone Offset,Device Id,Payload") {
                "2026-11-01 \(two($0 / 12)):\(two($0 % 12 * 5)):00,cbg,\(60 + $0),mg/dL,-240,d,\"{\"\"a\"\": 1}\""
            },
            Array(
                ("["
                    + rows.map {
                        #"{"type":"sgv","sgv":\#(60 + $0),"date":\#(1_793_505_600_000 + $0 * 300_000),"utcOffset":-240}"#
                    }.joined(separator: ",\n") + "]").utf8),
        ]
        return Fuzz.Reader(name: "recordings", seeds: seeds) { bytes, number in
            switch number % 3 {
            case 0: _ = try MetricsCSV.parse(bytes: bytes, file: "x.csv")
            case 1:
                try AtomicFile.write(bytes, to: folder + "/feed.csv")
                _ = try FeedFile(folder + "/feed.csv")
            default: _ = try RecordedTrace.parse(bytes, file: "x.csv")
            }
        }
    }

    // MARK: Requests

    /// What a server answers to a body, behind its door; 500 says that something went wrong inside.
    private func requests() throws -> Fuzz.Reader {
        var options = Ward.Options(folder: folder + "/ward")
        options.sessionLimit = 1
        let ward = try Ward(options)
        var wish = SessionRequest(.text(Self.study))
        wish.pace = .paused
        let id = try ward.create(wish)
        let token = "not-a-secret-of-anybody"
        let open = Dashboard(ward: ward, news: WardNews(ward.host), door: WebDoor(token: nil, names: []))
        let closed = Dashboard(ward: ward, news: WardNews(ward.host), door: WebDoor(token: token, names: []))
        let form = "application/x-www-form-urlencoded"
        let share = "/ShareWebServices/Services/General/LoginPublisherAccountByName"
        let asks: [(dashboard: Dashboard, path: String, type: String, body: String)] = [
            (closed, "/login", form, "token=\(token)&next=%2Fsessions%2F\(id)"),
            (
                closed, share, "application/json",
                #"{"accountName":"\#(id)","password":"x","applicationId":"y"}"#
            ),
            (
                open, "/api/sessions", "application/json",
                #"{"name":"a","study_text":"study: x","session":0,"pace":"1"}"#
            ),
            (
                open, "/api/sessions/\(id)/commands", "application/json",
                #"{"command":"meal","grams":40,"key":"b"}"#
            ),
            (
                open, "/api/sessions/\(id)/commands", "application/json",
                #"{"command":"threshold","metric":"glucose","low":70,"high":null,"sensitivity_minutes":15}"#
            ),
            (open, "/api/sessions/\(id)/forks", "application/json", #"{"t":0,"algorithm":"basal-bolus"}"#),
            (
                open, "/api/sessions/\(id)/preview", "application/json",
                #"{"metric":"glucose","low":70,"high":null}"#
            ),
        ]
        return Fuzz.Reader(name: "requests", seeds: asks.map { Array($0.body.utf8) }, byTurns: true) {
            bytes, number in
            let ask = asks[number % asks.count]
            let answer = ask.dashboard.answer(
                WebRequest(
                    method: "POST", target: ask.path,
                    headers: ["host": "127.0.0.1:8080", "content-type": ask.type], body: bytes))
            if answer.status == 500 { throw Unexpected(what: "500 from \(ask.path)") }
            if answer.status >= 400 { throw Fuzz.Refused() }
        }
    }

    struct Unexpected: Error { var what: String }

    // MARK: Journals

    /// The lines of a session, broken, with checksums that fit; and the bytes of the whole.
    private func journal() throws -> Fuzz.Reader {
        let path = folder + "/live.journal"
        let study = try Study.parse(Self.study, file: "study")
        do {
            let opening = try LiveOpening(study: study, session: 0, studyPath: folder + "/study.yaml")
            let session = try LiveSession(
                opening, journal: try JournalFile.create(path, opening: opening.json))
            session.advance(to: Instant(nanoseconds: 20 * Nanoseconds.minute))
            for input in [LiveInput.meal(grams: 20, isEaten: true, isAnnounced: true), .target(mgdl: 120)] {
                _ = session.take(LiveCommand(input, key: "k"), at: session.now)
            }
            session.advance(to: session.duration)
            session.sync()
        }
        let whole = try readInput(path, limitBytes: 1 << 24)
        return Fuzz.Reader(name: "journal", seeds: [whole]) { bytes, number in
            let content = try JournalContent.parse(number % 4 == 0 ? bytes : Self.checked(bytes), path: path)
            let opening = try LiveOpening(content)
            // Lived again now and then: it is a hundred times the work.
            guard number % 50 == 1, opening.study.duration.nanoseconds <= Nanoseconds.day else { return }
            _ = try LiveReplay(content)
        }
    }

    /// Each line with the checksum that it would have been written with.
    private static func checked(_ bytes: [UInt8]) -> [UInt8] {
        var (last, whole): (String, [UInt8]) = ("", [])
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true) {
            let text = line.dropFirst(17)
            var hash = SHA256()
            hash.update(Array(last.utf8) + [0x20] + text)
            last = String(hash.finished().description.prefix(16))
            whole += Array(last.utf8) + [0x20] + text + [0x0A]
        }
        return whole
    }

    // MARK: Stores

    /// A store's file, whose pages are broken; `read` is given where it stands.
    private func store(
        _ name: String, make: (_ path: String) throws -> Void, read: @escaping (_ path: String) throws -> Void
    ) throws -> Fuzz.Reader {
        let path = folder + "/" + name
        try make(path)
        let whole = try readInput(path, limitBytes: 1 << 24)
        return Fuzz.Reader(name: name, seeds: [whole], isOfPages: true) { bytes, _ in
            for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
            guard FileManager.default.createFile(atPath: path, contents: Data(bytes)) else { return }
            try read(path)
        }
    }

    private func ownerStore() throws -> Fuzz.Reader {
        try store("owner-store") { path in
            let store = try SQLiteOwnerStore(path: path, owner: "ann", device: "phone")
            try store.update { ledger in
                for subject in ["basil", "mint", "ann"] {
                    try ledger.set(
                        .threshold(AlertThreshold(subject: subject, metric: .humidity, min: 40, max: 70)),
                        clock: 1)
                }
                try ledger.set(
                    .quietHours(QuietTimes(from: 1320, to: 420, timeZone: "Europe/Berlin")), clock: 2)
            }
            try store.set(.allowed)
            try store.record([
                ThresholdEpisode(
                    subject: "basil", metric: .humidity, side: .low, threshold: 40, onset: 39, worst: 15,
                    last: 41,
                    beganAt: 10, raisedAt: 20, notifiedAt: 20, endedAt: 90, ended: "recovered",
                    style: .critical)
            ])
        } read: { path in
            let store = try SQLiteOwnerStore(path: path)
            let asked = SettingsLedger(device: "tablet").request()
            let answer = try store.update { $0.answer(asked, clock: 100, epoch: "e") }
            try store.update { $0.take(answer, to: asked) }
            _ = OwnerSettings(try store.ledger())
            _ = (try store.permission(), try store.history(of: nil))
            _ = try store.update {
                try $0.set(.threshold(AlertThreshold(subject: "x", metric: .glucose, min: 70)), clock: 100)
            }
        }
    }

    private func studyStore() throws -> Fuzz.Reader {
        try store("study-store") { path in
            let study = try Study.parse(Self.study, file: "study")
            let store = try StudyStore(
                path: path, studyText: study.yaml, version: BuildFacts.version,
                calendar: study.start.calendar,
                outcomeKeys: study.outcomes.map(\.name), policyKeys: PolicyOutcome.storedNames,
                words: study.resultWords)
            let runner = TrialRunner(
                study: study, cohort: try study.makeCohort(studyPath: path, jobs: 1), jobs: 1,
                words: store.words)
            _ = try runner.run(
                into: store, isInterrupted: { false },
                progress: ProgressLine(sessions: 1, style: .standardError(quiet: true)))
            try store.close()
        } read: { path in
            let store = try StudyStore(readingAt: path)
            _ = (
                try store.finishedSessions(), try store.wallSeconds(), try store.checkpointText(ofSession: 0)
            )
            let study = try Study.parse(try store.studyText(), file: path, hasRun: true)
            _ = try StudySummary(of: study, store: store)
            _ = try ResultSessions(store, directory: folder, jobs: 1)
        }
    }

    private func cursors() throws -> Fuzz.Reader {
        try store("cursors") { path in
            let cursors = try SQLiteSyncCursors(path: path, endpoint: "http://x")
            for session in 0..<9 {
                try cursors.save(
                    SyncCursor(key: "k\(session)", acknowledged: session, isDone: false), ofSession: session)
            }
        } read: { path in
            let cursors = try SQLiteSyncCursors(path: path, endpoint: "http://x")
            for session in 0..<9 { _ = try cursors.cursor(ofSession: session) }
            try cursors.save(SyncCursor(key: "k", acknowledged: 3, isDone: true), ofSession: 3)
        }
    }
}
