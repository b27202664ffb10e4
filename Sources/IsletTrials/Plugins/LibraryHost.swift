// The child process that loads a shared library and answers for it (`islet algorithm host LIBRARY`).
//
// Guarantees: a fault in the library ends this process, not the run. Does not: print to standard output, whoever does: it is led to standard error.

import Glibc
package import IsletDevices
import IsletFiles

package struct LibraryHost {
    private let library: LoadedLibrary
    /// By handle, which is a place in the group.
    private var people: [LibraryPerson?] = []
    /// What has been read; taken from `start` on.
    private var input: [UInt8] = []
    private var start = 0
    private var answer: [UInt8] = []
    /// Some bytes; none at the end.
    private let read: () -> [UInt8]
    private let write: ([UInt8]) -> Void

    /// The most bytes that rows of one frame may have: a group's steps are less than a hundredth of it.
    private static let mostBytes = 1 << 25

    /// - Throws: `InputError` where it can't be loaded, or is no algorithm.
    package init(
        path: String, read: @escaping () -> [UInt8], write: @escaping ([UInt8]) -> Void
    ) throws(InputError) {
        (self.read, self.write) = (read, write)
        library = try LoadedLibrary(path: path)
    }

    /// Reads standard input and answers on standard output as it is now; from here on whatever prints is led to standard error.
    package init(path: String) throws(InputError) {
        let output = fcntl(1, F_DUPFD_CLOEXEC, 3)
        dup2(2, 1)
        try self.init(
            path: path,
            read: {
                withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
                    while true {
                        let count = Glibc.read(0, buffer.baseAddress, buffer.count)
                        if count > 0 { return [UInt8](UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
                        if count == 0 || errno != EINTR { return [] }
                    }
                }
            }, write: { bytes in _ = bytes.withUnsafeBytes { writeAll($0, to: output) } })
    }

    /// Answers until standard input ends.
    package mutating func serve() throws {
        guard let line = readLine() else { return }
        let hello = try JSONValue.read(line, file: "hello")
        if case .object(let members) = hello["parameters"] {
            for member in members {
                switch member.value {
                case .number(let number): library.set(member.key, number)
                case .integer(let whole): library.set(member.key, Double(whole))
                default: break
                }
            }
        }
        say(library.ready(inProcess: false) + [UInt8(ascii: "\n")])
        while try takeFrame() {}
    }

    // MARK: Reading

    private mutating func more() -> Bool {
        if start > 0 {
            input.removeFirst(start)
            start = 0
        }
        let part = read()
        input += part
        return !part.isEmpty
    }

    private mutating func readLine() -> [UInt8]? {
        while true {
            if let end = input.firstIndex(of: UInt8(ascii: "\n")) {
                start = end + 1
                return Array(input[..<end])
            }
            guard more() else { return nil }
        }
    }

    private func say(_ bytes: [UInt8]) { write(bytes) }

    private static func broken(_ what: String) -> InputError {
        InputError(file: "standard input", found: what, expected: "a frame of \(PluginHost.version)")
    }

    /// Takes one frame. Says whether there was one.
    /// - Throws: where it is none: nothing is kept or read for it.
    private mutating func takeFrame() throws -> Bool {
        while input.count - start < PluginFrame.headBytes { guard more() else { return false } }
        let (kind, rows, length) = input.withUnsafeBytes { bytes in
            func word(_ place: Int) -> Int {
                Int(bytes.loadUnaligned(fromByteOffset: start + place, as: UInt32.self).littleEndian)
            }
            return (word(4), word(8), word(12))
        }
        guard input[start..<start + 4].elementsEqual(PluginFrame.magic) else {
            throw Self.broken("other bytes")
        }
        let width: Int? =
            switch PluginFrame(rawValue: UInt32(truncatingIfNeeded: kind)) {
            case .begin: StepFields.begin.count
            case .history: StepFields.history.count
            case .step: StepFields.step.count
            case .end, .bye: 1
            case .dose, .fail, .own, nil: nil
            }
        guard let width, length <= Self.mostBytes, rows * width * 8 == length else {
            throw Self.broken("a frame of the kind \(kind), \(rows) rows and \(length) bytes")
        }
        let all = PluginFrame.headBytes + length + PluginFrame.tailBytes
        while input.count - start < all { guard more() else { return false } }
        let body = start + PluginFrame.headBytes
        let told = input.withUnsafeBytes {
            $0.loadUnaligned(fromByteOffset: body + length, as: UInt32.self).littleEndian
        }
        guard told == CRC32.of(input[start..<body + length]) else {
            throw Self.broken("a frame whose CRC is wrong")
        }
        start += all
        switch PluginFrame(rawValue: UInt32(truncatingIfNeeded: kind)) {
        case .begin: each(rows, StepFields.begin.count, at: body) { $1.begin($0) }
        case .history:
            each(rows, StepFields.history.count, at: body) { row, person in
                person.hear(
                    UnsafeBufferPointer(
                        start: row.assumingMemoryBound(to: UInt64.self), count: StepFields.history.count))
            }
        case .step: doses(rows, at: body)
        case .end, .bye, .dose, .fail, .own, nil: break
        }
        return true
    }

    /// Does something with each row and whom it is about.
    private mutating func each(
        _ rows: Int, _ width: Int, at body: Int, _ act: (UnsafeRawPointer, LibraryPerson) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: width) { cells in
            for row in 0..<rows {
                input.withUnsafeBytes { bytes in
                    guard let from = bytes.baseAddress, let to = cells.baseAddress else { return }
                    memcpy(to, from + body + row * width * 8, width * 8)
                }
                guard let base = cells.baseAddress, let person = person(Int(truncatingIfNeeded: cells[0]))
                else { continue }
                act(UnsafeRawPointer(base), person)
            }
        }
    }

    private mutating func person(_ handle: Int) -> LibraryPerson? {
        guard (0..<1000).contains(handle) else { return nil }
        while people.count <= handle { people.append(nil) }
        if let known = people[handle] { return known }
        let new = LibraryPerson(library)
        people[handle] = new
        return new
    }

    // MARK: Answering

    private mutating func doses(_ rows: Int, at body: Int) {
        var (doses, numbers, failed): ([UInt64], [UInt64], [UInt8]) = ([], [], [])
        doses.reserveCapacity(rows * LibraryPerson.doseCells)
        let hasNumbers = library.fill != nil
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: LibraryPerson.doseCells) { dose in
            withUnsafeTemporaryAllocation(of: Double.self, capacity: OwnNumber.most) { own in
                each(rows, StepFields.step.count, at: body) { row, person in
                    guard let base = dose.baseAddress else { return }
                    let why = person.step(row, dose: base, own: hasNumbers ? own.baseAddress : nil)
                    if let why {
                        let text = Array(String(cString: why).utf8.prefix(PluginFrame.longestText))
                        PluginFrame.fail.append(to: &failed, rows: 1) {
                            PluginFrame.append(dose[0], to: &$0)
                            PluginFrame.append(dose[1], to: &$0)
                            $0 += text
                        }
                        return
                    }
                    doses += dose
                    if hasNumbers { numbers += [dose[0], dose[1]] + own.map(\.bitPattern) }
                }
            }
        }
        answer.removeAll(keepingCapacity: true)
        answer += failed
        if hasNumbers {
            PluginFrame.own.append(to: &answer, rows: numbers.count / StepFields.own.count) { bytes in
                numbers.withUnsafeBytes { bytes += $0 }
            }
        }
        if !library.isListener {
            PluginFrame.dose.append(to: &answer, rows: doses.count / LibraryPerson.doseCells) { bytes in
                doses.withUnsafeBytes { bytes += $0 }
            }
        }
        say(answer)
    }
}
