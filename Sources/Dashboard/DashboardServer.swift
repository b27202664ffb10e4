// The server: sockets, TLS and HTTP by Hummingbird, the answers by `Dashboard`.
//
// Guarantees: at most so many connections; a head or a body that does not come within its time ends its connection, a body that is too long is refused
// unread; a client that doesn't read what it asked for is dropped; answers run on threads where they may wait. Does not: decide anything.

#if Serve
    import Documents
    import Foundation
    import HTTPTypes
    import Hummingbird
    import HummingbirdCore
    import HummingbirdTLS
    package import Logging
    import NIOCore
    import NIOPosix
    import NIOSSL
    import Records

    package struct DashboardServer: Sendable {
        package struct Options: Sendable {
            package var host = "127.0.0.1"
            package var port = 8080
            package var certificate: String?
            package var key: String?
            package var connectionLimit = 1200
            package init() {}
        }

        private let dashboard: Dashboard
        private let options: Options
        private let logger: Logger

        private static let bodyLimit = 2 << 20
        private static let bodySeconds = 20.0
        private static let readSeconds: Int64 = 20

        package init(_ dashboard: Dashboard, _ options: Options, logger: Logger) {
            (self.dashboard, self.options, self.logger) = (dashboard, options, logger)
        }

        /// Serves until it is cancelled or told to stop by a signal.
        /// - Parameter onPort: hears the port once it listens.
        package func run(onPort: @escaping @Sendable (Int) -> Void) async throws {
            let responder = CallbackResponder<BasicRequestContext> { request, _ in
                try await self.respond(to: request)
            }
            var http = HTTP1Channel.Configuration(
                additionalChannelHandlers: [SlowReaderHandler(seconds: Self.readSeconds)],
                idleTimeout: .seconds(30))
            http.httpDecoder.maxHeaderFieldSize = 16 << 10
            http.httpDecoder.maxHeaderListSize = 32 << 10
            http.httpDecoder.maxHeaderFieldCount = 100
            var server = HTTPServerBuilder.http1(configuration: http)
            if let certificate = options.certificate, let key = options.key {
                var tls = TLSConfiguration.makeServerConfiguration(
                    certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
                    privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
                tls.minimumTLSVersion = .tlsv12
                server = try .tls(server, tlsConfiguration: tls)
            }
            let application = Application(
                responder: responder, server: server,
                configuration: ApplicationConfiguration(
                    address: .hostname(options.host, port: options.port),
                    availableConnectionsDelegate: MaximumAvailableConnections(options.connectionLimit)),
                onServerRunning: { channel in onPort(channel.localAddress?.port ?? 0) }, logger: logger)
            try await application.run()
        }

        private func respond(to request: Request) async throws -> Response {
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
            if request.method != .get, request.method != .head {
                if let length = headers["content-length"].flatMap({ Int($0) }), length > Self.bodyLimit {
                    return Self.response(dashboard.problem(413, "the body is too long", false))
                }
                do {
                    let body = request.body
                    let buffer = try await Self.within(Self.bodySeconds) {
                        try await body.collect(upTo: Self.bodyLimit)
                    }
                    web.body = Array(buffer.readableBytesView)
                } catch is TooSlow {
                    return Self.response(dashboard.problem(408, "the body didn't come in time", false))
                } catch {
                    return Self.response(dashboard.problem(413, "the body is too long, or broken off", false))
                }
                if !web.body.isEmpty, web.path.hasPrefix("/api/"),
                    !(headers["content-type"] ?? "").hasPrefix("application/json")
                {
                    return Self.response(dashboard.problem(415, "the body is to be application/json", false))
                }
            }
            let asked = web
            let answer = try await NIOThreadPool.singleton.runIfActive { dashboard.answer(asked) }
            return Self.response(answer)
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

        private static func response(_ answer: WebResponse) -> Response {
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
                body = ResponseBody { writer in
                    var source = stream()
                    defer { source.end() }
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
