// A ward in a folder of its own, and requests to its dashboard without a server.

import Dashboard
import Foundation
import IsletLive
import IsletTrials
import Testing

let study = """
    study: ward
    seed: 7
    start: 2026-03-02T06:00:00-05:00
    duration: 2d
    cohort: { generate: { model: uva-padova-2008, group: adult, count: 2 } }
    scenario: { preset: life }
    arms:
      - name: closed-loop
        algorithm: pid-insulin-feedback
        alerts: { policy: ward, extends: bionicloop, thresholds: [{ metric: glucose, min: 70, max: 250 }] }
    """

func withFolder<R>(_ body: (String) throws -> R) throws -> R {
    let folder = FileManager.default.temporaryDirectory.path() + "ward-\(UInt64.random(in: 0...UInt64.max))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder)
}

/// A dashboard over a ward whose sessions stand still unless somebody tells them something.
struct Desk {
    let ward: Ward
    let dashboard: Dashboard
    let news: WardNews

    /// - Parameter isBack: whether its sessions have been lived again.
    init(
        _ folder: String, token: String? = nil, names: [String] = [], isBack: Bool = true,
        guests: Guests = Guests { 0 }
    ) throws {
        try self.init(
            try Ward(Ward.Options(folder: folder)), token: token, names: names, isBack: isBack, guests: guests
        )
    }

    init(
        _ ward: Ward, token: String? = nil, names: [String] = [], isBack: Bool = true,
        guests: Guests = Guests { 0 }
    ) throws {
        self.ward = ward
        if isBack { ward.bringBack() }
        news = WardNews(ward.host)
        dashboard = Dashboard(
            ward: ward, news: news,
            door: WebDoor(
                token: token, names: names, loginsPath: ward.options.folder + "/logins.json", guests: guests))
    }

    func answer(
        _ method: String, _ target: String, _ body: String = "", headers: [String: String] = [:]
    ) -> (status: Int, json: [String: Any], text: String) {
        var all = ["host": "127.0.0.1:8080", "content-type": "application/json"]
        for (name, value) in headers { all[name] = value }
        let answer = dashboard.answer(
            WebRequest(method: method, target: target, headers: all, body: Array(body.utf8)))
        guard case .bytes(let bytes) = answer.body else { return (answer.status, [:], "") }
        let json = (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any]
        return (answer.status, json ?? [:], String(decoding: bytes, as: UTF8.self))
    }

    /// One whose session can't go on, as a byte of its journal was changed while the server was down.
    /// - Returns: beside it the session, its journal's path, and the journal as it was.
    static func damaged(
        in folder: String, from hours: Int64
    ) throws -> (desk: Desk, id: String, path: String, whole: Data) {
        let first = try Desk(folder)
        let id = try first.session(from: hours)
        let path = first.ward.journalPath(of: id)
        first.ward.close()
        let whole = try Data(contentsOf: URL(filePath: path))
        var bytes = whole
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(filePath: path))
        return (try Desk(folder), id, path, whole)
    }

    /// A session of pace `step`, and the token of whoever drives it.
    func driven(_ study: String) throws -> (id: String, token: String) {
        let body = try JSONSerialization.data(withJSONObject: ["study_text": study, "pace": "step"])
        let made = answer("POST", "/api/sessions", String(decoding: body, as: UTF8.self))
        let id = try #require(made.json["id"] as? String)
        let sat = answer("POST", "/api/sessions/\(id)/driver", #"{"name":"tester"}"#)
        return (id, try #require(sat.json["token"] as? String))
    }

    /// A paused session that has lived its first 20 hours.
    func session(from hours: Int64 = 20) throws -> String {
        var wish = SessionRequest(.text(study))
        (wish.pace, wish.from) = (.paused, hours * 3_600_000_000_000)
        return try ward.create(wish)
    }

    /// Of the first session of its study.
    func opening() throws -> LiveOpening {
        let study = try Study.parse(study, file: "ward.yaml")
        return try LiveOpening(study: study, session: 0, studyPath: "ward.yaml")
    }

    func tell(_ id: String, _ command: String) -> (status: Int, json: [String: Any], text: String) {
        answer("POST", "/api/sessions/\(id)/commands", command)
    }
}

/// From here on the disk takes nothing more of an open file.
func fillDisk(under path: String) {
    let folder = "/proc/self/fd/"
    let name = "/" + path.split(separator: "/").joined(separator: "/")
    for entry in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
        guard let file = Int32(entry),
            (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + entry)) == name
        else { continue }
        let full = open("/dev/full", O_WRONLY)
        #expect(dup2(full, file) == file)
        close(full)
    }
}
