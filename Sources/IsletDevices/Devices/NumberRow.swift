// A number that files may set: what it is called, its unit, its meaning, its bounds, and the property that holds it.
//
// Guarantees: all tables of such numbers (parameters of models, algorithms, sensors and kinds of subjects, settings of persons, keepers and
// `life`) are of this one row; what one kind of table says beside is its `More`. Readers, writers, schemas, pages and reports take a
// number's name, unit and bounds from it, keys of files by way of `KeyRow`.
// Does not: know a file. `IsletFiles` does.

/// What is said of a number, whoever has it.
public struct NumberFacts<More: Sendable>: Sendable {
    public let name: String
    /// `1`, or empty, for a pure number.
    public let unit: String
    /// A phrase, or one sentence.
    public let meaning: String
    /// Values outside are refused.
    public let range: ClosedRange<Double>
    /// What this kind of table says beside.
    public let more: More

    public init(
        _ name: String, _ unit: String, _ meaning: String, _ range: ClosedRange<Double>, _ more: More
    ) {
        self.name = name
        self.unit = unit
        self.meaning = meaning
        self.range = range
        self.more = more
    }

    /// Empty for a pure number.
    public var unitWords: String { unit == "1" ? "" : unit }
}

extension NumberFacts: Equatable where More: Equatable {}
extension NumberFacts: Hashable where More: Hashable {}

/// A number of `Root`, and where it lives.
///
///     static let rows: [NumberRow<Snack, Void>] = [.init("grams", "g", "how much", \.grams, 0...100)]
public struct NumberRow<Root, More: Sendable>: Sendable {
    public typealias Path = any WritableKeyPath<Root, Double> & Sendable

    public let facts: NumberFacts<More>
    public let path: Path

    public init(
        _ name: String, _ unit: String, _ meaning: String, _ path: Path, _ range: ClosedRange<Double>,
        _ more: More
    ) {
        facts = NumberFacts(name, unit, meaning, range, more)
        self.path = path
    }

    public var name: String { facts.name }
    public var unit: String { facts.unit }
    public var meaning: String { facts.meaning }
    public var range: ClosedRange<Double> { facts.range }
}

extension NumberRow where More == Void {
    public init(
        _ name: String, _ unit: String, _ meaning: String, _ path: Path, _ range: ClosedRange<Double>
    ) {
        self.init(name, unit, meaning, path, range, ())
    }
}

/// Where a value comes from.
public enum SettingSource: Hashable, Sendable {
    /// Measured, or a rule of practice, and where that stands.
    case published(String)
    /// Nobody has published it; why it was chosen.
    case assumed(String)

    public var isAssumed: Bool { if case .assumed = self { true } else { false } }
    public var text: String {
        switch self {
        case .published(let text), .assumed(let text): text
        }
    }
}

extension NumberRow where More == SettingSource {
    public var source: SettingSource { facts.more }
}
