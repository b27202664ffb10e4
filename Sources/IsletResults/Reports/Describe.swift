// A study in words.

import IsletAlerts
import IsletLoop
import IsletFiles
import IsletDevices
import IsletPeople
import IsletModels
import IsletKernel
import IsletTrials

enum Describe {
    static func people(_ input: ReportInput) -> HTML {
        guard input.isOfPeople else {
            let words = input.study.subject.kind.words
            return "\(input.people) \(input.people == 1 ? words.one : words.many)"
        }
        return switch input.study.cohort {
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
        if Set(arms.map { $0.keeper ?? input.study.keeper }).count > 1 {
            parts.append("who looks after them")
        }
        if Set(arms.map(\.algorithm)).count > 1 {
            parts.append("what doses (\(kinds(arms.map(\.algorithm))))")
        }
        let sensors = arms.map { input.study.sensor(in: $0) }
        if Set(sensors).count > 1 { parts.append("the sensor (\(kinds(sensors)))") }
        if Set(arms.map { input.study.person(in: $0) }).count > 1 {
            parts.append("who listens (\(names(arms.map { person(in: $0, input.study) })))")
        }
        guard Set(arms.map(\.luckOffset)).count == 1 else {
            return "The arms differ in \((parts + ["their luck, by design"]).listed); all else is shared."
        }
        guard !parts.isEmpty else { return "The arms differ in nothing." }
        return "The arms differ in \(parts.listed); all else is shared, luck included."
    }

    /// A preset by its name; one that was changed says so.
    static func person(in arm: Study.Arm, _ study: Study) -> String {
        study.person(in: arm).map {
            $0.preset.rawValue + ($0 == PersonSettings($0.preset) ? "" : ", changed")
        } ?? "nobody"
    }

    /// `pid-insulin-feedback (kp = 0.3)`: what a study set of it; nothing where it is as it comes.
    static func tuned<Kind: Tunable>(_ thing: Tuned<Kind>) -> HTML {
        let set = zip(thing.kind.parameters, thing.values).filter { $0.defaultValue != $1 }
            .map { "\($0.name) = \($1)" }
        return set.isEmpty
            ? "<code>\(thing.kind.id)</code>"
            : "<code>\(thing.kind.id)</code> (\(set.joined(separator: ", ")))"
    }

    /// Each once.
    private static func kinds<Kind: Tunable>(_ things: [Tuned<Kind>]) -> HTML {
        var seen: [Tuned<Kind>] = []
        for thing in things where !seen.contains(thing) { seen.append(thing) }
        return seen.count <= 4 ? seen.map { tuned($0) }.joined(", ") : "\(seen.count) of them"
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
