import Dashboard
import Foundation
import IsletLive
import Synchronization
import Testing

/// A server that is started anew answers before it has lived everything again, and says what isn't there yet.
@Suite struct ReturningTests {
    @Test func sessionsAreNamedBeforeTheyAreBack() throws {
        try withFolder { folder in
            let first = try Desk(folder)
            let id = try first.session(from: 5)
            let before = first.answer("GET", "/api/sessions/\(id)")
            first.ward.close()

            let desk = try Desk(folder, isBack: false)
            #expect(desk.ward.ids == [id] && desk.ward.returningCount == 1)
            #expect(desk.answer("GET", "/healthz").status == 200)
            let shown = desk.answer("GET", "/api/sessions/\(id)")
            #expect(shown.status == 200 && shown.json["phase"] as? String == "returning")
            #expect(shown.json["name"] as? String == before.json["name"] as? String)
            let cards = desk.answer("GET", "/api/sessions").json["sessions"] as? [[String: Any]]
            #expect(cards?.first?["phase"] as? String == "returning")
            for path in ["/", "/sessions/\(id)"] {
                let page = desk.answer("GET", path, headers: ["accept": "text/html"])
                #expect(page.status == 200 && page.text.contains("Coming back"), "\(path)")
            }
            #expect(desk.answer("GET", "/metrics").text.contains("islet_sessions{phase=\"returning\"} 1"))
            // Nothing is taken that would be lost, and nothing is said of a time that isn't known.
            #expect(desk.tell(id, #"{"command":"target","mgdl":110}"#).status == 503)
            #expect(desk.tell(id, #"{"command":"pace","pace":"60"}"#).status == 503)
            #expect(desk.answer("GET", "/api/sessions/\(id)/past?t=60").status == 503)
            let fork = desk.answer(
                "POST", "/api/sessions/\(id)/forks", #"{"t":60,"algorithm":"basal-bolus"}"#)
            #expect(fork.status == 503)

            desk.ward.bringBack()
            let after = desk.answer("GET", "/api/sessions/\(id)")
            #expect(after.json["phase"] as? String == "running" && desk.ward.returningCount == 0)
            #expect(after.json["digest"] as? String == before.json["digest"] as? String)
            #expect(desk.tell(id, #"{"command":"target","mgdl":110}"#).status == 202)
        }
    }

    /// Who follows a session hears that it comes back, and then all that happened since, none twice.
    @Test func aStreamWaitsForItsSession() async throws {
        let folder =
            FileManager.default.temporaryDirectory.path() + "ward-\(UInt64.random(in: 0...UInt64.max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = try Desk(folder)
        let id = try first.session(from: 2)
        let newest = try #require(first.answer("GET", "/api/sessions/\(id)").json["number"] as? Int)
        first.ward.close()

        let desk = try Desk(folder, isBack: false)
        let answer = desk.dashboard.answer(
            WebRequest(
                method: "GET", target: "/api/sessions/\(id)/events?after=\(newest - 1)",
                headers: ["host": "localhost"]))
        guard case .stream(let stream) = answer.body else {
            Issue.record("no stream")
            return
        }
        var source = stream()
        #expect(await source.next()?.hasPrefix("retry") == true)
        #expect(await source.next()?.contains("\"phase\":\"returning\"") == true)
        let news = desk.news
        Thread.detachNewThread { news.run() }
        defer { news.stop() }
        desk.ward.bringBack()
        var heard = ""
        while !heard.contains("\"phase\":\"running\"") {
            guard let text = await source.next() else { break }
            heard += text
        }
        #expect(heard.contains("id: \(newest)\n") && !heard.contains("id: \(newest - 1)\n"))
        #expect(heard.contains("\"phase\":\"running\""))
        source.end()
    }

    /// What nobody wants any more is given up, and nothing is lost by it.
    @Test func aSessionThatIsDeletedMeanwhileStaysAway() throws {
        try withFolder { folder in
            let first = try Desk(folder)
            let (gone, kept) = (try first.session(from: 2), try first.session(from: 3))
            first.ward.close()
            let desk = try Desk(folder, isBack: false)
            #expect(desk.answer("DELETE", "/api/sessions/\(gone)").status == 204)
            // A server that is told to stop in the middle.
            desk.ward.bringBack(until: { true })
            #expect(desk.ward.returningCount == 1)
            desk.ward.bringBack()
            #expect(desk.ward.ids == [kept] && desk.ward.returningCount == 0)
            #expect(desk.answer("GET", "/api/sessions/\(gone)").status == 404)
        }
    }

    /// Harm: whoever starts the demonstration has no page for as long as it takes to live it.
    @Test func aWardsFirstSessionsAreNamedBeforeTheyAreLived() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            #expect(desk.ward.isToBegin)
            try desk.ward.begin(with: [Self.first("one", 20), Self.first("two", 2)])
            let named = desk.ward.cards()
            #expect(named.map(\.name).sorted() == ["one", "two"])
            #expect(named.allSatisfy { $0.phase == .returning })
            let id = try #require(named.first { $0.name == "one" }?.id)
            #expect(desk.tell(id, #"{"command":"target","mgdl":110}"#).status == 503)
            #expect(desk.answer("GET", "/healthz").status == 200)

            desk.ward.bringBack()
            #expect(desk.ward.cards().allSatisfy { $0.phase == .running } && !desk.ward.isToBegin)
            let same = try desk.session(from: 20)
            let digests = [id, same].map {
                desk.answer("GET", "/api/sessions/\($0)").json["digest"] as? String
            }
            #expect(digests[0] != nil && digests[0] == digests[1])
            #expect(desk.tell(id, #"{"command":"target","mgdl":110}"#).status == 202)
        }
    }

    /// Harm: a server that is killed while it begins leaves half a ward for good, or some of it twice.
    @Test func whatAServerHadNotBegunTheNextOneBegins() throws {
        try withFolder { folder in
            let firsts = [Self.first("one", 2), Self.first("two", 2), Self.first("two", 3)]
            let first = try Desk(folder)
            try first.ward.begin(with: firsts)
            first.ward.bringBack(until: { first.ward.returningCount < 3 })
            #expect(first.ward.returningCount == 2)
            first.ward.close()

            let desk = try Desk(folder)
            #expect(desk.ward.ids.count == 1 && desk.ward.isToBegin)
            try desk.ward.begin(with: firsts)
            desk.ward.bringBack()
            #expect(desk.ward.cards().map(\.name).sorted() == ["one", "two", "two"])
            #expect(desk.ward.cards().allSatisfy { $0.phase == .running } && !desk.ward.isToBegin)
        }
    }

    /// Harm: one that can't be begun is found out when the others are there; one that is deleted before its turn comes all the same.
    @Test func aSlipAmongTheFirstBeginsNothing() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            #expect(throws: (any Error).self) {
                try desk.ward.begin(with: [Self.first("one", 2), SessionRequest(.text("study: x"))])
            }
            #expect(desk.ward.ids.isEmpty && desk.ward.isToBegin)
            try desk.ward.begin(with: [Self.first("one", 2), Self.first("two", 2)])
            for card in desk.ward.cards() { try desk.ward.delete(card.id) }
            #expect(!FileManager.default.fileExists(atPath: folder + "/beginning"))
            desk.ward.bringBack()
            #expect(desk.ward.ids.isEmpty)
        }
    }

    private static func first(_ name: String, _ hours: Int64) -> SessionRequest {
        var wish = SessionRequest(.text(study))
        (wish.name, wish.pace, wish.from) = (name, .paused, hours * 3_600_000_000_000)
        return wish
    }

    /// A past that takes long is given up when who asked has gone.
    @Test func nobodyLivesAPastThatNobodyWaitsFor() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 20)
            func past(_ isWanted: @escaping @Sendable () -> Bool) -> Int {
                var request = WebRequest(
                    method: "GET", target: "/api/sessions/\(id)/past?t=70000", headers: ["host": "localhost"])
                request.isWanted = isWanted
                return desk.dashboard.answer(request).status
            }
            #expect(past { true } == 200)
            let counted = Counted()
            #expect(past { counted.next() < 3 } == 503)
            // It was asked now and then, and heeded at once.
            #expect(counted.count == 3)
        }
    }

    private final class Counted: Sendable {
        private let value = Atomic(0)
        var count: Int { value.load(ordering: .relaxed) }
        func next() -> Int { value.wrappingAdd(1, ordering: .relaxed).newValue }
    }

    /// What lives again is told apart from what answers.
    @Test func whatLivesAgainRunsAside() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 1)
            func work(_ method: String, _ path: String) -> RouteWork? {
                let head = WebRequest(method: method, target: path, headers: ["host": "localhost"])
                guard case .admitted(let admitted) = desk.dashboard.admit(head) else { return nil }
                return admitted.work
            }
            #expect(work("GET", "/healthz") == .atOnce)
            for (method, path) in [
                ("GET", "/sessions/\(id)/past?t=60"), ("GET", "/api/sessions/\(id)/past?t=60"),
                ("POST", "/api/sessions/\(id)/forks"), ("POST", "/api/sessions"),
            ] {
                #expect(work(method, path) == .livesAgain, "\(path)")
            }
            for (method, path) in [
                ("GET", "/"), ("GET", "/sessions/\(id)"), ("POST", "/api/sessions/\(id)/commands"),
                ("GET", "/api/sessions/\(id)/events"),
            ] {
                #expect(work(method, path) == .answers, "\(path)")
            }
        }
    }
}
