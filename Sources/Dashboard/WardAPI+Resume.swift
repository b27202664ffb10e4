// The route by which a session that failed goes on.

import IsletFiles
import IsletLive

extension WardAPI {
    var goOn: Route {
        Route(
            method: "POST", path: "/api/sessions/{id}/resume",
            summary:
                "Goes on with a session that failed, from its journal; 409 where it hasn't, or can't yet.",
            refusals: [409, 503], answer: .id, work: .livesAgain
        ) { _, names in
            let id = names["id"] ?? ""
            try ward.resume(id)
            return .text(
                200, JSONValue.object([.init("id", .string(id))]).compactText, type: "application/json")
        }
    }
}

extension WardAPI {
    /// The route by which a session that another engine lived is begun anew.
    var anew: Route {
        Route(
            method: "POST", path: "/api/sessions/{id}/anew",
            summary:
                "Begins a session that another engine lived anew, from its person and settings; `refused` has those that this engine did not take. Asked for again it is the session that was begun the first time. 409 for one that this engine lives.",
            refusals: [409, 503], answer: .begunAnew, work: .livesAgain
        ) { request, names in
            let new = try ward.anew(names["id"] ?? "", isWanted: request.isWanted)
            // A threshold that isn't set again rings for nobody.
            let refused = new.refused.map { SessionJSON.reason($0, as: "reason") }
            return .text(
                200,
                JSONValue.object([.init("id", .string(new.id)), .init("refused", .array(refused))])
                    .compactText, type: "application/json")
        }
    }
}

extension WardAPI {
    /// The route by which somebody says that they have seen what the siren rings for.
    var seen: Route {
        Route(
            method: "POST", path: "/api/sessions/{id}/seen",
            summary:
                "Somebody has seen that the session is frozen, has failed, or goes on without its algorithm: nothing rings for that before it is over. 409 where nothing does.",
            refusals: [409], answer: .id, work: .atOnce
        ) { _, names in
            let id = names["id"] ?? ""
            try ward.see(id)
            return Self.json(.object([.init("id", .string(id))]))
        }
    }
}

extension WardAPI {
    /// The route by which a ward begins with the demonstration.
    var demonstration: Route {
        Route(
            method: "POST", path: "/api/demonstration",
            summary:
                "Begins the demonstration: a dozen people and a room, some of them in trouble. They are there by name at once, and come back one after the other. What the ward has of them already isn't begun again.",
            status: 202, refusals: [503, 507], answer: .begun, work: .livesAgain
        ) { _, _ in
            let file = try ProgramFiles.demonstration(in: ward.options.folder + "/demonstration")
            try ward.begin(with: try WardFile.read(file).sessions)
            let ward = ward
            // As a server does at its start: behind whoever answers.
            _ = try SystemThread {
                SystemThread.stepBack()
                ward.bringBack()
            }
            return Self.json(["sessions": .integer(Int64(ward.ids.count))], 202)
        }
    }
}
