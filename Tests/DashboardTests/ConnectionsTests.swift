import Dashboard
import Synchronization
import Testing

/// One address can't take the places of all others, and what gives way is what says nothing.
@Suite struct ConnectionsTests {
    /// Connections that are closed when their event loop gets to it, as a server's are.
    private final class Crowd: Sendable {
        let connections: Connections
        let closed = Mutex<[Int]>([])
        private let keys = Mutex<[Key]>([])
        private final class Key: Sendable {}

        init(limit: Int, ofAddress: Int) { connections = Connections(limit: limit, ofAddress: ofAddress) }

        func come(from address: String) {
            let key = Key()
            let number = keys.withLock { keys in
                keys.append(key)
                return keys.count - 1
            }
            connections.began(
                ObjectIdentifier(key),
                GuestConnection(address) { [self] in closed.withLock { $0.append(number) } })
        }

        func isGone(_ number: Int) {
            connections.ended(ObjectIdentifier(keys.withLock { $0[number] }))
        }
    }

    /// Harm: a burst has the server close all that are idle, the one that was just going to ask among them, and look through all of them for each that
    /// comes: nobody else is answered meanwhile.
    @Test func aBurstClosesAsManyAsAreTooMany() {
        let crowd = Crowd(limit: 1192, ofAddress: 800)
        for _ in 0..<800 { crowd.come(from: "here") }
        #expect(crowd.closed.withLock { $0.isEmpty })
        for _ in 0..<300 { crowd.come(from: "here") }
        let closed = crowd.closed.withLock { $0 }
        #expect(closed.count >= 300 && closed.count < 300 + 32 && Set(closed).count == closed.count)
        // Those that came first, and have said nothing since.
        #expect(closed.allSatisfy { $0 < 800 })
        // They are gone a moment later, each once.
        for number in closed { crowd.isGone(number) }
        for number in closed { crowd.isGone(number) }
        for _ in 0..<(closed.count - 300) { crowd.come(from: "here") }
        #expect(crowd.closed.withLock { $0.count } == closed.count)
        crowd.come(from: "here")
        #expect(crowd.closed.withLock { $0.count } == closed.count + 32)
    }

    @Test func anAddressHasRoomWhateverAnotherDoes() {
        let crowd = Crowd(limit: 30, ofAddress: 20)
        for _ in 0..<200 { crowd.come(from: "many") }
        let before = crowd.closed.withLock { $0.count }
        for _ in 0..<5 { crowd.come(from: "few") }
        #expect(crowd.closed.withLock { $0.count } == before)
    }
}
