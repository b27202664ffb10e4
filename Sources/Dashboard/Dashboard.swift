// The server's answers, without a server: door, routes, errors.
//
// Guarantees: every response has the headers that keep a page from doing what it shouldn't; an error is one JSON object or one page with a reason, and never
// what the inside looked like. Does not: read sockets (`DashboardServer` does).

import Documents
import Live
import Pages
import Records
import Synchronization
package import Ward

package final class Dashboard: Sendable {
    package let ward: Ward
    package let news: WardNews
    package let door: WebDoor
    let counters = Counters()
    let screens = Screens()
    private let routes: [Route]

    /// What a page may load and do.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

    /// Hears of what a client is told no more of than that it went wrong.
    private let onFailure: @Sendable (String) -> Void

    package init(
        ward: Ward, news: WardNews, door: WebDoor, onFailure: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        (self.ward, self.news, self.door) = (ward, news, door)
        self.onFailure = onFailure
        var routes: [Route] = []
        let api = WardAPI(ward: ward, news: news, counters: counters, screens: screens)
        routes += api.routes
        routes += PageRoutes(ward: ward, door: door).routes
        routes += NightscoutRoutes(ward: ward, door: door).routes
        let documented = routes.filter(\.isDocumented)
        routes.append(
            Route(
                method: "GET", path: "/openapi.json", summary: "This document.", isOpen: true
            ) { _, _ in
                .text(200, OpenAPIDocument.text(documented), type: "application/json")
            })
        self.routes = routes
    }

    /// Answers a request. May wait: for a disk, or a session.
    package func answer(_ request: WebRequest) -> WebResponse {
        var response = plainAnswer(request)
        if request.method == "HEAD", case .bytes = response.body { response.body = .bytes([]) }
        response.headers += [
            ("content-security-policy", Self.policy), ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"), ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"), ("x-frame-options", "DENY"),
        ]
        if !response.headers.contains(where: { $0.name == "cache-control" }) {
            response.headers.append(("cache-control", "no-store"))
        }
        counters.answered(response.status)
        return response
    }

    private func plainAnswer(_ request: WebRequest) -> WebResponse {
        let isPage =
            !request.path.hasPrefix("/api/") && (request.headers["accept"] ?? "").contains("text/html")
        guard let parts = request.parts, parts.allSatisfy({ !$0.contains("\0") }) else {
            return problem(400, "the path is not valid", isPage)
        }
        let method = request.method == "HEAD" ? "GET" : request.method
        let here = routes.compactMap { route in route.match(parts).map { (route, $0) } }
        let found = here.first { $0.0.method == method }
        if let (status, text) = door.refusal(request, isOpen: found?.0.isOpen ?? false) {
            if status == 401, isPage { return .seeOther("/login") }
            return problem(status, text, isPage)
        }
        guard let (route, names) = found else {
            guard !here.isEmpty else { return problem(404, "there is nothing here", isPage) }
            var response = problem(405, "another method is wanted", isPage)
            response.headers.append(("allow", here.map(\.0.method).joined(separator: ", ")))
            return response
        }
        do {
            return try route.handler(request, names)
        } catch let refusal as Ward.Refusal {
            return problem(refusal.status, refusal.text, isPage)
        } catch let problem as ShareProblem {
            return problem.response
        } catch let error as InputError {
            return problem(422, error.description, isPage)
        } catch let error as OutputError {
            return problem(error.kind == .temporary ? 503 : 507, "it can't be written: \(error)", isPage)
        } catch let error as LiveSession.Divergence {
            return problem(409, "the journal isn't what it comes to here: \(error)", isPage)
        } catch {
            onFailure("\(method) \(request.path): \(error)")
            return problem(500, "something went wrong inside", isPage)
        }
    }

    /// What is to be done now and then: about once a second, by a thread of its own.
    package func tend() {
        for id in screens.left(at: ward.host.continuousNow) {
            _ = try? ward.tell(id, WardCommand(.input(.background)))
        }
        ward.tend()
    }

    func problem(_ status: Int, _ text: String, _ isPage: Bool) -> WebResponse {
        let text = printable(text, limit: 2000)
        guard isPage else {
            return .text(
                status, JSONValue.object([.init("error", .string(text))]).compactText,
                type: "application/json")
        }
        return .html(status, Page.problem(status, Self.title(status), text))
    }

    private static func title(_ status: Int) -> String {
        switch status {
        case 404: "Not found"
        case 401: "Log in first"
        case 403, 421: "Not from there"
        case 409, 422: "That can't be done"
        default: "Something is wrong"
        }
    }
}

extension Ward.Refusal {
    var status: Int {
        switch self {
        case .unknown: 404
        case .invalid: 422
        case .conflict: 409
        case .full: 503
        case .frozen: 423
        }
    }

    var text: String {
        switch self {
        case .unknown: "there is no such session"
        case .invalid(let text), .conflict(let text), .full(let text): text
        case .frozen: "the session is frozen: nothing reaches it; it may be said again"
        }
    }
}

/// What the server counts about itself.
final class Counters: Sendable {
    struct Values: Sendable {
        var byStatus: [Int: Int] = [:]
        var streams = 0
        /// Ended by their clients, or because these didn't read.
        var streamsDropped = 0
    }
    private let values = Mutex(Values())

    var now: Values { values.withLock { $0 } }
    func answered(_ status: Int) { values.withLock { $0.byStatus[status, default: 0] += 1 } }
    func streamBegan() { values.withLock { $0.streams += 1 } }
    func streamEnded(isDropped: Bool) {
        values.withLock {
            $0.streams -= 1
            if isDropped { $0.streamsDropped += 1 }
        }
    }
}
