import Foundation
import Testing

/// What HACKING.md shows is what the tests compile.
@Suite struct HackingTests {
    @Test(arguments: [
        "Tests/SimulatedDevicesTests/LowSensor.swift", "Tests/PhysiologyTests/OneDepot.swift",
        "Tests/TrialsTests/Subjects/WaterTank.swift", "Tests/DashboardTests/TabletsCommand.swift",
    ])
    func theExamplesAreTheFilesThatAreCompiled(path: String) throws {
        let page = try String(contentsOf: Project.root.appending(path: "HACKING.md"), encoding: .utf8)
        let file = try String(contentsOf: Project.root.appending(path: path), encoding: .utf8)
        #expect(page.contains("```swift\n" + file + "```"), "HACKING.md shows another \(path)")
    }
}
