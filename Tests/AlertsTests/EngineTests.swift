// What scenario files can't see: limits, pages, stores, the system's requests.

import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

@Suite struct EngineTests {
    @Test func `recently cleared keeps a hundred, newest first, shown ten at a time`() {
        var world = AlertWorld.make(.bionicloop)
        var timeline: [(at: Instant, events: [AlertWorldEvent])] = []
        for minute in 0..<130 {
            timeline.append((.minutes(Int64(minute)), [.user(.pumpIssue("lowReservoir", text: "\(minute)"))]))
            timeline.append(
                (
                    Instant.minutes(Int64(minute)).adding(30 * Nanoseconds.second),
                    [.user(.pumpRetract("lowReservoir"))]
                ))
        }
        world.run(timeline, until: .minutes(131))
        let engine = world.app?.flow.engine
        #expect(engine?.state.recentlyCleared.count == 100)
        #expect(engine?.recentlyCleared(page: 0).map(\.alert.message).first == "129")
        #expect(engine?.recentlyCleared(page: 0).count == 10)
        #expect(engine?.recentlyCleared(page: 9).map(\.alert.message).last == "30")
        #expect(engine?.recentlyCleared(page: 10).isEmpty == true)
        #expect(engine?.recentlyCleared(page: -1).count == 10)
    }

    @Test func testPumpPersistedAlertStoreReturnsIssuedAndRetractedAlerts() {
        var store = NativeAlertStore()
        store.issue("fault", text: "", code: .pumpFault, at: .minutes(1))
        store.issue("lowReservoir", text: "", code: .pumpLowReservoir, at: .minutes(2))
        store.retract(at: .minutes(3)) { $0.issue == "lowReservoir" }
        #expect(store.alerts.map(\.issue) == ["fault", "lowReservoir"])
        #expect(store.open.map(\.issue) == ["fault"])
        store.acknowledge(at: .minutes(4)) { $0.issue == "fault" }
        #expect(store.open.isEmpty)
        #expect(store.alerts.map(\.retractedAt) == [nil, .minutes(3)])
        #expect(store.alerts.map(\.acknowledgedAt) == [.minutes(4), nil])
    }

    @Test func testCGMPersistedAlertStoreReturnsIssuedAndRetractedAlerts() {
        var store = NativeAlertStore()
        for minute in 0..<150 {
            store.issue("sensorFailed", text: "", code: .cgmFailedOrExpired, at: .minutes(Int64(minute)))
            store.retract(at: .minutes(Int64(minute))) { $0.issue == "sensorFailed" }
        }
        store.issue("sensorExpired", text: "", code: .cgmFailedOrExpired, at: .minutes(200))
        #expect(store.open.map(\.issue) == ["sensorExpired"])
        #expect(store.alerts.count <= NativeAlertStore.closedLimit + 1)
    }

    @Test func `a request that was carried out is not carried out again`() {
        var center = SimulatedNotificationCenter()
        let request = NotificationRequest(
            token: 1, action: .deliver, identifier: "a", category: "a", title: "", body: "",
            isTimeSensitive: true,
            deepLink: "")
        center.perform(request, at: .start)
        center.perform(request, at: .minutes(1))
        #expect(center.deliveries.count == 1)
    }

    @Test func `a notification says category, identifier and urgency`() throws {
        var world = AlertWorld.make(.bionicloop)
        world.run([(.minutes(1), [.user(.pumpIssue("fault", text: "broken"))])], until: .minutes(2))
        let center = try #require(world.app?.port as? SimulatedNotificationCenter)
        let shown = try #require(center.shown.first)
        #expect(shown.category == "ALERT-PUMP-FAULT" && shown.identifier == "ALERT-PUMP-FAULT")
        #expect(shown.isTimeSensitive && shown.body == "broken")
        // The stepping deadline waits behind it.
        #expect(center.pending.map(\.category) == ["ALERT-ALGORITHM-STEPPING-INTERRUPTED"])
    }

    @Test func testUI007_HomeAlertCenterButtonOpensAlertCenter() {
        var world = AlertWorld.make(.bionicloop)
        world.run(
            [
                (
                    .minutes(1),
                    [.user(.pumpIssue("lowReservoir", text: "")), .user(.pumpIssue("fault", text: ""))]
                )
            ],
            until: .minutes(2))
        // What the button shows, and what opens behind it.
        #expect(world.app?.flow.engine.badge == 2)
        #expect(
            world.app?.flow.engine.active.map(\.code) == ["ALERT-PUMP-FAULT", "ALERT-PUMP-LOW-RESERVOIR"])
    }

    @Test func `the normalized alert says everything`() throws {
        var world = AlertWorld.make(.bionicloop)
        world.run([(.minutes(1), [.user(.pumpIssue("alarm", text: "Occlusion"))])], until: .minutes(2))
        let alert = try #require(world.app?.flow.engine.active.first)
        #expect(alert.source == .pump && alert.sourceCode == "alarm" && alert.code == "ALERT-PUMP-FAULT")
        #expect(
            alert.severity == .safetyCritical && alert.message == "Occlusion"
                && !alert.recommendedAction.isEmpty)
        #expect(
            alert.acknowledgement == .closes && alert.dedupeKey == "ALERT-PUMP-FAULT"
                && alert.countdownTo == nil)
        var expiring = AlertWorld.make(.bionicloop)
        expiring.run([(.minutes(1), [.podExpires(in: 30 * Nanoseconds.minute)])], until: .minutes(2))
        #expect(expiring.app?.flow.engine.active.map(\.countdownTo) == [.minutes(31)])
    }

    @Test func `a threshold's notification names subject, metric, value, threshold and link`() throws {
        var rules: [AlertRule] = []
        for (side, bound): (MetricTest.Side, Double) in [(.low, 60), (.high, 85)] {
            var rule = AlertRule(
                code: "THRESHOLD-TEMPERATURE-\(side == .low ? "LOW" : "HIGH")",
                trigger: .metrics([MetricTest(.temperature, side, bound)]), severity: .actionable)
            rule.subject = "Basil"
            rules.append(rule)
        }
        var world = AlertWorld.make(AlertPolicy(name: "story", rules: rules))
        world.run([(.minutes(3), [.value(.temperature, 85.5)])], until: .minutes(4))
        let center = try #require(world.app?.port as? SimulatedNotificationCenter)
        let shown = try #require(center.shown.first)
        #expect(shown.title == "Basil" && shown.body == "Temperature 85.5 °F, above 85 since 06:16")
        #expect(
            shown.identifier == "THRESHOLD-TEMPERATURE-HIGH" && shown.category.rawValue == shown.identifier)
        #expect(shown.deepLink == "islet://subject/Basil/temperature" && !shown.isTimeSensitive)
        #expect(center.deliveries.map(\.instant) == [.minutes(3)])
        world.happen([.value(.temperature, 59)], at: .minutes(5))
        #expect(
            world.app?.flow.engine.active.map(\.message) == ["Basil: Temperature 59 °F, below 60 since 06:18"]
        )
        // The timeline keeps it when it is over.
        world.happen([.value(.temperature, 70)], at: .minutes(6))
        #expect(
            world.memory.center?.recentlyCleared.map(\.alert.message) == [
                "Basil: Temperature 59 °F, below 60 since 06:18",
                "Basil: Temperature 85.5 °F, above 85 since 06:16",
            ])
        #expect(world.memory.center?.recentlyCleared.map(\.alert.raisedAt) == [.minutes(5), .minutes(3)])
    }

    @Test func `a metric's critical bounds are those of the story`() {
        let bounds: [(AlertMetric, Double, Double)] = [
            (.temperature, 50, 95), (.humidity, 20, 90), (.vpd, 0.2, 2.5), (.glucose, 54, 400),
        ]
        for (metric, below, above) in bounds {
            #expect(metric.criticalBelow == below && metric.criticalAbove == above)
        }
        // The level of a tank is none of the story's: it runs dry, and can't be too full.
        let level = AlertMetric(rawValue: "level")
        #expect(level?.criticalBelow == 5 && level?.criticalAbove == nil)
        for metric in AlertMetric.allCases
        where metric != level && !bounds.contains(where: { $0.0 == metric }) {
            #expect(metric.criticalBelow == nil && metric.criticalAbove == nil)
        }
    }

    @Test(arguments: AlertCode.allCases) func `every code has its words and its route`(code: AlertCode) {
        #expect(!code.message.isEmpty && !code.recommendedAction.isEmpty && !code.condition.isEmpty)
        // Where insulin is missing, the pump is what to look at.
        let isOfPump = code.source == .pump || code == .insulinMissing
        #expect(code.route == (isOfPump ? .pump : code.source == .cgm ? .cgm : .home))
        #expect(AlertCode.allCases[code.index] == code)
    }

    @Test func `devices that saw the same writes agree, and the newest write stays`() {
        let rule = AlertRule(.pumpFault)
        var writes: [AlertSettingsWrite] = []
        for (at, device) in [(1, "phone"), (3, "watch"), (3, "phone"), (2, "tablet")] as [(Int64, String)] {
            var own = rule
            own.debounce = at
            own.subject = device
            writes.append(AlertSettingsWrite(own, writtenAt: at, device: device))
        }
        writes.append(
            AlertSettingsWrite(AlertRule(.pumpExpired), isEnabled: false, writtenAt: 9, device: "phone"))
        var (forward, backward) = (AlertSettings(), AlertSettings())
        for write in writes { forward.take(write) }
        for write in writes.reversed() { backward.take(write) }
        #expect(forward == backward)
        forward.merge(backward)
        #expect(forward == backward)
        #expect(forward.rules.map(\.subject) == ["watch"])
    }

    @Test
    func
        `a threshold's banner goes after ten seconds on the screen or when it is dismissed, the flow's stays`()
    {
        var rules = AlertPolicy.bionicloop.rules
        for (code, metric): (AlertName, AlertMetric) in [("HOT", .temperature), ("DRY", .humidity)] {
            rules.append(
                AlertRule(
                    code: code, trigger: .metrics([MetricTest(metric, .high, 1)]), severity: .safetyCritical))
        }
        let policy = AlertPolicy(name: "banners", rules: rules)
        var world = AlertWorld.make(policy, appState: .foreground)
        world.run(
            [
                (.minutes(1), [.user(.pumpIssue("lowReservoir", text: "9 U")), .value(.temperature, 2)]),
                (.minutes(2), [.value(.humidity, 2), .value(.temperature, 3)]),
            ], until: .minutes(2))
        func shown(_ seconds: Int64) -> AlertName? {
            world.app?.banner(at: Instant.minutes(2).adding(seconds * Nanoseconds.second))?.code
        }
        // The newer one first; the older has had its time; then the flow's, for good.
        #expect(shown(0) == "DRY" && shown(9) == "DRY" && shown(10) == "ALERT-PUMP-LOW-RESERVOIR")
        #expect(world.app?.banner(at: .minutes(60))?.isDismissible == false)
        #expect(world.app?.banner(at: .minutes(2))?.count == 3)
        world.happen([.user(.dismiss("DRY"))], at: Instant.minutes(2).adding(4 * Nanoseconds.second))
        #expect(shown(4) == "ALERT-PUMP-LOW-RESERVOIR")
        world.happen([.user(.dismiss("ALERT-PUMP-LOW-RESERVOIR"))], at: .minutes(3))
        #expect(world.app?.banner(at: .minutes(3))?.message == "9 U")
    }
}
