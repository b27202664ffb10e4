// What a day is like in an arm: its glucose, and when its phones rang.
//
// Guarantees: sums that don't depend on the order in which sessions are added; medians by hour are each person's own, so that arms can be compared person by
// person. One person's days are kept as they were.

package import IsletNumerics
import IsletDevices
import IsletKernel

package struct ArmDays: Sendable {
    /// How many slots a day has; each is half an hour.
    package static let slots = 48
    /// Days of one person that are kept.
    static let mostDays = 14

    package var profile: GlucoseProfile
    /// Rings by time of day.
    package private(set) var rings = [Int](repeating: 0, count: slots)
    /// Days that the rings are of.
    package private(set) var days = 0.0
    /// By person: the median glucose in each hour of the day, mg/dL; nil in an hour without a value.
    package private(set) var medians: [Int: [Double?]] = [:]
    /// Days of the first person, oldest first: minutes since midnight, mg/dL.
    package private(set) var traces: [[(minute: Double, mgdl: Double)]] = []

    package init(profile: GlucoseProfile = GlucoseProfile()) { self.profile = profile }

    /// - Parameters:
    ///   - plasma: mg/dL, every `interval` ns from the session's start.
    ///   - rang: when the phone rang.
    ///   - keepsTraces: whether its days are kept.
    mutating func add(
        _ plasma: [Double], every interval: Int64, subject: Int, rang: [Instant], days lived: Double,
        calendar: SessionCalendar, keepsTraces: Bool
    ) {
        profile.add(plasma, every: interval, calendar: calendar)
        days += lived
        for instant in rang {
            let slot = Int(calendar.timeOfDay(at: instant) / (Nanoseconds.day / Int64(Self.slots)))
            rings[min(slot, Self.slots - 1)] += 1
        }
        var hours = [[Double]](repeating: [], count: 24)
        var day = Int64.min
        for (index, mgdl) in plasma.enumerated() where mgdl.isFinite {
            let instant = Instant(nanoseconds: Int64(index) * interval)
            let time = calendar.timeOfDay(at: instant)
            hours[min(23, Int(time / Nanoseconds.hour))].append(mgdl)
            guard keepsTraces, traces.count <= Self.mostDays else { continue }
            let its = calendar.day(of: instant)
            if its != day {
                day = its
                traces.append([])
            }
            traces[traces.count - 1].append((Double(time) / Double(Nanoseconds.minute), mgdl))
        }
        if traces.count > Self.mostDays { traces.removeLast(traces.count - Self.mostDays) }
        medians[subject] = hours.map { Self.median($0) }
    }

    private static func median(_ values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// Rings a day.
    package var ringsPerDay: Double { days > 0 ? Double(rings.reduce(0, +)) / days : 0 }

    /// The mean over people of arm − reference, of their medians in each hour, with its 95 % interval (Student's t on the paired differences); nil where fewer
    /// than 6 people have both.
    package func differences(from reference: ArmDays) -> [(mean: Double, interval: ConfidenceInterval)?] {
        (0..<24).map { hour in
            let pairs = medians.keys.sorted().compactMap { subject -> Double? in
                guard let own = medians[subject]?[hour], let other = reference.medians[subject]?[hour] else {
                    return nil
                }
                return own - other
            }
            guard pairs.count >= Statistics.fewestPairs, let mean = try? Statistics.mean(pairs),
                let interval = try? Statistics.meanInterval(of: pairs, level: 0.95)
            else { return nil }
            return (mean, interval)
        }
    }
}
