import IsletAlerts
import IsletDevices
import IsletNumerics
import IsletKernel
import IsletTrials

/// Water that plants draw from; a float valve fills it up, until it sticks.
final class WaterTank: WatchedBody {
    /// What a study may set.
    struct Settings {
        var percentPerDay = 60.0
        var daysToStick = 5.0
    }

    private let settings: Settings
    private let luck: GSLRandom
    private var position = Instant.start
    private var level = 90.0
    private var sticksAt: Instant

    init(_ settings: Settings, _ origin: BodyOrigin) {
        self.settings = settings
        luck = GSLRandom(origin.luck.stream("tank.valve"))
        sticksAt = Self.next(settings, luck, after: .start)
    }

    private static func next(_ settings: Settings, _ luck: GSLRandom, after instant: Instant) -> Instant {
        let days = luck.exponential(mean: settings.daysToStick)
        return instant.adding(Int64(days * Double(Nanoseconds.day)))
    }

    func advance(to instant: Instant) {
        let days = Double(instant.nanoseconds - position.nanoseconds) / Double(Nanoseconds.day)
        level = max(0, level - settings.percentPerDay * days)
        position = instant
        if level < 50, position < sticksAt { level = 90 }
    }

    var truth: [Double] { [level] }
    func measure() -> [Double] { [level.rounded()] }
    var broken: [BrokenPart] {
        position < sticksAt ? [] : [BrokenPart(kind: "valve-stuck", since: sticksAt)]
    }

    func mend() {
        guard position >= sticksAt else { return }
        sticksAt = Self.next(settings, luck, after: position)
    }
}

extension SubjectKind {
    static let waterTank = SubjectKind(
        id: "water-tank", summary: "water with a float valve that sticks", words: ("tank", "tanks"),
        metrics: AlertMetric.allCases.filter { $0.rawValue == "level" }, settings: WaterTank.Settings(),
        parameters: [
            .init("percentPerDay", "%/day", "what the plants draw", \.percentPerDay, 0...1000),
            .init("daysToStick", "day", "until the valve sticks, mean", \.daysToStick, 0.01...1000),
        ]
    ) { WaterTank($0, $1) }
}
