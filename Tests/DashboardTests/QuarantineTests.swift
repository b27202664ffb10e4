import Dashboard
import Foundation
import Glibc
import IsletLive
import Testing

/// A session that failed is kept, whatever its age, and goes on where the cause is gone.
@Suite struct QuarantineTests {
    private func age(_ path: String, days: Double) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date().addingTimeInterval(-days * 86_400)], ofItemAtPath: path)
    }

    /// Somebody's only copy of a week must not be deleted because its disk was full for a day.
    @Test func whatDidNotEndIsNeverRemovedByAge() throws {
        try withFolder { folder in
            let first = try Desk(folder)
            let (broken, full, whole) = (
                try first.session(from: 1), try first.session(from: 1), try first.session(from: 48)
            )
            let paths = [broken, full, whole].map { first.ward.journalPath(of: $0) }
            first.ward.close()
            var bytes = try Data(contentsOf: URL(filePath: paths[0]))
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: URL(filePath: paths[0]))

            var options = Ward.Options(folder: folder)
            options.retentionDays = 1
            let ward = try Ward(options)
            ward.bringBack()
            fillDisk(under: paths[1])
            _ = ward.host.take(LiveCommand(.target(mgdl: 120)), for: full)
            for path in paths { try age(path, days: 30) }
            ward.tend()
            #expect(ward.ids == [broken, full].sorted())
            #expect(paths.map { FileManager.default.fileExists(atPath: $0) } == [true, true, false])
            ward.close()
        }
    }

    @Test func aSessionThatCouldNotWriteGoesOnWhenThereIsRoomAgain() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 2)
            func phase() -> String? { desk.answer("GET", "/api/sessions/\(id)").json["phase"] as? String }
            func waitUntilRunning() {
                for _ in 0..<600 where phase() != "running" { usleep(50_000) }
                #expect(phase() == "running")
            }
            #expect(desk.answer("POST", "/api/sessions/\(id)/resume", "{}").status == 409)
            #expect(desk.tell(id, #"{"command":"target","mgdl":110,"key":"a"}"#).status == 202)
            for round in 0..<2 {
                fillDisk(under: desk.ward.journalPath(of: id))
                #expect(desk.tell(id, #"{"command":"target","mgdl":140}"#).status == 409)
                #expect(phase() == "failed")
                #expect(desk.answer("GET", "/sessions/\(id)").text.contains("/api/sessions/\(id)/resume"))
                if round == 0 {
                    #expect(desk.answer("POST", "/api/sessions/\(id)/resume", "{}").status == 200)
                } else {
                    // By itself: seen at first, and tried a minute later.
                    desk.ward.goOnWhereThereIsRoom(at: 1_000_000_000)
                    #expect(phase() == "failed")
                    desk.ward.goOnWhereThereIsRoom(at: 62_000_000_000)
                    waitUntilRunning()
                }
                let shown = desk.answer("GET", "/api/sessions/\(id)")
                #expect(shown.json["phase"] as? String == "running")
                // What was acknowledged is there, what was refused isn't.
                #expect((shown.json["settings"] as? [String: Any])?["target_mgdl"] as? Double == 110)
                let again = desk.tell(id, #"{"command":"target","mgdl":110,"key":"a"}"#)
                #expect(again.status == 202 && again.json["repeated"] as? Bool == true)
            }
        }
    }

    /// While the cause is there the reason is the answer, and the journal stays.
    @Test func aDamagedSessionStaysFailedUntilItIsMended() throws {
        try withFolder { folder in
            let (desk, id, path, whole) = try Desk.damaged(in: folder, from: 2)
            let refused = desk.answer("POST", "/api/sessions/\(id)/resume", "{}")
            #expect(refused.status == 409 && refused.text.contains("live.journal"))
            try whole.write(to: URL(filePath: path))
            #expect(desk.answer("POST", "/api/sessions/\(id)/resume", "{}").status == 200)
            #expect(desk.tell(id, #"{"command":"target","mgdl":120}"#).status == 202)
            #expect(desk.answer("POST", "/api/sessions/nobody/resume", "{}").status == 404)
        }
    }

    /// Any text is a name, and every name is there after a restart.
    @Test(arguments: [
        Array(repeating: "*a", count: 27).joined(separator: " "), String(repeating: "? ", count: 30),
        "&x *x !!int #1: {[\"'%@`", "\\ud83d\\ude00 émile ‮x", "null", "1e3", "- - -",
    ])
    func anyNameSurvivesARestart(name: String) throws {
        try withFolder { folder in
            let first = try Desk(folder)
            let text = """
                {"study":\(quoted(name)),"duration":"1d","cohort":{"generate":{"model":"uva-padova-2008","count":1}},
                "arms":[{"name":\(quoted(name)),"algorithm":"basal-bolus"}]}
                """
            let made = first.answer(
                "POST", "/api/sessions",
                #"{"name":\#(quoted(name)),"pace":"paused","study_text":\#(quoted(text))}"#)
            guard made.status == 201, let id = made.json["id"] as? String else {
                // Nothing is taken that isn't there afterwards.
                #expect((400..<500).contains(made.status), "\(made.text)")
                #expect(first.ward.ids.isEmpty)
                return
            }
            let before = first.ward.view(id)?.name
            first.ward.close()
            let second = try Desk(folder)
            let shown = second.answer("GET", "/api/sessions/\(id)")
            #expect(shown.json["phase"] as? String == "running", "\(shown.text)")
            #expect(shown.json["name"] as? String == before && before == name)
        }
    }

    private func quoted(_ text: String) -> String {
        let data = (try? JSONSerialization.data(withJSONObject: [text])) ?? Data()
        return String(String(decoding: data, as: UTF8.self).dropFirst().dropLast())
    }
}
