import Foundation
import Testing

/// What a floor may import from outside the project. The core's packages are named in ARCHITECTURE.md.
enum Floors {
    static func isAllowedOutside(_ module: String, target: String) -> Bool {
        switch module {
        case "Swift", "Synchronization", "Glibc": true
        case "Yams": target == "Documents"
        case "GRDB", "GRDBSQLite": target == "Persistence"
        case "ArgumentParser": target == "islet" || target == "islet-live"
        // What serves the page, behind the trait `Serve`.
        case "Hummingbird", "HummingbirdCore", "HummingbirdTLS", "HTTPTypes", "NIOCore", "NIOPosix",
            "NIOSSL":
            target == "Dashboard"
        case "Logging": target == "Dashboard" || target == "islet-live"
        case "Dispatch": target == "Dashboard" || target == "islet-live"
        case "Foundation", "FoundationEssentials": (Manifest.floor(of: target) ?? 0) >= 4
        case "FoundationNetworking": target == "DeviceLinks"
        default: false
        }
    }
}

/// The floors of Package.swift: a target imports only from floors below its own, so there are no circles.
@Suite struct FloorTests {
    @Test func everyTargetHasAFloor() throws {
        #expect(Manifest.targets.count > 20)
        for target in Set(Project.sources.map(\.target)).sorted() {
            #expect(Manifest.floor(of: target) != nil, "Sources/\(target): no floor in Package.swift")
        }
    }

    @Test func theArchitecturePageHasTheSameFloors() throws {
        let page = try Project.text("ARCHITECTURE.md")
        var floors: [String: Int] = [:]
        for line in page.split(separator: "\n") {
            guard let row = line.wholeMatch(of: #/\| (\d+) \| ([^|]+) \|.*/#) else { continue }
            for name in row.output.2.matches(of: #/`([\w-]+)`/#) {
                floors[String(name.output.1)] = Int(row.output.1)
            }
        }
        for target in Manifest.targets {
            guard let floor = target.floor else { continue }
            #expect(floors[target.name] == floor, "ARCHITECTURE.md: \(target.name) is on floor \(floor)")
        }
    }

    @Test func targetsImportOnlyFromFloorsBelow() {
        for file in Project.sources {
            guard let floor = Manifest.floor(of: file.target) else { continue }
            for (line, module) in file.imports {
                let isAllowed =
                    Manifest.floor(of: module).map { $0 < floor }
                    ?? Floors.isAllowedOutside(module, target: file.target)
                #expect(isAllowed, "\(file.path):\(line): \(file.target) (floor \(floor)) imports \(module)")
            }
        }
    }

    @Test func dependenciesPointDownward() {
        for target in Manifest.targets {
            guard let floor = target.floor else { continue }
            for dependency in target.dependencies {
                guard let below = Manifest.floor(of: dependency) else { continue }
                #expect(
                    below < floor,
                    "Package.swift: \(target.name) (\(floor)) depends on \(dependency) (\(below))")
            }
        }
    }

    @Test func theClosedLoopKnowsNoSimulation() {
        for file in Project.sources where ["ClosedLoop", "DosingAlgorithms"].contains(file.target) {
            for (line, module) in file.imports {
                #expect(!["SimulatedDevices", "Physiology"].contains(module), "\(file.path):\(line)")
            }
        }
    }

    @Test func alertTestsNeedNoStudies() throws {
        let tests = try #require(Manifest.targets.first { $0.name == "AlertsTests" })
        #expect(!tests.dependencies.contains("Trials"))
    }
}
