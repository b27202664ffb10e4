// One row an input: its fields, who may say it by which door, how it is judged, what it does, and the words that it has.
//
// Guarantees: journal, API and its document, keyboard, forms, events and timeline go by the rows alone: a new command is a row, and the function that the row
// calls. Names, kinds and order of fields stand in journals: a row's are never given another meaning.
// Does not: run what it does out of turn. `InputDispatcher` does, at the input's instant, on the session's thread.

import IsletDevices
import IsletTrials

package struct InputRow: Sendable {
    /// Whom it makes sense for.
    enum Subject: Sendable {
        case anybody
        /// A subject that somebody looks after, which is no person.
        case lookedAfter
        /// A person, and what others lack: `no pump`.
        case person(lacks: String)
    }

    /// How the API says it.
    package struct API: Sendable {
        package enum Page: Sendable {
            case none
            /// A page may say that it was the one.
            case any
            /// The page that says so must be the phone.
            case phone
        }
        /// The command's name; nil for the row's.
        package var name: String?
        package var page = Page.none
        /// What is said where another input says it better; the same for most.
        package var settle: @Sendable (LiveInput) -> LiveInput = { $0 }

        package init(
            name: String? = nil, page: Page = .none,
            settle: @escaping @Sendable (LiveInput) -> LiveInput = { $0 }
        ) { (self.name, self.page, self.settle) = (name, page, settle) }
    }

    /// What the timeline has. `{field}` stands for a value in the reader's unit; `[, after {field}]` goes where the field isn't said.
    package struct Words: Sendable {
        /// What was asked for, as an imperative.
        package var ask: String
        /// What is so once it was done; nil where that is no news.
        package var done: String?

        package init(_ ask: String, _ done: String?) { (self.ask, self.done) = (ask, done) }
    }

    /// A form of a person's page that needs nothing but the row.
    package struct Form: Sendable {
        package var title: String
        package var submit: String
        package var note: String
        /// Labels of the fields, in their order.
        package var labels: [String]

        package init(_ title: String, labels: [String] = [], submit: String, note: String = "") {
            (self.title, self.labels, self.submit, self.note) = (title, labels, submit, note)
        }
    }

    package enum Mark: Sendable {
        /// It says how the session is to be from then on: a session that is begun anew has it too.
        case setting
        /// It sets what is the owner's on every device.
        case owners
        /// Nothing for a session whose glucose comes from outside: insulin is suggested only there.
        case notWhereFed
        /// A dose may wait for it, which the pump can't give now.
        case asksInsulin
        /// It measures a body: a fork with another glucose leaves it out.
        case measures
        /// A fork in which the alert is not active leaves it out.
        case aboutActiveAlert
    }

    package let name: String
    /// For the API's document.
    package let summary: String
    package let fields: [InputFacts]
    let subject: Subject
    /// nil for what no command says: it comes from a device, a feed, the host, or an older page.
    package let api: API?
    package let keys: [InputKeys]
    package let words: Words
    package let form: Form?
    package let marks: Set<Mark>
    private let judge: @Sendable (LiveInput, LiveInputContext) -> LiveRefusal?
    private let act: @Sendable (InputDispatcher, LiveInput) throws -> Void

    /// - Parameters:
    ///   - judge: what is wrong with it beyond the bounds of its fields.
    ///   - act: what it does, called with the values of its fields; throws `LiveRefusal`, what a device or the loop refuses with, and
    ///     what breaks the body.
    init<each Value: Sendable>(
        _ name: String, _ summary: String, _ fields: repeat InputField<each Value>,
        of subject: Subject = .anybody, api: API? = API(), keys: [InputKeys] = [], words: Words,
        form: Form? = nil, marks: Set<Mark> = [],
        judge: @escaping @Sendable (LiveInput, LiveInputContext) -> LiveRefusal? = { _, _ in nil },
        act: @escaping @Sendable (InputDispatcher, repeat each Value) throws -> Void
    ) {
        (self.name, self.summary, self.subject, self.api) = (name, summary, subject, api)
        (self.keys, self.words, self.form, self.marks, self.judge) = (keys, words, form, marks, judge)
        var facts: [InputFacts] = []
        for field in repeat each fields { facts.append(field.facts) }
        self.fields = facts
        let typed = (repeat each fields)
        self.act = { door, input in
            func value<One>(_ field: InputField<One>) throws -> One {
                guard let value = field.read(input.values[field.facts.name]) else {
                    throw LiveRefusal(.notAnInput, "\(name): expected `\(field.facts.name)`")
                }
                return value
            }
            try act(door, repeat try value(each typed))
        }
    }

    package static let all = ofPerson + ofDevices + ofAlerts + ofThresholds + fromOutside
    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    package static func named(_ name: String) -> InputRow? { byName[name] }

    package func field(_ said: String) -> InputFacts? { fields.first { $0.said == said } }

    // MARK: Judged and done

    /// What is wrong with an input of this row; nil where nothing is.
    func problem(of input: LiveInput, in context: LiveInputContext) -> LiveRefusal? {
        if let missing = missing(in: context.kind) { return missing }
        if context.isFed, marks.contains(.notWhereFed) {
            return LiveRefusal(
                .suggestionsOnly,
                "found what is a pump's, a sensor's or a closed loop's, expected suggestions only: glucose comes from outside"
            )
        }
        if let problem = judge(input, context) { return problem }
        return fields.lazy.compactMap { field in
            input.values[field.name].flatMap { field.problem(of: $0, in: context) }
        }.first
    }

    /// Why it means nothing to a kind of subject; nil where it does.
    func missing(in kind: SubjectKind) -> LiveRefusal? {
        switch subject {
        case .anybody: return nil
        case .lookedAfter:
            guard kind.isPerson else { return nil }
            return LiveRefusal(
                .notOfSubject,
                "\(name): found one of a person, expected a subject that somebody looks after")
        case .person(let lacks):
            return kind.isPerson ? nil : LiveRefusal(.notOfSubject, "a \(kind.spoken) has \(lacks)")
        }
    }

    /// Does what an input of this row says, whole or not at all.
    func perform(_ input: LiveInput, by door: InputDispatcher) throws { try act(door, input) }
}

extension LiveInput {
    package var row: InputRow? { InputRow.named(name) }

    /// Whether its row has a mark.
    package func isMarked(_ mark: InputRow.Mark) -> Bool { row?.marks.contains(mark) ?? false }
}

/// What is typed for an input: a verb, and words for its first fields.
package struct InputKeys: Sendable {
    package let verb: String
    /// The words behind the verb, as the help has them: one for each field.
    package let example: String
    package let help: String
    private let make: (@Sendable ([String]) -> LiveInput?)?

    /// - Parameter make: an input of the words; nil where they are the values of the first fields.
    package init(
        _ verb: String, _ example: String = "", _ help: String,
        make: (@Sendable ([String]) -> LiveInput?)? = nil
    ) { (self.verb, self.example, self.help, self.make) = (verb, example, help, make) }

    /// nil where the words are not understood.
    func input(_ words: [String], _ row: InputRow) -> LiveInput? {
        guard words.count == example.split(separator: " ").count else { return nil }
        if let make { return make(words) }
        var values: [String: LiveValue] = [:]
        for (word, field) in zip(words, row.fields) {
            guard let value = field.typed(word) else { return nil }
            values[field.name] = value
        }
        return LiveInput(row.name, values)
    }
}
