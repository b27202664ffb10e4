// The server's answers, without a server: door, routes, errors.
//
// Guarantees: every response has the headers that keep a page from doing what it shouldn't; an error is one JSON object or one page with a reason, and never
// what the inside looked like. Does not: read sockets (`DashboardServer` does).

import IsletFiles
package import IsletLive
import Pages
import IsletDevices
import Synchronization

package final class Dashboard: Sendable {
    package let ward: Ward
    package let news: WardNews
    package let door: WebDoor
    let counters = Counters()
    let screens = Screens()
    let rings = WardRings()
    private let routes: [RoutePattern]

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
        let api = WardAPI(
            ward: ward, news: news, counters: counters, screens: screens, door: door, rings: rings)
        routes += api.routes
        routes += PageRoutes(ward: ward, door: door, screens: screens, rings: rings).routes
        routes += NightscoutRoutes(ward: ward, door: door).routes
        routes += ShareRoutes(ward: ward, door: door).routes
        let document = OpenAPIDocument.text(routes.filter(\.isDocumented))
        routes.append(
            Route(
                method: "GET", path: "/openapi.json", summary: "This document.", isOpen: true
            ) { _, _ in
                .text(200, document, type: "application/json")
            })
        self.routes = routes.map { RoutePattern($0) }
    }

    /// What a request may do, judged by its head: before anything of its body is read.
    package enum Admission: Sendable {
        case refused(WebResponse)
        case admitted(Admitted)
    }

    /// A request that may come in.
    package struct Admitted: Sendable {
        let route: Route
        let names: [String: String]
        /// The most bytes that its body may have, and how long it may take to come.
        package var bodyLimit: Int { route.bodyLimit }
        package var bodySeconds: Double { route.bodySeconds }
        package var work: RouteWork { route.work }
    }

    /// Judges a request's head. Waits for nobody.
    package func admit(_ request: WebRequest) -> Admission {
        let isPage = Self.isPage(request)
        guard let parts = request.parts, parts.allSatisfy({ !$0.contains("\0") }) else {
            return .refused(finished(problem(400, "the path is not valid", isPage), request))
        }
        if let preflight = door.preflight(request) {
            if let (status, text) = door.refusal(request, isOpen: true) {
                return .refused(finished(problem(status, text, false), request))
            }
            return .refused(finished(preflight, request))
        }
        let method = request.method == "HEAD" ? "GET" : request.method
        let here = routes.compactMap { pattern in pattern.match(parts).map { (pattern.route, $0) } }
        let found = here.first { $0.0.method == method }
        if let (status, text) = door.refusal(request, isOpen: found?.0.isOpen ?? false) {
            let response: WebResponse =
                status == 401 && isPage ? .seeOther("/login") : problem(status, text, isPage)
            return .refused(finished(response, request))
        }
        guard let (route, names) = found else {
            guard !here.isEmpty else {
                return .refused(finished(problem(404, "there is nothing here", isPage), request))
            }
            var response = problem(405, "another method is wanted", isPage)
            response.headers.append(("allow", here.map(\.0.method).joined(separator: ", ")))
            return .refused(finished(response, request))
        }
        if route.isRated, let seconds = door.guests.logIn(request.address) {
            return .refused(
                finished(problem(429, "too many log-ins from this address", isPage, after: seconds), request))
        }
        if let length = request.headers["content-length"].flatMap({ Int($0) }), length > route.bodyLimit {
            return .refused(finished(problem(413, "the body is too long", isPage), request))
        }
        return .admitted(Admitted(route: route, names: names))
    }

    /// Answers a request that may come in. May wait: for a disk, or a session.
    /// - Parameter isWanted: whether anybody still waits for the answer.
    package func answer(
        _ request: WebRequest, _ admitted: Admitted, isWanted: @escaping @Sendable () -> Bool
    ) -> WebResponse {
        var request = request
        request.isWanted = isWanted
        return answer(request, admitted)
    }

    /// Answers a request that may come in.
    package func answer(_ request: WebRequest, _ admitted: Admitted) -> WebResponse {
        guard request.body.count <= admitted.bodyLimit else {
            return finished(problem(413, "the body is too long", Self.isPage(request)), request)
        }
        return finished(plainAnswer(request, admitted), request)
    }

    /// Answers a request whose body is there.
    package func answer(_ request: WebRequest) -> WebResponse {
        switch admit(request) {
        case .refused(let response): response
        case .admitted(let admitted): answer(request, admitted)
        }
    }

    /// A refusal of what has been let in: the server has no room, or no patience.
    package func refusal(
        _ status: Int, _ text: String, code: RefusalCode? = nil, after seconds: Int? = nil,
        to request: WebRequest
    ) -> WebResponse {
        finished(problem(status, text, Self.isPage(request), code: code, after: seconds), request)
    }

    /// What a client hears of the work that was done for it.
    package func response(
        _ outcome: WorkPool.Outcome<WebResponse>, to request: WebRequest, _ admitted: Admitted
    ) -> WebResponse {
        switch outcome {
        case .done(let response): return response
        case .full:
            return refusal(503, "others wait before you: ask again in a moment", after: 5, to: request)
        case .notBegun:
            return refusal(503, "nobody got to it, and nothing was done: ask again", after: 5, to: request)
        case .late:
            onFailure("\(request.method) \(request.path): no answer in time")
            let isLook = ["GET", "HEAD"].contains(request.method)
            return refusal(
                503,
                isLook
                    ? "no answer in time, and it is given up"
                    : "no answer in time: it may be done, or not. Look, or say it again under the same key",
                code: isLook ? nil : .unanswered, after: 30, to: request)
        }
    }

    /// With what every response has.
    private func finished(_ response: WebResponse, _ request: WebRequest) -> WebResponse {
        var response = response
        response.shorten(for: request)
        if request.method == "HEAD", case .bytes = response.body { response.body = .bytes([]) }
        response.headers += [
            ("content-security-policy", Self.policy), ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"), ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"), ("x-frame-options", "DENY"),
        ]
        response.headers += door.headers(for: request)
        if !response.headers.contains(where: { $0.name == "cache-control" }) {
            response.headers.append(("cache-control", "no-store"))
        }
        counters.answered(response.status)
        return response
    }

    private static func isPage(_ request: WebRequest) -> Bool {
        !request.path.hasPrefix("/api/") && (request.headers["accept"] ?? "").contains("text/html")
    }

    private func plainAnswer(_ request: WebRequest, _ admitted: Admitted) -> WebResponse {
        let isPage = Self.isPage(request)
        do {
            // Whoever waited for a thread may have gone meanwhile.
            if admitted.work == .livesAgain, !request.isWanted() { throw NobodyWaits() }
            return try admitted.route.handler(request, admitted.names)
        } catch let refusal as Ward.Refusal {
            return problem(
                refusal.status, refusal.text, isPage, code: refusal.code, after: refusal.retryAfter)
        } catch let problem as any AnsweredProblem {
            return problem.response
        } catch let tooMany as WebDoor.TooManyGuesses {
            return problem(429, tooMany.text, isPage, after: tooMany.seconds)
        } catch is TooManyStreams {
            return problem(503, "this address follows as much as it may", isPage, after: 10)
        } catch is NobodyWaits {
            return problem(503, "nobody waited for it", isPage)
        } catch let error as InputError {
            return problem(error.kind == .temporary ? 503 : 422, error.description, isPage)
        } catch let error as OutputError {
            return problem(error.kind == .temporary ? 503 : 507, "it can't be written: \(error)", isPage)
        } catch let error as LiveSession.Divergence {
            return problem(409, "the journal isn't what it comes to here: \(error)", isPage)
        } catch {
            onFailure("\(request.method) \(request.path): \(error)")
            return problem(500, "something went wrong inside", isPage)
        }
    }

    /// What is to be done now and then: about once a second, by a thread of its own.
    package func tend() {
        for id in screens.left(at: ward.host.continuousNow) { ward.leaveFront(id) }
        ward.tend()
        door.logins?.keep()
    }

    /// - Parameters:
    ///   - code: what a program goes by.
    ///   - seconds: after which it may be asked again.
    func problem(
        _ status: Int, _ text: String, _ isPage: Bool, code: RefusalCode? = nil, after seconds: Int? = nil
    ) -> WebResponse {
        let text = printable(text, limit: 2000)
        var response: WebResponse
        if isPage {
            response = .html(status, Page.problem(status, Self.title(status), text))
        } else {
            let coded = code.map { [JSONValue.Member("code", .string($0.rawValue))] } ?? []
            response = .text(
                status, JSONValue.object([.init("error", .string(text))] + coded).compactText,
                type: "application/json")
        }
        if let seconds { response.headers.append(("retry-after", "\(seconds)")) }
        return response
    }

    private static func title(_ status: Int) -> String {
        switch status {
        case 404: "Not found"
        case 401: "Log in first"
        case 403, 421: "Not from there"
        case 429, 503: "In a moment"
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
        case .unanswered, .returning: 503
        }
    }

    /// What a program goes by; nil where the status says it all.
    var code: RefusalCode? {
        switch self {
        case .unknown, .invalid, .conflict, .full: nil
        case .frozen: .frozen
        case .unanswered: .unanswered
        case .returning: .returning
        }
    }

    /// When it may be said again, under the same key, s; nil where nothing tells.
    var retryAfter: Int? { status == 503 && code != nil ? 2 : nil }

    var text: String {
        switch self {
        case .unknown: "there is no such session"
        case .invalid(let text), .conflict(let text), .full(let text): text
        case .returning: "the session is being lived again from its journal: it may be said again in a moment"
        case .frozen: "the session is frozen: nothing reaches it; it may be said again"
        case .unanswered:
            "it was said before and has no answer yet: it may be done, or not. Look, or say it again under the same key"
        }
    }
}

/// A problem that a protocol has an answer of its own for.
protocol AnsweredProblem: Error {
    var response: WebResponse { get }
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
