// A ward to begin with: which sessions of which studies, at what pace, and what they are told at their start.
//
// Guarantees: studies are named beside the file; a slip is one line with its place, and nothing is begun.

import IsletFiles
import Foundation
import IsletDevices
import IsletKernel
import IsletTrials

package struct WardFile: Sendable {
    package var sessions: [SessionRequest]

    private static let keys = ["ward", "pace", "sessions"]
    private static let sessionKeys = ["name", "study", "session", "pace", "from", "say", "at", "start"]

    /// - Throws: `InputError`.
    package static func read(_ path: String) throws -> WardFile {
        let root = YAMLReader(try YAMLDocument.read(path: path))
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(
            separator: "/")
        func beside(_ name: String) -> String {
            name.hasPrefix("/") || folder.isEmpty ? name : folder + "/" + name
        }
        func pace(_ reader: YAMLReader) throws(InputError) -> LivePace {
            let text = try reader.text()
            guard let pace = text == "paused" ? .paused : LivePace(text), pace != .step else {
                throw reader.problem(expected: "a number from 0.01 to 100000, `max` or `paused`")
            }
            return pace
        }
        try root.checkKeys(keys)
        guard let list = root["sessions"], list.isList, !list.items.isEmpty else {
            throw root.problem(found: "no sessions", expected: "a list of sessions")
        }
        let usual = try root["pace"].map { try pace($0) } ?? .real
        var sessions: [SessionRequest] = []
        for item in list.items {
            try item.checkKeys(sessionKeys)
            guard let study = item["study"] else {
                throw item.problem(found: "no study", expected: "`study`, a study file beside this one")
            }
            let file = beside(try study.text())
            guard FileManager.default.fileExists(atPath: file) else {
                throw study.problem(expected: "a study file beside this one")
            }
            var wish = SessionRequest(.path(file))
            wish.name = try item["name"]?.text()
            wish.session = Int(try item["session"]?.wholeNumber(in: 0...UInt64(Study.maximumSessions)) ?? 0)
            wish.pace = try item["pace"].map { try pace($0) } ?? usual
            if let from = item["from"] {
                guard let span = TimeSpan(try from.text()), span.nanoseconds >= 0 else {
                    throw from.problem(expected: "a duration, as in 20h")
                }
                wish.from = span.nanoseconds
            }
            if let start = item["start"] {
                guard let known = SessionRequest.Start(try start.text()) else {
                    throw start.problem(expected: SessionRequest.Start.expectation)
                }
                wish.start = known
            }
            if let at = item["at"] {
                guard let span = TimeSpan(try at.text()), (0...max(0, wish.from)).contains(span.nanoseconds)
                else {
                    throw at.problem(expected: "a duration up to `from`, as in 19h")
                }
                wish.sayAt = span.nanoseconds
            }
            for line in item["say"]?.items ?? [] {
                switch LiveWords.parse(try line.text()) {
                case .success((.input(let input), _)): wish.say.append(input)
                case .success((.confirm(let anyway), _)):
                    wish.say.append(.confirmBolus(request: 1, units: 1, anyway: anyway ? true : nil))
                case .success, .failure: throw line.problem(expected: "what can be typed in `islet-live run`")
                }
            }
            sessions.append(wish)
        }
        return WardFile(sessions: sessions)
    }
}

extension YAMLReader {
    fileprivate func checkKeys(_ known: [String]) throws(InputError) {
        guard case .mapping(let entries) = node.content else { return }
        for entry in entries where !known.contains(entry.key) {
            throw problem(
                found: "`\(printable(entry.key, limit: 40))`",
                expected: oneOf(known, meant: entry.key))
        }
    }
}
