// The glucose of many days laid over one another: how it is distributed at each time of day (ambulatory glucose profile).
//
// Guarantees: integer counts of the true plasma glucose by local time of day and glucose, so that the order in which days come, and on
// which thread, leaves no trace. A percentile is read within a step of glucose as if its values were spread evenly.

package import IsletKernel

package struct GlucoseProfile: Sendable {
    /// How many slots a day has; each is 15 min.
    package static let slots = 96
    /// mg/dL; the last step holds what is above.
    static let step = 2.0
    static let steps = 301

    private var counts = [Int32](repeating: 0, count: slots * steps)
    /// Sessions that were added.
    package private(set) var sessions = 0
    package private(set) var values = 0

    package init() {}

    /// - Parameters:
    ///   - plasma: mg/dL, every `interval` ns from the session's start.
    ///   - calendar: of the session.
    package mutating func add(_ plasma: [Double], every interval: Int64, calendar: SessionCalendar) {
        sessions += 1
        for (index, mgdl) in plasma.enumerated() where mgdl.isFinite {
            let time = calendar.timeOfDay(at: Instant(nanoseconds: Int64(index) * interval))
            let slot = Int(time / (Nanoseconds.day / Int64(Self.slots)))
            let place = max(0, min(Self.steps - 1, Int(mgdl / Self.step)))
            counts[min(slot, Self.slots - 1) * Self.steps + place] += 1
            values += 1
        }
    }

    /// The glucose that a share of a slot's values lies below, mg/dL; nil where it has none.
    package func percentile(_ share: Double, slot: Int) -> Double? {
        let column = counts[(slot * Self.steps)..<((slot + 1) * Self.steps)]
        let all = column.reduce(0) { $0 + Int($1) }
        guard all > 0 else { return nil }
        let wanted = share * Double(all)
        var below = 0
        for (place, count) in column.enumerated() where count > 0 {
            if Double(below) + Double(count) >= wanted {
                let part = (wanted - Double(below)) / Double(count)
                return (Double(place) + max(0, min(1, part))) * Self.step
            }
            below += Int(count)
        }
        return Double(Self.steps) * Self.step
    }
}
