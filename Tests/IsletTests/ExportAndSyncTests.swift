// `islet export` and `islet sync`: whole files or none, each step once, exit codes that scripts rely on.

import FaultyServer
import Foundation
import Testing

private let study = """
    study: logs
    duration: 12h
    cohort: { generate: { model: uva-padova-2008, count: 2 } }
    arms: [{ name: a, algorithm: basal-bolus }, { name: b, algorithm: pid-insulin-feedback }]

    """

/// A folder with a finished run in `out`.
private func withRun(_ overrides: [String] = [], _ body: (_ folder: String) throws -> Void) throws {
    try withFolder { folder in
        try write(study, to: folder + "/study.yaml")
        let run = try islet(
            ["run", folder + "/study.yaml", "--quiet", "--out", folder + "/out"]
                + overrides.flatMap { ["--set", $0] })
        #expect(run.status == 0, "\(run.error)")
        try body(folder)
    }
}

private func ids(_ folder: String) throws -> [String] {
    let lines = try islet("export", folder + "/out", "--format", "jsonl").output.split(separator: "\n")
    return lines.compactMap { $0.split(separator: "\"").dropFirst(3).first.map(String.init) }
}

/// Steps of each session, by the session's number in the id.
private func stepCounts(_ folder: String) throws -> [Int] {
    let sessions = try ids(folder).compactMap {
        $0.split(separator: "-").dropFirst().first.flatMap { Int($0) }
    }
    return (0...(sessions.max() ?? 0)).map { session in sessions.filter { $0 == session }.count }
}

@Suite struct ExportCommandTests {
    @Test func bothFormatsHaveEveryStepOfEverySession() throws {
        try withRun { folder in
            let csv = try islet("export", folder + "/out")
            #expect(csv.status == 0 && csv.error.isEmpty)
            // The first step waits for the first reading, and the last one may wait for one that the session's end forestalls:
            // 143 or 144 steps in 12 h, the same in both arms, 4 sessions, and the header.
            let steps = try stepCounts(folder)
            #expect(steps.count == 4 && steps.allSatisfy { (143...144).contains($0) })
            #expect(steps[0] == steps[1] && steps[2] == steps[3])
            let all = try ids(folder)
            #expect(Set(all).count == steps.reduce(0, +) && all.count == steps.reduce(0, +))
            #expect(csv.output.split(separator: "\n").count == all.count + 1)
            let file = try islet("export", folder + "/out", "--out", folder + "/steps.csv")
            #expect(file.status == 0 && file.output.isEmpty)
            #expect(try read(folder + "/steps.csv") == csv.output)
            #expect(
                try islet("export", folder + "/out", "--arm", "b").output.split(separator: "\n").count
                    == steps[1] + steps[3] + 1)
            let one = try islet("export", folder + "/out", "--session", "2", "--format", "jsonl")
            let lines = one.output.split(separator: "\n")
            #expect(lines.count == steps[2] && lines.allSatisfy { $0.contains(#""session":2,"#) })
        }
    }

    @Test func aResultsFolderIsNotOverwrittenAndAChangedOneIsNotBlessed() throws {
        try withRun { folder in
            let store = folder + "/out/study.sqlite"
            let before = try Data(contentsOf: URL(fileURLWithPath: store))
            let onto = try islet("export", folder + "/out", "--out", store)
            #expect(onto.status == 64)
            #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
            // A manifest that can't be read is found out before a byte is written.
            let manifest = try read(folder + "/out/manifest.json")
            try write("{", to: folder + "/out/manifest.json")
            let broken = try islet("export", folder + "/out", "--out", folder + "/steps.csv")
            #expect(broken.status == 65 && broken.output.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: folder + "/steps.csv"))
            try write(manifest, to: folder + "/out/manifest.json")
            // One byte of the store's application id, which SQLite itself does not care about.
            var changed = before
            changed[70] ^= 1
            try changed.write(to: URL(fileURLWithPath: store))
            let resumed = try islet(
                "run", folder + "/study.yaml", "--quiet", "--resume", "--out", folder + "/out")
            #expect(resumed.status == 65 && resumed.error.contains("has been changed"))
        }
    }

    @Test func theHelpNamesEveryColumn() throws {
        let header = try withFolder { folder in
            try write(study, to: folder + "/study.yaml")
            _ = try islet(
                "run", folder + "/study.yaml", "--quiet", "--out", folder + "/out", "--set", "duration=5m")
            return try islet("export", folder + "/out").output.split(separator: "\n")[0]
        }
        let help = try islet("export", "--help").output
        #expect(header.split(separator: ",").count > 60)
        for name in header.split(separator: ",") { #expect(help.contains(name), "\(name)") }
    }

    @Test func whatIsMissingOrUnknownLeavesNothing() throws {
        try withRun { folder in
            let out = ["--out", folder + "/steps.csv"]
            #expect(try islet(["export", folder + "/none"] + out).status == 66)
            #expect(try islet(["export", folder] + out).status == 66)
            let session = try islet(["export", folder + "/out", "--session", "4"] + out)
            #expect(session.status == 65 && session.error.contains("found no session 4, expected"))
            let arm = try islet(["export", folder + "/out", "--arm", "c"] + out)
            #expect(arm.status == 65 && arm.error.contains("found no arm c, expected one of a, b"))
            #expect(try islet(["export", folder + "/out", "--format", "xml"] + out).status == 64)
            #expect(try islet(["export", folder + "/out", "--session", "-1"] + out).status == 64)
            #expect(try islet(["export", folder + "/out", "--out", folder + "/no/steps.csv"]).status == 73)
            #expect(try islet(["export", folder + "/out", "--out", "/dev/full"]).status == 75)
            #expect(try names(in: folder) == ["out", "study.yaml"])
        }
    }

    @Test func sessionsThatAreNoLongerThoseOfTheFolderAreRefused() throws {
        try withFolder { folder in
            let table = folder + "/people.csv"
            func draw(_ seed: String) throws {
                let export = try islet(
                    "cohort", "export", "Cohorts/quickstart.yaml", "--set", "cohort.generate.count=2",
                    "--seed", seed,
                    "--out", table)
                #expect(export.status == 0)
            }
            try draw("1")
            try write(
                study.replacingOccurrences(
                    of: "generate: { model: uva-padova-2008, count: 2 }",
                    with: "table: people.csv, model: uva-padova-2008"), to: folder + "/study.yaml")
            #expect(try islet("run", folder + "/study.yaml", "--quiet", "--out", folder + "/out").status == 0)
            let export = [
                "export", folder + "/out", "--study", folder + "/study.yaml", "--out", folder + "/steps.csv",
            ]
            #expect(try islet(export).status == 0)
            try FileManager.default.removeItem(atPath: folder + "/steps.csv")
            // Others of the same names.
            try draw("2")
            let outcome = try islet(export)
            #expect(outcome.status == 1)
            #expect(outcome.error.hasPrefix("session 0: digest ") && outcome.error.contains("islet replay"))
            #expect(try names(in: folder) == ["out", "people.csv", "study.yaml"])
        }
    }

    @Test func anInterruptedExportLeavesNothing() throws {
        try withRun(["duration=8d"]) { folder in
            let process = try start("export", folder + "/out", "--out", folder + "/steps.csv")
            while process.isRunning, try !names(in: folder).contains(where: { $0.hasSuffix(".partial") }) {
                usleep(2000)
            }
            process.interrupt()
            let outcome = process.outcome()
            #expect(outcome.status == 75)
            #expect(outcome.error == "\(folder)/steps.csv: interrupted: nothing was written\n")
            #expect(try names(in: folder) == ["out", "study.yaml"])
        }
    }
}

@Suite struct SyncCommandTests {
    private let silence = ["--quiet", "--batch", "40"]

    @Test func everyStepArrivesOnceAndASecondSyncSendsNothing() throws {
        try withRun { folder in
            let server = try FaultyServer { number, _ in
                [.accepted, .acceptedButAnswerLost, .accepted, .refused(503), .accepted][number % 5]
            }
            let sync = ["sync", folder + "/out", "--to", server.url] + silence
            let first = try islet(sync)
            #expect(first.status == 0 && first.error.isEmpty)
            let all = try ids(folder)
            #expect(first.output.hasPrefix("\(server.url) has 4 sessions; \(all.count) steps sent now, "))
            #expect(server.kept == all)
            #expect(server.repeats > 0 && server.problems.isEmpty)
            let requests = server.arrivals.count
            let second = try islet(sync)
            #expect(second.status == 0 && second.output.contains(" 0 steps sent now, 0 requests repeated"))
            #expect(server.arrivals.count == requests)
            // What is sent is what is exported, and the results are still those of the run.
            let step = try #require(server.step(try ids(folder)[7]))
            #expect(step["arm"] as? String == "a" && step["algorithm_time"] as? Int == 7)
            #expect(try islet("export", folder + "/out", "--session", "1").status == 0)
        }
    }

    @Test func oneSessionAndThenTheRest() throws {
        try withRun { folder in
            let server = try FaultyServer()
            let sync = ["sync", folder + "/out", "--to", server.url] + silence
            #expect(try islet(sync + ["--session", "2"]).status == 0)
            let all = try ids(folder)
            let third = all.filter { $0.split(separator: "-").dropFirst().first == "2" }
            #expect(third.count >= 143 && server.kept == third)
            #expect(try islet(sync).status == 0)
            #expect(server.kept == third + all.filter { !third.contains($0) })
            #expect(server.repeats == 0)
            #expect(try islet(sync + ["--session", "4"]).status == 65)
        }
    }

    @Test func aKilledSyncGoesOn() throws {
        try withRun { folder in
            // Every sixth request finds a server that keeps the steps and never says so.
            let server = try FaultyServer { number, _ in number % 6 == 5 ? .acceptedButSilent : .accepted }
            let sync = ["sync", folder + "/out", "--to", server.url] + silence
            var kills = 0
            while true {
                let before = server.arrivals.count
                let process = try start(sync)
                while process.isRunning {
                    let count = server.arrivals.count
                    if count > before, count % 6 == 0 {
                        process.kill()
                        kills += 1
                        break
                    }
                    usleep(1000)
                }
                let outcome = process.outcome()
                if outcome.status == 0 { break }
                #expect(outcome.status == SIGKILL)
                try #require(kills < 30)
            }
            #expect(kills > 1)
            #expect(try server.kept == ids(folder))
            #expect(server.repeats > 0 && server.problems.isEmpty)
        }
    }

    /// Harm: a program that waits for a slow server empties a battery, and takes a core from those who compute.
    @Test func whoeverAwaitsAnAnswerComputesNothing() throws {
        try withRun { folder in
            let server = try FaultyServer { _, _ in .acceptedButSilent }
            let process = try start(["sync", folder + "/out", "--to", server.url] + silence)
            while process.isRunning, server.arrivals.isEmpty { usleep(1000) }
            let before = try process.processorSeconds()
            sleep(3)
            let spent = try process.processorSeconds() - before
            #expect(process.isRunning && server.arrivals.count == 1)
            #expect(spent < 0.3, "\(spent) s of 3")
            process.kill()
            _ = process.outcome()
        }
    }

    /// Whatever stands first on the way of libraries under its name is no libcurl.
    @Test func withoutLibcurlOneLineSaysWhatToInstall() throws {
        try withRun { folder in
            try FileManager.default.createDirectory(
                atPath: folder + "/libraries", withIntermediateDirectories: true)
            try write("none", to: folder + "/libraries/libcurl.so.4")
            let server = try FaultyServer()
            let lacking = try islet(
                ["sync", folder + "/out", "--to", server.url] + silence,
                environment: ["LD_LIBRARY_PATH": folder + "/libraries"])
            #expect(lacking.status == 66 && lacking.output.isEmpty)
            #expect(
                lacking.error
                    == "--to: found no way to a server, expected libcurl.so.4 of 7.68 or later, which Debian has in libcurl4\n"
            )
            #expect(server.arrivals.isEmpty)
        }
    }

    @Test func oneLineAndAnExitCodeSayWhatWentWrong() throws {
        try withRun { folder in
            let secret = "secret-token-1"
            try write(secret + "\n", to: folder + "/token.txt")
            try write("two words\n", to: folder + "/bad.txt")
            let server = try FaultyServer { _, arrival in
                arrival.path.hasPrefix("/down") ? .refused(503) : .refused(401, body: "not with \(secret)")
            }
            let sync = ["sync", folder + "/out", "--quiet", "--to"]
            let refused = try islet(sync + [server.url, "--token-file", folder + "/token.txt"])
            #expect(refused.status == 65 && !refused.error.contains(secret))
            #expect(
                refused.error
                    == "\(server.url): found HTTP 401 (not with [token]), expected an endpoint that takes these steps\n"
            )
            #expect(server.arrivals.last?.headers["authorization"] == "Bearer " + secret)
            let down = try islet(
                sync + ["http://127.0.0.1:\(server.port)/down?key=\(secret)", "--attempts", "2"])
            #expect(down.status == 75)
            #expect(
                down.error
                    == "http://127.0.0.1:\(server.port)/down: HTTP 503, 2 times in a row; the same command goes on\n"
            )
            #expect(server.arrivals.last?.headers["authorization"] == nil)
            let fromVariable = try islet(sync + [server.url], environment: ["ISLET_SYNC_TOKEN": "other-2"])
            #expect(fromVariable.status == 65)
            #expect(server.arrivals.last?.headers["authorization"] == "Bearer other-2")
            let bad = try islet(sync + [server.url, "--token-file", folder + "/bad.txt"])
            #expect(
                bad.status == 65 && bad.error.hasPrefix(folder + "/bad.txt: found ")
                    && !bad.error.contains("words"))
            #expect(try islet(sync + [server.url, "--token-file", folder + "/none.txt"]).status == 66)
            #expect(try islet("sync", folder + "/none", "--to", server.url).status == 66)
            for usage in [["ftp://a/b"], ["http://me:word@a/b"], [server.url, "--batch", "0"]] {
                #expect(try islet(sync + usage).status == 64)
            }
            let arrived = server.arrivals.count
            for url in [
                "http://", "http:///x", "http://127.0.0.1:0/", "http://127.0.0.1:65536/", "https://[::1]:x/",
            ] {
                let impossible = try islet(sync + [url])
                #expect(impossible.status == 65, "\(url): \(impossible.status)")
                #expect(
                    impossible.error.hasPrefix("--to: found \(url)")
                        && impossible.error.split(separator: "\n").count == 1, "\(impossible.error)")
                #expect(impossible.output.isEmpty && server.arrivals.count == arrived)
            }
        }
    }

    @Test func aSecondSyncIsRefusedAndAnInterruptedOneSaysHowToGoOn() throws {
        try withRun { folder in
            let server = try FaultyServer { number, _ in number == 2 ? .acceptedButSilent : .accepted }
            let sync = ["sync", folder + "/out", "--to", server.url] + silence
            let process = try start(sync)
            while process.isRunning, server.arrivals.count < 3 { usleep(1000) }
            let second = try islet(sync)
            #expect(second.status == 75 && second.error.hasSuffix(".sqlite: another sync is at work\n"))
            process.interrupt()
            let outcome = process.outcome()
            #expect(outcome.status == 75)
            #expect(outcome.error == "\(server.url): interrupted; the same command goes on\n")
            #expect(try islet(sync).status == 0)
            #expect(try server.kept == ids(folder))
        }
    }
}
