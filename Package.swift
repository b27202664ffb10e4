// swift-tools-version: 6.2
import PackageDescription

/// Every Islet target: Swift 6 language mode, warnings are errors, plain async functions stay on
/// their caller's executor (a hop inside a session would cost a job and could leak out of it). No unsafe flags: they
/// would forbid others to depend on this package. What a release build wants beyond this stands in `.ci/release.sh`.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// One entry a target, below the comment that says its floor: a target imports only from floors below it. `TidyTests`
/// reads the floors here.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// A product of a package that only `islet-live serve` needs.
func serving(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Serve"]))
}

let package = Package(
    name: "islet",
    products: [
        .library(name: "SimulationKernel", targets: ["SimulationKernel", "SessionTime"]),
        .library(
            name: "Trials",
            targets: [
                "Trials", "SessionTime", "SimulationKernel", "Devices", "Records", "Physiology",
                "SimulatedDevices", "Alerts", "AlertMetrics", "ClosedLoop", "DosingAlgorithms", "People",
            ]),
        .library(name: "DeviceLinks", targets: ["DeviceLinks", "LinkedDevices", "DriverContract"]),
        .executable(name: "islet", targets: ["islet"]),
        .executable(name: "islet-live", targets: ["islet-live"]),
    ],
    traits: [
        // What `islet-live serve` needs. Without it nothing more is resolved or built than for `islet`.
        .trait(name: "Serve", description: "The web page and the API of `islet-live serve`.")
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
    ],
    targets: [
        // Floor 0
        .systemLibrary(name: "CGSL", pkgConfig: "gsl", providers: [.apt(["libgsl-dev"])]),
        module("SessionTime"),
        .target(name: "CSHA256"),
        .systemLibrary(name: "CThread"),
        // Floor 1
        module("Checksums", ["CSHA256"]),
        module("GSL", ["CGSL"]),
        module("SimulationKernel", ["SessionTime", "CThread"]),
        module("Charts", ["SessionTime"]),
        module("Devices", ["SessionTime"]),
        module("Records", ["SessionTime"]),
        // Floor 2
        module("Physiology", ["SessionTime", "GSL", "SimulationKernel", "Devices", "Records"]),
        module("SimulatedDevices", ["SessionTime", "GSL", "SimulationKernel", "Devices", "Records"]),
        module("LinkedDevices", ["SessionTime", "SimulationKernel", "Devices", "Records"]),
        module("Alerts", ["SessionTime", "SimulationKernel", "Devices", "Records"]),
        module("GrowRoom", ["SessionTime", "GSL", "SimulationKernel"]),
        // Floor 3
        module("ClosedLoop", ["SessionTime", "SimulationKernel", "Devices", "Records"]),
        module("DosingAlgorithms", ["SessionTime", "Devices"]),
        module("AlertMetrics", ["SessionTime", "Records", "Alerts"]),
        module(
            "People",
            ["SessionTime", "GSL", "SimulationKernel", "Devices", "Records", "Physiology", "Alerts"]),
        // Floor 4
        module("Documents", ["Checksums", "SessionTime", "Devices", "Records", "Yams"]),
        // Floor 5
        module(
            "Persistence",
            [
                "Alerts", "Documents", "Records", "SessionTime",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        module("GlucoseMetrics", ["SessionTime", "Records", "Documents"]),
        module(
            "AlertFiles",
            ["SessionTime", "Charts", "Devices", "Records", "Alerts", "GrowRoom", "Documents"]),
        module(
            "DeviceLinks",
            [
                "Alerts", "Checksums", "SessionTime", "Records", "Devices", "LinkedDevices",
                "SimulationKernel",
                "SimulatedDevices",
            ]),
        // Floor 6
        module("DriverContract", ["LinkedDevices", "DeviceLinks"]),
        module(
            "Trials",
            [
                "Checksums", "SessionTime", "GSL", "SimulationKernel", "Devices", "LinkedDevices",
                "Records", "Physiology",
                "SimulatedDevices", "Alerts", "AlertMetrics", "ClosedLoop", "DosingAlgorithms", "People",
                "GrowRoom", "Documents", "GlucoseMetrics", "AlertFiles", "Charts",
            ]),
        // Floor 7
        module(
            "Reports",
            [
                "Alerts", "DosingAlgorithms", "Charts", "Devices", "Documents", "People", "Physiology",
                "Records",
                "SessionTime", "SimulatedDevices", "Trials",
            ]),
        module(
            "Swarm",
            [
                "SessionTime", "GSL", "SimulationKernel", "Devices", "Records", "Physiology",
                "SimulatedDevices", "Alerts", "ClosedLoop", "People", "Documents", "Trials",
            ]),
        module(
            "Live",
            [
                "Checksums", "SessionTime", "SimulationKernel", "Devices", "LinkedDevices", "DeviceLinks",
                "AlertFiles", "Records", "Physiology", "SimulatedDevices", "Alerts", "DosingAlgorithms",
                "ClosedLoop",
                "Documents", "Trials",
            ]),
        // Floor 8
        .target(
            name: "Ward",
            dependencies: [
                "AlertFiles", "Alerts", "ClosedLoop", "Devices", "Documents", "DosingAlgorithms",
                "Live", "Persistence",
                "Physiology", "Records", "SessionTime", "SimulationKernel", "Trials",
            ],
            resources: [.embedInCode("Demonstration")], swiftSettings: strict),
        // Floor 9
        .target(
            name: "Pages",
            dependencies: [
                "AlertFiles", "Alerts", "Charts", "ClosedLoop", "Devices", "DosingAlgorithms", "Live",
                "Records", "SessionTime", "Ward",
            ],
            resources: [.embedInCode("Assets")], swiftSettings: strict),
        // Floor 10
        module(
            "Dashboard",
            [
                "Alerts", "Charts", "Checksums", "ClosedLoop", "Devices", "Documents", "Live", "Pages",
                "Records", "SessionTime", "Trials", "Ward",
                serving("Hummingbird", "hummingbird"), serving("HummingbirdCore", "hummingbird"),
                serving("HummingbirdTLS", "hummingbird"),
                serving("HTTPTypes", "swift-http-types"),
                serving("Logging", "swift-log"),
                serving("NIOCore", "swift-nio"), serving("NIOPosix", "swift-nio"),
                serving("NIOSSL", "swift-nio-ssl"),
            ]),
        // Floor 11
        .executableTarget(
            name: "islet",
            dependencies: [
                "Charts", "Checksums", "Documents", "GlucoseMetrics", "AlertFiles", "Trials", "Reports",
                "Swarm", "Live", "Persistence",
                "Records", "Physiology", "Devices", "Alerts", "DosingAlgorithms",
                "SessionTime",
                "SimulationKernel", "DeviceLinks",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "islet-live",
            dependencies: [
                "Alerts", "ClosedLoop", "Dashboard", "DeviceLinks", "Devices", "Documents", "Live",
                "Persistence",
                "Records",
                "SessionTime", "Trials", "Ward",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                serving("Logging", "swift-log"),
            ],
            swiftSettings: strict),

        .executableTarget(
            name: "islet-bench",
            dependencies: [
                "AlertFiles", "Alerts", "Checksums", "Dashboard", "Documents", "GlucoseMetrics",
                "Persistence",
                "Trials", "Live", "Physiology", "Devices",
                "Records", "SessionTime", "SimulationKernel", "GSL", "Ward",
            ],
            path: "Benchmarks/IsletBench", swiftSettings: strict),

        tests("GSLTests", ["GSL"]),
        tests("SessionTimeTests", ["SessionTime"]),
        tests("ChartsTests", ["Charts", "SessionTime"]),
        tests("SimulationKernelTests", ["SimulationKernel", "SessionTime"]),
        tests(
            "SimulatedDevicesTests",
            ["SimulatedDevices", "Devices", "Records", "SimulationKernel", "SessionTime", "GSL"]),
        tests(
            "AlertsTests",
            ["Alerts", "AlertFiles", "Documents", "Devices", "Records", "SimulationKernel", "SessionTime"]),
        tests(
            "AlertMetricsTests",
            ["AlertMetrics", "Alerts", "AlertFiles", "Documents", "Records", "SessionTime"]),
        tests("GrowRoomTests", ["GrowRoom", "SimulationKernel", "SessionTime"]),
        tests("AlgorithmsTests", ["DosingAlgorithms", "Devices", "SessionTime"]),
        tests(
            "LinkedDevicesTests",
            [
                "LinkedDevices", "DeviceLinks", "ClosedLoop", "Devices", "Records", "SimulationKernel",
                "SessionTime", "SimulatedDevices",
            ]),
        tests("ClosedLoopTests", ["ClosedLoop", "Devices", "Records", "SimulationKernel", "SessionTime"]),
        tests(
            "PeopleTests",
            ["People", "GSL", "Alerts", "Devices", "Records", "SimulationKernel", "SessionTime"]),
        tests("TidyTests", []),
        tests(
            "PhysiologyTests",
            ["Physiology", "GSL", "SimulationKernel", "SessionTime", "Devices", "Records"]),
        tests("DocumentsTests", ["Documents", "Checksums", "CSHA256", "Records"]),
        tests("GlucoseMetricsTests", ["GlucoseMetrics", "Documents", "Records"]),
        tests(
            "SwarmTests",
            [
                "Swarm", "Trials", "Documents", "Records", "SessionTime", "SimulationKernel", "Physiology",
                "Devices", "SimulatedDevices", "ClosedLoop", "DosingAlgorithms",
            ]),
        tests(
            "LiveTests",
            [
                "Live", "LinkedDevices", "DeviceLinks", "Trials", "Documents", "Records", "SessionTime",
                "SimulationKernel", "Devices",
                "ClosedLoop", "Alerts", "AlertFiles", "DosingAlgorithms", "Physiology", "FaultyServer",
                "islet",
                "islet-live",
            ]),
        tests(
            "TrialsTests",
            [
                "Charts", "Documents", "GlucoseMetrics", "AlertFiles", "Trials", "GSL", "Records",
                "SessionTime", "SimulationKernel", "Physiology", "Devices", "Alerts", "SimulatedDevices",
                "ClosedLoop", "DosingAlgorithms", "People",
            ]),
        tests(
            "PersistenceTests",
            ["Persistence", "Records", "SessionTime", "Alerts", "Devices", "SimulationKernel"]),
        // A test kit: an HTTP server that fails on purpose.
        .target(name: "FaultyServer", path: "Tests/FaultyServer", swiftSettings: strict),
        tests(
            "DeviceLinksTests",
            [
                "Alerts", "Checksums", "DeviceLinks", "DriverContract", "LinkedDevices", "SessionTime",
                "FaultyServer", "Persistence", "Records",
            ]),
        tests(
            "PagesTests",
            [
                "Alerts", "Charts", "ClosedLoop", "Devices", "Live", "Pages", "Records", "SessionTime",
                "Ward",
            ]),
        tests(
            "DashboardTests",
            [
                "AlertFiles", "Alerts", "Dashboard", "Documents", "Live", "Pages", "Persistence",
                "SessionTime",
                "Ward",
            ]),
        tests("ReportsTests", ["Reports", "Trials", "Charts", "Records", "SessionTime"]),
        tests("IsletTests", ["islet", "islet-live", "FaultyServer"]),
    ]
)
