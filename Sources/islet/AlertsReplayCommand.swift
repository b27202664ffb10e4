// `islet alerts replay TRACE...`: alert policies over glucose that was really measured.

import IsletFiles
import IsletAlerts
import ArgumentParser
import IsletCommands
import Foundation
import IsletDevices
import IsletResults
import IsletTrials

/// `islet alerts replay`
struct AlertsReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Run alert policies over recorded glucose.",
        discussion: """
            Each file is one person's trace: CSV with time and glucose_mgdl or glucose_mmoll, Nightscout entries (JSON), or an export of Dexcom Clarity, LibreView or Tidepool,
            recognised by its content. All policies hear the same glucose, as they would in shadow of a study; the others are compared with the first. No
            truth is known but the trace itself, smoothed. With --sweep variants of one policy are tried, as in a study's `sweep`; of fewer than six people
            intervals are then over blocks of days in a row. Times without an offset, and times in UTC, need --time-zone. docs/recorded-traces.md has the layouts.

            Examples:
              islet alerts replay sensor.csv --policy dexcom-g7 --policy story --time-zone America/New_York
              islet alerts replay sensor.csv --policy loop --policy trio --time-zone UTC --units mmol/L --out results/recorded
              islet alerts replay sensor.csv --sweep Cohorts/debounce-cooldown.yaml --time-zone America/New_York
            """)

    @Argument(
        help: "Files with recorded glucose, one a person.", completion: .file(extensions: ["csv", "json"]))
    var traces: [String]

    @Option(
        name: .customLong("policy"), parsing: .singleValue,
        help: "A preset, or the path of a policy file; several times for several policies. (this or --sweep)")
    var policies: [String] = []

    @Option(
        help: ArgumentHelp(
            "Variants of one policy: a file with `of` and `grid` or `points`, or a study with a `sweep`.",
            valueName: "FILE.yaml"),
        completion: .file(extensions: ["yaml", "yml"]))
    var sweep: String?

    @Option(
        help: ArgumentHelp(
            "The files' layout, where it is not to be recognised: \(TraceFormat.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "format"),
        completion: .list(TraceFormat.allCases.map(\.rawValue)))
    var format: String?

    @Option(
        name: .customLong("trace-units"),
        help: ArgumentHelp(
            "The unit in the files, where they don't say it: mg/dL or mmol/L.", valueName: "unit"),
        completion: .list(GlucoseUnit.allCases.map(\.rawValue)))
    var traceUnits: String?

    @Option(
        name: .customLong("time-zone"),
        help: ArgumentHelp(
            "Whose local time holds, such as America/New_York. Needed for times without an offset, and in UTC.",
            valueName: "zone"))
    var timeZone: String?

    @Option(
        name: .customLong("date-order"),
        help: ArgumentHelp(
            "Of dates such as 03-04-2026: dmy or mdy, where no day in the file tells.", valueName: "order"),
        completion: .list(TraceOptions.DateOrder.allCases.map(\.rawValue)))
    var dateOrder: String?

    @Option(
        help: ArgumentHelp(
            "Also write summary.json, alerts.csv, effects.csv and report.html into this new directory.",
            valueName: "DIR"))
    var out: String?

    @OptionGroup var units: GlucoseUnits

    private var options: TraceOptions {
        get throws {
            var options = TraceOptions()
            if let format {
                guard let known = TraceFormat(rawValue: format) else {
                    throw ValidationError(
                        "--format takes \(TraceFormat.allCases.map(\.rawValue).joined(separator: ", ")).")
                }
                options.format = known
            }
            if let traceUnits {
                guard
                    let unit = GlucoseUnit.allCases.first(where: {
                        $0.rawValue.lowercased() == traceUnits.lowercased()
                    })
                else { throw ValidationError("--trace-units takes mg/dL or mmol/L.") }
                options.unit = unit
            }
            if let dateOrder {
                guard let order = TraceOptions.DateOrder(rawValue: dateOrder) else {
                    throw ValidationError("--date-order takes dmy or mdy.")
                }
                options.dateOrder = order
            }
            options.timeZone = timeZone
            return options
        }
    }

    func validate() throws {
        guard !policies.isEmpty || sweep != nil else {
            throw ValidationError(
                "Name a policy at least: --policy dexcom-g7, or a policy file; or --sweep FILE.yaml.")
        }
        _ = try options
    }

    func run() throws {
        let folder = try out.map { try NewFolder($0) }
        let replay = try TraceReplay(
            try policies.map { try AlertPolicy.find(named: $0) },
            sweep: sweep.map { try PolicySweep.read(path: $0) })
        let named = try options
        let read = try traces.map { try RecordedTrace.read(path: $0, named) }
        var people: Set<String> = []
        for trace in read where !people.insert(trace.name).inserted {
            throw InputError(
                file: trace.file, found: "a second trace called \(quoted(trace.name))",
                expected: "file names that differ, one a person")
        }
        let isBlocked = TraceResults.usesBlocks(people: read.count, isSweep: sweep != nil)
        let parts = isBlocked ? read.flatMap(\.blocks) : read
        let replayed = try parts.enumerated().map { try replay.replay($0.element, index: $0.offset) }
        let results = try TraceResults(
            replay, replayed, outcomes: ExampleChoice.outcomes(replay.study), whole: isBlocked ? read : [])
        if let folder { try write(results, into: folder) }
        try StandardStream.output.write(results.text(in: units.unit))
        if let out { try StandardStream.output.writeLine("\nresults  \(out)") }
    }

    private func write(_ results: TraceResults, into folder: NewFolder) throws {
        try AtomicFile.write(results.json.prettyText, to: folder.path("summary.json"))
        try AtomicFile.write(results.alertsCSV, to: folder.path("alerts.csv"))
        if let sweep = results.summary.sweep {
            try AtomicFile.write(sweep.csv, to: folder.path(ResultFolder.sweep))
        }
        var effects = try AtomicFile(folder.path("effects.csv"), isHashed: false)
        try effects.append(TraceResults.effectsHeader)
        for index in results.traces.indices {
            for place in results.replay.study.shadowPolicies.indices {
                try effects.append(results.effectsCSV(index, policy: place))
            }
        }
        try effects.commit()
        let input = ReportInput(results, version: Islet.version, unit: units.unit)
        try AtomicFile.write(StudyReport(input).html, to: folder.path("report.html"))
        try folder.commit()
    }
}

/// A directory that is there with all its files, or not at all: files are written into a hidden one beside it, which then takes its name.
private final class NewFolder {
    private let target: String
    private let hidden: String
    private var isCommitted = false

    init(_ target: String) throws {
        let manager = FileManager.default
        let clean = target.count > 1 && target.hasSuffix("/") ? String(target.dropLast()) : target
        var isDirectory: ObjCBool = false
        if manager.fileExists(atPath: clean, isDirectory: &isDirectory) {
            let entries = isDirectory.boolValue ? try? manager.contentsOfDirectory(atPath: clean) : nil
            guard entries?.isEmpty == true else {
                throw OutputError(.cannotCreate, path: target, message: "is there already")
            }
        }
        self.target = clean
        let url = URL(fileURLWithPath: clean)
        let parent = url.deletingLastPathComponent().path
        hidden = parent + "/.\(url.lastPathComponent).\(ProcessInfo.processInfo.processIdentifier).partial"
        do {
            try manager.createDirectory(atPath: hidden, withIntermediateDirectories: true)
        } catch {
            throw OutputError(.cannotCreate, path: target, message: "cannot make the directory")
        }
    }

    deinit { if !isCommitted { try? FileManager.default.removeItem(atPath: hidden) } }

    func path(_ name: String) -> String { hidden + "/" + name }

    func commit() throws {
        guard rename(hidden, target) == 0 else {
            throw OutputError(.cannotCreate, path: target, message: "cannot be put in place")
        }
        isCommitted = true
    }
}
