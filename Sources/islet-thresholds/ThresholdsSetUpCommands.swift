// `islet thresholds init`, `subject`, `quiet-hours`, `permission`: what stands around thresholds.

import IsletFiles
import IsletAlerts
import ArgumentParser
import IsletCommands
import IsletResults
import IsletDevices

/// `islet thresholds init`
struct ThresholdsInitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Make a store.",
        discussion: """
            Example:
              islet thresholds init --store phone.sqlite --owner ann --device phone --notifications allow
            """)

    @OptionGroup var store: ThresholdStoreOption

    @Option(
        help: ArgumentHelp("Whose settings they are; the same on all devices of one person.", valueName: "ID")
    )
    var owner: String = "me"

    @Option(help: ArgumentHelp("This device; another name on each. (default: drawn)", valueName: "ID"))
    var device: String?

    @Option(
        help: ArgumentHelp(
            "Whether alerts may be notified: allow or deny. Without it the terminal asks.",
            valueName: "answer"),
        completion: .list(["allow", "deny"]))
    var notifications: String?

    func validate() throws {
        if let notifications, !["allow", "deny"].contains(notifications) {
            throw ValidationError("--notifications takes allow or deny.")
        }
    }

    func run() throws {
        for (option, id) in [("--owner", owner), ("--device", device ?? "device")] {
            do {
                try AlertSubject.check(id: id)
            } catch {
                throw InputError(file: option, found: error.found, expected: error.expected)
            }
        }
        let drawn = "device-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        let kept = try SQLiteOwnerStore(path: store.store, owner: owner, device: device ?? drawn)
        let ledger = try kept.ledger()
        if let device, device != ledger.device {
            throw InputError(
                file: store.store, found: "the store of \(ledger.device)", expected: "that of \(device)")
        }
        if let notifications { try kept.set(notifications == "allow" ? .allowed : .denied) }
        try StandardStream.output.writeLine("settings of \(owner) on \(ledger.device): \(store.store)")
        try kept.askPermission()
    }
}

/// `islet thresholds subject`
struct ThresholdsSubjectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subject", abstract: "Name a subject, and say what it is.",
        discussion: """
            Kind and stage say which ranges are recommended; `islet thresholds recommended` lists them.

            Example:
              islet thresholds subject --store phone.sqlite --subject basil --name "Basil, tent 2" --kind grow-room --stage flowering
            """)

    @OptionGroup var store: ThresholdStoreOption

    @Option(help: ArgumentHelp("Its id, as it stands in links.", valueName: "ID"))
    var subject: String

    @Option(help: "Its name, as notifications have it.")
    var name: String?

    @Option(help: ArgumentHelp("person, grow-room, or another.", valueName: "kind"))
    var kind: String?

    @Option(help: "Its stage.")
    var stage: String?

    func run() throws {
        let kept = try store.open()
        let before = try kept.settings().subject(subject)
        var changed = before ?? AlertSubject(id: subject, name: subject)
        if let name { changed.name = name }
        if let kind { changed.kind = kind }
        if changed.kind.isEmpty { changed.kind = "person" }
        if let stage { changed.stage = stage }
        let stages = MetricRange.stages(of: changed.kind)
        if !changed.stage.isEmpty, !stages.isEmpty, !stages.contains(changed.stage) {
            throw InputError(
                file: "--stage", found: quoted(changed.stage),
                expected: "a stage of \(changed.kind), " + oneOf(stages, meant: changed.stage))
        }
        let new = changed
        try kept.update { try $0.set(.subject(new), clock: ThresholdStoreOption.clock) }
        let rest = new.stage.isEmpty ? "" : ", \(new.stage)"
        try StandardStream.output.writeLine("\(new.id): \(new.name), \(new.kind)\(rest)")
    }
}

/// `islet thresholds quiet-hours`
struct ThresholdsQuietHoursCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quiet-hours", abstract: "Set the owner's quiet hours, or end them.",
        discussion: """
            In quiet hours alerts are raised, listed and kept, and notified when the hours end if they are still active. Beyond a critical bound they are
            notified at once. The start is quiet, the end is not. Equal ends are a whole day.

            Examples:
              islet thresholds quiet-hours --store phone.sqlite --from 22:00 --to 07:00 --time-zone America/New_York
              islet thresholds quiet-hours --store phone.sqlite --off
            """)

    @OptionGroup var store: ThresholdStoreOption

    @Option(help: ArgumentHelp("Local time, such as 22:00.", valueName: "hh:mm"))
    var from: String?

    @Option(help: ArgumentHelp("Local time, such as 07:00.", valueName: "hh:mm"))
    var to: String?

    @Option(help: ArgumentHelp("Whose local time holds, such as America/New_York.", valueName: "zone"))
    var timeZone: String?

    @Flag(help: "No quiet hours.")
    var off = false

    func validate() throws {
        let given = [from, to, timeZone].compactMap { $0 }.count
        guard off ? given == 0 : given == 3 else {
            throw ValidationError("quiet-hours takes --from, --to and --time-zone, or --off.")
        }
    }

    func run() throws {
        let kept = try store.open()
        let clock = ThresholdStoreOption.clock
        if off {
            let was = try kept.update { $0.delete(OwnerSetting.quietHoursKey, clock: clock) }
            return try StandardStream.output.writeLine(was ? "no quiet hours" : "there were none")
        }
        func minutes(_ option: String, _ text: String?) throws -> Int {
            guard let minutes = QuietTimes.minutes(text ?? "") else {
                throw InputError(
                    file: option, found: quoted(text ?? ""), expected: "a time from 00:00 to 23:59")
            }
            return minutes
        }
        let times = QuietTimes(
            from: try minutes("--from", from), to: try minutes("--to", to), timeZone: timeZone ?? "")
        _ = try times.resolved()
        try kept.update { try $0.set(.quietHours(times), clock: clock) }
        try StandardStream.output.writeLine("quiet hours \(times.words)")
    }
}

/// `islet thresholds permission`
struct ThresholdsPermissionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "permission", abstract: "Allow notifications on this device, or deny them.",
        discussion: """
            It is this device's own and is not synced. Without permission alerts are raised, listed and kept, and what would have been notified is shown as withheld.

            Examples:
              islet thresholds permission --store phone.sqlite --allow
              islet thresholds permission --store phone.sqlite
            """)

    @OptionGroup var store: ThresholdStoreOption
    @Flag(help: "Allow them.")
    var allow = false
    @Flag(help: "Deny them.")
    var deny = false

    func validate() throws {
        if allow, deny { throw ValidationError("--allow and --deny exclude each other.") }
    }

    func run() throws {
        let kept = try store.open()
        if allow || deny { try kept.set(allow ? .allowed : .denied) }
        let permission = try kept.permission()
        try StandardStream.output.writeLine("notifications: \(permission.rawValue)")
        if let line = permission.consequence { try StandardStream.output.writeLine(line) }
    }
}

/// `islet thresholds recommended`
struct ThresholdsRecommendedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recommended", abstract: "List recommended ranges by kind of subject and stage.",
        discussion: """
            Example:
              islet thresholds recommended --kind grow-room
            """)

    @Option(help: "Of one kind only.")
    var kind: String?

    func run() throws {
        if let kind, !MetricRange.kinds.contains(kind) {
            throw InputError(
                file: "--kind", found: quoted(kind),
                expected: oneOf(MetricRange.kinds, meant: kind))
        }
        let rows = MetricRange.all.filter { kind == nil || $0.kind == kind }
        let cells = rows.map { row in
            [
                row.kind, row.stage, row.metric.rawValue,
                "\(JSONValue.numberText(row.range.lowerBound)) to \(JSONValue.numberText(row.range.upperBound)) \(row.metric.unit)",
                row.source,
            ]
        }
        try StandardStream.output.write(
            TextTable.aligned([["kind", "stage", "metric", "range", "source"]] + cells))
    }
}
