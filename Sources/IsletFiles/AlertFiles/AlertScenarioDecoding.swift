// From a YAML tree to a scenario.
//
// Guarantees: any text ends in a scenario or in one `InputError` with its place. What could never come true (an
// effect that isn't compared, an effect or a state after the end, a code that the policy doesn't have) or would be ignored (an
// event after the end, a snooze for no time) is a problem, not a failure; so is a wall clock that leaves the calendar.

import IsletAlerts
package import IsletDevices
import IsletKernel

extension AlertScenario {
    package static func read(path: String) throws(InputError) -> AlertScenario {
        try decode(try YAMLDocument.read(path: path))
    }

    package static func parse(_ text: String, file: String) throws(InputError) -> AlertScenario {
        try decode(try YAMLDocument.parse(text, file: file))
    }

    package static func decode(_ document: YAMLNode) throws(InputError) -> AlertScenario {
        let root = YAMLReader(document)
        try root.check(.mapping(shape))
        var scenario = try keys.decode(root)
        scenario.file = document.origin.file
        return scenario
    }

    static func decodeCase(_ item: YAMLReader, _ shared: ScenarioSetup) throws(InputError) -> Case {
        var own = shared
        try ScenarioSetup.keys.rows.decode(item, into: &own)
        let policy = own.policy
        let until = Instant(nanoseconds: try item["until"].span() ?? 0)
        let world = try decodeWorld(own, item["series"])
        try checkClock(item["timeline"], world.wallClock)
        return Case(
            name: try item["name"]?.text() ?? "", line: item.node.origin.line,
            tags: try decodeTexts(item["tags"]) ?? [], policy: policy, compare: own.compare,
            world: world, timeline: try decodeTimeline(item["timeline"], policy, until), until: until,
            expect: try decodeExpectations(item["expect"], own.compare, policy, until),
            states: try decodeStates(item["states"], policy, until))
    }

    private static func decodeTexts(_ reader: YAMLReader?) throws(InputError) -> [String]? {
        guard let reader else { return nil }
        var texts: [String] = []
        for item in reader.items { texts.append(try item.text()) }
        return texts
    }

    // MARK: What would be ignored

    /// A code of the policy: a misspelt one would be ignored, or never happen.
    static func code(_ reader: YAMLReader, _ policy: AlertPolicy) throws(InputError) -> AlertName {
        let code = AlertName(rawValue: try reader.text())
        let codes = policy.rules.map(\.code)
        guard !codes.contains(code) else { return code }
        let meant =
            nearest(to: code.rawValue, among: codes.map(\.rawValue)).map { " (nearest: `\($0)`)" } ?? ""
        throw reader.problem(
            found: quotedForMessage(code.rawValue),
            expected: "the code of a rule of the policy \(policy.name)\(meant)"
        )
    }

    private static func codes(_ reader: YAMLReader?, _ policy: AlertPolicy) throws(InputError)
        -> [AlertName]?
    {
        guard let reader else { return nil }
        var codes: [AlertName] = []
        for item in reader.items { codes.append(try code(item, policy)) }
        return codes
    }

    /// An instant up to the case's end.
    private static func instant(_ item: YAMLReader, _ until: Instant) throws(InputError) -> Instant {
        let at = Instant(nanoseconds: try item["at"].span() ?? 0)
        guard at <= until else {
            throw (item["at"] ?? item).problem(
                expected: "at most \(TimeSpan(nanoseconds: until.nanoseconds)), the end of the case")
        }
        return at
    }

    /// What a device calls its alert: any name but one that is a slip of the pen away from a known one.
    static func issue(_ reader: YAMLReader, _ known: [String]) throws(InputError) -> String {
        let issue = try reader.text()
        guard !known.contains(issue) else { return issue }
        let typed = Array(issue.unicodeScalars.prefix(64))
        for name in known where editDistance(typed, Array(name.unicodeScalars)) <= 2 {
            throw reader.problem(
                found: quotedForMessage(issue),
                expected: "`\(name)`, or an identifier that is not within two letters of a known one")
        }
        return issue
    }

    /// The years that a start may lie in.
    private static let calendar: (first: Int64, last: Int64)? = {
        guard let first = StudyStart("1970-01-01T00:00:00Z"), let last = StudyStart("2200-12-31T23:59:59Z")
        else { return nil }
        return (first.unixSeconds, last.unixSeconds)
    }()

    /// Jumps add up, whatever their order in the file: at each the clock must show a time of the calendar.
    private static func checkClock(_ reader: YAMLReader?, _ clock: WallClock) throws(InputError) {
        var jumps: [(at: Int64, jump: Int64, reader: YAMLReader)] = []
        for item in reader?.items ?? [] {
            guard let change = item["timeChange"], let jump = signed(try change.text()) else { continue }
            jumps.append((try item["at"].span() ?? 0, jump, change))
        }
        // Stable: several of one instant stay in the order of the file.
        let inOrder = jumps.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        var sum: Int64 = 0
        for (_, change) in inOrder {
            let next = sum.addingReportingOverflow(change.jump)
            let shown = next.partialValue.addingReportingOverflow(change.at)
            let seconds = clock.startEpochSeconds + shown.partialValue / Nanoseconds.second
            guard !next.overflow, !shown.overflow, let calendar, seconds >= calendar.first,
                seconds <= calendar.last
            else {
                throw change.reader.problem(
                    found: "a jump that takes the clock out of the calendar",
                    expected: "jumps that together keep it in the years 1970 to 2200")
            }
            sum = next.partialValue
        }
    }

    // MARK: The world

    private static func decodeWorld(
        _ setup: ScenarioSetup, _ series: YAMLReader?
    ) throws(InputError) -> AlertWorld {
        let (world, policy) = (setup.world, setup.policy)
        guard let start = StudyStart(world.start) else {
            throw InputError(file: policy.name, found: "no start", expected: "a start")
        }
        let zone = try zone(world.zone, around: start.unixSeconds, setup.zone)
        var environment = world.environment
        environment.podExpiresAt = Instant(nanoseconds: world.podExpires)
        var samples: [AlertSeries] = []
        if let series, case .mapping(let entries) = series.node.content {
            for entry in entries {
                guard let metric = AlertMetric(rawValue: entry.key), let one = series[entry.key],
                    let values = SeriesNotation.values(try one.text())
                else { continue }
                samples.append(AlertSeries(metric, values, interval: setup.interval))
            }
        }
        return AlertWorld(
            policy: policy, wallClock: WallClock(startEpochSeconds: start.unixSeconds, zone: zone),
            environment: environment,
            appState: world.app, stepsRun: world.stepsRun, glucose: world.glucose, series: samples)
    }

    private static func zone(
        _ name: String, around second: Int64, _ reader: YAMLReader?
    ) throws(InputError) -> ZoneTable {
        guard let zone = ZoneTable.named(name, around: second) else {
            throw reader?.problem(expected: ZoneTable.rule.expectation)
                ?? InputError(file: "time zones", found: "no \(name)", expected: "the IANA database")
        }
        return zone
    }

    // MARK: The timeline

    private static func decodeTimeline(
        _ reader: YAMLReader?, _ policy: AlertPolicy, _ until: Instant
    ) throws(InputError) -> [(at: Instant, events: [AlertWorldEvent])] {
        var timeline: [(at: Instant, events: [AlertWorldEvent])] = []
        for item in reader?.items ?? [] {
            let at = try instant(item, until)
            guard case .mapping(let entries) = item.node.content else { continue }
            var ranked: [(rank: Int, event: AlertWorldEvent)] = []
            for entry in entries where entry.key != "at" {
                guard let value = item[entry.key],
                    let event = try ScenarioEvent.named[entry.key]?.decode(value, policy)
                else {
                    continue
                }
                ranked.append((rank(event), event))
            }
            // What the world is comes before what happens in it; within that, as written.
            let events = (0...3).flatMap { rank in ranked.filter { $0.rank == rank }.map(\.event) }
            if let place = timeline.firstIndex(where: { $0.at == at }) {
                timeline[place].events += events
            } else {
                timeline.append((at, events))
            }
        }
        return timeline.sorted { $0.at < $1.at }
    }

    private static func rank(_ event: AlertWorldEvent) -> Int {
        switch event {
        case .app(.quit): 0
        case .podExpires: 2
        case .app, .relaunch: 2
        case .reading, .value, .step, .user, .timeChange: 3
        default: 1
        }
    }

    // MARK: What must come of it

    private static func decodeExpectations(
        _ reader: YAMLReader?, _ compare: [AlertEffect.Kind], _ policy: AlertPolicy, _ until: Instant
    ) throws(InputError) -> [Expectation] {
        var expectations: [Expectation] = []
        for item in reader?.items ?? [] {
            guard let kind = AlertEffect.Kind.allCases.first(where: { item[$0.rawValue] != nil }) else {
                continue
            }
            guard compare.contains(kind) else {
                throw item.problem(
                    found: "`\(kind.rawValue)`, which is not compared",
                    expected: "one of " + compare.map(\.rawValue).joined(separator: ", ")
                        + "; or `\(kind.rawValue)` in `compare`")
            }
            guard let name = item[kind.rawValue] else { continue }
            expectations.append(
                Expectation(
                    at: try instant(item, until), kind: kind, code: try code(name, policy),
                    severity: try item["severity"]?.text(),
                    reason: try item["reason"]?.text(),
                    messageContains: try item["message"]?["contains"]?.text(), to: try item["to"]?.text()))
        }
        return expectations
    }

    private static func decodeStates(
        _ reader: YAMLReader?, _ policy: AlertPolicy, _ until: Instant
    ) throws(InputError) -> [StateExpectation] {
        var states: [StateExpectation] = []
        for item in reader?.items ?? [] {
            let at = try instant(item, until)
            var banner = try item["banner"]?.text()
            if let reader = item["banner"], banner != noBanner { banner = try code(reader, policy).rawValue }
            states.append(
                StateExpectation(
                    at: at, line: item.node.origin.line, active: try codes(item["active"], policy),
                    pending: try codes(item["pending"], policy), cleared: try codes(item["cleared"], policy),
                    badge: (try item["badge"]?.wholeNumber()).map { Int($0) },
                    banner: banner.map { $0 == noBanner ? "" : $0 },
                    quiet: try item["quiet"]?.flag()))
        }
        return states
    }
}
