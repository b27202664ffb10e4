// `islet-live serve`: a ward of sessions, its page and its API.

#if Serve
    import ArgumentParser
    import Dashboard
    import Dispatch
    import IsletFiles
    import Foundation
    import IsletLive
    import Logging
    import IsletDevices
    import Synchronization

    /// `islet-live serve`
    struct ServeCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "serve", abstract: "Serve a ward of sessions as a web page, with an API.",
            discussion: """
                What is in --data is the ward: sessions go on from their journals, whatever ended the server. With --ward sessions are begun where the ward is
                empty. On this machine alone (127.0.0.1) unless --host says otherwise; then a token and a certificate are needed. The token is read from
                --token-file or from ISLET_TOKEN, never from the command line.

                Nothing here sends a command to a pump in a person's body. Not a medical device.

                Examples:
                  islet-live serve --ward Cohorts/wards/demonstration.yaml --data ward
                  islet-live serve --data ward --port 8080 --studies Cohorts --results results
                """)

        @Option(
            help: ArgumentHelp("Sessions to begin with, where the ward is empty.", valueName: "WARD.yaml"))
        var ward: String?

        @Flag(help: "Begin with the demonstration: a dozen people at pace 60, some of them in trouble.")
        var demo = false

        @Option(help: "The port; 0 for any that is free.")
        var port = 8080

        @Option(help: ArgumentHelp("Where sessions are kept.", valueName: "DIR"))
        var data = "ward"

        @Option(help: "The address to listen at. Beside 127.0.0.1 it needs a token and a certificate.")
        var host = "127.0.0.1"

        @Option(
            help: ArgumentHelp(
                "What `Host` may say, where clients know this machine by a name.", valueName: "NAME"))
        var name: [String] = []

        @Option(
            name: .customLong("tls-cert"), help: ArgumentHelp("A certificate chain, PEM.", valueName: "FILE"))
        var certificate: String?

        @Option(name: .customLong("tls-key"), help: ArgumentHelp("Its private key, PEM.", valueName: "FILE"))
        var key: String?

        @OptionGroup var tokenSource: TokenSource

        @Option(
            help: ArgumentHelp(
                "A folder whose studies can be begun from the page; may be repeated.", valueName: "DIR"))
        var studies: [String] = []

        @Option(
            help: ArgumentHelp("A folder whose results can be watched; may be repeated.", valueName: "DIR"))
        var results: [String] = []

        @Option(
            name: .customLong("keep-days"),
            help: ArgumentHelp("Remove sessions that ended so many days ago.", valueName: "DAYS"))
        var keepDays: Double?

        @Option(
            help: ArgumentHelp(
                "Whose thresholds and quiet hours sessions follow: a store of `islet thresholds`. (default: owner.sqlite in --data)",
                valueName: "FILE"), completion: .file())
        var thresholds: String?

        @Option(
            help: ArgumentHelp(
                "A page elsewhere whose scripts may ask what apps ask, such as http://localhost:3000; may be repeated. None unless named.",
                valueName: "ORIGIN"))
        var cors: [String] = []

        private var isLoopback: Bool { host == "127.0.0.1" || host == "localhost" || host == "::1" }

        func validate() throws {
            guard (0...65_535).contains(port) else { throw ValidationError("--port takes 0 to 65535.") }
            if demo, ward != nil { throw ValidationError("--demo is a --ward of its own: take one of them.") }
            guard (certificate == nil) == (key == nil) else {
                throw ValidationError("--tls-cert and --tls-key belong together.")
            }
            #if !TLS
                if certificate != nil {
                    throw ValidationError(
                        "--tls-cert: this program is built without TLS: build it with --traits Serve,TLS, or let a reverse proxy speak it."
                    )
                }
            #endif
            if !isLoopback, certificate == nil {
                throw ValidationError("--host \(host) needs --tls-cert and --tls-key: others could listen.")
            }
            for origin in cors where WebDoor.origin(origin) == nil {
                throw ValidationError(
                    "--cors takes an origin such as http://localhost:3000: scheme, name and port, no path, and no wildcard."
                )
            }
            if let keepDays, !(keepDays >= 0) { throw ValidationError("--keep-days takes a number from 0.") }
        }

        func run() throws { try AsyncWork.run { try await serve() } }

        private func serve() async throws {
            let token = try tokenSource.read()
            if !isLoopback, token == nil {
                throw InputError(
                    file: "--host \(host)", found: "no token",
                    expected: "--token-file, or ISLET_TOKEN in the environment: anybody could come in")
            }
            let room = Descriptors.forServer()
            let first = try ward.map { try WardFile.read($0) }
            var options = Ward.Options(folder: data)
            options.studies = studies.isEmpty ? ProgramFiles.studies.map { [$0] } ?? [] : studies
            options.results =
                results.isEmpty && FileManager.default.fileExists(atPath: "results") ? ["results"] : results
            options.retentionDays = keepDays
            // A store that is named must be there; the ward's own is made with it.
            options.ownerStore = thresholds ?? data + "/owner.sqlite"
            options.owner = thresholds == nil ? "owner" : nil
            options.sessionLimit = min(options.sessionLimit, room.sessions)
            let ward = try Ward(options)
            if let problem = ward.ownerProblem {
                if thresholds != nil {
                    throw InputError(file: "--thresholds", found: problem, expected: "an owner's store")
                }
                StandardStream.output.writeLineIgnoringFailure("no owner is followed: \(problem)")
            }
            // By name: they are lived when the server listens.
            if ward.isToBegin {
                let begun =
                    try first
                    ?? (demo
                        ? WardFile.read(try ProgramFiles.demonstration(in: data + "/demonstration")) : nil)
                if let begun { try ward.begin(with: begun.sessions) }
            }
            let news = WardNews(ward.host)
            let over = Over()
            var logger = Logger(label: "islet") { StreamLogHandler.standardError(label: $0) }
            logger.logLevel = .warning
            let log = logger
            let crew = HostCrew(
                ward.host, threads: max(1, min(4, ProcessInfo.processInfo.activeProcessorCount))
            ) { froze, goesOn in
                for id in froze {
                    log.critical("session \(id) is frozen: nothing that is shown of it is sure")
                }
                for id in goesOn { log.warning("session \(id) goes on") }
            }
            try crew.start()
            // As many as there are cores, behind those that answer.
            let returning = try (0..<max(1, ProcessInfo.processInfo.activeProcessorCount / 2)).map { _ in
                try SystemThread {
                    SystemThread.stepBack()
                    ward.bringBack(until: { over.isOver })
                }
            }
            let herald = try SystemThread { news.run() }
            let door = WebDoor(
                token: token, names: name + (isLoopback ? [] : [host]), isTLS: certificate != nil,
                origins: cors.compactMap { WebDoor.origin($0) }, loginsPath: data + "/logins.json")
            var serverOptions = DashboardServer.Options()
            (serverOptions.host, serverOptions.port) = (host, port)
            (serverOptions.connectionLimit, serverOptions.connectionLimitOfAddress) = (
                room.connections, room.connections * 2 / 3
            )
            (serverOptions.certificate, serverOptions.key) = (certificate, key)
            let dashboard = Dashboard(
                ward: ward, news: news, door: door, onFailure: { log.error("\($0)") })
            let tending = try SystemThread {
                while !over.isOver {
                    dashboard.tend()
                    sleep(1)
                }
            }
            let server = DashboardServer(dashboard, serverOptions, logger: logger)
            let (shown, scheme) = (isLoopback ? "127.0.0.1" : host, certificate == nil ? "http" : "https")
            let count = ward.ids.count
            let serving = Task {
                try await server.run { port in
                    let sessions = count == 1 ? "1 session" : "\(count) sessions"
                    try? StandardStream.output.writeLine(
                        "\(scheme)://\(shown):\(port)/ shows \(sessions); Ctrl-C ends it")
                }
            }
            let signals = [SIGINT, SIGTERM].map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler {
                    // Who asks twice doesn't want to wait.
                    if over.isOver { _exit(128 + number) }
                    over.end()
                    news.stop()
                    serving.cancel()
                }
                source.resume()
                return source
            }
            defer { for source in signals { source.cancel() } }
            do { try await serving.value } catch is CancellationError {}
            over.end()
            news.stop()
            crew.stop()
            for thread in returning { thread.join() }
            herald.join()
            tending.join()
            ward.close()
        }
    }

    /// Whether the server's threads are to end.
    private final class Over: Sendable {
        private let flag = Atomic(false)
        var isOver: Bool { flag.load(ordering: .relaxed) }
        func end() { flag.store(true, ordering: .relaxed) }
    }
#endif
