// How an alert came about: what the sensor said, what the rule compared, who was told or not and why, what the pump was, and
// which true fault was behind it.
//
// Guarantees: numbers of episodes are those of `AlertEpisodes`; words, clock and rounding are those of page, report and `replay`. A value stands with as many
// digits as it takes to be on the side of the bound on which the rule saw it. What repeats without a change, such as a countdown, is one line.

package import IsletFiles
package import IsletAlerts
package import IsletDevices
package import IsletModels
package import IsletKernel

package struct AlertExplanation {
    /// One episode of the session.
    package struct Episode: Hashable, Sendable {
        /// From 1, as in every command.
        package var number: Int
        package var code: AlertName
        /// The highest that it came to.
        package var severity: String
        /// Its raise, or what the system rang while the app was dead.
        package var begin: Instant
        /// nil where it outlived the session.
        package var end: Instant?
        package var reason: String
        package var notifications: Int
        /// How many of these the system rang while the app was dead.
        package var rungBySystem: Int
    }

    package let episodes: [Episode]
    package let digest: Digest128
    private let policy: AlertPolicy
    private let recorder: SessionRecorder
    /// Rows of the policy's effects.
    private let rows: [AlertRow]
    /// What the person did; where nobody heard the policy, without what they did about another's alerts.
    private let person: [PersonRow]
    private let moments: [AlertWitness.Moment]
    private let numbers: [Int?]
    private let calendar: SessionCalendar
    private let unit: GlucoseUnit

    /// Runs the session again, and watches.
    /// - Parameters:
    ///   - shadow: whose alerts are explained, heard by nobody; nil for the arm's own.
    ///   - unit: that glucose is told in.
    package init(
        _ study: Study, subject: VirtualSubject, index: Int, arm: Study.Arm,
        policy shadow: AlertPolicy? = nil,
        unit: GlucoseUnit = .mgdl
    ) throws {
        self.unit = unit
        var study = study
        study.record = .full
        let session = try Session(
            study: study, subject: subject, index: index, arm: arm, shadows: shadow.map { ShadowPlan([$0]) })
        let witness = AlertWitness(session)
        digest = session.run().digest
        policy = shadow ?? arm.alerts
        calendar = study.start.calendar
        recorder = session.recorder
        if let shadow, let effects = session.shadowEffects.first {
            rows = effects.map { AlertRow($0, of: shadow) }
            person = recorder.person.filter(\.code.isNone)
            let again = try Session(
                study: study, subject: subject, index: index, arm: arm, shadows: ShadowPlan([shadow]))
            moments = AlertWitness.moments(effects, of: shadow, in: again)
        } else {
            rows = recorder.alerts
            person = recorder.person
            moments = witness.moments
        }
        numbers = AlertEpisodes.numbers(of: rows)
        episodes = Self.episodes(rows, numbers)
    }

    private static func episodes(_ rows: [AlertRow], _ numbers: [Int?]) -> [Episode] {
        var episodes: [Episode] = []
        var raised: Set<Int> = []
        for (row, number) in zip(rows, numbers) {
            guard let number, row.effect != "wait" else { continue }
            if number > episodes.count {
                episodes.append(
                    Episode(
                        number: number, code: row.code, severity: row.severity, begin: row.instant, end: nil,
                        reason: "", notifications: 0, rungBySystem: 0))
            }
            let place = number - 1
            if let severity = AlertSeverity(name: row.severity),
                severity > AlertSeverity(name: episodes[place].severity) ?? .informational
            {
                episodes[place].severity = row.severity
            }
            switch row.effect {
            case "notify":
                episodes[place].notifications += 1
                if row.reason == "deadline" { episodes[place].rungBySystem += 1 }
            case "raise": raised.insert(number)
            case "clear", "withdraw":
                // What only the system rang for is over when its notification is taken down.
                guard row.effect == "clear" || !raised.contains(number) else { break }
                episodes[place].end = row.instant
                episodes[place].reason = row.reason
            default: break
            }
        }
        return episodes
    }

    /// A line an episode.
    package var table: [String] {
        if episodes.isEmpty { return ["no alerts"] }
        return episodes.map { episode in
            var text =
                "\(episode.number)  \(time(episode.begin))  \(episode.code), \(Self.severity(episode.severity))"
            text +=
                episode.end.map { ", over at \(time($0)): \(Self.reason(episode.reason))" }
                ?? ", active to the end"
            text += ", notified \(episode.notifications == 1 ? "once" : "\(episode.notifications) times")"
            if episode.rungBySystem > 0 {
                text += ", \(episode.rungBySystem) of them by the system, the app being dead"
            }
            return text
        }
    }

    // MARK: One episode

    /// The story of an episode; nil where there is none of this number.
    package func lines(of number: Int) -> [String]? {
        guard let episode = episodes.first(where: { $0.number == number }),
            let rule = policy.rules.first(where: { $0.code == episode.code })
        else { return nil }
        let end = episode.end ?? rows.last?.instant ?? episode.begin
        let from = episode.begin.adding(-45 * Nanoseconds.minute)
        var events: [Event] = []
        for row in recorder.readings where row.instant >= from && row.instant <= episode.begin {
            var text = "reading " + told(row.mgdl, of: .glucose, bounds(of: .glucose, rule)).value
            if let late = row.backfilledAt { text += ", which came at \(time(late))" }
            events.append(Event(row.instant, 0, text))
        }
        for row in person where row.instant >= from && row.instant <= end {
            guard row.code.isNone || row.code == episode.code else { continue }
            // What rang is heard after it rang; what was eaten moves what comes.
            let isAnswer = !row.code.isNone
            events.append(
                Event(
                    row.instant, isAnswer ? 3 : 1,
                    row.words(unit).map { "person: \($0)" }
                        ?? "\(row.kind.rawValue) \(Self.text(row.amount, [])) \(row.kind.unit)"))
        }
        for (place, moment) in moments.enumerated()
        where moment.effect.code == episode.code && numbers.indices.contains(place)
            && (numbers[place] == number || isScheduled(moment, for: episode))
        {
            events.append(Event(moment.effect.instant, 2, describe(moment, rule), what(moment, rule)))
        }
        var lines = [
            "alert \(number) of \(episodes.count): \(episode.code), \(Self.severity(episode.severity))",
            "rule: \(rule.words(in: policy, unit).joined(separator: "; "))",
        ]
        if let trace = GlucoseLine(
            recorder.readings, from: from, to: end.adding(30 * Nanoseconds.minute), calendar: calendar,
            unit: unit)
        {
            lines.append("glucose: \(trace.text)")
        }
        lines += told(events.sorted { ($0.instant, $0.rank) < ($1.instant, $1.rank) })
        if let answer = answer(to: episode, until: end) { lines.append(answer) }
        lines += faultLines(episode, rule, from: from, to: end)
        return lines
    }

    /// What the person made of it, in one line of local time: "the person: rang 02:10, unheard; rang 02:15, woke; 16 g at 02:19". What they
    /// did up to a quarter of an hour after its end counts. Nil where nobody listens.
    private func answer(to episode: Episode, until end: Instant) -> String? {
        let until = end.adding(15 * Nanoseconds.minute)
        let said = person.filter {
            $0.instant >= episode.begin && $0.instant <= until
                && ($0.code == episode.code || $0.code.isNone)
        }.compactMap { $0.short(at: calendar.clock(at: $0.instant)) }
        return said.isEmpty ? nil : "the person: " + said.joined(separator: "; ")
    }

    /// A deadline that the system had in hand when it rang.
    private func isScheduled(_ moment: AlertWitness.Moment, for episode: Episode) -> Bool {
        moment.effect.kind == .schedule && moment.effect.due == episode.begin && episode.rungBySystem > 0
    }

    private struct Event {
        var instant: Instant
        var rank: Int
        /// What is told of it, once however often it repeats.
        var text: String
        var below: [String]

        init(_ instant: Instant, _ rank: Int, _ text: String, _ below: [String] = []) {
            self.instant = instant
            self.rank = rank
            self.text = text
            self.below = below
        }
    }

    /// Events as lines: what comes again and again without a change is told once, with how often and until when.
    private func told(_ events: [Event]) -> [String] {
        var lines: [String] = []
        var place = 0
        while place < events.count {
            let event = events[place]
            var last = place
            while last + 1 < events.count, events[last + 1].text == event.text, event.rank == 2 { last += 1 }
            let time = time(event.instant)
            var line = time + "  " + event.text
            if last > place { line += ", \(last - place + 1) times up to \(self.time(events[last].instant))" }
            lines.append(line)
            lines += event.below.map { String(repeating: " ", count: time.count + 4) + $0 }
            place = last + 1
        }
        return lines
    }

    private func describe(_ moment: AlertWitness.Moment, _ rule: AlertRule) -> String {
        let effect = moment.effect
        if effect.kind == .notify, effect.reason == .deadline {
            return "Notified (\(effect.severity.words)): the system rang by itself, the app was dead"
        }
        // A countdown says something else each minute, and nothing new.
        if effect.kind == .refresh { return "\(effect.kind.words): \(effect.reason.words)" }
        var text = "\(effect.kind.words) (\(effect.severity.words)): \(effect.reason.words)"
        if let due = effect.due { text += ", due \(time(due))" }
        if effect.kind == .raise || effect.kind == .update || effect.kind == .notify, !effect.message.isEmpty
        {
            text += ", “\(unit.spoken(effect.message))”"
        }
        return text
    }

    /// What the rule saw, and how the pump was, where it matters.
    private func what(_ moment: AlertWitness.Moment, _ rule: AlertRule) -> [String] {
        switch moment.effect.kind {
        case .raise, .clear, .wait, .drop: break
        case .update where moment.effect.reason == .severityChanged: break
        case .notify where moment.effect.reason == .deadline: break
        default: return []
        }
        var lines: [String] = []
        for (test, seen) in zip(rule.tests, moment.values) {
            let sign = test.side == .low ? "<" : ">"
            guard let value = seen.value else {
                let bound = told(test.bound, of: test.metric, []).value
                lines.append("saw no fresh \(test.metric.rawValue) (\(sign) \(bound))")
                continue
            }
            let (text, bound) = told(
                value, of: test.metric, bounds(of: test.metric, rule), against: test.bound)
            lines.append(
                "saw \(test.metric.rawValue) \(text) (\(sign) \(bound)), "
                    + "\(Self.length(seen.ageNanoseconds)) old")
        }
        if moment.effect.kind != .wait, moment.effect.kind != .drop {
            lines.append(Self.words(moment.pump, at: moment.effect.instant))
        }
        return lines
    }

    private static func words(_ pump: PumpStatus, at now: Instant) -> String {
        var text = "pump "
        switch pump.condition {
        case .ready: text += "ready"
        case .bolusing: text += "bolusing"
        case .suspended: text += "suspended"
        case .noPod: text += "without a pod"
        case .fault: text += "in a fault"
        }
        if !pump.isConnected { text += " when it was last heard, out of reach now" }
        guard pump.condition != .noPod else { return text }
        text += ", \(pump.isReservoirExact ? "" : "more than ")\(Self.text(pump.reservoir.units, [])) U left"
        if let end = pump.podExpiresAt {
            let left = end.nanoseconds - now.nanoseconds
            text +=
                left > 0
                ? ", the pod expires in \(length(left))" : ", the pod has expired"
        }
        return text
    }

    // MARK: The truth behind it

    private func faultLines(_ episode: Episode, _ rule: AlertRule, from: Instant, to end: Instant) -> [String]
    {
        let near = recorder.faults.filter { $0.instant <= end && $0.end >= from }
        guard !near.isEmpty else {
            return ["no true fault was on: nothing but the body and the sensor's errors"]
        }
        return near.map { fault in
            let isBehind = FaultKind.named(fault.kind).map { Self.explains($0, rule) } ?? false
            return
                "true fault \(isBehind ? "behind it" : "at the time"): \(fault.kind), \(time(fault.instant)) to "
                + time(fault.end)
        }
    }

    /// Whether a fault of this kind can be what made the rule's condition true.
    static func explains(_ kind: FaultKind, _ rule: AlertRule) -> Bool {
        if kind.alerts.contains(where: { $0.name == rule.code }) { return true }
        return rule.tests.contains { test in
            switch (test.metric, test.side) {
            case (.readingAge, .high):
                kind.signs.contains(.noReadings)
            case (.glucose, .low), (.glucoseRate, .low), (.glucoseIn20m, .low), (.forecastGlucose, .low):
                kind.signs.contains(.lowReadings)
            case (.glucose, .high), (.glucoseRate, .high), (.glucoseIn20m, .high), (.forecastGlucose, .high):
                kind.signs.contains(.highGlucose)
            default: false
            }
        }
    }

    // MARK: Words

    private func time(_ instant: Instant) -> String { calendar.words(at: instant) }

    /// To the minute, where it is that long.
    private static func length(_ nanoseconds: Int64) -> String {
        let length = max(0, nanoseconds)
        let step = length < 2 * Nanoseconds.minute ? Nanoseconds.second : Nanoseconds.minute
        return TimeSpan(nanoseconds: (length + step / 2) / step * step).description
    }

    private static func severity(_ name: String) -> String { AlertSeverity(name: name)?.words ?? name }
    private static func reason(_ name: String) -> String { AlertEffect.Reason(rawValue: name)?.words ?? name }

    private func bounds(of metric: AlertMetric, _ rule: AlertRule) -> [Double] {
        let tests = rule.tests.filter { $0.metric == metric }
        return tests.map(\.bound) + tests.compactMap(\.clearAt)
            + [rule.criticalBelow, rule.criticalAbove].compactMap { $0 }
    }

    /// A value with its unit, and without one what it is compared with: in mmol/L with as many places as it takes that both keep their order.
    private func told(
        _ value: Double, of metric: AlertMetric, _ bounds: [Double], against bound: Double = .nan
    ) -> (value: String, bound: String) {
        guard unit.converts(metric.unit) else {
            let places = metric.unit == GlucoseUnit.mgdl.rawValue ? 0 : 1
            let unit = metric.unit.isEmpty ? "" : " " + metric.unit
            return (Self.text(value, bounds, places: places) + unit, Self.text(bound, []))
        }
        // The nearest is the one that rounding could move it to.
        let nearest = bounds.min { abs($0 - value) < abs($1 - value) }
        let shown = unit.pair(value, bound.isNaN ? nearest : bound, places: unit.places(of: metric.unit))
        return ("\(shown.value) \(unit.text(ofUnit: metric.unit))", shown.bound ?? "")
    }

    /// So many places after the point, or as many as it takes not to move the value to or over a bound.
    static func text(_ value: Double, _ bounds: [Double], places: Int = 1) -> String {
        var factor = places == 0 ? 1.0 : 10
        while factor < 1e12 {
            let rounded = (value * factor).rounded() / factor
            let isTrue = bounds.allSatisfy {
                ($0 < value) == ($0 < rounded) && ($0 > value) == ($0 > rounded)
            }
            if isTrue { return JSONValue.numberText(rounded) }
            factor *= 10
        }
        return JSONValue.numberText(value)
    }
}
