// A policy as resolved, in words: every setting of every rule, defaults included.

package import IsletAlerts
import IsletDevices
import IsletKernel

extension AlertRule {
    private static func span(_ nanoseconds: Int64) -> String {
        TimeSpan(nanoseconds: nanoseconds).description
    }

    /// What it waits for, with the bounds.
    package var condition: String { conditionText(in: .mgdl) }

    /// The condition's text with glucose in a unit.
    package func conditionText(in unit: GlucoseUnit) -> String {
        if let known, tests.isEmpty { return unit.text(known.condition) }
        let texts = tests.map {
            "\($0.metric.rawValue) \($0.side == .low ? "<" : ">") "
                + (unit.converts($0.metric.unit)
                    ? unit.text("\($0.bound, unit: $0.metric.unit)")
                    : "\($0.bound)" + ($0.metric.unit.isEmpty ? "" : " " + $0.metric.unit))
        }
        return texts.joined(separator: " and ")
    }

    /// What ends an episode.
    package var closing: String { closingText(in: .mgdl) }

    /// The closing text with glucose in a unit.
    package func closingText(in unit: GlucoseUnit) -> String {
        if let known, tests.isEmpty { return unit.text(known.closing) }
        let texts = tests.map {
            "\($0.metric.rawValue) \($0.side == .low ? ">=" : "<=") \(Self.number($0.clearAt ?? $0.bound, of: $0.metric, unit))"
        }
        return "fresh " + texts.joined(separator: " or ") + (isLatching ? ", once acknowledged" : "")
    }

    private static func number(_ value: Double, of metric: AlertMetric, _ unit: GlucoseUnit) -> String {
        unit.converts(metric.unit)
            ? unit.pair(value, nil, places: unit.places(of: metric.unit)).value : JSONValue.numberText(value)
    }

    /// How its episodes and annunciations go, key by key as in a policy file, defaults included.
    package func settings(
        in policy: AlertPolicy, _ unit: GlucoseUnit = .mgdl
    ) -> [(key: String, value: String)] {
        var settings = Self.ruleFields.words(self)
        if let test = tests.first {
            let number = Self.number(test.clearAt ?? test.bound, of: test.metric, unit)
            settings.append(("clearAt", number + (test.clearAt == nil ? ", the bound" : "")))
        }
        settings += Self.fields.words(self)
        // What a rule says, the policy's limits and its severity have to be seen together.
        if notifies {
            let severities = AlertSeverity.allCases.filter { $0 > .informational && $0 >= severity }
            let texts = severities.map { "\(Self.span(cooldown(at: $0, policy.limits))) \($0.name)" }
            settings.append(("cooldown", texts.isEmpty ? "none" : texts.joined(separator: ", ")))
        }
        if let delay = delayWords { settings.append(("delays", delay)) }
        settings.append(("snooze", "as long as the person says; a higher severity is heard"))
        if criticalBelow != nil || criticalAbove != nil {
            func number(_ value: Double) -> String {
                tests.first.map { Self.number(value, of: $0.metric, unit) } ?? JSONValue.numberText(value)
            }
            let texts = [
                criticalBelow.map { "below \(number($0))" }, criticalAbove.map { "above \(number($0))" },
                debounce > 0 && code.isOfThreshold && !isLiteral ? "at once" : nil,
            ].compactMap { $0 }
            settings.append(("critical", texts.joined(separator: ", ")))
        }
        if notifies, severity == .informational,
            let place = settings.firstIndex(where: { $0.key == "notify" })
        {
            settings[place].value = "no: informational"
        }
        return settings
    }

    /// What its debounce delays at worst, and by how much; nil where nothing urgent waits for it.
    private var delayWords: String? {
        guard debounce > 0, notifies, !isLiteral else { return nil }
        let isUrgent = severity == .safetyCritical || criticalBelow != nil || criticalAbove != nil
        guard isUrgent, !code.isOfThreshold || severity == .safetyCritical else { return nil }
        let needsSecond = !tests.isEmpty && !tests.contains { $0.metric == .readingAge }
        return "what is safetyCritical by \(Self.span(debounce)) at worst"
            + (needsSecond ? ", and up to its second value" : "")
    }

    /// The rule in few words, each a setting.
    package func words(in policy: AlertPolicy, _ unit: GlucoseUnit = .mgdl) -> [String] {
        [conditionText(in: unit)]
            + settings(in: policy, unit).filter { $0.key != "snooze" }.map { "\($0.key) \($0.value)" }
    }
}

extension AlertPolicy {
    /// What holds for all rules, key by key.
    package var settings: [(key: String, value: String)] {
        func time(_ nanoseconds: Int64) -> String {
            let minutes = nanoseconds / Nanoseconds.minute
            return
                "\(minutes / 60 < 10 ? "0" : "")\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60)"
        }
        let quiet = quietHours.map {
            "\(time($0.from)) to \(time($0.to)), \($0.zone?.name ?? "the phone's zone")"
        }
        return [
            ("quietHours", quiet ?? "none")
        ] + Self.fields.words(self) + [
            (
                "limits",
                AlertLimits.fields.words(limits).map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            ),
            ("evaluation", rules.contains(where: \.isLiteral) ? "literal" : "timed"),
        ]
    }
}
