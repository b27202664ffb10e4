// The API's document, from its routes.

import IsletFiles
import IsletLive
import IsletDevices
import IsletTrials

enum OpenAPIDocument {
    static func text(_ routes: [Route]) -> String {
        var paths: [JSONValue.Member] = []
        for route in routes where !paths.contains(where: { $0.key == route.path }) {
            let here = routes.filter { $0.path == route.path }
            paths.append(
                .init(
                    route.path,
                    .object(here.map { JSONValue.Member($0.method.lowercased(), operation($0)) })))
        }
        return JSONValue.object([
            .init("openapi", .string("3.1.0")),
            .init(
                "info",
                [
                    "title": "Islet, live", "version": .string(BuildFacts.version),
                    "description": .string(
                        "Simulated people, pumps and sensors in real time. Not a medical device, and no way to one."
                    ),
                ]),
            .init("paths", .object(paths)),
            .init(
                "components",
                [
                    "securitySchemes": [
                        "token": ["type": "http", "scheme": "bearer"]
                    ],
                    "schemas": .object(AnswerSchema.all.map { .init($0.0, $0.1.json) }),
                ]),
            .init("security", .array([["token": .array([])], .object([])])),
        ]).prettyText
    }

    private static func type(_ name: String) -> JSONValue { ["type": .string(name)] }

    private static func operation(_ route: Route) -> JSONValue {
        var parameters: [JSONValue] = []
        for part in route.path.split(separator: "/") where part.hasPrefix("{") {
            parameters.append(
                parameter(String(part.dropFirst().dropLast()), "path", true, "a session's id", type("string"))
            )
        }
        parameters += route.query.map {
            parameter($0.name, "query", $0.isRequired, $0.meaning, schema($0.kind))
        }
        var responses: [JSONValue.Member] = [
            .init(
                "\(route.status)",
                .object(
                    [.init("description", .string(route.summary))]
                        + (route.status == 204
                            ? []
                            : [
                                .init(
                                    "content",
                                    [
                                        route.type: [
                                            "schema": route.answer?.json ?? type("string")
                                        ]
                                    ])
                            ])))
        ]
        let common = [400, 401, 403, 404, 405, 408, 411, 413, 414, 421, 429, 431]
        // Whatever waits may be given up.
        let own = route.refusals + (route.work == .atOnce ? [] : [503])
        for status in Set(common + own).sorted() {
            responses.append(
                .init(
                    "\(status)",
                    [
                        "description": "refused, with the reason",
                        "content": [
                            "application/json": [
                                "schema": ["$ref": "#/components/schemas/Error"]
                            ]
                        ],
                    ]))
        }
        var members: [JSONValue.Member] = [
            .init("summary", .string(route.summary)),
            .init("operationId", .string(route.method.lowercased() + route.path.replacing("/", with: "_"))),
            .init("parameters", .array(parameters)), .init("responses", .object(responses)),
        ]
        if let body = body(route.body) {
            members.append(
                .init(
                    "requestBody",
                    [
                        "required": .bool(true),
                        "content": ["application/json": ["schema": body]],
                    ]))
        }
        return .object(members)
    }

    private static func parameter(
        _ name: String, _ place: String, _ isRequired: Bool, _ meaning: String, _ schema: JSONValue
    ) -> JSONValue {
        [
            "name": .string(name), "in": .string(place), "required": .bool(isRequired),
            "description": .string(meaning), "schema": schema,
        ]
    }

    private static func schema(_ kind: Route.Parameter.Kind) -> JSONValue {
        switch kind {
        case .text: type("string")
        case .wholeNumber(let range): bounded("integer", Double(range.lowerBound), Double(range.upperBound))
        case .number(let range): bounded("number", range.lowerBound, range.upperBound)
        }
    }

    private static func bounded(_ name: String, _ low: Double, _ high: Double) -> JSONValue {
        [
            "type": .string(name), "minimum": .number(low), "maximum": .number(high),
        ]
    }

    // MARK: Bodies

    private static func object(
        _ properties: [JSONValue.Member], required: [String], description: String = ""
    ) -> JSONValue {
        .object(
            (description.isEmpty ? [] : [.init("description", .string(description))]) + [
                .init("type", .string("object")), .init("additionalProperties", .bool(false)),
                .init("required", .array(required.map { .string($0) })),
                .init("properties", .object(properties)),
            ])
    }

    private static func nullable(_ schema: JSONValue, _ canBeNull: Bool) -> JSONValue {
        guard canBeNull else { return schema }
        return ["anyOf": .array([schema, type("null")])]
    }

    private static let key = JSONValue.object([
        .init("type", .string("string")), .init("pattern", .string(WardCommand.keyPattern)),
    ])

    static func body(_ body: Route.Body, commands: [WardCommand.Row] = WardCommand.rows) -> JSONValue? {
        switch body {
        case .none: return nil
        case .command:
            return [
                "oneOf": .array(
                    commands.map { row in
                        var properties: [JSONValue.Member] = [
                            .init("command", ["const": .string(row.name)]),
                            .init("key", key),
                        ]
                        properties += row.fields.map {
                            .init($0.name, nullable(field($0), $0.canBeNull))
                        }
                        return object(
                            properties,
                            required: ["command"] + row.fields.filter(\.isRequired).map(\.name),
                            description: row.summary)
                    })
            ]
        case .create:
            // One source of the five.
            let pace = JSONValue.object([
                .init("type", .string("string")), .init("pattern", .string(WardCommand.pacePattern)),
            ])
            let room = object(
                [
                    .init("name", type("string")),
                    .init("room", ["enum": .array(SessionRequest.stages.map { .string($0) })]),
                    .init("recommended", type("boolean")), .init("pace", pace),
                ], required: ["room"])
            let begin: [JSONValue.Member] = [
                .init(
                    "start",
                    [
                        "type": "string", "pattern": .string(startPattern),
                        "description":
                            "`now`, with the local time's offset where that is not UTC: the session's clock is the wall's. Or an instant.",
                    ]),
                .init(
                    "history_hours",
                    bounded(
                        "number", SessionRequest.historyHours.lowerBound,
                        SessionRequest.historyHours.upperBound)),
            ]
            let person = object(
                [
                    .init("name", type("string")),
                    .init("person", ["enum": .array(SessionRequest.groups.map { .string($0) })]),
                    .init("scenario", ["enum": .array(SessionRequest.scenarios.map { .string($0) })]),
                    .init("seed", bounded("integer", 0, Double(UInt32.max))), .init("pace", drivenPace),
                ] + begin, required: ["person"])
            return [
                "oneOf": .array(
                    ["study", "study_text", "results"].map { source in
                        object(
                            [
                                .init("name", type("string")), .init(source, type("string")),
                                .init("session", bounded("integer", 0, 1e6)),
                                .init("pace", source == "results" ? pace : drivenPace),
                            ] + (source == "results" ? [] : begin), required: [source])
                    } + [room, person])
            ]
        case .fields(let fields, _):
            return object(
                fields.map { .init($0.name, nullable(field($0), $0.canBeNull)) },
                required: fields.filter(\.isRequired).map(\.name))
        }
    }

    /// Of a session that may be driven.
    private static let drivenPace = JSONValue.object([
        .init("type", .string("string")), .init("pattern", .string(WardCommand.drivenPacePattern)),
        .init(
            "description",
            "`step`: it goes by no clock, and whoever drives it answers its steps. Without `history_hours`."
        ),
    ])

    private static let startPattern =
        "^(now([+-](0[0-9]|1[0-3]):[0-5][0-9])?|20[0-9][0-9]-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z)$"

    private static func field(_ field: WardCommand.Field) -> JSONValue {
        let unit: [JSONValue.Member] =
            field.unit.isEmpty ? [] : [.init("description", .string("in \(field.unit)"))]
        func described(_ schema: JSONValue) -> JSONValue {
            if case .object(let members) = schema { .object(members + unit) } else { schema }
        }
        return switch field.kind {
        case .number(let range): described(bounded("number", range.lowerBound, range.upperBound))
        case .wholeNumber(let range):
            described(bounded("integer", Double(range.lowerBound), Double(range.upperBound)))
        case .text(_, let pattern):
            .object(
                [.init("type", .string("string"))] + (pattern.map { [.init("pattern", .string($0))] } ?? []))
        case .flag: type("boolean")
        }
    }
}
