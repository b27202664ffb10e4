// What the API answers is what its document says, member by member.

import Foundation
import IsletLive
import Testing

@testable import Dashboard

/// A document of the API, and whether values fit its schemas.
struct Document {
    let paths: [String: [String: [String: Any]]]
    let schemas: [String: Any]

    init(_ desk: Desk) throws {
        let all = desk.answer("GET", "/openapi.json").json
        paths = try #require(all["paths"] as? [String: [String: [String: Any]]])
        schemas = try #require((all["components"] as? [String: Any])?["schemas"] as? [String: Any])
    }

    /// The schema of an answer; nil for one that has no body.
    func schema(_ method: String, _ path: String, _ status: Int) throws -> [String: Any]? {
        let operation = try #require(paths[path]?[method.lowercased()], "\(method) \(path)")
        let answers = try #require(operation["responses"] as? [String: [String: Any]])
        let answer = try #require(answers["\(status)"], "\(method) \(path): \(status)")
        let content = answer["content"] as? [String: [String: Any]]
        return content?["application/json"]?["schema"] as? [String: Any]
    }

    /// Where a value doesn't fit, and why; empty where it does.
    func misfits(_ value: Any, _ schema: [String: Any], at place: String = "") -> [String] {
        if let name = schema["$ref"] as? String {
            guard
                let named = schemas[name.split(separator: "/").last.map(String.init) ?? ""] as? [String: Any]
            else { return ["\(place): no schema \(name)"] }
            return misfits(value, named, at: place)
        }
        if let any = schema["anyOf"] as? [[String: Any]] {
            let all = any.map { misfits(value, $0, at: place) }
            return all.contains { $0.isEmpty } ? [] : all[0]
        }
        if let names = schema["enum"] as? [String], !names.contains(value as? String ?? "") {
            return ["\(place): \(value) is none of \(names)"]
        }
        // Of what JSON reads: a number is no flag.
        let isFlag = (value as? NSNumber).map { String(cString: $0.objCType) == "c" } ?? false
        switch schema["type"] as? String {
        case "null": return value is NSNull ? [] : ["\(place): \(value) is not null"]
        case "string": return value is String ? [] : ["\(place): \(value) is no text"]
        case "boolean": return isFlag ? [] : ["\(place): \(value) is no flag"]
        case "number": return value is NSNumber && !isFlag ? [] : ["\(place): \(value) is no number"]
        case "integer":
            let number = isFlag ? nil : (value as? NSNumber)?.doubleValue
            return number.map { $0 == $0.rounded() } == true ? [] : ["\(place): \(value) is not whole"]
        case "array":
            guard let values = value as? [Any], let items = schema["items"] as? [String: Any] else {
                return ["\(place): \(value) is no list"]
            }
            return values.enumerated().flatMap { misfits($0.element, items, at: "\(place)[\($0.offset)]") }
        case "object": return objectMisfits(value, schema, at: place)
        default: return ["\(place): a schema without a type"]
        }
    }

    private func objectMisfits(_ value: Any, _ schema: [String: Any], at place: String) -> [String] {
        guard let members = value as? [String: Any],
            let properties = schema["properties"] as? [String: [String: Any]],
            let required = schema["required"] as? [String]
        else { return ["\(place): \(value) is no object"] }
        let missing = required.filter { members[$0] == nil }.map { "\(place).\($0): missing" }
        return missing
            + members.flatMap { name, member in
                properties[name].map { misfits(member, $0, at: "\(place).\(name)") }
                    ?? ["\(place).\(name): not in the document"]
            }
    }
}

@Suite("Answers of the API fit its document") struct AnswerSchemaTests {
    private func check(
        _ desk: Desk, _ document: Document, _ method: String, _ path: String, _ target: String,
        _ status: Int, _ body: String = ""
    ) throws {
        let answer = desk.answer(method, target, body)
        #expect(answer.status == status, "\(target) \(body): \(answer.text)")
        let schema = try #require(try document.schema(method, path, answer.status), "\(method) \(path)")
        let misfits = document.misfits(answer.json, schema)
        #expect(misfits.isEmpty, "\(method) \(target): \(misfits.prefix(5))")
    }

    @Test func whatIsAnsweredFitsTheDocument() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let document = try Document(desk)
            let id = try desk.session()
            let other = try desk.session(from: 2)
            let root = "/api/sessions/{id}"
            func look(_ path: String, _ id: String, _ query: String = "") throws {
                try check(
                    desk, document, "GET", path,
                    path.replacingOccurrences(of: "{id}", with: id) + query, 200)
            }
            func looks(_ id: String) throws {
                for path in [
                    "", "/readings", "/steps", "/alerts/active", "/alerts/cleared", "/timeline", "/settings",
                ] {
                    try look(root + path, id)
                }
                try look("/api/sessions", id)
            }
            try looks(id)
            func tell(_ id: String, _ body: String, _ status: Int = 202) throws {
                try check(
                    desk, document, "POST", root + "/commands", "/api/sessions/\(id)/commands", status, body)
            }
            try tell(id, #"{"command":"requestBolus","units":6}"#)
            try tell(id, #"{"command":"testAlert","alert":"ALERT-CGM-URGENT-LOW"}"#)
            try tell(id, #"{"command":"preview","alert":"ALERT-PUMP-FAULT"}"#)
            try tell(id, #"{"command":"temporaryBasal","percent":0,"minutes":60}"#)
            try tell(id, #"{"command":"quietHours","from":"22:00","to":"07:00"}"#)
            try tell(id, #"{"command":"subject","id":"B","kilograms":70}"#)
            try tell(id, #"{"command":"meal","grams":40}"#)
            try tell(id, #"{"command":"acknowledge","alert":"ALERT-PUMP-FAULT"}"#, 409)
            try tell(id, #"{"command":"meal"}"#, 422)
            try looks(id)
            let room = desk.answer("POST", "/api/sessions", #"{"room":"flowering","pace":"paused"}"#)
            try looks(try #require(room.json["id"] as? String))
            try look(root + "/past", id, "?t=3600")
            try look("/api/studies", id)
            try look("/healthz", id)
            try check(
                desk, document, "GET", root + "/compare/{other}", "/api/sessions/\(id)/compare/\(other)", 200)
            try check(
                desk, document, "POST", root + "/preview", "/api/sessions/\(id)/preview",
                200, #"{"metric":"glucose","low":110,"high":130}"#)
            try check(
                desk, document, "POST", root + "/forks", "/api/sessions/\(id)/forks",
                201, #"{"t":71000,"algorithm":"basal-bolus"}"#)
            try check(
                desk, document, "POST", "/api/sessions", "/api/sessions", 201, #"{"room":"flowering"}"#)
            try check(desk, document, "GET", root, "/api/sessions/nobody", 404)
        }
    }

    /// Each answer that is JSON has a schema with members, or a name of one.
    @Test func everyRoutesAnswerIsDescribed() throws {
        try withFolder { folder in
            let document = try Document(try Desk(folder))
            for (path, operations) in document.paths {
                for (method, operation) in operations {
                    let answers = try #require(operation["responses"] as? [String: [String: Any]])
                    for (status, answer) in answers {
                        let content = answer["content"] as? [String: [String: Any]]
                        guard let schema = content?["application/json"]?["schema"] as? [String: Any] else {
                            continue
                        }
                        #expect(
                            schema["$ref"] != nil || schema["properties"] != nil,
                            "\(method) \(path): \(status)")
                    }
                }
            }
        }
    }

    /// A value that doesn't fit is found.
    @Test func whatDoesNotFitIsFound() throws {
        try withFolder { folder in
            let document = try Document(try Desk(folder))
            let schema: [String: Any] = ["$ref": "#/components/schemas/Instant"]
            func fits(_ value: [String: Any]) -> Bool { document.misfits(value, schema).isEmpty }
            #expect(fits(["t": 1.5, "at": "now"]))
            #expect(!fits(["t": 1.5]) && !fits(["t": "1", "at": "now"]) && !fits(["t": true, "at": "now"]))
            #expect(!fits(["t": 1.5, "at": "now", "other": 1]) && !fits(["t": NSNull(), "at": "now"]))
        }
    }
}
