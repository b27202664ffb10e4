// docs/data.md says what is there.

import IsletFiles
import Foundation
import IsletDevices
import Testing

@testable import IsletTrials

@Suite("The data dictionary")
struct DataDictionaryTests {
    private static let project = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    @Test("in the repository is the one that the definitions make: `make docs`")
    func isCurrent() throws {
        let file = try String(contentsOf: Self.project.appending(path: "docs/data.md"), encoding: .utf8)
        #expect(file == DataDictionary.markdown)
        let person = try String(contentsOf: Self.project.appending(path: "docs/person.md"), encoding: .utf8)
        #expect(person == PersonPage.markdown)
    }

    @Test("defines each column of the CSV files and of the step logs, in the page and in the help")
    func csvColumns() {
        let (page, help) = (DataDictionary.markdown, DataDictionary.plainText)
        for column in ResultTables.sessionColumns() + ResultTables.alertColumns {
            #expect(page.contains("| `\(column)` |"), "\(column)")
            #expect(help.contains("  \(column)"), "\(column)")
        }
        for column in StepColumn.all { #expect(page.contains("| `\(column.name)` |"), "\(column.name)") }
    }

    @Test("knows who and which arm by the same names everywhere")
    func names() {
        let origin = ResultTable.origin.map(\.name)
        #expect(origin == ["session", "subject_index", "subject", "arm_index", "arm"])
        for columns in [ResultTables.sessionColumns(), ResultTables.alertColumns, StepColumn.all.map(\.name)]
        {
            #expect(columns.filter(origin.contains) == origin)
            #expect(!columns.contains { $0.hasSuffix("subject_id") })
        }
    }

    @Test("defines each key of summary.json, and no other")
    func summaryKeys() throws {
        let summary = try StudySummary(
            of: Study.parse("cohort: { generate: { count: 1 } }\narms: [{ name: a }]\n", file: "s.yaml"),
            store: NoSessions())
        let json = try summary.json(
            study: Study.parse("cohort: { generate: { count: 1 } }\narms: [{ name: a }]\n", file: "s.yaml"),
            speed: nil)
        guard case .object(let members) = json else { return #expect(Bool(false)) }
        let defined = SummaryKey.all.map(\.path).filter { !$0.contains(".") }
        #expect(members.map(\.key) == defined.map { $0.hasSuffix("[]") ? String($0.dropLast(2)) : $0 })
    }
}

private final class NoSessions: ResultStore {
    func studyText() -> String { "" }
    func finishedSessions() -> Set<Int> { [] }
    func write(_ records: [SessionRecord]) {}
    func forEachSummary(_ body: (SessionSummary) throws -> Void) {}
    func absorb(storeAt path: String) {}
    func close() {}
}
