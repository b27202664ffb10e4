// Metric × sensitivity × quiet hours × snooze × front × loss of the sensor × what the values do: each cell against the oracle, and what no cell may do.

import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

@Suite struct GridTests {
    static let metrics: [GridCell.Metric] = [
        .init(
            name: "glucose", isLow: true, bound: 70, critical: 54, fastest: 4, safe: 80, beyond: 66, worst: 53
        ),
        .init(
            name: "glucose", isLow: false, bound: 250, critical: 400, endsAtCritical: true, fastest: 4,
            safe: 240,
            beyond: 385, worst: 400),
        .init(name: "temperature", isLow: true, bound: 65, critical: 50, safe: 70, beyond: 60, worst: 49),
        .init(name: "temperature", isLow: false, bound: 85, critical: 95, safe: 80, beyond: 90, worst: 96),
        .init(name: "humidity", isLow: true, bound: 40, critical: 20, safe: 50, beyond: 30, worst: 19),
        .init(name: "humidity", isLow: false, bound: 70, critical: 90, safe: 60, beyond: 80, worst: 91),
        .init(name: "vpd", isLow: true, bound: 0.4, critical: 0.2, safe: 0.8, beyond: 0.3, worst: 0.1),
        .init(name: "vpd", isLow: false, bound: 1.6, critical: 2.5, safe: 1, beyond: 2, worst: 2.6),
    ]

    /// All of glucose; of the others, which no speed concerns, what differs from it.
    static func cells(_ metric: GridCell.Metric) -> [GridCell] {
        let isWhole = metric.fastest != nil
        var cells: [GridCell] = []
        for sensitivity in isWhole ? [0, 15 * 60, 60 * 60] : [15 * 60] {
            for isQuiet in [false, true] {
                for snooze in isWhole ? GridCell.Snooze.allCases : [.never, .during] {
                    for front in GridCell.Front.allCases {
                        for loss in GridCell.Loss.allCases {
                            for course in isWhole ? GridCell.Course.allCases : [.worse, .spike] {
                                cells.append(
                                    GridCell(
                                        metric: metric, sensitivity: sensitivity, isQuiet: isQuiet,
                                        snooze: snooze,
                                        front: front, loss: loss, course: course))
                            }
                        }
                    }
                }
            }
        }
        return cells
    }

    @Test func `the grid has 2 000 cells and more`() {
        #expect(Self.metrics.reduce(0) { $0 + Self.cells($1).count } >= 2000)
    }

    @Test(arguments: metrics.indices)
    func `each cell is what the page says, and nothing critical goes unheard`(_ place: Int) throws {
        var differing: [String] = []
        for cell in Self.cells(Self.metrics[place]) {
            let got = try Self.run(cell)
            var oracle = GridOracle(cell)
            let expected = oracle.run()
            if got != expected { differing.append("\(cell)\n  page   \(expected)\n  engine \(got)") }
            if let harm = Self.harm(in: got, cell) { differing.append("\(cell): \(harm)\n  engine \(got)") }
        }
        #expect(
            differing.isEmpty, "\(differing.count) cells:\n\(differing.prefix(5).joined(separator: "\n"))")
    }

    // MARK: What no cell may do

    /// A critical value of which nobody is told, and neither a hand, a phone in front nor a death is why.
    private static func harm(in events: [GridEvent], _ cell: GridCell) -> String? {
        let (isLow, critical) = (cell.metric.isLow, cell.metric.critical)
        func isCritical(_ value: Double) -> Bool {
            cell.metric.endsAtCritical && value == critical || (isLow ? value < critical : value > critical)
        }
        for reading in cell.readings where isCritical(reading.value) && cell.front != .dead {
            // What another value takes back before it is confirmed was a spike.
            let next = cell.readings.first { $0.at > reading.at }
            let isTakenBack = cell.metric.fastest != nil && next.map { !isCritical($0.value) } ?? false
            if isTakenBack { continue }
            let raised = events.filter { $0.kind == .raise && $0.at <= reading.at + 330 }
            let cleared = events.filter { $0.kind == .clear && $0.at <= reading.at }
            if raised.count <= cleared.count { return "no alert of \(reading.value) at \(reading.at) s" }
        }
        guard cell.snooze == .never, cell.front == .never else { return nil }
        for raise in events where raise.kind == .raise && raise.isCritical {
            if !events.contains(where: { $0.kind == .notify && $0.at == raise.at }) {
                return "raised at \(raise.at) s and not notified"
            }
        }
        return nil
    }

    // MARK: The engine

    private static func run(_ cell: GridCell) throws -> [GridEvent] {
        let metric = try #require(AlertMetric(rawValue: cell.metric.name))
        let threshold = AlertThreshold(
            subject: "me", metric: metric, min: cell.metric.isLow ? cell.metric.bound : nil,
            max: cell.metric.isLow ? nil : cell.metric.bound,
            sensitivity: Int64(cell.sensitivity) * Nanoseconds.second)
        var policy = AlertPolicy(name: "grid", rules: threshold.rules(name: "Me"))
        if cell.isQuiet {
            policy.quietHours = QuietHours(
                from: 0, to: Int64(GridCell.quietEnd) * Nanoseconds.second, zone: .utc)
        }
        var environment = AppEnvironment()
        environment.isArmed = false
        environment.hasPod = false
        var world = AlertWorld(
            policy: policy, wallClock: WallClock(startEpochSeconds: 0, zone: .utc), environment: environment,
            appState: cell.startsInFront ? .foreground : .background, stepsRun: false)
        world.readingsRun = false
        var timeline: [Int: [AlertWorldEvent]] = [0: []]
        func add(_ second: Int, _ event: AlertWorldEvent) { timeline[second, default: []].append(event) }
        let code = policy.rules[0].code
        if cell.front == .dead {
            add(GridCell.death.at, .app(.quit))
            add(GridCell.death.launch, .app(.background))
        }
        switch cell.snooze {
        case .never: break
        case .before: add(GridCell.snoozes.before.at, snooze(code, GridCell.snoozes.before.for))
        case .during: add(GridCell.snoozes.during.at, snooze(code, GridCell.snoozes.during.for))
        }
        if let leavesAt = cell.leavesAt { add(leavesAt, .app(.background)) }
        for reading in cell.readings {
            add(
                reading.at,
                metric == .glucose
                    ? .reading(reading.value, isReliable: true, age: 0) : .value(metric, reading.value))
        }
        let end = Instant(nanoseconds: Int64(GridCell.horizon) * Nanoseconds.second)
        world.run(
            timeline.sorted { $0.key < $1.key }.map {
                (Instant(nanoseconds: Int64($0.key) * Nanoseconds.second), $0.value)
            }, until: end)
        return world.effects.compactMap { effect in
            let kind: GridEvent.Kind
            switch effect.kind {
            case .raise: kind = .raise
            case .notify: kind = .notify
            case .clear: kind = .clear
            default: return nil
            }
            return GridEvent(
                at: Int(effect.instant.nanoseconds / Nanoseconds.second), kind: kind,
                isCritical: effect.severity == .safetyCritical)
        }
    }

    private static func snooze(_ code: AlertName, _ seconds: Int) -> AlertWorldEvent {
        .user(.snooze(code, for: Int64(seconds) * Nanoseconds.second))
    }
}
