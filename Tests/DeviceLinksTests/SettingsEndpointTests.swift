// The settings endpoint on a real socket: what it takes, what it refuses, and what it never does.

import IsletAlerts
import Foundation
import Glibc
import IsletResults
import IsletDevices
import Testing

@testable import DeviceLinks

@Suite(.serialized, .timeLimit(.minutes(45))) struct SettingsEndpointTests {
    private static let now: Int64 = 1_772_000_000

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "islet-endpoint-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    private func serve(
        _ folder: String, port: UInt16 = 0, epoch: String = "1", clock: Int64 = now, seconds: Double = 5
    ) throws -> (server: LoopbackServer, store: SQLiteOwnerStore) {
        let store = try SQLiteOwnerStore(path: folder + "/hub.sqlite", owner: "ann", device: "hub")
        let other = try SQLiteOwnerStore(path: folder + "/ben.sqlite", owner: "ben", device: "hub")
        let endpoint = SettingsEndpoint(
            owners: [
                "ann": .init(token: "secret", store: store), "ben": .init(token: "other", store: other),
            ],
            epoch: epoch, clock: { clock })
        return (try LoopbackServer(port: port, secondsPerRequest: seconds) { endpoint.answer($0) }, store)
    }

    private func device(_ folder: String, _ name: String) throws -> SQLiteOwnerStore {
        try SQLiteOwnerStore(path: folder + "/\(name).sqlite", owner: "ann", device: name)
    }

    private func set(_ store: SQLiteOwnerStore, _ subject: String, _ min: Double?, clock: Int64 = now) throws
    {
        try store.update { ledger in
            if let min {
                try ledger.set(
                    .threshold(AlertThreshold(subject: subject, metric: .glucose, min: min)), clock: clock)
            } else {
                _ = ledger.delete(OwnerSetting.key(subject, .glucose), clock: clock)
            }
        }
    }

    private func bounds(_ store: SQLiteOwnerStore) throws -> [Double?] {
        OwnerSettings(try store.ledger()).thresholds.map(\.min)
    }

    /// Sends bytes as they are; the status that comes back, 0 for none.
    private func raw(_ port: UInt16, _ bytes: some Collection<UInt8>) -> Int {
        guard let socket = try? LineSocket.connect(port: port, timeoutSeconds: 5) else { return -1 }
        try? socket.write(Array(bytes))
        var got: [UInt8] = []
        while let chunk = try? socket.read() { got += chunk }
        let words = String(decoding: got, as: UTF8.self).split(separator: " ", maxSplits: 2)
        return words.count > 1 ? Int(words[1]) ?? 0 : 0
    }

    private func post(
        _ port: UInt16, path: String = "/owners/ann/settings", token: String? = "secret", host: String? = nil,
        more: String = "", body: String
    ) -> Int {
        var text = "POST \(path) HTTP/1.1\r\nHost: \(host ?? "127.0.0.1:\(port)")\r\n"
        if let token { text += "Authorization: Bearer \(token)\r\n" }
        return raw(port, (text + "Content-Length: \(body.utf8.count)\r\n\(more)\r\n" + body).utf8)
    }

    private static let empty = #"{"version":1,"device":"phone","after":0,"writes":[]}"#

    @Test func `12 edits and deletions of two devices meet, offline on both sides, also across a restart`()
        throws
    {
        try withFolder { folder in
            var (server, _) = try serve(folder)
            let phone = try device(folder, "phone")
            let tablet = try device(folder, "tablet")
            func sync(_ store: SQLiteOwnerStore, clock: Int64 = Self.now) throws -> SettingsLink.Outcome {
                try SettingsLink(port: server.port, token: "secret").sync(store, clock: clock)
            }
            try set(phone, "ann", 70)
            try set(phone, "basil", 60)
            #expect(try sync(phone) == .init(sent: 2, received: 0))
            #expect(try sync(tablet) == .init(sent: 0, received: 2))
            #expect(try bounds(tablet) == [70, 60])
            // Both offline: the tablet deletes one and changes the other a second later.
            try set(phone, "ann", 75, clock: Self.now + 10)
            try set(tablet, "ann", 80, clock: Self.now + 11)
            try set(tablet, "basil", nil, clock: Self.now + 11)
            server.stop()
            #expect(throws: OutputError.self) { try sync(phone) }
            #expect(try phone.ledger().hasUnsent, "kept for the next time")
            (server, _) = try serve(folder, epoch: "2")
            _ = try sync(phone)
            _ = try sync(tablet)
            _ = try sync(phone)
            #expect(try bounds(phone) == [80] && (try bounds(tablet)) == [80])
            let rows = try phone.ledger().rows.map(\.write)
            #expect(try tablet.ledger().rows.map(\.write) == rows)
            server.stop()
        }
    }

    @Test func `12 a device with a clock a year ahead is told so, keeps its write, and the others go on`()
        throws
    {
        try withFolder { folder in
            let (server, hub) = try serve(folder)
            let phone = try device(folder, "phone")
            let tablet = try device(folder, "tablet")
            let link = SettingsLink(port: server.port, token: "secret")
            let wrong = Self.now + 366 * 86_400
            try set(phone, "ann", 90, clock: wrong)
            let outcome = try link.sync(phone, clock: wrong)
            #expect(outcome.refused.first?.contains("366 days ahead of the hub's clock") == true)
            #expect(try bounds(phone) == [90] && (try bounds(hub)).isEmpty)
            try set(tablet, "ann", 70)
            #expect(try link.sync(tablet, clock: Self.now).refused.isEmpty)
            #expect(try bounds(hub) == [70])
            // Its clock is set right: what it kept is of now.
            #expect(try link.sync(phone, clock: Self.now + 60).refused.isEmpty)
            _ = try link.sync(tablet, clock: Self.now + 60)
            #expect(try bounds(tablet) == [90])
            #expect(try tablet.ledger().rows.map(\.write.time.seconds) == [Self.now + 60])
            server.stop()
        }
    }

    @Test func `12 more settings than fit into one request, and one answer, all arrive`() throws {
        try withFolder { folder in
            let (server, hub) = try serve(folder)
            let phone = try device(folder, "phone")
            let tablet = try device(folder, "tablet")
            try phone.update { ledger in
                for number in 0..<1203 {
                    try ledger.set(
                        .threshold(AlertThreshold(subject: "s\(number)", metric: .glucose, min: 70)),
                        clock: Self.now)
                }
            }
            let link = SettingsLink(port: server.port, token: "secret")
            #expect(try link.sync(phone, clock: Self.now).sent == 1203)
            #expect(try link.sync(tablet, clock: Self.now).received == 1203)
            #expect(try hub.ledger().rows.map(\.write) == (try tablet.ledger().rows.map(\.write)))
            server.stop()
        }
    }

    @Test func `what isn't the owner's is refused: tokens, owners, hosts, pages of browsers`() throws {
        try withFolder { folder in
            let (server, _) = try serve(folder)
            let port = server.port
            #expect(post(port, body: Self.empty) == 200)
            #expect(post(port, token: nil, body: Self.empty) == 401)
            for token in ["secre", "secrett", "other", "", "secret secret"] {
                #expect(post(port, token: token, body: Self.empty) == 401, "\(token)")
            }
            #expect(post(port, path: "/owners/nobody/settings", body: Self.empty) == 401)
            #expect(post(port, path: "/owners/ben/settings", token: "other", body: Self.empty) == 200)
            #expect(post(port, path: "/", body: Self.empty) == 404)
            #expect(post(port, path: "/owners/../ann/settings", body: Self.empty) == 404)
            #expect(post(port, host: "islet.example.org", body: Self.empty) == 421)
            #expect(post(port, more: "Origin: http://127.0.0.1\r\n", body: Self.empty) == 403)
            #expect(
                raw(
                    port,
                    "GET /owners/ann/settings HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n\r\n"
                        .utf8) == 405)
            #expect(raw(port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8) == 200)
            let wrong = SettingsLink(port: port, token: "wrong")
            let phone = try device(folder, "phone")
            #expect(throws: InputError.self) { try wrong.sync(phone, clock: Self.now) }
            #expect(SettingsLink.port(of: "http://127.0.0.1:8090") == 8090)
            for url in [
                "http://example.org:80", "https://127.0.0.1:1", "http://127.0.0.1", "http://127.0.0.1:0",
                "http://127.0.0.1:99999",
            ] {
                #expect(SettingsLink.port(of: url) == nil, "\(url)")
            }
            server.stop()
        }
    }

    @Test func `a malformed request is a 4xx and never the end: framing, sizes, bodies, random bytes`() throws
    {
        try withFolder { folder in
            let (server, store) = try serve(folder, seconds: 2)
            let port = server.port
            let head =
                "POST /owners/ann/settings HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n"
            for (text, status) in [
                ("\r\n\r\n", 400), ("POST\r\n\r\n", 400), ("POST / HTTP/9.9\r\n\r\n", 400),
                ("post / HTTP/1.1\r\n\r\n", 400), ("POST / HTTP/1.1\nHost: localhost\r\n\r\n", 400),
                (head + "\r\n", 411), (head + "Content-Length: -1\r\n\r\n", 400),
                (head + "Content-Length: 1e3\r\n\r\n", 400),
                (head + "Content-Length: 99999999999\r\n\r\n", 413),
                (head + "Content-Length: 1048577\r\n\r\n", 413),
                (head + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400),
                (head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501),
                (head + "Content-Length: 2\r\n\r\n{}{}", 400), (head + "Content-Length: 2\r\n\r\n{}", 400),
                (head + ": x\r\nContent-Length: 0\r\n\r\n", 400),
                (head + "A: " + String(repeating: "x", count: 20_000) + "\r\n\r\n", 431),
                (head + String(repeating: "A", count: 5) + "\r\n\r\n", 400),
            ] {
                #expect(raw(port, text.utf8) == status, "\(text.prefix(120))")
            }
            for body in [
                "", "null", "[]", "{", #"{"version":2,"device":"a","after":0,"writes":[]}"#,
                #"{"version":1,"device":"a","after":-1,"writes":[]}"#,
                #"{"version":1,"device":"a","after":0,"writes":7}"#,
                #"{"version":1,"device":"a","after":99999999999999999999,"writes":[]}"#,
                #"{"version":1,"device":"a","after":0,"writes":[\#(String(repeating: "{},", count: 200)){}]}"#,
                String(repeating: "[", count: 100_000),
            ] {
                #expect(post(port, body: body) == 400, "\(body.prefix(80))")
            }
            // Well framed, and full of what can't be: each write is refused by itself.
            for write in [
                "{}", "7", "null", #"{"key":"threshold/a/glucose","seconds":1,"sequence":0,"device":"d"}"#,
                #"{"key":"threshold/a/glucose","deleted":true,"seconds":-1,"sequence":0,"device":"d"}"#,
                #"{"key":"threshold/a/nothing","deleted":true,"seconds":1,"sequence":0,"device":"d"}"#,
                #"{"key":"threshold/a/glucose","threshold":{"subject":"a","metric":"glucose","min":1e999,"enabled":true,"sensitivitySeconds":0},"seconds":1,"sequence":0,"device":"d"}"#,
                #"{"key":"threshold/a/glucose","threshold":{"subject":"a","metric":"glucose","min":70,"enabled":true,"sensitivitySeconds":9223372036854775807},"seconds":1,"sequence":0,"device":"d"}"#,
                #"{"key":"subject/a","subject":{"id":"a","name":"\u0000","kind":"","stage":""},"seconds":1,"sequence":0,"device":"d"}"#,
            ] {
                let body = #"{"version":1,"device":"a","after":0,"writes":[\#(write)]}"#
                #expect([200, 400].contains(post(port, body: body)), "\(write)")
            }
            var draws = Draws(seed: 14)
            let good = Array(
                (head + "Content-Length: \(Self.empty.utf8.count)\r\n\r\n" + Self.empty).utf8)
            for _ in 0..<400 {
                var bytes = good
                for _ in 0..<Int.random(in: 1...4, using: &draws) {
                    let place = Int.random(in: 0..<bytes.count, using: &draws)
                    switch Int.random(in: 0..<3, using: &draws) {
                    case 0: bytes[place] = UInt8.random(in: 0...255, using: &draws)
                    case 1: bytes.remove(at: place)
                    default: bytes.insert(UInt8.random(in: 0...255, using: &draws), at: place)
                    }
                }
                var reader = HTTPReader()
                // On the socket a few of them, all by the reader: whole, and byte by byte alike.
                let whole = Result { try reader.take(bytes) }
                var slow = HTTPReader()
                var last: HTTPRequest?
                let bytewise = Result {
                    for byte in bytes { last = try slow.take([byte]) ?? last }
                    return last
                }
                if case .success(let request?) = whole, case .success(let other) = bytewise {
                    #expect(request == other)
                }
                if Int.random(in: 0..<20, using: &draws) == 0 { _ = raw(port, bytes) }
            }
            #expect(try store.ledger().rows.isEmpty)
            #expect(post(port, body: Self.empty) == 200, "it is there as before")
            server.stop()
        }
    }

    @Test func `slow and silent clients are cut, however many, and others are served meanwhile`() throws {
        try withFolder { folder in
            let (server, _) = try serve(folder, seconds: 2)
            let port = server.port
            var slow: [LineSocket] = []
            for _ in 0..<20 {
                let socket = try LineSocket.connect(port: port, timeoutSeconds: 5)
                try socket.write(Array("POST /owners".utf8))
                slow.append(socket)
            }
            #expect(post(port, body: Self.empty) == 200)
            // A byte now and then doesn't keep it open.
            for _ in 0..<14 {
                usleep(200_000)
                for socket in slow { try? socket.write([UInt8(ascii: "x")]) }
            }
            for socket in slow { while let more = try? socket.read(), !more.isEmpty {} }
            // More than there is room for are told so, and the place is free again after that.
            slow = try (0..<LoopbackServer.mostConnections + 4).map { _ in
                try LineSocket.connect(port: port, timeoutSeconds: 5)
            }
            usleep(100_000)
            #expect([503, 0, -1].contains(post(port, body: Self.empty)))
            slow = []
            var status = 0
            for _ in 0..<100 where status != 200 {
                usleep(200_000)
                status = post(port, body: Self.empty)
            }
            #expect(status == 200)
            server.stop()
        }
    }
}
