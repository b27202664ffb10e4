// swift-tools-version: 6.2
// A package that depends on Islet, as others would: its kernel alone, and a session with an algorithm of its own.
import PackageDescription

let package = Package(
    name: "LibraryUser",
    dependencies: [.package(name: "islet", path: "../..")],
    targets: [
        .executableTarget(
            name: "LibraryUser",
            dependencies: [.product(name: "Islet", package: "islet")])
    ]
)
