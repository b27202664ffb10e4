// The pages' routes: documents, what of them is swapped, assets, logging in.
//
// Guarantees: a page is what its session's view says at one moment; assets are named by their content, and may be kept for ever.

import IsletFiles
import IsletLive
import Pages
import IsletDevices
import IsletKernel

struct PageRoutes: Sendable {
    let ward: Ward
    let door: WebDoor
    let screens: Screens
    let rings: WardRings
    let shown = ShownParts()

    private static let files: [(path: String, page: PageName)] = [
        ("/sessions/{id}", .home), ("/sessions/{id}/alerts", .alerts), ("/sessions/{id}/settings", .settings),
        ("/sessions/{id}/pump", .pump), ("/sessions/{id}/cgm", .cgm), ("/sessions/{id}/timeline", .timeline),
        ("/subjects/{id}/environment", .environment),
    ]

    var routes: [Route] {
        var routes = Self.files.map { file in
            page(file.path) { request, names in
                let view = try view(names)
                return .html(
                    200,
                    Page.session(
                        file.page, view, timeline: timeline(file.page, view), clearedShown: cleared(request),
                        context(request)))
            }
        }
        routes += [
            page("/studies") { request, _ in
                .html(200, Page.studies(ward.options.studyFolders, context(request)))
            },
            page("/sessions/{id}/beside/{other}") { request, names in
                let (left, right) = (try view(names), try view(["id": names["other"] ?? ""]))
                let found = try ward.compare(left.id, right.id)
                return .html(
                    200,
                    Page.beside(
                        left, right, from: found.from, to: found.to, comparison: found.rows, context(request))
                )
            },
            page("/pages/{id}/beside/{other}/fragments") { request, names in
                let (left, right) = (try view(names), try view(["id": names["other"] ?? ""]))
                let found = try ward.compare(left.id, right.id)
                return fragments(
                    left.number,
                    Page.besideFragments(
                        left, right, from: found.from, to: found.to, comparison: found.rows, context(request)),
                    request)
            },
            page("/sessions/{id}/past", .livesAgain) { request, names in
                let (id, now) = (names["id"] ?? "", try view(names).now)
                let seconds =
                    try WardAPI.sinceStart.number(request)
                    ?? max(0, Double(now.nanoseconds / Nanoseconds.second) - 3600)
                let past = try ward.past(
                    id, at: Instant(nanoseconds: Int64(seconds * Double(Nanoseconds.second))),
                    isWanted: request.isWanted)
                var shown = context(request)
                shown.presentSeconds = now.nanoseconds / Nanoseconds.second
                return .html(
                    200,
                    Page.session(
                        .past, past.view, timeline: Array(past.events.suffix(2000)),
                        clearedShown: cleared(request), shown))
            },
            page("/") { request, _ in
                rings.look(at: ward)
                return .html(
                    200,
                    Page.ward(
                        ward.cards(screens), rings: rings.latest(8),
                        ringsFrom: "\(rings.epoch)-\(rings.newest)", context(request)))
            },
            page("/new") { request, _ in
                .html(200, Page.new(studies: ward.options.studyFiles.map(\.name), context(request)))
            },
            page("/pages/ward/fragments") { request, _ in
                rings.look(at: ward)
                return fragments(
                    nil,
                    Page.wardFragments(ward.cards(screens), rings: rings.latest(8), context(request)),
                    request)
            },
            page("/pages/{id}/{page}/fragments") { request, names in
                guard let name = names["page"].flatMap({ PageName(rawValue: $0) }), name != .past else {
                    throw Ward.Refusal.unknown
                }
                let view = try view(names)
                return fragments(
                    view.number,
                    Page.fragments(
                        name, view, timeline: timeline(name, view), clearedShown: cleared(request),
                        context(request)), request)
            },
            Route(
                method: "GET", path: "/assets/{name}", summary: "A file of the page.", isOpen: true,
                isDocumented: false
            ) { _, names in
                guard let asset = Page.asset(names["name"] ?? "") else { throw Ward.Refusal.unknown }
                return WebResponse(
                    200, asset.type, .bytes(asset.bytes),
                    headers: [("cache-control", "public, max-age=31536000, immutable")])
            },
            Route(
                method: "GET", path: "/login", summary: "Where a browser shows its token.", isOpen: true,
                isDocumented: false
            ) { request, _ in
                door.isLoggedIn(request) ? .seeOther("/") : .html(200, Page.login(failed: false))
            },
            Route(
                method: "POST", path: "/login", summary: "Logs a browser in.", isOpen: true,
                isDocumented: false, isRated: true
            ) { request, _ in
                guard try door.isToken(request.form["token"] ?? "", from: request.address) else {
                    return .html(401, Page.login(failed: true))
                }
                return .seeOther("/", headers: door.needsToken ? [("set-cookie", door.logIn())] : [])
            },
            Route(
                method: "POST", path: "/logout", summary: "Logs a browser out.", isOpen: true,
                isDocumented: false, isRated: true
            ) { request, _ in .seeOther("/login", headers: [("set-cookie", door.logOut(request))]) },
        ]
        return routes
    }

    private func page(
        _ path: String, _ work: Route.Work = .answers, _ handler: @escaping Route.Handler
    ) -> Route {
        Route(
            method: "GET", path: path, summary: "A page.", type: "text/html", isDocumented: false, work: work,
            handler: handler)
    }

    private func view(_ names: [String: String]) throws -> SessionView {
        guard let id = names["id"], let view = ward.view(id, screens) else { throw Ward.Refusal.unknown }
        return view
    }

    private func cleared(_ request: WebRequest) -> Int {
        min(100, max(10, request.query("cleared").flatMap { Int($0) } ?? 10))
    }

    /// What the timeline shows; nothing for other pages.
    private func timeline(_ page: PageName, _ view: SessionView) -> [LiveEvent] {
        guard page == .timeline || page == .environment else { return [] }
        return ward.events(of: view.id, after: max(0, view.number - 2000), atMost: 2000)?.events ?? []
    }

    private func context(_ request: WebRequest) -> PageContext {
        var context = PageContext(
            unit: request.cookie("units") == "mmol" ? .mmolL : .mgdl,
            hours: [3, 6, 12, 24].first { "\($0)" == request.query("hours") } ?? 6,
            // This machine's address or TLS: a browser allows notifications on both.
            canNotify: true, hasLogin: door.needsToken, isPhone: request.cookie("phone") == "1")
        let width = (request.query("width") ?? request.cookie("chart")).flatMap { Double($0) }
        if let width, width.isFinite { context.width = min(1600, max(220, width.rounded())) }
        context.showsWell = request.query("well") == "1"
        return context
    }

    /// What a page shows now, or what of it differs from what it says that it shows.
    private func fragments(
        _ number: Int?, _ fragments: [(name: String, html: String)], _ request: WebRequest
    ) -> WebResponse {
        let (state, changed) = shown.changes(fragments, since: request.query("state") ?? "")
        return .text(
            200,
            JSONValue.object([
                .init("number", number.map { .integer(Int64($0)) } ?? .null), .init("state", .string(state)),
                .init("fragments", .object(changed.map { .init($0.name, .string($0.html)) })),
            ]).compactText, type: "application/json")
    }
}
