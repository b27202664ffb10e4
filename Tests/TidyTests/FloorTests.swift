import Foundation
import Testing

/// The floors of ARCHITECTURE.md: a target imports only from floors below its own.
enum Floors {
    static let floor: [String: Int] = [
        "CGSL": 0, "SessionTime": 0, "Checksums": 0,
        "GSL": 1, "SimulationKernel": 1, "Devices": 1, "Records": 1,
        "Physiology": 2, "SimulatedDevices": 2, "Alerts": 2,
        "ClosedLoop": 3, "Algorithms": 3, "People": 3,
        "Documents": 4, "Persistence": 4,
        "GlucoseMetrics": 5, "AlertFiles": 5, "DeviceLinks": 5,
        "Trials": 6,
        "Swarm": 7,
        "islet": 8,
    ]

    /// What else a floor may import. The core's packages are named in ARCHITECTURE.md.
    static func isAllowedOutside(_ module: String, target: String) -> Bool {
        switch module {
        case "Swift", "Synchronization", "Glibc": true
        case "Yams": target == "Documents"
        case "GRDB", "GRDBSQLite": target == "Persistence"
        case "ArgumentParser": target == "islet"
        case "Foundation", "FoundationEssentials": (floor[target] ?? 0) >= 4
        default: target == "DeviceLinks"
        }
    }
}

@Suite struct FloorTests {
    @Test func everyTargetHasAFloor() throws {
        let targets = Set(Project.sources.map(\.target))
        #expect(!targets.isEmpty)
        for target in targets.sorted() {
            #expect(Floors.floor[target] != nil, "Sources/\(target): no floor; add it to the table")
        }
        let package = try Project.text("Package.swift")
        for target in targets.sorted() {
            #expect(package.contains("\"\(target)\""), "Package.swift: no target \(target)")
        }
    }

    @Test func targetsImportOnlyFromFloorsBelow() {
        for file in Project.sources {
            guard let floor = Floors.floor[file.target] else { continue }
            for (index, line) in file.code.enumerated() {
                let words = line.split(whereSeparator: { " \t".contains($0) }).map(String.init)
                guard let place = words.firstIndex(of: "import"), place + 1 < words.count,
                    words[..<place].allSatisfy({ $0.hasPrefix("@") || accessLevels.contains($0) })
                else { continue }
                var module = words[place + 1]
                if ["struct", "class", "enum", "func", "protocol", "typealias", "var", "let"].contains(
                    module),
                    place + 2 < words.count
                {
                    module = words[place + 2]
                }
                module = String(module.prefix { $0 != "." })
                let isAllowed =
                    Floors.floor[module].map { $0 < floor }
                    ?? Floors.isAllowedOutside(module, target: file.target)
                #expect(
                    isAllowed,
                    "\(file.path):\(index + 1): \(file.target) (floor \(floor)) imports \(module)")
            }
        }
    }

    private let accessLevels: Set<String> = ["public", "package", "internal", "fileprivate", "private"]

    @Test func theClosedLoopKnowsNoSimulation() {
        for file in Project.sources where ["ClosedLoop", "Algorithms"].contains(file.target) {
            for (index, line) in file.code.enumerated() {
                for module in ["SimulatedDevices", "Physiology"] {
                    #expect(!line.contains("import \(module)"), "\(file.path):\(index + 1)")
                }
            }
        }
    }
}
