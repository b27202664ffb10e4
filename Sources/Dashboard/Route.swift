// What the server answers: one row a route, for the dispatcher and for the API's document.
//
// Guarantees: a path that no row has is 404, one whose method no row has 405; a row's handler sees a request that has passed the door. Handlers may wait
// for a disk or a session: they run where that is allowed.

import IsletFiles
import IsletLive
import Foundation

/// Where a route is answered. What answers never waits for what lives again.
package enum RouteWork: Sendable {
    /// At once: it waits for nothing and nobody.
    case atOnce
    /// It may wait for a disk or for a session's advance.
    case answers
    /// It lives a session again, or for the first time: seconds, or minutes.
    case livesAgain
}

extension WorkPool.Limits {
    /// For what answers: it waits for a disk or a session for a moment, or for something that is broken.
    package static let answers = WorkPool.Limits(threads: 8, pieces: 4096, spares: 24, seconds: 20)

    /// For what lives again: half as many threads as there are cores, behind all others, and few that wait.
    package static let again = WorkPool.Limits(
        threads: max(1, ProcessInfo.processInfo.activeProcessorCount / 2), pieces: 12, spares: 1,
        seconds: 300, isBehind: true)
}

struct Route: Sendable {
    typealias Handler = @Sendable (_ request: WebRequest, _ names: [String: String]) throws -> WebResponse

    struct Parameter: Sendable {
        enum Kind: Sendable { case wholeNumber(ClosedRange<Int>), number(ClosedRange<Double>), text }
        var name: String
        var kind: Kind
        var isRequired = false
        var meaning: String

        /// nil where nothing is said of it, and it need not be.
        /// - Throws: `Ward.Refusal.invalid` for what is no such number.
        func number(_ request: WebRequest) throws -> Double? {
            guard case .number(let range) = kind, let text = try said(request) else { return nil }
            guard let number = Double(text), range.contains(number) else {
                throw Ward.Refusal.invalid(
                    "\(name): expected a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }

        func wholeNumber(_ request: WebRequest) throws -> Int? {
            guard case .wholeNumber(let range) = kind, let text = try said(request) else { return nil }
            guard let number = Int(text), range.contains(number) else {
                throw Ward.Refusal.invalid(
                    "\(name): expected a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }

        private func said(_ request: WebRequest) throws -> String? {
            let text = request.query(name)
            if text == nil, isRequired { throw Ward.Refusal.invalid("\(name): expected \(meaning)") }
            return text
        }
    }

    /// What its body must be.
    enum Body: Sendable {
        case none, command, create
        /// An object of these, of so many bytes at most.
        case fields([WardCommand.Field], limit: Int)
    }

    typealias Work = RouteWork

    /// The most bytes that the body of a form or of a log-in may have.
    static let formLimit = 4 << 10

    var method: String
    /// `/api/sessions/{id}`
    var path: String
    var summary: String
    var query: [Parameter] = []
    var body = Body.none
    /// The HTTP status of a success.
    var status = 200
    /// Other answers than 400, 401, 403, 404 and 421.
    var refusals: [Int] = []
    var type = "application/json"
    /// What a success has; nil for text, and for nothing.
    var answer: AnswerSchema?
    /// Answered without a token.
    var isOpen = false
    /// In the API's document.
    var isDocumented = true
    var work = Work.answers
    /// The most bytes of a body; nil for as many as its kind of body may have.
    var ownBodyLimit: Int?
    /// Whether it costs the address that asks something, because anybody may ask: a log-in.
    var isRated = false
    var handler: Handler

    /// The most bytes that its body may have: more is refused before it is read.
    var bodyLimit: Int {
        if let ownBodyLimit { return ownBodyLimit }
        return switch body {
        case .none: Self.formLimit
        case .command: 16 << 10
        case .create: 2 << 20
        case .fields(_, let limit): limit
        }
    }

    /// How long a body may take to come, s.
    var bodySeconds: Double { isOpen ? 5 : 20 }

}

/// A route and what its path is made of: taken apart once, as each request is held against all of them.
struct RoutePattern: Sendable {
    private enum Part: Sendable {
        case fixed(String)
        case name(String)
    }

    let route: Route
    private let parts: [Part]

    init(_ route: Route) {
        self.route = route
        parts = route.path.split(separator: "/").map {
            $0.hasPrefix("{") ? .name(String($0.dropFirst().dropLast())) : .fixed(String($0))
        }
    }

    /// The values of the path's names; nil where it is another path.
    func match(_ said: [String]) -> [String: String]? {
        guard parts.count == said.count else { return nil }
        var names: [String: String] = [:]
        for (part, said) in zip(parts, said) {
            switch part {
            case .name(let name): names[name] = said
            case .fixed(let text): if text != said { return nil }
            }
        }
        return names
    }
}
