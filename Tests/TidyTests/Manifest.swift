// Package.swift as tidy tests see it: targets with their floors and dependencies, read from its text.

import Foundation

struct ManifestTarget {
    var name: String
    /// nil for test targets and tools.
    var floor: Int?
    var dependencies: [String]
    /// From the project's root.
    var folder: String
    var isTest: Bool
}

enum Manifest {
    static let targets: [ManifestTarget] = {
        guard let text = try? Project.text("Package.swift"), let start = text.range(of: "    targets: [\n")
        else {
            return []
        }
        return parsed(String(text[start.upperBound...]))
    }()

    static func floor(of target: String) -> Int? { targets.first { $0.name == target }?.floor }

    /// The entries of `text`, which begins within the list of targets. A comment `// Floor N` holds for the library and
    /// program targets below it, up to the tools: those with a path of their own.
    static func parsed(_ text: String) -> [ManifestTarget] {
        var found: [ManifestTarget] = []
        var floor: Int?
        var rest = text[...]
        let entry = #/// Floor (\d+)|(?:module|tests|\.target|\.executableTarget|\.systemLibrary)\(/#
        while let match = rest.firstMatch(of: entry) {
            if let number = match.output.1 {
                floor = Int(number)
                rest = rest[match.range.upperBound...]
                continue
            }
            let body = balanced(rest[match.range.upperBound...])
            rest = rest[body.endIndex...]
            let isTest = match.output.0.hasPrefix("tests")
            guard let name = body.firstMatch(of: #/"([^"]+)"/#).map({ String($0.output.1) }) else { continue }
            let path = body.firstMatch(of: #/path: "([^"]+)"/#).map { String($0.output.1) }
            let packages =
                body.matches(of: #/package: "([^"]+)"/#).map { String($0.output.1) }
                + body.matches(of: #/(?:serving|encrypting)\("[^"]+", "([^"]+)"\)/#).map {
                    String($0.output.1)
                }
            let list = body.firstIndex(of: "[").map { body[$0...] } ?? ""
            let end =
                ["exclude", "swiftSettings"].compactMap { list.range(of: $0)?.lowerBound }.min()
                ?? list.endIndex
            let dependencies = list[..<end].matches(of: #/"([^"]+)"/#).map { String($0.output.1) }
                .filter { !packages.contains($0) && $0 != path }
            let isSystem = match.output.0.hasPrefix(".systemLibrary")
            found.append(
                ManifestTarget(
                    name: name, floor: isTest || path != nil ? nil : floor,
                    dependencies: isSystem ? [] : dependencies,
                    folder: path ?? (isTest ? "Tests/" : "Sources/") + name, isTest: isTest))
        }
        return found
    }

    /// Up to the parenthesis that closes what was opened before.
    private static func balanced(_ text: Substring) -> Substring {
        var depth = 1
        for index in text.indices {
            if text[index] == "(" { depth += 1 } else if text[index] == ")" { depth -= 1 }
            if depth == 0 { return text[..<index] }
        }
        return text
    }
}
