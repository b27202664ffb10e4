// The only driver that sends commands to a pump: to a simulator on this machine.
//
// Guarantees: the address is 127.0.0.1 and can't be said otherwise; each connection begins with a proof that the other end is this project's
// simulated pump, and no command leaves before it. A command whose bytes may have left is `noAnswer`, never `notSent`. An answer
// belongs to the command of its number: older ones are passed over. A command whose time has passed while the connection was opened, or while the
// process was stopped, never leaves.
// Does not: send a command again. There is no option in this project that sends insulin commands to a pump in a person's body.

import Foundation
import Synchronization

public final class LoopbackPumpDriver: PumpDriver {
    private let address: PumpAddress
    private let timeoutSeconds: Double
    private let connection = Mutex<LineSocket?>(nil)
    private let opening = Mutex<LineSocket?>(nil)
    private let now: @Sendable () -> ContinuousClock.Instant

    public init(_ address: PumpAddress, timeoutSeconds: Double = 15) {
        self.address = address
        self.timeoutSeconds = timeoutSeconds
        now = { ContinuousClock.now }
    }

    /// - Parameter now: what a command's time is measured by.
    package init(
        _ address: PumpAddress, timeoutSeconds: Double, now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.address = address
        self.timeoutSeconds = timeoutSeconds
        self.now = now
    }

    public func perform(_ command: LinkCommand) async throws -> PumpReport {
        let due = now() + .seconds(timeoutSeconds)
        return try await withTaskCancellationHandler {
            // Blocking calls have a thread of their own, so that none of the pool's waits.
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { [self] in
                    continuation.resume(with: Result { try exchange(command, by: due) })
                }
            }
        } onCancel: {
            opening.withLock { $0?.shutDown() }
            connection.withLock { $0?.shutDown() }
        }
    }

    private func exchange(_ command: LinkCommand, by due: ContinuousClock.Instant) throws -> PumpReport {
        let socket = try open()
        guard now() < due else { throw PumpDriverError.notSent("its time has passed") }
        guard let text = try? LinkWire.text(command) else {
            throw PumpDriverError.notSent("a command that can't be written")
        }
        if let failure = socket.write(text) {
            drop(socket)
            // A peer acts on whole lines only, and this one has no end.
            throw failure.sent <= text.utf8.count
                ? PumpDriverError.notSent(failure.reason) : PumpDriverError.noAnswer(failure.reason)
        }
        do {
            let due = ContinuousClock.now + .seconds(timeoutSeconds)
            for _ in 0..<100 {
                let report = try LinkWire.value(PumpReport.self, socket.readLine(by: due))
                if report.number >= command.number { return report }
            }
            throw LineSocket.Failure(reason: "answers to other commands only")
        } catch {
            drop(socket)
            throw PumpDriverError.noAnswer((error as? LineSocket.Failure)?.reason ?? "no report")
        }
    }

    private func open() throws -> LineSocket {
        if let open = connection.withLock({ $0 }) { return open }
        defer { opening.withLock { $0 = nil } }
        let socket = try LinkWire.open(
            port: address.port, purpose: "pump", timeoutSeconds: timeoutSeconds,
            hold: { held in opening.withLock { $0 = held } }
        ).socket
        connection.withLock { $0 = socket }
        return socket
    }

    private func drop(_ socket: LineSocket) {
        connection.withLock { if $0 === socket { $0 = nil } }
        socket.shutDown()
    }
}
