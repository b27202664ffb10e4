// From a YAML tree to a scenario.
//
// Guarantees: any text ends in a scenario or in one `InputProblem` with its place. What could never come true (an
// effect that isn't compared, a state after the end) is a problem, not a failure.

import Alerts
import Devices
public import Records
import SessionTime

extension AlertScenario {
    public static func read(path: String) throws(InputProblem) -> AlertScenario {
        try decode(try YAMLDocument.read(path: path))
    }

    public static func parse(_ text: String, file: String) throws(InputProblem) -> AlertScenario {
        try decode(try YAMLDocument.parse(text, file: file))
    }

    public static func decode(_ document: YAMLNode) throws(InputProblem) -> AlertScenario {
        let root = YAMLReader(document)
        try root.check(.mapping(shape))
        var policy = AlertPolicy.bionicloop
        if let reference = root["policy"] { policy = try AlertPolicy.find(reference) }
        let compare = try decodeCompare(root["compare"]) ?? standardCompare
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
            scenario.cases.append(
                Case(
                    name: try item["name"]?.text() ?? "", line: item.node.origin.line,
                    tags: try decodeCodes(item["tags"]) ?? [], policy: own, compare: kinds,
                    world: try decodeWorld(own, root["defaults"], item["defaults"], item["series"], interval),
                    timeline: try decodeTimeline(item["timeline"]), until: until,
                    expect: try decodeExpectations(item["expect"], kinds),
                    states: try decodeStates(item["states"], until)))
        }
        return scenario
    }

    private static func decodeCompare(_ reader: YAMLReader?) throws(InputProblem) -> [AlertEffect.Kind]? {
        guard let reader else { return nil }
        var kinds: [AlertEffect.Kind] = []
        for item in reader.items {
            if let kind = AlertEffect.Kind(rawValue: try item.text()) { kinds.append(kind) }
        }
        return kinds
    }

    private static func decodeCodes(_ reader: YAMLReader?) throws(InputProblem) -> [String]? {
        guard let reader else { return nil }
        var codes: [String] = []
        for item in reader.items { codes.append(try item.text()) }
        return codes
    }

    // MARK: The world

    private static func decodeWorld(
        _ policy: AlertPolicy, _ shared: YAMLReader?, _ own: YAMLReader?, _ series: YAMLReader?,
        _ interval: Int64
    ) throws(InputProblem) -> AlertWorld {
        func reader(_ key: String) -> YAMLReader? { own?[key] ?? shared?[key] }
        func text(_ key: String, _ standard: String) throws(InputProblem) -> String {
            try reader(key)?.text() ?? standard
        }
        guard let start = StudyStart(try text("start", "2026-03-02T08:00:00-05:00")) else {
            throw InputProblem(file: policy.name, found: "no start", expected: "a start")
        }
        let name = try text("timeZone", "America/New_York")
        let zone = try zone(name, around: start.unixSeconds, reader("timeZone"))
        var around = Surroundings()
        around.isArmed = try text("loop", "armed") == "armed"
        around.isFirstStepDone = try reader("firstStepDone")?.flag() ?? true
        around.hasPod = try text("pod", "active") == "active"
        around.podExpiresAt = Instant(nanoseconds: try reader("podExpiresIn").span() ?? AlertWorld.podLife)
        around.hasPumpSession = try text("pumpSession", "established") == "established"
        around.isPumpStatusKnown = try text("pumpStatus", "known") == "known"
        around.cgmState = sensorState(try text("cgmState", "ok"))
        around.cgmLifecycle = SensorLifecycle(rawValue: try text("cgmLifecycle", "ok")) ?? .ok
        around.isSignedIn = try text("auth", "signedIn") == "signedIn"
        around.isClaimOk = try text("subjectClaim", "ok") == "ok"
        around.clockSkewSeconds = skewSeconds(try text("clockSkew", "0s"))
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
            surroundings: around,
            appState: AlertWorldEvent.AppState(rawValue: try text("app", "foreground")) ?? .foreground,
            stepsRun: try text("steps", "running") == "running",
            glucose: try reader("glucose")?.number(in: 0...2000) ?? 120, series: samples)
    }

    private static func zone(
        _ name: String, around second: Int64, _ reader: YAMLReader?
    ) throws(InputProblem) -> ZoneTable {
        guard let zone = ZoneTable.named(name, around: second) else {
            throw reader?.problem(expected: ZoneTable.rule.expectation)
                ?? InputProblem(file: "time zones", found: "no \(name)", expected: "the IANA database")
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
        _ reader: YAMLReader?
    ) throws(InputProblem) -> [(at: Instant, events: [AlertWorldEvent])] {
        var timeline: [(at: Instant, events: [AlertWorldEvent])] = []
        for item in reader?.items ?? [] {
            let at = Instant(nanoseconds: try item["at"].span() ?? 0)
            guard case .mapping(let entries) = item.node.content else { continue }
            var ranked: [(rank: Int, event: AlertWorldEvent)] = []
            for entry in entries where entry.key != "at" {
                guard let value = item[entry.key], let event = try decodeEvent(entry.key, value) else {
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
        _ key: String, _ value: YAMLReader
    ) throws(InputProblem) -> AlertWorldEvent? {
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
                return .user(.pumpIssue(try issue.text(), text: try value["text"]?.text() ?? ""))
            }
            return .user(.pumpRetract(try value["retract"]?.text() ?? ""))
        case "cgmAlert":
            if let issue = value["issue"] {
                return .user(.cgmIssue(try issue.text(), text: try value["text"]?.text() ?? ""))
            }
            return .user(.cgmRetract(try value["retract"]?.text() ?? ""))
        case "reading":
            return .reading(
                try value["glucose"]?.number(in: 0...2000) ?? 0,
                isReliable: try value["reliable"]?.flag() ?? true,
                age: try value["age"].span() ?? 0)
        case "readings": return .readings(isRunning: try value.text() == "running")
        case "step": return .step(succeeded: try value.text() == "ok")
        case "user":
            if let code = value["acknowledge"] { return .user(.acknowledge(try code.text())) }
            if let code = value["dismiss"] { return .user(.dismiss(try code.text())) }
            if let code = value["tap"] { return .user(.tap(try code.text())) }
            return .user(.snooze(try value["snooze"]?.text() ?? "", for: try value["for"].span() ?? 0))
        case "handlers":
            return .handlers(
                pump: try value["pump"]?.text().isRegistered, cgm: try value["cgm"]?.text().isRegistered)
        case "settingsSaved": return try value.flag() ? .user(.settingsSaved) : nil
        case "settingsOpened": return try value.flag() ? .user(.settingsOpened) : nil
        case "timeChange": return .timeChange(signed(try value.text()) ?? 0)
        case "preview": return .user(.preview(try value.text()))
        case "testAlert": return .user(.testAlert(try value.text()))
        default: return nil
        }
    }

    private static func zone(
        _ name: String, around second: Int64, _ reader: YAMLReader, years: Int
    ) throws(InputProblem) -> ZoneTable {
        guard let zone = ZoneTable.named(name, around: second, years: years) else {
            throw reader.problem(expected: ZoneTable.rule.expectation)
        }
        return zone
    }

    // MARK: What must come of it

    private static func decodeExpectations(
        _ reader: YAMLReader?, _ compare: [AlertEffect.Kind]
    ) throws(InputProblem) -> [Expectation] {
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
            expectations.append(
                Expectation(
                    at: Instant(nanoseconds: try item["at"].span() ?? 0), kind: kind,
                    code: try item[kind.rawValue]?.text() ?? "", severity: try item["severity"]?.text(),
                    reason: try item["reason"]?.text(),
                    messageContains: try item["message"]?["contains"]?.text(), to: try item["to"]?.text()))
        }
        return expectations
    }

    private static func decodeStates(
        _ reader: YAMLReader?, _ until: Instant
    ) throws(InputProblem) -> [StateExpectation] {
        var states: [StateExpectation] = []
        for item in reader?.items ?? [] {
            let at = Instant(nanoseconds: try item["at"].span() ?? 0)
            guard at <= until else {
                throw (item["at"] ?? item).problem(
                    expected: "at most \(TimeSpan(nanoseconds: until.nanoseconds)), the end of the case")
            }
            states.append(
                StateExpectation(
                    at: at, line: item.node.origin.line, active: try decodeCodes(item["active"]),
                    pending: try decodeCodes(item["pending"]), cleared: try decodeCodes(item["cleared"]),
                    badge: (try item["badge"]?.wholeNumber()).map { Int($0) },
                    banner: (try item["banner"]?.text()).map { $0 == noBanner ? "" : $0 },
                    quiet: try item["quiet"]?.flag()))
        }
        return states
    }
}

extension String {
    fileprivate var isRegistered: Bool { self == "registered" }
}
