// What the server answers: one row a route, for the dispatcher and for the API's document.
//
// Guarantees: a path that no row has is 404, one whose method no row has 405; a row's handler sees a request that has passed the door. Handlers may wait
// for a disk or a session: they run where that is allowed.

import IsletFiles
import IsletLive

/// Where a route is answered. What answers never waits for what lives again.
package enum RouteWork: Sendable {
    /// At once: it waits for nothing and nobody.
    case atOnce
    /// It may wait for a disk or for a session's advance.
    case answers
    /// It lives a session again, or for the first time: seconds, or minutes.
    case livesAgain
}

struct Route: Sendable {
    typealias Handler = @Sendable (_ request: WebRequest, _ names: [String: String]) throws -> WebResponse

    struct Parameter: Sendable {
        enum Kind: Sendable { case wholeNumber(ClosedRange<Int>), number(ClosedRange<Double>), text }
        var name: String
        var kind: Kind
        var isRequired = false
        var meaning: String
    }

    /// What its body must be.
    indirect enum Body: Sendable {
        case none, command, create, fork, preview
    }

    typealias Work = RouteWork

    /// Of a form, or of a log-in, bytes.
    static let formLimit = 4 << 10

    var method: String
    /// `/api/sessions/{id}`
    var path: String
    var summary: String
    var query: [Parameter] = []
    var body = Body.none
    /// Of a success.
    var status = 200
    /// Other answers than 400, 401, 403, 404 and 421.
    var refusals: [Int] = []
    var type = "application/json"
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
        case .none, .preview: Self.formLimit
        case .command: 16 << 10
        case .create, .fork: 2 << 20
        }
    }

    /// How long a body may take to come, s.
    var bodySeconds: Double { isOpen ? 5 : 20 }

    /// The values of the path's names; nil where it is another path.
    func match(_ parts: [String]) -> [String: String]? {
        let mine = path.split(separator: "/")
        guard mine.count == parts.count else { return nil }
        var names: [String: String] = [:]
        for (pattern, part) in zip(mine, parts) {
            if pattern.hasPrefix("{") {
                names[String(pattern.dropFirst().dropLast())] = part
            } else if pattern != part {
                return nil
            }
        }
        return names
    }
}
