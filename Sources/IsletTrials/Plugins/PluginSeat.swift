// Whom a session or a group asks: a process, or a library that this program has loaded itself.
//
// Guarantees: to whoever asks both are the same, to the bit. Does not: keep this program from a fault in a library: `inProcess: true` is somebody's word for that.

import IsletDevices
import IsletFiles

enum PluginSeat {
    case process(PluginProcess)
    case inside(LibrarySeats)
}

/// The people of a library that was loaded by this program. Used by one thread at a time.
final class LibrarySeats {
    private let people: [LibraryPerson]
    private let cells: UnsafeMutableBufferPointer<UInt64>
    private let dose: UnsafeMutableBufferPointer<UInt64>
    private let own: UnsafeMutableBufferPointer<Double>
    private let hasNumbers: Bool

    init(_ library: LoadedLibrary, members: [PluginPerson]) {
        people = members.map { _ in LibraryPerson(library) }
        hasNumbers = library.fill != nil
        cells = .allocate(capacity: max(AskedRow.cells, BeginRow.cells, HistoryRow.cells))
        dose = .allocate(capacity: LibraryPerson.doseCells)
        own = .allocate(capacity: OwnNumber.most)
        own.initialize(repeating: .nan)
    }

    deinit {
        cells.deallocate()
        dose.deallocate()
        own.deallocate()
    }

    @inline(__always) private func write<Row: CellRow>(_ row: borrowing Row) -> UnsafeRawPointer? {
        guard let first = cells.baseAddress else { return nil }
        row.write(to: first)
        return UnsafeRawPointer(first)
    }

    func begin(_ member: Int, _ row: BeginRow) {
        if let cells = write(row) { people[member].begin(cells) }
    }

    func hear(_ member: Int, _ row: HistoryRow) {
        _ = write(row)
        people[member].hear(UnsafeBufferPointer(rebasing: cells[..<StepFields.history.count]))
    }

    /// - Returns: numbers of its own, NaN where absent; nil where it has none.
    func ask(_ member: Int, _ row: borrowing AskedRow) -> (dose: DoseRow, numbers: [Double]?, failed: String?)
    {
        guard let cells = write(row), let base = dose.baseAddress else {
            return (DoseRow(), nil, "nobody answers")
        }
        let why = people[member].step(cells, dose: base, own: hasNumbers ? own.baseAddress : nil)
        if let why { return (DoseRow(), nil, printable(String(cString: why), limit: 1000)) }
        return (StepFields.dose(dose), hasNumbers ? Array(own) : nil, nil)
    }
}
