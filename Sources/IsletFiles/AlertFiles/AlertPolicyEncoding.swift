// From a policy back to text: what a study's manifest keeps, so that a result never depends on a file that has changed.

package import IsletAlerts
import IsletDevices

extension AlertPolicy {
    /// The policy as a policy file, every rule and key written out.
    package var json: JSONValue { json(thresholds: []) }

    /// The policy with thresholds written as `thresholds` in place of its own, where there are any.
    func json(thresholds others: [JSONValue]) -> JSONValue {
        var members: [JSONValue.Member] = [.init("policy", .string(name))]
        let thresholds = rules.filter { $0.isLiteral || $0.isSaidAsThreshold }
        let timed = rules.filter { !$0.isLiteral && !$0.isSaidAsThreshold }
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
        members += Self.keyRows.members(of: self)
        members.append(.init("limits", .object(AlertLimits.keyRows.members(of: limits))))
        return .object(members)
    }

    private static func timeText(_ nanoseconds: Int64) -> String {
        let minutes = nanoseconds / 60_000_000_000
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(minutes / 60)):\(two(minutes % 60))"
    }
}

extension AlertRule {
    fileprivate static func span(_ nanoseconds: Int64) -> JSONValue {
        .string(TimeSpan(nanoseconds: nanoseconds).description)
    }

    fileprivate var ruleJSON: JSONValue {
        var members: [JSONValue.Member] = [.init("code", .string(code.rawValue))]
        if !tests.isEmpty {
            let texts = tests.map {
                "\($0.metric.rawValue) \($0.side == .low ? "<" : ">") \(JSONValue.numberText($0.bound))"
            }
            members.append(.init("when", .string(texts.joined(separator: " and "))))
            if let clearAt = tests[0].clearAt { members.append(.init("clearAt", .number(clearAt))) }
        }
        return .object(members + Self.ruleKeyRows.members(of: self))
    }

    /// Whether it reads back as it is from under `thresholds`. A rule that only bears a threshold's code, such as one that is never critical, doesn't.
    fileprivate var isSaidAsThreshold: Bool {
        guard code.isOfThreshold else { return false }
        let text = JSONValue.object(thresholdMembers).compactText
        guard let node = try? JSONDocument.parse(text, file: "threshold"),
            let read = try? AlertPolicy.decodeThreshold(YAMLReader(node), subject: subject, isLiteral: false)
        else { return false }
        return read.contains(self)
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
        return members + Self.keyRows.members(of: self)
    }
}
