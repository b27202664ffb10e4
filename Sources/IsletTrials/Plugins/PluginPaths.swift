// Where a program of somebody's own stands, and the Python package that it may import.
//
// Guarantees: a path of a study is relative to its file, and absolute once the program has been started; the files that a study names are hashed.

import Foundation
package import IsletDevices
package import IsletFiles
import IsletKernel
import IsletAlerts
import IsletLoop
import IsletModels

enum PluginPaths {
    /// The folder `Python` beside the program or above it; nil where there is none, and the package has to be installed.
    static func pythonPackage() -> String? {
        var folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        while folder.path().count > 1 {
            for place in ["Python", "share/islet/python"] {
                let candidate = folder.appending(path: place)
                if FileManager.default.fileExists(
                    atPath: candidate.appending(path: "islet/algorithm.py").path())
                {
                    return candidate.path()
                }
            }
            folder = folder.deletingLastPathComponent()
        }
        return nil
    }

    /// The program that loads libraries: `islet`, which runs here or stands beside what does.
    static func islet() -> String {
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let beside = own.deletingLastPathComponent().appending(path: "islet")
        return FileManager.default.isExecutableFile(atPath: beside.path()) ? beside.path() : own.path()
    }

    static func absolute(_ path: String, studyPath: String) -> String {
        URL(filePath: path, relativeTo: URL(filePath: studyPath).deletingLastPathComponent()).absoluteURL
            .standardizedFileURL.path()
    }

    /// With absolute paths, and the SHA-256 of its files.
    /// - Throws: `InputError` where a file isn't there, or is another than the study was run with.
    static func resolve(_ reference: PluginReference, studyPath: String) throws -> PluginReference {
        var (reference, files): (PluginReference, [String]) = (reference, [])
        switch reference.program {
        case .python(let file):
            let path = absolute(file, studyPath: studyPath)
            reference.program = .python(path)
            files = [path]
        case .library(let file):
            let path = absolute(file, studyPath: studyPath)
            reference.program = .library(path)
            files = [path]
        case .command(let words):
            let paths = words.enumerated().map { place, word in
                let path = absolute(word, studyPath: studyPath)
                return place == 0 && !word.contains("/") || !isRegularFile(path) ? word : path
            }
            reference.program = .command(paths)
            files = paths.filter { $0.hasPrefix("/") && isRegularFile($0) }
        }
        var digest = SHA256()
        do {
            for file in files { digest.update(try readInput(file, limitBytes: 1 << 30, onlyRegular: true)) }
        } catch let problem {
            throw InputError(
                file: reference.origin.file, line: reference.origin.line,
                found: "\(problem.found) at \(problem.file)", expected: "the program of the algorithm")
        }
        let found = digest.finished().description
        if let known = reference.sha256, known != found {
            throw InputError(
                file: reference.origin.file, line: reference.origin.line,
                found:
                    "another file than the study was run with: SHA-256 \(found) of \(files.joined(separator: ", "))",
                expected: known)
        }
        reference.sha256 = found
        return reference
    }
}

extension Study {
    /// Whether an arm's algorithm is a program of somebody's own.
    package var hasPlugins: Bool { arms.contains { $0.plugin != nil || $0.listener != nil } }

    /// Starts the programs that arms name: somebody has allowed it. Does nothing for a study of built-in algorithms.
    /// - Parameter studyPath: what their paths are relative to.
    /// - Throws: `InputError` where one can't be had, or does not fit the study.
    package mutating func startAlgorithms(studyPath: String) throws {
        // Each process of a program has three, and a group may have a process for each of its people.
        if hasPlugins { DescriptorLimit.raised(to: 1 << 16) }
        for place in arms.indices {
            if let host = try start(arms[place].plugin, studyPath) {
                arms[place].plugin = ArmPlugin(reference: host.reference, host: host)
                arms[place].algorithm = TunedAlgorithm(host.kind)
                try checkStarted(arms[place], host)
            }
            if let host = try start(arms[place].listener, studyPath) {
                arms[place].listener = ArmPlugin(reference: host.reference, host: host)
            }
            try checkNumbers(of: arms[place])
        }
    }

    /// The same study with the SHA-256 of the programs that its arms name, as they would be run. Starts none.
    /// - Throws: `InputError` where one isn't there.
    package func hashingPrograms(studyPath: String) throws -> Study {
        try changingPrograms { $0.sha256 == nil ? try PluginPaths.resolve($0, studyPath: studyPath) : $0 }
    }

    /// The same study wherever its programs stand.
    var unplacingPrograms: Study { changingPrograms(\.unplaced) }

    private func changingPrograms(
        _ change: (PluginReference) throws -> PluginReference
    ) rethrows -> Study {
        var study = self
        for place in study.arms.indices {
            for part in [\Arm.plugin, \Arm.listener] {
                guard let reference = study.arms[place][keyPath: part]?.reference else { continue }
                study.arms[place][keyPath: part] = ArmPlugin(reference: try change(reference), host: nil)
            }
        }
        return study
    }

    /// - Returns: nil where there is none to be started.
    private func start(_ plugin: ArmPlugin?, _ studyPath: String) throws -> PluginHost? {
        guard let plugin, plugin.host == nil else { return nil }
        let reference = try PluginPaths.resolve(plugin.reference, studyPath: studyPath)
        let known = arms.flatMap { [$0.plugin, $0.listener] }.compactMap(\.self)
        return try known.first { $0.reference == reference && $0.host != nil }?.host ?? PluginHost(reference)
    }

    /// What the programs of an arm answer, against what the policies that hear it compare.
    private func checkNumbers(of arm: Arm) throws(InputError) {
        let hosts = try PluginHosts(arm)
        let names = hosts.all.flatMap { $0.ready.numbers.map(\.name) }
        if let listener = hosts.listener {
            let origin = listener.reference.origin
            func refused(_ found: String, _ expected: String) -> InputError {
                InputError(file: origin.file, line: origin.line, found: found, expected: expected)
            }
            guard !listener.ready.numbers.isEmpty else {
                throw refused("\(listener.ready.name) as a listener", "one that answers numbers of its own")
            }
            if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
                throw refused(
                    "the number \(twice) of the listener and of the algorithm", "numbers with different names"
                )
            }
            let sizes = hosts.all.filter(\.ready.isTogether).map(\.reference.group)
            guard Set(sizes).count <= 1 else {
                throw refused(
                    "groups of \(sizes.map { "\($0)" }.joined(separator: " and "))",
                    "one `group` for an algorithm and a listener that both run together")
            }
        }
        guard let origin = hosts.all.last?.reference.origin else { return }
        for policy in [arm.alerts] + shadowPolicies {
            let known = names + [OwnNumber.silence]
            let asked = policy.ownMetrics.map { String($0.rawValue.dropFirst("own.".count)) }
            guard let other = asked.first(where: { !known.contains($0) }) else { continue }
            let meant = nearest(to: other, among: known).map { " (nearest: `own.\($0)`)" } ?? ""
            throw InputError(
                file: origin.file, line: origin.line,
                found:
                    "own.\(other) in the policy \(quotedForMessage(policy.name)), beside \(hosts.all.map(\.ready.name).joined(separator: " and "))",
                expected: names.isEmpty
                    ? "a program that answers it: this one has no numbers of its own"
                    : "one of \(names.map { "own." + $0 }.joined(separator: ", "))\(meant)")
        }
    }

    /// - Throws: `InputError` where an arm's algorithm is a program that nobody has allowed.
    package func checkAlgorithms() throws(InputError) {
        for arm in arms { _ = try PluginHosts(arm) }
    }

    /// Checks what can be known only once the program has said what it is.
    private func checkStarted(_ arm: Arm, _ host: PluginHost) throws(InputError) {
        let origin = host.reference.origin
        guard !host.ready.isListener else {
            throw InputError(
                file: origin.file, line: origin.line, found: "\(host.ready.name), which only listens",
                expected: "`listener:` beside an algorithm that doses")
        }
        if host.ready.forecastMinutes == nil,
            let asking = ([arm.alerts] + shadowPolicies).first(where: \.asksForForecasts)
        {
            throw InputError(
                file: origin.file, line: origin.line,
                found:
                    "forecastGlucose in the policy \(quotedForMessage(asking.name)), beside \(host.ready.name)",
                expected: "an algorithm that forecasts: \(host.ready.name) makes no forecast")
        }
        guard host.ready.basalSource == .algorithm else { return }
        for kind in FaultKind.all where !kind.strikesClosedLoop && faults.settings[kind.index] != .off {
            throw InputError(
                file: origin.file, line: origin.line,
                found: "\(kind.id) with the arm \(quotedForMessage(arm.name))",
                expected:
                    "arms in open loop only: \(host.ready.name) gives all basal as boluses, and \(kind.id) strikes temporary basal rates alone"
            )
        }
    }

    /// What a manifest says of them.
    package var algorithmFacts: JSONValue? {
        let facts = arms.flatMap { arm in
            [
                arm.plugin?.host?.facts(arm: arm.name, listens: false),
                arm.listener?.host?.facts(arm: arm.name, listens: true),
            ].compactMap(\.self)
        }
        return facts.isEmpty ? nil : .array(facts)
    }

    /// How many subjects, by index, stay together in a shard: 1 where no algorithm is a program of its own.
    package var block: Int {
        arms.flatMap { [$0.plugin, $0.listener] }.compactMap { $0?.reference.group }.max() ?? 1
    }
}
