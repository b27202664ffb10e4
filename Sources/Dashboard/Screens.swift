// Which sessions' apps are on somebody's phone: on a page of a browser that was chosen to be it.
//
// Guarantees: an app is in front while any page that is the phone is looked at and was heard from within ten seconds: one that is gone without a word
// (closed, crashed, cut off, frozen) keeps no phone silent for longer. Whoever goes from one page of a session to the next never leaves its app.
// A phone is there while one of its pages listens, hidden or not, and some seconds longer.

import IsletKernel
import Synchronization
import IsletLive

final class Screens: Sendable {
    /// How long a page counts as there that says nothing; hidden ones are heard by their streams, ns.
    private static let grace = 10 * Nanoseconds.second
    /// How long an app stays in front when its page says that it left: whoever goes from one page to the next leaves none, ns.
    private static let pause = 2 * Nanoseconds.second

    private struct Page {
        var isShown = false
        var streams = 0
        /// When its last stream ended, or when it spoke last.
        var since: Int64
    }

    private struct Screen {
        var pages: [String: Page] = [:]
        /// Since when nobody looks; nil while somebody does, and where the session knows.
        var leftAt: Int64?

        var isShown: Bool { pages.values.contains { $0.isShown } }

        mutating func forget(at now: Int64) {
            for (key, page) in pages where now - page.since > Screens.grace {
                // Whoever looks at a page hears from it, stream or not.
                pages[key]?.isShown = false
                if page.streams <= 0 { pages[key] = nil }
            }
        }
    }

    /// By session.
    private let screens = Mutex<[String: Screen]>([:])

    /// A page is looked at, or isn't any more.
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

    /// Whether some page is the phone.
    func hasPhone(_ id: String) -> Bool { screens.withLock { !($0[id]?.pages.isEmpty ?? true) } }

    /// Whether this page is.
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

    /// Sessions whose app is to leave the front by now; each is named once.
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
    /// A session's view, with what only its server knows.
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
