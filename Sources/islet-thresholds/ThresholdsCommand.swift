// `islet thresholds`: an owner's thresholds, in a store on this device.

import IsletFiles
import IsletAlerts
import ArgumentParser
import Foundation
import Glibc
import IsletResults
import IsletDevices

/// `islet thresholds`
struct ThresholdsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thresholds",
        abstract: "Keep an owner's thresholds of any subject and metric; play values against them.",
        discussion: """
            A store is one SQLite file: one owner's subjects, thresholds and quiet hours on one device, and the subjects' history. `islet-live sync` brings several
            devices of one owner together. docs/thresholds.md tells the story.
            """,
        subcommands: [
            ThresholdsInitCommand.self, ThresholdsSubjectCommand.self, ThresholdsSetCommand.self,
            ThresholdsListCommand.self, ThresholdsDisableCommand.self, ThresholdsEnableCommand.self,
            ThresholdsRemoveCommand.self, ThresholdsQuietHoursCommand.self, ThresholdsPermissionCommand.self,
            ThresholdsRecommendedCommand.self, ThresholdsTestCommand.self, ThresholdsPlayCommand.self,
            ThresholdsHistoryCommand.self, ThresholdsExportCommand.self,
        ])
}

/// `--store FILE`, for all of them.
struct ThresholdStoreOption: ParsableArguments {
    @Option(help: ArgumentHelp("The store.", valueName: "FILE"), completion: .file())
    var store: String

    func open() throws -> SQLiteOwnerStore { try SQLiteOwnerStore(path: store) }

    /// What this device's clock shows, seconds since 1970.
    static var clock: Int64 { Int64(Date().timeIntervalSince1970) }
}

/// `--subject ID --metric M`
struct ThresholdName: ParsableArguments {
    @Option(help: ArgumentHelp("The subject's id.", valueName: "ID"))
    var subject: String

    @Option(
        help: ArgumentHelp(
            "\(AlertMetric.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "M"),
        completion: .list(AlertMetric.allCases.map(\.rawValue)))
    var metric: String

    func resolved() throws -> AlertMetric {
        try AlertSubject.check(id: subject)
        return try metricNamed(metric)
    }
}

func metricNamed(_ text: String) throws -> AlertMetric {
    if let metric = AlertMetric(rawValue: text) { return metric }
    let known = AlertMetric.allCases.map(\.rawValue)
    let meant = nearest(to: text, among: known).map { " (nearest: \($0))" } ?? ""
    throw InputError(
        file: "--metric", found: quoted(text), expected: "one of \(known.joined(separator: ", "))\(meant)")
}

extension SQLiteOwnerStore {
    func settings() throws -> OwnerSettings { OwnerSettings(try ledger()) }

    /// The threshold that is named.
    func threshold(_ subject: String, _ metric: AlertMetric) throws -> AlertThreshold {
        let settings = try settings()
        if let found = settings.thresholds(of: subject).first(where: { $0.metric == metric }) { return found }
        let known = settings.thresholds.map { "\($0.subject) \($0.metric.rawValue)" }
        throw InputError(
            file: "\(subject) \(metric.rawValue)", found: "no threshold",
            expected: known.isEmpty
                ? "one that `islet thresholds set` made" : "one of \(known.joined(separator: ", "))"
        )
    }

    /// Asks whoever sits here, once: at the first set-up. Without a terminal it stays unasked, and says so.
    func askPermission() throws {
        guard try permission() == .notAsked else { return }
        if isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 {
            try StandardStream.output.write("May Islet notify you of alerts on this device? [y/N] ")
            let answer = readLine()?.lowercased() ?? ""
            try set(answer == "y" || answer == "yes" ? .allowed : .denied)
        }
        if let line = try permission().consequence { try StandardStream.output.writeLine(line) }
    }
}

extension NotificationPermission {
    /// What comes of it; nil where all is well.
    var consequence: String? {
        switch self {
        case .allowed: nil
        case .denied:
            "Notifications are denied: alerts are listed and kept, and nobody is woken. `islet thresholds permission --allow` changes it."
        case .notAsked:
            "Notifications are not allowed yet: nobody is woken. `islet thresholds permission --allow` allows them."
        }
    }
}
