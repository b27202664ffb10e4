// A shared library as an algorithm: the child process that loads it and answers for it (`islet algorithm host LIBRARY`).
//
// Guarantees: a person's state is a block of bytes that is held here, zero where it begins, and goes back to what it was where an answer was not used; so each
// answer hangs on that person's rows alone. A fault in the library ends this process, not the run. Does not: look into the state.

import CIslet
import Foundation
import Glibc
package import IsletDevices
import IsletFiles

package struct LibraryHost {
    private let algorithm: islet_algorithm
    private let step:
        @convention(c) (
            UnsafePointer<Double>?, UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?, Int32,
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
        ) -> UnsafePointer<CChar>?
    private var parameters: [Double] = []
    private var people: [UInt64: Person] = [:]
    private var input: [UInt8] = []
    /// What the protocol goes by: standard output is led to standard error, whoever prints.
    private let output: Int32

    private struct Person {
        var begin: [UInt8]
        var state: [UInt8]
        var before: [UInt8]
        var history: [UInt8] = []
    }

    /// - Throws: `InputError` where it can't be loaded, or is no algorithm.
    package init(path: String) throws(InputError) {
        output = fcntl(1, F_DUPFD_CLOEXEC, 3)
        dup2(2, 1)
        func refused(_ found: String) -> InputError {
            InputError(
                file: path, found: found,
                expected: "a shared library with `islet_algorithm` (docs/algorithms.md)")
        }
        guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
            throw refused(printable(String(cString: dlerror()), limit: 300))
        }
        guard let symbol = dlsym(library, "islet_algorithm") else { throw refused("no `islet_algorithm`") }
        typealias Entry = @convention(c) () -> UnsafePointer<islet_algorithm>?
        guard let found = unsafeBitCast(symbol, to: Entry.self)()?.pointee, let call = found.step,
            found.name != nil,
            found.state_bytes <= 1 << 20, (0...100).contains(found.parameter_count)
        else { throw refused("an `islet_algorithm` without name or step, or with a state above 1 MiB") }
        (algorithm, step) = (found, call)
    }

    /// Answers until standard input ends.
    package mutating func serve() throws {
        guard let line = readLine() else { return }
        let hello = try JSONValue.read(line, file: "hello")
        let rows = UnsafeBufferPointer(start: algorithm.parameters, count: Int(algorithm.parameter_count))
        var listed: [JSONValue] = []
        for row in rows {
            let name = row.name.map { String(cString: $0) } ?? ""
            var value = row.value
            switch hello["parameters"]?[name] {
            case .number(let number): value = number
            case .integer(let whole): value = Double(whole)
            default: break
            }
            parameters.append(value)
            listed.append([
                "name": .string(name), "unit": .string(row.unit.map { String(cString: $0) } ?? ""),
                "least": .number(row.least), "most": .number(row.most), "default": .number(row.value),
                "meaning": .string(row.meaning.map { String(cString: $0) } ?? ""),
            ])
        }
        let ready: JSONValue = [
            "protocol": .string(PluginHost.version), "encoding": "packed",
            "name": .string(String(cString: algorithm.name)), "version": .integer(algorithm.version),
            "basalSource": algorithm.gives_basal != 0 ? "algorithm" : "programmed",
            "forecastMinutes": algorithm.forecast_minutes > 0 ? .number(algorithm.forecast_minutes) : .null,
            "runs": "together", "runtime": "C", "parameters": .array(listed),
        ]
        say(Array((ready.compactText + "\n").utf8))
        while try answer() {}
    }

    private mutating func more() -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
            while true {
                let count = read(0, buffer.baseAddress, buffer.count)
                if count > 0 { input += UnsafeRawBufferPointer(rebasing: buffer[..<count]) }
                if count >= 0 || errno != EINTR { return count > 0 }
            }
        }
    }

    private mutating func readLine() -> [UInt8]? {
        while true {
            if let end = input.firstIndex(of: UInt8(ascii: "\n")) {
                defer { input.removeFirst(end + 1) }
                return Array(input[..<end])
            }
            guard more() else { return nil }
        }
    }

    private func say(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { writeAll($0, to: output) } }

    /// Takes one frame. Says whether there was one.
    private mutating func answer() throws -> Bool {
        while input.count < PluginFrame.headBytes { guard more() else { return false } }
        func word(_ place: Int) -> Int { (0..<4).reduce(0) { $0 | Int(input[place + $1]) << (8 * $1) } }
        let (kind, rows, length) = (word(4), word(8), word(12))
        while input.count < PluginFrame.headBytes + length + PluginFrame.tailBytes {
            guard more() else { return false }
        }
        let body = Array(input[PluginFrame.headBytes..<PluginFrame.headBytes + length])
        input.removeFirst(PluginFrame.headBytes + length + PluginFrame.tailBytes)
        switch PluginFrame(rawValue: UInt32(kind)) {
        case .begin: begin(body, rows)
        case .history:
            let width = StepFields.history.count * 8
            for row in 0..<rows {
                let part = body[row * width..<(row + 1) * width]
                people[PluginFrame.cell(body, row * width)]?.history += part
            }
        case .step: doses(body, rows)
        case .end, .bye, .dose, .fail, nil: break
        }
        return true
    }

    private mutating func begin(_ body: [UInt8], _ rows: Int) {
        let width = StepFields.begin.count * 8
        for row in 0..<rows {
            let part = Array(body[row * width..<(row + 1) * width])
            let handle = PluginFrame.cell(part, 0)
            if PluginFrame.cell(part, 16) & 1 == 1, people[handle] != nil {
                people[handle]?.begin = part
            } else {
                let empty = [UInt8](repeating: 0, count: Int(algorithm.state_bytes))
                people[handle] = Person(begin: part, state: empty, before: empty)
            }
        }
    }

    private mutating func doses(_ body: [UInt8], _ rows: Int) {
        let width = StepFields.step.count * 8
        var (bytes, answers): ([UInt8], [UInt8]) = ([], [])
        for row in 0..<rows {
            let part = Array(body[row * width..<(row + 1) * width])
            let handle = PluginFrame.cell(part, 0)
            guard var person = people.removeValue(forKey: handle) else { continue }
            if PluginFrame.cell(part, 16) & 16 != 0 {
                person.state = person.before
            } else {
                person.before = person.state
            }
            var cells = [UInt64](repeating: 0, count: StepFields.dose.count)
            cells[0] = handle
            cells[1] = PluginFrame.cell(part, 8)
            cells[StepFields.dose.count - 1] = Double.nan.bitPattern
            let count = Int32(person.history.count / (StepFields.history.count * 8))
            let why = person.state.withUnsafeMutableBytes { state in
                step(
                    parameters, person.begin, part, person.history, count, state.baseAddress, &cells)
            }
            person.history = []
            if let why {
                person.state = person.before
                let text = Array(String(cString: why).utf8.prefix(PluginFrame.longestText))
                PluginFrame.fail.append(to: &bytes, rows: 1) {
                    PluginFrame.append(cells[0], to: &$0)
                    PluginFrame.append(cells[1], to: &$0)
                    $0 += text
                }
            } else {
                cells.withUnsafeBytes { answers += $0 }
            }
            people[handle] = person
        }
        PluginFrame.dose.append(to: &bytes, rows: answers.count / (StepFields.dose.count * 8)) {
            $0 += answers
        }
        say(bytes)
    }
}
