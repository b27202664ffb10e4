// The random numbers of a person.
//
// Guarantees: each number hangs on the subject, what it is about, and when, never on how much happened before: policies that ring about the
// same thing at the same time find the same person asleep or awake, and an alert more about one thing shifts nobody's luck
// about another, nor later.

import IsletAlerts
import IsletNumerics
import IsletKernel

struct PersonDraws {
    private let rings: RandomStream
    private let feelings: RandomStream
    private let nights: RandomStream
    private let looks: RandomStream
    private let actions: RandomStream
    private let depths: RandomStream

    static let slot = 5 * Nanoseconds.minute

    /// Whose draws: each has streams of their own.
    enum Who {
        case person, parent
    }

    init(_ streams: RandomStreams, of who: Who = .person) {
        let isParent = who == .parent
        rings = streams.stream(isParent ? "parent.ring" : "person.ring")
        feelings = streams.stream(isParent ? "parent.feeling" : "person.feeling")
        nights = streams.stream(isParent ? "parent.night" : "person.night")
        looks = streams.stream(isParent ? "parent.look" : "person.look")
        actions = streams.stream(isParent ? "parent.deed" : "person.deed")
        depths = streams.stream(isParent ? "parent.depth" : "person.depth")
    }

    /// What is done at one instant.
    enum Action: UInt64 {
        case rescue, correction, askAgain, reopen, feltDelay, treats, helped, suspicion, ketones, siteChange,
            pen
    }

    private static func index(of instant: Instant) -> UInt64 {
        UInt64(bitPattern: instant.nanoseconds / slot)
    }

    /// The `n`-th ring about something in a slot, from 0: a uniform number and a normal one.
    func ring(_ topic: AlertTopic, at instant: Instant, n: Int) -> (uniform: Double, normal: Double) {
        let place = Self.index(of: instant) << 16 | UInt64(topic.rawValue) << 8 | UInt64(min(n, 255))
        return Self.pair(rings.at(place))
    }

    /// As `ring`, to somebody who sleeps: rings of one sleep cycle, whatever they are about, share its depth by `share` of their variance. Each alone
    /// is uniform still.
    func sleepingRing(
        _ topic: AlertTopic, at instant: Instant, n: Int, share: Double, cycle: Int64
    ) -> (uniform: Double, normal: Double) {
        let own = ring(topic, at: instant, n: n)
        guard share > 0 else { return own }
        var stream = depths.at(UInt64(bitPattern: instant.nanoseconds / cycle))
        let depth = Normal.next(using: &stream)
        let alone = Normal.quantile(min(max(own.uniform, 1e-15), 1 - 1e-15))
        let z = share.squareRoot() * depth + (1 - share).squareRoot() * alone
        return (Normal.cumulative(z), own.normal)
    }

    /// Whether something that has a share of a person's nights holds in the one that begins in the evening of local day `day`.
    func isSo(_ share: Double, inNightOf day: Int64) -> Bool {
        guard share > 0, share < 1 else { return share > 0 }
        var stream = depths.at(UInt64(bitPattern: day) ^ 1 << 63)
        return stream.uniform() < share
    }

    /// A low that begins at `instant`.
    func feeling(at instant: Instant) -> Double {
        var stream = feelings.at(Self.index(of: instant))
        return stream.uniform()
    }

    /// Two normal numbers within two standard deviations: of falling asleep in the evening of local day `day`, and of getting up.
    func night(_ day: Int64) -> (bed: Double, rise: Double) {
        var stream = nights.at(UInt64(bitPattern: day))
        let bed = Normal.next(using: &stream), rise = Normal.next(using: &stream)
        return (min(max(bed, -2), 2), min(max(rise, -2), 2))
    }

    /// The gap before the `n`-th look of local day `day`, in means.
    func look(_ day: Int64, n: Int) -> Double {
        var stream = looks.at(UInt64(bitPattern: day) << 16 | UInt64(min(n, 0xffff)))
        return -naturalLogarithm(1 - stream.uniform())
    }

    func action(_ action: Action, at instant: Instant) -> (uniform: Double, normal: Double, other: Double) {
        var stream = actions.at(Self.index(of: instant) << 8 | action.rawValue)
        let uniform = stream.uniform(), normal = Normal.next(using: &stream)
        return (uniform, normal, Normal.next(using: &stream))
    }

    private static func pair(_ stream: RandomStream) -> (uniform: Double, normal: Double) {
        var stream = stream
        let uniform = stream.uniform()
        return (uniform, Normal.next(using: &stream))
    }
}
