// `islet thresholds play`, `test`, `history`: what thresholds come to.

import IsletFiles
import IsletAlerts
import ArgumentParser
import IsletCommands
import IsletResults
import IsletDevices
import IsletKernel

/// `islet thresholds play`
struct ThresholdsPlayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Run values of any subjects against the store's thresholds.",
        discussion: """
            VALUES.csv has the columns time, subject, metric and value; times with their offset, in order, values in the metric's unit. Printed is what would be
            raised, notified, held back and why, and cleared. With --record the alerts are kept in the subjects' history.

            Example:
              islet thresholds play values.csv --store phone.sqlite --record
            """)

    @Argument(help: "The values.", completion: .file(extensions: ["csv"]))
    var values: String

    @OptionGroup var store: ThresholdStoreOption

    @Option(help: ArgumentHelp("How long time runs on after the last value.", valueName: "time"))
    var runOn: String = "0s"

    @Flag(help: "Keep the alerts in the history.")
    var record = false

    func run() throws {
        guard let span = TimeSpan(runOn), span.days <= 7 else {
            throw InputError(
                file: "--run-on", found: quoted(runOn), expected: "a time of up to 7d, such as 8h")
        }
        let kept = try store.open()
        let settings = try kept.settings()
        let permission = try kept.permission()
        let file = try SubjectValuesFile(path: values)
        for value in file.values where settings.subject(value.subject) == nil {
            throw InputError(
                file: values, found: "values of \(value.subject), of whom the store knows nothing",
                expected: oneOf(settings.subjects.map(\.id), meant: value.subject))
        }
        var center = try settings.center(start: file.start, permission: permission)
        let end = file.end.adding(span.nanoseconds)
        let notices = center.run(file.values, until: end)
        func time(_ instant: Instant) -> String {
            utcText(file.start + instant.nanoseconds / Nanoseconds.second)
        }
        var cells: [[String]] = []
        for notice in notices {
            guard let what = Self.words(notice) else { continue }
            cells.append([time(notice.effect.instant), notice.subject, notice.effect.code.rawValue, what])
        }
        try StandardStream.output.write(TextTable.aligned(cells))
        let notified = notices.count { $0.effect.kind == .notify && !$0.isWithheld }
        let withheld = notices.count(where: \.isWithheld)
        let raised = notices.count { $0.effect.kind == .raise }
        var summary = "\(raised) raised, \(notified) notified, \(center.badge) active at the end"
        if withheld > 0 { summary += ", \(withheld) withheld without permission" }
        if center.isQuiet(at: end) { summary += ", quiet hours active" }
        try StandardStream.output.writeLine(summary)
        if record { try kept.record(center.takeHistory() + center.openEpisodes) }
    }

    /// nil for what nobody needs to see.
    private static func words(_ notice: ThresholdCenter.Notice) -> String? {
        let effect = notice.effect
        switch effect.kind {
        case .raise: return "raised, \(effect.severity.name): \(effect.message)"
        case .notify where notice.isWithheld: return "not notified: no permission: \(effect.message)"
        case .notify: return "notified (\(effect.reason.rawValue)): \(effect.message)"
        case .suppress: return "not notified: \(effect.reason.rawValue)"
        case .clear: return "over: \(effect.reason.rawValue)"
        case .update: return "now \(effect.severity.name): \(effect.message)"
        case .wait: return "beyond, waiting"
        case .drop: return "back before its time: \(effect.reason.rawValue)"
        case .withdraw, .route, .refresh, .schedule, .acknowledge, .snooze: return nil
        }
    }
}

/// `islet thresholds test`
struct ThresholdsTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Send a test alert of one threshold.",
        discussion: """
            It is heard in quiet hours too, and listed nowhere. Where nothing can be heard, because the threshold is off or notifications are not allowed, the exit code is 1.

            Example:
              islet thresholds test --store phone.sqlite --subject basil --metric temperature
            """)

    @OptionGroup var store: ThresholdStoreOption
    @OptionGroup var name: ThresholdName

    func run() throws {
        let metric = try name.resolved()
        let kept = try store.open()
        _ = try kept.threshold(name.subject, metric)
        let permission = try kept.permission()
        var center = try kept.settings().center(start: ThresholdStoreOption.clock, permission: permission)
        guard center.testAlert(name.subject, metric, at: .start) else {
            throw CheckFailure(message: "\(name.subject) \(metric.rawValue) is off: nothing would ring")
        }
        _ = center.settle(at: .start)
        guard let request = center.takeRequests().first else {
            throw CheckFailure(message: "test alert withheld. " + (permission.consequence ?? ""))
        }
        try StandardStream.output.writeLine(request.body)
        try StandardStream.output.writeLine(request.deepLink)
    }
}

/// `islet thresholds history`
struct ThresholdsHistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Print the alerts of a subject's timeline, newest first.",
        discussion: """
            Example:
              islet thresholds history --store phone.sqlite --subject basil
            """)

    @OptionGroup var store: ThresholdStoreOption
    @Option(help: ArgumentHelp("Of one subject only.", valueName: "ID"))
    var subject: String?

    func run() throws {
        let history = try store.open().history(of: subject)
        func text(_ value: Double) -> String { JSONValue.numberText(value) }
        let cells = history.map { one in
            [
                utcText(one.raisedAt), one.endedAt.map(utcText) ?? "goes on", one.subject,
                one.metric.rawValue,
                "\(one.side == .low ? "below" : "above") \(text(one.threshold))", text(one.onset),
                text(one.worst),
                text(one.last), one.metric.unit, one.style.rawValue, one.notifiedAt.map(utcText) ?? "never",
            ]
        }
        try StandardStream.output.write(
            TextTable.aligned(
                [
                    [
                        "raised", "ended", "subject", "metric", "threshold", "onset", "worst", "last", "unit",
                        "style", "notified",
                    ]
                ] + cells))
    }
}
