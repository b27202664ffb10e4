import Foundation
import Testing

/// What a floor may import from outside the project. The core's packages are named in ARCHITECTURE.md.
enum Floors {
    /// The floors within a target: a file names no type that a later folder declares. What stands in no folder is on the last.
    static let folders = [
        "IsletKernel": ["SessionTime", "Checksums", "SimulationKernel"],
        "IsletDevices": ["Devices", "Records"],
        "IsletModels": ["GrowRoom", "Physiology", "SimulatedDevices"],
        "IsletAlerts": ["Alerts", "AlertMetrics"],
        "IsletLoop": ["DosingAlgorithms", "ClosedLoop"],
        "IsletFiles": ["Charts", "Documents", "GlucoseMetrics", "AlertFiles"],
        "IsletResults": ["Persistence", "Reports"],
        "DeviceLinks": ["LinkedDevices", "Links"],
        "IsletLive": ["Live", "Ward"],
    ]

    /// What a session is: a function of its study alone.
    static func isEngine(_ file: SourceFile) -> Bool {
        switch (file.target, file.folder) {
        case ("IsletFiles", "Charts"), ("DeviceLinks", "LinkedDevices"): true
        default: (Manifest.floor(of: file.target) ?? 0) <= 4
        }
    }

    static func isAllowedOutside(_ module: String, in file: SourceFile) -> Bool {
        let target = file.target
        return switch module {
        case "Swift", "Synchronization", "Glibc": true
        case "Yams": target == "IsletFiles" && file.folder == "Documents"
        case "GRDB", "GRDBSQLite": target == "IsletResults" && file.folder == "Persistence"
        case "ArgumentParser": target == "IsletCommands" || programs.contains(target)
        // What serves the page, behind the traits `Serve` and `TLS`.
        case "Hummingbird", "HummingbirdCore", "HummingbirdTLS", "HTTPTypes", "NIOCore", "NIOPosix",
            "NIOSSL":
            target == "Dashboard"
        case "Logging": target == "Dashboard" || target == "islet-live"
        case "Dispatch": target == "Dashboard" || target == "islet-live"
        case "Foundation", "FoundationEssentials": !isEngine(file)
        default: false
        }
    }

    static let programs = ["islet", "islet-live", "islet-thresholds", "islet-swarm"]
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
                    ?? Floors.isAllowedOutside(module, in: file)
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
        for file in Project.sources where file.target == "IsletLoop" {
            for (line, module) in file.imports {
                #expect(module != "IsletModels", "\(file.path):\(line)")
            }
        }
    }

    @Test func alertTestsNeedNoStudies() throws {
        let tests = try #require(Manifest.targets.first { $0.name == "AlertsTests" })
        #expect(!tests.dependencies.contains("IsletTrials"))
    }

    /// By name: a type that more folders than one declare is not judged.
    @Test func foldersNameNothingOfLaterFolders() {
        for (target, folders) in Floors.folders.sorted(by: { $0.key < $1.key }) {
            let files = Project.sources.filter { $0.target == target }
            let stray = files.filter { file in
                !folders.contains { file.path.hasPrefix("Sources/\(target)/\($0)/") }
            }
            #expect(
                target == "DeviceLinks"
                    || stray.allSatisfy {
                        ["LibM", "Exponential"].map { "Sources/IsletKernel/\($0).swift" }.contains($0.path)
                    },
                "\(stray.map(\.path))")
            for (line, file, name, folder) in Self.upwardNames(files, folders) {
                #expect(Bool(false), "\(file):\(line): \(name) is declared in the later \(target)/\(folder)")
            }
        }
    }

    /// Where a file names a type that only a later folder declares at its top level.
    static func upwardNames(_ files: [SourceFile], _ folders: [String]) -> [(
        line: Int, file: String, name: String, folder: String
    )] {
        let declarations: Set<String> = [
            "struct", "class", "enum", "protocol", "actor", "typealias", "associatedtype",
        ]
        let declaration =
            #/^(?:@\w+ )*(?:(?:public|package|final|indirect) )*(?:struct|class|enum|protocol|actor|typealias) (\w+)/#
        var places: [String: Set<Int>] = [:]
        for file in files {
            guard let place = file.folder.flatMap({ folders.firstIndex(of: $0) }) else { continue }
            for line in file.code where line.first != " " {
                if let match = line.firstMatch(of: declaration) {
                    places[String(match.output.1), default: []].insert(place)
                }
            }
        }
        var found: [(line: Int, file: String, name: String, folder: String)] = []
        for file in files {
            guard let place = file.folder.flatMap({ folders.firstIndex(of: $0) }) else { continue }
            // A type of the file's own, or a parameter of its generics, may bear the name too.
            let lines = file.code.map(Word.all(in:))
            let own = Set(
                lines.flatMap { words in
                    zip(words, words.dropFirst()).filter { declarations.contains($0.0.text) }.map(\.1.text)
                })
            for (index, words) in lines.enumerated() {
                for word in words where word.before != UInt8(ascii: ".") {
                    guard !own.contains(word.text), let declared = places[word.text], declared.count == 1,
                        let later = declared.first, later > place
                    else { continue }
                    found.append((index + 1, file.path, word.text, folders[later]))
                }
            }
        }
        return found
    }

    @Test func theScanOfFoldersFindsWhatItIsFor() {
        func file(_ path: String, _ lines: String...) -> SourceFile {
            SourceFile(path: path, lines: lines, code: Project.blanked(lines))
        }
        let files = [
            file(
                "Sources/IsletLoop/DosingAlgorithms/A.swift", "struct A { var b: B }",
                "let c = Other.B()  // B"),
            file("Sources/IsletLoop/ClosedLoop/B.swift", "package struct B { var a: A }"),
        ]
        let found = Self.upwardNames(files, ["DosingAlgorithms", "ClosedLoop"])
        #expect(found.map(\.line) == [1] && found.map(\.name) == ["B"])
    }
}

/// The groups of products, by what Package.swift says: what reaches what.
@Suite struct GroupTests {
    private static func reach(_ target: String) -> Set<String> {
        var reached: Set<String> = []
        var rest = [target]
        while let name = rest.popLast() {
            guard let target = Manifest.targets.first(where: { $0.name == name }) else { continue }
            guard reached.insert(name).inserted else { continue }
            rest += target.dependencies
        }
        return reached
    }

    private static let core: Set<String> = [
        "CGSL", "CIslet", "IsletKernel", "IsletNumerics", "IsletDevices", "IsletModels", "IsletAlerts",
        "IsletLoop",
        "IsletPeople", "IsletFiles", "IsletTrials", "IsletResults", "IsletCommands",
    ]
    private static let links: Set<String> = ["CCurl", "DeviceLinks", "DriverContract"]
    private static let live: Set<String> = ["CAssets", "IsletLive", "Pages", "Dashboard"]

    /// What another program has, `islet` runs; it is not built for it.
    @Test func isletReachesTheCoreAlone() {
        #expect(Self.reach("islet") == Self.core.union(["islet"]))
        #expect(Self.reach("islet").count <= 14)
    }

    @Test func theOtherProgramsReachTheirGroupsAndTheCore() {
        #expect(
            Self.reach("islet-live").subtracting(Self.core)
                == Self.live.union(["CCurl", "DeviceLinks", "islet-live"]))
        #expect(Self.reach("islet-thresholds").subtracting(Self.core) == ["islet-thresholds"])
        #expect(Self.reach("islet-swarm").subtracting(Self.core) == ["Swarm", "islet-swarm"])
        #expect(Self.reach("DriverContract").subtracting(Self.core) == Self.links)
    }

    /// Outsiders build no parser of arguments and no database.
    @Test func theLibraryIsTheCoreWithoutItsProgram() throws {
        let text = try Project.text("Package.swift")
        let library = try #require(text.firstMatch(of: #/name: "Islet",\s*targets: \[([^\]]*)\]/#))
        let named = Set(library.output.1.matches(of: #/"(\w+)"/#).map { String($0.output.1) })
        #expect(named == Self.core.subtracting(["CGSL", "CIslet", "IsletResults", "IsletCommands"]))
        for target in named {
            #expect(Self.reach(target).isSubset(of: named.union(["CGSL", "CIslet"])), "\(target)")
        }
    }
}
