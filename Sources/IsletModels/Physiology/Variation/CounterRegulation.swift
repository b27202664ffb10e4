// What a body does by itself against a low: the liver makes more.
//
// Guarantees: production beside what the parameters say, from 0 to a ceiling, never below 0; a pure function of the plasma glucose that it was shown, every
// five minutes, and of the instants; between two of them continuous. So no step of integration ends at it.
// Does not: have glucagon. In type 1 diabetes its release at low glucose is lost within years; in six people clamped at 54 mg/dL production
// didn't rise at all (Diabetes 50:2087), in others it rises blunted, later and deeper: that is adrenaline, and it is what this stands for.
//
// Form: a first-order lag of a drive that is proportional to what glucose lacks to a threshold, as simulators of adrenaline have it (Alverhag and Martin,
// IMA 2006; UVA/Padova's glucagon by a like law, JDST 8:26). Asleep the response is smaller (Jones, NEJM 338:1657), and after a deep low of the
// day before (Dagogo-Jack, J Clin Invest 91:819). **The values are assumed**: those sources measure hormones, not the liver; `--sensitivity` varies them.

public import IsletKernel

public struct CounterRegulation: Hashable, Sendable {
    /// mg/dL of plasma glucose: of this person.
    public var threshold: Double
    /// Share of basal production for each mg/dL below the threshold.
    public var gain: Double
    /// Share of basal production.
    public var ceiling: Double
    /// min
    public var timeConstant: Double
    /// Factors on the gain: asleep, and within a day after a deep low.
    public var asleep: Double
    public var afterLow: Double

    /// At `since`, and where it goes from there.
    private var level = 0.0
    private var drive = 0.0
    private var since = Instant.start
    private var deepSince: Instant?
    private var blunts: (from: Instant, until: Instant)?

    /// mg/dL, and how long below it, ns: a low that blunts the answer to the next one.
    static let deep = 54.0
    static let deepFor = 15 * Nanoseconds.minute

    public init(
        threshold: Double, gain: Double, ceiling: Double, timeConstant: Double, asleep: Double,
        afterLow: Double
    ) {
        (self.threshold, self.gain, self.ceiling) = (threshold, gain, ceiling)
        (self.timeConstant, self.asleep, self.afterLow) = (timeConstant, asleep, afterLow)
    }

    /// The body's plasma glucose at an instant, mg/dL; instants rise.
    public mutating func see(_ plasma: Double, at instant: Instant, isAsleep: Bool) {
        // Nothing to do is the rule.
        guard plasma < threshold || level > 0 || drive > 0 else { return }
        level = self.level(at: instant)
        since = instant
        if plasma < Self.deep {
            deepSince = deepSince ?? instant
        } else if let began = deepSince {
            deepSince = nil
            if instant.nanoseconds - began.nanoseconds >= Self.deepFor {
                // From the next low on: what answers this one goes on.
                blunts = (instant.adding(Nanoseconds.hour), instant.adding(Nanoseconds.day))
            }
        }
        var strength = gain
        if isAsleep { strength *= asleep }
        if let blunts, instant >= blunts.from, instant < blunts.until { strength *= afterLow }
        drive = min(ceiling, strength * max(0, threshold - plasma))
        // Less than a millionth is nothing.
        if drive == 0, level < 1e-6 { level = 0 }
    }

    /// A share of basal production, from the instant seen last on.
    public func level(at instant: Instant) -> Double {
        guard level > 0 || drive > 0 else { return 0 }
        let minutes = Double(instant.nanoseconds - since.nanoseconds) / Double(Nanoseconds.minute)
        return drive + (level - drive) * exponential(-max(0, minutes) / timeConstant)
    }

    public static func == (a: Self, b: Self) -> Bool {
        a.values == b.values
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(values) }

    /// What a body is made with.
    private var values: [Double] { [threshold, gain, ceiling, timeConstant, asleep, afterLow] }
}

/// How carbohydrate that is swallowed against a low is taken up.
public struct RescueUptake: Hashable, Sendable, BitwiseCopyable {
    /// Time constant of each of the two compartments on its way, min.
    public var minutes: Double
    /// The share that arrives.
    public var availability: Double

    public init(minutes: Double, availability: Double) {
        (self.minutes, self.availability) = (minutes, availability)
    }

    /// McGill's.
    public static let usual = Self(minutes: 20, availability: 1)
}
