// A request and its response, as plain values: what the routes see.
//
// Guarantees: paths are decoded once; a path whose encoding is broken has no parts and finds no route. Does not: know a server.

package struct WebRequest: Sendable {
    package var method: String
    /// As it stood in the request, without the query.
    package var path: String
    package var query: String
    /// By lower-case name; the last of several.
    package var headers: [String: String]
    package var body: [UInt8]
    /// Who asks, as far as the network says: what rates go by.
    package var address = ""
    /// Whether anybody still waits for the answer: asked by what takes long.
    package var isWanted: @Sendable () -> Bool = { true }

    package init(method: String, target: String, headers: [String: String], body: [UInt8] = []) {
        self.method = method
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map(String.init) ?? "/"
        query = parts.count > 1 ? String(parts[1]) : ""
        self.headers = headers
        self.body = body
    }

    /// Decoded; nil where the encoding is broken.
    var parts: [String]? {
        var parts: [String] = []
        for part in path.split(separator: "/") {
            guard let decoded = Self.decoded(String(part)) else { return nil }
            parts.append(decoded)
        }
        return parts
    }

    /// A value of the query; nil where there is none.
    func query(_ name: String) -> String? { WebFields(Array(query.utf8))[name] }

    /// A form's values.
    var form: WebFields { WebFields(body) }

    /// A cookie's value.
    func cookie(_ name: String) -> String? {
        for pair in (headers["cookie"] ?? "").split(separator: ";") {
            let sides = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            if sides.count == 2, sides[0] == name { return String(sides[1]) }
        }
        return nil
    }

    /// What follows `Bearer`.
    var bearer: String? {
        guard let said = headers["authorization"], said.hasPrefix("Bearer ") else { return nil }
        return String(said.dropFirst(7))
    }

    static func decoded(_ text: String) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// Text that comes as it is asked for; nil at its end.
package protocol TextSource {
    mutating func next() async -> String?
    /// Nobody will ask again.
    func end()
}

package struct WebResponse: Sendable {
    /// Makes what is asked for text until there is no more, or nobody asks.
    package typealias Stream = @Sendable () -> any TextSource

    package enum Body: Sendable {
        case bytes([UInt8])
        case stream(Stream)
    }

    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: Body

    package init(
        _ status: Int, _ type: String?, _ body: Body, headers: [(name: String, value: String)] = []
    ) {
        self.status = status
        self.headers = (type.map { [("content-type", $0)] } ?? []) + headers
        self.body = body
    }

    static func text(_ status: Int, _ text: String, type: String = "text/plain; charset=utf-8") -> WebResponse
    {
        WebResponse(status, type, .bytes(Array(text.utf8)))
    }

    static func html(_ status: Int, _ text: String) -> WebResponse {
        .text(status, text, type: "text/html; charset=utf-8")
    }

    static func seeOther(_ path: String, headers: [(name: String, value: String)] = []) -> WebResponse {
        WebResponse(303, nil, .bytes([]), headers: [("location", path)] + headers)
    }
}

extension WebResponse {
    /// Shorter than this nothing gets, and text that is already something else stays so.
    private static let shortest = 600

    /// Text is sent as small as its client can read it.
    mutating func shorten(for request: WebRequest) {
        guard case .bytes(let bytes) = body, bytes.count >= Self.shortest,
            let type = headers.first(where: { $0.name == "content-type" })?.value,
            ["text/", "application/json", "image/svg"].contains(where: type.hasPrefix)
        else { return }
        headers.append(("vary", "accept-encoding"))
        let taken = (request.headers["accept-encoding"] ?? "").split(separator: ",").contains { part in
            let words = part.split(separator: ";").map { $0.filter { $0 != " " }.lowercased() }
            return words.first == "gzip" && !words.contains { $0 == "q=0" || $0.hasPrefix("q=0.000") }
        }
        guard taken else { return }
        headers.append(("content-encoding", "gzip"))
        body = .bytes(Gzip.compressed(bytes))
    }
}
