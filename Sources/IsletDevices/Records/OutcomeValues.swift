// The outcomes of one session, by name.
//
// Guarantees: whoever asks for an outcome asks by its name, so that no list has to keep another's order; a value that is not
// finite is never among the values, and never forgotten: it is named.
// Does not: know which outcomes there are. `Outcome` in Trials does.

/// What one session came to.
public struct OutcomeValues: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    private var values: [String: Double] = [:]
    /// Outcomes whose value was NaN or infinite, in the order in which they were set.
    public private(set) var notFinite: [String] = []

    public init() {}

    /// Has room for so many, so that it doesn't move while they are set.
    public init(minimumCapacity: Int) { values.reserveCapacity(minimumCapacity) }

    public init(dictionaryLiteral elements: (String, Double)...) {
        for (name, value) in elements { self[name] = value }
    }

    public init(_ values: [String: Double]) {
        for name in values.keys.sorted() { self[name] = values[name] }
    }

    /// The value; nil where the outcome is undefined for the session, or not finite. Setting one that is not finite names it in
    /// `notFinite`.
    public subscript(name: String) -> Double? {
        get { values[name] }
        set {
            if let newValue, !newValue.isFinite {
                values[name] = nil
                if !notFinite.contains(name) { notFinite.append(name) }
            } else {
                values[name] = newValue
            }
        }
    }

    /// The names of `notFinite`, as a store keeps them; nil where there are none.
    public var notFiniteText: String? { notFinite.isEmpty ? nil : notFinite.joined(separator: " ") }

    /// Takes over the names that a store kept.
    public mutating func nameNotFinite(_ text: String) {
        notFinite += text.split(separator: " ").map(String.init).filter { !notFinite.contains($0) }
    }
}
