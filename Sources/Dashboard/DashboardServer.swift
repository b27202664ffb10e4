// The server: sockets, TLS and HTTP by Hummingbird, the answers by `Dashboard`.
//
// Guarantees: at most so many connections, and of one address; a head or a body that does not come within its time ends its connection, a body that is too long is
// refused unread; a client that doesn't read what it asked for is dropped. What answers and what lives again run on threads of their own: neither waits for the
// other. What lives again is bounded, and given up when nobody waits for it any more. Whatever a handler does, its client has an answer in bounded time. Does not: decide anything.

#if Serve
    import IsletFiles
    import Foundation
    import HTTPTypes
    import Hummingbird
    import HummingbirdCore
    #if TLS
        import HummingbirdTLS
    #endif
    import IsletLive
    package import Logging
    import NIOCore
    import NIOPosix
    #if TLS
        import NIOSSL
    #endif
    import IsletDevices

    package struct DashboardServer: Sendable {
        package struct Options: Sendable {
            package var host = "127.0.0.1"
            package var port = 8080
            package var certificate: String?
            package var key: String?
            package var connectionLimit = 1200
            /// The most connections of one address; beyond it the one that has been idle longest is closed.
            package var connectionLimitOfAddress = 800
            /// Connections that wait to be accepted. The system has a bound of its own; beyond it a client hears nothing, and asks again after a second.
            package var backlog = 4096
            package init() {}
        }

        private let dashboard: Dashboard
        private let options: Options
        private let logger: Logger

        private let connections: Connections
        private let answers = WorkPool(.answers)
        private let again = WorkPool(.again)
        private static let readSeconds: Int64 = 20

        package init(_ dashboard: Dashboard, _ options: Options, logger: Logger) {
            (self.dashboard, self.options, self.logger) = (dashboard, options, logger)
            connections = Connections(
                limit: options.connectionLimit - 8, ofAddress: options.connectionLimitOfAddress)
        }

        /// Serves until it is cancelled or told to stop by a signal.
        /// - Parameter onPort: hears the port once it listens.
        package func run(onPort: @escaping @Sendable (Int) -> Void) async throws {
            try answers.start()
            try again.start()
            let responder = CallbackResponder<GuestContext> { request, context in
                try await self.respond(to: request, from: context)
            }
            var http = HTTP1Channel.Configuration(
                additionalChannelHandlers: [
                    SlowReaderHandler(seconds: Self.readSeconds), ConnectionHandler(self.connections),
                ],
                idleTimeout: .seconds(30))
            http.httpDecoder.maxHeaderFieldSize = 16 << 10
            http.httpDecoder.maxHeaderListSize = 32 << 10
            http.httpDecoder.maxHeaderFieldCount = 100
            var server = HTTPServerBuilder.http1(configuration: http)
            if let certificate = options.certificate, let key = options.key {
                server = try Self.encrypted(server, certificate: certificate, key: key)
            }
            let application = Application(
                responder: responder, server: server,
                configuration: ApplicationConfiguration(
                    address: .hostname(options.host, port: options.port),
                    backlog: options.backlog,
                    availableConnectionsDelegate: MaximumAvailableConnections(options.connectionLimit)),
                onServerRunning: { channel in onPort(channel.localAddress?.port ?? 0) }, logger: logger)
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await application.run()) } catch { outcome = .failure(error) }
            await answers.stop()
            await again.stop()
            try outcome.get()
        }

        #if TLS
            private static func encrypted(
                _ server: HTTPServerBuilder, certificate: String, key: String
            ) throws -> HTTPServerBuilder {
                var tls = TLSConfiguration.makeServerConfiguration(
                    certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
                    privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
                tls.minimumTLSVersion = .tlsv12
                return try .tls(server, tlsConfiguration: tls)
            }
        #else
            /// - Throws: always: a server that was asked to encrypt does not listen without.
            private static func encrypted(
                _: HTTPServerBuilder, certificate: String, key _: String
            ) throws -> HTTPServerBuilder {
                throw InputError(
                    file: certificate, found: "a certificate, in a program that is built without TLS",
                    expected: "one built with --traits Serve,TLS")
            }
        #endif

        private func respond(to request: Request, from context: GuestContext) async throws -> Response {
            var headers: [String: String] = [:]
            for field in request.headers {
                let name = field.name.canonicalName
                // A browser may send its cookies in several.
                headers[name] =
                    name == "cookie"
                    ? headers[name].map { $0 + "; " + field.value } ?? field.value : field.value
            }
            if let authority = request.head.authority { headers["host"] = authority }
            var web = WebRequest(
                method: request.method.rawValue, target: request.uri.string, headers: headers)
            web.address = context.channel.remoteAddress?.ipAddress ?? ""
            let connection = connections[ObjectIdentifier(context.channel)]
            connection?.began()
            defer { connection?.ended() }
            let admitted: Dashboard.Admitted
            switch dashboard.admit(web) {
            case .refused(let refusal): return Self.response(refusal)
            case .admitted(let found): admitted = found
            }
            if request.method != .get, request.method != .head {
                if let refusal = await read(request, admitted, into: &web) { return Self.response(refusal) }
            }
            let asked = web
            let outcome: WorkPool.Outcome<WebResponse>
            switch admitted.work {
            case .atOnce: return Self.response(dashboard.answer(asked, admitted))
            case .answers: outcome = await answers.run { dashboard.answer(asked, admitted, isWanted: $0) }
            case .livesAgain:
                // A connection that is gone by now waits for nothing.
                guard let connection else { throw NobodyWaits() }
                outcome = await again.run(asker: { connection.isOpen }) {
                    dashboard.answer(asked, admitted, isWanted: $0)
                }
            }
            return Self.response(dashboard.response(outcome, to: asked, admitted), connection)
        }

        /// Reads a request's body.
        /// - Returns: why it isn't taken; nil where it is.
        private func read(
            _ request: Request, _ admitted: Dashboard.Admitted, into web: inout WebRequest
        ) async -> WebResponse? {
            do {
                let (body, limit) = (request.body, admitted.bodyLimit)
                let buffer = try await Self.within(admitted.bodySeconds) {
                    try await body.collect(upTo: limit)
                }
                web.body = Array(buffer.readableBytesView)
            } catch is TooSlow {
                return dashboard.refusal(408, "the body didn't come in time", to: web)
            } catch {
                return dashboard.refusal(413, "the body is too long, or broken off", to: web)
            }
            if !web.body.isEmpty, web.path.hasPrefix("/api/"),
                !(web.headers["content-type"] ?? "").hasPrefix("application/json")
            {
                return dashboard.refusal(415, "the body is to be application/json", to: web)
            }
            return nil
        }

        private struct TooSlow: Error {}

        /// - Throws: `TooSlow` when it takes longer.
        private static func within<R: Sendable>(
            _ seconds: Double, _ body: @escaping @Sendable () async throws -> R
        ) async throws -> R {
            try await withThrowingTaskGroup(of: R.self) { group in
                group.addTask { try await body() }
                group.addTask {
                    try await Task.sleep(for: .seconds(seconds))
                    throw TooSlow()
                }
                defer { group.cancelAll() }
                guard let first = try await group.next() else { throw TooSlow() }
                return first
            }
        }

        private static func response(_ answer: WebResponse, _ connection: GuestConnection? = nil) -> Response
        {
            var headers = HTTPFields()
            for header in answer.headers {
                if let name = HTTPField.Name(header.name) {
                    headers.append(HTTPField(name: name, value: header.value))
                }
            }
            let body: ResponseBody
            switch answer.body {
            case .bytes(let bytes): body = ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
            case .stream(let stream):
                connection?.began()
                body = ResponseBody { writer in
                    var source = stream()
                    defer {
                        source.end()
                        connection?.ended()
                    }
                    while let text = await source.next() { try await writer.write(ByteBuffer(string: text)) }
                    try await writer.finish(nil)
                }
            }
            return Response(
                status: HTTPResponse.Status(code: answer.status), headers: headers, body: body)
        }
    }

    /// Ends the connection of a client that has not read for so long what waits for it.
    private final class SlowReaderHandler: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = Any

        private let limit: TimeAmount
        private var closing: Scheduled<Void>?

        init(seconds: Int64) { limit = .seconds(seconds) }

        func channelWritabilityChanged(context: ChannelHandlerContext) {
            closing?.cancel()
            closing = nil
            if !context.channel.isWritable {
                let channel = context.channel
                closing = context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
            }
            context.fireChannelWritabilityChanged()
        }

        func channelInactive(context: ChannelHandlerContext) {
            closing?.cancel()
            closing = nil
            context.fireChannelInactive()
        }
    }
#endif
