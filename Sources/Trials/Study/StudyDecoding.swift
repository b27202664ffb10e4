// From a YAML tree to a study.
//
// Guarantees: any text ends in a `Study` or in one `InputProblem` with its place; overrides are applied to the tree
// before anything of it is looked at.

import AlertFiles
import Algorithms
package import Documents
import Alerts
import Devices
import Physiology
public import Records
import SimulatedDevices

extension Study {
    /// The study in `text`; `file` is what problems call it.
    public static func parse(_ text: String, file: String) throws(InputProblem) -> Study {
        try parse(text, file: file, overrides: [])
    }

    /// The study in the file at `path`, changed by `overrides`.
    package static func read(path: String, overrides: [SetOverride] = []) throws(InputProblem) -> Study {
        try decode(try YAMLDocument.read(path: path), overrides: overrides)
    }

    /// The study in `text`; `file` is what problems call it.
    /// - Parameter hasRun: it is a folder's own, and stays readable where new studies have become stricter.
    package static func parse(
        _ text: String, file: String, overrides: [SetOverride] = [], hasRun: Bool = false
    ) throws(InputProblem) -> Study {
        try decode(try YAMLDocument.parse(text, file: file), overrides: overrides, hasRun: hasRun)
    }

    /// The study that a tree says, changed by `overrides`.
    package static func decode(
        _ document: YAMLNode, overrides: [SetOverride] = [], hasRun: Bool = false
    ) throws(InputProblem) -> Study {
        var document = document
        for override in overrides { document = try override.applied(to: document) }
        let root = YAMLReader(document)
        try root.check(.mapping(shape))
        guard let cohortReader = root["cohort"], let armsReader = root["arms"] else {
            throw root.problem(expected: "cohort and arms")
        }
        let arms = try decodeArms(armsReader)
        let meals = root["scenario"]?["meals"]
        let study = Study(
            name: try root["study"]?.text() ?? "study",
            seed: try root["seed"]?.wholeNumber() ?? 1,
            start: try root["start"].value(standard: StudyStart.standardText, StudyStart.init),
            duration: try root["duration"].value(standard: "7d", TimeSpan.init),
            cohort: try decodeCohort(cohortReader),
            sensor: Sensor(model: try decodeDevice(root["sensor"], standard: .vettoretti2019)),
            pump: Pump(device: try decodeDevice(root["pump"], standard: .omnipod)),
            scenario: Scenario(meals: try decodeMeals(meals)),
            faults: try decodeFaults(root["faults"]),
            record: try root["record"].id(standard: .events),
            arms: arms,
            reference: try decodeReference(root["compare"], arms: arms))
        if !hasRun { try checkFaults(root["faults"], study.faults, arms) }
        let place = cohortReader["generate"]?["count"] ?? cohortReader["subjects"] ?? cohortReader
        if let count = study.cohort.subjectCount {
            try study.checkSessions(
                subjects: count, file: place.node.origin.file, line: place.node.origin.line)
        }
        let mealCount = study.scenario.meals.listedMeals(days: study.duration.days)
        guard mealCount <= Double(maximumMeals) else {
            throw (meals ?? root).problem(
                found: "a list that makes \(Int(mealCount)) meals in \(study.duration)",
                expected: "at most \(maximumMeals) meals in a session")
        }
        return study
    }

    private static func decodeCohort(_ reader: YAMLReader) throws(InputProblem) -> Cohort {
        if let generate = reader["generate"] {
            return .generate(
                model: try generate["model"].id(standard: ModelKind.uvaPadova2008),
                group: try generate["group"].id(standard: AgeGroup.adult),
                count: Int(try generate["count"]?.wholeNumber(in: 1...UInt64(maximumSessions)) ?? 100))
        }
        guard let table = reader["table"] else { throw reader.problem(expected: "generate or table") }
        var subjects: [String]?
        if let listed = reader["subjects"] {
            var names: [String] = []
            var seen: Set<String> = []
            for item in listed.items {
                let name = try item.text()
                guard seen.insert(name).inserted else {
                    throw item.problem(
                        found: "the subject \(quotedForMessage(name)) twice", expected: "each subject once")
                }
                names.append(name)
            }
            subjects = names
        }
        return .table(
            path: try table.text(), model: try reader["model"].id(standard: ModelKind.uvaPadova2008),
            subjects: subjects, derived: try reader["derived"].id(standard: .check))
    }

    private static func decodeDevice<ID: Listed>(
        _ reader: YAMLReader?, standard: ID
    ) throws(InputProblem) -> ID {
        guard let reader, reader.isMapping else { return try reader.id(standard: standard) }
        return try reader["model"].id(standard: standard)
    }

    private static func decodeMeals(_ reader: YAMLReader?) throws(InputProblem) -> MealPlan {
        guard let reader else { return .moderate }
        guard reader.isList else {
            let name = try reader.text()
            guard let plan = MealPlan.named.first(where: { $0.name == name })?.plan else {
                throw reader.problem(expected: "a meal plan")
            }
            return plan
        }
        var entries: [MealPlan.Entry] = []
        for item in reader.items {
            guard let at = item["at"], let carbs = item["carbs"] else {
                throw item.problem(expected: "at and carbs")
            }
            entries.append(
                MealPlan.Entry(
                    time: try Optional(at).value(standard: "", MealTime.init),
                    grams: try carbs.number(in: 0...MealAnnouncement.largest.grams)))
        }
        return .list(entries)
    }

    private static func decodeArms(_ reader: YAMLReader) throws(InputProblem) -> [Arm] {
        var arms: [Arm] = []
        for item in reader.items {
            let algorithm = try TunedAlgorithm.decode(item["algorithm"])
            let name = try item["name"]?.text() ?? algorithm.kind.id
            guard !arms.contains(where: { $0.name == name }) else {
                throw (item["name"] ?? item).problem(
                    found: "the arm \(quotedForMessage(name)) twice", expected: "arms with different names")
            }
            var alerts = AlertPolicy.bionicloop
            if let policy = item["alerts"] {
                alerts = try AlertPolicy.find(policy)
                let metrics = alerts.rules.flatMap(\.tests).map(\.metric)
                let measured = AlertMetric.inStudies
                if let unknown = metrics.first(where: { !measured.contains($0) }) {
                    throw policy.problem(
                        found: "a policy with a threshold of \(unknown.rawValue)",
                        expected:
                            "thresholds of \(measured.dropLast().map(\.rawValue).joined(separator: ", ")) or \(measured.last?.rawValue ?? ""): a study measures no more"
                    )
                }
            }
            arms.append(Arm(name: name, algorithm: algorithm, alerts: alerts))
        }
        return arms
    }

    private static func decodeReference(
        _ reader: YAMLReader?, arms: [Arm]
    ) throws(InputProblem) -> String? {
        guard let reader else { return arms.count > 1 ? arms.first?.name : nil }
        guard let reference = reader["reference"] else { return nil }
        let name = try reference.text()
        let names = arms.map(\.name)
        guard names.contains(name) else {
            let meant = nearest(to: name, among: names).map { " (nearest: `\($0)`)" } ?? ""
            throw reference.problem(
                expected: "the name of an arm: " + printable(names.joined(separator: ", "), limit: 400)
                    + meant)
        }
        return name
    }
}

extension YAMLReader? {
    /// The known id that stands here, or `standard` where nothing does.
    fileprivate func id<ID: Listed>(standard: ID) throws(InputProblem) -> ID {
        guard let reader = self else { return standard }
        guard let id = ID.named(try reader.text()) else {
            throw reader.problem(expected: ID.shape.expectation)
        }
        return id
    }

    /// What `make` makes of the text here, or of `standard` where there is none.
    fileprivate func value<Value>(
        standard: String, _ make: (String) -> Value?
    ) throws(InputProblem) -> Value {
        let text = try self?.text() ?? standard
        guard let value = make(text) else {
            throw self?.problem(expected: "a value that can be read")
                ?? InputProblem(
                    file: "study", found: quotedForMessage(standard), expected: "a readable default")
        }
        return value
    }
}
