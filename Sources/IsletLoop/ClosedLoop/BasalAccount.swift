// The account of insulin that a person should have had and has not: what `basalShare` is made of.
//
// Guarantees: it goes by the numbers of steps, so that a relaunch, a leap and a dead time need nothing of their own. *Missing* is basal and
// correction that a step with a fresh reading asked for and that the pump has not confirmed (unknown counts as missing here), from the next
// step on, which may make it good; and programme that a zero displaced for steps that never ran, or failed, or that no pod gave. What the
// pump's own programme gave instead is taken off, and what a later step's request gave above the programme. Where nothing is missing the
// account holds nothing, and a step costs a comparison.
// Does not: count what the algorithm withheld, what a limit cut off, or what the person suspended; its caller leaves those out.

public struct BasalAccount: Hashable, Sendable, Codable {
    /// Steps of the window: two hours.
    public static let window: Int64 = 24
    /// The first step that the share is told of: half an hour after the start.
    public static let begins: Int64 = 6
    /// The share below which insulin counts as missing, %.
    public static let bound = 80.0

    private struct Entry: Hashable, Sendable, Codable {
        var step: Int64
        /// Nil for what was left to the pump and never came: displaced by a zero, a rate that it didn't take, without a pod.
        var requestID: Int64?
        var units: Double
        /// What the pump's programme gave in its place.
        var given = 0.0
        /// Nobody has answered for it yet.
        var isOpen = false
        /// A later step wanted nothing. Optional, as what earlier engines kept says nothing of it.
        var isSpared: Bool?

        var missing: Double { max(0, units - given) }
    }

    /// Oldest first; nil where nothing is missing.
    private var entries: [Entry]?
    /// Flow is known up to this step.
    private var knownUpTo: Int64 = 0

    public init() {}

    /// Nothing is missing, and nothing is unknown.
    public var isEmpty: Bool { if case .none = entries { true } else { false } }

    // MARK: What is missing

    /// A step asked for so much that the pump has not confirmed.
    /// - Parameters:
    ///   - given: what the pump's own programme will give during the step instead.
    ///   - isOpen: its answer may yet come.
    mutating func ask(
        _ units: Double, step: Int64, requestID: Int64, given: Double = 0, isOpen: Bool = false
    ) {
        guard units > 1e-9 else { return }
        // Sent again under its own number it is the same.
        if let place = entries?.lastIndex(where: { $0.requestID == requestID }) {
            entries?[place].units = units
            entries?[place].isOpen = isOpen
        } else {
            add(Entry(step: step, requestID: requestID, units: units, given: given, isOpen: isOpen))
        }
    }

    /// Nobody will ever answer: it stays missing for as long as anything does.
    mutating func giveUp(_ requestID: Int64) {
        guard let place = entries?.lastIndex(where: { $0.requestID == requestID }) else { return }
        entries?[place].isOpen = false
    }

    /// What the pump's own programme is going to give during a step, in place of what the step asked for.
    mutating func expect(_ given: Double, step: Int64) {
        guard let place = entries?.lastIndex(where: { $0.step == step && $0.requestID != nil }) else {
            return
        }
        entries?[place].given = given
    }

    /// The answer to a request: so much of what it asked for never came.
    mutating func settle(_ requestID: Int64, step: Int64, missing units: Double) {
        if let place = entries?.lastIndex(where: { $0.requestID == requestID }) {
            entries?[place].units = units
            entries?[place].isOpen = false
            if units <= 1e-9 { entries?.remove(at: place) }
            letGo()
        } else {
            ask(units, step: step, requestID: requestID)
        }
    }

    /// So much of what was left to the pump did not come: a zero displaced the programme of a step that never ran, or failed; a rate was
    /// not taken; no pod gave anything.
    mutating func displace(_ units: Double, step: Int64) {
        guard units > 1e-9 else { return }
        add(Entry(step: step, requestID: nil, units: units))
    }

    /// What was left to the pump was given after all, beside what its step asked for: the newest first.
    mutating func repay(_ units: Double) {
        guard let places = entries?.indices.reversed() else { return }
        var left = units
        for place in places where left > 1e-12 && entries?[place].requestID == nil {
            let paid = min(left, entries?[place].units ?? 0)
            entries?[place].units -= paid
            left -= paid
        }
        entries?.removeAll { $0.requestID == nil && $0.units <= 1e-9 }
        letGo()
    }

    /// So much came of a step's request above the programme: the algorithm, which knows what never came, has asked for it again. The newest
    /// of what was asked for before is made good first.
    mutating func makeGood(_ units: Double, by step: Int64) {
        guard let places = entries?.indices.reversed() else { return }
        var left = units
        for place in places where left > 1e-12 {
            guard let entry = entries?[place], entry.requestID != nil, !entry.isOpen, entry.step < step else {
                continue
            }
            let paid = min(left, entry.missing)
            entries?[place].units -= paid
            left -= paid
        }
        entries?.removeAll { $0.requestID != nil && !$0.isOpen && $0.units <= 1e-9 }
        letGo()
    }

    /// A step that could dose wants nothing, and its algorithm knows of all that never came: one request that was lost alone is no loss.
    /// Where another one is lost within the window both are.
    mutating func spare(before step: Int64) {
        guard let places = entries?.indices else { return }
        for place in places where (entries?[place].step ?? step) < step && entries?[place].requestID != nil {
            entries?[place].isSpared = true
        }
    }

    /// What the pump gave by itself up to this step is known: what was asked for meanwhile and not confirmed came that way, up to
    /// the programme of a step each.
    /// - Parameter units: nil where nobody can say.
    mutating func flowed(_ units: Double?, before step: Int64, programmePerStep: Double) {
        guard let units else { return }
        defer { knownUpTo = step }
        guard let places = entries?.indices else { return }
        var left = units
        for place in places {
            guard let entry = entries?[place], entry.requestID != nil, entry.step >= knownUpTo,
                entry.step < step
            else { continue }
            let given = min(left, programmePerStep, entry.units)
            entries?[place].given = given
            left -= given
        }
    }

    /// What is older than the window counts no more.
    mutating func forget(before step: Int64) {
        guard let first = entries?.first, first.step < step - Self.window else { return }
        // What is open may yet be answered: it is found by its number until then.
        entries?.removeAll { $0.step < step - Self.window && !$0.isOpen }
        letGo()
    }

    private mutating func add(_ entry: Entry) {
        if entries == nil { entries = [] }
        let place = entries?.lastIndex { $0.step <= entry.step }.map { $0 + 1 } ?? 0
        entries?.insert(entry, at: place)
    }

    private mutating func letGo() {
        if entries?.isEmpty == true { entries = nil }
    }

    // MARK: The share

    /// U missing in two hours: of those that end where this step begins and those that end with it, in which more is.
    public func missing(at step: Int64) -> Double {
        guard let entries else { return 0 }
        let oldest = step - Self.window
        let asked = entries.lazy.filter {
            $0.requestID != nil && $0.step < step && $0.step >= oldest && $0.missing > 1e-9
        }
        let isAlone = asked.prefix(2).count == 1
        var (sum, ofOldest, ofNewest) = (0.0, 0.0, 0.0)
        for entry in entries where entry.step >= oldest && !(isAlone && entry.isSpared == true) {
            // What was asked for counts from the next step on.
            guard entry.step < step || entry.step == step && entry.requestID == nil else { continue }
            sum += entry.missing
            if entry.step == oldest { ofOldest += entry.missing }
            if entry.step == step { ofNewest += entry.missing }
        }
        return sum - min(ofOldest, ofNewest)
    }

    /// 1 − missing / programmed over the last two hours, or since the first step, %; nil before there is half an hour.
    public func share(at step: Int64, programmePerStep: Double) -> Double? {
        guard step >= Self.begins, programmePerStep > 0 else { return nil }
        if isEmpty { return 100 }
        let programmed = programmePerStep * Double(min(step + 1, Self.window))
        // To a hundredth: sums of rests must not stand in the way of a whole share.
        return max(0, ((1 - missing(at: step) / programmed) * 10_000).rounded() / 100)
    }

    /// After how many steps the share would be below `bound` if none ran from now on; nil for never.
    /// - Parameter displaced: what a zero would displace of a step to come, U.
    func stepsToBound(from step: Int64, programmePerStep: Double, displaced: (Int64) -> Double) -> Int64? {
        guard programmePerStep > 0 else { return nil }
        var ahead = self
        for other in step + 1...step + Self.window {
            let units = displaced(other)
            ahead.displace(units, step: other)
            if let share = ahead.share(at: other, programmePerStep: programmePerStep), share < Self.bound {
                return other - step
            }
            // Nothing comes on top any more, and the newest of what was asked for counts by now.
            if units <= 1e-9, other >= Self.begins, other > step + 1 { return nil }
        }
        return nil
    }
}
