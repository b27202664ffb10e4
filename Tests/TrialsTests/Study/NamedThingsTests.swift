// What a study names is what a session gets: sensor, pump, model.

import IsletFiles
import IsletDevices
import IsletModels
import IsletKernel
import Testing

@testable import IsletTrials

@Suite("What a study names")
struct NamedThingsTests {
    private func study(_ overrides: String...) throws -> Study {
        try Study.parse(
            """
            seed: 5
            duration: 1d
            cohort: { generate: { count: 1 } }
            arms: [{}]
            """, file: "s.yaml", overrides: overrides.map { try SetOverride($0) })
    }

    private func session(_ study: Study) throws -> Session {
        let subjects = try CohortLoader.subjects(of: study, studyPath: "s.yaml", jobs: 1)
        return try Session(study: study, subject: subjects[0], index: 0, arm: study.arms[0])
    }

    @Test(
        "is the pump of the session: its limits hold for every bolus, and for the basal rate of the therapy")
    func pumpIsUsed() throws {
        var study = try study("record=full", "sensor=ideal")
        let usual = try session(study)
        #expect(usual.run().end == .completed)
        let largest = try #require(usual.recorder.deliveries.map(\.units).max())
        #expect(largest > 2)
        study.pump.device.largestBolus = InsulinAmount(units: 1)
        study.pump.device.largestBasal = InsulinRate(unitsPerHour: 0.3)
        let small = try session(study)
        #expect(small.pump.device == study.pump.device)
        #expect(small.run().end == .completed)
        let doses = small.recorder.deliveries
        #expect(doses.count > 200)
        #expect(doses.allSatisfy { $0.units <= 1 })
        #expect(study.pump != (try self.study()).pump)
    }

    @Test("is the model that people are drawn of; a model without people is refused, and told which has some")
    func generateModelIsUsed() throws {
        #expect(try study("cohort.generate.model=uva-padova-2008").cohort.model == .uvaPadova2008)
        let text = "cohort:\n  generate:\n    model: hovorka-2004\narms: [{}]\n"
        let problem = try #require(refusal(of: text))
        #expect(problem.line == 3)
        #expect(problem.found == "`hovorka-2004` at cohort.generate.model")
        #expect(problem.expected == "a model that people can be drawn of: uva-padova-2008")
        #expect(throws: CohortError.noDraw(.hovorka2004)) {
            var stream = RandomStreams(seed: 1, subject: 0).stream("cohort")
            _ = try CohortGenerator(model: .hovorka2004, group: .adult).subject(0, using: &stream)
        }
    }

    @Test(
        "is refused where nobody knows it, with its line and the nearest name",
        arguments: [
            ("sensor: dexcom-g8", "sensor", "dexcom-g6"), ("pump: omnipd", "pump", "omnipod"),
            (
                "cohort: { generate: { model: uva-padova-2009 } }", "cohort.generate.model", "uva-padova-2008"
            ),
            ("cohort: { table: t.csv, model: hovorka-2014 }", "cohort.model", "hovorka-2004"),
        ])
    func unknownIsRefused(line: String, key: String, nearest: String) throws {
        let cohort = line.hasPrefix("cohort") ? "" : "cohort: { generate: {} }"
        let problem = try #require(refusal(of: "seed: 1\n\(line)\n\(cohort)\narms: [{}]\n"))
        #expect(problem.line == 2)
        #expect(problem.found.hasSuffix("at \(key)"))
        #expect(problem.expected.contains("`\(nearest)`"), "\(problem.expected)")
    }

    @Test("may be any model for a table's people, and they live through a day of closed loop with it")
    func everyModelOfATable() throws {
        let people: [ModelParameters] = [
            ModelParameters(Hovorka2004Parameters()), ModelParameters(HovorkaWilinskaParameters()),
            ModelParameters(MedtronicVirtualPatientParameters()),
        ]
        for parameters in people {
            let kind = parameters.kind
            let text =
                (["Name"] + kind.columns.map(\.name)).joined(separator: ",") + "\n"
                + (["one"] + parameters.values.map { "\($0)" }).joined(separator: ",") + "\n"
            let study = try study("cohort={table: t.csv, model: \(kind.id)}")
            #expect(study.cohort.model == kind)
            let table = try ParameterTable(text, file: "t.csv", model: study.cohort.model)
            let subject = try VirtualSubject(table.entries[0])
            let outcome = try Session(study: study, subject: subject, index: 0, arm: study.arms[0]).run()
            #expect(outcome.end == .completed, "\(kind.id)")
            #expect(try #require(outcome.outcomes["mean_mgdl"]) > 60, "\(kind.id)")
        }
    }

    @Test("has a row with everything that explains it")
    func rowsAreComplete() {
        func check<Row: Listed>(_: Row.Type, _ source: (Row) -> String) {
            #expect(Set(Row.all.map(\.id)).count == Row.all.count)
            for row in Row.all {
                #expect(Row.named(row.id) == row)
                #expect(!row.summary.isEmpty && !source(row).isEmpty, "\(row.id)")
            }
        }
        check(SensorModel.self, \.source)
        check(PumpDevice.self, \.source)
        check(ModelKind.self, \.source)
    }
}
