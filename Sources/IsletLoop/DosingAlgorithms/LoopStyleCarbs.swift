// Carbohydrate that was announced, and how it is absorbed: as planned, or as glucose shows.
//
// Follows the published description of Loop's carbohydrate model (loopdocs, "Dynamic carb absorption"): a plan in three pieces (rising to 15 % of
// its time, level to the half, falling), stretched by 1.5; what insulin doesn't explain of glucose's rises is absorption, shared among the entries
// that may be absorbing by the rate at which they would; an entry that was seen to absorb at least the plan's share follows what was seen.
//
// Guarantees: fixed size; entries count for ten hours; twelve at most, older ones become one with the oldest that is left.
// Does not: know an absorption time of each entry's own.

import IsletKernel

/// The plan: by the share of its time, the share that is absorbed.
enum LoopStylePlan {
    static let rise = 0.15
    static let fall = 0.5
    static let scale = 2 / (1 + fall - rise)
    static let atRise = 0.5 * scale * rise
    static let atFall = scale * (fall - 0.5 * rise)

    static func absorbed(_ t: Double) -> Double {
        if t <= 0 { return 0 }
        if t < rise { return 0.5 * scale * t * t / rise }
        if t < fall { return scale * (t - 0.5 * rise) }
        if t < 1 { return scale * (fall - 0.5 * rise + (t - fall) * (1 - 0.5 * (t - fall) / (1 - fall))) }
        return 1
    }

    /// The inverse of it.
    static func time(_ absorbed: Double) -> Double {
        if absorbed <= 0 { return 0 }
        if absorbed < atRise { return (2 * rise * absorbed / scale).squareRoot() }
        if absorbed < atFall { return 0.5 * rise + absorbed / scale }
        if absorbed < 1 { return 1 - ((1 - fall) * (1 + fall - rise) * (1 - absorbed)).squareRoot() }
        return 1
    }

    /// Of the whole, per the whole time.
    static func rate(_ t: Double) -> Double {
        if t <= 0 { return 0 }
        if t < rise { return scale * t / rise }
        if t < fall { return scale }
        return t < 1 ? scale * (1 - t) / (1 - fall) : 0
    }
}

/// Times are minutes since the session's start.
struct LoopStyleCarbs: Hashable, Sendable, Codable {
    static let most = 12
    // The oldest first.
    private var grams = FixedCells<12>()
    private var minutes = FixedCells<12>()
    private(set) var count = 0

    mutating func add(_ carbohydrate: Double, at minute: Double) {
        guard carbohydrate > 0 else { return }
        var first = 0
        while first < count, minutes[first] < minute - LoopStyleGlucose.window { first += 1 }
        if first == 0, count == Self.most {
            // What no longer fits is one with the oldest that is left.
            grams[1] += grams[0]
            first = 1
        }
        for place in 0..<(count - first) {
            grams[place] = grams[place + first]
            minutes[place] = minutes[place + first]
        }
        count -= first
        var place = count
        while place > 0, minutes[place - 1] > minute {
            grams[place] = grams[place - 1]
            minutes[place] = minutes[place - 1]
            place -= 1
        }
        grams[place] = carbohydrate
        minutes[place] = minute
        count += 1
    }

    /// The first entry of the last ten hours; `count` where there is none.
    func first(now: Double) -> Int {
        var first = 0
        while first < count, minutes[first] < now - LoopStyleGlucose.window - LoopStyleGlucose.same {
            first += 1
        }
        return first
    }

    func entry(_ place: Int) -> (grams: Double, minute: Double) { (grams[place], minutes[place]) }
}

/// One entry while it is looked at: what of it was seen.
struct LoopStyleEntry {
    let grams: Double
    /// What all of it raises glucose by, mg/dL.
    let effect: Double
    private let perGram: Double
    let start: Double
    /// When the last of it is absorbed at the latest.
    let latest: Double
    /// The longest time that it may take, min.
    private let longest: Double
    /// From the start, its delay not counted, to the end of what was seen of glucose.
    private let seen: Double
    private let lastEffect: Double
    /// What must have been absorbed by then.
    private let least: Double
    /// mg/dL.
    private(set) var observed = 0.0
    /// When all of it was seen; nil while it wasn't.
    private(set) var completed: Double?
    /// The end of the last change that was counted.
    private(set) var observationEnd: Double?

    static let delay = 10.0
    /// mg/dL; less than it is none.
    static let nothing = 1.1920928955078125e-7

    init(grams: Double, perGram: Double, start: Double, longest: Double, lastChange: Double?) {
        self.grams = grams
        self.perGram = perGram
        effect = grams * perGram
        self.start = start
        self.longest = longest
        latest = start + longest + Self.delay
        lastEffect = min(latest, max(lastChange ?? start, start))
        seen = lastEffect - start - Self.delay
        least = grams * LoopStylePlan.absorbed(seen / longest)
    }

    static let none = LoopStyleEntry(grams: 0, perGram: 1, start: 0, longest: 1, lastChange: nil)

    var remaining: Double { max(effect - observed, 0) }

    /// The plan's time for what was seen, min.
    private func time(of observed: Double) -> Double {
        let clamped = min(grams, max(least, observed / perGram))
        return seen > 0 ? min(LoopStylePlan.time(clamped / grams) * longest, longest) : 0
    }

    /// The plan's time for the rest.
    private func timeLeft(_ observed: Double) -> Double {
        guard seen > 0 else { return longest }
        let most = max(longest - seen, 0)
        return most > 0 ? min(longest - time(of: observed), most) : 0
    }

    /// What it took by when all of it was seen, min.
    private var settled: Double?
    /// What it will have taken, min, as far as is known. Where less was seen than the least, that holds. Most entries are never asked.
    private var length: Double {
        settled ?? (lastEffect - start + timeLeft(observed >= least * perGram ? observed : 0))
    }

    /// g/min at which it would be absorbed, so many minutes after its start.
    func rate(_ minutes: Double) -> Double {
        let length = min(length, longest)
        return length > 0 ? grams / length * LoopStylePlan.rate(minutes / length) : 0
    }

    /// - Parameter amount: mg/dL.
    /// - Returns: what of it counts as seen, mg/dL.
    mutating func see(_ amount: Double, until end: Double) -> Double {
        observed += amount
        // All of it was there already.
        guard completed == nil else { return 0 }
        observationEnd = end
        if observed + Self.nothing >= effect {
            completed = end
            settled = end - start + timeLeft(observed)
        }
        return amount
    }

    /// How it goes on: by what was seen, or by the plan; g that are absorbed at a time.
    struct Course {
        /// The end of what was seen; nil where the plan holds all along.
        let observationEnd: Double?
        fileprivate let grams: Double
        /// Where the plan's time is 0, and how long it is.
        fileprivate let origin: Double
        fileprivate let length: Double

        /// From the end of what was seen on.
        func absorbed(at minute: Double) -> Double {
            min(grams, grams * LoopStylePlan.absorbed((minute - origin) / length))
        }
        /// When all of it is absorbed.
        var end: Double { origin + length }
    }

    var course: Course {
        guard observed / perGram >= least, let end = observationEnd else {
            return Course(observationEnd: nil, grams: grams, origin: start + Self.delay, length: length)
        }
        let time = time(of: observed)
        return Course(
            observationEnd: end, grams: grams, origin: end - time, length: time + timeLeft(observed))
    }
}

/// The entries of the last ten hours, and what was seen of each.
struct LoopStyleAbsorption {
    /// Changes whose shares are kept: three hours and a half of them.
    private static let kept = 44
    /// mg/dL.
    private typealias Shares = InlineArray<528, Double>

    private var entries = InlineArray<12, LoopStyleEntry>(repeating: .none)
    private var shares = Shares(repeating: 0)
    /// What was seen before those.
    private var earlier = InlineArray<12, Double>(repeating: 0)
    private(set) var count = 0
    /// mg/dL per g.
    let perGram: Double

    init(perGram: Double) { self.perGram = perGram }

    /// To be called once.
    /// - Parameters:
    ///   - ends, rates: of `LoopStyleGlucose`, and how many changes they hold.
    ///   - longest: what an entry may take, min.
    mutating func see(
        _ carbs: inout LoopStyleCarbs, _ ends: Span<Double>, _ rates: Span<Double>, changes: Int,
        now: Double, longest: Double
    ) {
        let lastChange = changes > 0 ? ends[0] : nil
        for place in carbs.first(now: now)..<carbs.count {
            let (grams, minute) = carbs.entry(place)
            entries[count] = LoopStyleEntry(
                grams: grams, perGram: perGram, start: minute, longest: longest, lastChange: lastChange)
            count += 1
        }
        guard count > 0 else { return }
        var (low, high) = (0, 0)
        for place in (0..<changes).reversed() {
            let (start, end) = (ends[place + 1], ends[place])
            while high < count, start >= entries[high].start - LoopStyleGlucose.same { high += 1 }
            while low < high, start >= entries[low].latest - LoopStyleGlucose.same { low += 1 }
            guard low < high else { continue }
            // What insulin doesn't explain, mg/dL; a fall is none of carbohydrate's.
            share(max(0, rates[place] * (end - start)), (start, end), place, low, high)
        }
    }

    /// Shares what insulin doesn't explain among those that may be absorbing.
    private mutating func share(
        _ rise: Double, _ change: (start: Double, end: Double), _ place: Int, _ low: Int, _ high: Int
    ) {
        var left = rise
        // In place: an element that is read by its subscript is copied.
        var entries = entries.mutableSpan
        if high - low == 1, left <= entries[low].remaining {
            Self.note(entries[low].see(left, until: change.end), low, place, &shares, &earlier)
            return
        }
        guard left > 0 else {
            for entry in low..<high { _ = entries[entry].see(0, until: change.end) }
            return
        }
        var rates = InlineArray<12, Double>(repeating: 0)
        var total = 0.0
        for entry in low..<high {
            rates[entry] = entries[entry].rate(change.start - entries[entry].start)
            total += rates[entry]
        }
        for entry in low..<high {
            let rate = rates[entry]
            var part = 0.0
            if total > 0 {
                part = min(entries[entry].remaining, rate / total * left)
                total -= rate
                left -= part
            }
            Self.note(entries[entry].see(part, until: change.end), entry, place, &shares, &earlier)
            if entry == high - 1, left > LoopStyleEntry.nothing {
                Self.note(entries[entry].see(left, until: change.end), entry, place, &shares, &earlier)
            }
        }
    }

    @inline(__always) private static func note(
        _ amount: Double, _ entry: Int, _ place: Int, _ shares: inout Shares,
        _ earlier: inout InlineArray<12, Double>
    ) {
        if place < kept { shares[entry * kept + place] += amount } else { earlier[entry] += amount }
    }

    /// What of all entries has been absorbed by each tick, mg/dL that glucose rises by, but for a constant.
    /// - Parameter from: the first tick that is asked for.
    mutating func absorbed(
        _ ends: Span<Double>, changes all: Int, now: Double, from: Int, into effects: inout LoopStyleEffects
    ) {
        let changes = min(Self.kept, all)
        let shares = shares.span
        let begin = now + 5 * Double(from)
        for entry in 0..<count {
            let course = entries[entry].course
            // What is over changes nothing any more.
            if max(course.end, course.observationEnd ?? -.infinity) <= begin { continue }
            var place = changes - 1
            var sum = earlier[entry]
            var tick = from
            let seen = course.observationEnd ?? -.infinity
            while tick < LoopStyleInsulin.ticks {
                let minute = now + 5 * Double(tick)
                if minute > seen + LoopStyleGlucose.same { break }
                while place >= 0, ends[place + 1] + 5 <= minute + LoopStyleGlucose.same {
                    sum += shares[entry * Self.kept + place]
                    place -= 1
                }
                var missing = 0.0
                if place + 1 < changes {
                    // A change of more than five minutes may be not over yet.
                    let (start, end) = (ends[place + 2], ends[place + 1])
                    let over = (min(minute, end) - start) / (end - start)
                    missing = (1 - over) * shares[entry * Self.kept + place + 1]
                }
                effects[tick + LoopStyleInsulin.past] += min(sum - missing, entries[entry].effect)
                tick += 1
            }
            while tick < LoopStyleInsulin.ticks {
                let grams = course.absorbed(at: now + 5 * Double(tick))
                effects[tick + LoopStyleInsulin.past] += grams * perGram
                tick += 1
            }
        }
    }
}
