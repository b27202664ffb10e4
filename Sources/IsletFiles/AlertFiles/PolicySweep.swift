// Variants of one policy: every combination of a grid, and single combinations.
//
// Guarantees: each variant is a policy as a file could have it, checked as one; names tell what was changed and are the same wherever a
// combination stands; no two variants behave alike. What is wrong is one line with the place in the study.
// Does not: run them.

package import IsletAlerts
package import IsletDevices

package struct PolicySweep: Hashable, Sendable {
    /// How variants are tried.
    package enum Mode: String, Sendable, CaseIterable {
        /// Each variant is evaluated on the same sessions and notifies nobody.
        case shadow
        /// Each is an arm, with somebody who hears it or not.
        case closed

        package var summary: String {
            switch self {
            case .shadow: "each variant listens to every arm's sessions, and reaches nobody"
            case .closed: "each variant is an arm, beside the arms listed"
            }
        }
    }

    /// One change to the policy.
    package struct Setting: Hashable, Sendable {
        package var path: String
        package var value: JSONValue
    }

    /// The most variants of one sweep.
    package static let maximumVariants = 1000

    package let of: AlertPolicy
    package let mode: Mode
    /// What each variant changes.
    package let points: [[Setting]]
    package private(set) var variants: [AlertPolicy]

    private struct Change {
        var path: PolicyPath
        var value: YAMLNode
    }

    /// - Parameters:
    ///   - reader: the sweep.
    ///   - policy: what it is of.
    package init(_ reader: YAMLReader, of policy: AlertPolicy, mode: Mode) throws(InputError) {
        of = policy
        self.mode = mode
        var combinations: [[Change]] = []
        if let grid = reader["grid"] { combinations += try Self.factorial(grid) }
        for point in reader["points"]?.items ?? [] { combinations.append(try Self.changes(point)) }
        guard !combinations.isEmpty else {
            throw reader.problem(found: "no variants", expected: "`grid` or `points` with something in it")
        }
        guard combinations.count <= Self.maximumVariants else {
            throw reader.problem(
                found: "\(combinations.count) variants", expected: "at most \(Self.maximumVariants)")
        }
        let tree = try JSONDocument.parse(
            policy.json.compactText, file: "policy", limitBytes: .max
        ).placed(at: reader.node.origin)
        var variants: [AlertPolicy] = []
        var known: [AlertPolicy: String] = [:]
        for (number, changes) in combinations.enumerated() {
            let name = Self.name(policy.name, changes, number: number)
            var changed = tree
            for change in changes { changed = try change.path.setting(change.value, in: changed) }
            var variant = try Self.decoded(changed, of: policy, name: name)
            variant.keepTruths(of: policy)
            variant.name = ""
            let place = changes[0].value.origin
            if let other = known[variant] {
                throw InputError(
                    file: place.file, line: place.line,
                    found:
                        "the variants \(quotedForMessage(other)) and \(quotedForMessage(name)), which are one policy",
                    expected: "variants that differ")
            }
            known[variant] = name
            variant.name = name
            guard !variants.contains(where: { $0.name == name }) else {
                throw InputError(
                    file: place.file, line: place.line, found: "the variant \(quotedForMessage(name)) twice",
                    expected: "variants with different names")
            }
            variants.append(variant)
        }
        self.variants = variants
        points = combinations.map { $0.map { Setting(path: $0.path.text, value: $0.value.json) } }
    }

    private static func decoded(
        _ tree: YAMLNode, of policy: AlertPolicy, name: String
    ) throws(InputError) -> AlertPolicy {
        do {
            return try AlertPolicy.decode(tree)
        } catch var problem {
            problem.found += " in the variant \(quotedForMessage(name))"
            throw problem
        }
    }

    /// Every value of the first path with every value of the second, and so on; the last one changes fastest.
    private static func factorial(_ grid: YAMLReader) throws(InputError) -> [[Change]] {
        guard case .mapping(let entries) = grid.node.content, !entries.isEmpty else {
            throw grid.problem(found: "an empty grid", expected: "paths of the policy, each with its values")
        }
        var combinations: [[Change]] = [[]]
        for entry in entries {
            let path = try PolicyPath(entry.key, at: entry.keyOrigin)
            guard case .sequence(let values) = entry.value.content, !values.isEmpty else {
                throw InputError(
                    file: entry.keyOrigin.file, line: entry.keyOrigin.line,
                    found: "\(entry.value.summary) for \(quotedForMessage(entry.key))",
                    expected: "a list of at least one value")
            }
            let (count, overflow) = combinations.count.multipliedReportingOverflow(by: values.count)
            guard !overflow, count <= maximumVariants else {
                throw grid.problem(
                    found: "a grid of more than \(maximumVariants) combinations",
                    expected: "at most \(maximumVariants)")
            }
            combinations = combinations.flatMap { before in
                values.map { before + [Change(path: path, value: $0)] }
            }
        }
        return combinations
    }

    private static func changes(_ point: YAMLReader) throws(InputError) -> [Change] {
        guard case .mapping(let entries) = point.node.content, !entries.isEmpty else {
            throw point.problem(expected: "a combination: paths of the policy, each with one value")
        }
        var changes: [Change] = []
        for entry in entries {
            changes.append(
                Change(path: try PolicyPath(entry.key, at: entry.keyOrigin), value: entry.value))
        }
        return changes
    }

    /// The policy's name and what is changed, where that makes a name; its number else.
    private static func name(_ policy: String, _ changes: [Change], number: Int) -> String {
        func name(_ label: (String) -> String) -> String {
            ([policy] + changes.map { "\(label($0.path.label))=\($0.value.label)" }).joined(separator: " ")
        }
        let long = name { $0 }
        if TextRule.name.accepts(long) { return long }
        let short = name { $0.replacing("ALERT-", with: "") }
        return TextRule.name.accepts(short) ? short : "\(policy.prefix(80)) #\(number + 1)"
    }

    /// As the resolved study says it: what it is of in full, each variant a point.
    /// - Parameter arms: what a closed sweep has made.
    package func json(of policy: JSONValue, arms: JSONValue? = nil) -> JSONValue {
        .object(
            [
                .init("of", policy), .init("mode", .string(mode.rawValue)),
                .init(
                    "points",
                    .array(
                        points.map { point in
                            .object(point.map { .init($0.path, $0.value) })
                        })),
            ] + (arms.map { [.init("arms", $0)] } ?? []))
    }

    /// The sweep with the same points, whose variants were all changed in one way.
    package func changed(_ change: (AlertPolicy) -> AlertPolicy) -> PolicySweep {
        var sweep = self
        sweep.variants = variants.map(change)
        return sweep
    }
}

extension YAMLNode {
    /// The value as JSON that reads back to this node.
    fileprivate var json: JSONValue {
        switch content {
        case .scalar where isNothing: .null
        case .scalar(let text, plain: true) where text == "true" || text == "false": .bool(text == "true")
        case .scalar(let text, plain: true):
            finiteNumber(text).map { .number($0) } ?? .string(text)
        case .scalar(let text, plain: false): .string(text)
        case .sequence(let items): .array(items.map(\.json))
        case .mapping(let entries): .object(entries.map { .init($0.key, $0.value.json) })
        }
    }

    /// The value in a name.
    fileprivate var label: String {
        switch json {
        case .string(let text): text
        case .null: "default"
        case let other: other.compactText.replacing("\"", with: "").replacing("/", with: "-")
        }
    }
}
