// What a study may set of a sensor, for all arms or for one, and what that does to the person who wears it.

import IsletDevices
import IsletFiles
import IsletKernel
import IsletModels
import Testing

@testable import IsletTrials

@Suite("A sensor's parameters")
struct SensorParameterTests {
    private func study(_ sensor: String, arms: String = "[{ algorithm: pid-insulin-feedback }]") throws
        -> Study
    {
        try Study.parse(
            """
            duration: 2d
            seed: 4
            record: full
            cohort: { generate: { count: 1 } }
            sensor: \(sensor)
            arms: \(arms)
            """, file: "sensor.yaml")
    }

    private func run(_ study: Study, arm: Int = 0) throws -> SessionOutcome {
        let subjects = try CohortLoader.subjects(of: study, studyPath: "sensor.yaml", jobs: 1)
        return try Session(study: study, subject: subjects[0], index: 0, arm: study.arms[arm]).run()
    }

    @Test("change nothing where they have their default values, and are written where they don't")
    func defaults() throws {
        let bare = try study("vettoretti-2019")
        let digest = try run(bare).digest
        for text in [
            "{ model: vettoretti-2019 }", "{ model: vettoretti-2019, noise: 1, spread: 0.9, offset: 0 }",
        ] {
            #expect(try study(text) == bare && run(study(text)).digest == digest)
        }
        #expect(bare.json.compactText.filter { !$0.isWhitespace }.contains(#""sensor":"vettoretti-2019""#))
        let noisy = try study("{ model: dexcom-g7, noise: 2 }")
        #expect(try Study.parse(noisy.yaml, file: "yaml") == noisy)
        #expect(try Study.parse(noisy.json.compactText, file: "json") == noisy)
        #expect(
            noisy.json.compactText.filter { !$0.isWhitespace }.contains(
                #""sensor":{"model":"dexcom-g7","noise":2,"spread":0.9,"offset":0,"lag":0}"#))
        #expect(try run(study("dexcom-g7")).digest != run(noisy).digest)
    }

    /// Harm: a sensor that reads 30 mg/dL too high hides lows and has the loop dose into them; one that reads too low keeps the person
    /// high. A setting that reached the reading and not the loop would show neither.
    @Test("decide in one arm what its person lives through, and in no other arm")
    func oneArm() throws {
        let study = try study(
            "vettoretti-2019",
            arms: """
                [{ name: as-is }, { name: high, sensor: { model: vettoretti-2019, offset: 30 } },
                 { name: low, sensor: { model: vettoretti-2019, offset: -30 } }, { name: ideal, sensor: ideal }]
                """)
        #expect(try Study.parse(study.yaml, file: "yaml") == study)
        let outcomes = try study.arms.indices.map { try run(study, arm: $0) }
        #expect(try outcomes[0].digest == run(self.study("vettoretti-2019")).digest)
        #expect(try outcomes[3].digest == run(self.study("ideal")).digest)
        let means = try outcomes.map { try #require($0.outcomes["mean_mgdl"]) }
        #expect(means[1] < means[0] - 10 && means[0] + 10 < means[2], "\(means)")
        let shown = try outcomes.map { try #require($0.outcomes["sensor_mean_mgdl"]) }
        // Apart by the offsets, but for what the sensor's own gain makes of means that differ.
        #expect(abs(shown[1] - means[1] - (shown[2] - means[2]) - 60) < 10, "what is shown: \(shown)")
    }

    @Test(
        "that the sensor doesn't have, or not within its range, are refused with their line and the nearest name",
        arguments: [
            ("{ model: ideal, noise: 2 }", "`noise` in sensor", "ideal"),
            ("{ model: breton-2008, spread: 0.5 }", "`spread` in sensor", "noise"),
            ("{ model: vettoretti-2019, nois: 2 }", "the unknown key `nois` in sensor", "`noise`"),
            ("{ model: vettoretti-2019, noise: 5.1 }", "`5.1` at sensor.noise", "5"),
            ("{ model: vettoretti-2019, spread: -0.1 }", "`-0.1` at sensor.spread", "0"),
            ("{ model: vettoretti-2019, offset: .nan }", "`.nan` at sensor.offset", "100"),
            ("{ model: dexcom-g6, lag: -1 }", "`-1` at sensor.lag", "0"),
            ("{ model: breton-2008, lag: 7 }", "`lag` in sensor", "noise"),
            ("{ noise: 2 }", "no `model` at sensor", "model"),
        ])
    func refusals(_ sensor: String, found: String, expected: String) throws {
        let error = try #require(#expect(throws: InputError.self) { try study(sensor) })
        #expect(error.file == "sensor.yaml" && error.line == 5)
        #expect(error.found.hasPrefix(found), "\(error)")
        #expect(error.expected.contains(expected) && !"\(error)".contains("\n"), "\(error)")
    }

    @Test("stand in the row of their sensor, and each reaches the readings", arguments: SensorModel.all)
    func rows(_ kind: SensorModel) throws {
        func shown(_ sensor: TunedSensor) throws -> Double {
            var study = try study("ideal")
            study.sensor = sensor
            return try #require(try run(study).outcomes["sensor_mean_mgdl"])
        }
        #expect(Set(kind.parameters.map(\.name)).count == kind.parameters.count)
        let plain = try shown(TunedSensor(kind))
        for parameter in kind.parameters {
            #expect(parameter.range.contains(parameter.defaultValue) && parameter.name != "model")
            for value in [parameter.range.lowerBound, parameter.range.upperBound] {
                var tuned = TunedSensor(kind)
                let isSet = tuned.set(parameter.name, to: value)
                #expect(isSet)
                let isDefault = value == parameter.defaultValue
                #expect(try (shown(tuned) == plain) == isDefault, "\(parameter.name) \(value)")
            }
            var tuned = TunedSensor(kind)
            for value in [parameter.range.upperBound.nextUp, .nan] {
                let isSet = tuned.set(parameter.name, to: value)
                #expect(!isSet)
            }
        }
    }
}
