// Step logs on their way out: whole, true to the session, the same bytes each time.

import IsletFiles
import IsletLoop
import IsletDevices
import Foundation
import IsletModels
import IsletKernel
import Testing

@testable import IsletTrials

/// A store that knows no more than an export asks for.
private final class FakeStore: ResultStore {
    let text: String
    var summaries: [SessionSummary]

    init(_ study: Study, sessions: [Int]) throws {
        text = study.yaml
        let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 1)
        let runner = TrialRunner(study: study, subjects: subjects, jobs: 1)
        summaries = try sessions.map { session in
            let record = try runner.run(session)
            return SessionSummary(
                session: session, subjectIndex: record.subjectIndex, subject: record.subject,
                armIndex: record.armIndex, arm: record.arm, end: record.end, days: 1, digest: record.digest,
                events: record.events, outcomes: [:])
        }
    }

    func studyText() -> String { text }
    func finishedSessions() -> Set<Int> { Set(summaries.map(\.session)) }
    func write(_ records: [SessionRecord]) {}
    func forEachSummary(_ body: (SessionSummary) throws -> Void) rethrows { try summaries.forEach(body) }
    func absorb(storeAt path: String) {}
    func close() {}
}

private func study(_ overrides: String...) throws -> Study {
    try Study.parse(
        """
        study: 'small, "quoted"'
        seed: 11
        duration: 12h
        start: 2026-12-31T18:00:00+05:30
        faults: all
        cohort: { generate: { model: uva-padova-2008, group: adult, count: 2 } }
        arms:
          - { name: open-loop, algorithm: basal-bolus, alerts: bionicloop }
          - { name: "closed, loop", algorithm: pid-insulin-feedback, alerts: bionicloop }
        """, file: "small.yaml", overrides: overrides.map { try SetOverride($0) })
}

private func sessions(_ store: FakeStore) throws -> ResultSessions {
    try ResultSessions(store, directory: "folder", jobs: 1)
}

/// RFC 4180, by the book.
private func rows(_ text: String) -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var field = ""
    var isQuoted = false
    var scalars = Array(text.unicodeScalars)[...]
    while let next = scalars.popFirst() {
        switch (next, isQuoted) {
        case ("\"", true) where scalars.first == "\"":
            scalars.removeFirst()
            field += "\""
        case ("\"", _): isQuoted.toggle()
        case (",", false):
            row.append(field)
            field = ""
        case ("\n", false):
            rows.append(row + [field])
            (row, field) = ([], "")
        default: field.unicodeScalars.append(next)
        }
    }
    #expect(!isQuoted && row.isEmpty && field.isEmpty)
    return rows
}

private func cells(_ steps: [LoggedStep]) throws -> [[String: String]] {
    let all = rows(StepFormat.csv.header + steps.map { StepFormat.csv.line($0) + "\n" }.joined())
    let header = try #require(all.first)
    return all.dropFirst().map { row in
        #expect(row.count == header.count)
        return Dictionary(uniqueKeysWithValues: zip(header, row))
    }
}

private func object(_ step: LoggedStep) throws -> [String: Any] {
    let line = StepFormat.jsonl.line(step)
    #expect(!line.contains("\n"))
    return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
}

@Suite("An exported step log")
struct StepExportTests {
    @Test("is that of the session, field by field, in both formats")
    func roundTrip() throws {
        let study = try study()
        let store = try FakeStore(study, sessions: [3])
        let results = try sessions(store)
        let steps = try results.steps(of: results.entries[0])
        let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 1)
        let live = try Session(
            study: study, subject: subjects[1], index: 1, arm: study.arms[1], keepsStepLog: true)
        _ = live.run()
        let log = live.takeStepLog()
        // Half a day; the first step waits for the sensor's first reading.
        #expect(steps.count == 144 && log.count == steps.count && live.takeStepLog().isEmpty)
        let table = try cells(steps)
        for ((step, cell), record) in zip(zip(steps, table), log) {
            #expect(step.record == record)
            #expect(cell["step_id"] == step.id && cell["arm"] == "closed, loop")
            #expect(cell["study"] == "small, \"quoted\"" && cell["subject"] == subjects[1].name)
            #expect(cell["algorithm_time"] == "\(record.algorithmTime)" && cell["session"] == "3")
            #expect(Double(cell["time_s"] ?? "") == Double(record.instant.nanoseconds) / 1e9)
            let time = try #require(ISO8601Time(cell["time"] ?? ""))
            #expect(time.offsetMinutes == 330)
            #expect(
                time.utcMilliseconds
                    == study.start.unixSeconds * 1000 + record.instant.nanoseconds / 1_000_000)
            for (name, value) in [
                ("cgm_mgdl", record.input.cgm?.glucose.milligramsPerDecilitre),
                ("cgm_time_s", record.input.cgm.map { Double($0.instant.nanoseconds) / 1e9 }),
                ("weight_kg", record.input.therapy.bodyWeightKilograms),
                ("announced_carbs_g", record.input.user.meal?.carbohydrate.grams),
                ("insulin_pump_last_requested_u", record.input.insulinPump.lastBolus?.requested.units),
                ("insulin_pump_last_delivered_u", record.input.insulinPump.lastBolus?.delivered.units),
                ("correction_u", record.output.correction.units), ("basal_u", record.output.basal.units),
                ("meal_u", record.output.meal.units), ("requested_u", record.requested?.units),
                ("accepted_u", record.accepted?.units), ("temporary_target_mgdl", nil),
                ("glucagon_pump_last_delivered_u", nil),
            ] {
                #expect(Double(cell[name] ?? "none") == value, "\(name) of \(step.id)")
                if value == nil { #expect(cell[name]?.isEmpty == true) }
            }
            #expect(cell["glucagon_pump_available"] == "false")
            #expect(cell["insulin_pump_available"] == "\(record.input.insulinPump.isAvailable)")
            let json = try object(step)
            #expect(Set(json.keys) == Set(cell.keys))
            for (name, text) in cell {
                switch json[name] {
                case is NSNull: #expect(text.isEmpty, "\(name)")
                case let value as String: #expect(value == text)
                // Number or flag: to the digit, which Foundation's reader doesn't keep.
                case is NSNumber: #expect(StepFormat.jsonl.line(step).contains("\"\(name)\":\(text)"))
                default: Issue.record("\(name): \(String(describing: json[name]))")
                }
            }
        }
    }

    @Test("says what became of each request: what was delivered is what a later step was told")
    func delivered() throws {
        let results = try sessions(try FakeStore(study("faults=none"), sessions: [1]))
        let table = try cells(try results.steps(of: results.entries[0]))
        let asked = table.filter { !($0["requested_u"] ?? "").isEmpty && $0["accepted_u"] != "0" }
        #expect(asked.count > 20)
        for cell in asked.dropLast() { #expect(cell["delivered_u"] == cell["accepted_u"]) }
        for cell in table where cell["requested_u"] == "" {
            #expect(cell["accepted_u"] == "0" && cell["delivered_u"] == "")
        }
    }

    @Test("is the same, ids too, whatever the study records and whenever it is asked")
    func sameBytes() throws {
        var texts: Set<String> = []
        for level in RecordLevel.allCases {
            let results = try sessions(try FakeStore(study("record=\(level.rawValue)"), sessions: [2]))
            for _ in 0..<2 {
                texts.insert(try results.steps(of: results.entries[0]).map(StepFormat.jsonl.line).joined())
            }
        }
        #expect(texts.count == 1)
        let other = try sessions(try FakeStore(study("seed=12"), sessions: [2]))
        let id = try #require(try other.steps(of: other.entries[0]).first?.id)
        #expect(texts.allSatisfy { !$0.contains(id) })
    }

    @Test("quotes what needs it, and writes every field that a step can have")
    func everyField() throws {
        let results = try sessions(try FakeStore(study(), sessions: [0]))
        let step = try #require(try results.steps(of: results.entries[0]).first)
        step.entry.record.input.customFields = ["zone": 7, "a \"b\",\r\nc": 1.5]
        step.entry.record.input.user.bloodGlucose = GlucoseConcentration(milligramsPerDecilitre: 101)
        step.entry.record.input.user.calibration = GlucoseConcentration(milligramsPerDecilitre: 102.5)
        step.entry.record.input.user.manualBolus = InsulinAmount(units: 1.05)
        step.entry.record.input.user.meal = MealAnnouncement(
            carbohydrate: Carbohydrate(grams: 45), instant: Instant(nanoseconds: 6 * Nanoseconds.hour - 1))
        step.entry.record.input.temporaryTarget = GlucoseConcentration(milligramsPerDecilitre: 150)
        step.entry.record.input.basalMultiplier = 0.5
        step.entry.record.input.basalMultiplierStepsLeft = 3
        step.entry.record.input.lastCgmTime = .minutes(-5)
        step.entry.record.requested = InsulinAmount(units: 2)
        step.entry.record.accepted = nil
        step.entry.record.wasUncertain = true
        step.entry.record.pumpError = "commandFailed"
        step.entry.record.failure = "the algorithm's dose is \"nonsense\", twice"
        step.entry.record.output.basal = InsulinAmount(units: .nan)
        let cell = try #require(try cells([step]).first)
        for (name, text) in [
            ("bg_check_mgdl", "101"), ("bg_calibration_mgdl", "102.5"), ("manual_bolus_u", "1.05"),
            ("announced_carbs_g", "45"), ("announced_meal_time", "2026-12-31T23:59:59.999999999+05:30"),
            ("temporary_target_mgdl", "150"), ("basal_multiplier", "0.5"),
            ("basal_multiplier_steps_left", "3"),
            ("last_cgm_time", "2026-12-31T17:55:00+05:30"), ("last_cgm_time_s", "-300"), ("requested_u", "2"),
            ("accepted_u", ""), ("uncertain_u", "2"), ("pump_error", "commandFailed"),
            ("failure", "the algorithm's dose is \"nonsense\", twice"), ("basal_u", ""),
            ("custom_fields", #"{"a \"b\",\r\nc":1.5,"zone":7}"#),
        ] { #expect(cell[name] == text, "\(name)") }
        let fields = try object(step)["custom_fields"] as? [String: Double]
        #expect(fields == ["a \"b\",\r\nc": 1.5, "zone": 7])
        #expect(
            csvField("a\rb") == "\"a\rb\"" && csvField("a\r\nb") == "\"a\r\nb\"" && csvField("a'b") == "a'b")
    }

    @Test("has each column once, with a meaning")
    func columns() {
        let names = StepColumn.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(StepColumn.all.allSatisfy { !$0.meaning.isEmpty })
    }

    @Test("is refused where the session isn't the stored one")
    func mismatch() throws {
        let store = try FakeStore(study(), sessions: [0])
        store.summaries[0].digest = String(repeating: "0", count: 32)
        let results = try sessions(store)
        #expect(throws: DigestMismatch.self) { try results.steps(of: results.entries[0]) }
    }

    @Test("is that of the sessions that are asked for")
    func selection() throws {
        let results = try sessions(try FakeStore(study("duration=5m"), sessions: [0, 1, 3]))
        #expect(try results.entries(session: nil, arm: nil).map(\.session) == [0, 1, 3])
        #expect(try results.entries(session: nil, arm: "closed, loop").map(\.session) == [1, 3])
        #expect(try results.entries(session: 3, arm: nil).map(\.session) == [3])
        for (session, arm) in [(2, nil), (0, "closed, loop"), (nil, "none")] as [(Int?, String?)] {
            #expect(throws: InputError.self) { try results.entries(session: session, arm: arm) }
        }
    }
}
