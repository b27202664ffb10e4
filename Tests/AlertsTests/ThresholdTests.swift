// Thresholds by subject and metric, as their story's criteria have them; each test's name begins with its criterion's number.

import IsletFiles
import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

@Suite struct ThresholdTests {
    /// 06:13:20 UTC.
    private static let start: Int64 = 1_772_000_000

    private static func settings(_ settings: [OwnerSetting]) throws -> OwnerSettings {
        var ledger = SettingsLedger(device: "phone")
        for setting in settings { try ledger.set(setting, clock: start) }
        return OwnerSettings(ledger)
    }

    private static func center(
        _ some: [OwnerSetting], permission: NotificationPermission = .allowed
    ) throws -> ThresholdCenter {
        try settings(some).center(start: start, permission: permission)
    }

    private static func hot(_ subject: String, _ minute: Int64, _ value: Double) -> SubjectValue {
        SubjectValue(at: .minutes(minute), subject: subject, metric: .temperature, value: value)
    }

    private static func room(_ id: String, _ name: String) -> [OwnerSetting] {
        [
            .subject(AlertSubject(id: id, name: name, kind: "grow-room", stage: "flowering")),
            .threshold(AlertThreshold(subject: id, metric: .temperature, min: 60, max: 85)),
        ]
    }

    // MARK: 1 and 3

    @Test func `1 a threshold is made, read, changed and deleted, for each subject and metric`() throws {
        var ledger = SettingsLedger(device: "phone")
        for (subject, metric) in [
            ("basil", AlertMetric.temperature), ("basil", .vpd), ("mint", .temperature),
        ] {
            try ledger.set(
                .threshold(AlertThreshold(subject: subject, metric: metric, min: 1, max: 2)), clock: 1)
        }
        #expect(OwnerSettings(ledger).thresholds.count == 3)
        try ledger.set(
            .threshold(AlertThreshold(subject: "basil", metric: .vpd, min: 0.5, max: 1.5)), clock: 2)
        #expect(OwnerSettings(ledger).thresholds(of: "basil").last?.max == 1.5)
        let deleted = (3...4).map { ledger.delete(OwnerSetting.key("mint", .temperature), clock: $0) }
        #expect(deleted == [true, false])
        #expect(OwnerSettings(ledger).thresholds.map(\.subject) == ["basil", "basil"])
    }

    @Test(arguments: [
        (AlertThreshold(subject: "a", metric: .glucose), "neither min nor max"),
        (AlertThreshold(subject: "a", metric: .glucose, min: 180, max: 70), "expected min below max"),
        (AlertThreshold(subject: "a", metric: .glucose, min: 70, max: 70), "expected min below max"),
        (AlertThreshold(subject: "a", metric: .glucose, min: .nan), "found min nan"),
        (AlertThreshold(subject: "a", metric: .glucose, max: .infinity), "found max inf"),
        (AlertThreshold(subject: "a", metric: .glucose, min: 3.9), "20 mg/dL to 600 mg/dL"),
        (AlertThreshold(subject: "a", metric: .humidity, max: 101), "0 % RH to 100 % RH"),
        (AlertThreshold(subject: "a", metric: .glucose, min: 70, sensitivity: -1), "up to one day"),
        (AlertThreshold(subject: "a", metric: .glucose, min: 70, criticalBelow: 80), "at most min"),
        (AlertThreshold(subject: "a", metric: .glucose, min: 70, criticalAbove: 300), "max beside it"),
        (AlertThreshold(subject: "a/b", metric: .glucose, min: 70), "letters, digits"),
        (AlertThreshold(subject: "..", metric: .glucose, min: 70), "letters, digits"),
    ])
    func `1 what can't be meant is refused with one clear line, and nothing is kept`(
        threshold: AlertThreshold, words: String
    ) {
        var ledger = SettingsLedger(device: "phone")
        let before = ledger
        let error = #expect(throws: InputError.self) { try ledger.set(.threshold(threshold), clock: 1) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("\n") == false && ledger == before)
    }

    @Test func `3 a disabled threshold is kept and does not ring, the subject's other metrics do`() throws {
        var some = Self.room("basil", "Basil")
        some.append(
            .threshold(
                AlertThreshold(subject: "basil", metric: .humidity, max: 70, isEnabled: false, sensitivity: 0)
            ))
        var center = try Self.center(some)
        let notices = center.run(
            [
                SubjectValue(at: .minutes(1), subject: "basil", metric: .humidity, value: 99),
                Self.hot("basil", 2, 90),
            ], until: .minutes(60))
        #expect(Set(notices.map(\.effect.code)) == ["THRESHOLD-TEMPERATURE-HIGH"])
        let kept = try Self.settings(some).thresholds.first { $0.metric == .humidity }
        #expect(kept?.max == 70 && kept?.isEnabled == false)
        #expect(kept?.sides(name: "").count == 1 && kept?.rules(name: "").isEmpty == true)
    }

    // MARK: 2

    @Test
    func `2 recommended ranges are rows by kind, stage and metric, and take over where somebody says so`()
        throws
    {
        #expect(MetricRange.kinds.prefix(2) == ["person", "grow-room"])
        #expect(MetricRange.recommended("person", "adult", .glucose)?.range == 70...180)
        #expect(MetricRange.recommended("person", "pregnant", .glucose)?.range == 63...140)
        #expect(MetricRange.stages(of: "grow-room") == ["seedling", "vegetative", "flowering"])
        #expect(MetricRange.recommended("grow-room", "flowering", .vpd)?.range == 1.2...1.6)
        #expect(MetricRange.recommended("water-tank", "full", .reservoir) == nil)
        // Every row may be set as it stands.
        for row in MetricRange.all {
            try AlertThreshold(
                subject: "a", metric: row.metric, min: row.range.lowerBound, max: row.range.upperBound
            ).check()
        }
        let settings = try Self.settings(Self.room("basil", "Basil"))
        let threshold = try #require(settings.thresholds.first)
        #expect(settings.recommended(threshold)?.range == 65...80)
    }

    // MARK: 4

    private static let sensitivities: [(Int64, [Int64])] = [(0, [10]), (15, [25]), (60, [70]), (7, [17])]

    @Test(arguments: sensitivities)
    func `4 immediate, 15 min, 1 h or any other sensitivity, once an episode`(minutes: Int64, raised: [Int64])
        throws
    {
        var center = try Self.center([
            .threshold(
                AlertThreshold(
                    subject: "basil", metric: .temperature, max: 85, sensitivity: minutes * Nanoseconds.minute
                ))
        ])
        // One spike of 5 min, then one of two hours.
        var values = [Self.hot("basil", 0, 86), Self.hot("basil", 5, 80)]
        for minute in stride(from: Int64(10), through: 130, by: 5) {
            values.append(Self.hot("basil", minute, 87))
        }
        let notices = center.run(values, until: .minutes(135)).filter { $0.effect.kind == .raise }
        let expected = (minutes == 0 ? [0] : []) + raised
        #expect(notices.map(\.effect.instant) == expected.map { .minutes($0) })
    }

    // MARK: 5, 6 and 7

    @Test
    func `5 6 7 a notification has the subject's name, metric, value, threshold and time, and its link`()
        throws
    {
        var center = try Self.center(Self.room("tent-2", "Basil, tent 2"))
        let notices = center.run([Self.hot("tent-2", 3, 88)], until: .minutes(3))
        #expect(notices.contains { $0.effect.kind == .notify && !$0.isWithheld })
        let requests = center.takeRequests()
        let request = try #require(requests.first)
        #expect(requests.count == 1)
        #expect(request.title == "Basil, tent 2")
        #expect(request.body.hasPrefix("Temperature 88 °F, above 85 since "))
        #expect(request.payload.value == 88 && request.payload.threshold == 85)
        #expect(request.payload.metric == "temperature" && request.payload.subject == "tent-2")
        #expect(request.payload.time == Self.start + 180)
        #expect(request.deepLink == "islet://subject/tent-2/temperature")
        #expect(request.payload.deepLink == request.deepLink)
    }

    @Test func `5 without permission nothing is notified, the alert is listed, kept, and told as withheld`()
        throws
    {
        for permission in [NotificationPermission.notAsked, .denied] {
            var center = try Self.center(Self.room("basil", "Basil"), permission: permission)
            // Critical too: no permission is the system's word, not ours to pass over.
            let notices = center.run([Self.hot("basil", 3, 99)], until: .minutes(3))
            #expect(notices.filter { $0.effect.kind == .notify }.map(\.isWithheld) == [true])
            let requests = center.takeRequests()
            #expect(requests.isEmpty && center.active.count == 1)
            #expect(center.openEpisodes.map(\.notifiedAt) == [nil])
        }
    }

    @Test func `5 a second subject's alert neither replaces nor silences the first's`() throws {
        var center = try Self.center(Self.room("basil", "Basil") + Self.room("mint", "Mint"))
        center.show(inForeground: true, at: .start)
        _ = center.settle(at: .start)
        center.show(inForeground: false, at: .start)
        // Both cross at one instant, and again within each other's cooldown.
        let notices = center.run(
            [Self.hot("basil", 3, 88), Self.hot("mint", 3, 89), Self.hot("basil", 4, 70)], until: .minutes(4))
        #expect(notices.filter { $0.effect.kind == .notify }.map(\.subject) == ["basil", "mint"])
        let requests = center.takeRequests()
        #expect(
            requests.map(\.identifier) == [
                "basil/THRESHOLD-TEMPERATURE-HIGH", "mint/THRESHOLD-TEMPERATURE-HIGH",
                "basil/THRESHOLD-TEMPERATURE-HIGH",
            ])
        #expect(Set(requests.map(\.token)).count == 3 && requests.map(\.badge) == [2, 2, 1])
        // The one that is over takes only its own notification down.
        var system = SimulatedNotificationCenter()
        for request in requests { system.perform(request, at: .minutes(4)) }
        #expect(system.shown.map(\.title) == ["Mint"])
        #expect(center.active.map(\.subject) == ["mint"] && center.badge == 1)
    }

    // MARK: 8

    @Test
    func `8 a banner goes after ten seconds or by dismissal, the next subject's follows, and it counts them`()
        throws
    {
        var center = try Self.center(Self.room("basil", "Basil") + Self.room("mint", "Mint"))
        center.show(inForeground: true, at: .start)
        let first = center.run([Self.hot("basil", 3, 88), Self.hot("mint", 3, 89)], until: .minutes(3))
        #expect(!first.contains { $0.effect.kind == .notify }, "the banner says it")
        func at(_ seconds: Int64) -> Instant { Instant.minutes(3).adding(seconds * Nanoseconds.second) }
        var seen = try #require(center.banner(at: at(0)))
        #expect(seen.subject == "basil" && seen.banner.count == 2 && seen.banner.isDismissible)
        #expect(
            seen.banner.code == "THRESHOLD-TEMPERATURE-HIGH" && seen.banner.message.text.contains("Basil"))
        #expect(center.banner(at: at(9))?.subject == "basil")
        #expect(center.banner(at: at(10))?.subject == "mint")
        #expect(center.banner(at: at(20)) == nil && center.badge == 2)
        // Put away, the first is gone and the second has its own ten seconds.
        center.dismiss("mint", "THRESHOLD-TEMPERATURE-HIGH", at: at(2))
        #expect(center.banner(at: at(2))?.subject == "basil", "it is not on the screen")
        center.dismiss("basil", "THRESHOLD-TEMPERATURE-HIGH", at: at(2))
        seen = try #require(center.banner(at: at(11)))
        #expect(seen.subject == "mint" && center.banner(at: at(12)) == nil)
        #expect(center.active.count == 2)
    }

    // MARK: 9

    @Test func `9 the timeline has metric, threshold, values at onset, worst and end, times and style`()
        throws
    {
        var center = try Self.center([
            .threshold(
                AlertThreshold(
                    subject: "basil", metric: .temperature, max: 85, sensitivity: 15 * Nanoseconds.minute))
        ])
        var values = [86.0, 88, 91, 96, 90, 84].enumerated().map { Self.hot("basil", Int64($0) * 5, $1) }
        _ = center.run(values, until: .minutes(25))
        let kept = center.takeHistory()
        let episode = try #require(kept.first)
        #expect(episode.subject == "basil" && episode.metric == .temperature && episode.side == .high)
        #expect(episode.threshold == 85 && episode.onset == 86 && episode.worst == 96 && episode.last == 84)
        #expect(episode.beganAt == Self.start && episode.raisedAt == Self.start + 900)
        #expect(episode.endedAt == Self.start + 1500 && episode.ended == "recovered")
        #expect(episode.notifiedAt == Self.start + 900 && episode.style == .critical)
        // What goes on is in it, too.
        values = [Self.hot("basil", 100, 86), Self.hot("basil", 114, 86)]
        _ = center.run(values, until: .minutes(116))
        let ended = center.takeHistory()
        #expect(ended.isEmpty)
        #expect(center.openEpisodes.map(\.style) == [.warning] && center.openEpisodes.first?.endedAt == nil)
    }

    // MARK: 10 and 11

    @Test func `10 11 quiet hours hold back what is not critical until they end, and never what is`() throws {
        let quiet = OwnerSetting.quietHours(QuietTimes(from: 360, to: 390, timeZone: "UTC"))
        var center = try Self.center(
            Self.room("basil", "Basil") + Self.room("mint", "Mint") + Self.room("sage", "Sage") + [quiet])
        #expect(center.isQuiet(at: .start))
        let notices = center.run(
            [
                // Over before the hours are.
                Self.hot("sage", 1, 86), Self.hot("sage", 4, 80),
                // Warm, then critical.
                Self.hot("mint", 2, 86), Self.hot("mint", 6, 95.1),
                // Warm all along; 06:30 is at 16 min 40 s.
                Self.hot("basil", 3, 86), Self.hot("basil", 13, 86),
            ], until: .minutes(20))
        let told = notices.filter { $0.effect.kind == .notify }
        #expect(told.map(\.subject) == ["mint", "basil"])
        #expect(told.map(\.effect.instant) == [.minutes(6), .start.adding(1000 * Nanoseconds.second)])
        #expect(told.first?.effect.severity == .safetyCritical)
        #expect(notices.filter { $0.effect.kind == .raise }.count == 3, "listed all the same")
        #expect(!center.isQuiet(at: .minutes(17)))
    }

    @Test(arguments: [
        (AlertMetric.temperature, 49.9, 95.1), (.humidity, 19.9, 90.1), (.vpd, 0.19, 2.51),
        (.glucose, 53.9, 400.1),
    ])
    func `11 a metric's critical bounds override quiet hours, and a threshold may have its own`(
        metric: AlertMetric, low: Double, high: Double
    ) throws {
        let quiet = OwnerSetting.quietHours(QuietTimes(from: 0, to: 0, timeZone: "UTC"))
        let possible = MetricRange.possible(metric)
        func notified(_ threshold: AlertThreshold, _ value: Double) throws -> Int {
            var center = try Self.center([.threshold(threshold), quiet])
            let value = SubjectValue(at: .minutes(1), subject: "a", metric: metric, value: value)
            return center.run([value], until: .minutes(1)).filter { $0.effect.kind == .notify }.count
        }
        var threshold = AlertThreshold(
            subject: "a", metric: metric, min: low + (possible.upperBound - low) * 0.01,
            max: high - (high - possible.lowerBound) * 0.01)
        #expect(try notified(threshold, low) == 1)
        #expect(try notified(threshold, high) == 1)
        threshold.criticalBelow = possible.lowerBound
        threshold.criticalAbove = possible.upperBound
        #expect(try notified(threshold, low) == 0)
        #expect(try notified(threshold, high) == 0)
    }

    @Test func `11 a test alert is heard in quiet hours, and nobody hears one of what is off`() throws {
        let quiet = OwnerSetting.quietHours(QuietTimes(from: 0, to: 0, timeZone: "UTC"))
        var some = Self.room("basil", "Basil") + [quiet]
        some.append(
            .threshold(AlertThreshold(subject: "basil", metric: .vpd, max: 1.5, isEnabled: false)))
        var center = try Self.center(some)
        let heard = [("basil", AlertMetric.temperature), ("basil", .vpd), ("mint", .vpd)].map {
            center.testAlert($0.0, $0.1, at: .start)
        }
        #expect(heard == [true, false, false])
        _ = center.settle(at: .start)
        let said = center.takeRequests()
        #expect(said.map(\.title) == ["Test: Basil"] && center.active.isEmpty)
        #expect(said.map(\.body) == ["Test: Temperature below 60 °F"])
        var mute = try Self.center(some, permission: .denied)
        let isThere = mute.testAlert("basil", .temperature, at: .start)
        let (told, asked) = (mute.settle(at: .start), mute.takeRequests())
        #expect(isThere && told.map(\.isWithheld) == [true] && asked.isEmpty)
    }

    // MARK: Files

    @Test func `1 a subject's thresholds are a policy file that behaves alike`() throws {
        var some = Self.room("basil", "basil")
        some.append(.quietHours(QuietTimes(from: 1320, to: 420, timeZone: "America/New_York")))
        let settings = try Self.settings(some)
        let policy = try AlertPolicy.parse(try settings.policyText(of: "basil"), file: "basil.json")
        #expect(policy.rules == settings.thresholds.flatMap { $0.rules(name: "basil") })
        #expect(policy.quietHours == (try settings.quietHours()))
    }

    @Test(arguments: [
        ("", "t.csv:1"), ("time,subject,metric,value\n", "no values"),
        ("time,subject,metric,value\n2026-03-02T06:00:00,a,glucose,100\n", "t.csv:2"),
        ("time,subject,metric,value\n2026-03-02T06:00:00Z,a,glucos,100\n", "nearest: glucose"),
        ("time,subject,metric,value\n2026-03-02T06:00:00Z,a,glucose,nan\n", "a number, in mg/dL"),
        ("time,subject,metric,value\n2026-03-02T06:00:00Z,a b,glucose,1\n", "letters, digits"),
        (
            "time,subject,metric,value\n2026-03-02T06:00:00Z,a,glucose,1\n2026-03-02T05:00:00Z,a,glucose,1\n",
            "t.csv:3"
        ),
        ("time,subject,metric,value\n2026-03-02T06:00:00Z,a,glucose\n", "3 fields"),
    ])
    func `values that can't be read name file and line`(text: String, words: String) {
        let error = #expect(throws: InputError.self) {
            try SubjectValuesFile(Array(text.utf8), file: "t.csv")
        }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }
}
