// Recorded glucose, listened to by any number of alert policies.
//
// Guarantees: the alert center, the engine in shadow and the scoring are those of a session; nothing of them knows that no body stands behind the
// readings. Nobody hears an alert, so the glucose is what it was, whoever listens. A policy's rules about what a trace doesn't hold (pump, loop, cloud,
// insulin) are left out, and told of.
// **Stretches.** A gap of more than a day ends a stretch: nobody wore a sensor. Each stretch is listened to by an app that was newly set up; the time between
// counts as no day and rings for nothing. In shorter gaps policies listen on, and the glucose is unknown.
// Does not: simulate, or read files.

package import IsletFiles
package import IsletAlerts
import IsletKernel
package import IsletDevices

package struct TraceReplay: Sendable {
    /// A longer gap ends a stretch.
    static let longestGap = 24 * Nanoseconds.hour
    package static let arm = "recorded"

    /// What stands for a study: one arm, in which nobody doses and nobody hears, and the policies in shadow.
    package let study: Study
    /// By policy, the rules that a trace can say nothing of; policies that lost none are absent.
    package let leftOut: [(policy: String, codes: [AlertName])]
    private let scoring: PolicyScoring

    /// - Parameters:
    ///   - policies: names differ; the first is what others are compared with.
    ///   - sweep: variants that listen beside them; with no policies, the first one is what others are compared with.
    /// - Throws: `InputError` where nothing of a policy can be judged.
    package init(_ policies: [AlertPolicy], sweep: PolicySweep? = nil) throws(InputError) {
        var study = Study()
        study.name = "recorded traces"
        study.isRecorded = true
        study.arms = [Study.Arm(name: Self.arm, algorithm: .default, alerts: .none)]
        var leftOut: [(policy: String, codes: [AlertName])] = []
        for policy in policies {
            let kept = Self.judgeable(policy)
            guard !kept.rules.isEmpty else {
                throw InputError(
                    file: "--policy", found: "\(policy.name), without a rule about glucose or readings",
                    expected: "policies that a recorded trace can say something of")
            }
            guard !study.policies.contains(where: { $0.name == policy.name }) else {
                throw InputError(
                    file: "--policy", found: "two policies of the name \(policy.name)",
                    expected: "names that differ")
            }
            let codes = policy.rules.map(\.code).filter { code in !kept.rules.contains { $0.code == code } }
            if !codes.isEmpty { leftOut.append((policy.name, codes)) }
            study.policies.append(kept)
        }
        if let sweep {
            let kept = Self.judgeable(sweep.of)
            guard sweep.variants.allSatisfy({ !Self.judgeable($0).rules.isEmpty }) else {
                throw InputError(
                    file: "--sweep", found: "\(sweep.of.name), without a rule about glucose or readings",
                    expected: "variants of a policy that a recorded trace can say something of")
            }
            let codes = sweep.of.rules.map(\.code).filter { code in
                !kept.rules.contains { $0.code == code }
            }
            if !codes.isEmpty, !leftOut.contains(where: { $0.policy == sweep.of.name }) {
                leftOut.append((sweep.of.name, codes))
            }
            study.sweep = sweep.changed(Self.judgeable)
        }
        guard let scoring = PolicyScoring(study, arm: study.arms[0]) else {
            throw InputError(file: "--policy", found: "no policy", expected: "one at least")
        }
        (self.study, self.leftOut, self.scoring) = (study, leftOut, scoring)
    }

    /// The policy without the rules that wait for something other than readings.
    static func judgeable(_ policy: AlertPolicy) -> AlertPolicy {
        let known: [AlertMetric] = [.glucose, .glucoseRate, .glucoseIn20m, .readingAge]
        var kept = policy
        kept.rules = policy.rules.filter { rule in
            !rule.tests.isEmpty && rule.tests.allSatisfy { known.contains($0.metric) }
        }
        let codes = kept.rules.map(\.code)
        for place in kept.rules.indices { kept.rules[place].inhibits.removeAll { !codes.contains($0) } }
        return kept
    }

    /// What a policy left behind in one trace.
    fileprivate struct Listened {
        var records: [ShadowPartRecord] = []
        var tallies: [[AlertTally]] = []
        var effects: [[ShadowEffect]] = []
    }

    /// Lets the policies listen to a trace.
    /// - Parameter index: the person's place.
    /// - Throws: what the session's executor throws: nothing that input can bring about.
    package func replay(_ trace: RecordedTrace, index: Int) throws -> ReplayedTrace {
        let calendar = Self.calendar(trace)
        let fed = Self.fed(trace, calendar)
        let reached = Self.end(trace, fed, calendar)
        let stretches = Self.stretches(fed, until: reached)
        var heard = Listened()
        let executor = SessionExecutor()
        var actors: [any SessionActor] = []
        defer { try? executor.end() }
        for stretch in stretches {
            try listen(executor, fed[stretch.readings], stretch, calendar, &actors, &heard)
        }
        let measured = fed.sorted { $0.measured < $1.measured }
        let truth = TraceTruth(measured, until: reached)
        let watched = IntervalSet(stretches.map(\.span))
        return try summary(
            Sums(
                trace: trace, index: index, calendar: calendar, readings: measured, reached: reached,
                truth: truth,
                watched: watched, digest: Self.digest(fed)), heard)
    }

    // MARK: Listening

    private struct Stretch {
        var readings: Range<Int>
        var span: Interval
    }

    private static func instant(_ milliseconds: Int64, _ calendar: SessionCalendar) -> Instant {
        Instant(nanoseconds: (milliseconds - calendar.startEpochSeconds * 1000) * (Nanoseconds.second / 1000))
    }

    /// The last reading stands for five minutes, unless a later row says that there was none.
    private static func end(
        _ trace: RecordedTrace, _ fed: [FedReading], _ calendar: SessionCalendar
    ) -> Instant {
        let last = fed.last?.arrives ?? .start
        let measured = trace.readings.last?.time ?? trace.span.upperBound
        return trace.span.upperBound > measured
            ? max(instant(trace.span.upperBound, calendar), last) : last.adding(TraceTruth.interval)
    }

    /// Session time begins with the second of the first row.
    private static func calendar(_ trace: RecordedTrace) -> SessionCalendar {
        let start = trace.span.lowerBound / 1000
        let coming = trace.zone.transitions.filter { $0.epochSeconds > start }
        return SessionCalendar(
            startEpochSeconds: start, offsetSeconds: trace.zone.offset(at: start),
            changes: coming.map {
                SessionCalendar.Change(
                    at: Instant(nanoseconds: ($0.epochSeconds - start) * Nanoseconds.second),
                    offsetSeconds: $0.offsetSeconds)
            })
    }

    /// By arrival.
    private static func fed(_ trace: RecordedTrace, _ calendar: SessionCalendar) -> [FedReading] {
        let fed = trace.readings.map {
            FedReading(
                measured: instant($0.time, calendar), arrives: instant($0.received, calendar), mgdl: $0.mgdl,
                sensor: $0.sensor)
        }
        guard zip(fed, fed.dropFirst()).contains(where: { $0.arrives > $1.arrives }) else { return fed }
        return fed.sorted { ($0.arrives, $0.measured) < ($1.arrives, $1.measured) }
    }

    private static func stretches(_ fed: [FedReading], until reached: Instant) -> [Stretch] {
        var stretches: [Stretch] = []
        var begin = 0
        for place in fed.indices {
            let isLast = place + 1 == fed.count
            guard
                isLast
                    || fed[place + 1].arrives.nanoseconds - fed[place].arrives.nanoseconds > Self.longestGap
            else { continue }
            // The first row may say that there was no reading yet; the last, that there were no more.
            let first = fed[begin].arrives
            let from = begin == 0 && first.nanoseconds <= Self.longestGap ? Instant.start : first
            let own = min(fed[place].arrives.adding(TraceTruth.interval), reached)
            let isNear = reached.nanoseconds - own.nanoseconds <= Self.longestGap
            stretches.append(
                Stretch(readings: begin..<place + 1, span: Interval(from, isLast && isNear ? reached : own)))
            begin = place + 1
        }
        return stretches
    }

    private func listen(
        _ executor: SessionExecutor, _ readings: ArraySlice<FedReading>, _ stretch: Stretch,
        _ calendar: SessionCalendar, _ actors: inout [any SessionActor], _ heard: inout Listened
    ) throws {
        try executor.advance(to: stretch.span.from)
        var environment = AppEnvironment()
        (environment.isArmed, environment.isFirstStepDone) = (false, false)
        (environment.hasPod, environment.hasPumpSession, environment.isPumpStatusKnown) = (
            false, false, false
        )
        let wallClock = WallClock(calendar)
        let shadows = ShadowPolicies(
            executor: executor, plan: scoring.plan, environment: environment, wallClock: wallClock,
            keepsEffects: true, isScored: true)
        let center = try AlertCenter(
            executor: executor, policy: PreparedPolicy(.none), recorder: SessionRecorder(level: .summary),
            wallClock: wallClock, environment: environment, shadows: shadows)
        let feed = TraceFeed(executor: executor, center: center, readings: readings)
        actors += [shadows, center, feed] as [any SessionActor]
        executor.start("trace") {
            await center.begin()
            await feed.begin()
        }
        try executor.advance(to: stretch.span.to)
        let end = executor.now
        let (records, tallies, effects) = executor.inspect {
            shadows.here { $0.finish() }
            let found = shadows.here { ($0.takeRecords(), $0.tallies(), $0.effects()) }
            // Nothing of it wakes again.
            center.here { $0.kill() }
            return found
        }
        heard.add(records, tallies, effects, at: end)
    }

    // MARK: Summing up

    private struct Sums {
        var trace: RecordedTrace
        var index: Int
        var calendar: SessionCalendar
        /// By time of measurement.
        var readings: [FedReading]
        var reached: Instant
        var truth: TraceTruth
        var watched: IntervalSet
        var digest: String
    }

    private func summary(_ sums: Sums, _ heard: Listened) throws -> ReplayedTrace {
        let trace = sums.trace
        let offset = sums.calendar.offsetSeconds * 1000
        let glucose = try GlucoseTrace(
            localMilliseconds: trace.readings.map { $0.time + offset }, mgdl: trace.readings.map(\.mgdl),
            span: trace.span.lowerBound + offset...trace.span.upperBound + offset)
        var truth = SessionTruth(plasma: sums.truth.values, every: TraceTruth.interval, reached: sums.reached)
        truth.unwatched = IntervalSet([Interval(.start, sums.reached)]).subtracting(sums.watched)
        truth.unknown = sums.truth.unknown
        let interval = (glucose.intervalMilliseconds ?? 0) * (Nanoseconds.second / 1000)
        truth[.sensorGap] = SessionTruth.gaps(
            measuredAt: sums.readings.filter { !$0.isBackfilled }.map(\.measured),
            every: max(SessionTruth.readingInterval, interval), until: sums.reached
        ).intersection(sums.watched)
        let metrics = AlertMetrics(policy: .none, events: [], truth: truth)
        let facts = SessionFacts(
            days: truth.days, truth: GlucoseMetrics(glucose), sensor: nil, sensorDays: 0, insulinUnits: 0,
            mealGrams: 0, rescueGrams: 0, alerts: [], person: nil, sessionTruth: truth, metrics: metrics)
        var outcomes = OutcomeValues()
        for outcome in Outcome.all where outcome.kind == .truth {
            outcomes[outcome.name] = outcome.value(facts)
        }
        let values = scoring.values(heard.records, tallies: heard.tallies, facts)
        let tallies = heard.tallies.flatMap(\.self).map { tally in
            var tally = tally
            tally.isInShadow = true
            return tally
        }
        let record = SessionRecord(
            session: sums.index, subjectIndex: sums.index, subject: trace.name, armIndex: 0, arm: Self.arm,
            end: .completed, endedAt: Instant(nanoseconds: sums.watched.nanoseconds), digest: sums.digest,
            events: trace.readings.count, outcomes: outcomes, alerts: tallies,
            policies: values, recorder: SessionRecorder(level: .summary))
        return ReplayedTrace(
            trace: trace, calendar: sums.calendar, reached: sums.reached, days: truth.days,
            gaps: sums.truth.gaps, stretches: sums.watched.intervals.count, truth: sums.truth.values,
            record: record, tallies: heard.tallies, effects: heard.effects)
    }

    /// A digest of what was measured and when it arrived: equal for the same glucose under any policies.
    private static func digest(_ fed: [FedReading]) -> String {
        var hash = SHA256()
        var bytes: [UInt8] = []
        for one in fed {
            for word in [
                UInt64(bitPattern: one.measured.nanoseconds), UInt64(bitPattern: one.arrives.nanoseconds),
                one.mgdl.bitPattern,
            ] {
                withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
            }
            if bytes.count > 1 << 15 {
                hash.update(bytes)
                bytes.removeAll(keepingCapacity: true)
            }
        }
        hash.update(bytes)
        return String(hash.finished().description.prefix(32))
    }
}

extension TraceReplay.Listened {
    /// Goes on with the next stretch; what is active at its end ends there.
    mutating func add(
        _ records: [ShadowPartRecord], _ tallies: [[AlertTally]], _ effects: [[ShadowEffect]], at end: Instant
    ) {
        if self.records.isEmpty {
            (self.records, self.tallies, self.effects) = (records, tallies, effects)
        } else {
            for part in records.indices {
                self.records[part].noticed += records[part].noticed
                if let blame = records[part].blame { self.records[part].blame?.append(blame) }
            }
            for policy in tallies.indices {
                for code in tallies[policy].indices { self.tallies[policy][code] += tallies[policy][code] }
                self.effects[policy] += effects[policy]
            }
        }
        for part in self.records.indices {
            var open: [Int: ShadowEffect] = [:]
            for effect in self.records[part].noticed {
                if effect.kind == .raise { open[effect.rule] = effect }
                if effect.kind == .clear { open[effect.rule] = nil }
            }
            for rule in open.keys.sorted() {
                if let effect = open[rule] { self.records[part].noticed.append(effect.ended(at: end)) }
            }
        }
    }
}
