// Requirements that no scenario file can say: what the system is asked for, what the banner holds, what is kept.

import IsletFiles
import IsletAlerts
import IsletDevices
import Foundation
import IsletKernel
import Testing

@Suite struct RequirementTests {
    private static func center(_ world: AlertWorld) throws -> SimulatedNotificationCenter {
        try #require(world.app?.port as? SimulatedNotificationCenter)
    }

    private static let room = """
        policy: room
        subject: Basil
        thresholds:
          - { metric: temperature, min: 60, max: 85 }
          - { metric: humidity, max: 70 }
        """

    // MARK: Notifications

    @Test
    func `a notification has a sound, the number of active alerts, and a payload that leads to its place`()
        throws
    {
        var world = AlertWorld.make(try AlertPolicy.parse(Self.room, file: "room.yaml"))
        world.run([(.minutes(1), [.value(.temperature, 96)])], until: .minutes(1))
        let hot = try #require(try Self.center(world).shown.first)
        #expect(hot.sound == .default && hot.badge == 1 && hot.isTimeSensitive)
        #expect(hot.payload.code == "THRESHOLD-TEMPERATURE-HIGH" && hot.payload.severity == "safetyCritical")
        #expect(hot.payload.subject == "Basil" && hot.payload.metric == "temperature")
        #expect(hot.payload.deepLink == "islet://subject/Basil/temperature")
        world.happen([.value(.humidity, 71)], at: .minutes(2))
        let damp = try #require(try Self.center(world).shown.first { $0.payload.metric == "humidity" })
        #expect(damp.sound == .default && damp.badge == 2 && !damp.isTimeSensitive)
        #expect(damp.payload.severity == "actionable")
    }

    @Test func `a threshold's notification tells subject, metric, value, threshold and time`() throws {
        // 06:13:20 on the phone's clock: quiet for another 16 min 40 s.
        let start: Int64 = 1_772_000_000
        var world = AlertWorld.make(
            try AlertPolicy.parse(
                Self.room + "\nquietHours: { from: \"06:00\", to: \"06:30\" }\n", file: "room.yaml"))
        world.run(
            [(.minutes(3), [.value(.temperature, 86)]), (.minutes(5), [.value(.temperature, 88)])],
            until: .minutes(17))
        let center = try Self.center(world)
        let hot = try #require(center.shown.first)
        #expect(
            center.shown.count == 1
                && center.deliveries.map(\.instant) == [.start.adding(1000 * Nanoseconds.second)]
        )
        #expect(hot.title == "Basil" && hot.body == "Temperature 88 °F, above 85 since 06:16")
        #expect(hot.payload.subject == "Basil" && hot.payload.metric == "temperature")
        #expect(hot.payload.value == 88 && hot.payload.threshold == 85)
        // It speaks of the moment at which quiet hours end, with the value of minute 5.
        #expect(hot.payload.time == start + 1000 && hot.payload.measuredAt == start + 300)
        // The clock is set forward: it is the phone's.
        world.happen([.timeChange(Nanoseconds.hour)], at: .minutes(18))
        world.happen([.value(.humidity, 71)], at: .minutes(19))
        let damp = try #require(try Self.center(world).shown.first { $0.payload.metric == "humidity" })
        #expect(damp.payload.value == 71 && damp.payload.threshold == 70)
        #expect(damp.payload.time == start + 19 * 60 + 3600 && damp.payload.measuredAt == damp.payload.time)
    }

    @Test
    func `what waits with the system has the time at which it will ring, and what is withdrawn has none`()
        throws
    {
        var world = AlertWorld.make(.bionicloop)
        world.run([], until: .minutes(1))
        let deadline = try #require(try Self.center(world).pending.first).payload
        #expect(deadline.time == Int64(1_772_000_900))
        #expect(deadline.value == nil && deadline.threshold == nil && deadline.measuredAt == nil)

        var engine = AlertEngine(
            policy: .bionicloop, wallClock: WallClock(startEpochSeconds: 7, zone: .utc))
        let rule = try #require(engine.index(of: "ALERT-PUMP-FAULT"))
        engine.tell(rule, .holds)
        engine.settle(at: .start)
        engine.tell(rule, .away(.retracted))
        engine.settle(at: .minutes(1))
        #expect(engine.state.outbox.map(\.payload.time) == [7, nil])
    }

    @Test func `an alert of the flow has no subject in its payload; what is withdrawn makes no sound`() throws
    {
        var world = AlertWorld.make(.bionicloop)
        world.run([(.minutes(1), [.user(.pumpIssue("fault", text: ""))])], until: .minutes(1))
        let fault = try #require(try Self.center(world).shown.first)
        #expect(fault.sound == .default && fault.badge == 1)
        #expect(fault.payload.code == "ALERT-PUMP-FAULT" && fault.payload.deepLink == "islet://pump")
        #expect(fault.payload.subject.isEmpty && fault.payload.metric.isEmpty)
        // The deadline that waits with the system counts itself: by then it is active.
        let deadline = try #require(try Self.center(world).pending.first)
        #expect(deadline.badge == 1 && deadline.sound == .default)
        #expect(deadline.payload.code == "ALERT-ALGORITHM-STEPPING-INTERRUPTED")

        var engine = AlertEngine(
            policy: .bionicloop, wallClock: WallClock(startEpochSeconds: 0, zone: .utc))
        let rule = try #require(engine.index(of: "ALERT-PUMP-FAULT"))
        engine.tell(rule, .holds)
        engine.settle(at: .start)
        engine.tell(rule, .away(.retracted))
        engine.settle(at: .minutes(1))
        #expect(engine.state.outbox.map(\.sound) == [.default, .none])
        #expect(engine.state.outbox.map(\.badge) == [1, 0])
    }

    @Test func `the stepping deadline follows steps and changes, and waits with the system`() throws {
        var world = AlertWorld.make(.bionicloop)
        func due() throws -> [Double] {
            try Self.center(world).pending.filter { $0.category == "ALERT-ALGORITHM-STEPPING-INTERRUPTED" }
                .compactMap { if case .schedule(let due) = $0.action { due.minutes } else { nil } }
        }
        let moments: [(minute: Int64, events: [AlertWorldEvent], due: [Double])] = [
            (0, [], [15]), (5, [], [20]), (10, [], [25]),
            (11, [.loop(.disarmed)], []), (13, [.loop(.armed)], [28]),
            (14, [.step(succeeded: false)], [28]), (15, [], [30]), (16, [.loop(.reset)], []),
            (17, [.loop(.armed)], [32]), (18, [.step(succeeded: true)], [33]),
            (19, [.app(.foreground)], [33]), (20, [.relaunch], [35]),
        ]
        for moment in moments {
            world.run(to: Instant.minutes(moment.minute).adding(-1))
            world.happen(moment.events, at: .minutes(moment.minute))
            #expect(try due() == moment.due, "minute \(moment.minute)")
        }
        // The app dies, and the system rings at the deadline that stood there.
        world.happen([.app(.quit)], at: .minutes(21))
        world.run(to: .minutes(60))
        #expect(world.deliveries.filter(\.wasScheduled).map(\.instant) == [.minutes(35)])
    }

    // MARK: The banner

    @Test func `the banner is the first alert, counts them all, and has a button with what is to be done`()
        throws
    {
        var world = AlertWorld.make(.bionicloop, appState: .foreground)
        world.run([(.minutes(1), [.user(.pumpIssue("lowReservoir", text: ""))])], until: .minutes(1))
        var banner = try #require(world.app?.banner(at: .minutes(1)))
        #expect(banner.code == "ALERT-PUMP-LOW-RESERVOIR" && banner.count == 1)
        #expect(banner.action == "Have a new pod ready.")
        world.happen([.environment(EnvironmentFlag(\.isSignedIn, false))], at: .minutes(2))
        banner = try #require(world.app?.banner(at: .minutes(2)))
        #expect(banner.code == "ALERT-AUTH-LOGIN-REQUIRED" && banner.count == 2 && banner.action == "Log in.")
        world.happen([.user(.pumpIssue("fault", text: "Occlusion"))], at: .minutes(3))
        banner = try #require(world.app?.banner(at: .minutes(3)))
        #expect(banner.code == "ALERT-PUMP-FAULT" && banner.count == 3 && banner.message == "Occlusion")
        #expect(banner.action == "Change the pod.")
        // It counts on while it is shown.
        world.happen(
            [.user(.pumpRetract("lowReservoir"))], at: Instant.minutes(3).adding(5 * Nanoseconds.second))
        #expect(world.app?.banner(at: Instant.minutes(3).adding(5 * Nanoseconds.second))?.count == 2)
    }

    // MARK: History

    @Test func `a threshold's alert stays in the subject's history with metric, threshold, value and time`()
        throws
    {
        var world = AlertWorld.make(try AlertPolicy.parse(Self.room, file: "room.yaml"))
        world.run(
            [
                (.minutes(3), [.value(.temperature, 86)]), (.minutes(8), [.value(.temperature, 70)]),
                (.minutes(12), [.value(.humidity, 75)]), (.minutes(13), [.value(.humidity, 60)]),
            ], until: .minutes(20))
        let history = try #require(world.memory.center?.recentlyCleared)
        #expect(history.map(\.alert.code) == ["THRESHOLD-HUMIDITY-HIGH", "THRESHOLD-TEMPERATURE-HIGH"])
        #expect(history.map(\.alert.raisedAt) == [.minutes(12), .minutes(3)])
        #expect(history.map(\.clearedAt) == [.minutes(13), .minutes(8)])
        #expect(history.map(\.reason) == [.recovered, .recovered])
        for (entry, words) in zip(
            history, [["Basil", "Humidity", "75", "70"], ["Basil", "Temperature", "86", "85"]])
        {
            #expect(words.allSatisfy(entry.alert.message.text.contains), "\(entry.alert.message)")
        }
        // It outlives the app.
        world.happen([.relaunch], at: .minutes(21))
        #expect(world.app?.flow.engine.state.recentlyCleared == history)
    }

    @Test func `an episode keeps its value at the onset, its worst and its newest apart`() throws {
        var world = AlertWorld.make(try AlertPolicy.parse(Self.room, file: "room.yaml"))
        world.run(
            [
                (.minutes(3), [.value(.temperature, 86)]), (.minutes(4), [.value(.temperature, 92)]),
                (.minutes(5), [.value(.temperature, 88)]),
            ], until: .minutes(6))
        let hot = try #require(world.app?.flow.engine.active.first?.values)
        #expect(hot.onset == 86 && hot.worst == 92 && hot.current == 88)
        world.happen([.value(.temperature, 59)], at: .minutes(7))
        world.happen([.value(.temperature, 55)], at: .minutes(8))
        let cold = try #require(world.app?.flow.engine.active.first?.values)
        #expect(cold.onset == 59 && cold.worst == 55 && cold.current == 55)
    }

    // MARK: Settings

    @Test func `a threshold is kept with subject, metric, bounds, sensitivity and whether it is on`() throws {
        let text = """
            policy: mine
            subject: Basil
            thresholds:
              - { metric: temperature, min: 60, max: 85, sensitivity: 15m, writtenAt: "2026-03-02T08:00:00Z", device: phone }
              - { metric: vpd, max: 1.6, enabled: false, sensitivity: 1h, writtenAt: "2026-03-02T08:00:00Z", device: phone }
            """
        let folder = FileManager.default.temporaryDirectory.appending(path: "kept-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "mine.yaml").path()
        try Data(text.utf8).write(to: URL(filePath: path))

        let policy = try AlertPolicy.parse(text, file: "mine.yaml")
        #expect(policy.rules.map(\.code) == ["THRESHOLD-TEMPERATURE-LOW", "THRESHOLD-TEMPERATURE-HIGH"])
        #expect(policy.rules.map(\.subject) == ["Basil", "Basil"])
        #expect(policy.rules.flatMap(\.tests).map(\.metric) == [.temperature, .temperature])
        #expect(policy.rules.flatMap(\.tests).map(\.bound) == [60, 85])
        #expect(policy.rules.map(\.debounce) == [15 * Nanoseconds.minute, 15 * Nanoseconds.minute])
        // Written out and read back; what is off is off there too, and still there.
        let settings = try AlertSettings.read(path: path)
        #expect(settings.writes.flatMap(\.sides).map(\.isEnabled) == [true, true, false])
        #expect(settings.writes.last?.sides.last?.rule.debounce == Nanoseconds.hour)
        let written = settings.text(in: policy)
        let packed = written.filter { !$0.isWhitespace }
        #expect(packed.contains("\"metric\":\"vpd\"") && packed.contains("\"enabled\":false"), "\(written)")
        #expect(packed.contains("\"sensitivity\":\"1h\""), "\(written)")
        let again = folder.appending(path: "again.json").path()
        try Data(written.utf8).write(to: URL(filePath: again))
        #expect(try AlertSettings.read(path: again) == settings)
        #expect(try AlertPolicy.parse(policy.json.prettyText, file: "json") == policy)
    }

    @Test func `two subjects on two phones have alerts, words and links of their own`() throws {
        for subject in ["Basil", "Mint"] {
            let policy = try AlertPolicy.parse(
                Self.room.replacing("Basil", with: subject), file: "room.yaml")
            var world = AlertWorld.make(policy)
            world.run([(.minutes(1), [.value(.temperature, 86)])], until: .minutes(1))
            let shown = try #require(try Self.center(world).shown.first)
            #expect(shown.title == subject && shown.payload.subject == subject)
            #expect(shown.deepLink == "islet://subject/\(subject)/temperature")
        }
    }
}
