// swift-tools-version: 6.2
import PackageDescription

/// Every Islet target: Swift 6 language mode, warnings are errors, plain async functions stay on
/// their caller's executor (a hop inside a session would cost a job and could leak out of it). No unsafe flags but in
/// our own debug builds: they would forbid others to depend on this package. What a release build wants beyond this
/// stands in `.ci/release.sh`.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// `.ci/debug.sh` has the modules optimised that a session lives in: tests live through months of many people, five times as
/// fast. What reads, writes and shows is not, nor what goes through a study and calls them, nor the tests: it would take
/// four times as long to build, which is longer than it runs.
let optimised: [SwiftSetting] =
    Context.environment["ISLET_OPTIMISED"] == nil
    ? [] : [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// The same of C: each run of a program hashes the program with it.
let optimisedC: [CSetting] =
    Context.environment["ISLET_OPTIMISED"] == nil ? [] : [.unsafeFlags(["-O2"], .when(configuration: .debug))]

/// `.ci/release.sh` and `.ci/debug.sh` have modules imported before they are compiled, so that two are compiled at once all
/// the time. Nothing of such a module is inlined elsewhere: what is called for each number stands in floors 1 and 2.
let early: [SwiftSetting] = Context.environment["ISLET_EARLY"] == nil ? [] : [.unsafeFlags(["-disable-cmo"])]

/// One entry a target, below the comment that says its floor: a target imports only from floors below it. `TidyTests`
/// reads the floors here.
func module(
    _ name: String, _ dependencies: [Target.Dependency] = [],
    _ settings: [SwiftSetting] = strict + optimised + early
) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    // What tests read and no compiler does.
    let exclude = name == "LiveTests" ? ["Journals"] : []
    return .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

/// A product of a package that only `islet-live serve` needs.
func serving(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Serve"]))
}

/// A product of a package that `islet-live serve` needs where it speaks TLS itself.
func encrypting(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["TLS"]))
}

let package = Package(
    name: "islet",
    products: [
        .library(
            name: "Islet",
            targets: [
                "IsletKernel", "IsletNumerics", "IsletDevices", "IsletModels", "IsletAlerts", "IsletLoop",
                "IsletPeople", "IsletFiles", "IsletTrials",
            ]),
        .library(name: "DeviceLinks", targets: ["DeviceLinks", "DriverContract"]),
        .executable(name: "islet", targets: ["islet"]),
        .executable(name: "islet-live", targets: ["islet-live"]),
        .executable(name: "islet-thresholds", targets: ["islet-thresholds"]),
        .executable(name: "islet-swarm", targets: ["islet-swarm"]),
    ],
    traits: [
        // What `islet-live serve` needs. Without it nothing more is resolved or built than for `islet`.
        .trait(name: "Serve", description: "The web page and the API of `islet-live serve`."),
        // Most of what a build with it takes, for a port that is loopback's by default.
        .trait(
            name: "TLS", description: "TLS for `islet-live serve` beyond this machine.",
            enabledTraits: ["Serve"]),
    ],
    // What was resolved last stands in Tests/resolved.json, and CI compares it.
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    targets: [
        // Core: what `islet` is built of.
        // Floor 0
        .systemLibrary(
            name: "CGSL", pkgConfig: "gsl", providers: [.apt(["libgsl-dev"]), .brew(["gsl"])]),
        .target(name: "CIslet", cSettings: optimisedC),
        // Floor 1
        module("IsletKernel", ["CIslet"], strict + optimised),
        module("IsletNumerics", ["CGSL"], strict + optimised),
        // Floor 2
        module("IsletDevices", ["IsletKernel"], strict + optimised),
        // Floor 3
        module("IsletModels", ["IsletKernel", "IsletNumerics", "IsletDevices"]),
        module("IsletAlerts", ["IsletKernel", "IsletDevices"]),
        module("IsletLoop", ["IsletKernel", "IsletDevices"]),
        // Floor 4
        module(
            "IsletPeople",
            ["IsletKernel", "IsletNumerics", "IsletDevices", "IsletModels", "IsletAlerts"]),
        // Floor 5
        module(
            "IsletFiles", ["CIslet", "IsletKernel", "IsletDevices", "IsletModels", "IsletAlerts", "Yams"],
            strict + early),
        // Floor 6
        module(
            "IsletTrials",
            [
                "CIslet", "IsletKernel", "IsletNumerics", "IsletDevices", "IsletModels", "IsletAlerts",
                "IsletLoop",
                "IsletPeople", "IsletFiles",
            ], strict + early),
        // Floor 7
        module(
            "IsletResults",
            [
                "IsletKernel", "IsletNumerics", "IsletDevices", "IsletModels", "IsletAlerts", "IsletLoop",
                "IsletPeople", "IsletFiles", "IsletTrials", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ], strict + early),
        // Floor 8
        module(
            "IsletCommands",
            [
                "IsletDevices", "IsletLoop", "IsletFiles", "IsletTrials", "IsletResults",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], strict + early),
        // Floor 11
        .executableTarget(
            name: "islet",
            dependencies: [
                "IsletKernel", "IsletDevices", "IsletModels", "IsletAlerts", "IsletFiles", "IsletTrials",
                "IsletResults", "IsletCommands",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),

        // Links: devices outside of a session.
        // Floor 0
        .target(name: "CCurl"),
        // Floor 5
        module(
            "DeviceLinks", ["CCurl", "IsletKernel", "IsletDevices", "IsletModels", "IsletAlerts"],
            strict + early),
        // Floor 6
        module("DriverContract", ["DeviceLinks"], strict + early),

        // Live: sessions in real time.
        // Floor 0
        .target(name: "CAssets"),
        // Floor 8
        .target(
            name: "IsletLive",
            dependencies: [
                "CAssets", "IsletKernel", "IsletDevices", "IsletModels", "IsletAlerts", "IsletLoop",
                "IsletFiles",
                "IsletTrials", "IsletResults", "DeviceLinks",
            ],
            exclude: ["Ward/Demonstration"], swiftSettings: strict + early),
        // Floor 9
        .target(
            name: "Pages",
            dependencies: [
                "CAssets", "IsletKernel", "IsletDevices", "IsletAlerts", "IsletLoop", "IsletFiles",
                "IsletTrials",
                "IsletLive",
            ],
            exclude: ["Assets"], swiftSettings: strict + early),
        // Floor 10
        module(
            "Dashboard",
            [
                "IsletKernel", "IsletDevices", "IsletAlerts", "IsletLoop", "IsletFiles", "IsletTrials",
                "IsletLive", "Pages", serving("Hummingbird", "hummingbird"),
                serving("HummingbirdCore", "hummingbird"), serving("HTTPTypes", "swift-http-types"),
                serving("Logging", "swift-log"), serving("NIOCore", "swift-nio"),
                serving("NIOPosix", "swift-nio"), encrypting("HummingbirdTLS", "hummingbird"),
                encrypting("NIOSSL", "swift-nio-ssl"),
            ], strict + early),
        // Floor 11
        .executableTarget(
            name: "islet-live",
            dependencies: [
                "IsletKernel", "IsletDevices", "IsletModels", "IsletAlerts", "IsletLoop", "IsletFiles",
                "IsletTrials", "IsletResults", "IsletCommands", "DeviceLinks", "IsletLive", "Dashboard",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                serving("Logging", "swift-log"),
            ],
            swiftSettings: strict),

        // Thresholds: an owner's store.
        // Floor 11
        .executableTarget(
            name: "islet-thresholds",
            dependencies: [
                "IsletKernel", "IsletDevices", "IsletAlerts", "IsletFiles", "IsletTrials", "IsletResults",
                "IsletCommands", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),

        // Workshop: what the project is tried with.
        // Floor 8
        module(
            "Swarm",
            [
                "IsletKernel", "IsletNumerics", "IsletDevices", "IsletModels", "IsletAlerts", "IsletLoop",
                "IsletPeople", "IsletFiles", "IsletTrials",
            ]),
        // Floor 11
        .executableTarget(
            name: "islet-swarm",
            dependencies: [
                "IsletDevices", "IsletLoop", "IsletFiles", "IsletTrials", "IsletCommands", "Swarm",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "islet-bench",
            dependencies: [
                "IsletKernel", "IsletNumerics", "IsletDevices", "IsletModels", "IsletAlerts", "IsletLoop",
                "IsletFiles", "IsletTrials", "IsletResults", "DeviceLinks", "IsletLive", "Dashboard",
            ],
            path: "Benchmarks/IsletBench", swiftSettings: strict),

        // Tests
        // A test kit: an HTTP server that fails on purpose.
        .target(
            name: "FaultyServer", dependencies: ["DeviceLinks"], path: "Tests/FaultyServer",
            swiftSettings: strict),
        tests("AlertMetricsTests", ["IsletKernel", "IsletDevices", "IsletAlerts", "IsletFiles"]),
        tests("AlertsTests", ["IsletKernel", "IsletDevices", "IsletAlerts", "IsletFiles"]),
        tests("AlgorithmsTests", ["IsletKernel", "IsletDevices", "IsletLoop"]),
        tests("ChartsTests", ["IsletKernel", "IsletDevices", "IsletFiles"]),
        tests("ClosedLoopTests", ["IsletKernel", "IsletDevices", "IsletLoop"]),
        tests(
            "DashboardTests",
            [
                "IsletKernel", "IsletDevices", "IsletAlerts", "IsletLoop", "IsletFiles", "IsletTrials",
                "IsletResults", "IsletLive", "Pages", "Dashboard",
            ]),
        tests(
            "DeviceLinksTests",
            [
                "IsletKernel", "IsletDevices", "IsletAlerts", "IsletResults", "DeviceLinks",
                "DriverContract", "FaultyServer",
            ]),
        tests("DocumentsTests", ["CIslet", "IsletKernel", "IsletDevices", "IsletFiles"]),
        tests("GSLTests", ["IsletNumerics"]),
        tests("GlucoseMetricsTests", ["IsletDevices", "IsletFiles"]),
        tests("GrowRoomTests", ["IsletKernel", "IsletModels"]),
        tests(
            "IsletTests",
            ["IsletTrials", "FaultyServer", "islet", "islet-live", "islet-thresholds", "islet-swarm"]),
        tests(
            "LinkedDevicesTests",
            ["IsletKernel", "IsletDevices", "IsletModels", "IsletLoop", "DeviceLinks"]),
        tests(
            "LiveTests",
            [
                "IsletKernel", "IsletDevices", "IsletModels", "IsletAlerts", "IsletLoop", "IsletFiles",
                "IsletTrials", "DeviceLinks", "IsletLive", "FaultyServer", "islet", "islet-live",
            ]),
        tests(
            "PagesTests",
            [
                "IsletKernel", "IsletDevices", "IsletAlerts", "IsletLoop", "IsletFiles", "IsletTrials",
                "IsletLive", "Pages",
            ]),
        tests(
            "PeopleTests",
            ["IsletKernel", "IsletNumerics", "IsletDevices", "IsletAlerts", "IsletModels", "IsletPeople"]),
        tests("PersistenceTests", ["IsletKernel", "IsletDevices", "IsletAlerts", "IsletResults"]),
        tests("PhysiologyTests", ["IsletKernel", "IsletNumerics", "IsletDevices", "IsletModels"]),
        tests("ReportsTests", ["IsletKernel", "IsletDevices", "IsletFiles", "IsletTrials", "IsletResults"]),
        tests("SessionTimeTests", ["IsletKernel"]),
        tests("SimulatedDevicesTests", ["IsletKernel", "IsletNumerics", "IsletDevices", "IsletModels"]),
        tests("SimulationKernelTests", ["IsletKernel"]),
        tests(
            "SwarmTests",
            [
                "IsletKernel", "IsletDevices", "IsletModels", "IsletLoop", "IsletFiles", "IsletTrials",
                "Swarm",
            ]),
        tests("TidyTests", []),
        tests(
            "TrialsTests",
            [
                "CIslet", "IsletKernel", "IsletNumerics", "IsletDevices", "IsletModels", "IsletAlerts",
                "IsletLoop",
                "IsletPeople", "IsletFiles", "IsletTrials",
            ]),
    ]
)

// `ISLET_TESTS='AlertsTests|TidyTests'`: those test targets, and of all other targets what they stand on. A build with
// `--build-tests` is of everything else; `make check` needs no more.
if let wanted = Context.environment["ISLET_TESTS"]?.split(separator: "|").map(String.init) {
    let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
    var reached: Set<String> = []
    var next = wanted.filter { targets[$0] != nil }
    while let name = next.popLast() {
        guard let target = targets[name], reached.insert(name).inserted else { continue }
        for dependency in target.dependencies {
            switch dependency {
            case .targetItem(let name, _), .byNameItem(let name, _): next.append(name)
            default: break
            }
        }
    }
    package.targets.removeAll { !reached.contains($0.name) }
    package.products.removeAll { product in
        let names = (product as? Product.Library)?.targets ?? (product as? Product.Executable)?.targets ?? []
        return !names.allSatisfy(reached.contains)
    }
}
