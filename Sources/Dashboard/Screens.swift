// Which sessions have a phone (a browser page that the user chose to act as one), and whether its app is in front.
//
// Guarantees: an app is in the foreground while a phone page is visible and has reported within 10 s, so a page that is
// gone without notice (closed, crashed, cut off, frozen) keeps it there no longer. Changing pages within 2 s doesn't
// leave the app. A session has a phone while a phone page, hidden or not, has an event stream, and up to 10 s more.

import IsletKernel
import Synchronization
import IsletLive

final class Screens: Sendable {
    /// How long after its last report a page counts as visible, and as present without an open stream, ns.
    private static let grace = 10 * Nanoseconds.second
    /// How long an app stays in the foreground after its page reported that it was hidden, to bridge a page change, ns.
    private static let pause = 2 * Nanoseconds.second

    private struct Page {
        var isShown = false
        var streams = 0
        /// When the page last reported its visibility or a stream of it last ended, ns.
        var since: Int64
    }

    private struct Screen {
        var pages: [String: Page] = [:]
        /// When the last visible page was hidden, ns; nil while one is visible, and once `left(at:)` has returned it.
        var leftAt: Int64?

        var isShown: Bool { pages.values.contains { $0.isShown } }

        mutating func forget(at now: Int64) {
            for (key, page) in pages where now - page.since > Screens.grace {
                // A visible page reports regularly, with or without a stream.
                pages[key]?.isShown = false
                if page.streams <= 0 { pages[key] = nil }
            }
        }
    }

    /// Keyed by session id.
    private let screens = Mutex<[String: Screen]>([:])

    /// Records that a page has become visible, or hidden.
    func see(_ page: String, isShown: Bool, of id: String, at now: Int64) {
        change(id, at: now) { screen in
            var one = screen.pages[page] ?? Page(since: now)
            (one.isShown, one.since) = (isShown, now)
            screen.pages[page] = isShown || one.streams > 0 ? one : nil
        }
    }

    func streamBegan(_ page: String, of id: String, at now: Int64) {
        change(id, at: now) { $0.pages[page, default: Page(since: now)].streams += 1 }
    }

    func streamEnded(_ page: String, of id: String, at now: Int64) {
        change(id, at: now) { screen in
            screen.pages[page]?.streams -= 1
            screen.pages[page]?.since = now
        }
    }

    /// Whether any page acts as the session's phone.
    func hasPhone(_ id: String) -> Bool { screens.withLock { !($0[id]?.pages.isEmpty ?? true) } }

    /// Whether this page acts as the session's phone.
    func isPhone(_ page: String, of id: String) -> Bool {
        screens.withLock { $0[id]?.pages[page] != nil }
    }

    private func change(_ id: String, at now: Int64, _ body: (inout Screen) -> Void) {
        screens.withLock { screens in
            var screen = screens[id] ?? Screen()
            let before = screen.isShown
            body(&screen)
            if screen.isShown { screen.leftAt = nil } else if before { screen.leftAt = now }
            screens[id] = screen.pages.isEmpty && screen.leftAt == nil ? nil : screen
        }
    }

    /// The ids of sessions whose app has left the foreground by `now`, sorted. Each departure is returned once.
    func left(at now: Int64) -> [String] {
        screens.withLock { screens in
            var ids: [String] = []
            for (id, before) in screens {
                var screen = before
                screen.forget(at: now)
                if before.isShown, !screen.isShown { screen.leftAt = now - Self.pause }
                if let since = screen.leftAt, now - since >= Self.pause {
                    ids.append(id)
                    screen.leftAt = nil
                }
                screens[id] = screen.pages.isEmpty && screen.leftAt == nil ? nil : screen
            }
            return ids.sorted()
        }
    }
}

extension Ward {
    /// The session's view, with `hasPhone` set.
    func view(_ id: String, _ screens: Screens) -> SessionView? {
        guard var view = view(id) else { return nil }
        view.hasPhone = screens.hasPhone(id)
        return view
    }

    func cards(_ screens: Screens) -> [WardCard] {
        cards().map { card in
            var card = card
            card.hasPhone = screens.hasPhone(card.id)
            return card
        }
    }
}
