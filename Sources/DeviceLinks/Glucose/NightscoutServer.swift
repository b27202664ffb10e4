// Glucose from a Nightscout site, by its API v1.
//
// Guarantees: the secret goes as a token and as the hash that an API secret is asked for, and nowhere else.

import Foundation
#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

package struct NightscoutServer: GlucoseServer {
    package let endpoint: String
    private let connection: ServerConnection
    private let token: String?

    /// - Parameters:
    ///   - url: of the site: `http` or `https` and a host.
    ///   - token: an access token, or the site's API secret; nil for a site that anybody may read.
    package init?(url: String, token: String?, timeoutSeconds: Double = 20) {
        guard let connection = ServerConnection(url, timeoutSeconds: timeoutSeconds) else { return nil }
        self.connection = connection
        self.token = token.flatMap { $0.isEmpty ? nil : $0 }
        endpoint = withoutSecrets(url)
    }

    package var isReadableOnTheWay: Bool { connection.isReadableOnTheWay }

    package func newest(_ count: Int) async throws -> ServerReadings {
        var query = [URLQueryItem(name: "count", value: "\(count)")]
        if let token { query.append(URLQueryItem(name: "token", value: token)) }
        var message = connection.request("/api/v1/entries/sgv.json", query)
        if let token { message?.setValue(SHA1.hex(Array(token.utf8)), forHTTPHeaderField: "api-secret") }
        let (status, json) = try await connection.ask(message, now: SystemSyncClock().epochSeconds)
        guard status == 200 else {
            throw ServerRefusal(
                reason: status == 401 || status == 403
                    ? "status \(status): the site asks for a token (ISLET_NIGHTSCOUT_TOKEN)"
                    : "status \(status)")
        }
        guard let rows = json as? [Any] else {
            throw ServerRefusal(reason: "an answer that is no list of entries")
        }
        return serverReadings(rows, newest: count) { row in
            if let type = row["type"] as? String, type != "sgv" { return nil }
            guard let stamp = wholeNumber(row["date"] ?? row["mills"]), let mgdl = row["sgv"] as? Double
            else {
                return nil
            }
            return ServerReading(milliseconds: stamp, mgdl: mgdl)
        }
    }
}

/// What Nightscout asks for of a secret, and nothing else here is protected by.
enum SHA1 {
    static func hex(_ message: [UInt8]) -> String {
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        var bytes = message + [0x80]
        while bytes.count % 64 != 56 { bytes.append(0) }
        let bits = UInt64(message.count) * 8
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: bits >> shift))
        }
        func rotate(_ value: UInt32, _ by: UInt32) -> UInt32 { value << by | value >> (32 - by) }
        for block in stride(from: 0, to: bytes.count, by: 64) {
            var words = (0..<16).map { place in
                bytes[block + 4 * place..<block + 4 * place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            }
            for place in 16..<80 {
                words.append(
                    rotate(words[place - 3] ^ words[place - 8] ^ words[place - 14] ^ words[place - 16], 1))
            }
            var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
            for place in 0..<80 {
                let (mixed, constant): (UInt32, UInt32) =
                    switch place {
                    case 0..<20: (b & c | ~b & d, 0x5a82_7999)
                    case 20..<40: (b ^ c ^ d, 0x6ed9_eba1)
                    case 40..<60: (b & c | b & d | c & d, 0x8f1b_bcdc)
                    default: (b ^ c ^ d, 0xca62_c1d6)
                    }
                let next = rotate(a, 5) &+ mixed &+ e &+ constant &+ words[place]
                (e, d, c, b, a) = (d, c, rotate(b, 30), a, next)
            }
            state = zip(state, [a, b, c, d, e]).map { $0 &+ $1 }
        }
        return state.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }
}
