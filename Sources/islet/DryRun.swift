// What a run would do: subjects × arms × days, and estimates of its time and size.

import Documents
import Records
import Trials

struct DryRun {
    let study: Study
    let studyPath: String
    let jobs: Int
    let shard: Shard
    /// Of a sensitivity analysis, each the whole study once more.
    var variants = 0

    /// Measured on open-and-closed-loop, release build, one core: rough, and said to be.
    static let patientDaysPerSecondAndCore = 2500.0
    static let bytesPerSession = 1500.0

    /// Bytes a patient-day by record level.
    static func bytesPerDay(_ level: RecordLevel) -> Double {
        switch level {
        case .summary: 0
        case .events: 200
        case .full: 26_000
        }
    }

    private func confirmingText(_ sessions: Int) -> String {
        ", of these \(sessions) on seed \(study.confirmSeed ?? 0): the reference and the selected of \(study.candidates.count) arms"
            + (study.confirmedArms > 2 ? ", and those that the margin is measured by" : "")
    }
    static let bytesPerPolicySession = 400.0

    /// Bytes a patient-day and policy in shadow.
    static func shadowBytesPerDay(_ level: RecordLevel) -> Double { level == .summary ? 0 : 500 }

    func print() throws {
        let subjects = try study.cohortSize(studyPath: studyPath)
        try study.checkConfirmation(file: studyPath)
        let confirming = study.confirmSeed == nil || shard != .whole ? 0 : subjects * study.confirmedArms
        let once = shard.subjects(of: subjects) * study.arms.count
        let varied = variants * once
        let sessions = once + confirming + varied
        let days = Double(study.duration.seconds) / 86_400
        let patientDays = Double(sessions) * days
        let seconds = patientDays / Self.patientDaysPerSecondAndCore / Double(jobs)
        // Variants are summed up, not stored.
        let stored = Double(sessions - varied)
        let bytes = stored * (Self.bytesPerSession + days * Self.bytesPerDay(study.record))
        try StandardStream.output.write(
            """
            \(study.name): \(subjects) subjects × \(study.arms.count) arms × \(SummaryText.decimal(days)) days
            sessions        \(sessions) (shard \(shard))\(confirming == 0 ? "" : confirmingText(confirming))\
            \(varied == 0 ? "" : ", of these \(varied) in \(variants) variants of what is assumed about people")
            patient-days    \(SummaryText.decimal(patientDays))
            estimated time  \(SummaryText.decimal(seconds)) s on \(jobs) threads
            estimated size  \(SummaryText.decimal(bytes / 1e6)) MB (record: \(study.record.rawValue))

            """)
        try printShadows(sessions: shard.subjects(of: subjects) * study.arms.count, days: days)
    }

    private func printShadows(sessions: Int, days: Double) throws {
        let listeners = study.shadowPolicies.count
        guard listeners > 0 else { return }
        let bytes =
            Double(listeners * sessions)
            * (Self.bytesPerPolicySession + days * Self.shadowBytesPerDay(study.record))
        try StandardStream.output.write(
            """
            in shadow       \(listeners) \(listeners == 1 ? "policy" : "policies") on each session: \(listeners * sessions) policy sessions, \
            \(SummaryText.decimal(bytes / 1e6)) MB more

            """)
    }
}
