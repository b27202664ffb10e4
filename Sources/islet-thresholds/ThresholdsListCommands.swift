// `islet thresholds list`, `enable`, `disable`, `remove`, `export`.

import IsletFiles
import IsletAlerts
import ArgumentParser
import IsletCommands
import IsletResults
import IsletDevices
import IsletKernel

/// `islet thresholds list`
struct ThresholdsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List thresholds, quiet hours, and what other devices have not heard yet.",
        discussion: """
            Example:
              islet thresholds list --store phone.sqlite
            """)

    @OptionGroup var store: ThresholdStoreOption
    @Option(help: ArgumentHelp("Of one subject only.", valueName: "ID"))
    var subject: String?

    func run() throws {
        let kept = try store.open()
        let ledger = try kept.ledger()
        let settings = OwnerSettings(ledger)
        let wanted = settings.thresholds.filter { subject == nil || $0.subject == subject }
        var cells = [
            [
                "subject", "name", "metric", "min", "max", "unit", "on", "sensitivity", "critical",
                "recommended", "set on",
            ]
        ]
        func text(_ value: Double?) -> String { value.map(JSONValue.numberText) ?? "-" }
        for one in wanted {
            let critical = one.sides(name: "").compactMap { rule in
                rule.criticalBelow.map { "< \(text($0))" } ?? rule.criticalAbove.map { "> \(text($0))" }
            }
            let row = ledger.row(OwnerSetting.key(one.subject, one.metric))
            cells.append([
                one.subject, settings.subject(one.subject)?.name ?? one.subject, one.metric.rawValue,
                text(one.min), text(one.max), one.metric.unit, one.isEnabled ? "on" : "off",
                one.sensitivityText, critical.isEmpty ? "-" : critical.joined(separator: ", "),
                settings.recommended(one).map {
                    "\(text($0.range.lowerBound)) to \(text($0.range.upperBound))"
                } ?? "-",
                (row?.write.device ?? "") + (row?.isPending == true ? ", not sent yet" : ""),
            ])
        }
        try StandardStream.output.write(TextTable.aligned(cells))
        if let times = settings.quietTimes {
            let clock = WallClock(
                startEpochSeconds: ThresholdStoreOption.clock,
                zone: ZoneTable(name: "UTC", firstOffsetSeconds: 0))
            let isQuiet = clock.isQuiet(try times.resolved(), at: .start)
            try StandardStream.output.writeLine(
                "quiet hours \(times.words)" + (isQuiet ? ": quiet hours active" : ""))
        }
        let permission = try kept.permission()
        try StandardStream.output.writeLine("notifications: \(permission.rawValue)")
        for row in ledger.refused {
            try StandardStream.output.writeLine(
                "\(row.write.key): kept here, not taken by the others: \(printable(row.refusal ?? "", limit: 300))"
            )
        }
    }
}

/// `islet thresholds enable`
struct ThresholdsEnableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Switch a threshold on.",
        discussion: """
            Example:
              islet thresholds enable --store phone.sqlite --subject basil --metric temperature
            """)

    @OptionGroup var store: ThresholdStoreOption
    @OptionGroup var name: ThresholdName

    func run() throws { try ThresholdsDisableCommand.turn(store, name, on: true) }
}

/// `islet thresholds disable`
struct ThresholdsDisableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Switch a threshold off; it is kept as it is.",
        discussion: """
            Example:
              islet thresholds disable --store phone.sqlite --subject basil --metric temperature
            """)

    @OptionGroup var store: ThresholdStoreOption
    @OptionGroup var name: ThresholdName

    func run() throws { try Self.turn(store, name, on: false) }

    static func turn(_ store: ThresholdStoreOption, _ name: ThresholdName, on: Bool) throws {
        let metric = try name.resolved()
        let kept = try store.open()
        _ = try kept.threshold(name.subject, metric)
        let changed = try kept.update { ledger -> AlertThreshold? in
            guard
                case .threshold(var one)? = ledger.row(OwnerSetting.key(name.subject, metric))?.write.setting
            else { return nil }
            one.isEnabled = on
            try ledger.set(.threshold(one), clock: ThresholdStoreOption.clock)
            return one
        }
        if let changed { try StandardStream.output.writeLine(changed.words) }
    }
}

/// `islet thresholds remove`
struct ThresholdsRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Delete a threshold, or a subject with all of its.",
        discussion: """
            A deletion is synced like any other write, so that it comes back from no other device. The history stays.

            Example:
              islet thresholds remove --store phone.sqlite --subject basil --metric vpd
            """)

    @OptionGroup var store: ThresholdStoreOption
    @Option(help: ArgumentHelp("The subject's id.", valueName: "ID"))
    var subject: String
    @Option(help: ArgumentHelp("The metric. (default: all, and the subject)", valueName: "M"))
    var metric: String?

    func run() throws {
        try AlertSubject.check(id: subject)
        let kept = try store.open()
        let clock = ThresholdStoreOption.clock
        var keys: [String]
        if let metric {
            let one = try kept.threshold(subject, try metricNamed(metric))
            keys = [OwnerSetting.key(one.subject, one.metric)]
        } else {
            let settings = try kept.settings()
            guard settings.subject(subject) != nil else {
                throw InputError(
                    file: "--subject", found: quoted(subject),
                    expected: oneOf(settings.subjects.map(\.id), meant: subject))
            }
            keys = settings.thresholds(of: subject).map { OwnerSetting.key($0.subject, $0.metric) }
            keys.append("subject/\(subject)")
        }
        let wanted = keys
        let count = try kept.update { ledger in wanted.count { ledger.delete($0, clock: clock) } }
        try StandardStream.output.writeLine("\(count) removed")
    }
}

/// `islet thresholds export`
struct ThresholdsExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write a subject's thresholds as a policy file.",
        discussion: """
            What is off is left out. `islet alerts replay TRACE --policy FILE` plays it over recorded glucose.

            Example:
              islet thresholds export --store phone.sqlite --subject me --out mine.json
            """)

    @OptionGroup var store: ThresholdStoreOption
    @Option(help: ArgumentHelp("The subject's id.", valueName: "ID"))
    var subject: String
    @Option(help: "Where to write it, in place of the terminal.", completion: .file())
    var out: String = "-"

    func run() throws {
        let settings = try store.open().settings()
        guard settings.subject(subject) != nil else {
            throw InputError(
                file: "--subject", found: quoted(subject),
                expected: oneOf(settings.subjects.map(\.id), meant: subject))
        }
        try Output.write(try settings.policyText(of: subject), to: out)
    }
}
