// What a run would do: subjects × arms × days, and estimates of its time and size, from a few sessions lived as a sample.
//
// Guarantees: writes nothing; people who listen in shadow, hidden listeners of sole causes and what is kept of them are in both estimates.

import IsletCommands
import IsletFiles
import IsletDevices
import IsletTrials

struct DryRun {
    let study: Study
    let studyPath: String
    let jobs: Int
    let shard: Shard
    /// How many variants a sensitivity analysis has, each the whole study once more.
    var variants = 0

    private func confirmingText(_ sessions: Int) -> String {
        ", of these \(sessions) on seed \(study.confirmSeed ?? 0): the reference and \(study.selects == .front ? "at most all" : "the selected") of \(study.candidates.count) arms"
            + (study.confirmedArms > 2 ? ", and those that the margin is measured by" : "")
    }

    func print() throws {
        let subjects = try study.cohortSize(studyPath: studyPath)
        try study.checkConfirmation(file: studyPath)
        let confirming = study.confirmSeed == nil || shard != .whole ? 0 : subjects * study.confirmedArms
        let own = shard.subjects(of: subjects, group: study.block).reduce(0) { $0 + $1.count }
        let once = own * study.arms.count
        let varied = variants * once
        let sessions = once + confirming + varied
        let days = Double(study.duration.seconds) / 86_400
        let patientDays = Double(sessions) * days
        let cost = try RunCost(of: study, studyPath: studyPath, subjects: subjects)
        let seconds =
            (cost.work(sessions: sessions).seconds
                + cost.preparationSeconds(subjects: own)) / Double(jobs)
        // Variants are summed up, not stored.
        let bytes = cost.bytes(sessions: sessions - varied)
        try StandardStream.output.write(
            """
            \(study.name): \(subjects) subjects × \(study.arms.count) arms × \(SummaryText.decimal(days)) days
            sessions        \(sessions) (shard \(shard))\(confirming == 0 ? "" : confirmingText(confirming))\
            \(varied == 0 ? "" : ", of these \(varied) in \(variants) variants of what is assumed about people")
            patient-days    \(SummaryText.decimal(patientDays))
            estimated time  \(SummaryText.decimal(seconds)) s on \(jobs) threads, within a factor of 2 where a core is as fast as ours
            estimated size  \(SummaryText.decimal(bytes / 1e6)) MB (record: \(study.record.rawValue))

            """)
        try printShadows(sessions: once)
    }

    private func printShadows(sessions: Int) throws {
        let listeners = study.shadowPolicies.count
        guard listeners > 0 else { return }
        try StandardStream.output.write(
            """
            in shadow       \(listeners) \(listeners == 1 ? "policy" : "policies") on each session: \(listeners * sessions) policy sessions

            """)
    }
}
