// What a study says has to have a meaning for its subjects: keys, outcomes, and what its alert policies watch.
//
// Guarantees: a key that means nothing for the kind is refused with its line, and never written; a policy rings for what the kind measures, or it is refused. A
// preset serves several kinds: of it the rules about the others' metrics are left out, and the resolved study has it as it is then.

package import IsletAlerts
import IsletDevices
import IsletFiles

extension Tuned where Kind == SubjectKind {
    /// The first sentence of a study: a kind of subject.
    var words: (one: String, many: String) { kind.words }
}

extension Study {
    /// Refuses what has no meaning for the kind, and leaves out of presets what is about other kinds.
    mutating func checkSubject(_ root: YAMLReader) throws(InputError) {
        let kind = subject.kind
        for path in kind.foreignKeys {
            try Self.refuse(path.split(separator: ".").map(String.init)[...], in: root, of: kind)
        }
        if let reader = root["primary"] {
            for item in reader.items {
                let name = try item.text()
                guard Outcome.named(name) != nil, !kind.outcomes.contains(where: { $0.name == name }) else {
                    continue
                }
                throw item.problem(
                    found: "the outcome \(name) in a study of \(kind.words.many)",
                    expected: "an outcome that \(kind.words.many) have; docs/data.md lists them")
            }
        }
        let items = root["arms"]?.items ?? []
        for place in arms.indices where place < items.count {
            guard kind.isPerson || items[place]["name"] != nil else {
                throw items[place].problem(
                    found: "an arm without a name", expected: "`name`: no algorithm gives it one")
            }
            try fit(&arms[place].alerts, items[place]["alerts"] ?? items[place])
        }
        for (place, item) in (root["policies"]?.items ?? []).enumerated() where place < policies.count {
            try fit(&policies[place], item)
        }
    }

    /// A preset without the rules that are about other kinds; any other policy has to be about this one.
    func fit(_ policy: inout AlertPolicy, _ reader: YAMLReader) throws(InputError) {
        try policy.fit(subject.kind, reader)
    }

    private static func refuse(
        _ path: ArraySlice<String>, in reader: YAMLReader, of kind: SubjectKind
    ) throws(InputError) {
        guard let key = path.first else { return }
        if reader.isList {
            for item in reader.items { try refuse(path, in: item, of: kind) }
            return
        }
        guard let value = reader[key] else { return }
        if path.count > 1 { return try refuse(path.dropFirst(), in: value, of: kind) }
        var (file, line) = (value.node.origin.file, value.node.origin.line)
        if case .mapping(let entries) = reader.node.content,
            let entry = entries.first(where: { $0.key == key })
        {
            (file, line) = (entry.keyOrigin.file, entry.keyOrigin.line)
        }
        throw InputError(
            file: file, line: line, found: "`\(key)` in a study of \(kind.words.many)",
            expected: "keys that mean something for \(kind.words.many) (`subject: \(kind.id)`)")
    }

    // MARK: Writing

    func withoutForeignKeys(_ json: JSONValue) -> JSONValue {
        var json = json
        for path in subject.kind.foreignKeys {
            json = Self.without(path.split(separator: ".").map(String.init)[...], json)
        }
        return json
    }

    private static func without(_ path: ArraySlice<String>, _ json: JSONValue) -> JSONValue {
        guard let key = path.first else { return json }
        switch json {
        case .array(let items): return .array(items.map { without(path, $0) })
        case .object(let members):
            if path.count == 1 { return .object(members.filter { $0.key != key }) }
            return .object(
                members.map { $0.key == key ? .init($0.key, without(path.dropFirst(), $0.value)) : $0 })
        default: return json
        }
    }
}

extension AlertPolicy {
    /// A preset without the rules that are about other kinds; any other policy has to be about this one.
    mutating func fit(_ kind: SubjectKind, _ reader: YAMLReader) throws(InputError) {
        if !kind.isPerson, presetName != nil, !rules.isEmpty {
            let kept = about(kind.metrics)
            if !kept.rules.isEmpty { self = kept }
        }
        try checkMeasured(by: kind, reader)
    }

    /// The rules that compare only these metrics.
    package func about(_ metrics: [AlertMetric]) -> AlertPolicy {
        var kept = self
        kept.rules = rules.filter { rule in
            !rule.tests.isEmpty && rule.tests.allSatisfy { metrics.contains($0.metric) }
        }
        let codes = kept.rules.map(\.code)
        for place in kept.rules.indices { kept.rules[place].inhibits.removeAll { !codes.contains($0) } }
        return kept
    }

    /// Refuses what a kind doesn't measure, and for watched kinds what waits for a device.
    func checkMeasured(by kind: SubjectKind, _ reader: YAMLReader) throws(InputError) {
        let measured = kind.metrics
        let metrics = rules.flatMap(\.tests).map(\.metric)
        let names =
            measured.count > 1
            ? "\(measured.dropLast().map(\.rawValue).joined(separator: ", ")) or \(measured.last?.rawValue ?? "")"
            : measured.first?.rawValue ?? "nothing"
        if let unknown = metrics.first(where: { !measured.contains($0) && !($0.isOwn && kind.isPerson) }) {
            throw reader.problem(
                found: "a policy with a threshold of \(unknown.rawValue)",
                expected:
                    "thresholds of \(names): a study\(kind.isPerson ? "" : " of \(kind.words.many)") measures no more"
            )
        }
        guard !kind.isPerson, let rule = rules.first(where: { $0.tests.isEmpty }) else { return }
        throw reader.problem(
            found: "a policy with \(rule.code), which \(kind.words.many) have no device for",
            expected: "thresholds of \(names)")
    }
}
