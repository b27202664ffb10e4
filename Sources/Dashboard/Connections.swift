// Who is connected, and the threads for what takes long.
//
// Guarantees: where an address, or all of them together, have as many connections as they may, the one that has been idle longest is closed: who says nothing holds
// nobody's place. A connection whose client is gone says so to what works for it.

#if Serve
    import IsletFiles
    import Glibc
    import Hummingbird
    import Logging
    import NIOCore
    import NIOPosix
    import IsletKernel
    import Synchronization

    /// A request's context that knows its channel.
    struct GuestContext: RequestContext {
        var coreContext: CoreRequestContextStorage
        let channel: any Channel

        init(source: ApplicationRequestContextSource) {
            coreContext = .init(source: source)
            channel = source.channel
        }
    }

    /// One connection.
    final class GuestConnection: Sendable {
        private let open = Atomic(true)
        /// Requests and streams that are under way.
        private let busy = Atomic(0)
        private let since = Atomic<Int64>(Monotonic.now)
        let address: String
        private let close: @Sendable () -> Void

        init(_ address: String, close: @escaping @Sendable () -> Void) {
            (self.address, self.close) = (address, close)
        }

        /// Whether somebody is at the other end.
        var isOpen: Bool { open.load(ordering: .relaxed) }
        /// Since when nothing is under way; nil while something is.
        var idleSince: Int64? {
            busy.load(ordering: .relaxed) > 0 ? nil : since.load(ordering: .relaxed)
        }

        func began() { busy.wrappingAdd(1, ordering: .relaxed) }
        func ended() {
            since.store(Monotonic.now, ordering: .relaxed)
            busy.wrappingSubtract(1, ordering: .relaxed)
        }
        func isGone() { open.store(false, ordering: .relaxed) }
        func end() { close() }
    }

    final class Connections: Sendable {
        private struct State {
            var all: [ObjectIdentifier: GuestConnection] = [:]
            var counts: [String: Int] = [:]
        }

        private let limit: Int
        private let ofAddress: Int
        private let state = Mutex(State())

        init(limit: Int, ofAddress: Int) { (self.limit, self.ofAddress) = (max(1, limit), max(1, ofAddress)) }

        subscript(channel: any Channel) -> GuestConnection? {
            state.withLock { $0.all[ObjectIdentifier(channel)] }
        }

        func began(_ channel: any Channel) {
            let connection = GuestConnection(Guests.group(channel.remoteAddress?.ipAddress ?? "")) {
                channel.close(promise: nil)
            }
            let tooMany = state.withLock { state -> [GuestConnection] in
                guard state.all[ObjectIdentifier(channel)] == nil else { return [] }
                let address = connection.address
                let count = state.counts[address, default: 0]
                var tooMany: [GuestConnection] = []
                if count >= ofAddress || state.all.count >= limit {
                    tooMany = Self.idlest(state.all.values, of: count >= ofAddress ? address : nil)
                    // All of them are busy: the newest gives way.
                    if tooMany.isEmpty { tooMany = [connection] }
                }
                state.all[ObjectIdentifier(channel)] = connection
                state.counts[address] = count + 1
                return tooMany
            }
            for connection in tooMany { connection.end() }
        }

        /// Some at once, so that who opens thousands doesn't have all of them looked through for each.
        private static let batch = 32

        private static func idlest(_ connections: some Sequence<GuestConnection>, of address: String?)
            -> [GuestConnection]
        {
            var idle: [(connection: GuestConnection, since: Int64)] = []
            for connection in connections {
                guard connection.isOpen, let since = connection.idleSince,
                    address == nil || connection.address == address
                else { continue }
                idle.append((connection, since))
            }
            idle.sort { $0.since < $1.since }
            let idlest = idle.prefix(batch).map(\.connection)
            // Others are chosen the next time, though these aren't gone yet.
            for connection in idlest { connection.isGone() }
            return idlest
        }

        func ended(_ channel: any Channel) {
            state.withLock { state in
                guard let gone = state.all.removeValue(forKey: ObjectIdentifier(channel)) else { return }
                gone.isGone()
                let left = (state.counts[gone.address] ?? 1) - 1
                state.counts[gone.address] = left > 0 ? left : nil
            }
        }
    }

    /// Tells of a connection's beginning and end, and of a client that has gone while it waits for an answer.
    final class ConnectionHandler: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = Any

        private let connections: Connections

        init(_ connections: Connections) { self.connections = connections }

        /// Before it is active a channel knows no address.
        func handlerAdded(context: ChannelHandlerContext) {
            if context.channel.isActive { connections.began(context.channel) }
        }

        func channelActive(context: ChannelHandlerContext) {
            connections.began(context.channel)
            context.fireChannelActive()
        }

        func handlerRemoved(context: ChannelHandlerContext) { connections.ended(context.channel) }

        func channelInactive(context: ChannelHandlerContext) {
            connections[context.channel]?.isGone()
            context.fireChannelInactive()
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if let event = event as? ChannelEvent, event == .inputClosed {
                connections[context.channel]?.isGone()
            }
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Threads for what lives sessions again: few, behind all others, and with a short queue.
    struct AgainPool: Sendable {
        /// Who may wait for a thread.
        private static let waitingLimit = 12

        private let pool: NIOThreadPool
        private let waiting = Waiting()

        private final class Waiting: Sendable {
            let connections = Mutex<[ObjectIdentifier: GuestConnection]>([:])
        }

        init(threads: Int = max(1, System.coreCount / 2)) { pool = NIOThreadPool(numberOfThreads: threads) }

        func start() { pool.start() }
        func stop() async throws { try await pool.shutdownGracefully() }

        /// - Returns: nil where too many wait already. Whoever has gone waits no more.
        func run<R: Sendable>(
            for connection: GuestConnection, _ body: @escaping @Sendable () -> R
        ) async throws -> R? {
            let hasRoom = waiting.connections.withLock { connections in
                guard connections.values.count(where: { $0.isOpen }) < Self.waitingLimit else { return false }
                connections[ObjectIdentifier(connection)] = connection
                return true
            }
            guard hasRoom else { return nil }
            defer { waiting.connections.withLock { $0[ObjectIdentifier(connection)] = nil } }
            return try await pool.runIfActive {
                SystemThread.stepBack()
                return body()
            }
        }
    }
#endif
