// From a policy back to text: what a study's manifest keeps, so that a result never depends on a file that has changed.

package import Documents
package import Alerts

extension AlertPolicy {
    /// The policy as a policy file, every rule and key written out.
    package var json: JSONValue { json(thresholds: []) }

    /// The policy with thresholds written as `thresholds` in place of its own, where there are any.
    func json(thresholds others: [JSONValue]) -> JSONValue {
        var members: [JSONValue.Member] = [.init("policy", .string(name))]
        let timed = rules.filter { !$0.isLiteral && !$0.code.hasPrefix("THRESHOLD-") }
        let thresholds = rules.filter { $0.isLiteral || $0.code.hasPrefix("THRESHOLD-") }
        if let subject = rules.first(where: { !$0.subject.isEmpty })?.subject {
            members.append(.init("subject", .string(subject)))
        }
        members.append(.init("rules", .array(timed.map(\.ruleJSON))))
        let written = others.isEmpty ? thresholds.map { .object($0.thresholdMembers) } : others
        if !written.isEmpty { members.append(.init("thresholds", .array(written))) }
        if let quietHours {
            var quiet: [JSONValue.Member] = [
                .init("from", .string(Self.timeText(quietHours.from))),
                .init("to", .string(Self.timeText(quietHours.to))),
            ]
            if let zone = quietHours.zone { quiet.append(.init("timeZone", .string(zone.name))) }
            members.append(.init("quietHours", .object(quiet)))
        }
        if rules.contains(where: \.isLiteral) { members.append(.init("evaluation", .string("literal"))) }
        members.append(.init("notifyInForeground", .bool(notifiesInForeground)))
        members.append(.init("notifyWhenStale", .bool(notifiesWhenStale)))
        members.append(.init("limits", limits.json))
        return .object(members)
    }

    private static func timeText(_ nanoseconds: Int64) -> String {
        let minutes = nanoseconds / 60_000_000_000
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(minutes / 60)):\(two(minutes % 60))"
    }
}

extension AlertLimits {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [
            ("freshness", freshness), ("stepping", stepping), ("podExpiring", podExpiring),
            ("podService", podService), ("clockSkew", clockSkew), ("clockCheck", clockCheck),
        ].map { .init($0, AlertRule.span($1)) }
        var cooldowns: [JSONValue.Member] = []
        if let span = cooldown.actionable { cooldowns.append(.init("actionable", AlertRule.span(span))) }
        if let span = cooldown.safetyCritical {
            cooldowns.append(.init("safetyCritical", AlertRule.span(span)))
        }
        members.append(.init("cooldown", .object(cooldowns)))
        return .object(members)
    }
}

extension AlertRule {
    fileprivate static func span(_ nanoseconds: Int64) -> JSONValue {
        .string(TimeSpan(nanoseconds: nanoseconds).description)
    }

    fileprivate var ruleJSON: JSONValue {
        var members: [JSONValue.Member] = [.init("code", .string(code))]
        if !tests.isEmpty {
            let texts = tests.map {
                "\($0.metric.rawValue) \($0.side == .low ? "<" : ">") \(JSONValue.numberText($0.bound))"
            }
            members.append(.init("when", .string(texts.joined(separator: " and "))))
            if let clearAt = tests[0].clearAt { members.append(.init("clearAt", .number(clearAt))) }
        }
        members.append(.init("debounce", Self.span(debounce)))
        return .object(members + layers)
    }

    var thresholdMembers: [JSONValue.Member] {
        guard let test = tests.first else { return [] }
        var members: [JSONValue.Member] = [
            .init("metric", .string(test.metric.rawValue)),
            .init(test.side == .low ? "min" : "max", .number(test.bound)),
            .init("sensitivity", Self.span(debounce)),
        ]
        if let clearAt = test.clearAt { members.append(.init("clearAt", .number(clearAt))) }
        var critical: [JSONValue.Member] = []
        if let criticalBelow { critical.append(.init("below", .number(criticalBelow))) }
        if let criticalAbove { critical.append(.init("above", .number(criticalAbove))) }
        if !critical.isEmpty { members.append(.init("critical", .object(critical))) }
        return members + layers
    }

    private static func cooldownMembers(_ all: Int64?, _ some: AlertCooldowns) -> [JSONValue.Member] {
        guard some != AlertCooldowns() else { return all.map { [.init("cooldown", span($0))] } ?? [] }
        var members: [JSONValue.Member] = []
        if let span = some.actionable ?? all { members.append(.init("actionable", Self.span(span))) }
        if let span = some.safetyCritical ?? all { members.append(.init("safetyCritical", Self.span(span))) }
        return [.init("cooldown", .object(members))]
    }

    private var layers: [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("severity", .string(severity.name)), .init("keepFiringFor", Self.span(keepFiringFor)),
            .init("acknowledge", .string(acknowledgement.rawValue)), .init("latching", .bool(isLatching)),
            .init("notify", .bool(notifies)),
        ]
        members += Self.cooldownMembers(cooldown, cooldowns)
        if let repeatEvery { members.append(.init("repeatEvery", Self.span(repeatEvery))) }
        if !escalations.isEmpty {
            let steps = escalations.map {
                JSONValue.object([.init("after", Self.span($0.after)), .init("to", .string($0.to.name))])
            }
            members.append(.init("escalate", .array(steps)))
        }
        if !inhibits.isEmpty { members.append(.init("inhibits", .array(inhibits.map { .string($0) }))) }
        return members
    }
}
