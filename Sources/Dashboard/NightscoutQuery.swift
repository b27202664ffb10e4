// Nightscout's two query languages, read.
//
// Guarantees: each parameter is understood as Nightscout's documentation and its server have it, or refused by its name: nothing is ignored. Does not: find anything
// (`DocumentQuery` does).

import IsletDevices
import IsletFiles
import IsletLive

/// What can't be answered, as Nightscout's clients read it.
struct NightscoutProblem: AnsweredProblem {
    var status: Int
    var message: String
    var code: String?

    init(_ status: Int, _ message: String, code: String? = nil) {
        (self.status, self.message, self.code) = (status, message, code)
    }

    var response: WebResponse {
        let text = printable(message, limit: 2000)
        return .text(
            status,
            JSONValue.object(
                [
                    .init("status", .integer(Int64(status))), .init("message", .string(text)),
                    .init("error", .string(text)),
                ] + (code.map { [.init("code", .string($0))] } ?? [])
            ).compactText, type: "application/json")
    }
}

enum NightscoutQuery {
    /// The most documents of one answer of the third version.
    static let largestLimit = 1000

    private typealias Parameter = (name: String, value: String)

    /// The parameters in their order, but for what opens the door.
    private static func parameters(_ request: WebRequest, beside known: Set<String>) throws -> [Parameter] {
        guard let all = WebFields.pairs(Array(request.query.utf8)) else {
            throw NightscoutProblem(400, "the query is not rightly encoded")
        }
        return all.filter { !known.contains($0.name) }
    }

    private static func refusal(_ name: String, _ found: String, _ expected: String) -> NightscoutProblem {
        NightscoutProblem(
            400,
            "\(printable(name, limit: 100)): found `\(printable(found, limit: 60))`, expected \(expected)")
    }

    private static func unknown(_ name: String, _ expected: String) -> NightscoutProblem {
        NightscoutProblem(
            400,
            "\(printable(name, limit: 100)): is not understood here, and not ignored; expected \(expected)")
    }

    /// Checks the query of a route that takes no parameters.
    static func none(_ request: WebRequest) throws {
        if let one = try parameters(request, beside: systemOfV1).first {
            throw unknown(one.name, "no parameter")
        }
    }

    // MARK: The first version

    /// What opens the door, and what apps send so that no cache answers.
    private static let systemOfV1: Set<String> = ["token", "rr", "_", "now"]

    /// `find[field]`, `find[field][$gte]` and the like, and `count`.
    /// - Parameters:
    ///   - usualCount: where none is said; nil for all.
    ///   - type: of the path, which says it.
    static func v1(
        _ request: WebRequest, _ collection: NightscoutDocuments.Collection, usualCount: Int?,
        type: String? = nil
    ) throws -> DocumentQuery {
        var query = DocumentQuery()
        query.limit = usualCount
        query.order = [
            .init(field: collection.dateOfV1, isAscending: false), .init(field: "_id", isAscending: false),
        ]
        var seen: Set<String> = []
        for (name, value) in try parameters(request, beside: systemOfV1) {
            if name == "count" {
                guard seen.insert(name).inserted, let count = Int(value), count >= 0 else {
                    throw refusal(name, value, "a whole number once, 0 for all")
                }
                query.limit = count == 0 ? nil : count
                continue
            }
            guard let (field, how, isList) = findOfV1(name) else {
                throw unknown(
                    name,
                    "`count`, or `find[field]` with [$eq], [$ne], [$gt], [$gte], [$lt], [$lte], [$in][], [$nin][] or [$regex]"
                )
            }
            if field == "type", let type {
                // The path says it.
                guard how == .eq, value == type else {
                    throw refusal(name, value, "`\(type)`, as the path says")
                }
                continue
            }
            let clause = try clauseOfV1(name, field, how, value, collection)
            if isList, let place = query.clauses.firstIndex(where: { $0.field == field && $0.how == how }) {
                query.clauses[place].values += clause.values
            } else {
                guard seen.insert("\(field) \(how)").inserted else {
                    throw refusal(name, value, "it once")
                }
                query.clauses.append(clause)
            }
        }
        if let type { query.clauses.append(.init(field: "type", how: .eq, values: [.text(type)])) }
        return query
    }

    /// `find[sgv][$gte]`, apart.
    private static func findOfV1(_ name: String) -> (
        field: String, how: DocumentQuery.Operator, isList: Bool
    )? {
        guard name.hasPrefix("find["), name.hasSuffix("]") else { return nil }
        let parts = name.dropFirst(5).dropLast().split(
            separator: "][", omittingEmptySubsequences: false
        ).map(String.init)
        guard let field = parts.first, !field.isEmpty, !field.hasPrefix("$"),
            !field.contains(where: { "[]".contains($0) })
        else { return nil }
        if parts.count == 1 { return (field, .eq, false) }
        guard parts[1].hasPrefix("$") else { return nil }
        let said = parts[1] == "$regex" ? "re" : String(parts[1].dropFirst())
        guard let how = DocumentQuery.Operator(rawValue: said), parts[1] != "$re" else { return nil }
        switch how {
        case .in, .nin:
            guard parts.count == 3, parts[2].isEmpty || Int(parts[2]).map({ (0...20).contains($0) }) == true
            else { return nil }
            return (field, how, true)
        default: return parts.count == 2 ? (field, how, false) : nil
        }
    }

    private static func clauseOfV1(
        _ name: String, _ field: String, _ how: DocumentQuery.Operator, _ value: String,
        _ collection: NightscoutDocuments.Collection
    ) throws -> DocumentQuery.Clause {
        if how == .re {
            guard let pattern = TextPattern(value) else { throw refusal(name, value, patternWords) }
            return .init(field: field, how: .re, values: [], pattern: pattern)
        }
        if collection.numbersOfV1.contains(field) {
            // A day as text would be read as its year.
            let isWhole = field != "date" || Int64(value) != nil
            guard isWhole, let number = leadingNumber(value) else {
                throw refusal(
                    name, value, field == "date" ? "milliseconds since 1970" : "a whole number")
            }
            return .init(field: field, how: how, values: [.number(number)])
        }
        if collection.dateOfV1 == field {
            guard name != "find[\(field)]" else {
                throw refusal(name, value, "an operator, such as find[\(field)][$gte]")
            }
            guard let time = time(value.replacing(" ", with: "+")) else {
                throw refusal(name, value, "an ISO 8601 time")
            }
            return .init(
                field: field, how: how, values: [.text(NightscoutDocuments.utc(milliseconds: time))])
        }
        if collection.patternsOfV1.contains(field), value.contains("/") {
            guard how == .eq, value.hasPrefix("/"), let end = value.dropFirst().lastIndex(of: "/"),
                ["", "i"].contains(value[value.index(after: end)...]),
                let pattern = TextPattern(
                    String(value[..<end].dropFirst()),
                    ignoresCase: value.hasSuffix("i") && !value.hasSuffix("/"))
            else { throw refusal(name, value, "/pattern/ or /pattern/i; \(patternWords)") }
            return .init(field: field, how: .re, values: [], pattern: pattern)
        }
        return .init(field: field, how: how, values: [.text(value)])
    }

    private static let patternWords =
        "a pattern of characters, `.`, `^`, `$`, `|`, `*`, `+`, `?` and a backslash before what is meant as it stands"

    /// As the server reads it: what begins the text as a whole number.
    private static func leadingNumber(_ text: String) -> Double? {
        var rest = text.drop { $0 == " " }
        let sign = rest.first == "-" ? -1.0 : 1
        if let first = rest.first, "+-".contains(first) { rest = rest.dropFirst() }
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        return digits.isEmpty ? nil : Double(digits).map { sign * $0 }
    }

    /// Milliseconds since 1970; a day, or an instant, in UTC where it says no offset.
    private static func time(_ text: String) -> Int64? {
        let isDay = text.utf8.count == 10
        return ISO8601Time(isDay ? text + "T00:00" : text)?.utcMilliseconds
    }

    // MARK: The third version

    private static let systemOfV3: Set<String> = ["token", "now"]

    /// Filters, sort, limit, skip and fields.
    static func v3(_ request: WebRequest) throws -> DocumentQuery {
        var query = DocumentQuery()
        query.limit = largestLimit
        var (seen, sort): (Set<String>, DocumentQuery.Order?) = ([], nil)
        for (name, value) in try parameters(request, beside: systemOfV3) {
            guard seen.insert(name).inserted else { throw refusal(name, value, "it once") }
            switch name {
            case "sort", "sort$desc":
                guard sort == nil else { throw refusal(name, value, "one of `sort` and `sort$desc`") }
                guard isField(value) else { throw refusal(name, value, "a field's name") }
                sort = .init(field: value, isAscending: name == "sort")
            case "limit", "skip", "fields": try page(name, value, &query)
            default: query.clauses.append(try clauseOfV3(name, value))
            }
        }
        let isAscending = sort?.isAscending ?? true
        query.order =
            (sort.map { [$0] } ?? [])
            + ["identifier", "created_at", "date"].map { .init(field: $0, isAscending: isAscending) }
        return query
    }

    /// Reads the query for one document: `fields` alone.
    static func fieldsOfV3(_ request: WebRequest) throws -> [String]? { try only(["fields"], request).fields }

    /// Reads the query for what has changed: `limit` and `fields`.
    static func historyOfV3(_ request: WebRequest) throws -> DocumentQuery {
        var query = try only(["fields", "limit"], request)
        query.limit = query.limit ?? largestLimit
        query.order = [.init(field: "srvModified", isAscending: true)]
        return query
    }

    private static func only(_ names: [String], _ request: WebRequest) throws -> DocumentQuery {
        var (query, seen): (DocumentQuery, Set<String>) = (DocumentQuery(), [])
        for (name, value) in try parameters(request, beside: systemOfV3) {
            guard names.contains(name) else { throw unknown(name, names.joined(separator: " or ")) }
            guard seen.insert(name).inserted else { throw refusal(name, value, "it once") }
            try page(name, value, &query)
        }
        return query
    }

    private static func page(_ name: String, _ value: String, _ query: inout DocumentQuery) throws {
        switch name {
        case "limit":
            guard let limit = Int(value), (1...largestLimit).contains(limit) else {
                throw refusal(name, value, "a whole number from 1 to \(largestLimit)")
            }
            query.limit = limit
        case "skip":
            guard let skip = Int(value), skip >= 0 else {
                throw refusal(name, value, "a whole number from 0")
            }
            query.skip = skip
        default:
            guard value != "_all" else { return }
            let fields = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard fields.allSatisfy({ isField($0) && !$0.contains(".") }) else {
                throw refusal(name, value, "fields' names with commas between, or `_all`")
            }
            query.fields = fields
        }
    }

    private static func isField(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count) && !text.contains(where: { $0 == "$" || $0 == " " })
    }

    private static func clauseOfV3(_ name: String, _ value: String) throws -> DocumentQuery.Clause {
        var (field, how) = (name, DocumentQuery.Operator.eq)
        if let dollar = name.lastIndex(of: "$") {
            guard let known = DocumentQuery.Operator(rawValue: String(name[name.index(after: dollar)...]))
            else {
                throw unknown(
                    name,
                    "an operator of \(DocumentQuery.Operator.allCases.map { "$" + $0.rawValue }.joined(separator: ", "))"
                )
            }
            (field, how) = (String(name[..<dollar]), known)
        }
        guard isField(field) else { throw unknown(name, "a field's name") }
        let read = valueOfV3(field, value)
        switch how {
        case .in, .nin:
            // A list is of texts, whatever the field has.
            return .init(
                field: field, how: how,
                values: text(read).split(separator: "|", omittingEmptySubsequences: false).map {
                    .text(String($0))
                })
        case .re:
            guard let pattern = TextPattern(text(read)) else { throw refusal(name, value, patternWords) }
            return .init(field: field, how: how, values: [], pattern: pattern)
        default: return .init(field: field, how: how, values: [read])
        }
    }

    private static func text(_ value: DocumentQuery.Value) -> String {
        switch value {
        case .text(let text): text
        case .flag(let flag): "\(flag)"
        case .number(let number): JSONValue.numberText(number)
        }
    }

    /// Earlier times, in milliseconds, are taken as seconds.
    private static let earliest = 946_684_800_000.0

    /// A number, true or false, text, without its quotes where it has some; times by the field.
    private static func valueOfV3(_ field: String, _ value: String) -> DocumentQuery.Value {
        var read = DocumentQuery.Value.text(value)
        if let number = number(value) {
            read = .number(number)
        } else if value == "true" || value == "false" {
            read = .flag(value == "true")
        } else if value.utf8.count >= 2, value.hasPrefix("'"), value.hasSuffix("'") {
            read = .text(String(value.dropFirst().dropLast()))
        }
        let isNumeric = ["date", "srvModified", "srvCreated"].contains(field)
        guard isNumeric || field == "created_at", let time = timeOfV3(read) else { return read }
        return isNumeric ? .number(Double(time)) : .text(NightscoutDocuments.utc(milliseconds: time))
    }

    private static func timeOfV3(_ value: DocumentQuery.Value) -> Int64? {
        switch value {
        case .number(let number):
            let milliseconds = number < earliest ? number * 1000 : number
            return milliseconds >= earliest && milliseconds < 1e15 ? Int64(milliseconds) : nil
        case .text(let text): return time(text).flatMap { Double($0) >= earliest ? $0 : nil }
        case .flag: return nil
        }
    }

    private static func number(_ text: String) -> Double? {
        guard !text.isEmpty, text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }),
            let number = Double(text), number.isFinite
        else { return nil }
        return number
    }
}

extension NightscoutDocuments.Collection {
    /// By what the first version orders it, the newest first.
    var dateOfV1: String {
        switch self {
        case .entries: "date"
        case .treatments, .devicestatus: "created_at"
        case .profile: "startDate"
        }
    }

    /// Fields that the first version compares as whole numbers; all others as text.
    fileprivate var numbersOfV1: Set<String> {
        switch self {
        case .entries: ["date", "sgv", "filtered", "unfiltered", "rssi", "noise", "mbg"]
        case .treatments: ["insulin", "carbs", "glucose"]
        case .devicestatus, .profile: ["date", "sgv"]
        }
    }

    /// Fields whose value may be `/pattern/`.
    fileprivate var patternsOfV1: Set<String> {
        self == .treatments ? ["notes", "eventType", "enteredBy"] : []
    }
}
