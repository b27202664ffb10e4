// Who is logged in: browsers that have shown the token.
//
// Guarantees: a browser's secret is its own, random, and kept here as its hash alone; it ends when it is logged out, ninety days after it began, or thirty days after it was
// used last, whichever comes first, and not when the server is started anew. A file that can't be read logs everybody out; one that can't be written keeps nobody
// out. Another token, and nobody is logged in any more.

import IsletFiles
import Glibc
import IsletDevices
import Synchronization

package final class Logins: Sendable {
    /// A page that shows alerts by night must not be logged out by an evening without a click.
    static let idleSeconds: Int64 = 30 * 86_400
    static let longestSeconds: Int64 = 90 * 86_400
    /// The oldest gives way.
    static let limit = 256
    /// How exact the last use is kept, s: a file is not written for each look.
    private static let usedStep: Int64 = 3600

    private struct Login {
        var begun: Int64
        var used: Int64

        func isOver(at now: Int64) -> Bool {
            now - used > Logins.idleSeconds || now - begun > Logins.longestSeconds
        }
    }

    private let token: String
    private let path: String?
    private let now: @Sendable () -> Int64
    private let logins: Mutex<[String: Login]>
    /// Held while the file is written: nobody who only asks waits for a disk.
    private let writing = Mutex(())
    /// Whether the file says something else.
    private let hasNews = Atomic(false)

    /// - Parameters:
    ///   - path: where they are kept; nil for nowhere.
    ///   - now: seconds since 1970.
    package init(token: String, path: String?, now: @escaping @Sendable () -> Int64 = { Int64(time(nil)) }) {
        (self.token, self.path, self.now) = (token, path, now)
        var logins: [String: Login] = [:]
        if let path, let bytes = try? readInput(path, limitBytes: 1 << 20),
            case .object(let members)? = try? JSONValue.read(bytes, file: path)
        {
            for member in members {
                guard case .array(let times) = member.value, times.count == 2,
                    case .integer(let begun) = times[0], case .integer(let used) = times[1]
                else { continue }
                logins[member.key] = Login(begun: begun, used: used)
            }
        }
        self.logins = Mutex(logins)
    }

    /// Logs a browser in.
    /// - Returns: its secret.
    package func begin() -> String {
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<4).map { _ in
            let digits = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
        let (key, now) = (key(secret), now())
        logins.withLock { logins in
            logins = logins.filter { !$0.value.isOver(at: now) }
            if logins.count >= Self.limit, let oldest = logins.min(by: { $0.value.used < $1.value.used }) {
                logins[oldest.key] = nil
            }
            logins[key] = Login(begun: now, used: now)
        }
        hasNews.store(true, ordering: .releasing)
        keep()
        return secret
    }

    /// Whether a secret is one of a browser that is logged in.
    /// - Parameter isUse: whether that keeps it logged in.
    package func isIn(_ secret: String, isUse: Bool = true) -> Bool {
        guard secret.utf8.count == 64 else { return false }
        let (key, now) = (key(secret), now())
        return logins.withLock { logins in
            guard var login = logins[key] else { return false }
            guard !login.isOver(at: now) else {
                logins[key] = nil
                return false
            }
            if isUse, now - login.used >= Self.usedStep {
                login.used = now
                logins[key] = login
                hasNews.store(true, ordering: .releasing)
            }
            return true
        }
    }

    /// Logs a browser out, wherever its secret is kept.
    func end(_ secret: String) {
        guard secret.utf8.count == 64 else { return }
        let key = key(secret)
        guard logins.withLock({ $0.removeValue(forKey: key) }) != nil else { return }
        hasNews.store(true, ordering: .releasing)
        keep()
    }

    /// Writes what has changed; to be called now and then.
    func keep() {
        guard let path else { return }
        writing.withLock { _ in
            guard hasNews.exchange(false, ordering: .acquiring) else { return }
            let rows = logins.withLock { $0 }.sorted { $0.key < $1.key }.map {
                JSONValue.Member($0.key, .array([.integer($0.value.begun), .integer($0.value.used)]))
            }
            do {
                try AtomicFile.write(JSONValue.object(rows).prettyText, to: path)
                chmod(path, 0o600)
            } catch {
                // The next time, then: nobody is kept out because a disk is full.
                hasNews.store(true, ordering: .releasing)
            }
        }
    }

    private func key(_ secret: String) -> String { WebDoor.derived(token, "login \(secret)") }
}
