// For how long a suspending algorithm has given no basal lately.
//
// Guarantees: plain values of fixed size; a step costs a shift. It goes by the numbers of steps, so that steps which never ran count as
// steps with basal: the pump's own programme ran then. Does not: know why anybody suspends.

import IsletDevices

/// The steps of the last ten hours and a half in which no basal was given.
struct SuspensionRecord: AlgorithmState {
    /// Bit k: k steps before the newest, up to 63; `older` goes on from there.
    private var newer: UInt64 = 0
    private var older: UInt64 = 0
    private var newest: Int64?

    /// Minutes that the record reaches back at most.
    static let reach = 630.0
    private static let stepMinutes = 5.0

    /// Brings the record to this step, of which nothing is decided yet.
    mutating func advance(to step: Int64) {
        let gap = min(max(0, step - (newest ?? step)), 128)
        newest = step
        for _ in 0..<gap {
            older = older << 1 | newer >> 63
            newer <<= 1
        }
    }

    /// Minutes without basal in the time of such a length that ends with this step, as if it had its basal.
    func minutes(within window: Double) -> Double {
        let steps = Int(min(window, Self.reach) / Self.stepMinutes) - 1
        func bits(_ word: UInt64, _ count: Int) -> Int {
            (count >= 64 ? word : word & (1 << UInt64(max(0, count)) - 1)).nonzeroBitCount
        }
        return Self.stepMinutes * Double(bits(newer >> 1, min(steps, 63)) + bits(older, steps - 63))
    }

    /// This step gives no basal.
    mutating func suspend() { newer |= 1 }
}
