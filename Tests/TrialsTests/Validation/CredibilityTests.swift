import Foundation
import IsletDevices
import IsletLoop
import IsletModels
import IsletPeople
import Testing

@testable import IsletTrials

/// Who reads a name in a study finds where it comes from, what it was compared with, and where it fails.
@Suite struct CredibilityTests {
    @Test func `every body, sensor, person and algorithm has one card, and no card is of what is gone`()
        throws
    {
        let page = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../docs/credibility.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let cards = try #require(text.components(separatedBy: "## Cards").last)
        let found = cards.split(separator: "\n").compactMap { line -> String? in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count == 6, cells[1].contains("`") else { return nil }
            #expect(cells[2...4].allSatisfy { !$0.allSatisfy(\.isWhitespace) }, "an empty cell: \(line)")
            return cells[1].trimmingCharacters(in: .whitespaces)
        }
        let wanted =
            ModelKind.all.map { "body `\($0.id)`" } + SensorModel.all.map { "sensor `\($0.id)`" }
            + PersonPreset.allCases.map { "person `\($0.rawValue)`" }
            + AlgorithmKind.all.map { "algorithm `\($0.id)`" }
        for card in wanted { #expect(found.count { $0 == card } == 1, "no card, or two: \(card)") }
        #expect(Set(found).subtracting(wanted) == ["`life` on it"])
    }
}
