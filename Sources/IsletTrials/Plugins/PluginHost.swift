// A program of somebody's own that a study may ask: started once to hear what it is, then a process a session, or a group.
//
// Guarantees: what it says of itself is checked before the first session: protocol, encoding, parameters with their ranges, how it runs. A process that has failed is never
// asked again. Processes that keep sessions apart by themselves (`isolates`) are used again, all others serve one session or group; the one that was heard first
// is the first one's.
// Does not: run without being allowed (`Study.startAlgorithms`).

package import IsletDevices
package import IsletFiles
import IsletLoop
import Synchronization

/// What a program says of itself.
package struct PluginReady: Hashable, Sendable {
    package struct Parameter: Hashable, Sendable {
        package var name: String
        package var unit: String
        package var least: Double
        package var most: Double
        package var value: Double
        package var meaning: String
    }

    /// A number of its own.
    package struct Number: Hashable, Sendable {
        package var name: String
        package var unit: String
        package var meaning: String
    }

    package var name = ""
    package var version = 1
    package var basalSource = BasalSource.programmed
    package var forecastMinutes: Double?
    package var isPacked = false
    package var isTogether = false
    /// It keeps the sessions that one process is asked for apart by itself.
    package var isolates = false
    package var runtime = ""
    /// It doses nothing: it may only listen.
    package var isListener = false
    /// Numbers of the program's own, for alert rules.
    package var numbers: [Number] = []
    package var parameters: [Parameter] = []

    /// - Throws: what is wrong with it, in a few words.
    init(_ bytes: [UInt8]) throws(PluginFrame.NoFrame) {
        let value: JSONValue
        do { value = try JSONValue.read(bytes, file: "ready") } catch {
            throw .init("what is no `ready` (\(error.found))")
        }
        guard case .object(let members) = value else { throw .init("what is no `ready`") }
        func text(_ key: String) throws(PluginFrame.NoFrame) -> String? {
            switch value[key] {
            case nil, .null: return nil
            case .string(let text) where text.utf8.count <= 2000: return text
            default: throw .init("a `ready` whose `\(key)` is no text")
            }
        }
        let told = try text("protocol") ?? "no protocol"
        guard told == PluginHost.version else {
            throw .init("`ready` of \(printable(told, limit: 60)), not \(PluginHost.version)")
        }
        let encoding = try text("encoding") ?? "lines"
        guard ["packed", "lines"].contains(encoding) else {
            throw .init("`ready` with the encoding \(printable(encoding, limit: 60))")
        }
        isPacked = encoding == "packed"
        name = try text("name") ?? ""
        guard TextRule.name.accepts(name) else { throw .init("a `ready` without a name") }
        switch try text("basalSource") ?? "algorithm" {
        case "algorithm": basalSource = .algorithm
        case "programmed": basalSource = .programmed
        default: throw .init("`ready` with a basalSource that is neither algorithm nor programmed")
        }
        switch try text("runs") ?? "alone" {
        case "alone": isTogether = false
        case "together": isTogether = true
        default: throw .init("`ready` that runs neither alone nor together")
        }
        runtime = try text("runtime") ?? "not told"
        if case .integer(let number) = value["version"] { version = Int(number) }
        isolates = value["isolates"] == .bool(true)
        switch try text("role") ?? "algorithm" {
        case "algorithm": isListener = false
        case "listener": isListener = true
        default: throw .init("`ready` with a role that is neither algorithm nor listener")
        }
        numbers = try Self.numbers(value["numbers"] ?? .array([]))
        guard !isListener || !numbers.isEmpty else { throw .init("a listener without `numbers`") }
        forecastMinutes = Self.number(value["forecastMinutes"])
        if let minutes = forecastMinutes, !(minutes > 0 && minutes <= 600) {
            throw .init("`ready` that forecasts \(minutes) min")
        }
        guard case .array(let rows) = value["parameters"] ?? .array([]), rows.count <= 100 else {
            throw .init("a `ready` whose parameters are no list of at most 100")
        }
        for row in rows { parameters.append(try Self.parameter(row)) }
        _ = members
    }

    private static func numbers(_ value: JSONValue) throws(PluginFrame.NoFrame) -> [Number] {
        guard case .array(let rows) = value, rows.count <= OwnNumber.most else {
            throw .init("a `ready` whose numbers are no list of at most \(OwnNumber.most)")
        }
        var numbers: [Number] = []
        for row in rows {
            guard case .string(let name) = row["name"], OwnNumber.isName(name), name != OwnNumber.silence,
                !numbers.contains(where: { $0.name == name })
            else {
                throw .init(
                    "a number without a name of its own (1 to 40 letters, digits and underscores, not \(OwnNumber.silence))"
                )
            }
            numbers.append(Number(name: name, unit: short(row["unit"]), meaning: short(row["meaning"])))
        }
        return numbers
    }

    private static func short(_ value: JSONValue?) -> String {
        if case .string(let text) = value { String(text.prefix(200)) } else { "" }
    }

    private static func number(_ value: JSONValue?) -> Double? {
        switch value {
        case .integer(let whole): Double(whole)
        case .number(let number): number
        default: nil
        }
    }

    private static func parameter(_ row: JSONValue) throws(PluginFrame.NoFrame) -> Parameter {
        guard case .string(let name) = row["name"], TextRule.name.accepts(name),
            let least = number(row["least"]), let most = number(row["most"]),
            let value = number(row["default"]), least <= value, value <= most
        else { throw .init("a parameter without name, least, most and a default between them") }
        return Parameter(
            name: name, unit: short(row["unit"]), least: least, most: most, value: value,
            meaning: short(row["meaning"]))
    }
}

package final class PluginHost: Sendable {
    package static let version = "islet-step/1"

    package let reference: PluginReference
    package let ready: PluginReady
    private let command: [String]
    private let python: String?
    private let hello: [UInt8]
    private let idle = Mutex<[PluginProcess]>([])
    /// Where a library is loaded by this program itself.
    private let library: LoadedLibrary?
    private let failed = Mutex<(count: Int, first: String)>((0, ""))

    /// Starts the program and hears what it is.
    /// - Parameter reference: with paths that are absolute.
    /// - Throws: `InputError`, with the program's own last lines.
    package init(_ reference: PluginReference) throws {
        self.reference = reference
        python = PluginPaths.pythonPackage()
        switch reference.program {
        case .python(let file): command = ["python3", file]
        case .command(let words): command = words
        case .library(let file): command = [PluginPaths.islet(), "algorithm", "host", file]
        }
        hello = Self.hello(reference)
        if case .library(let file) = reference.program, reference.isInProcess {
            let library = try LoadedLibrary(path: file, parameters: reference.parameters)
            do { ready = try PluginReady(library.ready(inProcess: true)) } catch {
                throw PluginFailure(program: reference.name, cause: "says \(error.text)").refusal(
                    file: reference.origin.file, line: reference.origin.line)
            }
            self.library = library
            try check()
            return
        }
        library = nil
        let line = reference.origin.line
        do {
            let (process, said) = try Self.start(command, reference, python, hello)
            ready = said
            // Nobody has been told anything yet: the first who asks may have it. To start Python and NumPy is a third of what a small study's questions take.
            idle.withLock { $0.append(process) }
        } catch let failure as PluginFailure {
            throw failure.refusal(file: reference.origin.file, line: line)
        } catch let late as PluginTimeout {
            throw PluginFailure(
                program: late.program, cause: "no `ready` within \(late.seconds) s", lastLines: late.lastLines
            ).refusal(file: reference.origin.file, line: line)
        }
        try check()
    }

    /// The study's parameters against those that the program has.
    private func check() throws(InputError) {
        let known = ready.parameters.map(\.name)
        for given in reference.parameters {
            let place = { (found: String, expected: String) in
                InputError(
                    file: self.reference.origin.file,
                    line: self.reference.origin.lines[given.name] ?? self.reference.origin.line, found: found,
                    expected: expected)
            }
            guard let own = ready.parameters.first(where: { $0.name == given.name }) else {
                let meant = nearest(to: given.name, among: known).map { " (nearest: `\($0)`)" } ?? ""
                throw place(
                    "the parameter \(quotedForMessage(given.name)) of \(ready.name)",
                    known.isEmpty
                        ? "none: \(ready.name) has no parameters"
                        : "one of \(known.joined(separator: ", "))\(meant)")
            }
            guard (own.least...own.most).contains(given.value) else {
                throw place(
                    "\(JSONValue.numberText(given.value)) for \(given.name) of \(ready.name)",
                    "a number from \(JSONValue.numberText(own.least)) to \(JSONValue.numberText(own.most))")
            }
        }
    }

    private static func hello(_ reference: PluginReference) -> [UInt8] {
        let value: JSONValue = [
            "protocol": .string(version), "islet": .string(BuildFacts.version),
            "encodings": ["packed", "lines"], "group": .integer(Int64(reference.group)),
            "memoryMiB": .integer(Int64(reference.memoryMiB)),
            "parameters": .object(reference.parameters.map { .init($0.name, .number($0.value)) }),
        ]
        guard case .object(let members) = value, case .object(let rows) = layouts else { return [] }
        return Array((JSONValue.object(members + rows).compactText + "\n").utf8)
    }

    /// Names, types and units of each row's cells.
    package static let layouts: JSONValue = [
        "begin": layout(StepFields.begin), "step": layout(StepFields.step),
        "history": layout(StepFields.history), "dose": layout(StepFields.dose), "own": layout(StepFields.own),
    ]

    private static func start(
        _ command: [String], _ reference: PluginReference, _ python: String?, _ hello: [UInt8]
    ) throws -> (PluginProcess, PluginReady) {
        let process = try PluginProcess(
            command, program: reference.name, memoryBytes: reference.memoryMiB << 20,
            timeout: reference.timeout.nanoseconds, python: python)
        let ready = try process.call(hello, at: { "" }) {
            (bytes) throws(PluginFrame.NoFrame) -> (PluginReady, end: Int)? in
            if let first = bytes.first, first != UInt8(ascii: "{") {
                throw .init("bytes that are no `ready`")
            }
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
                guard bytes.count < 1 << 20 else { throw .init("a line without an end") }
                return nil
            }
            return (try PluginReady(Array(bytes[..<end])), end + 1)
        }
        return (process, ready)
    }

    /// Whether it is a library that this program has loaded itself.
    var isWithin: Bool { library != nil }

    /// Whom a session or group asks.
    func seat(of members: [PluginPerson]) throws -> PluginSeat {
        if let library { return .inside(LibrarySeats(library, members: members)) }
        return .process(try take())
    }

    /// A process to ask.
    private func take() throws -> PluginProcess {
        if let process = idle.withLock({ $0.popLast() }) { return process }
        let (process, said) = try Self.start(command, reference, python, hello)
        guard said == ready else {
            throw PluginFailure(
                program: reference.name, cause: "says something else in `ready` than the first time")
        }
        return process
    }

    /// A process whose session or group is over.
    func give(back process: PluginProcess) {
        guard ready.isolates else { return process.stop() }
        process.part()
        idle.withLock { $0.append(process) }
    }

    /// A step that came to nothing: its session goes on.
    func countFailedStep(_ cause: String) {
        failed.withLock { $0 = ($0.count + 1, $0.count == 0 ? cause : $0.first) }
    }

    /// How many steps came to nothing, in all sessions, and why the first did.
    package var failedSteps: (count: Int, first: String) { failed.withLock { $0 } }

    /// Where a person of this index sits.
    func slot(of index: Int) -> Int { ready.isTogether ? index % reference.group : 0 }

    /// To the loop.
    var kind: AlgorithmKind {
        AlgorithmKind(id: reference.name, summary: reference.words, basalSource: ready.basalSource) {
            [ready] in
            PluginAlgorithm(
                name: ready.name, version: ready.version, basalSource: ready.basalSource,
                forecastMinutes: ready.forecastMinutes)
        }
    }

    /// What a manifest says of it.
    func facts(arm: String, listens: Bool) -> JSONValue {
        let runs = reference.isInProcess ? "in process" : ready.isTogether ? "together" : "alone"
        return .object(
            [
                .init("arm", .string(arm)), .init("name", .string(ready.name)),
                .init("version", .integer(Int64(ready.version))), .init("runs", .string(runs)),
                .init("runtime", .string(ready.runtime)),
                .init("sha256", reference.sha256.map { .string($0) } ?? .null),
            ] + (listens ? [.init("role", "listener")] : []))
    }
}
