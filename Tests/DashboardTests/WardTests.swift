import Dashboard
import Foundation
import Testing
import IsletLive

@Suite struct WardTests {
    /// Whoever opens the folder has the same sessions, as they stood, and what was said under a key stays said.
    @Test func aWardComesBackWithWhatItWasTold() throws {
        try withFolder { folder in
            let first = try Desk(folder)
            let id = try first.session()
            #expect(first.tell(id, #"{"command":"target","mgdl":110,"key":"a"}"#).status == 202)
            #expect(first.tell(id, #"{"command":"meal","grams":40,"key":"b"}"#).status == 202)
            let before = first.answer("GET", "/api/sessions/\(id)")
            first.ward.close()

            let second = try Desk(folder)
            let after = second.answer("GET", "/api/sessions/\(id)")
            #expect(after.json["digest"] as? String == before.json["digest"] as? String)
            #expect(after.json["t"] as? Double == before.json["t"] as? Double)
            #expect((after.json["settings"] as? [String: Any])?["target_mgdl"] as? Double == 110)
            #expect(after.json["pace"] as? String == "paused")
            let again = second.tell(id, #"{"command":"meal","grams":40,"key":"b"}"#)
            #expect(again.status == 202 && again.json["repeated"] as? Bool == true)
        }
    }

    /// A journal that was tampered with keeps no other session from living, and says why.
    @Test func aSessionThatCannotGoOnIsShownWithItsReason() throws {
        try withFolder { folder in
            let first = try Desk(folder)
            let (broken, whole) = (try first.session(from: 2), try first.session(from: 3))
            let path = first.ward.journalPath(of: broken)
            first.ward.close()
            var bytes = try Data(contentsOf: URL(filePath: path))
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: URL(filePath: path))

            let second = try Desk(folder)
            #expect(second.ward.ids.sorted() == [broken, whole].sorted())
            let shown = second.answer("GET", "/api/sessions/\(broken)")
            #expect(shown.json["phase"] as? String == "failed")
            #expect((shown.json["reason"] as? String)?.contains("live.journal") ?? false)
            #expect(second.tell(broken, #"{"command":"resume"}"#).status == 409)
            #expect(second.tell(whole, #"{"command":"target","mgdl":120}"#).status == 202)
        }
    }

    @Test func deletedIsGoneFromTheDiskToo() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 1)
            #expect(FileManager.default.fileExists(atPath: desk.ward.journalPath(of: id)))
            #expect(desk.answer("DELETE", "/api/sessions/\(id)").status == 204)
            #expect(desk.answer("DELETE", "/api/sessions/\(id)").status == 404)
            #expect(!FileManager.default.fileExists(atPath: desk.ward.journalPath(of: id)))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/sessions").isEmpty)
            // One server has a folder at a time.
            #expect(throws: (any Error).self) { try Desk(folder) }
            desk.ward.close()
            #expect(try Desk(folder).ward.ids.isEmpty)
            let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
            #expect(mode == 0o700)
        }
    }

    /// In an empty one's place another would be begun, and whoever lived in it would be alone.
    @Test func aWardThatCannotBeReadIsNoEmptyOne() throws {
        try withFolder { folder in
            let first = try Desk(folder)
            let id = try first.session(from: 1)
            first.ward.close()
            let (sessions, away) = (folder + "/sessions", folder + "/away")
            try FileManager.default.moveItem(atPath: sessions, toPath: away)
            #expect(FileManager.default.createFile(atPath: sessions, contents: nil))
            #expect(throws: (any Error).self) { try Ward(Ward.Options(folder: folder)) }
            try FileManager.default.removeItem(atPath: sessions)
            try FileManager.default.moveItem(atPath: away, toPath: sessions)
            #expect(try Desk(folder).ward.ids == [id])
        }
    }

    /// Whoever asked hears that it is there still, and it goes on by itself where the disk takes something again.
    @Test func whatCannotBeDeletedStaysAndGoesOn() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 1)
            let digest = desk.answer("GET", "/api/sessions/\(id)").json["digest"] as? String
            let refused = try asNobody(seeing: folder + "/sessions") {
                desk.answer("DELETE", "/api/sessions/\(id)")
            }
            #expect(refused.status >= 500, "\(refused.text)")
            func shown() -> [String: Any] { desk.answer("GET", "/api/sessions/\(id)").json }
            #expect(shown()["phase"] as? String == "failed")
            #expect((shown()["reason"] as? String)?.contains("could not be deleted") ?? false)
            #expect(FileManager.default.fileExists(atPath: desk.ward.journalPath(of: id)))
            desk.ward.goOnWhereThereIsRoom(at: 1_000_000_000)
            desk.ward.goOnWhereThereIsRoom(at: 62_000_000_000)
            for _ in 0..<600 where shown()["phase"] as? String != "running" { usleep(50_000) }
            #expect(shown()["digest"] as? String == digest)
            #expect(desk.answer("DELETE", "/api/sessions/\(id)").status == 204)
        }
    }

    /// A look touches no session: its digest and its number stay.
    @Test func looksChangeNothing() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session()
            let before = desk.answer("GET", "/api/sessions/\(id)").text
            for path in [
                "/", "/sessions/\(id)", "/sessions/\(id)/alerts", "/sessions/\(id)/settings",
                "/sessions/\(id)/timeline", "/subjects/\(id)/environment", "/sessions/\(id)/past?t=40000",
                "/api/sessions/\(id)/past?t=40000", "/api/sessions/\(id)/steps",
                "/api/sessions/\(id)/timeline",
                "/pages/\(id)/home/fragments", "/metrics", "/ns/\(id)/api/v1/entries.json",
            ] {
                #expect(desk.answer("GET", path).status == 200, "\(path)")
            }
            #expect(desk.answer("GET", "/api/sessions/\(id)").text == before)
        }
    }

    /// The past is the session as it stood then: what it shows now that it showed then.
    @Test func thePastIsWhatWasShownThen() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 10)
            let then = desk.answer("GET", "/api/sessions/\(id)")
            #expect(desk.tell(id, #"{"command":"target","mgdl":140}"#).status == 202)
            let past = desk.answer("GET", "/api/sessions/\(id)/past?t=36000")
            #expect(past.json["digest"] as? String == then.json["digest"] as? String)
            #expect((past.json["settings"] as? [String: Any])?["target_mgdl"] as? Double != 140)
            #expect(desk.answer("GET", "/api/sessions/\(id)/past?t=36100").status == 422)
            #expect(desk.answer("GET", "/api/sessions/\(id)/past").status == 422)
        }
    }

    @Test func aForkIsASessionOfItsOwnAndStandsBesideItsOriginal() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session()
            let fork = desk.answer(
                "POST", "/api/sessions/\(id)/forks",
                #"{"t":36000,"algorithm":"basal-bolus","name":"by hand"}"#)
            #expect(fork.status == 201)
            let other = try #require(fork.json["id"] as? String)
            let rows =
                desk.answer("GET", "/api/sessions/\(id)/compare/\(other)").json["rows"] as? [[String: Any]]
            #expect(rows?.contains { ($0["left"] as? Double) != ($0["right"] as? Double) } ?? false)
            #expect(desk.answer("GET", "/sessions/\(id)/beside/\(other)").status == 200)
            // It goes on without its original, after a restart too.
            #expect(desk.answer("DELETE", "/api/sessions/\(id)").status == 204)
            desk.ward.close()
            let again = try Desk(folder)
            #expect(again.tell(other, #"{"command":"target","mgdl":130}"#).status == 202)
            for body in [
                #"{"t":36000}"#, #"{"t":36000,"algorithm":"nothing"}"#,
                #"{"t":1e8,"algorithm":"basal-bolus"}"#,
                #"{"t":36000,"policy":"/etc/passwd"}"#, #"{"t":36000,"policy":"../x.yaml"}"#,
            ] {
                let refused = again.answer("POST", "/api/sessions/\(other)/forks", body)
                #expect((400..<500).contains(refused.status) && !refused.text.contains("root:"), "\(body)")
            }
            #expect(again.ward.ids == [other])
        }
    }
}
