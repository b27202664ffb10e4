// A policy as resolved, in words: every setting of every rule, defaults included.

import Documents
package import Alerts
import SessionTime

extension AlertRule {
    private static func span(_ nanoseconds: Int64) -> String {
        TimeSpan(nanoseconds: nanoseconds).description
    }

    /// What it waits for, with the bounds.
    package var condition: String {
        if let known, tests.isEmpty { return known.condition }
        let texts = tests.map {
            "\($0.metric.rawValue) \($0.side == .low ? "<" : ">") \($0.bound) \($0.metric.unit)"
        }
        return texts.joined(separator: " and ")
    }

    /// What ends an episode.
    package var closing: String {
        if let known, tests.isEmpty { return known.closing }
        let texts = tests.map {
            "\($0.metric.rawValue) \($0.side == .low ? ">=" : "<=") \(JSONValue.numberText($0.clearAt ?? $0.bound))"
        }
        return "fresh " + texts.joined(separator: " or ") + (isLatching ? ", once acknowledged" : "")
    }

    /// How its episodes and annunciations go, key by key as in a policy file, defaults included.
    package func settings(in policy: AlertPolicy) -> [(key: String, value: String)] {
        var settings = Self.ruleFields.words(self)
        if let clearAt = tests.first?.clearAt {
            settings.append(("clearAt", JSONValue.numberText(clearAt)))
        } else if let test = tests.first {
            settings.append(("clearAt", JSONValue.numberText(test.bound) + ", the bound"))
        }
        settings += Self.fields.words(self)
        // What a rule says, the policy's limits and its severity have to be seen together.
        if notifies {
            let severities = AlertSeverity.allCases.filter { $0 > .informational && $0 >= severity }
            let texts = severities.map { "\(Self.span(cooldown(at: $0, policy.limits))) \($0.name)" }
            settings.append(("cooldown", texts.isEmpty ? "none" : texts.joined(separator: ", ")))
        }
        settings.append(("snooze", "as long as the person says; a higher severity is heard"))
        if criticalBelow != nil || criticalAbove != nil {
            let texts = [
                criticalBelow.map { "below \(JSONValue.numberText($0))" },
                criticalAbove.map { "above \(JSONValue.numberText($0))" },
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

    /// The rule in few words, each a setting.
    package func words(in policy: AlertPolicy) -> [String] {
        [condition] + settings(in: policy).filter { $0.key != "snooze" }.map { "\($0.key) \($0.value)" }
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
