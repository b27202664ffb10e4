// The route by which a session that failed goes on.

import IsletFiles
import IsletLive

extension WardAPI {
    var goOn: Route {
        Route(
            method: "POST", path: "/api/sessions/{id}/resume",
            summary:
                "Goes on with a session that failed, from its journal; 409 where it hasn't, or can't yet.",
            refusals: [409, 503], work: .livesAgain
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
                "Begins a session that another engine lived anew, from its person and settings; 409 for one that this engine lives.",
            refusals: [409, 503], work: .livesAgain
        ) { request, names in
            let id = try ward.anew(names["id"] ?? "", isWanted: request.isWanted)
            return .text(
                200, JSONValue.object([.init("id", .string(id))]).compactText, type: "application/json")
        }
    }
}
