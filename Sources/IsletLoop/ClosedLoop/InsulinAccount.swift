// What the last hours' steps asked for and what came of it.
//
// Guarantees: a session that starts anew, and an algorithm that begins anew, hear of all insulin that may still act; a step costs no allocation once the
// hours are full.
// Does not: outlive the loop that writes it. A journal that is lived again does.

import IsletDevices
import IsletKernel

/// What insulin on board needs to know of one step.
struct StepInsulin: Hashable, Codable {
    var instant: Instant
    var requestID: Int64
    var requested: InsulinAmount?
    /// Nil while nobody knows: it counts as given.
    var accepted: InsulinAmount?
    /// The part of `requested` that the person waits for, and the part of that which was asked for by hand.
    var userRequested: InsulinAmount
    var manual: InsulinAmount
    /// What the pump had given by itself in its life; nil where it could not say.
    var basalGiven: InsulinAmount?
}

struct InsulinAccount {
    private var rows: [StepInsulin] = []
    /// Those that act, and a third of as many: older ones go together. A session at rest has nothing larger than this.
    private static let acting = Int(LoopTiming.insulinMemory / LoopTiming.step)
    private static let most = acting + acting / 3

    mutating func append(_ row: StepInsulin) {
        if rows.isEmpty { rows.reserveCapacity(Self.most) }
        if rows.count >= Self.most {
            let oldest = row.instant.adding(-LoopTiming.insulinMemory)
            // In order of time: what no longer acts stands first.
            let spent = rows.firstIndex { $0.instant >= oldest } ?? rows.count
            // Sooner than the grid has it no step runs; the account stays bounded all the same.
            rows.removeFirst(rows.count - spent < Self.most ? spent : spent + Self.most - Self.acting)
        }
        rows.append(row)
    }

    /// - Parameter accepted: nil where the request was sent and no answer came.
    mutating func settle(_ requestID: Int64, accepted: InsulinAmount?) {
        guard let index = rows.lastIndex(where: { $0.requestID == requestID }) else { return }
        rows[index].accepted = accepted
    }

    func rows(since instant: Instant) -> [StepInsulin] { rows.filter { $0.instant >= instant } }

    init(_ rows: [StepInsulin] = []) { self.rows = rows }
}
