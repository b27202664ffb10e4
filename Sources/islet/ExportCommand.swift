// `islet export DIR`: what happened in a study's sessions, table by table, as CSV or JSON lines.

import IsletFiles
import ArgumentParser
import IsletCommands
import IsletDevices
public import IsletTrials

extension StepFormat: ExpressibleByArgument {}
extension ExportTable: ExpressibleByArgument {
    package init?(argument: String) { self.init(named: argument) }
}

/// `islet export`
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write what happened in a study's sessions: steps, truth, readings, alerts.",
        discussion: """
            A row a step, reading, ..., by session, whatever the study recorded: each session is run again, and nothing is \
            written of one whose digest isn't the stored one (exit code 1). What a row doesn't have is an empty cell in \
            CSV (RFC 4180) and null in JSON lines. The output file is there whole or not at all.

            Examples:
              islet export results/quickstart --session 12
              islet export results/quickstart --arm after-15-min --out steps.csv
              islet export results/quickstart --what truth --out truth.csv
              islet export results/quickstart --format jsonl --out steps.jsonl

            --what takes:
            \(ExportTable.allCases.map { "  \($0.rawValue): \($0.meaning)" }.joined(separator: "\n"))

            Columns, with the unit last; times are ISO 8601 with the study's offset, and seconds since the session's start (_s).

            steps:
            \(columns)
            \(ExportTable.allCases.filter { $0 != .steps }.map(section).joined())
            """)

    private static func section(_ table: ExportTable) -> String {
        "\n\(table.rawValue):\n"
            + table.columns.map { "  \($0.name): \($0.meaning)" }.joined(separator: "\n") + "\n"
    }

    private static var columns: String {
        StepColumn.all.filter { !$0.isInSeconds }.map { column in
            let seconds = column.name + "_s"
            let hasSeconds = StepColumn.all.contains { $0.isInSeconds && $0.name == seconds }
            return "  \(column.name)\(hasSeconds ? ", " + seconds : ""): \(column.meaning)"
        }.joined(separator: "\n")
    }

    @OptionGroup var selection: StepSelection

    @Option(help: "The sessions of this arm only.")
    var arm: String?

    @Option(help: "What to write: \(ExportTable.allCases.map(\.rawValue).joined(separator: ", ")).")
    var what: ExportTable = .steps

    @Option(help: "With --what alert-effects: this policy's alone, be it an arm's or in shadow.")
    var policy: String?

    @Option(help: "csv or jsonl.")
    var format: StepFormat = .csv

    @Option(help: ArgumentHelp("Where the rows go; - is standard output.", valueName: "FILE"))
    var out: String = "-"

    @Flag(help: "No progress.")
    var quiet = false

    func run() throws {
        let interrupt = Interrupt()
        let folder = ResultFolder(path: selection.directory)
        guard out == "-" || !folder.owns(out) else {
            throw ValidationError("--out names a file of the results themselves.")
        }
        // What can't be read is found out before anything is written.
        try selection.tellIfIncomplete()
        let sessions = try selection.open(interrupt)
        let entries = try sessions.entries(session: selection.session, arm: arm)
        if let policy {
            guard what == .alertEffects else {
                throw ValidationError("--policy goes with --what alert-effects.")
            }
            try sessions.policy(policy)
        }
        let progress = ProgressLine(sessions: entries.count, style: .standardError(quiet: quiet))
        defer { progress.clear() }
        try interruptible {
            if out == "-" {
                try write(entries, of: sessions, progress) { try StandardStream.output.write($0) }
            } else {
                var file = try AtomicFile(out, isHashed: false)
                try write(entries, of: sessions, progress) { try file.append($0) }
                try file.commit()
            }
        }
    }

    private func write(
        _ entries: [ResultSessions.Entry], of sessions: ResultSessions, _ progress: ProgressLine,
        _ emit: ([UInt8]) throws -> Void
    ) throws {
        // A session that isn't what it was leaves standard output without a header, too.
        var isBegun = false
        let texts = try sessions.texts(of: entries, table: what, format: format, policy: policy)
        while let (_, text, days) = try texts.next() {
            if !isBegun { try emit(Array(what.header(format).utf8)) }
            isBegun = true
            while let block = try text.nextBlock() { try emit(block) }
            progress.add(patientDays: days)
        }
        if !isBegun { try emit(Array(what.header(format).utf8)) }
    }

    private func interruptible(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch is CancellationError {
            throw OutputError(
                .temporary, path: out,
                message: out == "-"
                    ? "interrupted: the output is not whole" : "interrupted: nothing was written")
        }
    }
}
