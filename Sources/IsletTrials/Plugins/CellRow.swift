// How a row of fields is listed once: for the table of them, and for its cells.
//
// Guarantees: the cells that a row writes are those of its table, in its order, as both go through the same list; compiled for each row, the writing
// calls no closure and keeps nothing. Does not: turn cells into the bytes of another machine.

package import IsletKernel

/// How a value is the bits of a cell.
enum StepBits {
    static func whole(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) }
    static func instant(_ value: Instant?) -> UInt64 { UInt64(bitPattern: value?.nanoseconds ?? .min) }
    static func real(_ value: Double?) -> UInt64 { (value ?? .nan).bitPattern }
    static func text(_ value: String, _ part: Int) -> UInt64 {
        var bits: UInt64 = 0
        for (place, byte) in value.utf8.dropFirst(8 * part).prefix(8).enumerated() {
            bits |= UInt64(byte) << (8 * UInt64(place))
        }
        return bits
    }
}

/// Goes through the fields of a row, in the order of its cells: for the table of them, or for the cells of one row.
package protocol StepFieldVisitor<Row> {
    associatedtype Row

    mutating func whole(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (borrowing Row) -> Int64)
    mutating func instant(
        _ name: String, _ meaning: String, absence: String?,
        _ value: @escaping @Sendable (borrowing Row) -> Instant?)
    mutating func real(
        _ name: String, _ unit: String, _ meaning: String, absence: String?,
        _ value: @escaping @Sendable (borrowing Row) -> Double?)
    /// Numbers side by side, each called `name` and its place.
    mutating func reals(
        _ count: Int, _ name: String, _ meaning: String, absence: String?,
        _ value: @escaping @Sendable (borrowing Row, Int) -> Double?)
    /// Text of so many cells side by side, each called `name` and its place.
    mutating func text(
        _ count: Int, _ name: String, _ what: String, _ value: @escaping @Sendable (borrowing Row) -> String)
}

extension StepFieldVisitor {
    @inline(__always) mutating func instant(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (borrowing Row) -> Instant?
    ) { instant(name, meaning, absence: nil, value) }

    @inline(__always) mutating func real(
        _ name: String, _ unit: String, _ meaning: String,
        _ value: @escaping @Sendable (borrowing Row) -> Double?
    ) { real(name, unit, meaning, absence: nil, value) }
}

/// A row that is sent: its fields are listed once, and its cells written by the same list.
package protocol CellRow {
    /// Each field, in order.
    static func list<Visitor: StepFieldVisitor<Self>>(_ fields: inout Visitor)
}

extension CellRow {
    /// The table of its fields.
    static var fields: [StepField<Self>] {
        var table = StepFieldTable<Self>()
        list(&table)
        return table.fields
    }

    /// How many cells it has: a constant, once compiled.
    @inline(__always) static var cells: Int {
        var counter = StepCellCounter<Self>()
        list(&counter)
        return counter.count
    }

    /// Writes its cells: compiled for the row, without a call for each of them.
    /// - Parameter cells: with place for `Self.cells` of them.
    @inline(__always) func write(to cells: UnsafeMutablePointer<UInt64>) {
        withUnsafePointer(to: self) { row in
            var writer = StepCellWriter(row: row, next: cells)
            Self.list(&writer)
        }
    }
}

private struct StepCellCounter<Row>: StepFieldVisitor {
    var count = 0

    @inline(__always) mutating func whole(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (borrowing Row) -> Int64
    ) { count += 1 }

    @inline(__always) mutating func instant(
        _ name: String, _ meaning: String, absence: String?,
        _ value: @escaping @Sendable (borrowing Row) -> Instant?
    ) { count += 1 }

    @inline(__always) mutating func real(
        _ name: String, _ unit: String, _ meaning: String, absence: String?,
        _ value: @escaping @Sendable (borrowing Row) -> Double?
    ) { count += 1 }

    @inline(__always) mutating func reals(
        _ count: Int, _ name: String, _ meaning: String, absence: String?,
        _ value: @escaping @Sendable (borrowing Row, Int) -> Double?
    ) { self.count += count }

    @inline(__always) mutating func text(
        _ count: Int, _ name: String, _ what: String, _ value: @escaping @Sendable (borrowing Row) -> String
    ) { self.count += count }
}

private struct StepFieldTable<Row>: StepFieldVisitor {
    var fields: [StepField<Row>] = []

    mutating func whole(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (borrowing Row) -> Int64
    ) { fields.append(.whole(name, meaning, value)) }

    mutating func instant(
        _ name: String, _ meaning: String, absence: String?,
        _ value: @escaping @Sendable (borrowing Row) -> Instant?
    ) { fields.append(.instant(name, meaning, absence: absence, value)) }

    mutating func real(
        _ name: String, _ unit: String, _ meaning: String, absence: String?,
        _ value: @escaping @Sendable (borrowing Row) -> Double?
    ) { fields.append(.real(name, unit, meaning, absence: absence, value)) }

    mutating func reals(
        _ count: Int, _ name: String, _ meaning: String, absence: String?,
        _ value: @escaping @Sendable (borrowing Row, Int) -> Double?
    ) {
        for place in 0..<count {
            fields.append(.real("\(name)\(place)", "", meaning, absence: absence) { value($0, place) })
        }
    }

    mutating func text(
        _ count: Int, _ name: String, _ what: String, _ value: @escaping @Sendable (borrowing Row) -> String
    ) {
        for part in 0..<count {
            let meaning = "bytes \(8 * part) to \(8 * part + 7) of \(what)"
            fields.append(.text("\(name)\(part)", meaning, part: part, value))
        }
    }
}

private struct StepCellWriter<Row>: StepFieldVisitor {
    /// Where it lies: no reference of it is counted.
    let row: UnsafePointer<Row>
    var next: UnsafeMutablePointer<UInt64>

    @inline(__always) private mutating func put(_ bits: UInt64) {
        next.pointee = bits
        next += 1
    }

    @inline(__always) mutating func whole(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (borrowing Row) -> Int64
    ) { put(StepBits.whole(value(row.pointee))) }

    @inline(__always) mutating func instant(
        _ name: String, _ meaning: String, absence: String?,
        _ value: @escaping @Sendable (borrowing Row) -> Instant?
    ) { put(StepBits.instant(value(row.pointee))) }

    @inline(__always) mutating func real(
        _ name: String, _ unit: String, _ meaning: String, absence: String?,
        _ value: @escaping @Sendable (borrowing Row) -> Double?
    ) { put(StepBits.real(value(row.pointee))) }

    @inline(__always) mutating func reals(
        _ count: Int, _ name: String, _ meaning: String, absence: String?,
        _ value: @escaping @Sendable (borrowing Row, Int) -> Double?
    ) { for place in 0..<count { put(StepBits.real(value(row.pointee, place))) } }

    @inline(__always) mutating func text(
        _ count: Int, _ name: String, _ what: String, _ value: @escaping @Sendable (borrowing Row) -> String
    ) {
        let text = value(row.pointee)
        for part in 0..<count { put(StepBits.text(text, part)) }
    }
}
