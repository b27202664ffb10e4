// A ward after an upgrade: what another engine lived is shown whole, read only, and begun anew by one press.

import Dashboard
import IsletAlerts
import IsletDevices
import IsletKernel
import IsletTrials
import Foundation
import IsletLive
import Synchronization
import Testing

/// The ward as a program of another engine opens it.
private func upgraded(_ folder: String, engine: Int = BuildFacts.engine + 1) throws -> Desk {
    var options = Ward.Options(folder: folder)
    options.engine = engine
    return try Desk(try Ward(options))
}

@Suite struct KeptTests {
    @Test func `a simulated session is shown as it last was, says so, and takes nothing`() throws {
        try withFolder { folder in
            let first = try Desk(folder)
            let id = try first.session(from: 20)
            _ = first.tell(id, #"{"command":"preview","alert":"ALERT-CGM-URGENT-LOW"}"#)
            let before = first.answer("GET", "/api/sessions/\(id)").json
            #expect(!((before["alerts"] as? [Any]) ?? []).isEmpty)
            first.ward.close()
            let journal = try Data(contentsOf: URL(filePath: first.ward.journalPath(of: id)))

            let desk = try upgraded(folder)
            let shown = desk.answer("GET", "/api/sessions/\(id)").json
            #expect(shown["phase"] as? String == "failed")
            for key in ["now", "digest", "name", "number"] {
                #expect("\(shown[key] ?? "-")" == "\(before[key] ?? "-")", "\(key)")
            }
            let codes = { (json: [String: Any]) in
                ((json["alerts"] as? [[String: Any]]) ?? []).compactMap { $0["code"] as? String }
            }
            #expect(codes(shown) == codes(before))
            let view = try #require(desk.ward.view(id))
            #expect(
                view.kept?.engine == BuildFacts.engine && view.kept?.here == BuildFacts.engine + 1
                    && view.kept?.isKnown == true)
            #expect(view.log.readings.count > 200 && view.isReadOnly && view.areControlsDisabled)
            let page = desk.answer("GET", "/sessions/\(id)", headers: ["accept": "text/html"]).text
            #expect(page.contains("Lived by another engine") && page.contains("Begin it anew"))
            #expect(
                page.contains("engine \(BuildFacts.engine)")
                    && page.contains("engine \(BuildFacts.engine + 1)"))
            #expect(desk.tell(id, #"{"command":"target","mgdl":110}"#).status == 409)
            #expect(desk.answer("GET", "/api/sessions/\(id)/past?t=60").status == 409)
            #expect(desk.answer("POST", "/api/sessions/\(id)/resume").status == 409)
            desk.ward.tend()
            desk.ward.close()
            // The engine that lived it goes on as if nothing had been.
            #expect(try Data(contentsOf: URL(filePath: first.ward.journalPath(of: id))) == journal)
            let back = try Desk(folder)
            #expect(back.answer("GET", "/api/sessions/\(id)").json["phase"] as? String == "running")
        }
    }

    @Test func `it is begun anew by one press, with its settings, and stays beside the new one`() throws {
        try withFolder { folder in
            let first = try Desk(folder)
            let id = try first.session(from: 5)
            _ = first.tell(id, #"{"command":"target","mgdl":135}"#)
            _ = first.tell(id, #"{"command":"threshold","metric":"glucose","low":72,"high":244}"#)
            // This engine lives it: there is nothing to begin anew.
            #expect(first.answer("POST", "/api/sessions/\(id)/anew").status == 409)
            first.ward.close()
            let desk = try upgraded(folder)
            let answer = desk.answer("POST", "/api/sessions/\(id)/anew")
            #expect(answer.status == 200, "\(answer.text)")
            let new = try #require(answer.json["id"] as? String)
            #expect((answer.json["refused"] as? [Any])?.isEmpty == true)
            #expect(new != id && desk.ward.ids.sorted() == [id, new].sorted())
            let view = try #require(desk.ward.view(new))
            #expect(view.kept == nil && view.phase == .running && view.name == desk.ward.view(id)?.name)
            #expect(view.live.target?.milligramsPerDecilitre == 135)
            let glucose = view.live.thresholds.first { $0.metric == .glucose }
            #expect(glucose?.low == 72 && glucose?.high == 244)
            #expect(desk.tell(new, #"{"command":"target","mgdl":110}"#).status == 202)
            #expect(desk.ward.view(id)?.kept?.engine == BuildFacts.engine)
            #expect(desk.answer("POST", "/api/sessions/nobody/anew").status == 404)
        }
    }

    /// Pressed twice, by two at once, and after a restart; a session that was deleted is no answer.
    @Test func `begun anew twice it is one session`() throws {
        try withFolder { folder in
            let first = try Desk(folder)
            let id = try first.session(from: 2)
            first.ward.close()
            let desk = try upgraded(folder)
            let found = Mutex<Set<String>>([])
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                let answer = desk.answer("POST", "/api/sessions/\(id)/anew")
                _ = found.withLock { $0.insert(answer.json["id"] as? String ?? answer.text) }
            }
            let new = try #require(found.withLock { $0 }.first)
            #expect(found.withLock { $0.count } == 1 && desk.ward.ids.sorted() == [id, new].sorted())
            func page(_ desk: Desk) -> String {
                desk.answer("GET", "/sessions/\(id)", headers: ["accept": "text/html"]).text
            }
            #expect(page(desk).contains("/sessions/\(new)\"") && !page(desk).contains("Begin it anew"))
            desk.ward.close()
            let again = try upgraded(folder)
            let answer = again.answer("POST", "/api/sessions/\(id)/anew")
            #expect(answer.json["id"] as? String == new && answer.json["refused"] != nil, "\(answer.text)")
            // Whoever has deleted it may begin another.
            try again.ward.delete(new)
            #expect(page(again).contains("Begin it anew"))
            let other = again.answer("POST", "/api/sessions/\(id)/anew").json["id"] as? String
            #expect(other != nil && other != new && again.ward.ids.count == 2)
        }
    }

    /// Harm: the page says that the connection is lost, and who reads it waits for a session that will never ring.
    @Test func `a page that follows it hears that it stands, and no study is named`() async throws {
        let folder =
            FileManager.default.temporaryDirectory.path() + "ward-\(UInt64.random(in: 0...UInt64.max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = try Desk(folder)
        let id = try first.session(from: 2)
        first.ward.close()
        let desk = try upgraded(folder)
        let page = desk.answer("GET", "/sessions/\(id)", headers: ["accept": "text/html"]).text
        #expect(page.contains("Lived by another engine") && !page.contains("Watching only"))
        let answer = desk.dashboard.answer(
            WebRequest(
                method: "GET", target: "/api/sessions/\(id)/events?after=3", headers: ["host": "localhost"]))
        guard case .stream(let stream) = answer.body else {
            Issue.record("no stream")
            return
        }
        var source = stream()
        #expect(await source.next()?.hasPrefix("retry") == true)
        let view = try #require(await source.next())
        #expect(view.contains("\"phase\":\"failed\"") && view.contains("\"now\":7200"), "\(view)")
        let news = desk.news
        Thread.detachNewThread { news.run() }
        defer { news.stop() }
        #expect(await source.next() == "event: beat\ndata: {}\n\n")
        source.end()
    }

    /// A fed session in a ward goes on, and its page shows the day before the upgrade, too: its readings, its steps, and what is active.
    @Test func `what goes on has its day`() throws {
        try withFolder { folder in
            let first = try Desk(folder)
            first.ward.close()
            let session = folder + "/sessions/fed-12345"
            try FileManager.default.createDirectory(atPath: session, withIntermediateDirectories: true)
            try Data(#"{"format":1,"name":"fed"}"#.utf8).write(to: URL(filePath: session + "/session.json"))
            let text = try Study.parse(study, file: "ward.yaml")
            let opening = try LiveOpening(
                study: text.fed(from: text.start), session: 0, studyPath: "ward.yaml", isFed: true)
            do {
                let path = session + "/live.journal"
                let live = try LiveSession(
                    opening, journal: try JournalFile.create(path, opening: opening.json))
                for minute in stride(from: Int64(0), through: 600, by: 5) {
                    let at = Instant(nanoseconds: minute * Nanoseconds.minute)
                    let reading = LiveInput.reading(at: at.nanoseconds, mgdl: minute < 580 ? 140 : 50)
                    _ = live.take(LiveCommand(reading, key: "r\(minute)"), at: max(at, live.now))
                }
            }
            func look(_ engine: Int) throws -> SessionView {
                let desk = try upgraded(folder, engine: engine)
                defer { desk.ward.close() }
                desk.ward.tend()
                return try #require(desk.ward.view("fed-12345"))
            }
            let this = BuildFacts.engine
            let before = try look(this)
            #expect(before.log.readings.count == 121 && before.log.steps.count > 110)
            let low = AlertName(rawValue: "ALERT-CGM-URGENT-LOW")
            let story = try #require(before.alerts.first { $0.code == low })
            #expect(!story.story.isEmpty)
            for engine in [this + 1, this + 1, this + 2, this] {
                let after = try look(engine)
                #expect(after.kept == nil && after.phase == .running, "\(engine)")
                #expect(after.log.readings == before.log.readings && after.log.steps == before.log.steps)
                #expect(after.log.spans == before.log.spans)
                let told = try #require(after.alerts.first { $0.code == low })
                #expect(told.raisedAt == story.raisedAt && told.notifiedAt == story.notifiedAt)
                #expect(Array(told.story.prefix(story.story.count)) == story.story)
            }
        }
    }

    /// Killed, or of before anything was kept: its name, its engine and the reason are there, and it is begun anew all the same.
    @Test func `without a record it is there by name, with the reason`() throws {
        try withFolder { folder in
            let first = try Desk(folder)
            let id = try first.session(from: 2)
            first.ward.close()
            let kept = folder + "/sessions/\(id)/kept.json"
            let whole = try Data(contentsOf: URL(filePath: kept))
            for damage in [Data("{}".utf8), whole.prefix(whole.count / 2), nil] {
                try FileManager.default.removeItem(atPath: kept)
                if let damage { try Data(damage).write(to: URL(filePath: kept)) }
                let desk = try upgraded(folder)
                let view = try #require(desk.ward.view(id))
                #expect(view.kept?.isKnown == false && view.kept?.engine == BuildFacts.engine)
                #expect(desk.answer("GET", "/sessions/\(id)", headers: ["accept": "text/html"]).status == 200)
                if damage == nil {
                    let answer = desk.answer("POST", "/api/sessions/\(id)/anew")
                    let new = try #require(answer.json["id"] as? String, "\(answer.text)")
                    #expect(desk.ward.view(new)?.phase == .running)
                }
                desk.ward.close()
                if damage == nil { try whole.write(to: URL(filePath: kept)) }
            }
        }
    }

    /// An alert that is raised is kept at the next tending, whatever was kept just before.
    @Test func `what is active is kept at once`() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 5)
            desk.ward.tend()
            let path = folder + "/sessions/\(id)/kept.json"
            let before = try String(contentsOfFile: path, encoding: .utf8)
            _ = desk.tell(id, #"{"command":"preview","alert":"ALERT-CGM-URGENT-LOW"}"#)
            let raised = try #require(desk.ward.view(id)).live.alerts.map(\.code.rawValue)
            #expect(raised.contains("ALERT-CGM-URGENT-LOW"))
            desk.ward.tend()
            let after = try String(contentsOfFile: path, encoding: .utf8)
            #expect(after != before && raised.allSatisfy { after.contains($0) })
        }
    }
}
