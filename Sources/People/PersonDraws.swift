// The random numbers of a person.
//
// Guarantees: each number hangs on the subject, what it is about, and when, never on how much happened before: policies that ring about the
// same thing at the same time find the same person asleep or awake, and an alert more about one thing shifts nobody's luck
// about another, nor later.

import Alerts
import GSL
import SessionTime
import SimulationKernel

struct PersonDraws {
    private let rings: RandomStream
    private let feelings: RandomStream
    private let nights: RandomStream
    private let looks: RandomStream
    private let actions: RandomStream

    static let slot = 5 * Nanoseconds.minute

    init(_ streams: RandomStreams) {
        rings = streams.stream("person.ring")
        feelings = streams.stream("person.feeling")
        nights = streams.stream("person.night")
        looks = streams.stream("person.look")
        actions = streams.stream("person.deed")
    }

    /// What is done at one instant.
    enum Action: UInt64 {
        case rescue, correction, askAgain, reopen, feltDelay
    }

    private static func index(of instant: Instant) -> UInt64 {
        UInt64(bitPattern: instant.nanoseconds / slot)
    }

    /// The `n`-th ring about something in a slot, from 0: a uniform number and a normal one.
    func ring(_ topic: AlertTopic, at instant: Instant, n: Int) -> (uniform: Double, normal: Double) {
        let place = Self.index(of: instant) << 16 | UInt64(topic.rawValue) << 8 | UInt64(min(n, 255))
        return Self.pair(rings.at(place))
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
        return -logarithm(1 - stream.uniform())
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
