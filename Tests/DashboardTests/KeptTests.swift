// A ward after an upgrade: what another engine lived is shown whole, read only, and begun anew by one press.

import Dashboard
import IsletAlerts
import IsletDevices
import IsletKernel
import IsletTrials
import Foundation
import IsletLive
import Testing

/// The ward as a program of another engine opens it.
private func upgraded(_ folder: String, engine: Int = 2) throws -> Desk {
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
            #expect(view.kept?.engine == 1 && view.kept?.here == 2 && view.kept?.isKnown == true)
            #expect(view.log.readings.count > 200 && view.isReadOnly && view.areControlsDisabled)
            let page = desk.answer("GET", "/sessions/\(id)", headers: ["accept": "text/html"]).text
            #expect(page.contains("Lived by another engine") && page.contains("Begin it anew"))
            #expect(page.contains("engine 1") && page.contains("engine 2"))
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
            #expect(desk.ward.view(id)?.kept?.engine == 1)
            #expect(desk.answer("POST", "/api/sessions/nobody/anew").status == 404)
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
                #expect(view.kept?.isKnown == false && view.kept?.engine == 1)
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
