// The steps of a loop, for whoever writes them out.
//
// Guarantees: each step once, in order, with all that became known of its request until it is taken. It tells the loop nothing, so that
// keeping one changes no step. A step is made in place and handed over by reference: none is copied.
// Does not: outlive the process; results and journals do.

import IsletDevices

/// Used within one session, like the loop that writes it.
public final class StepLog: @unchecked Sendable {
    /// One step.
    public final class Entry {
        public var record: StepRecord
        /// What a later step was told that the pump had delivered of this one's request.
        public var deliveredUnits: Double?

        public init(_ record: consuming StepRecord, deliveredUnits: Double? = nil) {
            self.record = record
            self.deliveredUnits = deliveredUnits
        }
    }

    private(set) var entries: [Entry] = []
    /// Requests up to this one are no longer spoken of.
    private var lastTold = Int64.min

    public init() {}

    func append(_ entry: Entry) {
        if let bolus = entry.record.input.insulinPump.lastBolus {
            self[bolus.id]?.deliveredUnits = bolus.delivered.units
            lastTold = max(lastTold, bolus.id)
        }
        entries.append(entry)
    }

    /// - Parameter accepted: nil where the request was sent and no answer came.
    func settle(_ requestID: Int64, accepted: InsulinAmount?, pumpError: String) {
        guard let entry = self[requestID] else { return }
        entry.record.accepted = accepted
        if accepted == nil { entry.record.wasUncertain = true }
        entry.record.pumpError = pumpError
    }

    /// It is asked for among the last steps.
    private subscript(requestID: Int64) -> Entry? {
        for entry in entries.reversed() where entry.record.requestID == requestID { return entry }
        return nil
    }

    private func isKnown(_ entry: Entry) -> Bool {
        entry.record.requested == nil || entry.record.accepted == .zero || entry.record.requestID <= lastTold
    }

    /// Hands over the steps at the front of which nothing more can become known; they are gone afterwards.
    /// - Parameter open: the first request that is under way; nil where none is.
    public func takeKnown(before open: Int64?) -> [Entry] {
        let open = open ?? .max
        let end = entries.firstIndex { $0.record.requestID >= open || !isKnown($0) }
        guard let end else { return takeAll() }
        defer { entries.removeFirst(end) }
        return Array(entries[..<end])
    }

    /// Hands over all steps; they are gone afterwards.
    public func takeAll() -> [Entry] {
        defer { entries = [] }
        return entries
    }
}
