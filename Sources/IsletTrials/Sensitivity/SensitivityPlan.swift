// The studies of a sensitivity analysis: the assumed settings of its people, one at a time and all together.
//
// Guarantees: a pure function of the study. Arms, cohort, seed and luck stay; each setting moves in every arm from that arm's own value, and a variant that would
// change nobody is left out. In `life` whose habits announce, people announce by the same habits as settings of their own, so that these are varied too.
// Does not: vary what is published, or what isn't the person's.

import IsletPeople
package import IsletDevices
import IsletKernel
import IsletLoop

package struct SensitivityPlan: Sendable {
    package enum Direction: String, Sendable {
        case low, high
        /// All settings at once: at their low values, at their high ones, each anywhere between.
        case allLow = "all_low"
        case allHigh = "all_high"
        case joint
    }

    package struct Variant: Sendable {
        /// The name of the setting; empty for all.
        package var setting: String
        package var direction: Direction
        /// The number of the draw of `joint`, from 1; 0 for other kinds.
        package var draw = 0
        package var study: Study

        package var name: String {
            switch direction {
            case .low, .high: "\(setting) \(direction.rawValue)"
            case .allLow: "all low"
            case .allHigh: "all high"
            case .joint: "all, draw \(draw)"
            }
        }
    }

    /// How many times all settings are drawn together.
    package static let draws = 8

    package let study: Study
    package let variants: [Variant]

    /// - Throws: `InputError` for a study in which nothing can be asked.
    package init(_ study: Study, file: String) throws(InputError) {
        func problem(_ found: String, _ expected: String) -> InputError {
            InputError(file: file, found: found, expected: expected)
        }
        guard !study.primary.isEmpty else {
            throw problem(
                "no `primary`", "`primary:` with the outcomes whose ranking of arms --sensitivity asks for")
        }
        guard study.arms.count > 1 else {
            throw problem("one arm", "two arms or more for --sensitivity to rank")
        }
        guard study.arms.contains(where: { study.person(in: $0) != nil }) else {
            throw problem("no `person`", "a `person:` whose assumed settings --sensitivity can vary")
        }
        var base = study
        base.record = .summary
        for index in base.arms.indices {
            guard var person = study.person(in: study.arms[index]) else { continue }
            if person.announcing == .scenario, let habits = study.scenario.life?.habits {
                person.announce(by: habits)
            }
            base.arms[index].person = .somebody(person)
        }
        self.study = study
        var variants: [Variant] = []
        for row in PersonSettings.rows {
            for direction in [Direction.low, .high] {
                let varied = base.varying { $0.name == row.name ? direction == .low ? 0 : 1 : nil }
                guard varied != base else { continue }
                variants.append(Variant(setting: row.name, direction: direction, study: varied))
            }
        }
        for (direction, place) in [(Direction.allLow, 0.0), (.allHigh, 1)] {
            variants.append(Variant(setting: "", direction: direction, study: base.varying { _ in place }))
        }
        for draw in 1...Self.draws {
            var places: [String: Double] = [:]
            var numbers = RandomStreams(seed: study.seed, subject: 0).stream(
                "sensitivity", index: UInt64(draw))
            for row in PersonSettings.rows { places[row.name] = numbers.uniform() }
            variants.append(
                Variant(
                    setting: "", direction: .joint, draw: draw, study: base.varying { places[$0.name] }))
        }
        self.variants = variants
    }
}

extension Study {
    /// With each arm's assumed settings at a place between their low (0) and their high (1) value; nil leaves a setting.
    fileprivate func varying(_ place: (PersonSetting) -> Double?) -> Study {
        var varied = self
        for index in arms.indices {
            guard let person = person(in: arms[index]) else { continue }
            var settings = person
            let isBesideLoop = arms[index].algorithm.kind.lowersHighs
            for row in PersonSettings.rows where row.isVaried(in: person, isBesideLoop: isBesideLoop) {
                guard let place = place(row) else { continue }
                let (low, high) = row.alternatives(to: person[keyPath: row.path])
                settings[keyPath: row.path] = low + place * (high - low)
            }
            // Nobody's latest comes before their earliest.
            settings.counting.latestLate = max(settings.counting.latestLate, settings.counting.earliestLate)
            varied.arms[index].person = .somebody(settings)
        }
        return varied
    }
}
