// `islet report DIR`: the results of a study as one page.

import ArgumentParser
import IsletCommands
import IsletFiles
import Foundation
import IsletResults
import IsletDevices
import IsletTrials

/// `islet report`
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Write a study's results as one page, report.html.",
        discussion: """
            The page needs nothing but itself, on a screen, a phone or paper. Its first screen, and first sheet of paper, is the answer: what was found, how sure,
            what it costs, time in ranges and the day's glucose; behind it stand the trade, example sessions, what alarms did, all numbers and all assumptions.
            `islet run` writes it too. It is made from the folder alone: the same results give the same page. Profiles and examples are sessions that are run
            again. --one-page writes the first sheet alone, into another file.

            Examples:
              islet report results/quickstart
              islet report results/quickstart --out quickstart.html
              islet report results/quickstart --figures figures
              islet report results/quickstart --one-page --out answer.html
            """)

    @Argument(help: "A study's output directory.")
    var directory: String

    @Option(help: "Where to write the page (default: report.html in the directory).")
    var out: String?

    @Flag(help: "Write the answer alone, one screen and one sheet of paper; takes --out.")
    var onePage = false

    @Option(help: ArgumentHelp("Write each figure as an SVG file into this directory too.", valueName: "DIR"))
    var figures: String?

    @OptionGroup var source: CohortSource

    @OptionGroup var algorithms: AlgorithmPermission

    @OptionGroup var threads: ThreadCount

    @OptionGroup var units: GlucoseUnits

    func validate() throws {
        if onePage, out == nil {
            throw ValidationError(
                "--one-page takes --out FILE: report.html in the folder is the whole report.")
        }
    }

    func run() throws {
        let folder = ResultFolder(path: directory)
        let elsewhere = out.flatMap { folder.isReport($0) ? nil : $0 }
        if let elsewhere, folder.owns(elsewhere) {
            throw OutputError(.cannotCreate, path: elsewhere, message: "is one of the folder's own files")
        }
        if onePage, elsewhere == nil {
            throw OutputError(
                .cannotCreate, path: folder.reportPath,
                message: "is the whole report's; --one-page takes another file")
        }
        let interrupt = Interrupt()
        // The page links to that of the confirmation.
        if elsewhere == nil, let other = try folder.confirmation() {
            let state = try other.state()
            try write(try report(of: other, interrupt), in: other, lookedAt: state)
        }
        let state = try folder.state()
        try folder.tellIfIncomplete()
        let report = try report(of: folder, interrupt)
        if let elsewhere {
            try AtomicFile.write(onePage ? report.page.onePage : report.page.html, to: elsewhere)
        } else {
            try write(report, in: folder, lookedAt: state)
        }
        if let figures { try report.write(figures: figures) }
        try StandardStream.output.writeLine("report   \(elsewhere ?? folder.reportPath)")
    }

    private func report(of folder: ResultFolder, _ interrupt: Interrupt) throws -> FolderReport {
        try FolderReport(
            folder, store: StudyStore(readingAt: folder.storePath), studyPath: source.study ?? directory,
            jobs: threads.count, unit: units.unit, standsInFolder: out.map { folder.isReport($0) } ?? true,
            allowsAlgorithms: algorithms.isGiven, isInterrupted: { interrupt.isRaised })
    }

    /// - Parameter state: the folder's when its sessions were read: a run that has ended since has more than the page.
    private func write(_ report: FolderReport, in folder: ResultFolder, lookedAt state: ResultFolder.State)
        throws
    {
        let lock = try folder.lock()
        defer { lock.release() }
        guard try folder.state() == state else {
            throw OutputError(
                .temporary, path: folder.path,
                message: "the run went on while its page was made; make it again")
        }
        guard state == .complete else {
            try AtomicFile.write(report.page.html, to: folder.reportPath)
            return
        }
        let wasSealed = try folder.add(report: report.page.html, by: RunningProgram().facts)
        if wasSealed {
            StandardStream.error.writeLineIgnoringFailure(
                "warning: \(folder.path): its seal was of the page before, and is gone: `islet seal` makes another"
            )
        }
    }
}
