// Who may come in: the checks that every request passes before any route sees it.
//
// Guarantees: without `--host` only loopback names are answered, so that no other site's name can be bound to this machine's page; a request that changes
// something comes from the page itself or from a program that is no browser; with a token nothing but the health check, the way to log in and the page's
// own looks is answered without it. Comparisons take the same time whatever differs; an address that has guessed wrong too often is told to wait, and no longer compared.

import IsletKernel
import IsletDevices

package struct WebDoor: Sendable {
    /// What a client must know; nil on loopback without one.
    private let token: String?
    /// The names that the server answers to, without ports; empty for loopback's.
    private let names: [String]
    private let isTLS: Bool
    /// Origins of other pages whose scripts may ask what apps ask; empty where nobody has named any.
    private let origins: Set<String>
    /// Browsers that have shown the token; nil where none is asked for.
    let logins: Logins?
    let guests: Guests
    /// The share password and the API secret: neither says anything of the other or of the token.
    package let sharePassword: String
    package let apiSecret: String
    /// Its SHA-1 as hexadecimal digits: what Nightscout's clients send.
    let apiSecretHash: String

    package static let cookieName = "islet"

    /// - Parameters:
    ///   - names: what `Host` may say beside the loopback names.
    ///   - origins: of pages elsewhere, as `origin(_:)` has them.
    ///   - loginsPath: where is kept who is logged in; nil for nowhere.
    package init(
        token: String?, names: [String] = [], isTLS: Bool = false, origins: [String] = [],
        loginsPath: String? = nil,
        guests: Guests = Guests { Monotonic.now }
    ) {
        self.token = token
        self.guests = guests
        self.origins = Set(origins)
        logins = token.map { Logins(token: $0, path: loginsPath) }
        self.names = names.map { $0.lowercased() }
        self.isTLS = isTLS
        let key = token ?? ""
        sharePassword = Self.derived(key, "dexcom-share")
        apiSecret = Self.derived(key, "nightscout")
        apiSecretHash = SHA1.hex(Array(apiSecret.utf8))
    }

    package var needsToken: Bool { token != nil }

    /// Why a request is turned away; nil for one that may come in.
    func refusal(_ request: WebRequest, isOpen: Bool) -> (status: Int, text: String)? {
        guard let host = request.headers["host"], isKnown(host) else {
            return (421, "this server has another name")
        }
        if request.method != "GET", request.method != "HEAD" {
            // A browser says where a request comes from; a program need not.
            let isNamed = origin(of: request) != nil
            if let origin = request.headers["origin"], !isOwn(origin, host: host), !isNamed {
                return (403, "a request from another site")
            }
            if let site = request.headers["sec-fetch-site"], site != "same-origin", site != "none", !isNamed {
                return (403, "a request from another site")
            }
        }
        do throws(TooManyGuesses) {
            if isOpen { return nil }
            if try isKnown(request) { return nil }
        } catch {
            return (429, error.text)
        }
        return (401, "a token is needed")
    }

    /// An address that has shown wrong secrets too often.
    struct TooManyGuesses: Error {
        var seconds: Int
        var text: String { "too many wrong secrets from this address: again in \(seconds) s" }
    }

    /// Whether it knows the token.
    func isKnown(_ request: WebRequest) throws(TooManyGuesses) -> Bool {
        guard let token else { return true }
        if isLoggedIn(request) { return true }
        guard let said = request.bearer else { return false }
        return try isRight(said, [token], from: request.address)
    }

    // MARK: Pages elsewhere

    /// `https://app.example:8443`, as browsers send it; nil for what is no origin.
    package static func origin(_ text: String) -> String? {
        let text = text.lowercased()
        guard let scheme = ["http://", "https://"].first(where: { text.hasPrefix($0) }) else { return nil }
        let rest = text.dropFirst(scheme.count)
        let name = withoutPort(String(rest))
        let isPlain = rest.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || ".-:[]".utf8.contains($0)
        }
        let port = rest.dropFirst(name.count)
        guard !name.isEmpty, isPlain, port.isEmpty || UInt16(port.dropFirst()) != nil else { return nil }
        return text
    }

    /// The named origin whose page asks what an app may ask; nil for any other request.
    func origin(of request: WebRequest) -> String? {
        guard !origins.isEmpty, let said = request.headers["origin"]?.lowercased(), origins.contains(said),
            ["/ns/", "/ShareWebServices/", "/api/"].contains(where: { request.path.hasPrefix($0) })
        else { return nil }
        return said
    }

    /// What a browser reads of an answer that a page elsewhere may have; no log-in of a browser counts there.
    func headers(for request: WebRequest) -> [(name: String, value: String)] {
        guard !origins.isEmpty else { return [] }
        guard origin(of: request) != nil, let said = request.headers["origin"] else {
            return [("vary", "Origin")]
        }
        return [
            ("vary", "Origin"), ("access-control-allow-origin", said),
            ("access-control-expose-headers", "Location, Last-Modified, ETag, Retry-After"),
        ]
    }

    /// What a browser hears that asks first whether a page elsewhere may; nil for any other request.
    func preflight(_ request: WebRequest) -> WebResponse? {
        guard request.method == "OPTIONS", request.headers["access-control-request-method"] != nil,
            origin(of: request) != nil
        else { return nil }
        return WebResponse(
            204, nil, .bytes([]),
            headers: [
                ("access-control-allow-methods", "GET, HEAD, POST, DELETE"),
                (
                    "access-control-allow-headers",
                    "Accept, Api-Secret, Authorization, Content-Type, If-Modified-Since"
                ), ("access-control-max-age", "600"),
            ])
    }

    /// Whether its browser is logged in.
    func isLoggedIn(_ request: WebRequest) -> Bool {
        guard let logins else { return true }
        // A page elsewhere is not the person who logged in.
        guard origin(of: request) == nil else { return false }
        return request.cookie(Self.cookieName).map { logins.isIn($0) } ?? false
    }

    func isToken(_ text: String, from address: String) throws(TooManyGuesses) -> Bool {
        guard let token else { return true }
        return try isRight(text, [token], from: address)
    }

    /// Whether what an address shows is one of these; what isn't is counted.
    func isRight(_ said: String, _ wanted: [String], from address: String) throws(TooManyGuesses) -> Bool {
        if let seconds = guests.mayGuess(address) { throw TooManyGuesses(seconds: seconds) }
        var isRight = false
        for secret in wanted where Self.equal(said, secret) { isRight = true }
        if !isRight { guests.guessedWrong(address) }
        return isRight
    }

    /// Whether it is the token or another secret.
    func isTokenOr(_ secret: String, _ said: String, from address: String) throws(TooManyGuesses) -> Bool {
        guard let token else { return true }
        return try isRight(said, [token, secret], from: address)
    }

    /// Logs a browser in: what it is to keep.
    func logIn() -> String {
        let secret = logins?.begin() ?? ""
        return
            "\(Self.cookieName)=\(secret); Path=/; Max-Age=\(Logins.longestSeconds); HttpOnly; SameSite=Strict\(isTLS ? "; Secure" : "")"
    }

    /// Logs the browser out: what it still has opens nothing from here on.
    func logOut(_ request: WebRequest) -> String {
        if let said = request.cookie(Self.cookieName) { logins?.end(said) }
        return "\(Self.cookieName)=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
    }

    private func isKnown(_ host: String) -> Bool {
        let name = Self.withoutPort(host).lowercased()
        return ["localhost", "127.0.0.1", "[::1]"].contains(name) || names.contains(name)
    }

    private func isOwn(_ origin: String, host: String) -> Bool {
        // By a name of its own it may be known through a proxy that speaks TLS for it.
        let isNamed = names.contains(Self.withoutPort(host).lowercased())
        let schemes = isTLS ? ["https"] : isNamed ? ["http", "https"] : ["http"]
        return schemes.contains { origin.lowercased() == "\($0)://\(host)".lowercased() }
    }

    private static func withoutPort(_ host: String) -> String {
        guard let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") else { return host }
        return String(host[..<colon])
    }

    /// Takes as long for any two texts of the first one's length.
    static func equal(_ said: String, _ wanted: String) -> Bool { HMAC.equal(said, wanted) }

    /// HMAC-SHA256 (RFC 2104) of `purpose`, as hexadecimal digits.
    static func derived(_ key: String, _ purpose: String) -> String {
        HMAC.code(of: Array(purpose.utf8), key: Array(key.utf8)).description
    }
}

/// A clock that nobody sets, ns since it was first looked at.
enum Monotonic {
    private static let began = SuspendingClock.now

    static var now: Int64 {
        let (seconds, attoseconds) = began.duration(to: .now).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
