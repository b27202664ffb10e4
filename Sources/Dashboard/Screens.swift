// Which sessions' apps are on somebody's screen.
//
// Guarantees: an app is in front while any page that shows it is looked at; a page that is gone without a word (closed, crashed, cut off) counts as looked at
// for no longer than `grace`, so that no phone stays silent because a browser died.

import Live
import SessionTime
import Synchronization
import Ward

final class Screens: Sendable {
    private static let grace = 10 * Nanoseconds.second

    private struct Page {
        var isShown = false
        var streams = 0
        /// When its last stream ended, or when it spoke without one.
        var since: Int64 = 0
    }

    /// By session and page.
    private let pages = Mutex<[String: [String: Page]]>([:])

    /// Takes in what a page says of its visibility.
    /// - Returns: whether that changes the session's.
    func isNews(_ command: WardCommand, page: String, of id: String) -> Bool {
        let isShown: Bool
        switch command.wish {
        case .input(.foreground): isShown = true
        case .input(.background): isShown = false
        default: return true
        }
        let now = SystemClocks().continuousNanoseconds()
        return pages.withLock { pages in
            var here = pages[id] ?? [:]
            let before = here.values.contains { $0.isShown }
            var one = here[page] ?? Page()
            (one.isShown, one.since) = (isShown, now)
            here[page] = isShown || one.streams > 0 ? one : nil
            pages[id] = here.isEmpty ? nil : here
            // Said again it is told again: after a restart the session may not know.
            return isShown || before != here.values.contains { $0.isShown }
        }
    }

    func streamBegan(_ page: String, of id: String) {
        pages.withLock { $0[id, default: [:]][page, default: Page()].streams += 1 }
    }

    func streamEnded(_ page: String, of id: String, at now: Int64) {
        pages.withLock {
            $0[id]?[page]?.streams -= 1
            $0[id]?[page]?.since = now
        }
    }

    /// Sessions whose last page is gone.
    func forgotten(at now: Int64) -> [String] {
        pages.withLock { pages in
            var ids: [String] = []
            for (id, here) in pages {
                let left = here.filter { $0.value.streams > 0 || now - $0.value.since <= Self.grace }
                guard left.count < here.count else { continue }
                pages[id] = left.isEmpty ? nil : left
                if here.values.contains(where: \.isShown), !left.values.contains(where: \.isShown) {
                    ids.append(id)
                }
            }
            return ids.sorted()
        }
    }
}
