// People who are drawn when they are needed, and tables that are read by rows.

import Foundation
import IsletDevices
import IsletKernel
import IsletModels
import Synchronization
import Testing

@testable import IsletTrials

@Suite("People on demand") struct PeopleTests {
    private func study(_ cohort: String) throws -> Study {
        try Study.parse(
            "study: few\nseed: 3\nduration: 1d\ncohort: \(cohort)\narms: [{ name: a, algorithm: basal-bolus }]\n",
            file: "few.yaml")
    }

    @Test("are those of the whole cohort, in whatever order they are asked for")
    func samePeople() throws {
        let study = try study("{ generate: { count: 40 } }")
        let all = try CohortLoader.subjects(of: study, studyPath: "", jobs: 2)
        let cohort = try CohortLoader.cohort(of: study, studyPath: "")
        for index in [39, 0, 17, 17, 3] { #expect(try cohort.member(index) == all[index]) }
        #expect(cohort.drawn.known == 4)
        let legacy = try RunIdentity.checksum(of: cohort, jobs: 2)
        var digest = Digest128()
        for index in all.indices { try PeopleCohort(all).absorb(index, into: &digest) }
        #expect(legacy == digest.description)
    }

    @Test("are drawn once for as many as are remembered, however many threads ask")
    func drawnOnce() throws {
        let drawn = Mutex([Int]())
        let one = try CohortLoader.subjects(of: study("{ generate: { count: 1 } }"), studyPath: "", jobs: 1)[
            0]
        let count = PeopleCohort.remembered + 10
        let cohort = PeopleCohort(count: count) { index in
            drawn.withLock { $0.append(index) }
            var subject = one
            subject.name = "adult#\(index)"
            return subject
        }
        _ = try Workers.map(count: 400, jobs: 4) { try cohort.name($0 % 100) }
        #expect(drawn.withLock { $0.sorted() } == Array(0..<100))
        // Who shares a place is drawn again, and is who they were.
        #expect(try cohort.name(PeopleCohort.remembered + 5) == "adult#\(PeopleCohort.remembered + 5)")
        #expect(try cohort.name(5) == "adult#5")
        #expect(drawn.withLock { $0.count } == 102)
        try cohort.draw([0..<count], jobs: 2, isInterrupted: { false })
        #expect(drawn.withLock { $0.count } <= 102 + PeopleCohort.remembered)
    }

    // MARK: Tables

    private func withTable(_ lines: [String], _ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "people-\(UUID().uuidString).csv")
            .path()
        try Data(lines.joined().utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    private func rows() throws -> [String] {
        let people = try CohortLoader.subjects(
            of: study("{ generate: { count: 4 } }"), studyPath: "", jobs: 1)
        return CohortGenerator.csv(people).split(separator: "\n").map(String.init)
    }

    @Test(
        "a table of any line ends, blank lines and no last line end has the rows that it has when it is held whole"
    )
    func sameRows() throws {
        let rows = try rows()
        for (end, last) in [("\n", "\n"), ("\r\n", "\r\n"), ("\r", "\r"), ("\n", ""), ("\n\n \t\n", "\n\n")] {
            var lines = rows.map { $0 + end }
            lines[lines.count - 1] = rows[rows.count - 1] + last
            try withTable(["\u{FEFF}"] + lines) { path in
                let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
                let held = try ParameterTable(bytes, file: path, model: .uvaPadova2008)
                let read = try TableFile(path, model: .uvaPadova2008, derived: .check)
                try read.check()
                #expect(read.count == held.entries.count)
                for row in (0..<read.count).reversed() { #expect(try read.entry(row) == held.entries[row]) }
                #expect(read.sha256 == SHA256.digest(of: bytes).description)
                #expect(try read.rows(named: [held.entries[2].name, held.entries[0].name]) == [2, 0])
            }
        }
    }

    @Test("what is wrong with a table is said with its line, before anything runs")
    func refusals() throws {
        let rows = try rows()
        func refusal(_ lines: [String]) throws -> InputError? {
            var found: InputError?
            try withTable(lines.map { $0 + "\n" }) { path in
                do {
                    try TableFile(path, model: .uvaPadova2008, derived: .check).check()
                } catch let problem as InputError {
                    found = problem
                }
            }
            return found
        }
        #expect(try refusal(rows) == nil)
        #expect(try refusal(rows + [rows[1]])?.expected == "a name once (first on line 2)")
        #expect(try refusal(rows + [rows[1]])?.line == 6)
        #expect(try refusal(rows + ["adult#009,1"])?.line == 6)
        #expect(try refusal(rows + [rows[1].replacing("adult#001", with: "")])?.found == "no name")
        #expect(try refusal(rows + ["\"adult#9"])?.found == "a quote that isn't closed")
        #expect(try refusal([rows[0]])?.found == "no subject")
        #expect(try refusal([])?.found == "an empty file")
        #expect(try refusal(["Name,BW"])?.line == 1)
        #expect(throws: InputError.self) {
            try TableFile("/dev/null", model: .uvaPadova2008, derived: .check)
        }
        try withTable(rows.map { $0 + "\n" }) { path in
            let table = try TableFile(path, model: .uvaPadova2008, derived: .check)
            let problem = #expect(throws: InputError.self) { _ = try table.rows(named: ["adult#0"]) }
            #expect(problem?.expected == "one of ‘adult#001’, ‘adult#002’, ‘adult#003’ … (4 subjects)")
        }
    }
}

@Suite("Columns of very many people") struct ManyPeopleTests {
    @Test("come back as they were filled, beyond what stays in memory too")
    func spool() throws {
        let spool = ColumnSpool(memoryLimit: 1 << 16)
        let columns = (0..<3).map { _ in spool.add() }
        for index in 0..<20_000 {
            for column in columns where index % (column + 1) == 0 {
                try spool.append(Double(index) / Double(column + 1), of: index, to: column)
            }
        }
        for column in columns {
            let found = try spool.values(column)
            let expected = (0..<20_000).filter { $0 % (column + 1) == 0 }
            #expect(found.map(\.subject) == expected)
            #expect(found.map(\.value) == expected.map { Double($0) / Double(column + 1) })
        }
    }
}
