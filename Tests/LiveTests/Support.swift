// What tests of live sessions share: a small study, folders, and a session with its events.

import IsletAlerts
import IsletFiles
import Foundation
import IsletDevices
import IsletKernel
import Testing
import IsletTrials

@testable import IsletLive

/// Two people, two arms, a day.
func smallStudy(_ lines: String = "", duration: String = "1d") throws -> Study {
    try Study.parse(
        """
        study: live
        seed: 7
        start: 2026-03-02T06:00:00-05:00
        duration: \(duration)
        cohort: { generate: { model: uva-padova-2008, group: adult, count: 2 } }
        sensor: vettoretti-2019
        pump: omnipod
        scenario: { meals: moderate }
        arms:
          - { name: open-loop, algorithm: basal-bolus, alerts: bionicloop }
          - { name: closed-loop, algorithm: pid-insulin-feedback, alerts: bionicloop }
        \(lines)
        """, file: "live.yaml")
}

func opening(_ session: Int = 1, _ study: Study? = nil) throws -> LiveOpening {
    try LiveOpening(study: try study ?? smallStudy(), session: session, studyPath: "live.yaml")
}

/// A folder of one test's own, gone when `body` returns.
func withFolder<R>(_ body: (String) throws -> R) throws -> R {
    let folder = FileManager.default.temporaryDirectory.appending(path: "islet-live-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder.path())
}

extension LiveEvent {
    /// As a terminal prints it, but for times of day.
    var text: String {
        EventText(SessionCalendar(startEpochSeconds: 0, offsetSeconds: 0)).text(self)
    }
}

/// Events as a listener heard them.
final class Heard: @unchecked Sendable {
    private let lock = NSLock()
    private var all: [LiveEvent] = []
    var events: [LiveEvent] { lock.withLock { all } }
    func take(_ event: LiveEvent) { lock.withLock { all.append(event) } }
    /// When steps ran. Their numbers begin anew where the loop's session does.
    var stepInstants: [Instant] { events.filter { $0.text.hasPrefix("step ") }.map(\.instant) }
    /// Steps by their numbers, as they were told.
    var steps: [String] {
        events.map(\.text).filter { $0.hasPrefix("step ") }
            .map { String($0.split(separator: " ")[1].prefix { $0.isNumber }) }
    }
}

func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }
func write(_ bytes: [UInt8], to path: String) throws { try Data(bytes).write(to: URL(filePath: path)) }

/// Inputs of all kinds, drawn; some of them make no sense.
func randomInput(_ random: inout RandomStream, number: Int) -> LiveInput {
    func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }
    switch Int.random(in: 0..<35, using: &random) {
    case 0, 1:
        return .meal(
            grams: pick([5, 20, 45, 80, 400]), isEaten: Bool.random(using: &random),
            isAnnounced: Bool.random(using: &random))
    case 2: return .bloodGlucose(mgdl: pick([20, 110, 300, 2000]))
    case 3: return .calibration(mgdl: pick([90, 180, .nan]))
    case 4, 5: return .requestBolus(units: pick([0.5, 1, 2, 90, -1]))
    case 6, 7, 8:
        return .confirmBolus(
            request: max(1, number - 1), units: pick([0.5, 1, 2]),
            anyway: number.isMultiple(of: 2) ? true : nil)
    case 9: return .cancelOwed
    case 10: return .cancelBolus
    case 11: return .target(mgdl: pick([100, 140, 10]))
    case 12: return .temporaryBasal(multiplier: pick([0, 0.5, 1.5, 50]), minutes: pick([5, 30, 7]))
    case 13: return .cancelTemporaryBasal
    case 14: return .suspend(minutes: pick([nil, 30]))
    case 15, 16: return .resume
    case 17: return pick([.changePod, .changeSensor])
    case 18: return pick([.openLoop, .closedLoop, .closedLoop])
    case 19: return pick([.endSession, .startSession, .startSession])
    case 20: return .subject(id: "someone", kilograms: pick([60, 80, 0]))
    case 21: return .acknowledge(alert: pick(["ALERT-CGM-URGENT-LOW", "ALERT-NONSENSE"]))
    case 22: return .snooze(alert: "ALERT-CGM-URGENT-LOW", minutes: pick([10, 0]))
    case 23: return .quietHours(fromMinute: pick([0, 1320, nil]), toMinute: pick([420, nil]))
    case 24:
        return .threshold(
            metric: pick(["glucose", "glucose", "vpd"]), low: pick([70, 80, nil]),
            high: pick([180, 250, nil]))
    case 25: return pick([.foreground, .background])
    case 26:
        return .threshold(
            metric: "glucose", low: pick([70, 90, nil]), high: pick([120, 180, nil]),
            sensitivityMinutes: pick([nil, 0, 15, 60, 2000]), isEnabled: pick([nil, true, false]))
    case 27, 28: return .switchThreshold(metric: "glucose", isEnabled: Bool.random(using: &random))
    case 29: return pick([.signIn, .signOut, .signOut])
    case 30: return .subjectClaim(isOk: Bool.random(using: &random))
    case 31: return pick([.openSettings, .saveSettings, .dismissDropped])
    case 32, 33:
        let alert = pick(["ALERT-CGM-URGENT-LOW", "THRESHOLD-GLUCOSE-HIGH", "ALERT-LOOP-COMMAND-BLOCKED"])
        return pick([.preview(alert: alert), .dismiss(alert: alert), .tap(alert: alert)])
    default:
        return pick([.testAlert(alert: "ALERT-CGM-URGENT-LOW"), .clockStep(seconds: pick([3600, -7200]))])
    }
}

/// `islet-live`, as it was built beside these tests.
func liveProgram() throws -> URL {
    let besides = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    return try #require(
        [besides, Bundle.main.bundleURL, Bundle.main.bundleURL.deletingLastPathComponent()]
            .map { $0.appending(path: "islet-live") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path()) })
}

/// A session with these inputs, at instants in ns; its journal.
func journal(
    _ inputs: [(at: Instant, input: LiveInput)], arm: Int = 1, until end: Instant = .minutes(1000),
    in folder: String, study: Study? = nil
) throws -> JournalContent {
    let (path, opening) = (folder + "/\(UUID().uuidString).journal", try opening(arm, study))
    let session = try LiveSession(opening, journal: try JournalFile.create(path, opening: opening.json))
    session.note(LiveAnchor(instant: .start, pace: .scaled(60), utcNanoseconds: 1))
    for (at, input) in inputs { _ = session.take(LiveCommand(input, key: "k\(at.nanoseconds)"), at: at) }
    session.advance(to: end)
    return try JournalContent.read(path)
}

/// One session, and what it is told.
final class Told {
    let session: LiveSession
    let heard = Heard()

    init(_ arm: Int = 0, _ study: Study? = nil) throws {
        session = try LiveSession(try opening(arm, study), journal: nil, listener: heard.take)
    }

    @discardableResult
    func say(_ minute: Int64, _ input: LiveInput) -> LiveOutcome {
        session.take(LiveCommand(input), at: .minutes(minute)).outcome
    }

    func active(_ minute: Int64? = nil) -> [String] {
        if let minute { session.advance(to: .minutes(minute)) }
        return session.snapshot.alerts.map(\.code.rawValue)
    }

    var glucose: MetricThreshold? { session.snapshot.thresholds.first { $0.metric == .glucose } }

    func rings(_ code: String) -> [Int64] {
        heard.events.filter { $0.text.contains("notify \(code)") }.map { Int64($0.instant.minutes) }
    }
}

func isRefused(_ outcome: LiveOutcome, _ words: String) -> Bool {
    outcome.refusal?.reason.text.contains(words) ?? false
}

/// Rewrites a journal, and what is kept beside it, as a program of another engine would have left them.
func rewrite(_ path: String, asOfEngine engine: Int) throws {
    let content = try JournalContent.read(path)
    var kept = try KeptState.read(beside: path)
    let before = try JournalContent.parse(Array(try bytes(path).prefix(kept.bytes)), path: path).lines.count
    guard case .open(let opening) = content.lines[0] else { throw CocoaError(.fileReadCorruptFile) }
    try FileManager.default.removeItem(atPath: path)
    let file = try JournalFile.create(
        path, opening: opening.replacing("\"engine\":\(BuildFacts.engine),", with: "\"engine\":\(engine),"))
    for (number, line) in content.lines.enumerated() {
        if number > 0 { try file.append(line, sync: false) }
        if number == before - 1 { (kept.bytes, kept.check) = (file.length, file.check) }
    }
    kept.engine = engine
    try kept.write(beside: path)
}

/// Under which keys a journal has readings that were handed in, in their order.
func readingKeys(_ content: JournalContent) -> [String] {
    content.lines.compactMap { line in
        guard case .input(_, let stamped, let key) = line,
            LiveInput(bytes: stamped.input.bytes)?.readingStamp != nil
        else { return nil }
        return key
    }
}
