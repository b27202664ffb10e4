// A study file: from text to a study and back.
//
// Guarantees: any text ends in a `Study` or in one `InputError` with its place; overrides are applied to the tree
// before anything of it is looked at; every key is written, defaults included; decoding the text gives an equal study; equal
// studies give equal text. JSON is YAML, so the JSON text is itself a study file.

public import IsletDevices
package import IsletFiles

extension Study {
    /// The study in `text`; `file` is what problems call it.
    public static func parse(_ text: String, file: String) throws(InputError) -> Study {
        try parse(text, file: file, overrides: [])
    }

    /// The study in the file at `path`, changed by `overrides`.
    package static func read(path: String, overrides: [SetOverride] = []) throws(InputError) -> Study {
        try decode(try document(path), overrides: overrides)
    }

    /// What is read as a study: a study file, or what a manifest has as one.
    private static func document(_ path: String) throws(InputError) -> YAMLNode {
        guard path == "manifest.json" || path.hasSuffix("/manifest.json") else {
            return try YAMLDocument.read(path: path)
        }
        let manifest = try JSONDocument.read(path: path, limitBytes: ResultFolder.manifestBytes)
        return YAMLReader(manifest)["study"]?.node ?? manifest
    }

    /// The study in `text`; `file` is what problems call it.
    /// - Parameter hasRun: it is a folder's own, and stays readable where new studies have become stricter.
    package static func parse(
        _ text: String, file: String, overrides: [SetOverride] = [], hasRun: Bool = false
    ) throws(InputError) -> Study {
        try decode(
            try YAMLDocument.parse(
                text, file: file, limitBytes: hasRun ? writtenBytes : YAMLDocument.maximumBytes),
            overrides: overrides, hasRun: hasRun)
    }

    /// The longest text of a resolved study that is written, and so the longest that is read back: presets and sweeps say much in few words.
    package static let writtenBytes = 32 << 20

    /// Refuses a study that would be too long to be read back, before anything of it is run or written.
    package func checkWritten(file: String) throws(InputError) {
        let longest = max(json.prettyText.utf8.count, yaml.utf8.count)
        guard longest > Self.writtenBytes else { return }
        throw InputError(
            file: file,
            found:
                "\(arms.count) arms that take \(longest) bytes written out",
            expected: "at most \(Self.writtenBytes) bytes: fewer arms, or `mode: shadow`")
    }

    /// The study that a tree says, changed by `overrides`.
    package static func decode(
        _ document: YAMLNode, overrides: [SetOverride] = [], hasRun: Bool = false
    ) throws(InputError) -> Study {
        var document = document
        for override in overrides { document = try override.applied(to: document) }
        let root = YAMLReader(document)
        if !hasRun { try checkTotals(root["primary"]) }
        try root.check(.mapping(hasRun ? pastShape : shape))
        var study = try keys.decode(root)
        try study.checkSubject(root)
        if !hasRun { try checkFaults(root["faults"], study.faults, study.arms) }
        if study.subject.kind.isPerson {
            try study.checkForecasts(root)
            try study.checkOwnNumbers(root)
        }
        if !hasRun { try study.checkPrimary(root) }
        if let confirm = root["confirm"] {
            try study.checkConfirmation(file: confirm.node.origin.file, line: confirm.node.origin.line)
        }
        let cohort = root["cohort"]
        let place = cohort?["generate"]?["count"] ?? cohort?["subjects"] ?? cohort ?? root
        if let count = study.cohort.subjectCount {
            try study.checkSessions(
                subjects: count, file: place.node.origin.file, line: place.node.origin.line)
        }
        let mealCount = study.scenario.meals.listedMeals(days: study.duration.days)
        guard mealCount <= Double(maximumMeals) else {
            throw (root["scenario"]?["meals"] ?? root).problem(
                found: "a list that makes \(Int(mealCount)) meals in \(study.duration)",
                expected: "at most \(maximumMeals) meals in a session")
        }
        return study
    }

    /// The shape of studies that have run: `primary` may name what nothing is compared by any more.
    private static let pastShape: MappingShape = {
        var past = shape
        let outcomes = Outcome.everything.map { Shape.Choice($0.name, $0.meaning) }
        for place in past.keys.indices where past.keys[place].name == "primary" {
            past.keys[place].shape = .list(.choice(noun: "an outcome", outcomes), count: 1...outcomes.count)
        }
        return past
    }()

    /// Totals were compared once: who has them in a study is told what stands in their place.
    private static func checkTotals(_ primary: YAMLReader?) throws(InputError) {
        for item in primary?.items ?? [] {
            guard let name = try? item.text(), Outcome.named(name)?.isCompared == false,
                let daily = Outcome.named(name + "_per_day")
            else { continue }
            throw item.problem(
                found: "\(quotedForMessage(name)), which adds up over a session",
                expected: "\(daily.name), by which sessions of unequal length can be compared")
        }
    }

    /// The resolved study, keys in the order of their rows: what a manifest holds.
    package var json: JSONValue { withoutForeignKeys(Study.keys.json(of: self)) }

    /// The resolved study as a study file.
    public var yaml: String { yamlText(json) }

    /// The published JSON Schema (draft 2020-12) of a study file.
    package static var jsonSchema: JSONValue {
        var members: [JSONValue.Member] = [
            .init("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            .init("title", .string("Islet study")),
        ]
        if case .object(let inner) = Shape.mapping(shape).schema { members += inner }
        return .object(members)
    }
}
