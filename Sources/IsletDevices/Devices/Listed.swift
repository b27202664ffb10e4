// Things that files call by name, each a row of one table.
//
// Guarantees: a name stands for one row; whatever lists, checks or explains names reads the table. A row is written in the
// file of the thing that it is about, and the table lists rows.
// Does not: keep an order that means something, unless the table says so.

/// One of a closed list of things that files name.
///
///     extension SensorModel {
///         static let mine = SensorModel(id: "mine", summary: "...", source: "...") { Mine($0, index: $1) }
///     }
public protocol Listed: Hashable, Sendable {
    /// Every one, in the order of schema and messages.
    static var all: [Self] { get }
    /// What one of them is, for messages: "a sensor".
    static var noun: String { get }
    /// As files write it. A contract: it never changes its meaning.
    var id: String { get }
    /// One line.
    var summary: String { get }
}

extension Listed {
    /// The one of this name.
    public static func named(_ id: String) -> Self? { all.first { $0.id == id } }
}

extension Listed where Self: CaseIterable & RawRepresentable<String> {
    public static var all: [Self] { Array(allCases) }
    public var id: String { rawValue }
}

/// Rows that hold what can't be compared, such as how something is made: equal where their names are.
public protocol ListedByID: Listed {}

extension ListedByID {
    public static func == (a: Self, b: Self) -> Bool { a.id == b.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
