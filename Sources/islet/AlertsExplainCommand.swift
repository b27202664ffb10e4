// `islet alerts explain DIR --session K --alert N`: the chain of decisions behind one alert.

import Alerts
import ArgumentParser
import Foundation
import Persistence
import Records
import SessionTime
import SimulationKernel
import Trials

/// `islet alerts explain`
struct AlertsExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Run one session of a study again and tell how one of its alerts came about.",
        discussion: """
            The session is run again, its digest compared with the stored one, and everything that led to the alert is
            printed: readings, what began to wait, what was raised, who was notified or why not.

            Example:
              islet alerts explain results/quickstart --session 3 --alert 1
            """)

    @Argument(help: "A study's output directory.", completion: .directory)
    var directory: String

    @Option(help: "The session's index, as in sessions.csv.")
    var session: Int

    @Option(help: "Which raise of the session, from 1.")
    var alert: Int = 1

    @Option(help: "The study file, where its cohort's table is relative to it.")
    var study: String?

    func run() throws {
        let folder = ResultFolder(path: directory)
        let store = try StudyStore(readingAt: folder.storePath)
        var plan = try Study.parse(try store.studyText(), file: directory)
        plan.record = .full
        let subjects = try CohortLoader.subjects(
            of: plan, studyPath: study ?? "", jobs: ProcessInfo.processInfo.activeProcessorCount)
        let sessions = subjects.count * plan.arms.count
        guard (0..<sessions).contains(session) else {
            throw InputProblem(
                file: directory, found: "session \(session)", expected: "a session from 0 to \(sessions - 1)")
        }
        let (index, armIndex) = (session / plan.arms.count, session % plan.arms.count)
        let live = try Session(study: plan, subject: subjects[index], index: index, arm: plan.arms[armIndex])
        let digest = live.run().digest.description
        var stored: String?
        try store.forEachSummary { if $0.session == session { stored = $0.digest } }
        let alerts = live.recorder.alerts
        let raises = alerts.indices.filter { alerts[$0].effect == "raise" }
        guard raises.indices.contains(alert - 1) else {
            throw InputProblem(
                file: directory, found: "alert \(alert) of session \(session)",
                expected: raises.isEmpty ? "a session with alerts" : "an alert from 1 to \(raises.count)")
        }
        try print(live.recorder, raise: raises[alert - 1], of: plan.arms[armIndex].alerts.name)
        let verdict = stored.map { $0 == digest ? "equal to the stored one" : "NOT the stored one (\($0))" }
        try StandardStream.output.writeLine("digest \(digest), \(verdict ?? "none stored")")
    }

    private func print(_ recorder: SessionRecorder, raise: Int, of policy: String) throws {
        let alerts = recorder.alerts
        let code = alerts[raise].code
        // From the end of the episode before, to the end of this one.
        let before = alerts[..<raise].lastIndex { $0.code == code && $0.effect == "clear" }
        let after = alerts[raise...].firstIndex { $0.code == code && $0.effect == "clear" }
        let end = after.map { alerts[$0].instant } ?? alerts[raise].instant.adding(30 * Span.minute)
        var lines: [(instant: Instant, rank: Int, text: String)] = []
        let from = alerts[raise].instant.adding(-45 * Span.minute)
        for row in alerts[((before ?? -1) + 1)...] where row.code == code && row.instant <= end {
            lines.append((row.instant, 2, "\(row.effect) \(row.code), \(row.severity): \(row.reason)"))
        }
        for row in recorder.readings
        where row.instant >= from && row.instant <= min(end, alerts[raise].instant) {
            lines.append((row.instant, 0, "reading \(Int(row.mgdl.rounded())) mg/dL"))
        }
        for row in recorder.person where row.instant >= from && row.instant <= end {
            lines.append((row.instant, 1, "\(row.kind.rawValue) \(row.amount)"))
        }
        try StandardStream.output.writeLine("session \(session), alert \(alert): \(code), policy \(policy)")
        for line in lines.sorted(by: { ($0.instant, $0.rank) < ($1.instant, $1.rank) }) {
            let span = TimeSpan(nanoseconds: max(0, line.instant.nanoseconds))
            let text = String(repeating: " ", count: max(0, 12 - span.description.count)) + span.description
            try StandardStream.output.writeLine("\(text)  \(line.text)")
        }
    }
}
