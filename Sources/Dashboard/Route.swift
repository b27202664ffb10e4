// What the server answers: one row a route, for the dispatcher and for the API's document.
//
// Guarantees: a path that no row has is 404, one whose method no row has 405; a row's handler sees a request that has passed the door. Handlers may wait
// for a disk or a session: they run where that is allowed.

import Documents
import Ward

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
    var handler: Handler

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
