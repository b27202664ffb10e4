// swift-tools-version: 6.2
import PackageDescription

/// Every Islet target: Swift 6 language mode, warnings are errors, plain async functions stay on
/// their caller's executor (a hop inside a session would cost a job and could leak out of it).
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // Dynamic exclusivity checks cost 8 % of a session. Debug builds and tests keep them.
    .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]

/// One entry a target, by floor: a target imports only from floors below it (ARCHITECTURE.md).
func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
    name: "islet",
    products: [
        .library(name: "SimulationKernel", targets: ["SimulationKernel"]),
        .library(name: "DeviceLinks", targets: ["DeviceLinks"]),
        .executable(name: "islet", targets: ["islet"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        // Floor 0
        .systemLibrary(name: "CGSL", pkgConfig: "gsl", providers: [.apt(["libgsl-dev"])]),
        room("SessionTime"),
        // Optimized always: a debug build hashes itself for the manifest.
        .target(
            name: "Checksums",
            swiftSettings: strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]),
        // Floor 1
        room("GSL", ["CGSL"]),
        room("SimulationKernel", ["SessionTime"]),
        room("Devices", ["SessionTime"]),
        room("Records", ["SessionTime"]),
        // Floor 2
        room("Physiology", ["SessionTime", "GSL", "SimulationKernel", "Devices", "Records"]),
        room("SimulatedDevices", ["SessionTime", "GSL", "SimulationKernel", "Devices", "Records"]),
        room("Alerts", ["SessionTime", "SimulationKernel", "Devices", "Records"]),
        // Floor 3
        room("ClosedLoop", ["SessionTime", "SimulationKernel", "Devices", "Records", "Alerts"]),
        room("Algorithms", ["SessionTime", "Devices"]),
        room("People", ["SessionTime", "GSL", "SimulationKernel", "Devices", "Records", "Alerts"]),
        // Floor 4
        room("Documents", ["Checksums", "SessionTime", "Devices", "Records", "Yams"]),
        room(
            "Persistence",
            [
                "Alerts", "Records", "SessionTime", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        // Floor 5
        room("GlucoseMetrics", ["SessionTime", "Records"]),
        room("AlertFiles", ["SessionTime", "Devices", "Records", "Alerts", "Documents"]),
        room("DeviceLinks", ["SessionTime", "Records"]),
        // Floor 6
        room(
            "Trials",
            [
                "Checksums", "SessionTime", "GSL", "SimulationKernel", "Devices", "Records", "Physiology",
                "SimulatedDevices", "Alerts", "ClosedLoop", "Algorithms", "People", "Documents",
                "GlucoseMetrics", "AlertFiles",
            ]),
        // Floor 7
        room(
            "Swarm",
            [
                "SessionTime", "GSL", "SimulationKernel", "Devices", "Records", "Physiology",
                "SimulatedDevices", "Alerts", "ClosedLoop", "Documents", "Trials",
            ]),
        // Floor 8
        .executableTarget(
            name: "islet",
            dependencies: [
                "Checksums", "Documents", "GlucoseMetrics", "AlertFiles", "Trials", "Swarm", "Persistence",
                "Records", "Physiology", "Devices", "Alerts",
                "SessionTime",
                "SimulationKernel", "DeviceLinks",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),

        .executableTarget(
            name: "islet-bench",
            dependencies: [
                "Documents", "GlucoseMetrics", "AlertFiles", "Trials", "Swarm", "Physiology", "Devices",
                "Records", "SessionTime", "SimulationKernel", "GSL",
            ],
            path: "Benchmarks/IsletBench", swiftSettings: strict),

        tests("GSLTests", ["GSL"]),
        tests("SessionTimeTests", ["SessionTime"]),
        tests("SimulationKernelTests", ["SimulationKernel", "SessionTime"]),
        tests(
            "SimulatedDevicesTests",
            ["SimulatedDevices", "Devices", "Records", "SimulationKernel", "SessionTime", "GSL"]),
        tests(
            "AlertsTests",
            ["Alerts", "AlertFiles", "Documents", "Devices", "Records", "SimulationKernel", "SessionTime"]),
        tests("AlgorithmsTests", ["Algorithms", "Devices", "SessionTime"]),
        tests("ClosedLoopTests", ["ClosedLoop", "Devices", "Records", "SimulationKernel", "SessionTime"]),
        tests("TidyTests", []),
        tests("PhysiologyTests", ["Physiology", "GSL", "SimulationKernel", "Devices", "Records"]),
        tests("DocumentsTests", ["Documents", "Checksums", "Records", "SessionTime"]),
        tests("GlucoseMetricsTests", ["GlucoseMetrics", "Records", "SessionTime"]),
        tests(
            "SwarmTests",
            [
                "Swarm", "Trials", "Documents", "Records", "SessionTime", "SimulationKernel", "Physiology",
                "Devices", "Alerts", "SimulatedDevices", "ClosedLoop", "Algorithms",
            ]),
        tests(
            "TrialsTests",
            [
                "Checksums", "Documents", "GlucoseMetrics", "AlertFiles", "Trials", "Swarm", "Records",
                "SessionTime", "SimulationKernel", "Physiology", "Devices", "Alerts", "SimulatedDevices",
                "ClosedLoop", "Algorithms",
            ]),
        tests(
            "PersistenceTests",
            ["Persistence", "Records", "SessionTime", "Alerts", "Devices", "SimulationKernel"]),
        // A test kit: an HTTP server that fails on purpose.
        .target(name: "FaultyServer", path: "Tests/FaultyServer", swiftSettings: strict),
        tests("DeviceLinksTests", ["DeviceLinks", "FaultyServer", "Persistence", "Records"]),
        tests("IsletTests", ["islet", "FaultyServer"]),
    ]
)
