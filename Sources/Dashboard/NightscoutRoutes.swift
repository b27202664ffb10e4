// What apps that know Nightscout ask for, and post: a session as a Nightscout server of its own.
//
// Guarantees: a session's root is `/ns/ID`, paths of the first version answer with and without `.json`. What these protocols call a secret is derived from the token
// and opens nothing else; without a token (loopback) none is asked for. A parameter is understood or refused by its name. What is posted is a treatment that was
// given: it enters body and loop once by its id, on the session's disk before it is answered. Of a session that is not there now nothing is answered but 503 (`NotNow`).
// Does not: command a pump, or take, change or delete anything else.

import Foundation
import IsletDevices
import IsletFiles
import IsletKernel
import IsletLive

struct NightscoutRoutes: Sendable {
    typealias Collection = NightscoutDocuments.Collection

    let ward: Ward
    let door: WebDoor

    private static let version = "15.0.0"
    /// The most that one post may hold: bytes, and treatments.
    private static let postLimit = 64 << 10
    private static let mostPosted = 50

    var routes: [Route] { looks + posts + looksOfV3 + logIn }

    // MARK: The first version

    private var looks: [Route] {
        both("/ns/{id}/api/v1/status") { view, request in
            try NightscoutQuery.none(request)
            return Self.status(view)
        }
            + both("/ns/{id}/api/v1/verifyauth") { _, request in
                try NightscoutQuery.none(request)
                return ["status": 200, "message": ["message": "OK", "canRead": true, "canWrite": true]]
            }
            + both("/ns/{id}/api/v1/entries") { view, request in
                Self.answer(
                    view, .entries, try NightscoutQuery.v1(request, .entries, usualCount: 10))
            } + [
                get("/ns/{id}/api/v1/entries/{spec}") { view, request, names in
                    try Self.entries(view, request, names["spec"] ?? "")
                }
            ]
            + both("/ns/{id}/api/v1/treatments") { view, request in
                Self.answer(
                    view, .treatments, try NightscoutQuery.v1(request, .treatments, usualCount: nil))
            }
            + both("/ns/{id}/api/v1/devicestatus") { view, request in
                Self.answer(
                    view, .devicestatus, try NightscoutQuery.v1(request, .devicestatus, usualCount: nil))
            }
            + ["profile", "profiles"].flatMap { name in
                both("/ns/{id}/api/v1/\(name)") { view, request in
                    Self.answer(view, .profile, try NightscoutQuery.v1(request, .profile, usualCount: nil))
                }
            }
            + both("/ns/{id}/api/v1/profile/current") { view, request in
                try NightscoutQuery.none(request)
                return NightscoutDocuments(view: view).all(of: .profile).last ?? .null
            }
    }

    private static func answer(_ view: SessionView, _ collection: Collection, _ query: DocumentQuery)
        -> JSONValue
    {
        .array(query.run(NightscoutDocuments(view: view).all(of: collection)))
    }

    private static func status(_ view: SessionView) -> JSONValue {
        let now = NightscoutDocuments.milliseconds(view.now, view.calendar)
        return [
            "status": "ok", "name": "Islet", "version": .string(version),
            "serverTime": .string(NightscoutDocuments.utc(milliseconds: now)),
            "serverTimeEpoch": .integer(now), "apiEnabled": .bool(true), "careportalEnabled": .bool(true),
            "settings": [
                "units": "mg/dl", "timeFormat": 24, "customTitle": .string(view.name),
                "thresholds": ["bgHigh": 260, "bgTargetTop": 180, "bgTargetBottom": 80, "bgLow": 55],
            ],
        ]
    }

    /// A type, the newest one, or one by its id.
    private static func entries(_ view: SessionView, _ request: WebRequest, _ spec: String) throws
        -> JSONValue
    {
        let spec = spec.hasSuffix(".json") ? String(spec.dropLast(5)) : spec
        let all = NightscoutDocuments(view: view).all(of: .entries)
        if spec == "current" {
            try NightscoutQuery.none(request)
            return .array(Array(all.suffix(1)))
        }
        if spec.utf8.count == 24, spec.utf8.allSatisfy({ WebRequest.digit($0) != nil }) {
            try NightscoutQuery.none(request)
            return .array(all.filter { $0["_id"] == .string(spec) })
        }
        guard ["sgv", "mbg", "cal", "rawbg", "etc"].contains(spec) else { throw Ward.Refusal.unknown }
        return answer(
            view, .entries, try NightscoutQuery.v1(request, .entries, usualCount: 10, type: spec))
    }

    // MARK: The third version

    private var looksOfV3: [Route] {
        [
            get("/ns/{id}/api/v3/version") { view, request, _ in
                try NightscoutQuery.none(request)
                return Self.v3(Self.versionOfV3(view))
            },
            get("/ns/{id}/api/v3/status") { view, request, _ in
                try NightscoutQuery.none(request)
                let permissions = Collection.allCases.map {
                    JSONValue.Member($0.rawValue, .string($0 == .treatments ? "cr" : "r"))
                }
                guard case .object(let members) = Self.versionOfV3(view) else { return .null }
                return Self.v3(.object(members + [.init("apiPermissions", .object(permissions))]))
            },
            get("/ns/{id}/api/v3/lastModified") { view, request, _ in
                try NightscoutQuery.none(request)
                let documents = NightscoutDocuments(view: view)
                let newest = Collection.allCases.compactMap { collection in
                    documents.allOfV3(of: collection).compactMap { Self.modified($0) }.max().map {
                        JSONValue.Member(collection.rawValue, .integer($0))
                    }
                }
                return Self.v3([
                    "srvDate": .integer(NightscoutDocuments.milliseconds(view.now, view.calendar)),
                    "collections": .object(newest),
                ])
            },
        ] + Collection.allCases.flatMap { routesOfV3($0) }
    }

    private func routesOfV3(_ collection: Collection) -> [Route] {
        let path = "/ns/{id}/api/v3/\(collection.rawValue)"
        return [
            get(path) { view, request, _ in
                let query = try NightscoutQuery.v3(request)
                return Self.v3(
                    .array(query.run(NightscoutDocuments(view: view).allOfV3(of: collection))))
            },
            get(path + "/{identifier}") { view, request, names in
                let fields = try NightscoutQuery.fieldsOfV3(request)
                let found = NightscoutDocuments(view: view).allOfV3(of: collection)
                    .first { $0["identifier"] == .string(names["identifier"] ?? "") }
                guard let found else { throw NightscoutProblem(404, "there is no such document") }
                return Self.v3(fields.map { DocumentQuery.project(found, $0) } ?? found)
            },
            get(path + "/history/{since}") { view, request, names in
                guard let since = Int64(names["since"] ?? ""), since >= 0 else {
                    throw NightscoutProblem(400, "lastModified: expected milliseconds since 1970")
                }
                let query = try NightscoutQuery.historyOfV3(request)
                let news = NightscoutDocuments(view: view).allOfV3(of: collection)
                    .filter { (Self.modified($0) ?? 0) > since }
                return Self.v3(.array(query.run(news)))
            },
        ]
    }

    private static func modified(_ document: JSONValue) -> Int64? {
        if case .integer(let time)? = document["srvModified"] { time } else { nil }
    }

    private static func versionOfV3(_ view: SessionView) -> JSONValue {
        [
            "version": .string(version), "apiVersion": "3.0.4",
            "srvDate": .integer(NightscoutDocuments.milliseconds(view.now, view.calendar)),
            "storage": ["storage": "islet", "version": "1"],
        ]
    }

    private static func v3(_ result: JSONValue) -> JSONValue { ["status": 200, "result": result] }

    // MARK: Treatments that are posted

    private var posts: [Route] {
        ["", ".json"].map { ending in
            post("/ns/{id}/api/v1/treatments" + ending) { id, request in
                let document = try Self.document(request)
                guard case .array(let all) = document else {
                    let answer = try take(document, id, isV3: false)
                    return Self.json(.array([answer.document]))
                }
                return try takeAll(all, id)
            }
        } + [
            post("/ns/{id}/api/v3/treatments") { id, request in
                let answer = try take(try Self.document(request), id, isV3: true)
                let document = NightscoutDocuments.asOfV3(answer.document)
                let identifier = document["identifier"] ?? .null
                var members: [JSONValue.Member] = [
                    .init("status", .integer(answer.isRepeated ? 200 : 201)), .init("identifier", identifier),
                    .init("isDeduplication", .bool(answer.isRepeated)),
                ]
                if answer.isRepeated { members.append(.init("deduplicatedIdentifier", identifier)) }
                members.append(.init("lastModified", document["srvModified"] ?? .null))
                var response = Self.json(.object(members))
                response.status = answer.isRepeated ? 200 : 201
                if case .string(let text) = identifier,
                    let part = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
                {
                    response.headers.append(("location", "/ns/\(id)/api/v3/treatments/\(part)"))
                }
                return response
            }
        ]
    }

    private static func document(_ request: WebRequest) throws -> JSONValue {
        try NightscoutQuery.none(request)
        do { return try JSONValue.read(request.body, file: "the body") } catch {
            throw NightscoutProblem(400, "the body is not JSON that is read here: \(error.description)")
        }
    }

    /// Each by itself: one that is refused keeps no other out. Where one can't be heard now all are to be posted again: those that were taken are known by then.
    private func takeAll(_ all: [JSONValue], _ id: String) throws -> WebResponse {
        guard all.count <= Self.mostPosted else {
            throw NightscoutProblem(413, "expected at most \(Self.mostPosted) treatments at once")
        }
        var (taken, refused): ([JSONValue], [JSONValue]) = ([], [])
        var notNow: NotNow?
        for (place, one) in all.enumerated() {
            do { taken.append(try take(one, id, isV3: false).document) } catch let problem as NotNow {
                notNow = problem
            } catch let problem as NightscoutProblem {
                refused.append([
                    "place": .integer(Int64(place)), "status": .integer(Int64(problem.status)),
                    "code": problem.code.map { .string($0) } ?? .null,
                    "message": .string(printable(problem.message, limit: 2000)),
                ])
            }
        }
        if let notNow { throw notNow }
        guard !refused.isEmpty else { return Self.json(.array(taken)) }
        let text = "\(refused.count) of \(all.count) treatments refused, the others taken"
        return .text(
            409,
            JSONValue.object([
                .init("status", .integer(409)), .init("message", .string(text)),
                .init("error", .string(text)), .init("refused", .array(refused)),
                .init("taken", .array(taken)),
            ]).compactText, type: "application/json")
    }

    /// - Throws: `NightscoutProblem` where it is refused for good; `NotNow` where nobody hears it now.
    private func take(_ document: JSONValue, _ id: String, isV3: Bool) throws -> (
        document: JSONValue, isRepeated: Bool
    ) {
        let view = try ward.followed(id)
        let treatment = try NightscoutTreatment(document, view, isV3: isV3)
        func known(_ view: SessionView) -> PostedTreatment? {
            view.live.treatments?.first { $0.id == treatment.said.id }
        }
        let before = known(view)
        // What is known says the same thing twice: the session need not hear it.
        if let before, before.saysTheSame(as: treatment.said) {
            return (NightscoutDocuments(view: view).treatment(before), true)
        }
        let answer: LiveAnswer
        do { answer = try ward.tell(id, WardCommand(.input(.treatment(treatment.said)))) } catch let refusal
            as Ward.Refusal
        {
            throw NotNow.inPlace(of: refusal)
        }
        if let refusal = answer.outcome.refusal {
            // An app takes a 409 for the last word.
            guard refusal.isOfContent else { throw NotNow(refusal.reason.text, refusal.code) }
            throw NightscoutProblem(409, refusal.reason.text, code: refusal.code)
        }
        let after = ward.view(id) ?? view
        return (NightscoutDocuments(view: after).treatment(known(after) ?? treatment.said), before != nil)
    }

    // MARK: The door

    private var logIn: [Route] {
        [
            Route(
                method: "GET", path: "/ns/{id}/api/v2/authorization/request/{token}",
                summary: "Nightscout's log-in.",
                isOpen: true, isDocumented: false, isRated: true
            ) { request, names in
                guard let id = names["id"], ward.has(id) else { throw Ward.Refusal.unknown }
                guard
                    try !door.needsToken
                        || door.isRight(names["token"] ?? "", [door.apiSecret], from: request.address)
                else { return Self.isNobody }
                return Self.json(
                    [
                        "token": .string(door.apiSecret), "sub": .string(id),
                        "permissionGroups": .array([
                            .array([.string("api:*:read"), .string("api:treatments:create")])
                        ]),
                        "iat": .integer(0), "exp": .integer(4_102_444_800),
                    ])
            }
        ]
    }

    private static let isNobody = WebResponse.text(
        401, "{\"status\":401,\"message\":\"Unauthorized\"}", type: "application/json")

    /// With and without `.json`.
    private func both(
        _ path: String, _ body: @escaping @Sendable (SessionView, WebRequest) throws -> JSONValue
    ) -> [Route] {
        [path + ".json", path].map { get($0) { view, request, _ in try body(view, request) } }
    }

    private func get(
        _ path: String,
        _ body: @escaping @Sendable (SessionView, WebRequest, [String: String]) throws -> JSONValue
    ) -> Route {
        // The door is this protocol's own: its clients know no bearer token.
        Route(method: "GET", path: path, summary: "As Nightscout has it.", isOpen: true, isDocumented: false)
        {
            request, names in
            guard try isKnown(request) else { return Self.isNobody }
            return Self.json(try body(try ward.followed(names["id"] ?? ""), request, names))
        }
    }

    private func post(
        _ path: String, _ body: @escaping @Sendable (String, WebRequest) throws -> WebResponse
    ) -> Route {
        Route(
            method: "POST", path: path, summary: "As Nightscout has it.", isOpen: true,
            isDocumented: false, ownBodyLimit: Self.postLimit
        ) { request, names in
            guard try isKnown(request) else { return Self.isNobody }
            let id = names["id"] ?? ""
            _ = try ward.followed(id)
            return try body(id, request)
        }
    }

    private func isKnown(_ request: WebRequest) throws -> Bool {
        guard door.needsToken, !door.isLoggedIn(request) else { return true }
        let address = request.address
        if let said = request.headers["api-secret"] {
            // Some clients send its hash, in either case.
            return try door.isRight(
                said.count == 40 ? said.lowercased() : said, [door.apiSecret, door.apiSecretHash],
                from: address)
        }
        if let said = request.bearer {
            return try door.isTokenOr(door.apiSecret, said, from: address)
        }
        return try request.query("token").map { try door.isRight($0, [door.apiSecret], from: address) }
            ?? false
    }

    private static func json(_ value: JSONValue) -> WebResponse {
        .text(200, value.compactText, type: "application/json")
    }
}
