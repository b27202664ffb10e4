// One field of an input: what it is called by each door, its kind, unit and bounds, and its value as code has it.
//
// Guarantees: a field's bounds, unit and names stand once: journal, API and its document, keyboard, forms, refusals and events take them from here.

import DeviceLinks
import IsletAlerts
import IsletDevices
import IsletTrials

/// What every door knows of a field.
package struct InputFacts: Sendable {
    package enum Kind: Sendable {
        /// The smallest and the largest that make sense, in the journal's unit.
        case number(ClosedRange<Double>)
        case whole(ClosedRange<Int>)
        case flag
        /// What it says, and the pattern that it has.
        case text(String, pattern: String?)
        /// An alert's code: of the policy, or also one of the catalogue.
        case alert(orOfCatalogue: Bool)
        case metric
        /// A local time, as minutes after midnight.
        case clock
        /// One side of a threshold: a number, or that it is off.
        case bound(ClosedRange<Double>)
        case link
    }

    /// In the journal.
    package let name: String
    package let kind: Kind
    /// The unit of what is said and shown, which is `factor` times what the journal has.
    package var unit = ""
    package var factor = 1.0
    /// In the API and in forms; nil where nobody says it there.
    package var said: String?
    /// Whether an input without it is none.
    package var isRequired = true
    /// Whether a command may say null.
    package var canBeNull = false
    /// The value for a command that doesn't say one; nil for none.
    package var usual: LiveValue?
    /// What it is called in a refusal, which has its unit from `unit`.
    package var words: String
    /// Among an event's values; nil where they have it not.
    package var told: String?

    /// What a command must say.
    package var isAsked: Bool { (isRequired && usual == nil) || isNeededAsNull }
    /// Null and nothing are two things: one of them has to be said.
    package var isNeededAsNull = false

    init(_ name: String, _ kind: Kind) {
        (self.name, self.kind, said) = (name, kind, name)
        words = name
    }

    func with(_ change: (inout InputFacts) -> Void) -> InputFacts {
        var changed = self
        change(&changed)
        return changed
    }

    /// The bounds of a number as it is said; nil for what is no number.
    package var range: ClosedRange<Double>? {
        switch kind {
        case .number(let range): said(range.lowerBound)...said(range.upperBound)
        case .bound(let range): range
        case .whole(let range): Double(range.lowerBound)...Double(range.upperBound)
        default: nil
        }
    }

    /// Whether a form's entry is a number.
    package var isNumber: Bool { range != nil }

    /// What is wrong with a value by itself; nil where nothing is.
    func problem(of value: LiveValue, in context: LiveInputContext) -> LiveRefusal? {
        switch (kind, value) {
        case (.number(let range), .number(let number)), (.bound(let range), .number(let number)):
            LiveInput.outside(words, said(number), unit, said(range.lowerBound)...said(range.upperBound))
        case (.whole(let range), .whole(let number)):
            LiveInput.outside(
                words, Double(number), unit, Double(range.lowerBound)...Double(range.upperBound))
        case (.clock, .whole(let minute)): LiveInput.outside(words, Double(minute), unit, 0...1439)
        case (.alert(let orOfCatalogue), .text(let code)):
            // Whoever has no pump and no loop has none of their alerts to look at.
            orOfCatalogue && context.kind.isPerson && AlertCode(rawValue: code) != nil
                ? nil : LiveInput.unknown(code, context)
        case (.metric, .text(let metric)): LiveInput.problem(metric, nil, nil, context.kind)
        default: nil
        }
    }

    /// A number of the journal as it is said and shown, in `unit`.
    private func said(_ number: Double) -> Double {
        factor == 1 ? number : (number * factor * 1e6).rounded() / 1e6
    }

    /// A word that is typed; nil for what is none of this kind.
    func typed(_ word: String) -> LiveValue? {
        switch kind {
        case .number: Double(word).map { .number($0 / factor) }
        case .whole: Int64(word).map { .whole($0) }
        case .text, .alert, .metric: .text(word)
        case .flag, .clock, .bound, .link: nil
        }
    }
}

/// A field with the type that its row's function takes.
package struct InputField<Value: Sendable>: Sendable {
    package let facts: InputFacts
    /// nil for what is no such value.
    let read: @Sendable (LiveValue?) -> Value?

    init(_ facts: InputFacts, read: @escaping @Sendable (LiveValue?) -> Value?) {
        (self.facts, self.read) = (facts, read)
    }
}

extension LiveValue {
    fileprivate var number: Double? { if case .number(let value) = self { value } else { nil } }
    fileprivate var whole: Int? { if case .whole(let value) = self { Int(value) } else { nil } }
    fileprivate var flag: Bool? { if case .flag(let value) = self { value } else { nil } }
    fileprivate var text: String? { if case .text(let value) = self { value } else { nil } }
}

extension InputField where Value == Double {
    /// - Parameters:
    ///   - unit: of what is said: `factor` times what the journal has.
    ///   - words: in a refusal; nil for the name.
    ///   - told: among an event's values.
    static func number(
        _ name: String, _ unit: String, _ range: ClosedRange<Double>, said: String? = nil,
        factor: Double = 1, _ words: String? = nil, told: String? = nil
    ) -> InputField {
        InputField(
            InputFacts(name, .number(range)).with {
                ($0.unit, $0.factor, $0.told) = (unit, factor, told)
                ($0.said, $0.words) = (said ?? name, words ?? name)
            }
        ) { $0?.number }
    }
}

extension InputField where Value == Double? {
    /// One that no command says.
    static func optionalNumber(
        _ name: String, _ range: ClosedRange<Double>, unit: String = "", _ words: String? = nil,
        told: String? = nil
    ) -> InputField {
        InputField(
            InputFacts(name, .number(range)).with {
                ($0.isRequired, $0.told, $0.said, $0.words) = (false, told, nil, words ?? name)
                $0.unit = unit
            }
        ) { .some($0?.number) }
    }
}

extension InputField where Value == Int {
    static func whole(
        _ name: String, _ unit: String, _ range: ClosedRange<Int>, _ words: String? = nil,
        told: String? = nil
    ) -> InputField {
        InputField(
            InputFacts(name, .whole(range)).with {
                ($0.unit, $0.told, $0.words) = (unit, told, words ?? name)
            }
        ) { $0?.whole }
    }
}

extension InputField where Value == Int? {
    static func optionalWhole(
        _ name: String, _ unit: String, _ range: ClosedRange<Int>, said: String? = nil,
        canBeNull: Bool = false, _ words: String? = nil, told: String? = nil
    ) -> InputField {
        InputField(
            InputFacts(name, .whole(range)).with {
                ($0.unit, $0.isRequired, $0.canBeNull) = (unit, false, canBeNull)
                ($0.told, $0.said, $0.words) = (told, said ?? name, words ?? name)
            }
        ) { .some($0?.whole) }
    }

    /// A local time; null for none, which has to be said.
    static func clock(_ name: String, said: String, _ words: String) -> InputField {
        InputField(
            InputFacts(name, .clock).with {
                ($0.unit, $0.told, $0.said, $0.words) = ("min", said, said, words)
                ($0.isRequired, $0.canBeNull, $0.isNeededAsNull) = (false, true, true)
            }
        ) { .some($0?.whole) }
    }
}

extension InputField where Value == Bool {
    /// - Parameter usual: of a command that doesn't say it; nil for one that must.
    static func flag(_ name: String, said: String, usual: Bool? = nil) -> InputField {
        InputField(
            InputFacts(name, .flag).with { ($0.said, $0.usual) = (said, usual.map { .flag($0) }) }
        ) { $0?.flag }
    }
}

extension InputField where Value == Bool? {
    static func optionalFlag(_ name: String, said: String? = nil) -> InputField {
        InputField(InputFacts(name, .flag).with { ($0.said, $0.isRequired) = (said ?? name, false) }) {
            .some($0?.flag)
        }
    }
}

extension InputField where Value == String? {
    /// One that no command says.
    static func optionalText(_ name: String) -> InputField {
        InputField(
            InputFacts(name, .text("text", pattern: nil)).with { ($0.isRequired, $0.said) = (false, nil) }
        ) { .some($0?.text) }
    }
}

extension InputField where Value == String {
    static func text(_ name: String, _ meaning: String, pattern: String? = nil) -> InputField {
        InputField(InputFacts(name, .text(meaning, pattern: pattern))) { $0?.text }
    }
    /// An alert that the policy has.
    static var alert: InputField {
        InputField(InputFacts("alert", .alert(orOfCatalogue: false))) { $0?.text }
    }
    /// An alert that the policy or the catalogue has.
    static var knownAlert: InputField {
        InputField(InputFacts("alert", .alert(orOfCatalogue: true))) { $0?.text }
    }
    static var metric: InputField { InputField(InputFacts("metric", .metric)) { $0?.text } }
}

extension InputField where Value == ThresholdBound? {
    /// Null says that it is off.
    static func bound(
        _ name: String, _ range: ClosedRange<Double>, said: String? = nil, _ words: String? = nil,
        told: String? = nil
    ) -> InputField {
        InputField(
            InputFacts(name, .bound(range)).with {
                ($0.isRequired, $0.canBeNull, $0.told) = (false, true, told)
                ($0.said, $0.words) = (said, words ?? name)
            }
        ) { value in .some(value.map { ThresholdBound($0.number) }) }
    }
}

extension InputField where Value == LinkInput {
    static var link: InputField {
        InputField(InputFacts("_0", .link).with { $0.said = nil }) {
            if case .link(let said)? = $0 { said } else { nil }
        }
    }
}
