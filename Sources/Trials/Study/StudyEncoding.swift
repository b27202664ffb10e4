// From a study back to text.
//
// Guarantees: every key is written, defaults included; decoding the text gives an equal study; equal studies give
// equal text. JSON is YAML, so the JSON text is itself a study file.

import AlertFiles
import Algorithms
package import Documents
import Alerts
import Physiology
import Records
import SimulatedDevices

extension Study {
    /// The resolved study, keys in the order of the shape: what a manifest holds.
    package var json: JSONValue {
        .object([
            .init("study", .string(name)),
            .init("seed", .unsigned(seed)),
            .init("start", .string(start.text)),
            .init("duration", .string(duration.description)),
            .init("cohort", cohort.json),
            .init("sensor", .string(sensor.model.id)),
            .init("pump", .string(pump.device.id)),
            .init("scenario", .object([.init("meals", scenario.meals.json)])),
            .init("faults", faults.json),
            .init("record", .string(record.rawValue)),
            .init("arms", .array(arms.map(\.json))),
            .init("compare", reference.map { .object([.init("reference", .string($0))]) } ?? .string("none")),
        ])
    }

    /// The resolved study as a study file.
    public var yaml: String { yamlText(json) }
}

extension Study.Cohort {
    fileprivate var json: JSONValue {
        switch self {
        case .generate(let model, let group, let count):
            let drawn: [JSONValue.Member] = [
                .init("model", .string(model.id)), .init("group", .string(group.rawValue)),
                .init("count", .unsigned(UInt64(count))),
            ]
            return .object([.init("generate", .object(drawn))])
        case .table(let path, let model, let subjects, let derived):
            var members: [JSONValue.Member] = [
                .init("table", .string(path)), .init("model", .string(model.id)),
                .init("derived", .string(derived.rawValue)),
            ]
            if let subjects { members.append(.init("subjects", .array(subjects.map { .string($0) }))) }
            return .object(members)
        }
    }
}

extension Study.Arm {
    fileprivate var json: JSONValue {
        .object([
            .init("name", .string(name)), .init("algorithm", algorithm.json),
            .init("alerts", alerts.presetName.map { .string($0) } ?? alerts.json),
        ])
    }
}

extension MealPlan {
    fileprivate var json: JSONValue {
        if case .list(let entries) = self {
            return .array(
                entries.map {
                    .object([.init("at", .string($0.time.description)), .init("carbs", .number($0.grams))])
                })
        }
        return .string(MealPlan.named.first { $0.plan == self }?.name ?? "none")
    }
}

extension AlertPolicy {
    /// The name of the preset that this is, where it is one.
    fileprivate var presetName: String? {
        guard let preset = AlertPreset(rawValue: name), (try? preset.policy()) == self else { return nil }
        return name
    }
}
