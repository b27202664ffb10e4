// `islet-gym/1`: the rows of `islet-step/1` with roles reversed. The program asks nobody: whoever writes to it resets environments, answers their steps, and closes them.
//
// Guarantees: each message is answered whole, with a frame `step` last or a line that says what is wrong with it; a message that is refused has changed nothing. Environments
// know nothing of each other: what one is told hangs on its own resets and answers alone. Standard output belongs to the protocol. When standard input ends, so does the program.
// Does not: time anything, or run two environments at once: whoever has two cores starts two programs.

import Foundation
import Glibc
import IsletDevices
import IsletFiles
import IsletKernel

package struct GymServer {
    package static let version = "islet-gym/1"
    /// The most environments of a program, and of rows in a message.
    package static let mostEnvironments = 100_000
    /// The longest line that is read.
    private static let longestLine = 64 << 20

    private let output: Int32
    private var templates: [String: GymTemplate] = [:]
    private var episodes: [Int64: GymEpisode] = [:]
    private var input: [UInt8] = []
    private var start = 0
    private var reply: [UInt8] = []
    private var rows: [UInt8] = []
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

    package init() {
        signal(SIGPIPE, SIG_IGN)
        output = fcntl(1, F_DUPFD_CLOEXEC, 3)
        dup2(2, 1)
    }

    /// Answers until standard input ends.
    package mutating func serve() {
        defer { buffer.deallocate() }
        append(line: Self.ready)
        guard send() else { return }
        while more() {
            while true {
                do {
                    guard try take() else { break }
                } catch let problem as InputError {
                    refuse(problem)
                } catch let problem as PluginFrame.NoFrame {
                    // What follows can't be told from the rest of it.
                    refuse(
                        InputError(
                            file: "standard input", found: problem.text, expected: "a message of islet-gym/1")
                    )
                    _ = send()
                    return
                } catch {
                    refuse(
                        InputError(
                            file: "gym", found: "\(error)", expected: "a message that can be carried out"))
                }
                guard send() else { return }
            }
        }
    }

    // MARK: Bytes

    private mutating func more() -> Bool {
        if start > 0 {
            input.removeFirst(start)
            start = 0
        }
        while true {
            let count = read(0, buffer.baseAddress, buffer.count)
            if count > 0 {
                input += UnsafeRawBufferPointer(rebasing: buffer[..<count])
                return true
            }
            guard count < 0, errno == EINTR else { return false }
        }
    }

    private mutating func send() -> Bool {
        defer { reply.removeAll(keepingCapacity: true) }
        return reply.withUnsafeBytes { writeAll($0, to: output) } == nil
    }

    private mutating func append(line: JSONValue) {
        reply += line.compactText.utf8
        reply.append(UInt8(ascii: "\n"))
    }

    private mutating func refuse(_ problem: InputError) {
        reply.removeAll(keepingCapacity: true)
        append(line: [
            "error": [
                "file": .string(problem.file), "line": problem.line.map { .integer(Int64($0)) } ?? .null,
                "found": .string(problem.found), "expected": .string(problem.expected),
            ]
        ])
    }

    // MARK: Messages

    /// Carries out the next message. Says whether there was a whole one.
    private mutating func take() throws -> Bool {
        guard start < input.count else { return false }
        guard input[start] == UInt8(ascii: "{") else { return try takeFrame() }
        guard let end = input[start...].firstIndex(of: UInt8(ascii: "\n")) else {
            guard input.count - start <= Self.longestLine else {
                throw PluginFrame.NoFrame("a line without an end")
            }
            return false
        }
        let line = Array(input[start..<end])
        start = end + 1
        let message = try JSONValue.read(line, file: "message")
        if let rows = message["reset"] {
            try reset(rows)
        } else if let study = message["study"] {
            try add(study, name: try text(message["name"], "name"))
        } else if let handle = message["episode"] {
            try tellStudy(try episode(handle))
        } else if let handles = message["close"] {
            guard case .array(let list) = handles else { throw unknown("close", "a list of handles") }
            for handle in list { episodes[try whole(handle, "close")] = nil }
            append(line: ["closed": .integer(Int64(list.count))])
        } else {
            throw unknown("a message of another kind", "`study`, `reset`, `episode` or `close`")
        }
        return true
    }

    private func unknown(_ found: String, _ expected: String) -> InputError {
        InputError(file: "message", found: found, expected: expected)
    }

    private func text(_ value: JSONValue?, _ key: String) throws(InputError) -> String {
        if case .string(let text) = value { return text }
        throw unknown("no text for `\(key)`", "text")
    }

    private func whole(_ value: JSONValue?, _ key: String) throws(InputError) -> Int64 {
        if case .integer(let number) = value { return number }
        throw unknown("no whole number for `\(key)`", "a whole number")
    }

    private func seed(_ value: JSONValue?, _ key: String) throws(InputError) -> UInt64 {
        switch value {
        case .integer(let number) where number >= 0: return UInt64(number)
        case .unsigned(let number): return number
        default: throw unknown("no seed for `\(key)`", "a whole number from 0 to \(UInt64.max)")
        }
    }

    private func episode(_ handle: JSONValue) throws(InputError) -> GymEpisode {
        let number = try whole(handle, "episode")
        guard let episode = episodes[number] else {
            throw unknown("environment \(number)", "one that was reset")
        }
        return episode
    }

    private mutating func add(_ study: JSONValue, name: String) throws {
        let parsed = try Study.parse(study.compactText, file: "study")
        guard templates.count < 10_000 else { throw unknown("10000 studies", "fewer studies") }
        templates[name] = try GymTemplate(parsed, file: "study")
        append(line: ["added": .string(name)])
    }

    private mutating func tellStudy(_ episode: GymEpisode) throws {
        append(line: ["episode": episode.study.json, "end": episode.end ?? .null])
    }

    private mutating func reset(_ rows: JSONValue) throws {
        guard case .array(let list) = rows, list.count <= Self.mostEnvironments else {
            throw unknown("`reset` that is no list", "a list of at most \(Self.mostEnvironments) rows")
        }
        var made: [GymEpisode] = []
        for row in list {
            let name = try text(row["study"], "study")
            guard templates[name] != nil else {
                throw unknown("the study \(quotedForMessage(name))", "a name that was added")
            }
            let (handle, seed) = (try whole(row["handle"], "handle"), try seed(row["seed"], "seed"))
            let luck = try self.seed(row["luck"] ?? .integer(0), "luck")
            let subject = try whole(row["subject"] ?? .integer(0), "subject")
            guard
                let episode = try templates[name]?.episode(
                    handle: handle, seed: seed, luckOffset: luck, subject: Int(subject), path: "study")
            else { continue }
            made.append(episode)
        }
        for episode in made { episodes[episode.handle] = episode }
        PluginFrame.begin.append(to: &reply, rows: made.count) {
            for episode in made { PluginFrame.append(episode.begin, to: &$0) }
        }
        append(newsOf: made)
    }

    private mutating func takeFrame() throws -> Bool {
        guard let frame = try PluginFrame.read(input, from: start, mostRows: Self.mostEnvironments) else {
            return false
        }
        defer { start = frame.end }
        switch frame.kind {
        case .dose: try step(frame)
        case .end, .bye:
            for row in 0..<frame.rows {
                episodes[Int64(bitPattern: PluginFrame.cell(input, frame.body.lowerBound + row * 8))] = nil
            }
            append(line: ["closed": .integer(Int64(frame.rows))])
        default:
            throw PluginFrame.NoFrame("a frame that only the program sends")
        }
        return true
    }

    private mutating func step(_ frame: PluginFrame.Read) throws {
        let width = StepFields.dose.count
        var answers: [(episode: GymEpisode, step: RecordedSteps.Step)] = []
        var seen: Set<Int64> = []
        for row in 0..<frame.rows {
            let dose = StepFields.dose(
                (0..<width).map { PluginFrame.cell(input, frame.body.lowerBound + (row * width + $0) * 8) })
            guard let episode = episodes[dose.handle] else {
                throw unknown("a step of environment \(dose.handle)", "a reset before it")
            }
            guard seen.insert(dose.handle).inserted else {
                throw unknown("two answers of environment \(dose.handle)", "one")
            }
            guard episode.waitsFor == dose.step else {
                throw unknown(
                    "an answer to step \(dose.step) of environment \(dose.handle)",
                    episode.waitsFor.map { "one to step \($0)" } ?? "a reset: its episode is over")
            }
            answers.append((episode, try RecordedSteps.Step(dose, of: "environment \(dose.handle)")))
        }
        for (episode, step) in answers {
            do {
                try episode.answer(step)
            } catch {
                throw unknown("environment \(episode.handle) that failed: \(error)", "a session that runs")
            }
        }
        append(newsOf: answers.map(\.episode))
    }

    private mutating func append(newsOf told: [GymEpisode]) {
        var (truth, events): ([GymTruth], [JSONValue]) = ([], [])
        rows.removeAll(keepingCapacity: true)
        for episode in told { episode.tell(to: &rows, truth: &truth, events: &events) }
        if !events.isEmpty { append(line: ["events": .array(events)]) }
        let ends = told.compactMap(\.end)
        if !ends.isEmpty { append(line: ["ends": .array(ends)]) }
        if !truth.isEmpty {
            PluginFrame.history.append(to: &reply, rows: truth.count) {
                for row in truth { PluginFrame.append(row, to: &$0) }
            }
        }
        PluginFrame.step.append(to: &reply, rows: told.count) { [rows] in $0 += rows }
    }

    private static var ready: JSONValue {
        [
            "protocol": .string(version), "islet": .string(BuildFacts.version),
            "begin": layout(StepFields.begin), "step": layout(StepFields.step),
            "beside": layout(GymFields.step), "truth": layout(GymFields.truth),
            "dose": layout(StepFields.dose), "mostDose": .number(PluginAnswers.largestDose),
            "outcomes": .object(Outcome.everything.map { .init($0.name, .string($0.unit)) }),
        ]
    }
}
