// `islet export DIR`: the step logs of a study's sessions, as CSV or JSON lines.

import ArgumentParser
import Records
import Trials

/// `islet export`
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the step logs of a study's sessions.",
        discussion: """
            A row a step, by session and step, whatever the study recorded: each session is run again, and nothing is \
            written of one whose digest isn't the stored one (exit code 1). What a step doesn't have is an empty cell in \
            CSV (RFC 4180) and null in JSON lines. The output file is there whole or not at all.

            Examples:
              islet export results/quickstart --session 12
              islet export results/quickstart --arm closed-loop --out steps.csv
              islet export results/quickstart --format jsonl --out steps.jsonl

            Columns, with the unit last; times are ISO 8601 with the study's offset, and seconds since the session's start:
            \(columns)
            """)

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

    @Option(help: "csv or jsonl.")
    var format: StepFormat = .csv

    @Option(help: ArgumentHelp("Where the rows go; - is standard output.", valueName: "FILE"))
    var out: String = "-"

    func run() throws {
        let interrupt = Interrupt()
        let folder = ResultFolder(path: selection.directory)
        guard out == "-" || !folder.owns(out) else {
            throw ValidationError("--out names a file of the results themselves.")
        }
        // What can't be read is found out before anything is written.
        _ = try folder.isComplete()
        let sessions = try selection.open(interrupt)
        let entries = try sessions.entries(session: selection.session, arm: arm)
        try interruptible {
            if out == "-" {
                try write(entries, of: sessions, interrupt) { try StandardStream.output.write($0) }
            } else {
                var file = try AtomicFile(out)
                try write(entries, of: sessions, interrupt) { try file.append($0) }
                try file.commit()
            }
        }
        if selection.session == nil { try selection.tellIfIncomplete() }
    }

    /// Text goes on in blocks of some 64 KB.
    private func write(
        _ entries: [ResultSessions.Entry], of sessions: ResultSessions, _ interrupt: Interrupt,
        _ emit: (String) throws -> Void
    ) throws {
        var block = format.header
        for entry in entries {
            for step in try sessions.steps(of: entry) {
                block += format.line(step) + "\n"
                guard block.utf8.count > 1 << 16 else { continue }
                if interrupt.isRaised { throw CancellationError() }
                try emit(block)
                block = ""
            }
            if interrupt.isRaised { throw CancellationError() }
        }
        try emit(block)
    }

    private func interruptible(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch is CancellationError {
            throw OutputProblem(
                .temporary, path: out,
                message: out == "-"
                    ? "interrupted: the output is not whole" : "interrupted: nothing was written")
        }
    }
}
