// `islet doctor`: what this program is made of and stands on, and whether results can be trusted to be the same here.

import ArgumentParser
import Foundation
import IsletCommands
import IsletDevices
import IsletFiles
import IsletResults
import IsletTrials

/// `islet doctor`
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract:
            "Say what this program is made of and stands on: versions, libraries, disk, numeric fingerprint.",
        discussion: """
            Each line is a fact, what is wrong begins with `!`, and then the exit code is 1. With results folders: whether this program can live
            their sessions again, by engine and numeric fingerprint.

            Examples:
              islet doctor
              islet doctor results/quickstart
            """)

    @Argument(help: "Results folders to look at.", completion: .directory)
    var directories: [String] = []

    /// Less than this is too little for a study of a thousand people.
    private static let leastDisk = 1 << 30

    private struct Finding {
        var name: String
        var text: String
        var isWrong = false
    }

    func run() throws {
        var findings = program + machine + disks
        for directory in directories { findings += try looked(at: directory) }
        let width = findings.map(\.name.count).max() ?? 0
        for finding in findings {
            let padding = String(repeating: " ", count: width - finding.name.count)
            try StandardStream.output.writeLine(
                "\(finding.isWrong ? "!" : " ") \(finding.name)\(padding)  \(finding.text)")
        }
        let wrong = findings.count(where: \.isWrong)
        if wrong > 0 {
            throw CheckFailure(message: "\(wrong) finding\(wrong == 1 ? "" : "s"), marked with !")
        }
    }

    // MARK: Program

    private var program: [Finding] {
        let facts = RunningProgram().facts
        var found = [
            Finding(
                name: "islet",
                text:
                    "\(BuildFacts.version), engine \(BuildFacts.engine), \(BuildFacts.configuration) build, \(BuildFacts.toolchain)"
            ),
            Finding(
                name: "built from",
                text: facts.commit.map { "commit \($0)" } ?? "a commit that is not known here"),
            Finding(name: "program", text: "SHA-256 \(facts.sha256 ?? "not known")"),
            Finding(name: "libraries", text: "GSL \(BuildFacts.gsl), SQLite \(SQLiteLibrary.version)"),
            Finding(name: "fingerprint", text: "\(NumericFingerprint.here), of this machine's mathematics"),
        ]
        for other in [OtherProgram.live, .thresholds, .swarm] {
            let isThere = (try? other.path).map { FileManager.default.isExecutableFile(atPath: $0) } ?? false
            found.append(
                Finding(
                    name: other.rawValue,
                    text: isThere ? "stands beside it" : "is not there: its commands leave with 66"))
        }
        return found
    }

    private var machine: [Finding] {
        let info = ProcessInfo.processInfo
        let memory = Double(info.physicalMemory) / Double(1 << 30)
        return [
            Finding(
                name: "machine",
                text:
                    "\(info.activeProcessorCount) processors, \(SummaryText.decimal(memory)) GB of memory, \(info.operatingSystemVersionString)"
            )
        ]
    }

    // MARK: Disk

    private var disks: [Finding] {
        let here = FileManager.default.currentDirectoryPath
        return [("here", here), ("temporary", FileManager.default.temporaryDirectory.path)].map {
            disk($0.0, $0.1)
        }
    }

    private func disk(_ name: String, _ path: String) -> Finding {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: path)
        guard let free = (attributes?[.systemFreeSize] as? NSNumber)?.int64Value else {
            return Finding(name: name, text: "\(path): the disk says nothing of its room", isWrong: true)
        }
        let room = "\(SummaryText.decimal(Double(free) / Double(1 << 30))) GB free"
        guard FileManager.default.isWritableFile(atPath: path) else {
            return Finding(
                name: name, text: "\(path): \(room), and nothing can be written there", isWrong: true)
        }
        let isLittle = free < Self.leastDisk
        return Finding(
            name: name, text: "\(path): \(room)\(isLittle ? ", too little for a large study" : "")",
            isWrong: isLittle)
    }

    // MARK: Results

    private func looked(at directory: String) throws -> [Finding] {
        let folder = ResultFolder(path: directory)
        let identity = try RunIdentity(of: folder)
        let isEngine = identity.engine == BuildFacts.engine
        let isSame = identity.fingerprint == NumericFingerprint.here
        return [
            Finding(
                name: directory,
                text: isEngine
                    ? "engine \(identity.engine): its sessions can be lived again"
                    : "engine \(identity.engine), this program is engine \(BuildFacts.engine): Islet \(printable(identity.version, limit: 40)) lives them again",
                isWrong: !isEngine),
            Finding(
                name: directory,
                text: isSame
                    ? "fingerprint as here: digests are comparable to the bit"
                    : "fingerprint \(printable(identity.fingerprint, limit: 40)), another than here: digests may differ in their last bits",
                isWrong: !isSame),
        ]
    }
}
