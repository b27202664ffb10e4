// What the policies in shadow came to in one session.
//
// Guarantees: entries stand in the order in which each policy alone would have them; counts are kept once a part.
// Does not: keep words.

import IsletDevices
public import IsletKernel

/// One decision of a policy in shadow.
public struct ShadowEffect: Hashable, Sendable {
    public var instant: Instant
    public var kind: AlertEffect.Kind
    /// Its rule's place in the policy.
    public var rule: Int
    public var severity: AlertSeverity
    public var reason: AlertEffect.Reason
    /// Its code's place among those of the plan.
    public var code: Int
    /// For withdraw: whether the person could have seen the notification.
    public var wasDelivered = false

    /// The end of whatever it was that this began.
    package func ended(at instant: Instant) -> ShadowEffect {
        var end = self
        (end.instant, end.kind, end.reason) = (instant, .clear, .cleanup)
        return end
    }
}

/// The numbers that a store keeps in place of names.
public struct ShadowNumbers: Sendable {
    /// By the places of kinds, severities and reasons, and of the plan's codes.
    public var kinds: [Int]
    public var codes: [Int]
    public var severities: [Int]
    public var reasons: [Int]

    public init(_ plan: ShadowPlan, number: (String) -> Int) {
        kinds = AlertEffect.Kind.allCases.sorted { $0.index < $1.index }.map { number($0.rawValue) }
        codes = plan.codes.map { number($0.rawValue) }
        severities = AlertSeverity.allCases.sorted().map { number($0.name) }
        reasons = AlertEffect.Reason.allCases.map { number($0.rawValue) }
    }
}

struct ShadowLog: Sendable {
    typealias Place = AlertEngine.Place

    /// The rule is the part's.
    struct Entry: Sendable {
        var effect: ShadowEffect
        var part: Int32
    }

    private let plan: ShadowPlan
    private let keepsEffects: Bool
    private(set) var entries: [Entry] = []
    /// Of each part, what begins or ends something for the person: kept whether or not decisions are. The rule is the part's.
    private(set) var noticed: [[ShadowEffect]]
    /// Parts of hidden policies only leave nothing but what is noticed.
    private let isListed: [Bool]
    private var batch: [(entry: Entry, place: Place)] = []
    private var tallies: [AlertTallies]
    var wallClock: WallClock
    private static let night = QuietHours(from: 23 * Nanoseconds.hour, to: 7 * Nanoseconds.hour)

    init(_ plan: ShadowPlan, wallClock: WallClock, keepsEffects: Bool) {
        self.plan = plan
        self.wallClock = wallClock
        self.keepsEffects = keepsEffects
        tallies = plan.parts.map { AlertTallies($0.policy) }
        noticed = plan.parts.map { _ in [] }
        isListed = plan.parts.map { !$0.members.isEmpty }
    }

    mutating func take(_ part: Int, _ effect: AlertEffect, _ place: Place) {
        let entry = Entry(
            effect: ShadowEffect(
                instant: effect.instant, kind: effect.kind, rule: effect.rule, severity: effect.severity,
                reason: effect.reason, code: plan.parts[part].codes[effect.rule],
                wasDelivered: effect.wasDelivered), part: Int32(part))
        if effect.kind.isNoticed { noticed[part].append(entry.effect) }
        guard isListed[part] else { return }
        tallies[part].take(effect) { wallClock.isQuiet(Self.night, at: effect.instant) }
        if keepsEffects { batch.append((entry, place)) }
    }

    /// The judgement is over: its effects take their order.
    mutating func endInstant() {
        if batch.isEmpty { return }
        if batch.count > 1 {
            var keys = batch.indices.map { key(of: $0) }
            keys.sort()
            for key in keys { entries.append(batch[Int(key & 0xFF_FFFF)].entry) }
        } else {
            entries.append(batch[0].entry)
        }
        batch.removeAll(keepingCapacity: true)
    }

    /// As one engine orders its groups: replacements, the inputs' order, the code; equal ones stay as they came.
    private func key(of index: Int) -> UInt64 {
        let (entry, place) = batch[index]
        let order = UInt64(clamping: min(max(place.order, 0), 0xFFFF))
        return (place.isReplacement ? 0 : 1) << 56 | order << 40 | UInt64(entry.effect.code) << 24
            | UInt64(index)
    }

    /// The effects of each policy of the plan.
    func effects() -> [[ShadowEffect]] {
        var effects = [[ShadowEffect]](repeating: [], count: plan.policies.count)
        for entry in entries {
            for member in plan.parts[Int(entry.part)].members {
                var effect = entry.effect
                effect.rule = member.rules[effect.rule]
                effects[member.policy].append(effect)
            }
        }
        return effects
    }

    /// Of each policy of the plan: JSON, a list of lists of time, ns, and the numbers of effect, code, severity and reason. Empty where nothing was
    /// decided.
    func texts(_ numbers: ShadowNumbers) -> [[UInt8]] {
        var texts = [[UInt8]](repeating: [], count: plan.policies.count)
        // Of most parts one policy alone: its place; -1 for the others.
        let owner = plan.parts.map { $0.members.count == 1 ? $0.members[0].policy : -1 }
        var item: [UInt8] = []
        for entry in entries {
            let effect = entry.effect
            item.removeAll(keepingCapacity: true)
            item.append(UInt8(ascii: ","))
            item.append(UInt8(ascii: "["))
            Self.write(effect.instant.nanoseconds, &item)
            item.append(UInt8(ascii: ","))
            Self.write(Int64(numbers.kinds[effect.kind.index]), &item)
            item.append(UInt8(ascii: ","))
            Self.write(Int64(numbers.codes[effect.code]), &item)
            item.append(UInt8(ascii: ","))
            Self.write(Int64(numbers.severities[Int(effect.severity.rawValue)]), &item)
            item.append(UInt8(ascii: ","))
            Self.write(Int64(numbers.reasons[effect.reason.index]), &item)
            item.append(UInt8(ascii: "]"))
            let part = Int(entry.part)
            if owner[part] >= 0 {
                texts[owner[part]] += item
            } else {
                for member in plan.parts[part].members { texts[member.policy] += item }
            }
        }
        for policy in texts.indices where !texts[policy].isEmpty {
            texts[policy][0] = UInt8(ascii: "[")
            texts[policy].append(UInt8(ascii: "]"))
        }
        return texts
    }

    private static func write(_ number: Int64, _ text: inout [UInt8]) {
        // A sign and nineteen digits.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var place = 20
            var rest = number.magnitude
            repeat {
                place -= 1
                digits[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if number < 0 {
                place -= 1
                digits[place] = UInt8(ascii: "-")
            }
            text.append(contentsOf: UnsafeBufferPointer(rebasing: digits[place...]))
        }
    }

    /// The tallies of each policy of the plan, by the policy's rules.
    func tallies(at now: Instant) -> [[AlertTally]] {
        let parts = tallies.map { $0.soFar(at: now) }
        return plan.policies.indices.map { policy in
            var own: [(rule: Int, tally: AlertTally)] = []
            for (part, rules) in plan.partsOfPolicy[policy] {
                for (rule, tally) in zip(rules, parts[part]) {
                    var tally = tally
                    tally.policy = plan.policies[policy].name
                    own.append((rule, tally))
                }
            }
            return own.sorted { $0.rule < $1.rule }.map(\.tally)
        }
    }
}
