// A policy with what engines look up in it, made once.
//
// Guarantees: follows from the policy alone and never changes, so any number of sessions on any threads may share one. Making one
// costs as much as a day of an engine's work.

import IsletDevices
import IsletKernel

/// An alert policy, ready for any number of engines.
public final class PreparedPolicy: Hashable, Sendable {
    public let policy: AlertPolicy
    /// By which a launch sees that what it remembers was made under another policy.
    let fingerprint: UInt64
    let keys: [AlertEngine.Key]
    /// Rules by code: the order of what no input touched.
    let byCode: [Int]
    let codeRank: [Int]
    /// The catalogue's code of each rule that has one.
    let known: [AlertCode?]
    let rulesOfMetric: [[Int]]
    /// The comparisons of all rules, one rule after the other, with what is asked of their metrics at every look.
    let tests: [Test]
    /// Where those of each rule begin, and where the last end.
    let firstTest: [Int]
    /// By rule and severity, the shortest time between two notifications, ns.
    let cooldowns: [Int64]
    /// For each rule the ages of the newest reading at which it may change its mind, ns.
    let ageEdges: [[Int64]]
    /// For each metric its rules, with their test where they have one only.
    let calmTests: [[(rule: Int, test: MetricTest?)]]
    /// Values of each metric that breach none of `calmTests`; none where a rule joins comparisons.
    let calmValues: [CalmValues]
    /// Rules that look at the age of the newest reading: time alone may begin and end them.
    let ageRules: [Int]
    /// Whether a literal rule looks at it, which no reading judges by the age.
    let hasLiteralAge: Bool
    let followsAge: [Bool]
    /// Rules of more than one comparison.
    let joinsTests: [Bool]
    /// Rules that speak of a time to come.
    let foretells: [Bool]
    /// Rules that wait for a second value before they are raised: one that is alone may be a spike.
    let needsCompany: [Bool]
    /// Rules that raise a critical value without waiting.
    let isCriticalAtOnce: [Bool]
    /// By rule, when an episode that was shown in the foreground only is notified after all; nil for never.
    let afterFront: [AfterFront?]
    /// For each rule, the rules that inhibit it.
    let inhibitors: [[Int]]
    let indexOfCode: [AlertName: Int]
    /// By the place of a code of the catalogue: the rule that its source triggers.
    let rulesOfSource: [Int?]
    let watchesReservoir: Bool
    let watchesForecast: Bool
    /// The numbers of somebody's own that rules compare.
    package let ownMetrics: [AlertMetric]
    /// How many metrics an engine keeps a value of.
    let metricCount: Int
    /// Whether any rule tests the glucose rate or the prediction.
    let followsTrend: Bool

    /// One comparison.
    struct Test: Hashable, Sendable {
        var test: MetricTest
        /// The place of its metric.
        var place: Int
        var isAge: Bool
        var isPrediction: Bool
    }

    public init(_ policy: AlertPolicy) {
        self.policy = policy
        var tests: [Test] = []
        var firstTest = [0]
        for rule in policy.rules {
            for test in rule.reachedTests {
                tests.append(
                    Test(
                        test: test, place: test.metric.index, isAge: test.metric == .readingAge,
                        isPrediction: test.metric.isPrediction))
            }
            firstTest.append(tests.count)
        }
        self.tests = tests
        self.firstTest = firstTest
        cooldowns = policy.rules.flatMap { rule in
            AlertSeverity.allCases.map { rule.cooldown(at: $0, policy.limits) }
        }
        ageEdges = policy.rules.map(Self.ageEdges)
        let rules = policy.rules
        fingerprint = policy.fingerprint
        keys = rules.map { AlertEngine.Key($0) }
        let byCode = rules.indices.sorted { rules[$0].code < rules[$1].code }
        self.byCode = byCode
        var rank = [Int](repeating: 0, count: rules.count)
        for (place, index) in byCode.enumerated() { rank[index] = place }
        codeRank = rank
        known = rules.map(\.known)
        ownMetrics = AlertMetric.own(in: rules)
        metricCount = AlertMetric.count(with: ownMetrics)
        let rulesOfMetric = (0..<metricCount).map { place in
            rules.indices.filter { rules[$0].tests.contains { $0.metric.index == place } }
        }
        self.rulesOfMetric = rulesOfMetric
        let calmTests = rulesOfMetric.map { places in
            places.map { place in
                let tests = rules[place].reachedTests
                return (rule: place, test: tests.count == 1 ? tests[0] : nil)
            }
        }
        self.calmTests = calmTests
        calmValues = calmTests.map { CalmValues($0.map(\.test)) }
        let followsAge = rules.map { rule in
            !rule.isLiteral && rule.tests.contains { $0.metric == .readingAge }
        }
        self.followsAge = followsAge
        joinsTests = rules.map { $0.tests.count > 1 }
        foretells = rules.map { rule in !rule.isLiteral && rule.tests.contains { $0.metric.isPrediction } }
        needsCompany = rules.map { rule in
            !rule.isLiteral && rule.debounce > 0 && !rule.tests.isEmpty
                && !rule.tests.contains { $0.metric == .readingAge }
        }
        isCriticalAtOnce = rules.map(\.isCriticalAtOnce)
        afterFront = rules.map { policy.afterFront(of: $0) }
        ageRules = rules.indices.filter { followsAge[$0] }
        hasLiteralAge = rules.contains { rule in
            rule.isLiteral && rule.tests.contains { $0.metric == .readingAge }
        }
        inhibitors = rules.map { rule in
            rules.indices.filter { rules[$0].inhibits.contains(rule.code) }
        }
        var index: [AlertName: Int] = [:]
        for (place, rule) in rules.enumerated() { index[rule.code] = place }
        indexOfCode = index
        rulesOfSource = AlertCode.allCases.map { code in
            guard let rule = index[code.name], case .source(code) = rules[rule].trigger else {
                return nil
            }
            return rule
        }
        watchesReservoir = !rulesOfMetric[AlertMetric.reservoir.index].isEmpty
        watchesForecast = !rulesOfMetric[AlertMetric.forecastGlucose.index].isEmpty
        followsTrend = [AlertMetric.glucoseRate, .glucoseIn20m].contains { !rulesOfMetric[$0.index].isEmpty }
    }

    /// From the highest low bound to the lowest high one.
    struct CalmValues: Sendable {
        private var low = -Double.infinity
        private var high = Double.infinity

        init(_ tests: [MetricTest?]) {
            for test in tests {
                guard let test else {
                    low = .infinity
                    continue
                }
                switch test.side {
                case .low: low = max(low, test.bound)
                case .high: high = min(high, test.bound)
                }
            }
        }

        func contains(_ value: Double) -> Bool { value >= low && value <= high }
    }

    /// The places of a rule's comparisons in `tests`.
    @inline(__always)
    func testsOfRule(_ rule: Int) -> Range<Int> { firstTest[rule]..<firstTest[rule + 1] }

    /// The shortest time between two notifications of a rule, ns.
    @inline(__always)
    func cooldown(_ rule: Int, at severity: AlertSeverity) -> Int64 {
        cooldowns[rule * Self.severities + Int(severity.rawValue)]
    }
    private static let severities = AlertSeverity.allCases.count

    private static func ageEdges(_ rule: AlertRule) -> [Int64] {
        var minutes = rule.reachedTests.filter { $0.metric == .readingAge }.flatMap {
            [$0.bound, $0.clearAt]
        }
        if rule.tests.first?.metric == .readingAge { minutes += [rule.criticalBelow, rule.criticalAbove] }
        return minutes.compactMap { $0.map(MetricTest.nanoseconds) }
    }

    public static let bionicloop = PreparedPolicy(.bionicloop)

    public static func == (a: PreparedPolicy, b: PreparedPolicy) -> Bool { a === b || a.policy == b.policy }
    public func hash(into hasher: inout Hasher) { hasher.combine(policy) }
}
