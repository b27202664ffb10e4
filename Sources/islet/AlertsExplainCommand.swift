// `islet alerts explain DIR --session K --alert N`: the chain of decisions behind one alert.

import IsletFiles
import IsletAlerts
import ArgumentParser
import IsletCommands
import Foundation
import IsletResults
import IsletDevices
import IsletKernel
import IsletTrials

/// `islet alerts explain`
struct AlertsExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Run one session of a study again and tell how one of its alerts came about.",
        discussion: """
            The session is run again, its digest compared with the stored one, and everything that led to the alert is
            printed: readings, what the rule saw, what was raised, who was notified or why not, the pump's state, and the true
            fault behind it. Alerts have the numbers that `islet replay` prints too.

            Examples:
              islet alerts explain results/quickstart --session 3 --list
              islet alerts explain results/quickstart --session 3 --alert 1
              islet alerts explain results/quickstart --session 3 --alert 1 --units mmol/L
            """)

    @Argument(help: "A study's output directory.", completion: .directory)
    var directory: String

    @Option(help: "The session's index, as in sessions.csv.")
    var session: Int

    @Option(help: "Which alert of the session, from 1.")
    var alert: Int = 1

    @Flag(help: "List the session's alerts with their numbers instead.")
    var list = false

    @Option(help: "The alerts of this policy, which listened in shadow, in place of the arm's own.")
    var policy: String?

    @Option(help: "The study file, where its cohort's table is relative to it.")
    var study: String?

    @OptionGroup var algorithms: AlgorithmPermission

    @OptionGroup var units: GlucoseUnits

    func run() throws {
        let folder = ResultFolder(path: directory)
        let store = try StudyStore(readingAt: folder.storePath)
        try folder.tellIfIncomplete()
        let sessions = try ResultSessions(
            store, directory: directory, studyPath: study, jobs: ProcessInfo.processInfo.activeProcessorCount,
            allowsAlgorithms: algorithms.isGiven)
        guard let stored = try sessions.entries(session: session, arm: nil).first else { return }
        let (subject, arm) = try sessions.subjectAndArm(of: stored)
        let shadow = try policy.flatMap { try sessions.policy($0, in: arm) }
        let told = try AlertExplanation(
            sessions.study, subject: subject, index: stored.subjectIndex, arm: arm, policy: shadow,
            unit: units.unit)
        let digest = told.digest.description
        guard digest == stored.digest else {
            throw CheckFailure(
                message:
                    "session \(session): digest \(digest) differs from the stored \(stored.digest), so these are not its "
                    + "alerts; `islet replay` tells where they part")
        }
        try StandardStream.output.writeLine(
            "session \(session): \(stored.subject) in \(stored.arm), policy "
                + (shadow.map { "\($0.name), in shadow" } ?? arm.alerts.name))
        for line in list ? told.table : try lines(told) { try StandardStream.output.writeLine(line) }
        try StandardStream.output.writeLine("digest \(digest), equal to the stored one")
    }

    private func lines(_ told: AlertExplanation) throws -> [String] {
        guard let lines = told.lines(of: alert) else {
            throw InputError(
                file: directory, found: "alert \(alert) of session \(session)",
                expected: told.episodes.isEmpty
                    ? "a session with alerts" : "an alert from 1 to \(told.episodes.count)")
        }
        return lines
    }
}
