// From a YAML tree to a policy.
//
// Guarantees: any text ends in a policy or in one `InputError` with its place; codes differ, no side of a metric is
// claimed twice, what latches can be acknowledged, what is inhibited exists.

package import IsletAlerts
package import IsletDevices

extension AlertPolicy {
    /// The policy that `reference` means, seen from `file`: the name of a preset, or a path relative to that file.
    package static func find(_ reference: YAMLReader) throws(InputError) -> AlertPolicy {
        if reference.isMapping { return try decode(reference.node) }
        let text = try reference.text()
        if let preset = AlertPreset(rawValue: text) { return try preset.policy() }
        guard text.contains(".") || text.contains("/") else {
            let names = AlertPreset.allCases.map(\.rawValue)
            let meant = nearest(to: text, among: names).map { " (nearest: `\($0)`)" } ?? ""
            throw reference.problem(
                expected: "a preset: \(names.joined(separator: ", ")); or the path of a policy file\(meant)")
        }
        guard !reference.node.origin.isOfNoFile else {
            throw reference.problem(
                expected: "a preset, or a policy written out: what came as text names no file of this machine"
            )
        }
        let path = sibling(text, of: reference.node.origin.file)
        do {
            return try decode(try YAMLDocument.read(path: path))
        } catch let problem {
            guard problem.kind == .missing else { throw problem }
            throw InputError(
                .missing, file: reference.node.origin.file, line: reference.node.origin.line,
                found: "the policy file \(quotedForMessage(path)), \(problem.found)",
                expected: "a preset or a readable policy file")
        }
    }

    /// `path` seen from the directory of `file`.
    static func sibling(_ path: String, of file: String) -> String {
        guard !path.hasPrefix("/"), !file.hasPrefix("--set"), let slash = file.lastIndex(of: "/") else {
            return path
        }
        return file[...slash] + path
    }

    package static func parse(_ text: String, file: String) throws(InputError) -> AlertPolicy {
        try decode(try YAMLDocument.parse(text, file: file))
    }

    package static func decode(_ document: YAMLNode) throws(InputError) -> AlertPolicy {
        let root = YAMLReader(document)
        try root.check(.mapping(shape))
        let name = try root["policy"]?.text() ?? "policy"
        var policy = AlertPolicy(name: name, rules: [])
        if let base = root["extends"], let preset = AlertPreset(rawValue: try base.text()) {
            policy = try preset.policy()
            policy.name = name
        }
        let subject = try root["subject"]?.text() ?? ""
        var own: Set<AlertName> = []
        for item in root["rules"]?.items ?? [] {
            try policy.add(try decodeRule(item, subject: subject), &own, item)
        }
        let isLiteral = try root["evaluation"]?.text() == "literal"
        for item in root["thresholds"]?.items ?? [] {
            if isLiteral, try item["metric"]?.text() == AlertMetric.readingAge.rawValue {
                throw (item["metric"] ?? item).problem(
                    found: "`readingAge` with `evaluation: literal`",
                    expected:
                        "`evaluation: timed`: the sketch looks at samples only, and an age is never sampled")
            }
            for rule in try decodeThreshold(item, subject: subject, isLiteral: isLiteral) {
                try policy.add(rule, &own, item)
            }
        }
        for item in (root["rules"]?.items ?? []) + (root["thresholds"]?.items ?? []) {
            for inhibited in item["inhibits"]?.items ?? [] {
                let code = AlertName(rawValue: try inhibited.text())
                let codes = policy.rules.map(\.code)
                guard !codes.contains(code) else { continue }
                throw inhibited.problem(
                    expected: "the code of a rule of this policy"
                        + (nearest(to: code.rawValue, among: codes.map(\.rawValue)).map {
                            " (nearest: `\($0)`)"
                        } ?? ""))
            }
            if let inhibits = item["inhibits"] { try policy.checkInhibitions(inhibits, of: item) }
        }
        if let limits = root["limits"] { try AlertLimits.keyRows.decode(limits, into: &policy.limits) }
        if let quiet = root["quietHours"] {
            guard let from = nanoseconds(ofDay: try quiet["from"]?.text() ?? ""),
                let to = nanoseconds(ofDay: try quiet["to"]?.text() ?? "")
            else { throw quiet.problem(expected: timeOfDay.expectation) }
            // Any year of this century: the table covers the sessions that a study may have.
            let zone = try quiet["timeZone"]?.text()
            policy.quietHours = QuietHours(
                from: from, to: to,
                zone: zone.flatMap { ZoneTable.named($0, around: 946_684_800, years: 100) })
        }
        try AlertPolicy.keyRows.decode(root, into: &policy)
        if policy.notifiesInForeground, let front = root["afterFront"] {
            throw front.problem(
                found: "`afterFront` beside `notifyInForeground: true`",
                expected: "one of them: what is notified in front already has nothing to make up for")
        }
        return policy
    }

    private mutating func add(
        _ rule: AlertRule, _ own: inout Set<AlertName>, _ item: YAMLReader
    ) throws(InputError) {
        guard own.insert(rule.code).inserted else {
            throw (item["code"] ?? item["metric"] ?? item).problem(
                found: "\(rule.code) a second time", expected: "one rule a code, each side of a metric once")
        }
        if rule.isLatching, rule.acknowledgement == .none {
            throw (item["latching"] ?? item).problem(
                found: "`latching` without `acknowledge`",
                expected: "`acknowledge: closes` or `reviews` beside it, or the alert would stay for ever")
        }
        try Self.checkLayers(rule, item)
        try Self.checkTruth(rule, item)
        if let place = rules.firstIndex(where: { $0.code == rule.code }) {
            rules[place] = rule
        } else {
            rules.append(rule)
        }
    }

    /// Rules that hold each other back, over however many others, would all be silent.
    private func checkInhibitions(_ inhibits: YAMLReader, of item: YAMLReader) throws(InputError) {
        for start in try Self.codes(of: item) {
            var reached: [AlertName] = []
            var path = [[start]]
            while let way = path.popLast(), let last = way.last {
                for next in rules.first(where: { $0.code == last })?.inhibits ?? [] {
                    if next == start {
                        throw inhibits.problem(
                            found: (way + [next]).map(\.rawValue).joined(separator: " inhibits "),
                            expected: "no rule that inhibits itself, alone or by way of others")
                    }
                    if !reached.contains(next) {
                        reached.append(next)
                        path.append(way + [next])
                    }
                }
            }
        }
    }

    /// The codes that an item of `rules` or `thresholds` makes.
    private static func codes(of item: YAMLReader) throws(InputError) -> [AlertName] {
        if let code = item["code"] { return [AlertName(rawValue: try code.text())] }
        return try decodeThreshold(item, subject: "", isLiteral: false).map(\.code)
    }

    private static func decodeRule(_ item: YAMLReader, subject: String) throws(InputError) -> AlertRule {
        let code = try item["code"]?.text() ?? ""
        var rule: AlertRule
        if let known = AlertCode(rawValue: code) {
            rule = AlertRule(known)
        } else {
            guard item["when"] != nil else {
                let meant = nearest(to: code, among: AlertCode.allCases.map(\.rawValue)).map {
                    " (nearest: `\($0)`)"
                }
                throw (item["code"] ?? item).problem(
                    found: "\(quotedForMessage(code)) without `when`",
                    expected: "a code of the catalogue, or `when` with the condition\(meant ?? "")")
            }
            rule = AlertRule(code: AlertName(rawValue: code), trigger: .metrics([]), severity: .actionable)
            rule.subject = subject
        }
        if let when = item["when"] {
            guard let tests = tests(of: try when.text()) else { throw when.problem(expected: "comparisons") }
            rule.trigger = .metrics(tests)
        }
        if let clearAt = item["clearAt"] { try setClearAt(&rule, clearAt) }
        try AlertRule.ruleKeyRows.decode(item, into: &rule)
        return rule
    }

    /// What a native retraction ends at once neither outlives it nor waits for an acknowledgement.
    private static func checkLayers(_ rule: AlertRule, _ item: YAMLReader) throws(InputError) {
        guard case .source(let code) = rule.trigger, code.isNative else { return }
        for (key, isIgnored) in [("keepFiringFor", rule.keepFiringFor > 0), ("latching", rule.isLatching)]
        where isIgnored {
            throw (item[key] ?? item).problem(
                found: "`\(key)` for \(rule.code)",
                expected: "no `\(key)` for what the pump itself retracts: its retraction ends it at once")
        }
    }

    /// A rule about lows that claims a high is a slip: metrics would call all that it does false.
    private static func checkTruth(_ rule: AlertRule, _ item: YAMLReader) throws(InputError) {
        guard case .about(let truth) = rule.claim, let side = truth.plasma?.side, let test = rule.tests.first,
            test.metric.isGlucose, test.side != side, let claim = item["truth"]
        else { return }
        let meant = AlertTruth.allCases.filter { $0.plasma?.side == test.side }.map(\.rawValue)
        throw claim.problem(
            found:
                "`\(truth.rawValue)` for \(rule.code), which rings for \(test.side == .low ? "low" : "high") glucose",
            expected: "\(meant.joined(separator: " or ")), a truth about a device, or none")
    }

    private static func setClearAt(_ rule: inout AlertRule, _ reader: YAMLReader) throws(InputError) {
        let value = try reader.number(in: bounds)
        var tests = rule.tests
        guard !tests.isEmpty else {
            throw reader.problem(expected: "`clearAt` only where `when` compares a metric")
        }
        guard tests.count == 1 else {
            throw reader.problem(
                found: "one `clearAt` for \(tests.count) comparisons",
                expected: "`clearAt` only where `when` is one comparison")
        }
        let isInside = tests[0].side == .low ? value >= tests[0].bound : value <= tests[0].bound
        guard isInside else {
            let side = tests[0].side == .low ? "at least" : "at most"
            throw reader.problem(expected: "\(side) the bound \(JSONValue.numberText(tests[0].bound))")
        }
        tests[0].clearAt = value
        rule.trigger = .metrics(tests)
    }

    /// - Parameter evenDisabled: whether a threshold that is off is read too.
    static func decodeThreshold(
        _ item: YAMLReader, subject: String, isLiteral: Bool, evenDisabled: Bool = false
    ) throws(InputError) -> [AlertRule] {
        guard let name = item["metric"], let metric = AlertMetric(inPolicy: try name.text()) else {
            throw item.problem(expected: "a metric")
        }
        var low = try item["min"].number(bounds)
        var high = try item["max"].number(bounds)
        if let recommended = item["recommended"] {
            guard let range = metric.recommendedRange(stage: try recommended.text()) else {
                let metrics = AlertMetric.allCases.filter {
                    $0.recommendedRange(stage: AlertMetric.stages[0]) != nil
                }
                throw recommended.problem(
                    found: "a recommended range of \(metric.rawValue)",
                    expected: "one of " + metrics.map(\.rawValue).joined(separator: ", "))
            }
            low = low ?? range.lowerBound
            high = high ?? range.upperBound
        }
        guard low != nil || high != nil else {
            throw item.problem(found: "neither min nor max", expected: "`min`, `max`, both or `recommended`")
        }
        if let low, let high, low >= high {
            throw item.problem(
                found: "min \(JSONValue.numberText(low)) and max \(JSONValue.numberText(high))",
                expected: "min below max")
        }
        let isEnabled = try item["enabled"]?.flag() ?? true
        guard isEnabled || evenDisabled else { return [] }
        if low != nil, high != nil, let clearAt = item["clearAt"] {
            throw clearAt.problem(
                found: "one `clearAt` for two sides",
                expected: "an entry for `min` and one for `max`, each with a `clearAt` of its own")
        }
        for (key, bound, side) in [("below", low, "min"), ("above", high, "max")] where bound == nil {
            guard let critical = item["critical"]?[key] else { continue }
            throw critical.problem(found: "`\(key)` without `\(side)`", expected: "`\(side)` beside it")
        }
        var rules: [AlertRule] = []
        let sides: [(MetricTest.Side, Double?)] = [(.low, low), (.high, high)]
        for (side, bound) in sides {
            guard let bound else { continue }
            let suffix = side == .low ? "LOW" : "HIGH"
            var rule = AlertRule(
                code: AlertName(rawValue: "THRESHOLD-\(metric.codeName)-\(suffix)"),
                trigger: .metrics([MetricTest(metric, side, bound)]), severity: .actionable)
            rule.criticalBelow = side == .low ? metric.criticalBelow : nil
            rule.criticalAbove = side == .high ? metric.criticalAbove : nil
            if let critical = item["critical"] {
                if side == .low, let below = critical["below"] {
                    rule.criticalBelow = try below.number(in: bounds)
                }
                if side == .high, let above = critical["above"] {
                    rule.criticalAbove = try above.number(in: bounds)
                }
            }
            if let sensitivity = item["sensitivity"], try sensitivity.text() != "immediate" {
                rule.debounce = try Optional(sensitivity).span() ?? 0
            }
            if let clearAt = item["clearAt"] { try setClearAt(&rule, clearAt) }
            rule.subject = subject
            rule.isLiteral = isLiteral
            try AlertRule.keyRows.decode(item, into: &rule)
            rules.append(rule)
        }
        return rules
    }
}

extension YAMLReader? {
    /// The number here; nil where nothing stands.
    fileprivate func number(_ range: ClosedRange<Double>) throws(InputError) -> Double? {
        guard let reader = self else { return nil }
        return try reader.number(in: range)
    }

    /// The length of time here, ns; nil where nothing stands.
    func span() throws(InputError) -> Int64? {
        guard let reader = self else { return nil }
        guard let span = TimeSpan(try reader.text()) else {
            throw reader.problem(expected: AlertPolicy.span.expectation)
        }
        return span.nanoseconds
    }
}
