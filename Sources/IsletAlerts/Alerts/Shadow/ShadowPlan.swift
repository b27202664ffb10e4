// Which policies listen in shadow, and what they have in common.
//
// Guarantees: a pure value, made once a study and shared by its sessions. Each policy is cut into parts: rules that no inhibition joins
// know nothing of each other, so that a part behaves alone as it does within its policy. Parts that are equal in
// everything that decides and in what they are judged by are one part, run once for all who have it.
// Does not: run anything. `ShadowEngine` does.

public import IsletDevices
import IsletKernel

public struct ShadowPlan: Sendable {
    /// Who listens. Names differ.
    public let policies: [AlertPolicy]
    /// Who listens beside, to be compared with: heard of by nobody, not even the results. Counted after `policies`.
    package let hidden: [AlertPolicy]
    let parts: [Part]
    let groups: [Group]
    /// Of each policy, hidden ones too, its parts and, rule by rule of the part, the place in the policy.
    package let partsOfPolicy: [[(part: Int, rules: [Int])]]
    /// Numbers of somebody's own that some rule compares.
    package let ownMetrics: [AlertMetric]
    /// All codes of all policies, rising: what is stored of a code is its place here.
    public let codes: [AlertName]

    /// Rules that inhibit each other, by whatever way, with what holds for all of their policy's rules.
    struct Part: Sendable {
        var policy: AlertPolicy
        var group: Int
        /// Codes of the catalogue whose source it waits for.
        var sources = AlertCodeSet()
        /// Whose it is, hidden policies left out.
        var members: [(policy: Int, rules: [Int])] = []
        /// Some rule is about a truth: what stands in its way matters, where anybody is scored by it.
        var isJudged: Bool { !members.isEmpty && policy.rules.contains { $0.truth != nil } }
        /// By rule, the code's place in `codes`.
        var codes: [Int] = []
        /// Some rule is of what follows from readings: it needs the ones before.
        var followsReadings = false
        /// The literal sketch looks at every input of its policy.
        var isLiteral: Bool
        /// The comparisons of its rules, one rule after the other.
        var tests: [(test: MetricTest, endsRule: Bool)] = []
        /// Before any session.
        var flow: AlertFlow
    }

    /// Parts that see the same world: limits decide what is stale, and when stepping and pods count as over.
    struct Group: Sendable {
        var limits: AlertLimits
        /// Whether the reservoir is asked for at each step.
        var watchesReservoir: Bool
        var parts: [Int] = []
        /// By metric.
        var edges: [ShadowEdges<Double>] = []
        /// Edges of the age of the newest reading, ns.
        var ages = ShadowEdges<Int64>()
        var firstAge = Int64.max
        var watchesStepping = false
        var hasRate = false
        var hasTrend = false
        /// By code of the catalogue.
        var waiting: [[Int]] = []
        /// Parts that have something to be shown ahead of time, should the app die.
        var scheduled: [Int] = []
        var literal: [Int] = []
        /// Keeps what all parts have in common.
        var flow: AlertFlow
        /// Numbers of somebody's own that some part of the plan compares.
        var own: [AlertMetric] = []
    }

    private struct Key: Hashable {
        var policy: AlertPolicy
        var watchesReservoir: Bool
    }

    private struct GroupKey: Hashable {
        var limits: AlertLimits
        var watchesReservoir: Bool
    }

    public init(_ policies: [AlertPolicy]) { self.init(policies, hidden: []) }

    package init(_ listed: [AlertPolicy], hidden: [AlertPolicy]) {
        policies = listed
        self.hidden = hidden
        let policies = listed + hidden
        let own = AlertMetric.own(in: policies.flatMap(\.rules))
        ownMetrics = own
        codes = Set(policies.flatMap { $0.rules.map(\.code) }).sorted()
        let places = Dictionary(codes.enumerated().map { ($1, $0) }) { first, _ in first }
        var parts: [Part] = []
        var groups: [Group] = []
        var known: [Key: Int] = [:]
        var knownGroups: [GroupKey: Int] = [:]
        var partsOfPolicy: [[(part: Int, rules: [Int])]] = []
        for (number, policy) in policies.enumerated() {
            let watches = policy.rules.contains { $0.tests.contains { $0.metric == .reservoir } }
            var pieces: [(part: Int, rules: [Int])] = []
            for rules in policy.separateRules {
                var piece = policy
                piece.name = ""
                piece.rules = rules.map { policy.rules[$0] }
                let key = Key(policy: piece, watchesReservoir: watches)
                let groupKey = GroupKey(limits: policy.limits, watchesReservoir: watches)
                if knownGroups[groupKey] == nil {
                    knownGroups[groupKey] = groups.count
                    groups.append(Group(policy.limits, watchesReservoir: watches, own))
                }
                if known[key] == nil {
                    known[key] = parts.count
                    var part = Part(piece, group: knownGroups[groupKey] ?? 0)
                    part.codes = piece.rules.map { places[$0.code] ?? 0 }
                    parts.append(part)
                }
                guard let part = known[key] else { continue }
                if number < listed.count { parts[part].members.append((number, rules)) }
                pieces.append((part, rules))
            }
            partsOfPolicy.append(pieces)
        }
        for (number, part) in parts.enumerated() { groups[part.group].take(part, number) }
        for group in groups.indices { groups[group].sort() }
        self.parts = parts
        self.groups = groups
        self.partsOfPolicy = partsOfPolicy
    }

    /// Whether the reservoir is asked for at each step.
    var watchesReservoir: Bool { groups.contains(where: \.watchesReservoir) }

    /// Whether the algorithm's forecast is asked for at each step.
    var watchesForecast: Bool {
        groups.contains { !$0.edges[AlertMetric.forecastGlucose.index].isEmpty }
    }

    /// How many parts are run for all the policies.
    package var partCount: Int { parts.count }

    /// The rules of a part.
    package func rules(ofPart part: Int) -> [AlertRule] { parts[part].policy.rules }
    /// Whether it belongs to a policy that isn't hidden.
    package func isListed(_ part: Int) -> Bool { !parts[part].members.isEmpty }
}

extension ShadowPlan.Part {
    fileprivate init(_ policy: AlertPolicy, group: Int) {
        self.init(
            policy: policy, group: group, isLiteral: policy.rules.contains(where: \.isLiteral),
            flow: AlertFlow(shadowing: policy))
        for rule in policy.rules {
            if case .source(let code) = rule.trigger { sources.insert(code) }
            for (place, test) in rule.reachedTests.enumerated() {
                if [.glucoseRate, .glucoseIn20m, .basalShare].contains(test.metric) {
                    followsReadings = true
                }
                tests.append((test, place + 1 == rule.tests.count))
            }
        }
    }
}

extension ShadowPlan.Group {
    fileprivate init(_ limits: AlertLimits, watchesReservoir: Bool, _ own: [AlertMetric]) {
        self.init(
            limits: limits, watchesReservoir: watchesReservoir,
            edges: (0..<AlertMetric.count(with: own)).map { _ in ShadowEdges() },
            waiting: AlertCode.allCases.map { _ in [] },
            flow: AlertFlow(shadowing: Self.nobody(limits, following: [.glucoseRate] + own)), own: own)
    }

    /// A rule that never holds has the flow keep up what follows from readings.
    private static func nobody(_ limits: AlertLimits, following metrics: [AlertMetric]) -> AlertPolicy {
        var nobody = AlertPolicy(
            name: "",
            rules: metrics.map {
                AlertRule(
                    code: AlertName(rawValue: $0.rawValue),
                    trigger: .metrics([MetricTest($0, .low, -.infinity)]), severity: .informational)
            })
        nobody.limits = limits
        return nobody
    }

    fileprivate mutating func take(_ part: ShadowPlan.Part, _ number: Int) {
        parts.append(number)
        if part.isLiteral { literal.append(number) }
        for code in AlertCode.allCases where part.sources.contains(code) {
            waiting[code.index].append(number)
        }
        if part.sources.contains(.steppingInterrupted) || part.flow.insulinRule != nil {
            scheduled.append(number)
        }
        for rule in part.policy.rules {
            for (place, test) in rule.reachedTests.enumerated() {
                let values = [
                    test.bound, test.clearAt, place == 0 ? rule.reachedBelow : nil,
                    place == 0 ? rule.reachedAbove : nil,
                ].compactMap { $0 }
                if test.metric == .readingAge {
                    for value in values { ages.add(MetricTest.nanoseconds(value), number) }
                } else {
                    for value in values { edges[test.metric.index].add(value, number) }
                }
                if test.metric == .glucoseRate { hasRate = true }
                if test.metric == .glucoseIn20m { hasTrend = true }
            }
        }
    }

    fileprivate mutating func sort() {
        if hasTrend {
            flow = AlertFlow(shadowing: Self.nobody(limits, following: [.glucoseRate, .glucoseIn20m] + own))
        }
        for metric in edges.indices { edges[metric].sort() }
        ages.sort()
        firstAge = ages.values.first ?? .max
        watchesStepping = !waiting[AlertCode.steppingInterrupted.index].isEmpty
    }
}

extension AlertPolicy {
    /// Places of rules that belong together, in the policy's order. Those that nothing can raise are left out.
    fileprivate var separateRules: [[Int]] {
        let live = rules.indices.filter { rules[$0].known?.isReserved != true }
        if rules.contains(where: \.isLiteral) { return live.isEmpty ? [] : [live] }
        var root = Array(rules.indices)
        func find(_ rule: Int) -> Int {
            var rule = rule
            while root[rule] != rule { rule = root[rule] }
            return rule
        }
        for rule in live where !rules[rule].inhibits.isEmpty {
            for other in live where rules[rule].inhibits.contains(rules[other].code) {
                let (a, b) = (find(rule), find(other))
                root[max(a, b)] = min(a, b)
            }
        }
        var order: [Int] = []
        var pieces: [Int: [Int]] = [:]
        for rule in live {
            let first = find(rule)
            if pieces[first] == nil { order.append(first) }
            pieces[first, default: []].append(rule)
        }
        return order.compactMap { pieces[$0] }
    }
}

extension AlertFlow {
    /// Says and asks nothing: nobody is there to hear or to be asked.
    fileprivate init(shadowing policy: AlertPolicy) {
        self.init(
            policy: PreparedPolicy(policy),
            wallClock: WallClock(startEpochSeconds: 0, zone: ZoneTable(name: "", firstOffsetSeconds: 0)),
            memory: AlertMemory(), environment: AppEnvironment())
        isShadow = true
        engine.isShadow = true
    }
}
