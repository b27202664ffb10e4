// The hub between one owner's devices, as an endpoint: POST /owners/OWNER/settings.
//
// Guarantees: what it answers as taken is in the owner's store, on the disk; without the owner's token nobody learns whether there is such an owner. A body that can't be read
// is a 400, a write that can't be taken is refused by itself.
// Does not: delete anything but by a write that says so.

package import IsletAlerts
import Foundation

package struct SettingsEndpoint: Sendable {
    package struct Owner: Sendable {
        package var token: String
        package var store: any OwnerStore

        package init(token: String, store: any OwnerStore) {
            self.token = token
            self.store = store
        }
    }

    private let owners: [String: Owner]
    private let epoch: String
    private let clock: @Sendable () -> Int64

    /// - Parameters:
    ///   - epoch: of this start; another at each, so that devices tell a hub that was started anew all that they have.
    ///   - clock: seconds since 1970.
    package init(owners: [String: Owner], epoch: String, clock: @escaping @Sendable () -> Int64) {
        self.owners = owners
        self.epoch = epoch
        self.clock = clock
    }

    package func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
        func refuse(_ status: Int, _ reason: String) -> LoopbackServer.Answer {
            .init(status, json: LoopbackServer.problem("expected " + reason))
        }
        if request.method == "GET", request.path == "/healthz" { return .init(200, json: "{}") }
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, parts[1] == "owners", parts[3] == "settings" else {
            return refuse(404, "/owners/OWNER/settings")
        }
        guard let owner = owners[parts[2]], let token = request.token, Self.isSame(token, owner.token) else {
            return refuse(401, "the owner's token")
        }
        guard request.method == "POST" else { return refuse(405, "POST") }
        let asked: SettingsRequest
        do {
            asked = try JSONDecoder().decode(SettingsRequest.self, from: Data(request.body))
        } catch {
            return refuse(400, "a settings request, version \(SettingsRequest.version)")
        }
        do {
            let answer = try owner.store.update { $0.answer(asked, clock: clock(), epoch: epoch) }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return .init(200, json: String(decoding: try encoder.encode(answer), as: UTF8.self))
        } catch {
            return refuse(503, "a store that can be written; nothing was taken, try again")
        }
    }

    /// In a time that says nothing of where they differ.
    static func isSame(_ a: String, _ b: String) -> Bool {
        let (a, b) = (Array(a.utf8), Array(b.utf8))
        var difference = a.count ^ b.count
        for index in b.indices { difference |= Int(b[index] ^ (index < a.count ? a[index] : 0)) }
        return difference == 0
    }
}
