// How each kind of policy parameter stands in a file: a `KeyRow` reads, writes and describes it; for people it is said in words.
//
// Guarantees: what is written reads back equal; a key that isn't there changes nothing.
// Does not: relate parameters to each other. The decoder does.

package import IsletAlerts
import IsletDevices
import IsletKernel

extension AlertPolicy {
    static let keyRows = fields.map { $0.row(AlertPolicy(name: "", rules: [])) }
}

extension AlertLimits {
    static let keyRows = fields.map { $0.row(AlertLimits()) }
}

extension AlertRule {
    /// As rules without a catalogue's entry begin.
    private static let plain = AlertRule(code: "", trigger: .metrics([]), severity: .actionable)

    /// Keys of rules and thresholds.
    static let keyRows = fields.map { $0.row(plain) }
    /// Keys of rules.
    static let ruleKeyRows = ruleFields.map { $0.row(plain) } + keyRows
}

extension PolicyField where Root: Sendable {
    /// The key, with the value that `defaults` has.
    fileprivate func row(_ defaults: Root) -> KeyRow<Root> {
        switch value {
        case .flag(let path): return row(path, .flag, defaults)
        case .span(let path, let mayBeZero): return row(path, mayBeZero ? .span : .longSpan, defaults)
        case .optionalSpan(let path): return row(path, .longSpan)
        case .severity(let path): return row(path, .severity, defaults)
        case .acknowledgement(let path): return row(path, .acknowledgement, defaults)
        case .codes(let path):
            return row(path, .list(of: .code, count: 0...100), defaults) { !$0.isEmpty }
        case .escalations(let path):
            let codec = Codec.list(of: .escalation, count: 0...10)
            return row(codec.shape, .array([])) { reader, root throws(InputError) in
                let steps = try codec.decode(reader)
                if !steps.isEmpty { root[keyPath: path] = steps.sorted { $0.after < $1.after } }
            } encode: {
                let steps = $0[keyPath: path]
                return steps.isEmpty ? nil : codec.encode(steps)
            }
        case .cooldowns(let path):
            let codec = Codec<AlertCooldowns>.mapping()
            return row(codec.shape, codec.encode(defaults[keyPath: path])) {
                reader, root throws(InputError) in
                let own = try codec.decode(reader)
                if let span = own.actionable { root[keyPath: path].actionable = span }
                if let span = own.safetyCritical { root[keyPath: path].safetyCritical = span }
            } encode: {
                codec.encode($0[keyPath: path])
            }
        case .cooldown(let all, let some): return cooldown(all, some)
        case .afterFront(let path): return row(path, .mapping())
        case .truth(let path):
            return row(Codec.truth.shape, nil) { reader, root throws(InputError) in
                root[keyPath: path] = try Codec.truth.decode(reader)
            } encode: {
                $0[keyPath: path].name.map { .string($0) }
            }
        }
    }

    /// One for all severities, or by severity.
    private func cooldown(_ all: any Path<Int64?>, _ some: any Path<AlertCooldowns>) -> KeyRow<Root> {
        let (span, mapping) = (Codec<Int64>.span, Codec<AlertCooldowns>.mapping())
        return row(.either([span.shape, mapping.shape]), nil) { reader, root throws(InputError) in
            root[keyPath: all] = reader.isMapping ? nil : try span.decode(reader)
            root[keyPath: some] = reader.isMapping ? try mapping.decode(reader) : AlertCooldowns()
        } encode: {
            let (all, some) = ($0[keyPath: all], $0[keyPath: some])
            guard some != AlertCooldowns() else { return all.map(span.encode) }
            return mapping.encode(
                AlertCooldowns(
                    actionable: some.actionable ?? all, safetyCritical: some.safetyCritical ?? all))
        }
    }

    private func row(
        _ shape: Shape, _ defaultValue: JSONValue?,
        decode: @escaping @Sendable (YAMLReader, inout Root) throws(InputError) -> Void,
        encode: @escaping @Sendable (Root) -> JSONValue?
    ) -> KeyRow<Root> {
        KeyRow(
            KeyShape(
                name, shape, summary, defaultValue: leftOut == nil ? defaultValue : nil, leftOut: leftOut),
            decode: decode, encode: encode)
    }

    private func row<Value>(
        _ path: any Path<Value>, _ codec: Codec<Value>, _ defaults: Root,
        isWritten: @escaping @Sendable (Value) -> Bool = { _ in true }
    ) -> KeyRow<Root> {
        row(codec.shape, codec.encode(defaults[keyPath: path])) { reader, root throws(InputError) in
            root[keyPath: path] = try codec.decode(reader)
        } encode: {
            let value = $0[keyPath: path]
            return isWritten(value) ? codec.encode(value) : nil
        }
    }

    /// One that may be absent.
    private func row<Value>(_ path: any Path<Value?>, _ codec: Codec<Value>) -> KeyRow<Root> {
        row(codec.shape, nil) { reader, root throws(InputError) in
            root[keyPath: path] = try codec.decode(reader)
        } encode: {
            $0[keyPath: path].map(codec.encode)
        }
    }
}

extension AfterFront: Keyed {
    package static let keys = KeyTable<AfterFront>(
        "Since it was shown; 0s for never.",
        [
            KeyRow("left", \.left, .span, "The front is left within so long."),
            KeyRow("unanswered", \.unanswered, .span, "Safety-critical, and unanswered for so long."),
        ])
}

extension AlertCooldowns: Keyed {
    package init() { self.init(actionable: nil) }

    package static let keys = KeyTable<AlertCooldowns>(
        "By severity; what is informational is never notified.",
        [
            KeyRow(
                "actionable", optional: \.actionable, .span, "Of an actionable alert.",
                leftOut: "5m, or as the policy's limits say"),
            KeyRow(
                "safetyCritical", optional: \.safetyCritical, .span, "Of a safety-critical alert.",
                leftOut: "60s, or as the policy's limits say"),
        ])
}

// MARK: How values stand in a policy

extension Codec where Value == Bool {
    static var flag: Codec {
        Codec(.flag) { reader throws(InputError) in
            try reader.flag()
        } encode: {
            .bool($0)
        }
    }
}

extension Codec where Value == Int64 {
    /// A length of time, ns.
    static var span: Codec { span(AlertPolicy.span) }
    /// One above zero.
    static var longSpan: Codec { span(AlertPolicy.longSpan) }

    static func span(_ rule: TextRule) -> Codec {
        .text(rule, { TimeSpan($0)?.nanoseconds }, write: { TimeSpan(nanoseconds: $0).description })
    }
}

extension Codec {
    /// One of some names, and what each stands for.
    static func named(
        _ shape: Shape, _ read: @escaping @Sendable (String) -> Value?,
        write: @escaping @Sendable (Value) -> String
    ) -> Codec {
        Codec(shape) { reader throws(InputError) in
            guard let value = read(try reader.text()) else {
                throw reader.problem(expected: shape.expectation)
            }
            return value
        } encode: {
            .string(write($0))
        }
    }
}

extension Codec where Value == AlertSeverity {
    fileprivate static var severity: Codec {
        named(AlertPolicy.severity, { AlertSeverity(name: $0) }, write: \.name)
    }
}

extension Codec where Value == AlertAcknowledgement {
    fileprivate static var acknowledgement: Codec {
        named(
            .choice(
                noun: "what acknowledging does",
                [
                    .init("none", "nothing to acknowledge"), .init("closes", "closes the episode"),
                    .init("reviews", "marks it as reviewed, active all the same"),
                ]), { AlertAcknowledgement(rawValue: $0) }, write: \.rawValue)
    }
}

extension Codec where Value == AlertName {
    fileprivate static var code: Codec {
        .text(AlertPolicy.code, { AlertName(rawValue: $0) }, write: \.rawValue)
    }
}

extension Codec where Value == AlertTruthClaim {
    fileprivate static var truth: Codec {
        named(
            .choice(
                noun: "a truth",
                AlertTruth.allCases.map { .init($0.rawValue, $0.meaning) }
                    + [.init("none", "nobody judges it")]),
            { AlertTruthClaim(name: $0) }, write: { $0.name ?? "" })
    }
}

extension Codec where Value == AlertRule.Escalation {
    fileprivate static var escalation: Codec {
        let (after, to) = (Codec<Int64>.longSpan, Codec<AlertSeverity>.severity)
        let shape = MappingShape(
            summary: "One step.",
            keys: [
                KeyShape("after", after.shape, "Since the raise.", isRequired: true),
                KeyShape("to", to.shape, "The severity from then on.", isRequired: true),
            ])
        return Codec(.mapping(shape)) { step throws(InputError) in
            guard let start = step["after"], let end = step["to"] else {
                throw step.problem(expected: "after and to")
            }
            return AlertRule.Escalation(after: try after.decode(start), to: try to.decode(end))
        } encode: {
            .object([.init("after", after.encode($0.after)), .init("to", to.encode($0.to))])
        }
    }
}

// MARK: Words

extension PolicyField {
    private static func text(_ nanoseconds: Int64) -> String {
        TimeSpan(nanoseconds: nanoseconds).description
    }

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

extension Array {
    /// Those that there is something to say of.
    func words<Root>(_ root: Root) -> [(key: String, value: String)] where Element == PolicyField<Root> {
        compactMap { field in field.words(root).map { (field.name, $0) } }
    }
}
