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
        var policy = AlertPolicy.bionicloop
        if let reference = root["policy"] { policy = try AlertPolicy.find(reference) }
        let compare = try decodeCompare(root["compare"]) ?? defaultCompare
        var scenario = AlertScenario(
            file: document.origin.file, suite: try root["suite"]?.text() ?? "", cases: [])
        for item in root["cases"]?.items ?? [] {
            var own = policy
            if let reference = item["policy"] { own = try AlertPolicy.find(reference) }
            let ownInterval = try item["interval"].span()
            let sharedInterval = try root["interval"].span()
            let interval = ownInterval ?? sharedInterval ?? AlertWorld.grid
            let until = Instant(nanoseconds: try item["until"].span() ?? 0)
            let kinds = try decodeCompare(item["compare"]) ?? compare
            let world = try decodeWorld(own, root["defaults"], item["defaults"], item["series"], interval)
            try checkClock(item["timeline"], world.wallClock)
            scenario.cases.append(
                Case(
                    name: try item["name"]?.text() ?? "", line: item.node.origin.line,
                    tags: try decodeTexts(item["tags"]) ?? [], policy: own, compare: kinds,
                    world: world, timeline: try decodeTimeline(item["timeline"], own, until), until: until,
                    expect: try decodeExpectations(item["expect"], kinds, own, until),
                    states: try decodeStates(item["states"], own, until)))
        }
        return scenario
    }

    private static func decodeCompare(_ reader: YAMLReader?) throws(InputError) -> [AlertEffect.Kind]? {
        guard let reader else { return nil }
        var kinds: [AlertEffect.Kind] = []
        for item in reader.items {
            if let kind = AlertEffect.Kind(rawValue: try item.text()) { kinds.append(kind) }
        }
        return kinds
    }

    private static func decodeTexts(_ reader: YAMLReader?) throws(InputError) -> [String]? {
        guard let reader else { return nil }
        var texts: [String] = []
        for item in reader.items { texts.append(try item.text()) }
        return texts
    }

    // MARK: What would be ignored

    /// A code of the policy: a misspelt one would be ignored, or never happen.
    private static func code(_ reader: YAMLReader, _ policy: AlertPolicy) throws(InputError) -> AlertName {
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
    private static func issue(_ reader: YAMLReader, _ known: [String]) throws(InputError) -> String {
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
        _ policy: AlertPolicy, _ shared: YAMLReader?, _ own: YAMLReader?, _ series: YAMLReader?,
        _ interval: Int64
    ) throws(InputError) -> AlertWorld {
        func reader(_ key: String) -> YAMLReader? { own?[key] ?? shared?[key] }
        func text(_ key: String, _ other: String) throws(InputError) -> String {
            try reader(key)?.text() ?? other
        }
        guard let start = StudyStart(try text("start", "2026-03-02T08:00:00-05:00")) else {
            throw InputError(file: policy.name, found: "no start", expected: "a start")
        }
        let name = try text("timeZone", "America/New_York")
        let zone = try zone(name, around: start.unixSeconds, reader("timeZone"))
        var environment = AppEnvironment()
        environment.isArmed = try text("loop", "armed") == "armed"
        environment.isFirstStepDone = try reader("firstStepDone")?.flag() ?? true
        environment.hasPod = try text("pod", "active") == "active"
        environment.podExpiresAt = Instant(
            nanoseconds: try reader("podExpiresIn").span() ?? AlertWorld.podLife)
        environment.hasPumpSession = try text("pumpSession", "established") == "established"
        environment.isPumpStatusKnown = try text("pumpStatus", "known") == "known"
        environment.cgmState = sensorState(try text("cgmState", "ok"))
        environment.cgmLifecycle = SensorLifecycle(rawValue: try text("cgmLifecycle", "ok")) ?? .ok
        environment.isSignedIn = try text("auth", "signedIn") == "signedIn"
        environment.isClaimOk = try text("subjectClaim", "ok") == "ok"
        environment.clockSkewSeconds = skewSeconds(try text("clockSkew", "0s"))
        var samples: [AlertSeries] = []
        if let series, case .mapping(let entries) = series.node.content {
            for entry in entries {
                guard let metric = AlertMetric(rawValue: entry.key), let one = series[entry.key],
                    let values = SeriesNotation.values(try one.text())
                else { continue }
                samples.append(AlertSeries(metric, values, interval: interval))
            }
        }
        return AlertWorld(
            policy: policy, wallClock: WallClock(startEpochSeconds: start.unixSeconds, zone: zone),
            environment: environment,
            appState: AlertWorldEvent.AppState(rawValue: try text("app", "foreground")) ?? .foreground,
            stepsRun: try text("steps", "running") == "running",
            glucose: try reader("glucose")?.number(in: 0...2000) ?? 120, series: samples)
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

    private static func sensorState(_ name: String) -> SensorState {
        switch name {
        case "warmup": .warmup
        case "temporaryError": .temporaryError
        case "noReliableGlucose": .noReliableGlucose
        case "failed": .failed
        case "expired": .expired
        default: .ok
        }
    }

    private static func skewSeconds(_ text: String) -> Double? { signed(text).map { Double($0) / 1e9 } }

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
                guard let value = item[entry.key], let event = try decodeEvent(entry.key, value, policy)
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

    private static func decodeEvent(
        _ key: String, _ value: YAMLReader, _ policy: AlertPolicy
    ) throws(InputError) -> AlertWorldEvent? {
        if let metric = AlertMetric(rawValue: key), metric != .glucose, metric != .readingAge {
            return .value(metric, try value.number(in: -100_000...100_000))
        }
        switch key {
        case "app":
            let text = try value.text()
            return text == "relaunch" ? .relaunch : AlertWorldEvent.AppState(rawValue: text).map { .app($0) }
        case "loop": return AlertWorldEvent.LoopState(rawValue: try value.text()).map { .loop($0) }
        case "firstStepDone": return .firstStepDone(try value.flag())
        case "steps": return .steps(isRunning: try value.text() == "running")
        case "pod": return .pod(try value.text() == "active")
        case "podExpiresIn": return .podExpires(in: try Optional(value).span() ?? 0)
        case "pumpSession": return .pumpSession(try value.text() == "established")
        case "pumpStatus": return .pumpStatus(isKnown: try value.text() == "known")
        case "cgmState": return .cgmState(sensorState(try value.text()))
        case "cgmLifecycle": return .cgmLifecycle(SensorLifecycle(rawValue: try value.text()) ?? .ok)
        case "glucose": return .glucose(try value.number(in: 0...2000))
        case "auth": return .signedIn(try value.text() == "signedIn")
        case "subjectClaim": return .claim(isOk: try value.text() == "ok")
        case "clockSkew": return .clockSkew(seconds: skewSeconds(try value.text()))
        case "timeZone": return .zone(try zone(try value.text(), around: 946_684_800, value, years: 100))
        case "pumpAlert":
            if let issue = value["issue"] {
                let issue = try self.issue(issue, AlertCode.pumpIssues)
                return .user(.pumpIssue(issue, text: try value["text"]?.text() ?? ""))
            }
            guard let retract = value["retract"] else { return nil }
            return .user(.pumpRetract(try issue(retract, AlertCode.pumpIssues)))
        case "cgmAlert":
            if let issue = value["issue"] {
                let issue = try self.issue(issue, AlertCode.cgmIssues)
                return .user(.cgmIssue(issue, text: try value["text"]?.text() ?? ""))
            }
            guard let retract = value["retract"] else { return nil }
            return .user(.cgmRetract(try issue(retract, AlertCode.cgmIssues)))
        case "reading":
            return .reading(
                try value["glucose"]?.number(in: 0...2000) ?? 0,
                isReliable: try value["reliable"]?.flag() ?? true,
                age: try value["age"].span() ?? 0)
        case "readings": return .readings(isRunning: try value.text() == "running")
        case "step": return .step(succeeded: try value.text() == "ok")
        case "user":
            if let name = value["acknowledge"] { return .user(.acknowledge(try code(name, policy))) }
            if let name = value["dismiss"] { return .user(.dismiss(try code(name, policy))) }
            if let name = value["tap"] { return .user(.tap(try code(name, policy))) }
            guard let name = value["snooze"], let span = value["for"] else { return nil }
            guard let length = try Optional(span).span(), length > 0 else {
                throw span.problem(expected: "a length of time above 0s")
            }
            return .user(.snooze(try code(name, policy), for: length))
        case "handlers":
            return .handlers(
                pump: try value["pump"]?.text().isRegistered, cgm: try value["cgm"]?.text().isRegistered)
        case "settingsSaved": return .user(try happens(value, .settingsSaved))
        case "settingsOpened": return .user(try happens(value, .settingsOpened))
        case "timeChange": return .timeChange(signed(try value.text()) ?? 0)
        case "preview": return .user(.preview(try code(value, policy)))
        case "testAlert": return .user(.testAlert(try code(value, policy)))
        default: return nil
        }
    }

    /// What happens, happens: `false` would say nothing.
    private static func happens(_ value: YAMLReader, _ input: AlertInput) throws(InputError) -> AlertInput {
        guard try value.flag() else { throw value.problem(expected: "true, or no such entry") }
        return input
    }

    private static func zone(
        _ name: String, around second: Int64, _ reader: YAMLReader, years: Int
    ) throws(InputError) -> ZoneTable {
        guard let zone = ZoneTable.named(name, around: second, years: years) else {
            throw reader.problem(expected: ZoneTable.rule.expectation)
        }
        return zone
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

extension String {
    fileprivate var isRegistered: Bool { self == "registered" }
}
