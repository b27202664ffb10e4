// How each kind of policy parameter stands in a file: read, written, described, said in words.
//
// Guarantees: what is written reads back equal; a key that isn't there changes nothing.
// Does not: relate parameters to each other. The decoder does.

import IsletAlerts
import IsletDevices
import IsletKernel

extension PolicyField {
    private static func text(_ nanoseconds: Int64) -> String {
        TimeSpan(nanoseconds: nanoseconds).description
    }

    // MARK: Schema

    private var shape: Shape {
        switch value {
        case .flag: .flag
        case .span(_, let mayBeZero): .text(mayBeZero ? AlertPolicy.span : AlertPolicy.longSpan)
        case .optionalSpan: .text(AlertPolicy.longSpan)
        case .severity: AlertPolicy.severity
        case .acknowledgement:
            .choice(
                noun: "what acknowledging does",
                [
                    .init("none", "nothing to acknowledge"), .init("closes", "closes the episode"),
                    .init("reviews", "marks it as reviewed, active all the same"),
                ])
        case .codes: .list(.text(AlertPolicy.code), count: 0...100)
        case .escalations:
            .list(
                .mapping(
                    MappingShape(
                        summary: "One step.",
                        keys: [
                            KeyShape(
                                "after", .text(AlertPolicy.longSpan), "Since the raise.", isRequired: true),
                            KeyShape(
                                "to", AlertPolicy.severity, "The severity from then on.", isRequired: true),
                        ])), count: 0...10)
        case .cooldowns: .mapping(AlertPolicy.cooldownShape)
        case .cooldown: .either([.text(AlertPolicy.span), .mapping(AlertPolicy.cooldownShape)])
        case .afterFront: .mapping(AlertPolicy.afterFrontShape)
        case .truth:
            .choice(
                noun: "a truth",
                AlertTruth.allCases.map { .init($0.rawValue, $0.meaning) }
                    + [.init("none", "nobody judges it")])
        }
    }

    /// The key, with the value that `defaults` has.
    func key(_ defaults: Root) -> KeyShape {
        KeyShape(
            name, shape, summary, defaultValue: leftOut == nil ? json(defaults) ?? .array([]) : nil,
            leftOut: leftOut)
    }

    // MARK: Writing

    /// What stands in a file; nil where nothing needs to.
    func json(_ root: Root) -> JSONValue? {
        switch value {
        case .flag(let path): return .bool(root[keyPath: path])
        case .span(let path, _): return .string(Self.text(root[keyPath: path]))
        case .optionalSpan(let path): return root[keyPath: path].map { .string(Self.text($0)) }
        case .severity(let path): return .string(root[keyPath: path].name)
        case .acknowledgement(let path): return .string(root[keyPath: path].rawValue)
        case .codes(let path):
            let codes = root[keyPath: path]
            return codes.isEmpty ? nil : .array(codes.map { .string($0.rawValue) })
        case .escalations(let path):
            let steps = root[keyPath: path].map {
                JSONValue.object([
                    .init("after", .string(Self.text($0.after))), .init("to", .string($0.to.name)),
                ])
            }
            return steps.isEmpty ? nil : .array(steps)
        case .cooldowns(let path): return Self.json(root[keyPath: path])
        case .cooldown(let all, let some):
            let (all, some) = (root[keyPath: all], root[keyPath: some])
            guard some != AlertCooldowns() else { return all.map { .string(Self.text($0)) } }
            return Self.json(
                AlertCooldowns(
                    actionable: some.actionable ?? all, safetyCritical: some.safetyCritical ?? all))
        case .afterFront(let path):
            return root[keyPath: path].map {
                [
                    "left": .string(Self.text($0.left)),
                    "unanswered": .string(Self.text($0.unanswered)),
                ]
            }
        case .truth(let path): return root[keyPath: path].name.map { .string($0) }
        }
    }

    private static func json(_ cooldowns: AlertCooldowns) -> JSONValue {
        var members: [JSONValue.Member] = []
        if let span = cooldowns.actionable { members.append(.init("actionable", .string(text(span)))) }
        if let span = cooldowns.safetyCritical {
            members.append(.init("safetyCritical", .string(text(span))))
        }
        return .object(members)
    }

    // MARK: Reading

    /// Takes what the mapping at `item` says.
    func decode(_ item: YAMLReader, into root: inout Root) throws(InputError) {
        guard let node = item[name] else { return }
        switch value {
        case .flag(let path): root[keyPath: path] = try node.flag()
        case .span(let path, _):
            if let span = try Optional(node).span() { root[keyPath: path] = span }
        case .optionalSpan(let path): root[keyPath: path] = try Optional(node).span()
        case .severity(let path): root[keyPath: path] = try Self.severity(node)
        case .acknowledgement(let path):
            guard let meaning = AlertAcknowledgement(rawValue: try node.text()) else {
                throw node.problem(expected: shape.expectation)
            }
            root[keyPath: path] = meaning
        case .codes(let path):
            var codes: [AlertName] = []
            for code in node.items { codes.append(AlertName(rawValue: try code.text())) }
            root[keyPath: path] = codes
        case .escalations(let path):
            var steps: [AlertRule.Escalation] = []
            for step in node.items {
                guard let after = try step["after"].span(), let to = step["to"] else {
                    throw step.problem(expected: "after and to")
                }
                steps.append(AlertRule.Escalation(after: after, to: try Self.severity(to)))
            }
            if !steps.isEmpty { root[keyPath: path] = steps.sorted { $0.after < $1.after } }
        case .cooldowns(let path):
            let own = try Self.cooldowns(node)
            if let span = own.actionable { root[keyPath: path].actionable = span }
            if let span = own.safetyCritical { root[keyPath: path].safetyCritical = span }
        case .cooldown(let all, let some):
            root[keyPath: all] = node.isMapping ? nil : try Optional(node).span()
            root[keyPath: some] = node.isMapping ? try Self.cooldowns(node) : AlertCooldowns()
        case .afterFront(let path):
            var front = AfterFront()
            if let left = try node["left"].span() { front.left = left }
            if let unanswered = try node["unanswered"].span() { front.unanswered = unanswered }
            root[keyPath: path] = front
        case .truth(let path):
            guard let claim = AlertTruthClaim(name: try node.text()) else {
                throw node.problem(expected: shape.expectation)
            }
            root[keyPath: path] = claim
        }
    }

    private static func severity(_ node: YAMLReader) throws(InputError) -> AlertSeverity {
        guard let severity = AlertSeverity(name: try node.text()) else {
            throw node.problem(expected: AlertPolicy.severity.expectation)
        }
        return severity
    }

    private static func cooldowns(_ item: YAMLReader) throws(InputError) -> AlertCooldowns {
        AlertCooldowns(
            actionable: try item["actionable"].span(), safetyCritical: try item["safetyCritical"].span())
    }

    // MARK: Words

    /// The value for people; nil where there is nothing to say, or where it is said beside others.
    func words(_ root: Root) -> String? {
        switch value {
        case .flag(let path): return root[keyPath: path] ? "yes" : "no"
        case .span(let path, _): return Self.text(root[keyPath: path])
        case .optionalSpan(let path): return root[keyPath: path].map(Self.text) ?? "never"
        case .severity: return nil
        case .acknowledgement(let path): return root[keyPath: path].rawValue
        case .codes(let path):
            let codes = root[keyPath: path]
            return codes.isEmpty ? nil : codes.map(\.rawValue).joined(separator: ", ")
        case .escalations(let path):
            let texts = root[keyPath: path].map { "\($0.to.name) after \(Self.text($0.after))" }
            return texts.isEmpty ? nil : texts.joined(separator: ", ")
        case .cooldowns, .cooldown: return nil
        case .afterFront(let path):
            guard let front = root[keyPath: path] else { return "thresholds only" }
            return "left \(Self.text(front.left)), unanswered \(Self.text(front.unanswered))"
        case .truth(let path): return root[keyPath: path].name
        }
    }
}

extension [PolicyField<AlertRule>] {
    /// As rules without a catalogue's entry begin.
    var keys: [KeyShape] {
        map { $0.key(AlertRule(code: "", trigger: .metrics([]), severity: .actionable)) }
    }
}

extension Array {
    /// All of them, as members of a mapping.
    func members<Root>(of root: Root) -> [JSONValue.Member] where Element == PolicyField<Root> {
        compactMap { field in field.json(root).map { .init(field.name, $0) } }
    }

    /// Takes what the mapping at `item` says.
    func decode<Root>(_ item: YAMLReader, into root: inout Root) throws(InputError)
    where Element == PolicyField<Root> {
        for field in self { try field.decode(item, into: &root) }
    }

    /// Those that there is something to say of.
    func words<Root>(_ root: Root) -> [(key: String, value: String)] where Element == PolicyField<Root> {
        compactMap { field in field.words(root).map { (field.name, $0) } }
    }
}
