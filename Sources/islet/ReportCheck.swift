// Is a folder's report the page that its results make?
//
// Guarantees: the page is made again and compared to the byte; where another program made it, whose words may be others, each number that names its place in
// summary.json is compared.

import Foundation
import IsletDevices
import IsletFiles
import IsletResults
import IsletTrials

struct ReportCheck {
    let folder: ResultFolder
    let store: any ResultStore
    let studyPath: String
    let jobs: Int
    let allowsAlgorithms: Bool
    let isInterrupted: @Sendable () -> Bool

    /// What is off, and what could not be told.
    func result() throws -> (findings: [String], note: String?) {
        let name = "report.html"
        guard try isThere(folder.reportPath), try folder.isComplete() else {
            return ([], nil)
        }
        let study = try Study.parse(try store.studyText(), file: folder.storePath, hasRun: true)
        guard !study.hasPlugins || allowsAlgorithms else {
            return ([], "\(name): not made again: its algorithms are programs (--allow-algorithm)")
        }
        let identity = try RunIdentity(of: folder)
        guard identity.engine == BuildFacts.engine, identity.fingerprint == NumericFingerprint.here else {
            return ([], "\(name): not made again: its sessions can't be run again here with the same bits")
        }
        let bytes = try readInput(folder.reportPath, limitBytes: 1 << 28, onlyRegular: true)
        let found = String(decoding: bytes, as: UTF8.self)
        // Nothing says in which unit it was made, and any text of the study's may name the other.
        var expected = ""
        for unit in found.contains(GlucoseUnit.mmolL.rawValue) ? [GlucoseUnit.mgdl, .mmolL] : [.mgdl] {
            let made = try FolderReport(
                folder, store: store, studyPath: studyPath, jobs: jobs, unit: unit,
                allowsAlgorithms: allowsAlgorithms, isInterrupted: isInterrupted
            ).page.html
            guard Array(made.utf8) != bytes else { return ([], nil) }
            if expected.isEmpty || !found.contains(GlucoseUnit.mgdl.rawValue) { expected = made }
        }
        let path = folder.file("summary.json")
        let summary = try JSONValue.read(readInput(path, limitBytes: 1 << 30, onlyRegular: true), file: path)
        let numbers = Self.wrongNumbers(of: found, in: summary).map { "\(name): \($0)" }
        let here = RunningProgram().facts.sha256
        guard folder.pageProgram() == here else {
            return (
                numbers,
                "\(name): another program made it, whose words may be others: its numbers were compared, not its words"
            )
        }
        return (numbers.isEmpty ? ["\(name): " + Self.firstDifference(found, expected)] : numbers, nil)
    }

    /// Numbers that are not those of summary.json, at most a few: each names its place there.
    private static func wrongNumbers(of page: String, in summary: JSONValue) -> [String] {
        var lines: [String] = []
        for part in page.components(separatedBy: "data-path=\"").dropFirst() {
            guard let end = part.firstIndex(of: "\""), let open = part[end...].firstIndex(of: ">") else {
                continue
            }
            let path = String(part[..<end])
            let attributes = part[end..<open]
            let text = String(part[part.index(after: open)...].prefix { $0 != "<" })
            guard let value = value(at: path, in: summary) else {
                lines.append("\(printable(path, limit: 120)) is no number of summary.json")
                continue
            }
            func attribute(_ key: String) -> Double? {
                attributes.components(separatedBy: "\(key)=\"").dropFirst().first
                    .flatMap { Double($0.prefix { $0 != "\"" }) }
            }
            if let below = attribute("data-below") {
                if value >= below { lines.append(line(path, text, value)) }
                continue
            }
            let shown = text.replacingOccurrences(of: "−", with: "-").replacingOccurrences(
                of: "\u{2009}", with: ""
            )
            .replacingOccurrences(of: ",", with: "")
            let decimals =
                shown.split(separator: ".", omittingEmptySubsequences: false).dropFirst().first?.count ?? 0
            guard let number = Double(shown) else {
                lines.append(line(path, text, value))
                continue
            }
            var unit = 1.0
            for _ in 0..<decimals { unit /= 10 }
            let expected = value * (attribute("data-factor") ?? 1)
            if abs(number - expected) > 0.5001 * unit + 1e-9 * abs(expected) {
                lines.append(line(path, text, expected))
            }
        }
        return lines.count > 10 ? lines.prefix(10) + ["and \(lines.count - 10) more numbers"] : lines
    }

    private static func line(_ path: String, _ text: String, _ value: Double) -> String {
        "\(printable(path, limit: 120)) is \(printable(text, limit: 40)), summary.json says \(value)"
    }

    private static func value(at path: String, in root: JSONValue) -> Double? {
        var here = root
        for key in path.split(separator: ".") {
            if case .array(let items) = here {
                guard let place = Int(key), items.indices.contains(place) else { return nil }
                here = items[place]
            } else {
                guard let next = here[String(key)] else { return nil }
                here = next
            }
        }
        return switch here {
        case .number(let value): value
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        default: nil
        }
    }

    private static func firstDifference(_ found: String, _ expected: String) -> String {
        let (a, b) = (Array(found), Array(expected))
        let place = zip(a, b).prefix { $0 == $1 }.count
        func around(_ text: [Character]) -> String {
            printable(String(text[max(0, place - 30)..<min(text.count, place + 50)]), limit: 100)
        }
        return "has `\(around(a))`, the results make `\(around(b))`"
    }
}
