// Event streams of the API.
//
// Guarantees: they hold no queue: a client that is slow or comes back reads from where it was. An address has so many and no more; one ends when the browser that
// opened it is logged out.

import IsletLive
import Pages
import IsletDevices

extension WardAPI {
    // MARK: Event streams

    private static let number = Route.Parameter(
        name: "after", kind: .wholeNumber(0...Int(Int32.max)),
        meaning: "the events after this number; `Last-Event-ID` counts before it; neither: from now on")

    var follows: [Route] {
        [
            Route(
                method: "GET", path: "/api/sessions/{id}/events",
                summary:
                    "What happens, as server-sent events: the data of a `happened` is an `Event`. A `rang` is what the server rings for, as the session can't.",
                query: [
                    Self.number,
                    .init(
                        name: "page", kind: .text,
                        meaning:
                            "the page that listens, as in its `foreground`: when it is gone, its app leaves the front"
                    ),
                ], refusals: [422, 503], type: "text/event-stream"
            ) { request, names in
                let view = try view(names)
                let last = request.headers["last-event-id"].flatMap { Int($0) }
                let after = try Self.number.wholeNumber(request)
                let page = request.query("page").flatMap { LiveSession.isKey($0) && !$0.isEmpty ? $0 : nil }
                return try stream(request) {
                    EventStream(
                        ward: ward, news: news, counters: counters, screens: screens, id: view.id,
                        after: last ?? after, page: page)
                }
            },
            Route(
                method: "GET", path: "/api/events",
                summary:
                    "Which sessions have changed, and what they notify or the server rings for: the data of a `rang`. As server-sent events.",
                query: [
                    .init(
                        name: "rings", kind: .text,
                        meaning:
                            "the id of the last `rang` that is known; without it: from now on; of another run of the server: all that rang in this one"
                    )
                ], refusals: [503],
                type: "text/event-stream"
            ) { request, _ in
                let known = request.headers["last-event-id"] ?? request.query("rings")
                return try stream(request) {
                    WardStream(
                        ward: ward, news: news, counters: counters, screens: screens, rings: rings,
                        known: known)
                }
            },
        ]
    }

    /// One stream more of an address, for as long as its browser is logged in.
    private func stream(_ request: WebRequest, _ body: @escaping WebResponse.Stream) throws -> WebResponse {
        let address = request.address
        // What isn't followed yet isn't counted yet; who asks for many at once is stopped as they begin.
        guard door.guests.hasRoomForStream(address) else { throw TooManyStreams() }
        let (guests, login) = (door.guests, request.cookie(WebDoor.cookieName))
        // A program with a bearer token has no login that could end.
        let logins = request.bearer == nil && login != nil ? door.logins : nil
        return WebResponse(
            200, "text/event-stream; charset=utf-8",
            .stream {
                GuestStream(
                    inner: body(), guests: guests, address: address, logins: logins, login: login ?? "")
            }, headers: [("cache-control", "no-store"), ("x-accel-buffering", "no")])
    }
}

/// An address has as many streams as it may.
struct TooManyStreams: Error {}

/// A stream that counts as its address's, and ends when its browser is logged out.
private struct GuestStream: TextSource {
    private var inner: any TextSource
    private let guests: Guests
    private let address: String
    private let logins: Logins?
    private let login: String
    private let isRefused: Bool

    init(inner: any TextSource, guests: Guests, address: String, logins: Logins?, login: String) {
        (self.inner, self.guests, self.address) = (inner, guests, address)
        (self.logins, self.login) = (logins, login)
        isRefused = !guests.beginStream(address)
    }

    mutating func next() async -> String? {
        guard !isRefused, logins?.isIn(login) ?? true, let text = await inner.next(),
            logins?.isIn(login) ?? true
        else { return nil }
        return text
    }

    func end() {
        if !isRefused { guests.endStream(address) }
        inner.end()
    }
}
