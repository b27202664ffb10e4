// `islet report DIR`: the results of a study as one page.

import ArgumentParser
import Documents
import Foundation
import Persistence
import Records
import Reports
import Trials

/// `islet report`
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Write a study's results as one page, report.html.",
        discussion: """
            The page needs nothing but itself, on a screen, a phone or paper: the answer in words with intervals, tables, what policies cost and miss, the
            day's glucose, example sessions and the assumptions. `islet run` writes it too. It is made from the folder alone: the same results give the same
            page. Profiles and examples are sessions that are run again.

            Examples:
              islet report results/quickstart
              islet report results/quickstart --out quickstart.html
              islet report results/quickstart --figures figures
            """)

    @Argument(help: "A study's output directory.")
    var directory: String

    @Option(help: "Where to write the page (default: report.html in the directory).")
    var out: String?

    @Option(help: ArgumentHelp("Write each figure as an SVG file into this directory too.", valueName: "DIR"))
    var figures: String?

    @Option(help: "The study's file, where its cohort is a table: the table's path is relative to it.")
    var study: String?

    @OptionGroup var threads: ThreadCount

    @OptionGroup var units: GlucoseUnits

    func run() throws {
        let folder = ResultFolder(path: directory)
        let store = try StudyStore(readingAt: folder.storePath)
        try folder.tellIfIncomplete()
        let interrupt = Interrupt()
        let report = try FolderReport(
            folder, store: store, studyPath: study ?? directory,
            jobs: threads.count, unit: units.unit,
            isInterrupted: { interrupt.isRaised })
        if let out {
            guard !folder.owns(out) else {
                throw OutputError(.cannotCreate, path: out, message: "is one of the folder's own files")
            }
            try AtomicFile.write(report.page.html, to: out)
        } else if try folder.isComplete() {
            let lock = try folder.lock()
            defer { lock.release() }
            try folder.add(report: report.page.html)
        } else {
            try AtomicFile.write(report.page.html, to: folder.reportPath)
        }
        if let figures { try report.write(figures: figures) }
        try StandardStream.output.writeLine("report   \(out ?? folder.reportPath)")
    }
}
