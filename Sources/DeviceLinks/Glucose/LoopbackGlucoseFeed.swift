// Glucose of a simulated person on this machine.

import Foundation

/// The readings of a `SimulatorPeer`, which proves first what it is.
public struct LoopbackGlucoseFeed: GlucoseFeed {
    private let address: PumpAddress

    public init(_ address: PumpAddress) { self.address = address }

    public func readings() -> AsyncThrowingStream<FedReading, any Error> {
        // A day and more; who comes late has the newest.
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(600)) { continuation in
            let port = address.port
            Thread.detachNewThread {
                do {
                    let (socket, clockAhead) = try LinkWire.open(
                        port: port, purpose: "glucose", timeoutSeconds: 15)
                    // Readings come when they come.
                    socket.setTimeout(0)
                    continuation.onTermination = { _ in socket.shutDown() }
                    while true {
                        var reading = try LinkWire.value(FedReading.self, socket.readLine())
                        // By the source's own clock, whatever the clocks on either side are set to.
                        reading.ageNanoseconds = clockAhead.map {
                            BootClock.nanoseconds() &+ $0 &- reading.utcNanoseconds
                        }
                        continuation.yield(reading)
                    }
                } catch {
                    continuation.finish(throwing: error)
                }
            }
        }
    }
}
