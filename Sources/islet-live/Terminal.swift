// One live session at a terminal.
//
// Guarantees: what is typed is answered after it has taken effect; an interruption leaves the journal that the same command goes on with. A session with
// somebody's pump or glucose goes on where nothing can be printed, and tells it when it can; another ends, as programs do.

import IsletAlerts
import IsletLoop
import Dashboard
import IsletDevices
import IsletFiles
import Glibc
import IsletLive
import IsletKernel
import Synchronization
import IsletTrials

/// A session at the terminal: events out, lines in.
final class Terminal: Sendable {
    private let host: LiveHost
    private let id: String
    private let calendar: SessionCalendar
    private let feed: (any SessionFeeder)?
    /// Whether it doses or watches somebody: then no full disk under a log ends it.
    private let goesOnUnheard: Bool
    private let isUnheard = Atomic(false)
    private let isOver = Atomic(false)
    private static let interrupted = Atomic(false)

    init(
        host: LiveHost, id: String, calendar: SessionCalendar, feed: (any SessionFeeder)?, goesOnUnheard: Bool
    ) {
        self.goesOnUnheard = goesOnUnheard
        self.host = host
        self.feed = feed
        self.id = id
        self.calendar = calendar
    }

    /// - Parameter before: where a session that goes on stood before it caught up with the clock; nil for a new one.
    func live(goingOnFrom before: LiveSnapshot?) throws {
        // Whoever started this may have had them blocked.
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM] {
            sigaddset(&signals, number)
            signal(number) { number in
                if Terminal.interrupted.exchange(true, ordering: .relaxed) { _exit(128 + number) }
            }
        }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        var told = 0
        if let before {
            // What was told before is not told again; what rang since, while nobody watched, is.
            told = before.eventCount
            if case .ended(let reason) = before.phase {
                let early = reason.isEmpty ? "" : " early: \(reason)"
                return try StandardStream.output.writeLine(
                    printable("\(before.localTime)  has ended\(early); `islet replay` tells it", limit: 4096))
            }
            _ = try print("\(before.localTime)  goes on: \(told) events before, `islet replay` tells them")
        }
        let crew = HostCrew(host, threads: 1) { [self] froze, _ in
            say(
                froze.isEmpty
                    ? "the session goes on"
                    : "\u{7}FROZEN: the session does not go on, nothing that is shown is sure, what is typed is refused"
            )
        }
        try crew.start()
        let reader = try SystemThread { [self] in listen() }
        let feeder = try feed.map { feed in
            try SystemThread { [self] in
                feed.run(host, id, until: { isOver.load(ordering: .relaxed) }, say: { self.say($0) })
            }
        }
        defer {
            isOver.store(true, ordering: .relaxed)
            crew.stop()
            reader.join()
            feeder?.join()
        }
        while !isOver.load(ordering: .relaxed), !Self.interrupted.load(ordering: .relaxed) {
            let heard = host.newsCount
            told = try tell(after: told)
            guard let status = host.status(of: id) else { return }
            switch status.snapshot.phase {
            case .running, .returning: host.waitForNews(after: heard, atMost: Nanoseconds.second / 5)
            case .ended:
                _ = try tell(after: told)
                return
            case .failed(let reason):
                _ = try tell(after: told)
                throw OutputError(.temporary, path: id, message: "stopped: \(reason)")
            }
        }
        told = try tell(after: told)
        if let status = host.status(of: id) {
            _ = try print("\(status.snapshot.localTime)  stopped; the same command goes on from here")
        }
    }

    /// - Returns: false where it could not be printed, and that ends nothing.
    private func print(_ line: String) throws -> Bool {
        do {
            try StandardStream.output.writeLine(line)
            isUnheard.store(false, ordering: .relaxed)
            return true
        } catch {
            guard goesOnUnheard else { throw error }
            if !isUnheard.exchange(true, ordering: .relaxed) {
                StandardStream.error.writeLineIgnoringFailure(
                    "warning: \(error): the session goes on, and tells it when it can")
            }
            return false
        }
    }

    private func tell(after number: Int) throws -> Int {
        guard let news = host.events(of: id, after: number) else { return number }
        if news.missing > 0, try !print("... \(news.missing) events ...") { return number }
        let words = EventText(calendar)
        var told = number
        for event in news.events {
            let line = "\(SessionStory.time(event.instant, calendar))  \(words.text(event))"
            guard try print(printable(line, limit: 4096)) else { return told }
            told = event.number
        }
        return told
    }

    // MARK: Keyboard

    private func listen() {
        var pending: [UInt8] = []
        var lastBolus: (number: Int, units: Double)?
        var chunk = [UInt8](repeating: 0, count: 4096)
        while !isOver.load(ordering: .relaxed) {
            var ready = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, 200) > 0 else { continue }
            let got = read(STDIN_FILENO, &chunk, chunk.count)
            // Without a keyboard the session goes on, and its last line needs no end.
            guard got > 0 else {
                if !pending.isEmpty { take(String(decoding: pending, as: UTF8.self), &lastBolus) }
                return
            }
            pending += chunk[..<got]
            while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeSubrange(...end)
                take(line, &lastBolus)
            }
        }
    }

    private func say(_ text: String) {
        StandardStream.output.writeLineIgnoringFailure(printable("> " + text, limit: 4096))
    }

    private func take(_ line: String, _ lastBolus: inout (number: Int, units: Double)?) {
        switch LiveWords.parse(line) {
        case .failure(let unknown): say(unknown.message)
        case .success((let wish, let key)):
            switch wish {
            case .input(let input):
                let answer = answer(input, key)
                if let units = input.requestedUnits, let number = answer.number, answer.outcome == .taken {
                    // Said again it waits no longer than the first time, and in its place; what it said first counts.
                    if number > lastBolus?.number ?? 0 { lastBolus = (number, units) }
                    guard !answer.isRepeated else { return }
                    say("\(units) U wait for `confirm`, for 5 min of session time")
                    let asked = host.status(of: id)?.snapshot.requestedBolus
                    if let doubt = asked?.doubt { say("\(doubt); to give it all the same: `confirm anyway`") }
                }
            case .confirm(let anyway):
                guard let asked = lastBolus else { return say("no bolus waits") }
                _ = answer(
                    .confirmBolus(request: asked.number, units: asked.units, anyway: anyway ? true : nil), key
                )
            case .pace(let pace):
                if let refusal = host.setPace(pace, of: id).outcome.refusal {
                    say("refused: \(refusal.reason)")
                }
            case .status: tellStatus()
            case .help: for line in LiveWords.help().split(separator: "\n") { say(String(line)) }
            case .quit:
                isOver.store(true, ordering: .relaxed)
                host.wake()
            }
        }
    }

    private func answer(_ input: LiveInput, _ key: String) -> LiveAnswer {
        let answer = host.take(LiveCommand(input, key: key), for: id)
        say((key.isEmpty ? "" : "@\(key) ") + EventText.text(answer))
        return answer
    }

    private func tellStatus() {
        guard let status = host.status(of: id) else { return }
        let shown = status.snapshot
        if let room = shown.room {
            let values = room.metrics.map { metric in
                guard let newest = metric.newest else { return "\(metric.metric.name) -" }
                return "\(metric.metric.name) \((newest.value * 100).rounded() / 100) \(metric.metric.unit)"
                    + (metric.isStale ? " STALE" : "")
            }
            return say(
                "\(shown.localTime), pace \(status.pace), \(status.isFrozen ? "FROZEN, " : "")\(shown.subject)"
                    + (room.stage.isEmpty ? "" : ", \(room.stage)")
                    + ", \(values.joined(separator: ", ")), \(shown.alerts.count) alerts"
                    + (shown.isQuiet ? ", quiet hours" : "") + Self.health(of: status))
        }
        let reading =
            shown.loop?.glucose.map { "\($0.glucose.milligramsPerDecilitre.rounded()) mg/dL" } ?? "no reading"
        say(
            "\(shown.localTime), pace \(status.pace), \(status.isFrozen ? "FROZEN, " : "")\(shown.isDegraded ? "ALGORITHM GIVES NO ANSWER, " : "")"
                + "\(shown.isFed ? "suggestions only, " : "")\(reading), "
                + "loop \(shown.loop.map { "\($0.status)" } ?? "-"), pump \(shown.pump.map { $0.isConnected ? "\($0.condition)" : "OUT OF REACH" } ?? "-"), "
                + "\(shown.alerts.count) alerts" + Self.health(of: status))
        for lapse in shown.loop?.lapses ?? [] {
            say("not given, \(SessionStory.time(lapse.at, calendar)): \(lapse.words): \(lapse.cause.text)")
        }
        if let share = shown.loop?.basalShare, share < BasalAccount.bound {
            say(LoopInsulin.missing(share: share).text)
        }
    }

    private static func health(of status: LiveHost.Status) -> String {
        let health = SessionHealth(status.snapshot, isFrozen: status.isFrozen)
        return health.isWell
            ? "; well" : "; not well: " + health.concerns.map(\.words.text).joined(separator: "; ")
    }
}
