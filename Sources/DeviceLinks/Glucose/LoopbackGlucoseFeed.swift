// Glucose of a simulated person on this machine.

import Foundation

/// The readings of a `SimulatorPeer`, which proves first what it is.
public struct LoopbackGlucoseFeed: GlucoseFeed {
    private let address: PumpAddress

    public init(_ address: PumpAddress) { self.address = address }

    public func readings() -> AsyncThrowingStream<FedReading, any Error> {
        AsyncThrowingStream { continuation in
            let port = address.port
            Thread.detachNewThread {
                do {
                    let socket = try LinkWire.open(port: port, purpose: "glucose", timeoutSeconds: 15)
                    // Readings come when they come.
                    socket.setTimeout(0)
                    continuation.onTermination = { _ in socket.shutDown() }
                    while true {
                        continuation.yield(try LinkWire.value(FedReading.self, socket.readLine()))
                    }
                } catch {
                    continuation.finish(throwing: error)
                }
            }
        }
    }
}
