// Who of a ward is in trouble, and who is in more of it: judged once, shown by the ward's page and the API.
//
// Guarantees: a total order of danger, by what harms soonest: an acknowledgement, a name and the number of alerts change nothing in it. Values within a danger are
// in steps, so that noise turns no two of them round. The words are clauses with their values. Does not: look at a clock, ring, or know a unit other than mg/dL.

import IsletAlerts
package import IsletDevices
import IsletLoop
package import IsletKernel

package struct WardStanding: Hashable, Sendable {
    /// How a row is drawn and counted, the worst first.
    package enum Group: String, Hashable, Sendable, CaseIterable {
        case urgent, action
        /// Nobody knows how it stands: no reading, or an old one.
        case noData = "nodata"
        /// Not well, and nobody has to do anything.
        case watch
        case well
    }

    /// What may harm, what harms soonest first.
    package enum Danger: Int, Hashable, Sendable, Comparable, CaseIterable {
        /// Below 54 mg/dL, no insulin above 250 mg/dL, a room beyond its critical bounds.
        case harmNow
        /// Frozen, failed or not back: nothing of it is sure.
        case noTrust
        /// Below 54 mg/dL within 20 min, by the slope.
        case harmSoon
        /// An alert or a device says that it is urgent.
        case urgent
        /// Below 70 mg/dL.
        case low
        /// No insulin for 15 min, or no reading for 20.
        case noSupply
        /// 300 mg/dL and more for an hour.
        case highLong
        /// Above 250 mg/dL.
        case high
        /// Somebody has to act.
        case action
        case noData, watch, well

        package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    /// What harms: since when, or in how many minutes.
    package struct Harm: Hashable, Sendable {
        /// A clause.
        package var words: ValueText
        package var since: Instant?
        package var inMinutes: Double?

        package init(_ words: ValueText, since: Instant? = nil, inMinutes: Double? = nil) {
            (self.words, self.since, self.inMinutes) = (words, since, inMinutes)
        }

        /// The whole clause, as it is at an instant.
        package func text(at now: Instant) -> ValueText {
            func whole(_ minutes: Double) -> String { "\(Int(minutes.rounded())) min" }
            if let inMinutes { return "\(words) in \(whole(inMinutes))" }
            return since.map { "\(words) for \(whole(now.minutes - $0.minutes))" } ?? words
        }
    }

    package var group = Group.well
    package var danger = Danger.well
    /// Within a danger, the smaller the sooner.
    package var step = 0
    /// Minutes until glucose is below 54 mg/dL by its slope, up to 120; 0 below it; nil where it does not go there.
    package var minutesToHarm: Double?
    /// What harms; nil where nothing does.
    package var harm: Harm?
    /// Since when the insulin has been missing; nil while the pump gives.
    package var noInsulinSince: Instant?
    /// The oldest alert that asks for something and that nobody has answered.
    package var unansweredSince: Instant?

    package init() {}

    /// Whether it stands before another.
    package func precedes(_ other: WardStanding) -> Bool? {
        if danger != other.danger { return danger < other.danger }
        if step != other.step { return step < other.step }
        let (mine, theirs) = (unansweredSince ?? .distantFuture, other.unansweredSince ?? .distantFuture)
        return mine == theirs ? nil : mine < theirs
    }
}

extension WardStanding {
    private static let veryLow = 54.0
    private static let low = 70.0
    private static let high = 180.0
    private static let veryHigh = 250.0
    private static let farTooHigh = 300.0
    private static let soon = 20.0

    /// What a session is judged by.
    package struct Facts: Sendable {
        package var health = SessionHealth()
        package var phase = LiveSession.Phase.running
        package var isFrozen = false
        /// Another engine lived it.
        package var isKept = false
        package var isPerson = true
        package var now = Instant.start
        /// nil without a reading.
        package var reading: GlucoseReading?
        package var isStale = false
        /// mg/dL a minute.
        package var trend: Double?
        /// Readings of the last hours, by time.
        package var readings: [MetricPoint] = []
        package var noInsulinSince: Instant?
        package var alerts: [AlertStory] = []

        package init() {}
    }

    package init(_ facts: Facts) {
        self.init()
        noInsulinSince = facts.noInsulinSince
        unansweredSince =
            facts.alerts.filter {
                !$0.isPreview && $0.severity > .informational && $0.reviewedAt == nil
            }.map(\.raisedAt).min()
        let isRunning = if case .running = facts.phase { true } else { false }
        guard isRunning, !facts.isFrozen else {
            stand(still: facts)
            return
        }
        judge(facts)
        group = Self.group(facts, danger)
        // Who is urgent stands before all who are not.
        if group == .urgent, danger > .urgent { danger = .urgent }
        if group == .well { (danger, step) = (.well, 0) }
        if group == .noData, danger > .noSupply { danger = .noData }
        if group == .watch, danger > .watch { danger = .watch }
    }

    /// Nothing of it moves.
    private mutating func stand(still facts: Facts) {
        switch facts.phase {
        case .running: (group, danger, harm) = (.urgent, .noTrust, Harm("frozen: nothing is sure"))
        case .returning: (group, danger, harm) = (.noData, .noTrust, Harm("coming back"))
        case .failed where facts.isKept:
            (group, danger, harm) = (.noData, .noData, Harm("lived by another engine"))
        case .failed: (group, danger, harm) = (.urgent, .noTrust, Harm("failed: nothing is sure"))
        case .ended(let reason):
            (group, danger) = reason.isEmpty ? (.watch, .watch) : (.action, .action)
            harm = Harm("over")
        }
    }

    private mutating func judge(_ facts: Facts) {
        let worst = Self.worst(facts)
        danger = worst == .safetyCritical || worst == .actionable ? .action : .well
        guard facts.isPerson else {
            if facts.health.concerns.contains(where: { $0.part == .values && $0.severity == .safetyCritical })
            {
                danger = .harmNow
            }
            return
        }
        let mgdl = facts.isStale ? nil : facts.reading?.glucose.milligramsPerDecilitre
        if let mgdl { judge(mgdl, facts) } else { danger = min(danger, .noData) }
        supply(mgdl, facts)
    }

    /// What glucose says.
    private mutating func judge(_ mgdl: Double, _ facts: Facts) {
        if let trend = facts.trend, trend < 0, mgdl >= Self.veryLow {
            let minutes = (mgdl - Self.veryLow) / -trend
            minutesToHarm = minutes <= 120 ? minutes : nil
        }
        func since(_ holds: (Double) -> Bool) -> Instant { Self.begin(facts, holds) }
        func below(_ bound: Double) -> Harm {
            Harm("below \(bound, unitless: "mg/dL")", since: since { $0 < bound })
        }
        let coming = minutesToHarm.map { Harm("below \(Self.veryLow, unitless: "mg/dL")", inMinutes: $0) }
        if !mgdl.isFinite || mgdl < Self.veryLow {
            minutesToHarm = 0
            (danger, step, harm) = (.harmNow, mgdl.isFinite ? Int(mgdl / 5) : 0, below(Self.veryLow))
        } else if let minutes = minutesToHarm, minutes <= Self.soon {
            (danger, step, harm) = (.harmSoon, Int(minutes / 5), coming)
        } else if mgdl < Self.low {
            (danger, step) = (.low, Int((minutesToHarm ?? 120) / 5) * 20 + Int(mgdl / 5))
            harm = minutesToHarm.map { $0 <= 60 } ?? false ? coming : below(Self.low)
        } else if mgdl > Self.veryHigh {
            let long = facts.now.minutes - since { $0 >= Self.farTooHigh }.minutes
            (danger, step) = (long >= 60 ? .highLong : .high, -Int(mgdl / 25))
            let bound = long >= 60 ? Self.farTooHigh : Self.veryHigh
            harm = Harm("above \(bound, unitless: "mg/dL")", since: since { $0 >= bound })
        } else if let minutes = minutesToHarm, minutes <= 45 {
            harm = coming
        } else if mgdl > Self.high {
            let begin = since { $0 > Self.high }
            if facts.now.minutes - begin.minutes >= 60 {
                danger = min(danger, .watch)
                harm = Harm("above \(Self.high, unitless: "mg/dL")", since: begin)
            }
        }
    }

    /// What is missing: insulin, readings.
    private mutating func supply(_ mgdl: Double?, _ facts: Facts) {
        func minutes(_ since: Instant) -> Double { facts.now.minutes - since.minutes }
        if let since = facts.noInsulinSince {
            let words = Harm("no insulin", since: since)
            if let mgdl, mgdl > Self.veryHigh {
                // After those who are low: they have less time.
                (danger, step, harm) = (.harmNow, 40 - Int(min(mgdl, 600) / 25), words)
            } else if danger > .noSupply, minutes(since) >= 15 {
                (danger, step, harm) = (.noSupply, -Int(minutes(since) / 5), words)
            } else {
                harm = harm ?? words
            }
        }
        guard mgdl == nil, danger > .noSupply else { return }
        guard let last = facts.reading?.instant ?? facts.readings.last?.at else {
            harm = harm ?? Harm("no reading")
            return
        }
        if minutes(last) >= 20 { (danger, step) = (.noSupply, -Int(minutes(last) / 5)) }
        harm = harm ?? Harm("no reading", since: last)
    }

    // MARK: Pieces

    /// A preview is no trouble.
    private static func worst(_ facts: Facts) -> AlertSeverity? {
        let alerts = facts.alerts.filter { !$0.isPreview }.map(\.severity)
        return [facts.health.worst, alerts.max()].compactMap { $0 }.max()
    }

    private static func group(_ facts: Facts, _ danger: Danger) -> Group {
        let worst = worst(facts)
        if danger <= .harmSoon || worst == .safetyCritical { return .urgent }
        if facts.isPerson, facts.isStale || facts.reading == nil { return .noData }
        if danger < .noData || worst == .actionable { return .action }
        let isWell =
            facts.health.isWell && danger == .well && !facts.alerts.contains { !$0.isPreview }
        return isWell ? .well : .watch
    }

    /// Since when it has held, up to the newest reading, without a gap of more than 16 min.
    private static func begin(_ facts: Facts, _ holds: (Double) -> Bool) -> Instant {
        var begin = facts.now
        for point in facts.readings.reversed() {
            guard holds(point.value), begin.minutes - point.at.minutes <= 16 else { break }
            begin = point.at
        }
        return begin
    }
}

extension SessionView {
    /// How it stands among the ward's.
    package var standing: WardStanding {
        var facts = WardStanding.Facts()
        (facts.health, facts.phase, facts.isFrozen) = (health, phase, isFrozen)
        (facts.isKept, facts.isPerson, facts.now) = (kept != nil, kind == .person, now)
        (facts.reading, facts.isStale) = (live.loop?.glucose, live.loop?.isGlucoseStale ?? true)
        (facts.trend, facts.noInsulinSince, facts.alerts) = (trend, noInsulinSince, alerts)
        let from = now.adding(-6 * Nanoseconds.hour)
        facts.readings = log.readings.filter { $0.instant >= from && $0.backfilledAt == nil }.map {
            MetricPoint($0.instant, $0.mgdl)
        }
        return WardStanding(facts)
    }
}
