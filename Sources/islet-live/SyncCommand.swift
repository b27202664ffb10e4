// `islet sync DIR --to URL`: the step logs of a study's sessions, posted to a remote endpoint.

import IsletFiles
import IsletKernel
import ArgumentParser
import IsletCommands
import DeviceLinks
import Foundation
import IsletResults
import IsletDevices
import IsletTrials

/// `islet sync`
struct SyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Post the step logs of a study's sessions to a remote endpoint.",
        discussion: """
            Steps go as `islet export --format jsonl` writes them, in order, in batches: POST with
            {"batch": KEY, "steps": [{...}, ...]} and the header Idempotency-Key: KEY. Any 2xx acknowledges the batch.
            An endpoint that keeps each step_id once has each step exactly once, whatever fails on the way.

            No answer, 408, 429 and 5xx are tried again, with growing waits or when Retry-After says; other answers,
            redirects among them, end the command (exit code 65). When patience is over the exit code is 75. What was
            acknowledged is remembered in a file in DIR: the same command goes on there, also after a kill.

            The token, if any, comes from --token-file or from the variable ISLET_SYNC_TOKEN, goes out as
            Authorization: Bearer, and is shown nowhere.

            Examples:
              islet sync results/quickstart --to https://steps.example.org/v1/steps --token-file token.txt
              islet sync results/quickstart --to http://localhost:8080/steps --session 12 --batch 100
            """)

    @OptionGroup var selection: StepSelection

    @Option(help: ArgumentHelp("The endpoint, http or https.", valueName: "URL"))
    var to: String

    @Option(help: ArgumentHelp("Steps that are sent at once.", valueName: "N"))
    var batch: Int = 500

    @Option(help: ArgumentHelp("How often a batch is sent before giving up.", valueName: "N"))
    var attempts: Int = 8

    @Option(help: ArgumentHelp("Seconds that one exchange may take.", valueName: "S"))
    var timeout: Int = 30

    @Option(help: ArgumentHelp("A file with the token.", valueName: "F"))
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            "Where to remember what was acknowledged (default: a file in DIR, one an endpoint).",
            valueName: "FILE"))
    var cursor: String?

    @Flag(help: "No progress.")
    var quiet = false

    func validate() throws {
        guard HTTPTransport(url: to) != nil || HTTPTransport.isImpossible(to) else {
            throw ValidationError("--to takes an http or https URL without user and password.")
        }
        for (name, value, range) in [
            ("--batch", batch, 1...10_000), ("--attempts", attempts, 1...1000),
            ("--timeout", timeout, 1...3600),
        ] where !range.contains(value) {
            throw ValidationError("\(name) takes a number from \(range.lowerBound) to \(range.upperBound).")
        }
    }

    func run() throws { try AsyncWork.run { try await post() } }

    private func post() async throws {
        guard !HTTPTransport.isImpossible(to) else {
            throw InputError(
                file: "--to", found: "\(printable(withoutSecrets(to), limit: 200))",
                expected: "a URL with a host and, if any, a port from 1 to 65535")
        }
        if let lack = HTTPTransport.lack {
            throw InputError(.missing, file: "--to", found: "no way to a server", expected: lack)
        }
        let interrupt = Interrupt()
        let token = try StepToken.read(file: tokenFile)
        let sessions = try selection.open(interrupt)
        try selection.tellIfIncomplete()
        let entries = try sessions.entries(session: selection.session, arm: nil)
        guard let transport = HTTPTransport(url: to, token: token, timeoutSeconds: Double(timeout))
        else {
            throw ValidationError("--to takes an http or https URL without user and password.")
        }
        if token != nil, transport.isReadableOnTheWay {
            StandardStream.error.writeLineIgnoringFailure(
                "warning: the token goes to \(transport.endpoint) unencrypted; https would hide it")
        }
        // The whole URL tells endpoints apart; what is shown of it may be less.
        let identity = SHA256.digest(of: Array(to.utf8)).description
        let path =
            cursor
            ?? ResultFolder(path: selection.directory).file(
                ResultFolder.syncCursor(String(identity.prefix(12))))
        let cursors = try SQLiteSyncCursors(
            path: path, endpoint: "\(transport.endpoint) (\(identity.prefix(12)))")
        let progress = SyncProgressLine(isQuiet: quiet)
        let client = SyncClient(
            feed: ResultFeed(sessions: sessions, entries: entries), cursors: cursors, transport: transport,
            clock: SystemSyncClock(), policy: RetryPolicy(attempts: attempts), batchSize: batch,
            random: SystemRandomNumberGenerator(), tell: { progress.tell($0) })
        let sent: SyncProgress
        do {
            sent = try await interruptible(client, interrupt)
        } catch {
            progress.clear()
            switch error {
            case is CancellationError:
                throw OutputError(
                    .temporary, path: transport.endpoint, message: "interrupted; the same command goes on")
            case let problem as OutputError where problem.kind == .temporary:
                throw OutputError(
                    .temporary, path: problem.path, message: problem.message + "; the same command goes on")
            default: throw error
            }
        }
        progress.clear()
        try StandardStream.output.writeLine(
            "\(transport.endpoint) has \(sent.sessions) sessions; \(sent.steps) steps sent now, "
                + "\(sent.retries) requests repeated")
    }

    /// Runs the client until it is done or a signal cancels it.
    private func interruptible(
        _ client: sending SyncClient<SystemRandomNumberGenerator>, _ interrupt: Interrupt
    ) async throws -> SyncProgress {
        var client = client
        let work = Task { try await client.run() }
        let watch = Task {
            while !interrupt.isRaised { try await Task.sleep(for: .milliseconds(50)) }
            work.cancel()
        }
        defer { watch.cancel() }
        return try await work.value
    }
}

/// The sessions of a results folder, as a sync client takes them.
private final class ResultFeed: StepFeed {
    let results: ResultSessions
    let entries: [Int: ResultSessions.Entry]
    let sessions: [SyncSession]
    private var texts: SessionTexts?

    init(sessions results: ResultSessions, entries: [ResultSessions.Entry]) {
        self.results = results
        self.entries = Dictionary(entries.map { ($0.session, $0) }, uniquingKeysWith: { first, _ in first })
        sessions = entries.map { SyncSession(session: $0.session, key: results.key(of: $0)) }
    }

    func expect(_ sessions: [SyncSession]) throws {
        texts = try results.texts(
            of: sessions.compactMap { entries[$0.session] }, table: .steps, format: .jsonl)
    }

    func steps(of session: SyncSession) throws -> any StepSequence {
        guard let (entry, text, _) = try texts?.next(), entry.session == session.session else {
            throw InputError(
                file: "session \(session.session)", found: "it asked for out of turn",
                expected: "the next one")
        }
        return StepLines(text)
    }
}

/// The lines of a session's text, each with its step's id.
private final class StepLines: StepSequence {
    private let text: SpooledText

    init(_ text: SpooledText) { self.text = text }

    var count: Int { text.lines }

    func next() throws -> SyncStep? {
        guard let line = try text.nextLine() else { return nil }
        // The id is the first field, and needs no escapes.
        let parts = line.split(separator: "\"", maxSplits: 4, omittingEmptySubsequences: false)
        return SyncStep(id: parts.count > 3 ? String(parts[3]) : "", json: line)
    }
}

/// The token of an endpoint.
enum StepToken {
    static let variable = "ISLET_SYNC_TOKEN"

    /// nil where there is none. No message holds any of it.
    static func read(file: String?) throws -> String? {
        let (text, place): (String, String)
        if let file {
            (text, place) = (try readTextInput(file, limitBytes: 1 << 16), file)
        } else {
            guard let value = ProcessInfo.processInfo.environment[variable], !value.isEmpty else {
                return nil
            }
            (text, place) = (value, variable)
        }
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw InputError(
                file: place,
                found: token.isEmpty ? "no token" : "a token of more than visible ASCII characters",
                expected: "one line with the token")
        }
        return token
    }
}
