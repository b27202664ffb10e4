// Nightscout's query languages against a reference of their own: clauses are drawn, written as a client would, and judged here without being read back.

import Foundation
import Testing

@testable import Dashboard
@testable import IsletLive

@Suite("Nightscout's queries are answered as documented, or refused by name") struct NightscoutQueryTests {
    private typealias Documents = [[String: Any]]

    /// The same each time.
    private struct Draw: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state ^ (state >> 29)) &* 0x9E37_79B9_7F4A_7C15
        }
        mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &self) == 0 }
        mutating func one<T>(_ all: [T]) -> T { all[Int.random(in: 0..<all.count, using: &self)] }
    }

    private static func encoded(_ text: String, _ draw: inout Draw) -> String {
        // As some clients do, and as others.
        let plain = draw.chance(2) ? CharacterSet.alphanumerics : CharacterSet(charactersIn: "[]$./:-'|^*,_")
        return text.addingPercentEncoding(withAllowedCharacters: plain.union(.alphanumerics)) ?? ""
    }

    private static func said(_ value: Any) -> String {
        if let text = value as? String { return text }
        guard let number = value as? NSNumber else { return "x" }
        if QueryReference.isFlag(number) { return number.boolValue ? "true" : "false" }
        return Int(exactly: number.doubleValue).map { "\($0)" } ?? "\(number.doubleValue)"
    }

    private func array(_ text: String) throws -> Documents {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? Documents)
    }

    private func same(_ a: Documents, _ b: Documents) -> Bool {
        func text(_ documents: Documents) -> Data? {
            try? JSONSerialization.data(withJSONObject: documents, options: .sortedKeys)
        }
        return text(a) != nil && text(a) == text(b)
    }

    /// Twenty hours of a person, with what two apps said.
    private func withSession(_ body: (Desk, String) throws -> Void) throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session()
            for (place, text) in [
                #"{"eventType":"Snack Bolus","carbs":12,"notes":"Half an apple","enteredBy":"Watch"}"#,
                #"{"eventType":"Correction Bolus","insulin":1.5,"enteredBy":"pen app","identifier":"a-1"}"#,
                #"{"eventType":"Meal Bolus","insulin":2,"carbs":30,"notes":"apple pie","enteredBy":"pen app"}"#,
            ].enumerated() {
                let answer = desk.answer("POST", "/ns/\(id)/api/v1/treatments", text)
                #expect(answer.status == 200, "\(place): \(answer.text)")
            }
            try body(desk, id)
        }
    }

    // MARK: The first version

    private static let numbersOfV1: [String: Set<String>] = [
        "entries": ["date", "sgv", "noise"], "treatments": ["insulin", "carbs"],
    ]

    @Test func theFirstVersion() throws {
        try withSession { desk, id in
            var draw = Draw(state: 35)
            var (answered, refused, empty) = (0, 0, 0)
            // Nothing happens between two questions.
            var whole: [String: Documents] = [:]
            for _ in 0..<250 {
                let isRefused = draw.chance(8)
                let collection = isRefused ? "entries" : draw.one(["entries", "entries", "treatments"])
                let all =
                    try whole[collection]
                    ?? array(desk.answer("GET", "/ns/\(id)/api/v1/\(collection).json?count=0").text)
                whole[collection] = all
                var (clauses, query): ([QueryReference], [String]) = ([], [])
                for _ in 0..<Int.random(in: 0...3, using: &draw) {
                    let fields =
                        collection == "entries"
                        ? ["date", "sgv", "delta", "dateString", "direction", "type", "nothing", "_id"]
                        : ["created_at", "insulin", "carbs", "eventType", "enteredBy", "notes", "automatic"]
                    let field = draw.one(fields)
                    guard !clauses.contains(where: { $0.field == field }) else { continue }
                    let (clause, parts) = drawOfV1(field, collection, all, &draw)
                    clauses.append(clause)
                    query += parts
                }
                if isRefused {
                    query.append(
                        draw.one([
                            "find[sgv][$exists]=true", "sort[date]=1", "find[$or][0][sgv]=1", "coun=3",
                            "count=-1", "count=some", "find[date][$gte]=2026-03-02", "find[sgv][$gte]=high",
                            "find[dateString][$regex]=(a|b)", "find[sgv][$gt][$lt]=3", "hours=1",
                            "find[date][$mod]=2", "find[sgv]=%ff",
                        ]))
                }
                var count: Int? = collection == "entries" ? 10 : nil
                if !isRefused, draw.chance(2) {
                    let said = draw.one([0, 1, 3, 24, 300])
                    query.append("count=\(said)")
                    count = said == 0 ? nil : said
                }
                let path = "/ns/\(id)/api/v1/\(collection)\(draw.chance(2) ? ".json" : "")"
                let target =
                    query.isEmpty ? path : path + "?" + query.shuffled(using: &draw).joined(separator: "&")
                let answer = desk.answer("GET", target)
                if isRefused {
                    refused += 1
                    #expect(answer.status == 400, "\(target): \(answer.text)")
                    continue
                }
                answered += 1
                // All is there with the newest first.
                let expected = all.filter { one in clauses.allSatisfy { $0.finds(one) } }
                if expected.isEmpty { empty += 1 }
                let found = try array(answer.text)
                #expect(
                    answer.status == 200 && same(found, Array(expected.prefix(count ?? .max))),
                    "\(target): \(found.count) for \(expected.count)")
            }
            #expect(answered > 200 && refused > 15 && empty < answered / 2, "\(answered) \(refused) \(empty)")
        }
    }

    private func drawOfV1(
        _ field: String, _ collection: String, _ all: Documents, _ draw: inout Draw
    ) -> (QueryReference, [String]) {
        let isNumber = Self.numbersOfV1[collection]?.contains(field) ?? false
        let known = all.compactMap { $0[field] }
        func value() -> String {
            guard let one = known.isEmpty ? nil : draw.one(known) else { return "x" }
            return Self.said(one)
        }
        // A whole number, however it is said.
        func wanted(_ text: String) -> QueryReference.Wanted {
            isNumber ? .number(Double(text.prefix { $0 != "." }) ?? .nan) : .text(text)
        }
        if ["eventType", "notes", "enteredBy"].contains(field), draw.chance(2) {
            let (pattern, isAny) = (
                draw.one(["Bolus", "^Correction", "app$", "a.*e", "apple|pen"]), draw.chance(2)
            )
            return (
                QueryReference(field: field, how: isAny ? "re/i" : "re", wanted: [.text(pattern)]),
                ["find[\(field)]=" + Self.encoded("/\(pattern)/\(isAny ? "i" : "")", &draw)]
            )
        }
        let isTime = field == "created_at"
        var how = draw.one(["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"])
        if isTime, how == "eq" { how = "gte" }
        if how == "in" || how == "nin" {
            let texts = [value(), value(), value()]
            let form = draw.chance(2)
            return (
                QueryReference(field: field, how: how, wanted: texts.map(wanted)),
                texts.enumerated().map {
                    Self.encoded("find[\(field)][$\(how)][\(form ? "" : "\($0)")]", &draw) + "="
                        + Self.encoded($1, &draw)
                }
            )
        }
        var text = value()
        let clause = QueryReference(field: field, how: how, wanted: [wanted(text)])
        // The same instant, elsewhere.
        if isTime, text.hasSuffix("Z"), draw.chance(2), text < "2026-03-02T23" { text = shifted(text) }
        let name = how == "eq" && draw.chance(2) ? "find[\(field)]" : "find[\(field)][$\(how)]"
        return (clause, [Self.encoded(name, &draw) + "=" + Self.encoded(text, &draw)])
    }

    /// An hour further east.
    private func shifted(_ text: String) -> String {
        let hour = Int(text.dropFirst(11).prefix(2)) ?? 0
        return text.prefix(11) + (hour < 9 ? "0" : "") + "\(hour + 1)" + text.dropFirst(13).dropLast()
            + "+01:00"
    }

    // MARK: The third version

    @Test func theThirdVersion() throws {
        try withSession { desk, id in
            var draw = Draw(state: 2026)
            var (answered, refused, empty) = (0, 0, 0)
            var whole: [String: Documents] = [:]
            func result(_ target: String) throws -> (status: Int, found: Documents, text: String) {
                let answer = desk.answer("GET", target)
                return (answer.status, answer.json["result"] as? Documents ?? [], answer.text)
            }
            for _ in 0..<250 {
                let collection = draw.one(["entries", "entries", "treatments", "devicestatus", "profile"])
                let path = "/ns/\(id)/api/v3/\(collection)"
                let all = try whole[collection] ?? result(path).found
                whole[collection] = all
                var (clauses, query): ([QueryReference], [String]) = ([], [])
                for _ in 0..<Int.random(in: 0...3, using: &draw) {
                    let field = draw.one([
                        "date", "sgv", "delta", "direction", "identifier", "created_at", "insulin", "carbs",
                        "enteredBy", "srvModified", "pump.reservoir", "pump.status.status", "nothing",
                    ])
                    let (clause, part) = drawOfV3(field, all, &draw)
                    guard !query.contains(where: { $0.hasPrefix(part.prefix { $0 != "=" } + "=") }) else {
                        continue
                    }
                    clauses.append(clause)
                    query.append(part)
                }
                let isRefused = draw.chance(8)
                if isRefused {
                    query.append(
                        draw.one([
                            "limit=0", "limit=1001", "limit=x", "skip=-1", "sgv$between=1",
                            "date$gt=1&date$gt=2",
                            "sort=date&sort$desc=date", "fields=", "sort=", "sgv$re=[ab]",
                            "direction$regex=a",
                            "notes$re=(x)+", "limit=2&limit=2", "fields=pump.reservoir",
                        ]))
                }
                var expected = all.filter { one in clauses.allSatisfy { $0.finds(one) } }
                if !isRefused { order(&expected, &query, &draw) }
                let target =
                    query.isEmpty ? path : path + "?" + query.shuffled(using: &draw).joined(separator: "&")
                let answer = try result(target)
                if isRefused {
                    refused += 1
                    #expect(answer.status == 400, "\(target): \(answer.text)")
                    continue
                }
                answered += 1
                if expected.isEmpty { empty += 1 }
                #expect(
                    answer.status == 200 && same(answer.found, expected),
                    "\(target): \(answer.found.count) for \(expected.count)")
            }
            #expect(
                answered > 200 && refused > 15 && empty < answered * 3 / 4, "\(answered) \(refused) \(empty)")
        }
    }

    /// Sort, skip, limit and fields.
    private func order(_ found: inout Documents, _ query: inout [String], _ draw: inout Draw) {
        let sort = draw.one([nil, "date", "sgv", "eventType", "insulin", "nothing"])
        let isDown = sort != nil && draw.chance(2)
        if let sort { query.append(isDown ? Self.encoded("sort$desc", &draw) + "=\(sort)" : "sort=\(sort)") }
        let fields = [sort, "identifier", "created_at", "date"].compactMap { $0 }
        found.sort { one, other in
            for field in fields {
                let order = QueryReference.sorts(one[field], other[field])
                if order != 0 { return (order < 0) != isDown }
            }
            return false
        }
        if draw.chance(3) {
            let skip = draw.one([0, 1, 7])
            query.append("skip=\(skip)")
            found = Array(found.dropFirst(skip))
        }
        if draw.chance(2) {
            let limit = draw.one([1, 2, 12, 1000])
            query.append("limit=\(limit)")
            found = Array(found.prefix(limit))
        }
        if draw.chance(3) {
            let fields = draw.one([
                ["sgv", "date"], ["identifier"], ["created_at", "nothing", "insulin"], ["_all"],
            ])
            query.append("fields=" + Self.encoded(fields.joined(separator: ","), &draw))
            if fields != ["_all"] { found = found.map { one in one.filter { fields.contains($0.key) } } }
        }
    }

    private func drawOfV3(_ field: String, _ all: Documents, _ draw: inout Draw) -> (QueryReference, String) {
        let known = all.compactMap { QueryReference.value($0, field.split(separator: ".")) }
        let one: Any = known.isEmpty ? "x" : draw.one(known)
        let text = Self.said(one)
        func part(_ how: String, _ value: String) -> String {
            let name = how == "eq" && draw.chance(2) ? field : "\(field)$\(how)"
            return Self.encoded(name, &draw) + "=" + Self.encoded(value, &draw)
        }
        let how = draw.one(["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "re"])
        switch how {
        case "in", "nin":
            // Of texts, whatever the field has.
            let texts = [text, "Flat", "pen app"]
            return (
                QueryReference(field: field, how: how, wanted: texts.map { .text($0) }),
                part(how, texts.joined(separator: "|"))
            )
        case "re":
            let pattern = draw.one(["Up$", "^Fo", "pen", "a.p?", "2026.*Z", "lat|Down"])
            return (QueryReference(field: field, how: how, wanted: [.text(pattern)]), part(how, pattern))
        default: break
        }
        if let number = one as? NSNumber, !QueryReference.isFlag(number) {
            let clause = QueryReference(field: field, how: how, wanted: [.number(number.doubleValue)])
            guard ["date", "srvModified"].contains(field), draw.chance(2) else {
                return (clause, part(how, text))
            }
            // An instant may be said as one.
            let milliseconds = number.int64Value / 1000 * 1000
            return (
                QueryReference(field: field, how: how, wanted: [.number(Double(milliseconds))]),
                part(
                    how,
                    ISO8601DateFormatter().string(
                        from: Date(timeIntervalSince1970: Double(milliseconds / 1000))))
            )
        }
        let isQuoted = field != "created_at" && draw.chance(3)
        return (
            QueryReference(field: field, how: how, wanted: [.text(text)]),
            part(how, isQuoted ? "'\(text)'" : text)
        )
    }

    // MARK: Beside the draws

    /// An hour is asked, an hour is answered: before, three hundred rows were.
    @Test func anHourIsAnHour() throws {
        try withSession { desk, id in
            let all = try array(desk.answer("GET", "/ns/\(id)/api/v1/entries.json?count=0").text)
            let newest = try #require(all.first?["date"] as? Int)
            let since = newest - 3_600_000
            for query in [
                "find[date][$gt]=\(since)&count=300",
                "find%5Bdate%5D%5B%24gt%5D=\(since)&count=300",
            ] {
                let found = try array(desk.answer("GET", "/ns/\(id)/api/v1/entries/sgv.json?\(query)").text)
                #expect(found.count == 12)
                #expect(found.allSatisfy { ($0["date"] as? Int ?? 0) > since })
            }
            // As xDrip+ follows; and a type that the path says already.
            for query in ["count=3&rr=1772500000000", "find[type]=sgv&count=3", "count=3&_=17"] {
                #expect(
                    try array(desk.answer("GET", "/ns/\(id)/api/v1/entries/sgv.json?\(query)").text).count
                        == 3)
            }
            #expect(desk.answer("GET", "/ns/\(id)/api/v1/entries/sgv.json?find[type]=mbg").status == 400)
            let refused = desk.answer("GET", "/ns/\(id)/api/v1/entries.json?hours=1")
            #expect(refused.status == 400 && refused.text.contains("hours"))
        }
    }

    /// Harm: one request holds a thread for as long as its sender likes.
    @Test func aPatternCostsNoMoreThanItsLengthTimesTheTexts() {
        let text = String(repeating: "a", count: 2000)
        let pattern = TextPattern(String(repeating: "a*", count: 40) + "b")
        #expect(pattern?.isFound(in: text) == false && pattern?.isFound(in: text + "b") == true)
        for odd in [
            "(a+)+", "[a]", "a{3}", "a**", "*a", #"\d"#, #"\"#, "a$b", "a^",
            String(repeating: "a", count: 101),
        ] {
            #expect(TextPattern(odd) == nil, "\(odd)")
        }
        #expect(TextPattern(#"a\.b"#)?.isFound(in: "xa.b") == true)
        #expect(TextPattern(#"a\.b"#)?.isFound(in: "xaxb") == false)
        #expect(TextPattern("^a?b$")?.isFound(in: "b") == true && TextPattern("^$")?.isFound(in: "") == true)
        #expect(TextPattern("^a?b$")?.isFound(in: "bb") == false)
    }
}
