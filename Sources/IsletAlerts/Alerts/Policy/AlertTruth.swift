// Which truth an alert is about: what must be so for it to be right.
//
// Guarantees: two rules about the same thing have the same truth, whatever their codes and bounds are; a rule about what no session can
// know for sure (a rate, insulin on board, a pod's end) has none, and is judged by nobody.
// A metric with a range has four truths of its own, or two: out of range, and beyond what is critical, below and above. They follow from its row.
// Does not: say when it is true. `AlertMetrics` does, from true values and what the devices truly did.

/// Something that is truly so or not, whatever a sensor says.
public struct AlertTruth: Hashable, Sendable, CaseIterable, RawRepresentable, Codable {
    /// Its place in `allCases`.
    public let index: Int

    private struct Row: Sendable {
        var id: String
        var meaning: String
        /// What the true value must be beyond; nil for devices.
        var breach: MetricTest?
        var topic: AlertTopic

        init(_ id: String, _ meaning: String, _ breach: MetricTest? = nil, topic: AlertTopic) {
            (self.id, self.meaning, self.breach, self.topic) = (id, meaning, breach, topic)
        }
    }

    private static let rows: [Row] =
        [
            Row(
                "low70", "true plasma glucose below 70 mg/dL (level 1 low)", MetricTest(.glucose, .low, 70),
                topic: .low),
            Row(
                "low54", "true plasma glucose below 54 mg/dL (level 2 low)", MetricTest(.glucose, .low, 54),
                topic: .low),
            Row(
                "high180", "true plasma glucose above 180 mg/dL (level 1 high)",
                MetricTest(.glucose, .high, 180), topic: .high),
            Row(
                "high250", "true plasma glucose above 250 mg/dL (level 2 high)",
                MetricTest(.glucose, .high, 250), topic: .high),
            Row("signalLoss", "the pump can't be reached", topic: .pump),
            Row("sensorGap", "no reading comes", topic: .sensor),
            Row("noPod", "no pod is active", topic: .pump),
            Row("podFailure", "the pod is blocked or broken", topic: .pump),
            Row("steppingInterrupted", "no successful step for three steps", topic: .app),
        ] + AlertMetric.allCases.flatMap(ofRange)

    public static let low70 = AlertTruth(index: 0)
    public static let low54 = AlertTruth(index: 1)
    public static let high180 = AlertTruth(index: 2)
    public static let high250 = AlertTruth(index: 3)
    /// The pump can't be reached.
    public static let signalLoss = AlertTruth(index: 4)
    /// No reading comes.
    public static let sensorGap = AlertTruth(index: 5)
    public static let noPod = AlertTruth(index: 6)
    /// The pod in use delivers nothing: it is blocked or broken.
    public static let podFailure = AlertTruth(index: 7)
    public static let steppingInterrupted = AlertTruth(index: 8)

    public static let allCases = rows.indices.map(AlertTruth.init(index:))

    private init(index: Int) { self.index = index }

    // What is raw-representable compares by its raw value, where it says nothing else.
    public static func == (a: Self, b: Self) -> Bool { a.index == b.index }
    public func hash(into hasher: inout Hasher) { hasher.combine(index) }

    public init?(rawValue: String) {
        guard let index = Self.rows.firstIndex(where: { $0.id == rawValue }) else { return nil }
        self.init(index: index)
    }

    public var rawValue: String { Self.rows[index].id }
    /// In one line.
    public var meaning: String { Self.rows[index].meaning }
    /// What the true value of a metric must be beyond; nil for devices.
    public var breach: MetricTest? { Self.rows[index].breach }
    /// What somebody does about it.
    public var topic: AlertTopic { Self.rows[index].topic }

    /// What the plasma must be beyond; nil for what is no glucose.
    public var plasma: (side: MetricTest.Side, bound: Double)? {
        guard let breach, breach.metric == .glucose else { return nil }
        return (breach.side, breach.bound)
    }

    // MARK: Metrics with a range

    private static func ofRange(_ metric: AlertMetric) -> [Row] {
        guard let range = metric.range else { return [] }
        func row(_ suffix: String, _ side: MetricTest.Side, _ bound: Double) -> Row {
            let text = bound == bound.rounded() ? "\(Int(bound))" : "\(bound)"
            let name = metric.name == metric.name.uppercased() ? metric.name : metric.name.lowercased()
            return Row(
                metric.rawValue + suffix,
                "true \(name) \(side == .low ? "below" : "above") \(text) \(metric.unit)\(suffix.hasPrefix("Critical") ? " (critical)" : "")",
                MetricTest(metric, side, bound), topic: .app)
        }
        return [row("Low", .low, range.lowerBound), row("High", .high, range.upperBound)]
            + [
                metric.criticalBelow.map { row("CriticalLow", .low, $0) },
                metric.criticalAbove.map { row("CriticalHigh", .high, $0) },
            ].compactMap(\.self)
    }

    /// What a comparison with a bound as far out as the critical one is about is critical; any other is about leaving the range.
    static func ofRange(_ test: MetricTest) -> AlertTruth? {
        let about = allCases.filter { $0.breach?.metric == test.metric && $0.breach?.side == test.side }
        guard let range = about.first else { return nil }
        return about.dropFirst().first { truth in
            truth.breach.map { test.side == .low ? test.bound <= $0.bound : test.bound >= $0.bound } ?? false
        } ?? range
    }
}

/// What a rule says of its truth.
public enum AlertTruthClaim: Hashable, Sendable, Codable {
    /// The catalogue's, or the one of its first comparison.
    case usual
    /// Nobody judges it.
    case none
    case about(AlertTruth)

    /// As it stands in a file; nil for the usual one.
    public var name: String? {
        switch self {
        case .usual: nil
        case .none: "none"
        case .about(let truth): truth.rawValue
        }
    }

    public init?(name: String) {
        if name == "none" {
            self = .none
        } else {
            guard let truth = AlertTruth(rawValue: name) else { return nil }
            self = .about(truth)
        }
    }
}

extension AlertPolicy {
    /// What its rules are about, as far as anybody can say.
    package var truths: Set<AlertTruth> { Set(rules.compactMap(\.truth)) }

    /// Rules are judged by what they are about in `other`, unless they say it themselves: a bound that moves asks no other question.
    package mutating func keepTruths(of other: AlertPolicy) {
        for place in rules.indices where rules[place].claim == .usual {
            guard let before = other.rules.first(where: { $0.code == rules[place].code }),
                before.truth != rules[place].truth
            else { continue }
            rules[place].claim = before.truth.map { .about($0) } ?? .none
        }
    }
}

extension AlertRule {
    /// A low alarm below this is about level 2, a high alarm from that on.
    private static let secondLevel = (low: 60.0, high: 250.0)

    /// What it is about; nil where nobody can say.
    public var truth: AlertTruth? {
        switch claim {
        case .none: return nil
        case .about(let truth): return truth
        case .usual: break
        }
        guard let test = tests.first else { return known?.truth }
        if test.metric == .readingAge { return test.side == .high ? .sensorGap : nil }
        guard test.metric.isGlucose else { return AlertTruth.ofRange(test) }
        switch test.side {
        case .low: return test.bound < Self.secondLevel.low ? .low54 : .low70
        case .high: return test.bound >= Self.secondLevel.high ? .high250 : .high180
        }
    }
}
