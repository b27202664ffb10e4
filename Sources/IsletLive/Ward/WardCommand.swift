// What a page or a program says to a session, as JSON.
//
// Guarantees: what isn't understood is refused with one line that says what is wanted; numbers are finite. Commands are the rows of `InputRow` that the API
// says, and the pace. Whether a number makes sense is judged where every input is (`LiveInput.problem(in:)`).

import IsletFiles
import IsletDevices

package struct WardCommand: Hashable, Sendable {
    package enum Wish: Hashable, Sendable {
        case input(LiveInput)
        case pace(LivePace)
    }

    package var wish: Wish
    /// Said again under the same key it is taken once; empty for none.
    package var key: String
    /// Which page says so, of those that show the session's app; nil for who is none.
    package var page: String?

    package init(_ wish: Wish, key: String = "") { (self.wish, self.key) = (wish, key) }

    /// - Throws: `Ward.Refusal.invalid`.
    package init(_ body: JSONBody, _ rows: [Row] = Self.rows) throws(Ward.Refusal) {
        let fields = try body.object("a command")
        let name = try fields.text("command")
        guard let row = rows.first(where: { $0.name == name }) else {
            let meant = nearest(to: name, among: rows.map(\.name)).map { "; nearest: \($0)" } ?? ""
            throw .invalid(
                "command: found `\(printable(name, limit: 40))`, expected one of the API's\(meant)")
        }
        try fields.check(
            only: ["command", "key"] + row.fields.map(\.name),
            nullable: row.fields.filter(\.canBeNull).map(\.name))
        key = try fields.optionalText("key") ?? ""
        guard !fields.has("key") || Self.isKey(key) else {
            throw .invalid("key: expected up to 64 letters, digits, points, hyphens and underscores")
        }
        for field in row.fields { try fields.check(field) }
        if let text = try fields.optionalText("page") {
            guard !text.isEmpty, LiveSession.isKey(text) else {
                throw .invalid("page: expected a page's key")
            }
            page = text
        }
        wish = try row.make(fields)
    }

    /// The journal's word for none is no name.
    package static func isKey(_ text: String) -> Bool {
        !text.isEmpty && text != "-" && LiveSession.isKey(text)
    }
    package static let keyPattern = "^(?!-$)[A-Za-z0-9._-]{1,64}$"

    /// One command, for the reader and for the API's document.
    package struct Row: Sendable {
        package var name: String
        package var summary: String
        package var fields: [Field]
        let make: @Sendable (JSONFields) throws(Ward.Refusal) -> Wish
    }

    /// A field of a command's body.
    package struct Field: Sendable {
        package enum Kind: Sendable {
            case number(ClosedRange<Double>), wholeNumber(ClosedRange<Int>), flag
            /// What it says, and the pattern that it has.
            case text(String, pattern: String? = nil)
        }
        package var name: String
        package var kind: Kind
        package var isRequired = true
        package var canBeNull = false
        /// The unit of the field's value; empty for none.
        package var unit = ""

        package init(
            name: String, kind: Kind, isRequired: Bool = true, canBeNull: Bool = false, unit: String = ""
        ) {
            (self.name, self.kind, self.unit) = (name, kind, unit)
            (self.isRequired, self.canBeNull) = (isRequired, canBeNull)
        }
    }

    fileprivate static let timePattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$"
    /// Up to 99999.99: a pace of 100000 can be said too, and stands in no schema.
    package static let pacePattern = "^(max|paused|0\\.(0[1-9]|[1-9][0-9]?)|[1-9][0-9]{0,4}(\\.[0-9]{1,2})?)$"

    /// Of a session that is begun.
    package static let drivenPacePattern = "^step$|" + pacePattern

    private static let pace = Row(
        name: "pace", summary: "Session seconds per second.",
        fields: [
            Field(
                name: "pace",
                kind: .text("a number from 0.01 to 100000, `max` or `paused`", pattern: pacePattern))
        ]
    ) { fields throws(Ward.Refusal) in
        let text = try fields.text("pace")
        guard let pace = text == "paused" ? .paused : LivePace(text) else {
            throw .invalid("pace: expected a number from 0.01 to 100000, `max` or `paused`")
        }
        return .pace(pace)
    }

    package static let rows: [Row] = InputRow.all.compactMap { Row($0) } + [pace]

    /// Names of the fields whose values are numbers, for who sends a form.
    package static let numbers: [String] = Set(
        rows.flatMap(\.fields).filter(\.kind.isNumber).map(\.name)
    ).sorted()
}

extension WardCommand.Row {
    /// nil for an input that no command says.
    package init?(_ row: InputRow) {
        guard let api = row.api else { return nil }
        let page = WardCommand.Field(
            name: "page",
            kind: .text(
                api.page == .phone
                    ? "the page that says so, which must be the phone" : "the page that says so",
                pattern: WardCommand.keyPattern),
            isRequired: api.page == .phone)
        self.init(
            name: api.name ?? row.name, summary: row.summary,
            fields: row.fields.compactMap { WardCommand.Field($0) } + (api.page == .none ? [] : [page])
        ) { fields throws(Ward.Refusal) in
            var values: [String: LiveValue] = [:]
            for field in row.fields { values[field.name] = try fields.value(field) }
            return .input(api.settle(LiveInput(row.name, values)))
        }
    }
}

extension WardCommand.Field {
    /// nil for one that no command says.
    fileprivate init?(_ facts: InputFacts) {
        guard let name = facts.said, let kind = Kind(facts) else { return nil }
        self.init(
            name: name, kind: kind, isRequired: facts.isAsked, canBeNull: facts.canBeNull, unit: facts.unit)
    }
}

extension WardCommand.Field.Kind {
    fileprivate init?(_ facts: InputFacts) {
        switch facts.kind {
        case .number(let range):
            self = .number(range.lowerBound * facts.factor...range.upperBound * facts.factor)
        case .bound(let range): self = .number(range)
        case .whole(let range): self = .wholeNumber(range)
        case .flag: self = .flag
        case .text(let words, let pattern): self = .text(words, pattern: pattern)
        case .alert: self = .text("an alert's code")
        case .metric: self = .text("a metric's name")
        case .clock: self = .text("HH:MM", pattern: WardCommand.timePattern)
        case .link: return nil
        }
    }

    var isNumber: Bool {
        switch self {
        case .number, .wholeNumber: true
        case .flag, .text: false
        }
    }
}

extension JSONFields {
    /// What the input has of a field; nil where nothing is said of it.
    fileprivate func value(_ field: InputFacts) throws(Ward.Refusal) -> LiveValue? {
        guard let name = field.said, has(name) else { return field.usual }
        switch field.kind {
        case .number: return try optionalNumber(name).map { .number($0 / field.factor) }
        case .whole: return try optionalWholeNumber(name).map { .whole(Int64($0)) }
        case .flag: return try flag(name).map { .flag($0) }
        case .text, .alert, .metric: return try optionalText(name).map { .text($0) }
        case .clock: return try minute(name).map { .whole(Int64($0)) }
        // Null says that it is off.
        case .bound: return ThresholdBound(try optionalNumber(name)).said
        case .link: return nil
        }
    }
}
