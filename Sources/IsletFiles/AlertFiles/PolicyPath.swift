// A path into a policy's own tree, as a sweep writes it: `rules[ALERT-PUMP-SIGNAL-LOSS].debounce`, `rules[*].cooldown`,
// `rules[LOW,HIGH].debounce`, `thresholds[glucose].min`, `rules[LOW].escalate[0].after`, `limits.freshness`.
//
// Guarantees: whatever a policy file can say can be reached, also what the policy doesn't say; a path that reaches nothing is
// refused with the nearest that would. Between brackets stand codes, metrics of thresholds, places from 0, or `*` for all.
// Does not: judge values. The policy that comes of them is decoded as any other.

import IsletAlerts
package import IsletDevices

package struct PolicyPath: Hashable, Sendable {
    private struct Step: Hashable {
        var key: String
        /// Which items of the list; nil where no bracket stands.
        var items: [String]?
    }

    package let text: String
    private let steps: [Step]
    private let origin: YAMLNode.Origin

    /// - Parameter origin: where it is written.
    package init(_ text: String, at origin: YAMLNode.Origin) throws(InputError) {
        self.text = text
        self.origin = origin
        guard let steps = Self.steps(text) else {
            throw InputError(
                file: origin.file, line: origin.line, found: "the path \(quotedForMessage(text))",
                expected: "keys joined by dots, list items in brackets, for example rules[*].cooldown")
        }
        self.steps = steps
    }

    private static func steps(_ text: String) -> [Step]? {
        var steps: [Step] = []
        var rest = text[...]
        while true {
            let key = rest.prefix { $0 != "." && $0 != "[" && $0 != "]" }
            guard !key.isEmpty else { return nil }
            rest = rest.dropFirst(key.count)
            var step = Step(key: String(key))
            if rest.first == "[" {
                guard let end = rest.firstIndex(of: "]") else { return nil }
                let items = rest[rest.index(after: rest.startIndex)..<end].split(
                    separator: ",", omittingEmptySubsequences: false
                ).map { String($0.filter { $0 != " " }) }
                guard !items.contains(where: \.isEmpty) else { return nil }
                step.items = items
                rest = rest[rest.index(after: end)...]
            }
            steps.append(step)
            if rest.isEmpty { return steps.count <= 8 ? steps : nil }
            guard rest.first == "." else { return nil }
            rest = rest.dropFirst()
        }
    }

    /// As it stands in a variant's name: the brackets of rules and thresholds say enough.
    package var label: String {
        guard let first = steps.first, let items = first.items else { return text }
        let rest = steps.dropFirst().map { step in
            step.key + (step.items.map { "[\($0.joined(separator: "+"))]" } ?? "")
        }
        return ([items.joined(separator: "+")] + rest).joined(separator: ".")
    }

    /// `policy`'s tree with `value` here; nothing (`null`) leaves the key out.
    package func setting(_ value: YAMLNode, in policy: YAMLNode) throws(InputError) -> YAMLNode {
        try place(value, in: policy, .mapping(AlertPolicy.shape), steps[...], walked: "")
    }

    private func problem(_ found: String, _ expected: String) -> InputError {
        InputError(file: origin.file, line: origin.line, found: found, expected: expected)
    }

    /// The path that a slip in one of its words was meant to be.
    private func meant(_ word: String, among known: [String]) -> String {
        guard let nearest = nearest(to: word, among: known) else { return "" }
        return " (nearest: `\(text.replacing(word, with: nearest, maxReplacements: 1))`)"
    }

    private func place(
        _ value: YAMLNode, in node: YAMLNode, _ shape: Shape, _ steps: ArraySlice<Step>, walked: String
    ) throws(InputError) -> YAMLNode {
        guard let step = steps.first else { return value }
        guard let shape = shape.mapping else {
            throw problem(
                "\(quotedForMessage(text)), which matches nothing",
                "nothing within `\(walked)`: it has no keys")
        }
        guard let key = shape.keys.first(where: { $0.name == step.key }) else {
            throw problem(
                "\(quotedForMessage(text)), which matches nothing",
                (walked.isEmpty ? "a key of a policy: " : "a key of `\(walked)`: ")
                    + shape.names.joined(separator: ", ") + meant(step.key, among: shape.names))
        }
        let here = walked.isEmpty ? step.key : walked + "." + step.key
        var entries = node.entries(spread: shape)
        let rest = steps.dropFirst()
        let index = entries.firstIndex { $0.key == step.key }
        let old = index.map { entries[$0].value } ?? YAMLNode(.mapping([]), origin: value.origin)
        var new = value
        if let items = step.items {
            new = try place(value, inItems: items, of: old, key.shape, step.key, rest, walked: here)
        } else if !rest.isEmpty {
            if case .sequence(let some) = old.content {
                throw problem(
                    "\(quotedForMessage(text)), which matches nothing",
                    "an item of `\(here)` in brackets: " + (some.ids + ["*"]).joined(separator: ", "))
            }
            new = try place(value, in: old, key.shape, rest, walked: here)
        }
        if let index {
            if new.isNothing { entries.remove(at: index) } else { entries[index].value = new }
        } else if !new.isNothing {
            entries.append(.init(key: step.key, keyOrigin: value.origin, value: new))
        }
        return YAMLNode(.mapping(entries), origin: node.origin)
    }

    private func place(
        _ value: YAMLNode, inItems wanted: [String], of node: YAMLNode, _ shape: Shape, _ key: String,
        _ steps: ArraySlice<Step>, walked: String
    ) throws(InputError) -> YAMLNode {
        guard let item = shape.item, let next = steps.first else {
            throw problem(
                "\(quotedForMessage(text)), which matches nothing",
                shape.item == nil ? "`\(walked)` without brackets: it is no list" : "a key after the brackets"
            )
        }
        guard case .sequence(var items) = node.content, !items.isEmpty else {
            throw problem(
                "\(quotedForMessage(text)), which matches nothing",
                "items in `\(walked)`: the policy has none")
        }
        var places: [Int] = []
        for word in wanted {
            let found = items.indices.filter { word == "*" || items[$0].ids(at: $0).contains(word) }
            guard !found.isEmpty else {
                throw problem(
                    "\(quotedForMessage(text)), which matches nothing",
                    "an item of `\(walked)`: "
                        + printable((items.ids + ["*"]).joined(separator: ", "), limit: 400)
                        + meant(word, among: items.ids))
            }
            places += found.filter { !places.contains($0) }
        }
        // A threshold has one of its sides where the policy is written out.
        if key == "thresholds", ["min", "max"].contains(next.key), steps.count == 1 {
            places = places.filter { items[$0][next.key] != nil }
            guard !places.isEmpty else {
                throw problem(
                    "\(quotedForMessage(text)), which matches nothing", "a threshold that has a `\(next.key)`"
                )
            }
        }
        for index in places {
            items[index] = try place(value, in: items[index], item, steps, walked: "\(walked)[]")
        }
        return YAMLNode(.sequence(items), origin: node.origin)
    }
}

extension Shape {
    /// The mapping that may stand here.
    fileprivate var mapping: MappingShape? {
        switch self {
        case .mapping(let mapping): mapping
        case .either(let shapes): shapes.lazy.compactMap(\.mapping).first
        default: nil
        }
    }

    fileprivate var item: Shape? {
        switch self {
        case .list(let item, _): item
        case .either(let shapes): shapes.lazy.compactMap(\.item).first
        default: nil
        }
    }
}

extension YAMLNode {
    /// The entries of a mapping; of one value for all keys that value under each, so that one of them can change.
    fileprivate func entries(spread shape: MappingShape) -> [Entry] {
        switch content {
        case .mapping(let entries): entries
        case .scalar where !isNothing:
            shape.keys.map { Entry(key: $0.name, keyOrigin: origin, value: self) }
        case .scalar, .sequence: []
        }
    }

    /// What an item of a list may be called: its code, its metric, its place.
    fileprivate func ids(at place: Int) -> [String] { names + ["\(place)"] }

    fileprivate var names: [String] {
        if case .scalar(let code, _)? = self["code"]?.content { return [code] }
        guard case .scalar(let name, _)? = self["metric"]?.content,
            let metric = AlertMetric(inPolicy: name)
        else { return [] }
        let sides = [("min", "LOW"), ("max", "HIGH")].filter { self[$0.0] != nil }
        return [name] + sides.map { "THRESHOLD-\(metric.codeName)-\($0.1)" }
    }
}

extension [YAMLNode] {
    /// The names of all items; their places where they have none.
    fileprivate var ids: [String] {
        var ids: [String] = []
        for (place, item) in enumerated() {
            for name in item.names.isEmpty ? ["\(place)"] : item.names where !ids.contains(name) {
                ids.append(name)
            }
        }
        return ids
    }
}
