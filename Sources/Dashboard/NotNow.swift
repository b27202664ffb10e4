// What apps that follow a session are told while it can't be followed.
//
// Guarantees: whoever reads a session reads one that lives, or is over: one that comes back, has failed or is frozen is answered with 503, as an app would else take a server
// without data, or with old ones under an old clock, for a healthy one. What is posted and can't be heard now is answered so too: an app posts it again.

import IsletDevices
import IsletFiles
import IsletLive

/// A session that is here can't be followed now.
struct NotNow: AnsweredProblem {
    var text: String
    /// A `RefusalCode`.
    var code: String
    /// When to ask again, s; nil where nobody knows.
    var after: Int?

    init(_ text: String, _ code: String, after: Int? = nil) {
        (self.text, self.code, self.after) = (text, code, after)
    }

    /// What is thrown in place of a ward's refusal: itself where asking again changes nothing.
    static func inPlace(of refusal: Ward.Refusal) -> any Error {
        guard let code = refusal.code else { return refusal }
        return NotNow(refusal.text, code.rawValue, after: 2)
    }

    /// In the words of both protocols' clients, of which each looks at the status first.
    var response: WebResponse {
        let text = printable(text, limit: 2000)
        var response = WebResponse.text(
            503,
            JSONValue.object([
                .init("status", .integer(503)), .init("message", .string(text)),
                .init("error", .string(text)), .init("code", .string(code)),
            ]).compactText, type: "application/json")
        if let after { response.headers.append(("retry-after", "\(after)")) }
        return response
    }
}

extension Ward {
    /// A session for those who follow it.
    /// - Throws: `Refusal.unknown`; `NotNow` where nothing of it is of now.
    func followed(_ id: String) throws -> SessionView {
        guard let view = view(id) else { throw Refusal.unknown }
        switch view.phase {
        case .returning: throw NotNow.inPlace(of: .returning)
        case .failed(let reason):
            throw NotNow(
                "the session has failed: \(reason)", RefusalCode.failed.rawValue,
                after: isTriedAgain(id) ? 60 : nil)
        case .running, .ended:
            if view.isFrozen { throw NotNow.inPlace(of: .frozen) }
            return view
        }
    }
}
