// The pages of reference in docs are those that the definitions make.

import IsletFiles
import IsletAlerts
import Foundation
import Testing

@testable import IsletTrials

@Suite("The pages of reference")
struct ReferencePagesTests {
    private static let docs = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "docs")

    @Test(
        "in the repository are those that the definitions make: `make docs`",
        arguments: [
            ("study-files.md", Study.reference), ("policy-files.md", AlertPolicy.reference),
            ("scenario-files.md", AlertScenario.reference),
            ("algorithm-fields.md", AlgorithmPage.markdown), ("../C/islet_algorithm.h", AlgorithmPage.header),
        ])
    func areCurrent(_ name: String, _ page: String) throws {
        #expect(try String(contentsOf: Self.docs.appending(path: name), encoding: .utf8) == page)
    }

    @Test("name each key of a study with its default, and each mapping once")
    func study() {
        let page = Study.reference
        for key in Study.shape.names { #expect(page.contains("| `\(key)` |"), "\(key)") }
        let headings = page.split(separator: "\n").filter { $0.hasPrefix("#") }
        #expect(Set(headings).count == headings.count)
        #expect(page.contains("| `duration` |") && page.contains("`\"7d\"`"))
    }
}
