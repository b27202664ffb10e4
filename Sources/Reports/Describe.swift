// A study in words.

import Alerts
import Algorithms
import Charts
import Documents
import Devices
import People
import Physiology
import SessionTime
import Trials

enum Describe {
    static func people(_ input: ReportInput) -> HTML {
        switch input.study.cohort {
        case .generate(let people):
            "\(input.people) virtual \(group(people.group.rawValue, input.people))"
        case .table: "\(input.people) virtual \(input.people == 1 ? "person" : "people") of a table"
        }
    }

    private static func group(_ name: String, _ count: Int) -> String {
        switch (name, count) {
        case (_, 1): name
        case ("child", _): "children"
        default: name + "s"
        }
    }

    static func duration(_ study: Study) -> String {
        let seconds = study.duration.nanoseconds / Nanoseconds.second
        guard seconds % 86_400 == 0 else { return "\(study.duration)" }
        let days = seconds / 86_400
        return days == 1 ? "one day" : "\(days) days"
    }

    /// What arms differ in, as one sentence.
    static func difference(_ input: ReportInput) -> HTML {
        let arms = input.study.arms
        var parts: [HTML] = []
        func names(_ all: [String]) -> HTML {
            var seen: [String] = []
            for name in all where !seen.contains(name) { seen.append(name) }
            return seen.count <= 4
                ? seen.map { "<code>\($0)</code>" as HTML }.joined(", ") : "\(seen.count) of them"
        }
        if Set(arms.map(\.alerts)).count > 1 {
            parts.append("the alert policy (\(names(arms.map(\.alerts.name))))")
        }
        if Set(arms.map(\.algorithm)).count > 1 {
            parts.append("what doses (\(names(arms.map { $0.algorithm.kind.id })))")
        }
        if Set(arms.map { input.study.person(in: $0) }).count > 1 {
            parts.append("who listens (\(names(arms.map { person(in: $0, input.study) })))")
        }
        if Set(arms.map(\.luckOffset)).count > 1 { parts.append("their luck alone, by design") }
        guard !parts.isEmpty else { return "The arms differ in nothing." }
        return "The arms differ in \(parts.listed); all else is shared, luck included."
    }

    static func person(in arm: Study.Arm, _ study: Study) -> String {
        study.person(in: arm).map(\.preset.rawValue) ?? "nobody"
    }

    /// With a capital letter and a full stop.
    static func sentence(_ text: String) -> String {
        guard let first = text.first else { return "" }
        let whole = first.uppercased() + text.dropFirst()
        return whole.hasSuffix(".") ? whole : whole + "."
    }

    /// An outcome's interval and mean, as text for a chart's description.
    static func list(_ values: [String], most: Int = 20) -> String {
        values.count <= most
            ? values.joined(separator: "; ")
            : values.prefix(most).joined(separator: "; ") + "; and \(values.count - most) more"
    }
}

extension ReportInput {
    /// Policies that listened in shadow, by name.
    var policyCount: Int { Set(listeners.map(\.policy)).count }
}
