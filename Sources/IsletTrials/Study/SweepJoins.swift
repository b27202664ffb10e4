// Which variants of a sweep cannot differ: they are lived once.
//
// Guarantees: two variants are joined only where no session of the study could tell them apart. A sensor has a reading every five minutes at most, and
// after a notification a rule about them rings again at the earliest two readings later, by its `repeatEvery`, or at a higher severity, which no
// cooldown holds back; so a cooldown of up to that long holds back nothing. A person whom no alert reaches lives the same under any policy.
// Does not: look at results. `SweepView` joins what did not differ.

package import IsletAlerts
import IsletDevices
import IsletFiles
import IsletKernel
import IsletModels

/// What an arm of a closed sweep stands for.
package struct SweepArm: Hashable, Sendable {
    package var arm: String
    /// The listed arm that it is a variant of, or is itself.
    package var of: String
    /// Places of the sweep's points that cannot differ; the first one is lived.
    package var points: [Int]
}

extension AlertPolicy {
    /// Why canonical policies of two variants are equal, in words.
    static let joinedBecause =
        "a cooldown of up to 5 min, or of up to `repeatEvery`, holds nothing back: there is a reading every 5 min at most"

    /// The same with each cooldown that can hold nothing back as 0: policies whose canonical ones are equal cannot differ.
    /// - Parameter interval: the shortest time between two readings, ns.
    func canonical(readingsEvery interval: Int64) -> AlertPolicy {
        var policy = self
        policy.name = ""
        for place in rules.indices {
            let rule = rules[place]
            // What was shown in front is notified when that is left, whenever that is.
            let isLate = afterFront != nil || rule.code.isOfThreshold
            let shortest = rule.shortestRepeat(readingsEvery: isLate ? 0 : interval)
            func needed(_ severity: AlertSeverity) -> Int64 {
                let cooldown = rule.cooldown(at: severity, limits)
                return cooldown <= shortest ? 0 : cooldown
            }
            policy.rules[place].cooldown = nil
            policy.rules[place].cooldowns = AlertCooldowns(
                actionable: needed(.actionable), safetyCritical: needed(.safetyCritical))
        }
        // Each rule has its own by now.
        policy.limits.cooldown = AlertLimits().cooldown
        return policy
    }
}

extension AlertRule {
    /// How soon after a notification it can try to ring again at the same severity, ns; 0 where that is not known.
    fileprivate func shortestRepeat(readingsEvery interval: Int64) -> Int64 {
        let sampled: [AlertMetric] = [.glucose, .glucoseRate, .glucoseIn20m]
        guard !isLiteral, !tests.isEmpty, tests.allSatisfy({ sampled.contains($0.metric) }) else { return 0 }
        return min(interval, repeatEvery ?? interval)
    }
}

extension Study {
    /// How soon a reading may follow another, ns; 0 where nothing is known of that, or where an app that dies may forget.
    private var shortestReadingInterval: Int64 {
        let deaths = [FaultKind.appQuit, .appRelaunch]
        let isMortal = deaths.contains { kind in
            faults.settings[kind.index] != .off || faults.scheduled.contains { $0.kind == kind }
        }
        return subject.kind.isPerson && !isMortal && !isRecorded ? SessionTruth.readingInterval : 0
    }

    /// Places of the variants that cannot differ from each other, in the order of the first ones.
    package func joined(_ variants: [AlertPolicy]) -> [[Int]] {
        let interval = shortestReadingInterval
        var groups: [[Int]] = []
        var known: [AlertPolicy: Int] = [:]
        for (place, variant) in variants.enumerated() {
            let canonical = variant.canonical(readingsEvery: interval)
            if let group = known[canonical] {
                groups[group].append(place)
            } else {
                known[canonical] = groups.count
                groups.append([place])
            }
        }
        return groups
    }

    /// Each variant that may differ from the others as an arm beside each of the arms whose person alerts reach.
    mutating func addArms(_ sweep: PolicySweep, _ reader: YAMLReader) throws(InputError) {
        let listed = arms
        let heard = listed.filter { person(in: $0)?.isDeafToAlerts != true }
        let varied = heard.isEmpty ? listed : heard
        var made: [SweepArm] = []
        for arm in varied {
            let (own, others) = groups(of: sweep.variants, in: arm)
            made.append(SweepArm(arm: arm.name, of: arm.name, points: own))
            for points in others {
                let variant = sweep.variants[points[0]]
                made.append(
                    SweepArm(
                        arm: varied.count == 1 ? variant.name : "\(arm.name) \(variant.name)", of: arm.name,
                        points: points))
            }
        }
        let count = listed.count + made.count - varied.count
        guard count <= Self.maximumArms else {
            throw reader.problem(
                found:
                    "\(listed.count) \(listed.count == 1 ? "arm" : "arms") and \(sweep.variants.count) variants of \(varied.count), \(count) arms in all",
                expected: "at most \(Self.maximumArms) arms in all: fewer variants, or `mode: shadow`")
        }
        for one in made where one.arm != one.of {
            guard var other = listed.first(where: { $0.name == one.of }) else { continue }
            other.alerts = sweep.variants[one.points[0]]
            other.name = one.arm
            guard TextRule.name.accepts(other.name), !arms.contains(where: { $0.name == other.name })
            else {
                throw reader.problem(
                    found: "an arm \(quotedForMessage(other.name)) of the sweep",
                    expected: "a name of at most 100 characters that no other arm has")
            }
            arms.append(other)
        }
        self.sweep = sweep
        sweepArms = made
    }

    /// Variants that cannot differ from the arm as it is, and groups of the others.
    private func groups(of variants: [AlertPolicy], in arm: Arm) -> (own: [Int], others: [[Int]]) {
        // The arm's own first: what is in its group is in the arm.
        var groups = joined([arm.alerts] + variants).map { $0.map { $0 - 1 } }
        let own = groups.removeFirst().filter { $0 >= 0 }
        return (own, groups)
    }
}

// MARK: In a resolved study

extension Study {
    private static let armShape = MappingShape(
        summary: "An arm that a closed sweep has made.",
        keys: [
            KeyShape("arm", .text(.name), "Its name.", isRequired: true),
            KeyShape("of", .text(.name), "The listed arm that it is a variant of, or is.", isRequired: true),
            KeyShape(
                "points",
                .list(
                    .wholeNumber(0...UInt64(PolicySweep.maximumVariants)),
                    count: 0...PolicySweep.maximumVariants),
                "Places of the points that it stands for, from 0: they cannot differ.", isRequired: true),
        ])

    static let sweepArmsShape = KeyShape(
        "arms", .list(.mapping(armShape), count: 0...maximumArms),
        "In a resolved study: the arms that a closed sweep has made.", leftOut: "made of the points")

    var sweepArmsJSON: JSONValue {
        .array(
            sweepArms.map {
                [
                    "arm": .string($0.arm), "of": .string($0.of),
                    "points": .array($0.points.map { .integer(Int64($0)) }),
                ]
            })
    }

    /// What a resolved study says of the arms that its sweep has made, checked against them.
    mutating func takeArms(_ sweep: PolicySweep, _ reader: YAMLReader) throws(InputError) {
        var made: [SweepArm] = []
        for item in reader.items {
            guard let name = try item["arm"]?.text(), let of = try item["of"]?.text() else { continue }
            var points: [Int] = []
            for point in item["points"]?.items ?? [] {
                let place = Int(try point.wholeNumber(in: 0...UInt64(PolicySweep.maximumVariants)))
                guard sweep.variants.indices.contains(place) else {
                    throw point.problem(expected: "the place of a point, 0 to \(sweep.variants.count - 1)")
                }
                points.append(place)
            }
            guard let arm = arms.first(where: { $0.name == name }),
                name == of || points.first.map({ sweep.variants[$0] == arm.alerts }) ?? false
            else {
                throw item.problem(
                    found: "the arm \(quotedForMessage(name))",
                    expected: "an arm of the study whose policy is that point of the sweep")
            }
            made.append(SweepArm(arm: name, of: of, points: points))
        }
        self.sweep = sweep
        sweepArms = made
    }
}
