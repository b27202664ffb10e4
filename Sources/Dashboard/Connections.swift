// Who is connected.
//
// Guarantees: where an address, or all of them together, have as many connections as they may, the one that has been idle longest is closed: who says nothing holds
// nobody's place. A connection whose client is gone says so to what works for it.

import Synchronization

#if Serve
    import IsletFiles
    import Glibc
    import Hummingbird
    import NIOCore
    import NIOPosix
    import IsletKernel
    import Synchronization
#endif

/// One connection.
package final class GuestConnection: Sendable {
    private let open = Atomic(true)
    private let closed = Atomic(false)
    /// Requests and streams that are under way.
    private let busy = Atomic(0)
    private let since = Atomic<Int64>(Monotonic.now)
    let address: String
    private let close: @Sendable () -> Void

    package init(_ address: String, close: @escaping @Sendable () -> Void) {
        (self.address, self.close) = (address, close)
    }

    /// Whether somebody is at the other end.
    var isOpen: Bool { open.load(ordering: .relaxed) }
    /// Since when nothing is under way; nil while something is.
    var idleSince: Int64? {
        busy.load(ordering: .relaxed) > 0 ? nil : since.load(ordering: .relaxed)
    }

    package func began() { busy.wrappingAdd(1, ordering: .relaxed) }
    func ended() {
        since.store(Monotonic.now, ordering: .relaxed)
        busy.wrappingSubtract(1, ordering: .relaxed)
    }
    /// Its client has closed it, or its sending half: its place is taken until it is closed here.
    func isGone() { open.store(false, ordering: .relaxed) }

    /// Whether it is closed here, or is about to be: it has no place any more.
    var isClosed: Bool { closed.load(ordering: .relaxed) }
    /// - Returns: whether it had a place until now.
    func leave() -> Bool {
        isGone()
        return !closed.exchange(true, ordering: .relaxed)
    }
    func end() { close() }
}

package final class Connections: Sendable {
    private struct State {
        var all: [ObjectIdentifier: GuestConnection] = [:]
        /// Open connections by address.
        var counts: [String: Int] = [:]
        var open = 0

        mutating func leave(_ connection: GuestConnection) {
            open -= 1
            let left = (counts[connection.address] ?? 1) - 1
            counts[connection.address] = left > 0 ? left : nil
        }
    }

    private let limit: Int
    private let ofAddress: Int
    private let state = Mutex(State())

    package init(limit: Int, ofAddress: Int) {
        (self.limit, self.ofAddress) = (max(1, limit), max(1, ofAddress))
    }

    subscript(_ id: ObjectIdentifier) -> GuestConnection? { state.withLock { $0.all[id] } }

    /// A connection is there. Where there are too many the idlest are closed.
    package func began(_ id: ObjectIdentifier, _ connection: GuestConnection) {
        let tooMany = state.withLock { state -> [GuestConnection] in
            guard state.all[id] == nil else { return [] }
            let address = connection.address
            let isAddressFull = state.counts[address, default: 0] >= ofAddress
            var tooMany: [GuestConnection] = []
            if isAddressFull || state.open >= limit {
                tooMany = Self.idlest(state.all.values, of: isAddressFull ? address : nil)
                // All of them are busy: the newest gives way.
                if tooMany.isEmpty { tooMany = [connection] }
            }
            state.all[id] = connection
            state.counts[address, default: 0] += 1
            state.open += 1
            // They are gone a moment later; by then others would be chosen for them.
            for connection in tooMany where connection.leave() { state.leave(connection) }
            return tooMany
        }
        for connection in tooMany { connection.end() }
    }

    /// Some at once, so that who opens thousands doesn't have all of them looked through for each.
    private static let batch = 32

    private static func idlest(
        _ connections: some Sequence<GuestConnection>, of address: String?
    ) -> [GuestConnection] {
        var idle: [(connection: GuestConnection, since: Int64)] = []
        for connection in connections {
            guard !connection.isClosed, let since = connection.idleSince,
                address == nil || connection.address == address
            else { continue }
            idle.append((connection, since))
        }
        idle.sort { $0.since < $1.since }
        return idle.prefix(batch).map(\.connection)
    }

    package func ended(_ id: ObjectIdentifier) {
        state.withLock { state in
            guard let gone = state.all.removeValue(forKey: id) else { return }
            if gone.leave() { state.leave(gone) }
        }
    }
}

#if Serve
    /// A request's context that knows its channel.
    struct GuestContext: RequestContext {
        var coreContext: CoreRequestContextStorage
        let channel: any Channel

        init(source: ApplicationRequestContextSource) {
            coreContext = .init(source: source)
            channel = source.channel
        }
    }

    /// Tells of a connection's beginning and end, and of a client that has gone while it waits for an answer.
    final class ConnectionHandler: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = Any

        private let connections: Connections

        init(_ connections: Connections) { self.connections = connections }

        /// Before it is active a channel knows no address.
        func handlerAdded(context: ChannelHandlerContext) {
            if context.channel.isActive { began(context.channel) }
        }

        func channelActive(context: ChannelHandlerContext) {
            began(context.channel)
            context.fireChannelActive()
        }

        private func began(_ channel: any Channel) {
            connections.began(
                ObjectIdentifier(channel),
                GuestConnection(Guests.group(channel.remoteAddress?.ipAddress ?? "")) {
                    channel.close(promise: nil)
                })
        }

        func handlerRemoved(context: ChannelHandlerContext) {
            connections.ended(ObjectIdentifier(context.channel))
        }

        func channelInactive(context: ChannelHandlerContext) {
            connections[ObjectIdentifier(context.channel)]?.isGone()
            context.fireChannelInactive()
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if let event = event as? ChannelEvent, event == .inputClosed {
                connections[ObjectIdentifier(context.channel)]?.isGone()
            }
            context.fireUserInboundEventTriggered(event)
        }
    }
#endif
