// The other end of a loopback link: a simulated pump, and its wearer's sensor, behind a port of this machine.
//
// Guarantees: it listens on 127.0.0.1 only; it proves what it is before it hears a command; it acts on whole lines; a newer pump connection ends the
// older one, so that nothing of the older is acted on after the newer has been answered. What it fails at is what it was told to fail at.
// Does not: keep anything when its process ends.

import Foundation
import Glibc
import Synchronization

public final class SimulatorPeer: Sendable {
    /// What a command meets.
    public enum Fate: Hashable, Sendable {
        case answered
        /// It is carried out, and nothing is ever answered.
        case silent
        /// It never reaches the pump, and nothing is answered.
        case lost
        /// The connection ends before, or after it was carried out.
        case dropped
        case droppedAfter
        /// Something that is no report is answered.
        case garbled
        /// The answer comes so many times.
        case repeated(Int)
        /// The answer comes so many seconds late.
        case late(Double)
    }

    private let listener: LoopbackListener
    private let perform: @Sendable (LinkCommand) throws -> PumpReport
    private let readings: @Sendable (_ after: Int64) -> [FedReading]
    private let fate: @Sendable (LinkCommand) -> Fate
    private let clock: (@Sendable () -> Int64)?
    /// The most connections at once: each has a thread, and a proof to work out.
    private static let most = 16
    private let state = Mutex((newest: 0, sockets: [LineSocket](), isStopped: false))

    public var port: UInt16 { listener.port }

    /// - Parameters:
    ///   - port: 0 for any that is free.
    ///   - perform: carries a command out; called by one thread at a time for each connection.
    ///   - readings: those taken after so many nanoseconds since 1970, oldest first.
    ///   - fate: what a command meets.
    ///   - clock: what its clock says, ns since 1970; nil where it doesn't tell.
    public init(
        port: UInt16 = 0, fate: @escaping @Sendable (LinkCommand) -> Fate = { _ in .answered },
        readings: @escaping @Sendable (_ after: Int64) -> [FedReading] = { _ in [] },
        clock: (@Sendable () -> Int64)? = nil,
        perform: @escaping @Sendable (LinkCommand) throws -> PumpReport
    ) throws {
        self.perform = perform
        self.fate = fate
        self.clock = clock
        self.readings = readings
        let listener: LoopbackListener
        do {
            listener = try LoopbackListener(port: port, backlog: 16)
        } catch let failure as LineSocket.Failure {
            throw PumpDriverError.notSent(failure.reason)
        }
        self.listener = listener
        Thread.detachNewThread { [weak self] in
            while let descriptor = listener.next() {
                let socket = LineSocket(descriptor: descriptor)
                guard let self, !self.state.withLock({ $0.isStopped }) else { return }
                let isTaken = self.state.withLock { state in
                    guard state.sockets.count < Self.most else { return false }
                    state.sockets.append(socket)
                    return true
                }
                guard isTaken else { continue }
                Thread.detachNewThread { self.serve(socket) }
            }
        }
    }

    deinit { stop() }

    /// Ends all connections.
    public func stop() {
        let sockets = state.withLock { state in
            defer {
                state.sockets = []
                state.isStopped = true
            }
            return state.isStopped ? [] : state.sockets
        }
        for socket in sockets { socket.shutDown() }
        listener.shutDown()
    }

    /// Ends the connections that there are, as a radio does; new ones are taken.
    public func interrupt() {
        let sockets = state.withLock { state in
            defer { state.sockets = [] }
            return state.sockets
        }
        for socket in sockets { socket.shutDown() }
    }

    private func serve(_ socket: LineSocket) {
        defer {
            socket.shutDown()
            state.withLock { $0.sockets.removeAll { $0 === socket } }
        }
        // Whoever says nothing keeps no thread.
        guard socket.isLoopback,
            let line = try? socket.readLine(by: ContinuousClock.now + .seconds(15)),
            let hello = try? LinkWire.value(LinkHello.self, line), hello.link == "islet", hello.version == 1,
            let proof = SimulatorProof.answer(to: hello.challenge),
            let welcome = try? LinkWire.text(LinkWelcome(proof: proof, utcNanoseconds: clock?())),
            socket.write(welcome) == nil
        else { return }
        socket.setTimeout(0)
        switch hello.purpose {
        case "pump": servePump(socket)
        case "glucose": serveGlucose(socket)
        default: return
        }
    }

    private func servePump(_ socket: LineSocket) {
        let number = state.withLock { state in
            state.newest += 1
            return state.newest
        }
        while let line = try? socket.readLine(), let command = try? LinkWire.value(LinkCommand.self, line) {
            guard state.withLock({ $0.newest == number && !$0.isStopped }) else { return }
            let fate = fate(command)
            switch fate {
            case .lost: continue
            case .dropped: return
            default: break
            }
            guard let report = try? perform(command), let text = try? LinkWire.text(report) else { return }
            switch fate {
            case .silent: continue
            case .droppedAfter: return
            case .garbled: if socket.write("{\"number\":\(command.number),\"units\":") != nil { return }
            case .repeated(let count):
                for _ in 0..<count where socket.write(text) != nil { return }
            case .late(let seconds):
                usleep(useconds_t(seconds * 1e6))
                if socket.write(text) != nil { return }
            default: if socket.write(text) != nil { return }
            }
        }
    }

    private func serveGlucose(_ socket: LineSocket) {
        var newest = Int64.min
        while !state.withLock({ $0.isStopped }) {
            for reading in readings(newest) {
                guard let text = try? LinkWire.text(reading), socket.write(text) == nil else { return }
                newest = max(newest, reading.utcNanoseconds)
            }
            usleep(50_000)
        }
    }
}
