// A shared library as an algorithm: loaded, and one person's state of it.
//
// Guarantees: a person's state is a block of bytes that is held here, zero where it begins, and goes back to what it was where an answer was not used or a step failed;
// so each answer hangs on that person's rows alone. Does not: look into the state, or outlive a fault in the library.

import CIslet
import Glibc
package import IsletDevices
import IsletFiles

/// What it points to stays where it is for as long as the program runs.
package final class LoadedLibrary: @unchecked Sendable {
    typealias Step =
        @convention(c) (
            UnsafePointer<Double>?, UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?, Int32,
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
        ) -> UnsafePointer<CChar>?
    typealias Fill =
        @convention(c) (
            UnsafePointer<Double>?, UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?,
            UnsafeMutablePointer<Double>?
        ) -> Void

    let algorithm: islet_algorithm
    let step: Step
    /// nil where it has no numbers of its own.
    let fill: Fill?
    private let numbers: islet_numbers?
    /// It doses nothing.
    var isListener: Bool { numbers.map { $0.is_listener != 0 } ?? false }
    /// In the order of the library's own list.
    private(set) var parameters: [Double]

    /// - Throws: `InputError` where it can't be loaded, or is no algorithm.
    package init(path: String, parameters given: [PluginReference.Parameter] = []) throws(InputError) {
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
        var numbers: islet_numbers?
        if let symbol = dlsym(library, "islet_numbers") {
            typealias Numbers = @convention(c) () -> UnsafePointer<islet_numbers>?
            guard let own = unsafeBitCast(symbol, to: Numbers.self)()?.pointee, own.fill != nil,
                (1...Int32(OwnNumber.most)).contains(own.count)
            else {
                throw refused("`islet_numbers` without `fill`, or without 1 to \(OwnNumber.most) numbers")
            }
            numbers = own
        }
        (algorithm, step, self.numbers, fill) = (found, call, numbers, numbers?.fill)
        parameters = Self.rows(found).map(\.value)
        for parameter in given { set(parameter.name, parameter.value) }
    }

    private static func rows(_ algorithm: islet_algorithm) -> UnsafeBufferPointer<islet_parameter> {
        UnsafeBufferPointer(start: algorithm.parameters, count: Int(algorithm.parameter_count))
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> JSONValue {
        .string(pointer.map { String(cString: $0) } ?? "")
    }

    /// Before it is first asked.
    func set(_ name: String, _ value: Double) {
        for (place, row) in Self.rows(algorithm).enumerated()
        where row.name.map({ String(cString: $0) }) == name {
            parameters[place] = value
        }
    }

    /// What it says of itself, as a line of the protocol.
    func ready(inProcess: Bool) -> [UInt8] {
        var members: [JSONValue.Member] = [
            .init("protocol", .string(PluginHost.version)), .init("encoding", "packed"),
            .init("name", Self.text(algorithm.name)), .init("version", .integer(algorithm.version)),
            .init("basalSource", algorithm.gives_basal != 0 ? "algorithm" : "programmed"),
            .init(
                "forecastMinutes",
                algorithm.forecast_minutes > 0 ? .number(algorithm.forecast_minutes) : .null),
            .init("runs", inProcess ? "alone" : "together"), .init("runtime", "C"),
            .init(
                "parameters",
                .array(
                    Self.rows(algorithm).map { row in
                        [
                            "name": Self.text(row.name), "unit": Self.text(row.unit),
                            "least": .number(row.least), "most": .number(row.most),
                            "default": .number(row.value), "meaning": Self.text(row.meaning),
                        ]
                    })),
        ]
        if let numbers {
            members.append(.init("role", numbers.is_listener != 0 ? "listener" : "algorithm"))
            let rows = UnsafeBufferPointer(start: numbers.numbers, count: Int(numbers.count))
            members.append(
                .init(
                    "numbers",
                    .array(
                        rows.map { row in
                            [
                                "name": Self.text(row.name), "unit": Self.text(row.unit),
                                "meaning": Self.text(row.meaning),
                            ]
                        })))
        }
        return Array(JSONValue.object(members).compactText.utf8)
    }
}

/// One person's state of a library. Used by one thread at a time.
final class LibraryPerson {
    private let library: LoadedLibrary
    private let parameters: UnsafeMutablePointer<Double>
    /// `begin`'s row, the state, and the state before the last step.
    private let person: UnsafeMutableRawPointer
    private let state: UnsafeMutableRawPointer
    private let before: UnsafeMutableRawPointer
    private let stateBytes: Int
    private var history: [UInt64] = []
    /// Beside `history`: an array is not looked into without its references counted.
    private var hasHistory = false
    static let beginBytes = StepFields.begin.count * 8

    /// - Parameter library: all its parameters are set.
    init(_ library: LoadedLibrary) {
        self.library = library
        parameters = .allocate(capacity: max(library.parameters.count, 1))
        for (place, value) in library.parameters.enumerated() {
            (parameters + place).initialize(to: value)
        }
        stateBytes = Int(library.algorithm.state_bytes)
        person = .allocate(byteCount: Self.beginBytes, alignment: 16)
        state = .allocate(byteCount: max(stateBytes, 1), alignment: 64)
        before = .allocate(byteCount: max(stateBytes, 1), alignment: 64)
        memset(person, 0, Self.beginBytes)
        memset(state, 0, stateBytes)
        memset(before, 0, stateBytes)
    }

    deinit {
        for part in [person, state, before] { part.deallocate() }
        parameters.deallocate()
    }

    /// - Parameter row: of `begin`.
    func begin(_ row: UnsafeRawPointer) {
        person.copyMemory(from: row, byteCount: Self.beginBytes)
        guard row.load(fromByteOffset: 16, as: Int64.self) & 1 == 0 else { return }
        memset(state, 0, stateBytes)
        memset(before, 0, stateBytes)
    }

    /// - Parameter row: of `history`.
    func hear(_ row: UnsafeBufferPointer<UInt64>) {
        history += row
        hasHistory = true
    }

    /// - Parameters:
    ///   - row: of `step`.
    ///   - dose: of `dose`; handle and step are set here, the rest is zero but the forecast, which is absent.
    ///   - own: gets the numbers of its own, all absent where it says nothing; nil where it has none.
    /// - Returns: why the step fails; nil where it doesn't.
    func step(
        _ row: UnsafeRawPointer, dose: UnsafeMutablePointer<UInt64>, own: UnsafeMutablePointer<Double>?
    ) -> UnsafePointer<CChar>? {
        if row.load(fromByteOffset: 16, as: Int64.self) & 16 != 0 {
            state.copyMemory(from: before, byteCount: stateBytes)
        } else {
            before.copyMemory(from: state, byteCount: stateBytes)
        }
        dose.update(repeating: 0, count: Self.doseCells)
        dose[0] = row.load(as: UInt64.self)
        dose[1] = row.load(fromByteOffset: 8, as: UInt64.self)
        dose[Self.doseCells - 1] = Double.nan.bitPattern
        let why: UnsafePointer<CChar>?
        if hasHistory {
            why = history.withUnsafeBytes {
                let rows = Int32($0.count / 8 / StepFields.history.count)
                return library.step(parameters, person, row, $0.baseAddress, rows, state, dose)
            }
            (history, hasHistory) = ([], false)
        } else {
            why = library.step(parameters, person, row, nil, 0, state, dose)
        }
        if why != nil {
            state.copyMemory(from: before, byteCount: stateBytes)
        } else if let own {
            own.update(repeating: .nan, count: OwnNumber.most)
            library.fill?(parameters, person, row, state, own)
        }
        return why
    }

    static let doseCells = StepFields.dose.count
}
