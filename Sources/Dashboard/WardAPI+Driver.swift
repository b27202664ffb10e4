// The door by which somebody drives a session step by step.
//
// Guarantees: rows are those of `islet-step/1` (`StepFields`), and so are the fields of a dose; what is refused has changed nothing. Who drives is told a token once, and nobody else is.
// Does not: keep anybody out who may use the API: the token keeps two programs from steering one session.

import IsletFiles
import IsletKernel
import IsletLive
import IsletTrials

extension WardAPI {
    private static let token = WardCommand.Field(
        name: "driver", kind: .text("the token that driving began with", pattern: WardCommand.keyPattern))

    private static let sit: [WardCommand.Field] = [
        .init(
            name: "name",
            kind: .text(
                "what the page calls the driver: letters, digits, points, hyphens, underscores",
                pattern: WardCommand.keyPattern)),
        .init(name: "takes_over", kind: .flag, isRequired: false),
    ]

    private static let span: [WardCommand.Field] = [
        token,
        .init(
            name: "minutes",
            kind: .number(0.1...Double(LiveSession.longestDrive / Nanoseconds.minute)), isRequired: false,
            unit: "min"),
    ]

    private static let act: [WardCommand.Field] =
        [token]
        + StepFields.dose.map { field in
            WardCommand.Field(
                name: field.name, kind: field.said, isRequired: field.name == "step", unit: field.unit)
        }

    var driving: [Route] {
        [
            Route(
                method: "GET", path: "/api/sessions/{id}/driver",
                summary: "Of a session of pace `step`: who drives, and the step that waits for a dose.",
                refusals: [409, 423], answer: .driven
            ) { _, names in try drive(names, .look) },
            Route(
                method: "POST", path: "/api/sessions/{id}/driver",
                summary:
                    "Begins to drive a session of pace `step`. The token is told here alone. 409 where another drives, unless `takes_over`.",
                body: .fields(Self.sit, limit: Route.formLimit), status: 201, refusals: [409, 422, 423],
                answer: .sat
            ) { request, names in
                let fields = try JSONBody(request.body).object("a driver", Self.sit)
                let token =
                    String(UInt64.random(in: .min ... .max), radix: 16)
                    + String(UInt64.random(in: .min ... .max), radix: 16)
                return try drive(
                    names,
                    .sit(
                        LiveDriver(name: try fields.text("name"), token: token),
                        takesOver: try fields.flag("takes_over") ?? false),
                    status: 201, [.init("token", .string(token))])
            },
            Route(
                method: "POST", path: "/api/sessions/{id}/driver/leave", summary: "Drives no more.",
                body: .fields([Self.token], limit: Route.formLimit), refusals: [409, 422, 423],
                answer: .driven
            ) { request, names in
                let fields = try JSONBody(request.body).object("a driver", [Self.token])
                return try drive(names, .leave(token: try fields.text("driver")))
            },
            Route(
                method: "POST", path: "/api/sessions/{id}/advance",
                summary:
                    "Advances a session of pace `step` to its next step, which waits for its dose then; by `minutes` at most, or a day. 409 while a step waits.",
                body: .fields(Self.span, limit: Route.formLimit), refusals: [409, 422, 423], answer: .driven
            ) { request, names in
                let fields = try JSONBody(request.body).object("an advance", Self.span)
                let minutes = try fields.optionalNumber("minutes")
                return try drive(
                    names,
                    .advance(
                        token: try fields.text("driver"),
                        by: minutes.map { Int64($0 * Double(Nanoseconds.minute)) }))
            },
            Route(
                method: "POST", path: "/api/sessions/{id}/act",
                summary:
                    "The dose of the step that waits, as `islet-step/1` has it. It is on disk before it counts. 409 where no step waits, or another one.",
                body: .fields(Self.act, limit: Route.formLimit), refusals: [409, 422, 423], answer: .driven
            ) { request, names in
                let fields = try JSONBody(request.body).object("a dose", Self.act)
                var dose: [JSONValue.Member] = []
                for field in StepFields.dose {
                    switch field.kind {
                    case .whole:
                        let usual = field.name == "handle" ? 0 : nil
                        guard let value = try fields.optionalWholeNumber(field.name) ?? usual else {
                            continue
                        }
                        dose.append(.init(field.name, .integer(Int64(value))))
                    default:
                        guard let value = try fields.optionalNumber(field.name) else { continue }
                        dose.append(.init(field.name, .number(value)))
                    }
                }
                let (step, given) = try StepDoor.dose(.object(dose))
                return try drive(names, .act(token: try fields.text("driver"), step: step, given))
            },
            Route(
                method: "GET", path: "/api/sessions/{id}/study",
                summary:
                    "The study that a session is one of, as `islet run` takes it; of a driven one with the doses so far, so that it comes to the same digest. What it was told stands in its journal alone.",
                refusals: [409, 423], type: "text/plain"
            ) { _, names in
                .text(
                    200, try ward.study(of: names["id"] ?? "").json.prettyText,
                    type: "text/plain; charset=utf-8")
            },
        ]
    }

    private func drive(
        _ names: [String: String], _ wish: DriverWish, status: Int = 200, _ more: [JSONValue.Member] = []
    ) throws -> WebResponse {
        let id = names["id"] ?? ""
        do {
            let stand = try ward.drive(id, wish)
            return Self.json(SessionJSON.driven(stand, ward.calendar(of: id), more), status)
        } catch let refusal as LiveRefusal {
            return Self.json(refusal)
        }
    }
}

extension StepField {
    /// As a body has it.
    fileprivate var said: WardCommand.Field.Kind {
        switch kind {
        case .whole: .wholeNumber(0...(name == "step" ? Int(Int32.max) : 0))
        // Recorded where an algorithm answers it; the door takes none.
        case _ where name == "glucagon": .number(0...0)
        default: .number(0...(name == "forecast" ? RecordedSteps.largestForecast : StepDoor.largestDose))
        }
    }
}
