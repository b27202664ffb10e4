// Tables of a study's sessions on their way out: the truth, from which outcomes can be computed again, and all others.

import IsletFiles
import IsletLoop
import IsletDevices
import Foundation
import IsletKernel
import Testing

@testable import IsletTrials

private func study(_ overrides: String...) throws -> Study {
    try Study.parse(
        """
        study: tables
        seed: 11
        duration: 2d
        start: 2026-12-31T18:00:00+05:30
        faults: all
        record: full
        cohort: { generate: { model: uva-padova-2008, group: adult, count: 2 } }
        arms:
          - { name: open-loop, algorithm: basal-bolus, alerts: bionicloop }
          - { name: closed-loop, algorithm: pid-insulin-feedback, alerts: dexcom-g7 }
        """, file: "small.yaml", overrides: overrides.map { try SetOverride($0) })
}

private func run(_ study: Study, _ session: Int) throws -> SessionRecord {
    let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 1)
    return try TrialRunner(study: study, subjects: subjects, jobs: 1).run(session)
}

private func entry(_ record: SessionRecord) -> ResultSessions.Entry {
    ResultSessions.Entry(
        session: record.session, subjectIndex: record.subjectIndex, subject: record.subject,
        armIndex: record.armIndex, arm: record.arm, digest: record.digest)
}

private func rerun(_ study: Study, _ record: SessionRecord) throws -> SessionRerun {
    let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 1)
    return SessionRerun(
        study: study, subject: subjects[record.subjectIndex], arm: study.arms[record.armIndex],
        origin: LoggedStep.Origin(
            study: study.name, key: "key", session: entry(record), calendar: study.start.calendar))
}

private func lines(_ text: SpooledText) throws -> [String] {
    var lines: [String] = []
    while let line = try text.nextLine() { lines.append(line) }
    return lines
}

@Suite("A table of a study's sessions")
struct TableExportTests {
    @Test("of the truth has what every glucose outcome can be computed from again, to the last bit")
    func outcomesFromTruth() throws {
        for session in 0..<4 {
            let study = try study(session < 2 ? "duration=2d" : "duration=53h7m")
            let record = try run(study, session)
            let rows = record.recorder.truth
            #expect(rows.count == (session < 2 ? 577 : 638))
            #expect(rows.first?.instant == .start && rows[1].instant == .minutes(5))
            let trace = try GlucoseTrace(
                every: 300_000, from: study.start.calendar.startOfDayOffset / 1_000_000,
                mgdl: rows.map(\.plasmaMgdl))
            let metrics = GlucoseMetrics(trace)
            for key in GlucoseMetricKey.allCases {
                #expect(metrics[key] == record.outcomes[key.rawValue], "\(key)")
            }
        }
    }

    @Test("of the truth says what the sensor measured, and what of that nobody saw")
    func sensorBesideTruth() throws {
        let record = try run(try study("faults={signal-loss: {rate: 5}}"), 1)
        let rows = record.recorder.truth
        let readings = Dictionary(
            record.recorder.readings.map {
                (($0.instant.nanoseconds + 5 * Nanoseconds.minute - 1) / (5 * Nanoseconds.minute), $0)
            }
        ) { $1 }
        var late = 0
        for (slot, row) in rows.enumerated() {
            let reading = readings[Int64(slot)]
            #expect(row.sensorMgdl == reading?.mgdl)
            #expect(row.isBackfilled == (reading?.backfilledAt != nil))
            late += row.isBackfilled ? 1 : 0
        }
        #expect(late > 10 && rows.filter { $0.sensorMgdl != nil && !$0.isBackfilled }.count > 300)
    }

    @Test("is there at full only, and no level changes the session")
    func levels() throws {
        let records = try RecordLevel.allCases.map { try run(try study("record=\($0.rawValue)"), 3) }
        #expect(records.map(\.recorder.truth.isEmpty) == [true, true, false])
        #expect(Set(records.map(\.digest)).count == 1)
        #expect(records.allSatisfy { $0.recorder.sensorTrace.isEmpty })
    }

    @Test("has every row that a run at full recorded, in both formats, whatever the study records")
    func everyRow() throws {
        let study = try study()
        let record = try run(study, 1)
        let rows = record.recorder
        var small = study
        small.record = .summary
        let rerun = try rerun(small, record)
        for (table, count) in [
            (ExportTable.readings, rows.readings.count), (.truth, rows.truth.count),
            (.alertEffects, rows.alerts.count),
            (.events, rows.person.count + rows.faults.count), (.deliveries, rows.deliveries.count),
            (.steps, rows.steps.count),
        ] {
            #expect(count > 0, "\(table)")
            for format in StepFormat.allCases {
                let (text, days) = try rerun.text(table, format) { false }
                #expect(text.lines == count, "\(table)")
                #expect(days == 2)
                let found = try lines(text)
                #expect(found.count == count)
                switch format {
                case .csv:
                    let width = table.columns.count
                    #expect(table.header(.csv).split(separator: ",").count == width)
                    #expect(
                        table == .alertEffects
                            || found.allSatisfy {
                                $0.split(separator: ",", omittingEmptySubsequences: false).count == width
                            })
                case .jsonl:
                    for line in found {
                        let object = try #require(
                            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                        #expect(Set(object.keys) == Set(table.columns.map(\.name)))
                    }
                }
            }
        }
        let (truth, _) = try rerun.text(.truth, .csv) { false }
        for (line, row) in zip(try lines(truth), rows.truth) {
            let cells = line.split(separator: ",", omittingEmptySubsequences: false)
            #expect(cells[..<6].map(String.init) == ["tables", "1", "0", record.subject, "1", "closed-loop"])
            #expect(cells[6] == study.start.calendar.iso8601(at: row.instant))
            #expect(Double(cells[8]) == row.plasmaMgdl && Double(cells[9]) == row.sensorMgdl)
        }
    }

    @Test("of steps is the same in pieces and copied sections as row by row, over weeks of faults")
    func stepsInPieces() throws {
        let study = try study(
            "duration=16d",
            "faults={command-failure: true, uncertain-delivery: true, pump-outage: true, signal-loss: true, occlusion: true}"
        )
        for session in 0..<2 {
            let record = try run(study, session)
            let rerun = try rerun(study, record)
            let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 1)
            let whole = try Session(
                study: study, subject: subjects[0], index: 0, arm: study.arms[session], keepsStepLog: true)
            _ = whole.run()
            let log = whole.takeStepLog()
            var delivered: [Int64: Double] = [:]
            for step in log {
                if let bolus = step.input.insulinPump.lastBolus {
                    delivered[bolus.id] = bolus.delivered.units
                }
            }
            for format in StepFormat.allCases {
                let found = try lines(try rerun.text(.steps, format) { false }.0)
                #expect(found.count == log.count)
                for (line, step) in zip(found, log) {
                    let logged = LoggedStep(
                        origin: rerun.origin, record: step, deliveredUnits: delivered[step.requestID])
                    #expect(line == format.line(logged))
                }
            }
        }
    }

    @Test("is refused where the session isn't the stored one, and ends where it is interrupted")
    func refused() throws {
        let study = try study()
        var record = try run(study, 0)
        let good = try rerun(study, record)
        record.digest = String(repeating: "0", count: 32)
        let bad = try rerun(study, record)
        for table in ExportTable.allCases {
            #expect(throws: DigestMismatch.self) { try bad.text(table, .csv) { false } }
            #expect(throws: CancellationError.self) { try good.text(table, .csv) { true } }
        }
    }

    /// `alerts` are tallies in a results' store, and were effects here.
    @Test("is found by its name, and effects by their older one")
    func names() {
        for table in ExportTable.allCases { #expect(ExportTable(named: table.rawValue) == table) }
        #expect(ExportTable(named: "alerts") == .alertEffects)
        #expect(ExportTable.alertEffects.rawValue == "alert-effects" && ExportTable(named: "alert") == nil)
    }

    @Test("has each column once, with a meaning")
    func columns() {
        for table in ExportTable.allCases {
            let names = table.columns.map(\.name)
            #expect(Set(names).count == names.count && table.columns.allSatisfy { !$0.meaning.isEmpty })
        }
    }
}
