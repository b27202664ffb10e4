// What pages show, so that each is sent what differs.
//
// Guarantees: a page that names a state which is known here is sent the parts that are not as they were then; any other is sent all. The same parts are the same
// state, whoever shows them. Memory holds the newest few hundred states.
// Does not: know pages. A state is a name for hashes of parts.

import Synchronization

final class ShownParts: Sendable {
    private struct State {
        var known: [String: [String: UInt64]] = [:]
        /// The oldest first.
        var order: [String] = []
    }

    private let state = Mutex(State())
    private static let limit = 256

    /// - Parameter since: the state that a page shows; empty for none.
    /// - Returns: the state of these parts, and those that differ.
    func changes(
        _ parts: [(name: String, html: String)], since: String
    ) -> (state: String, changed: [(name: String, html: String)]) {
        var hashes: [String: UInt64] = [:]
        var all = Self.start
        for part in parts {
            let hash = Self.hash(part.html)
            hashes[part.name] = hash
            all = (all ^ Self.hash(part.name) ^ (hash &* 31)) &* Self.prime
        }
        let name = String(all, radix: 36)
        let before = state.withLock { state -> [String: UInt64]? in
            if state.known.updateValue(hashes, forKey: name) == nil {
                state.order.append(name)
                if state.order.count > Self.limit { state.known[state.order.removeFirst()] = nil }
            }
            return state.known[since]
        }
        guard let before else { return (name, parts) }
        return (name, parts.filter { before[$0.name] != hashes[$0.name] })
    }

    private static let start: UInt64 = 0xcbf2_9ce4_8422_2325
    private static let prime: UInt64 = 0x0000_0100_0000_01b3

    private static func hash(_ text: String) -> UInt64 {
        var hash = start
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* prime }
        return hash
    }
}
