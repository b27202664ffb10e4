// Outcomes of a person who listens: what was heard, how soon it was answered, what was eaten against lows, what was slept through.
//
// Guarantees: night is the person's own, from falling asleep to getting up, awake in it or not. Where nobody listens there are none: empty, never zero.
// A low is one of the true plasma glucose, as a person's body has it, whatever a sensor or a policy said.

import IsletFiles
import IsletPeople
import IsletDevices
import IsletKernel

/// A person's facts beside the truth.
struct PersonOutcomeFacts {
    var facts: PersonFacts
    /// Lows, below 70 and below 54 mg/dL for 15 min or more, that began at night and of which it is known whether they were slept through; and those that were.
    var nightLows = (level1: 0, level2: 0)
    var sleptThrough = (level1: 0, level2: 0)

    /// Nobody who hasn't woken by then wakes of this low.
    private static let patience = Nanoseconds.hour

    /// - Parameter endedEarly: whether the session ended before its time: a low that it ended in counts then.
    init(_ facts: PersonFacts, plasma: [Float], reached: Instant, endedEarly: Bool) {
        self.facts = facts
        let watched = endedEarly ? .distantFuture : reached
        (nightLows.level1, sleptThrough.level1) = count(below: 70, plasma, until: watched)
        (nightLows.level2, sleptThrough.level2) = count(below: 54, plasma, until: watched)
    }

    private func count(
        below bound: Float, _ plasma: [Float], until watched: Instant
    ) -> (all: Int, sleptThrough: Int) {
        var (all, slept) = (0, 0)
        var place = 0
        while place < plasma.count {
            guard plasma[place] < bound else {
                place += 1
                continue
            }
            let first = place
            while place < plasma.count, plasma[place] < bound { place += 1 }
            // Five minutes a value: three of them last a quarter of an hour.
            guard place - first >= 3 else { continue }
            let onset = Instant(nanoseconds: Int64(first) * Self.interval)
            let end = min(
                Instant(nanoseconds: Int64(place) * Self.interval), onset.adding(Self.patience))
            guard let night = facts.nights.first(where: { $0.from <= onset && onset < $0.to }) else {
                continue
            }
            // Awake in it, whether it was this low that woke them or what warned of it an hour before.
            let isAwake =
                facts.awake.contains { $0.from <= end && $0.to > onset }
                || facts.wakings.contains { $0 >= onset && $0 <= end }
            // Who gets up in it, or isn't watched until it is over, has neither woken nor slept through.
            let isCutOff = place == plasma.count && onset.adding(Self.patience) > watched
            guard isAwake || night.to > end && !isCutOff else { continue }
            all += 1
            if !isAwake { slept += 1 }
        }
        return (all, slept)
    }

    private static let interval = 5 * Nanoseconds.minute
}

extension Outcome {
    static let person: [Outcome] = [
        rate(
            "alerts_heard_per_day", "rings heard", "notifications that the person noticed, per day lived",
            .neither
        ) {
            Double($0.facts.heard.sum)
        },
        rate("alerts_heard_night_per_day", "rings heard at night", "of these, at night", .neither) {
            Double($0.facts.heard.night)
        },
        rate(
            "alerts_unheard_per_day", "rings not heard",
            "notifications that the person didn't notice, per day lived", .lower
        ) {
            Double($0.facts.unheard.sum)
        },
        rate("alerts_unheard_night_per_day", "rings not heard at night", "of these, at night", .lower) {
            Double($0.facts.unheard.night)
        },
        share(
            "alerts_heard_fraction", "rings that were heard", "noticed of the notifications", better: .higher
        ) {
            ($0.facts.heard.sum, $0.facts.heard.sum + $0.facts.unheard.sum)
        },
        share(
            "alerts_heard_night_fraction", "rings at night that were heard", "the same at night",
            better: .higher
        ) {
            ($0.facts.heard.night, $0.facts.heard.night + $0.facts.unheard.night)
        },
        delay(
            "alerts_ack_delay_min", "time to acknowledge",
            "from an alert's raise to its acknowledgement, mean"
        ) {
            ($0.facts.acknowledgeMinutes.sum, $0.facts.acknowledged.sum)
        },
        delay("alerts_ack_delay_day_min", "time to acknowledge by day", "the same, raised by day") {
            ($0.facts.acknowledgeMinutes.day, $0.facts.acknowledged.day)
        },
        delay("alerts_ack_delay_night_min", "time to acknowledge at night", "the same, raised at night") {
            ($0.facts.acknowledgeMinutes.night, $0.facts.acknowledged.night)
        },
        delay(
            "alerts_act_delay_min", "time from ring to first bite",
            "from the first ring about a low to the first bite, mean over lows that rang and were treated"
        ) { ($0.facts.treatMinutes.sum, $0.facts.treated.sum) },
        delay("alerts_act_delay_day_min", "time from ring to first bite by day", "the same, rung by day") {
            ($0.facts.treatMinutes.day, $0.facts.treated.day)
        },
        delay(
            "alerts_act_delay_night_min", "time from ring to first bite at night", "the same, rung at night"
        ) {
            ($0.facts.treatMinutes.night, $0.facts.treated.night)
        },
        rate(
            "rescue_night_g_per_day", "carbohydrate against lows at night", "of `rescue_g_per_day`, at night",
            .neither, "g/day"
        ) {
            $0.facts.rescueGrams.night
        },
        rate(
            "rescues_per_day", "times something was eaten against a low",
            "how often carbohydrate was eaten against a low, per day lived", .neither
        ) {
            Double($0.facts.rescues.sum)
        },
        rate(
            "wakings_per_day", "wakings", "how often an alert or a felt low woke the person, per day lived",
            .lower
        ) {
            Double($0.facts.wakings.count)
        },
        week(
            "lows_slept_through_per_week", "lows slept through",
            "true lows (< 70 mg/dL for 15 min) that began at night and in which nobody was awake before they were over, or within an hour, per week lived"
        ) { Double($0.sleptThrough.level1) },
        week(
            "lows_l2_slept_through_per_week", "lows below \(54, unit: "mg/dL") slept through",
            "the same of lows < 54 mg/dL"
        ) {
            Double($0.sleptThrough.level2)
        },
        share(
            "lows_slept_through_fraction", "lows at night that were slept through",
            "slept through of the lows that began at night and in which somebody woke or the night went on",
            better: .lower
        ) {
            ($0.sleptThrough.level1, $0.nightLows.level1)
        },
        rate(
            "corrections_by_hand_per_day", "corrections by hand",
            "boluses against highs that the person asked for, per day lived",
            .neither
        ) { Double($0.facts.corrections) },
        rate(
            "looks_per_day", "looks at the phone", "looks at the phone, for whatever reason, per day lived",
            .neither
        ) {
            Double($0.facts.looks)
        },
        week(
            "sites_suspected_per_week", "sites suspected",
            "how often the person thought that a high might be the pod's site, per week lived", .neither
        ) { Double($0.facts.sitesSuspected) },
        week(
            "site_changes_for_highs_per_week", "pods changed for a high",
            "pods that the person changed before their time because of such a high, per week lived", .neither
        ) { Double($0.facts.siteChanges) },
        week(
            "site_changes_in_vain_per_week", "pods changed in vain",
            "of these, pods whose site worked, per week lived"
        ) { Double($0.facts.siteChangesInVain) },
        rate(
            "pen_insulin_u_per_day", "insulin by a pen",
            "of `insulin_u_per_day`, what the person gave by a pen at a suspected site, per day lived",
            .neither, "U/day"
        ) { $0.facts.penUnits },
    ]

    private static func rate(
        _ name: String, _ words: ValueText, _ meaning: String, _ better: Better, _ unit: String = "1/day",
        _ amount: @escaping @Sendable (PersonOutcomeFacts) -> Double
    ) -> Outcome {
        Outcome(name, words, unit: unit, meaning, better: better, kind: .person) { facts in
            facts.person.flatMap { facts.perDay(amount($0)) }
        }
    }

    private static func week(
        _ name: String, _ words: ValueText, _ meaning: String, _ better: Better = .lower,
        _ amount: @escaping @Sendable (PersonOutcomeFacts) -> Double
    ) -> Outcome {
        Outcome(name, words, unit: "1/week", meaning, better: better, kind: .person) { facts in
            facts.person.flatMap { facts.perWeek(amount($0)) }
        }
    }

    private static func share(
        _ name: String, _ words: ValueText, _ meaning: String, better: Better,
        _ counts: @escaping @Sendable (PersonOutcomeFacts) -> (Int, Int)
    ) -> Outcome {
        Outcome(
            name, words, unit: "", meaning + "; empty where there were none", better: better, kind: .person
        ) {
            facts in
            guard let (some, all) = facts.person.map(counts), all > 0 else { return nil }
            return Double(some) / Double(all)
        }
    }

    private static func delay(
        _ name: String, _ words: ValueText, _ meaning: String,
        _ sums: @escaping @Sendable (PersonOutcomeFacts) -> (Double, Int)
    ) -> Outcome {
        Outcome(
            name, words, unit: "min", meaning + "; empty where there were none", better: .lower, kind: .person
        ) {
            facts in
            guard let (sum, count) = facts.person.map(sums), count > 0 else { return nil }
            return sum / Double(count)
        }
    }
}
