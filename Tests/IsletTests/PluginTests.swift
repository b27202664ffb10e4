import Foundation
import Testing

/// Algorithms that are programs of somebody's own: what goes well, and forty ways to be wrong. They need python3.
@Suite struct PluginTests {
    private static let arm = "{ python: \(project.path())Python/examples/pid.py }"
    private static let wrong = "\(project.path())Tests/Plugins/wrong.py"

    private func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "islet-plugin-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    private func study(_ folder: URL, _ algorithm: String, _ more: String = "", name: String = "study") throws
        -> String
    {
        let path = folder.appending(path: name + ".yaml").path()
        try """
        duration: 1d
        cohort: { generate: { count: 5 } }
        \(more)
        arms: [{ name: a, algorithm: \(algorithm), alerts: bionicloop }]
        """.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func digest(_ outcome: Outcome) throws -> String {
        try #require(outcome.status == 0, "\(outcome.error)")
        return String(try #require(outcome.output.split(separator: "\n").first { $0.hasPrefix("digest") }))
    }

    private func run(_ study: String, _ out: URL, _ more: String...) throws -> Outcome {
        try islet(["run", study, "--no-report", "--allow-algorithm", "--out", out.path()] + more)
    }

    private static let faults =
        "faults: { signal-loss: true, pump-outage: true, pod-fault: true, command-failure: true, uncertain-delivery: true, app-quit: true }"

    @Test func thePIDInPythonGivesTheDosesOfTheOneInSwiftWhoeverRunsIt() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let swift = try study(folder, "pid-insulin-feedback", Self.faults, name: "swift")
        let python = try study(folder, Self.arm, Self.faults, name: "python")
        let wanted = try digest(run(swift, folder.appending(path: "0")))
        for jobs in ["1", "2", "9"] {
            #expect(
                try digest(run(python, folder.appending(path: jobs), "--jobs", jobs)) == wanted,
                "\(jobs) workers")
        }
        let verified = try islet(
            "verify", folder.appending(path: "9").path(), "--quiet", "--allow-algorithm")
        #expect(verified.status == 0, "\(verified.output)\(verified.error)")
        let replayed = try islet(
            "replay", folder.appending(path: "9").path(), "--session", "3", "--allow-algorithm")
        #expect(replayed.status == 0 && replayed.output.contains("as stored"), "\(replayed.error)")
        let listed = try islet(
            "alerts", "explain", folder.appending(path: "9").path(), "--session", "3", "--list",
            "--allow-algorithm")
        #expect(listed.status == 0 && listed.output.contains("equal to the stored one"), "\(listed.error)")
    }

    /// mine.py, of which a process serves a group, and each person has an object.
    @Test func aGroupHasOneDigestOverWorkersAndShardsAndAlone() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = try String(
            contentsOf: project.appending(path: "Python/examples/mine.py"), encoding: .utf8)
        try text.replacingOccurrences(of: "    gain =", with: "    runs = \"together\"\n    gain =").write(
            to: folder.appending(path: "together.py"), atomically: true, encoding: .utf8)
        let alone = try study(folder, "{ python: \(project.path())Python/examples/mine.py }", name: "alone")
        let group = try study(folder, "{ python: together.py, group: 2 }")
        let wanted = try digest(run(alone, folder.appending(path: "alone")))
        #expect(try digest(run(group, folder.appending(path: "1"), "--jobs", "1")) == wanted)
        #expect(try digest(run(group, folder.appending(path: "9"), "--jobs", "9")) == wanted)
        var shards: [String] = []
        for part in 1...3 {
            let out = folder.appending(path: "shard\(part)")
            #expect(try run(group, out, "--quiet", "--shard", "\(part)/3").status == 0)
            shards.append(out.path())
        }
        let merged = folder.appending(path: "merged").path()
        #expect(try digest(islet(["merge"] + shards + ["--out", merged])) == wanted)
        let verified = try islet("verify", merged, "--quiet", "--allow-algorithm")
        #expect(verified.status == 0, "\(verified.output)\(verified.error)")
    }

    /// Harm: a plan that was registered counts as none, as the study "is another one".
    @Test func aStudyWithAProgramOfOnesOwnIsRegisteredByWhatTheProgramIs() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let own = folder.appending(path: "own.py")
        try FileManager.default.copyItem(at: project.appending(path: "Python/examples/mine.py"), to: own)
        let study = try study(folder, "{ python: own.py }")
        #expect(try islet("register", study).status == 0)
        let out = folder.appending(path: "out")
        let ran = try run(study, out, "--plan", folder.appending(path: "study.plan.json").path())
        #expect(ran.status == 0, "\(ran.error)")
        let manifest = try String(contentsOf: out.appending(path: "manifest.json"), encoding: .utf8)
        #expect(manifest.contains("\"registered\": true"), "\(manifest.prefix(3000))")
        let verified = try islet(
            "verify", out.path(), "--quiet", "--allow-algorithm", "--plan",
            folder.appending(path: "study.plan.json").path())
        #expect(verified.status == 0, "\(verified.output)\(verified.error)")
        // Another program is another study.
        try (String(contentsOf: own, encoding: .utf8) + "\n").write(
            to: own, atomically: true, encoding: .utf8)
        let other = try run(
            study, folder.appending(path: "other"), "--plan", folder.appending(path: "study.plan.json").path()
        )
        #expect(other.status == 65, "\(other.error)")
    }

    /// Harm: sessions of two versions stand as one study's, by a version that half of them never had.
    @Test func sessionsOfTwoVersionsOfAProgramAreNeitherJoinedNorGoneOnWith() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = try String(
            contentsOf: project.appending(path: "Python/examples/mine.py"), encoding: .utf8)
        let changed = text.replacingOccurrences(of: "\"mine\", 1,", with: "\"mine\", helper.VERSION,")
        try #require(changed != text)
        try ("import helper\n" + changed).write(
            to: folder.appending(path: "own.py"), atomically: true, encoding: .utf8)
        func version(_ number: Int) throws {
            try "VERSION = \(number)\n".write(
                to: folder.appending(path: "helper.py"), atomically: true, encoding: .utf8)
        }
        let study = try study(folder, "{ python: own.py }")
        let (one, two) = (folder.appending(path: "1"), folder.appending(path: "2"))
        try version(1)
        #expect(try run(study, one, "--quiet", "--shard", "1/2").status == 0)
        let same = folder.appending(path: "same")
        #expect(try run(study, same, "--quiet", "--shard", "2/2").status == 0)
        try version(2)
        #expect(try run(study, two, "--quiet", "--shard", "2/2").status == 0)
        let out = folder.appending(path: "out").path()
        let refused = try islet("merge", one.path(), two.path(), "--out", out)
        #expect(refused.status == 65 && refused.error.contains("version 2"), "\(refused.error)")
        let resumed = try run(study, one, "--quiet", "--shard", "1/2", "--resume")
        #expect(resumed.status == 65 && resumed.error.contains("version 1"), "\(resumed.error)")
        // Of one version the joined folder says which.
        #expect(try islet("merge", one.path(), same.path(), "--out", out).status == 0)
        let manifest = try String(contentsOfFile: out + "/manifest.json", encoding: .utf8)
        #expect(manifest.contains("\"algorithms\""), "\(manifest.prefix(3000))")
        let verified = try islet("verify", out, "--allow-algorithm", "--session", "3")
        #expect(
            verified.status == 1 && verified.output.contains("the algorithms here are"), "\(verified.output)")
    }

    /// Whoever is heard first is the first group's; each group after it, of the same name, starts one of its own.
    @Test func aGroupStartsItsProgramOnce() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let mark = folder.appending(path: "starts")
        let text = try String(
            contentsOf: project.appending(path: "Python/examples/mine.py"), encoding: .utf8)
        try "open('\(mark.path())', 'a').write('x')\n".appending(text)
            .replacingOccurrences(of: "    gain =", with: "    runs = \"together\"\n    gain =")
            .write(to: folder.appending(path: "mine.py"), atomically: true, encoding: .utf8)
        for (group, starts) in [(5, "x"), (2, "xxx")] {
            try? FileManager.default.removeItem(at: mark)
            let path = try study(folder, "{ python: mine.py, group: \(group) }")
            _ = try digest(run(path, folder.appending(path: "out\(group)"), "--jobs", "1"))
            #expect(try String(contentsOf: mark, encoding: .utf8) == starts, "groups of \(group)")
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/cc")))
    func aLibraryInCGivesTheDosesOfTheClassInPython() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try Self.compile("C/examples/mine.c", to: folder.appending(path: "mine.so").path())
        let python = try study(
            folder, "{ python: \(project.path())Python/examples/mine.py, gain: 0.4 }", name: "python")
        let library = try study(folder, "{ library: mine.so, gain: 0.4 }")
        let wanted = try digest(run(python, folder.appending(path: "python")))
        #expect(try digest(run(library, folder.appending(path: "c"))) == wanted)
        let checked = try islet("algorithm", "check", folder.appending(path: "mine.so").path())
        #expect(
            checked.status == 0 && checked.output.contains("the same bits in groups of 100"),
            "\(checked.error)")
    }

    static func compile(_ source: String, to library: String) throws {
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/cc")
        compiler.currentDirectoryURL = project
        compiler.arguments = [
            "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-I", "C", "-o",
            library, source, "-lm",
        ]
        try compiler.run()
        compiler.waitUntilExit()
        #expect(compiler.terminationStatus == 0)
    }

    /// 10 080 steps of five people, with faults: each dose and forecast of each port is the built-in's to the bit, and so is the study's digest.
    @Test(
        .enabled(
            if: ["/usr/bin/cc", "/usr/bin/node"].allSatisfy(FileManager.default.isExecutableFile(atPath:))))
    func portsOfThePIDGiveItsDosesToTheBit() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = folder.appending(path: "pid.so").path()
        try Self.compile("C/examples/pid.c", to: library)
        let script = "\(project.path())Python/examples/pid.js"
        let swift = try study(folder, "pid-insulin-feedback", Self.faults, name: "swift")
        let out = folder.appending(path: "swift")
        let wanted = try digest(run(swift, out, "--set", "duration=7d"))
        for (name, arm) in [
            ("process", "{ library: \(library) }"), ("inside", "{ library: \(library), inProcess: true }"),
            ("node", "{ command: [node, \(script)] }"),
        ] {
            let own = try study(folder, arm, Self.faults, name: name)
            #expect(
                try digest(run(own, folder.appending(path: name), "--set", "duration=7d")) == wanted,
                "\(name)")
        }
        let manifest = try String(
            contentsOf: folder.appending(path: "inside/manifest.json"), encoding: .utf8)
        #expect(manifest.contains("\"in process\""))
        for program in [[library], [library, "--in-process"], ["node", script]] {
            var steps = 0
            for session in 0..<5 {
                let replayed = try islet(
                    ["algorithm", "replay", out.path(), "--session", "\(session)"] + program)
                #expect(
                    replayed.status == 0 && replayed.output.contains("all equal to the bit"),
                    "\(replayed.output)\(replayed.error)")
                steps += Int(replayed.output.split(separator: " ").dropFirst().first ?? "") ?? 0
            }
            #expect(steps > 10_000)
        }
        let other = try islet(
            "algorithm", "replay", out.path(), "--session", "0", library, "--set", "kp=0.26", "--most", "2")
        #expect(other.status == 1 && other.error.contains("steps of session 0 differ"), "\(other.error)")
        #expect(other.output.split(separator: "\n").count == 2 && other.output.contains(" then, "))
    }

    /// Written by the pages alone, in another language: it asks for the doses of the ten lines in Python.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/perl")))
    func aSecondReaderOfTheProtocolGivesTheSameDoses() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let python = try study(
            folder, "{ python: \(project.path())Python/examples/mine.py }", Self.faults, name: "python")
        let reader = "\(project.path())Tests/Plugins/reader.pl"
        let perl = try study(folder, "{ command: [perl, \(reader)], group: 3 }", Self.faults, name: "perl")
        let wanted = try digest(run(python, folder.appending(path: "python")))
        #expect(try digest(run(perl, folder.appending(path: "perl"))) == wanted)
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/cc")))
    func onlyALibraryIsLoadedByTheRun() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let python = try study(
            folder, "{ python: \(project.path())Python/examples/mine.py, inProcess: true }")
        let refused = try run(python, folder.appending(path: "out"))
        #expect(
            refused.status == 65 && refused.error.contains("`inProcess` only beside `library`"),
            "\(refused.error)")
        try "int islet_nothing;".write(
            to: folder.appending(path: "no.c"), atomically: true, encoding: .utf8)
        try Self.compile(
            folder.appending(path: "no.c").path(), to: folder.appending(path: "no.so").path())
        let none = try run(
            try study(folder, "{ library: no.so, inProcess: true }"), folder.appending(path: "out"))
        #expect(none.status == 65 && none.error.contains("no `islet_algorithm`"), "\(none.error)")
    }

    /// Up to so many are kept, as ended early; one more, and there is no table.
    @Test func whatIsToleratedHasEndedEarly() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = try String(contentsOf: project.appending(path: "Python/examples/mine.py"), encoding: .utf8)
        try text.replacingOccurrences(
            of: "        rate = s.therapy.basal\n",
            with: """
                        rate = s.therapy.basal
                        import os
                        if s.subject[-1] in "24" and s.step == 50: os._exit(9)

                """
        ).write(to: folder.appending(path: "mine.py"), atomically: true, encoding: .utf8)
        let one = try run(
            try study(folder, "{ python: mine.py }", "tolerate: 1"), folder.appending(path: "one"))
        #expect(
            one.status == 1 && one.error.contains("2 of 5 sessions failed")
                && one.error.contains("more than `tolerate: 1`"), "\(one.error)")
        let path = try study(folder, "{ python: mine.py }", "tolerate: 2", name: "two")
        let out = folder.appending(path: "two")
        let two = try run(path, out)
        #expect(two.status == 0 && two.error.contains("2 of 5 sessions failed"), "\(two.error)")
        #expect(two.error.contains("exit code 9") && two.error.contains("count as ended early"))
        let rows = try String(contentsOf: out.appending(path: "sessions.csv"), encoding: .utf8)
        #expect(rows.split(separator: "\n").filter { $0.contains("exit code 9") }.count == 2, "\(rows)")
        let verified = try islet("verify", out.path(), "--quiet", "--allow-algorithm")
        #expect(verified.status == 0, "\(verified.output)\(verified.error)")
        #expect(try digest(run(path, folder.appending(path: "again"), "--jobs", "2")) == digest(two))
        // Beside one that fails nobody it has lost two: no bound is kept by that.
        try text.write(to: folder.appending(path: "whole.py"), atomically: true, encoding: .utf8)
        let whole = folder.appending(path: "whole")
        #expect(try run(try study(folder, "{ python: whole.py }", name: "whole"), whole).status == 0)
        let compared = try islet("compare", whole.path(), out.path())
        #expect(
            compared.output.contains("ended early: 0 in A, 2 in B"), "\(compared.output)\(compared.error)")
        let none = try islet("compare", whole.path(), whole.path())
        #expect(none.status == 0 && !none.output.contains("ended early"), "\(none.output)")
    }

    /// A class of ten lines with something more in its step, or before it.
    private func mine(_ folder: URL, step: String, before: String = "", name: String = "mine") throws {
        let text = try String(contentsOf: project.appending(path: "Python/examples/mine.py"), encoding: .utf8)
        let first = "        rate = s.therapy.basal\n"
        #expect(text.contains(first))
        try ("import os, sys, time\n" + text).replacingOccurrences(
            of: first, with: "        \(step)\n\(first)"
        )
        .replacingOccurrences(of: "class Mine", with: before + "class Mine")
        .write(to: folder.appending(path: name + ".py"), atomically: true, encoding: .utf8)
    }

    /// One person's step ends the program of all: alone nobody else comes to that end.
    @Test func aGroupThatIsToleratedIsVerifiedAsOne() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try mine(
            folder, step: "if s.subject[-1] == '2' and s.step == 50: os._exit(9)")
        let path = folder.appending(path: "mine.py")
        try String(contentsOf: path, encoding: .utf8)
            .replacingOccurrences(of: "    gain =", with: "    runs = \"together\"\n    gain =")
            .write(to: path, atomically: true, encoding: .utf8)
        let out = folder.appending(path: "out")
        let ran = try run(try study(folder, "{ python: mine.py, group: 3 }", "tolerate: 3"), out)
        #expect(ran.status == 0 && ran.error.contains("3 of 5 sessions failed"), "\(ran.error)")
        let verified = try islet("verify", out.path(), "--quiet", "--allow-algorithm")
        #expect(verified.status == 0, "\(verified.output)\(verified.error)")
        // What is otherwise is found as ever.
        try mine(folder, step: "if s.subject[-1] == '2' and s.step == 51: os._exit(9)")
        let changed = try islet("verify", out.path(), "--quiet", "--allow-algorithm")
        #expect(changed.status != 0)
    }

    /// What a session may print is its own: a process serves one after the other, and how many hangs on the workers.
    @Test func whatIsPrintedCountsForOneSession() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try mine(folder, step: "sys.stderr.write('x' * 2000 + chr(10))")
        let quiet = try run(
            try study(folder, "{ python: mine.py }"), folder.appending(path: "out"), "--jobs", "1")
        #expect(quiet.status == 0, "\(quiet.error.suffix(2000))")
        try mine(folder, step: "sys.stderr.write('x' * 4000 + chr(10))")
        let loud = try run(
            try study(folder, "{ python: mine.py }"), folder.appending(path: "loud"), "--jobs", "1")
        #expect(loud.status == 1 && loud.error.contains("more than 1 MiB on standard error"))
        // Nor has a step that fails, each time, said too much.
        try mine(folder, step: "raise ValueError('never')")
        let failing = try study(folder, "{ python: mine.py }")
        let text = try String(contentsOfFile: failing, encoding: .utf8)
        try text.replacingOccurrences(of: "duration: 1d", with: "duration: 14d")
            .write(toFile: failing, atomically: true, encoding: .utf8)
        let failed = try run(failing, folder.appending(path: "failing"), "--jobs", "1")
        #expect(failed.status == 0, "\(failed.error.suffix(2000))")
    }

    /// What a fork shares with who made it is there once.
    @Test func whatIsLoadedOnceCountsOnce() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try mine(folder, step: "pass", before: "MODEL = b'x' * (130 << 20)\n\n\n")
        let path = try study(folder, "{ python: mine.py, memory: 200 }")
        let ran = try run(path, folder.appending(path: "out"), "--jobs", "1")
        #expect(ran.status == 0, "\(ran.error.suffix(2000))")
        try mine(folder, step: "pass", before: "MODEL = b'x' * (230 << 20)\n\n\n")
        let more = try run(path, folder.appending(path: "more"), "--jobs", "1")
        #expect(more.status != 0 && more.error.contains("more than 200"), "\(more.error.suffix(2000))")
    }

    /// It has not answered, however well it left.
    @Test(arguments: ["sys.exit()", "sys.exit(0)", "os._exit(0)"])
    func whoLeavesInAStepHasFailed(_ words: String) throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try mine(folder, step: "if s.step == 50 and s.subject[-1] == '2': \(words)")
        let ran = try run(
            try study(folder, "{ python: mine.py, timeout: 100s }"), folder.appending(path: "out"))
        #expect(ran.status == 1 && ran.error.contains("1 of 5 sessions failed"), "\(ran.error)")
        #expect(ran.error.contains("left with exit code 0"), "\(ran.error)")
    }

    /// The others would live for hours, a worker fewer, before anybody heard of it.
    @Test func oneThatTakesTooLongEndsTheRunWithWhatIsUnderWay() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let begun = folder.appending(path: "begun").path()
        try mine(
            folder,
            step: """
                if s.step == 0: open('\(begun)', 'a').write('x')
                        time.sleep(1000 if s.subject[-1] == '1' else 0.03)
                """)
        let path = try study(folder, "{ python: mine.py, timeout: 5s }")
        let ran = try run(path, folder.appending(path: "out"), "--jobs", "2")
        #expect(ran.status == 75 && ran.error.contains("within 5 s"), "\(ran.error)")
        // What is said to go on with is let run.
        #expect(ran.error.contains("--resume --allow-algorithm"), "\(ran.error)")
        #expect(try String(contentsOfFile: begun, encoding: .utf8) == "xx")
    }

    /// Two arms that ask one program: what failed is told once, of both. Their pilot can be asked how many people a difference takes.
    @Test func whatFailedIsToldOnceOfArmsThatShareAProgram() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try mine(folder, step: "if s.subject[-1] == '2' and s.step == 50: raise ValueError('never')")
        let path = folder.appending(path: "two.yaml").path()
        try """
        duration: 2d
        cohort: { generate: { count: 12 } }
        arms:
          - { name: a, algorithm: { python: mine.py }, alerts: bionicloop }
          - { name: b, algorithm: { python: mine.py }, alerts: dexcom-g7 }
        compare: { reference: a }
        """.write(toFile: path, atomically: true, encoding: .utf8)
        let out = folder.appending(path: "out")
        let ran = try run(path, out)
        #expect(ran.status == 0, "\(ran.error)")
        let told = ran.error.split(separator: "\n").filter { $0.contains("its algorithm failed in") }
        #expect(told.count == 1, "\(ran.error)")
        #expect(told.first?.hasPrefix("a, b: its algorithm failed in 4 steps") == true, "\(told)")
        // Two people of twelve, a step of 576 each: it stands in every result, not beside the run alone.
        #expect(
            ran.output.contains(
                "the algorithm failed, and gave nothing, in 0.0289 % of steps of a, 0.0289 % of"),
            "\(ran.output)")
        #expect(try islet(["report", out.path(), "--allow-algorithm"]).status == 0)
        let page = try String(contentsOf: out.appending(path: "report.html"), encoding: .utf8)
        #expect(page.contains("The algorithm failed, and gave nothing") && page.contains("0.0289"))
        let power = ["power", out.path(), "--metric", "alerts_raised_per_day", "--difference", "5"]
        #expect(try islet(power).status == 65)
        let allowed = try islet(power + ["--allow-algorithm"])
        #expect(allowed.status == 0, "\(allowed.error)")
    }

    /// Draws of an undone step are undone, as all else of it.
    @Test func whoDrawsIsTheSameAfterAnUndoneStep() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try mine(folder, step: "luck = self.person.random.random()", name: "drawn")
        let path = folder.appending(path: "drawn.py")
        try String(contentsOf: path, encoding: .utf8)
            .replacingOccurrences(of: "max(0, rate)", with: "max(0, rate) * (0.9 + 0.1 * luck)")
            .write(to: path, atomically: true, encoding: .utf8)
        let checked = try islet("algorithm", "check", path.path())
        #expect(checked.status == 0, "\(checked.error)")
    }

    /// One whose answer hangs on who else is asked.
    @Test func aProgramThatCompanyChangesIsFound() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try """
        import islet.algorithm as ia
        count = 0
        class Company(ia.Algorithm):
            name, runs = "company", "together"
            def step(self, s):
                global count
                count += 1
                return ia.Dose(basal=s.therapy.basal / 12 * (1 + 1e-16 * (count % 7) * 4))
        ia.serve(Company)
        """.write(to: folder.appending(path: "company.py"), atomically: true, encoding: .utf8)
        let checked = try islet("algorithm", "check", folder.appending(path: "company.py").path())
        #expect(
            checked.status == 1 && checked.error.contains("in another order"),
            "\(checked.error)\(checked.output)"
        )
        #expect(checked.error.contains("of 64 differs first"), "\(checked.error)")
    }

    /// Whether the Python that `python:` starts has NumPy.
    /// Whether `python3` of the programs of these tests has a NumPy whose products hang on their size: plain BLAS adds row by row, and has the same bits.
    private static let productsHangOnSize: Bool = {
        let python = Process()
        python.executableURL = URL(filePath: "/usr/bin/env")
        python.environment = ["PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"]
        python.arguments = [
            "python3", "-c",
            """
            import sys, numpy as np
            a, b = np.random.default_rng(1).normal(size=(100, 64)), np.random.default_rng(2).normal(size=(64, 64))
            sys.exit(all(np.array_equal(a[:n] @ b, (a @ b)[:n]) for n in (1, 3, 99)))
            """,
        ]
        python.standardError = FileHandle.nullDevice
        guard (try? python.run()) != nil else { return false }
        python.waitUntilExit()
        return python.terminationStatus == 0
    }()

    /// The network of the examples as somebody would write it who picks those that are asked: the product's size hangs on company.
    @Test(.enabled(if: productsHangOnSize))
    func aMatrixProductOfThoseWhoAreAskedIsFoundBySizeAndBit() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let whole = project.appending(path: "Python/examples/network.py")
        let kept = try islet("algorithm", "check", whole.path())
        #expect(kept.status == 0 && kept.output.contains("the same bits in groups of 100"), "\(kept.error)")
        let text = try String(contentsOf: whole, encoding: .utf8)
        let product = "        hidden = np.tanh(np.tanh(state[\"last\"] @ self.first) @ self.second)\n"
        #expect(text.contains(product))
        try text.replacingOccurrences(
            of: product,
            with: """
                        hidden = np.zeros((len(rows), 64))
                        hidden[asked] = np.tanh(np.tanh(state["last"][asked] @ self.first) @ self.second)

                """
        ).write(to: folder.appending(path: "picks.py"), atomically: true, encoding: .utf8)
        let checked = try islet("algorithm", "check", folder.appending(path: "picks.py").path())
        #expect(checked.status == 1, "\(checked.output)")
        #expect(
            ["in groups of 99", "in groups of 3", "in groups of 1"].contains {
                checked.error.contains("asked \($0), ")
            },
            "\(checked.error)")
        #expect(
            checked.error.contains("than in groups of 100") && checked.error.contains("of 64 differs first"),
            "\(checked.error)")
    }

    @Test func nothingIsStartedUnasked() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let mark = folder.appending(path: "started")
        try "import os; open('\(mark.path())', 'w').close(); os.abort()".write(
            to: folder.appending(path: "bad.py"), atomically: true, encoding: .utf8)
        let path = try study(folder, "{ python: bad.py }")
        #expect(try islet("study", "check", path).status == 0)
        let refused = try islet("run", path, "--out", folder.appending(path: "out").path())
        #expect(refused.status == 65 && refused.error.contains("--allow-algorithm"), "\(refused.error)")
        #expect(!FileManager.default.fileExists(atPath: mark.path()))
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "out").path()))
        let good = try study(folder, Self.arm, name: "good")
        let out = folder.appending(path: "good")
        #expect(try run(good, out, "--quiet").status == 0)
        let verified = try islet("verify", out.path(), "--quiet")
        #expect(verified.status == 1 && verified.output.contains("--allow-algorithm"), "\(verified.output)")
        #expect(try islet("replay", out.path(), "--session", "0").status == 65)
    }

    @Test func anotherFileUnderItsNameIsRefused() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "mine.py")
        try FileManager.default.copyItem(at: project.appending(path: "Python/examples/mine.py"), to: file)
        let path = try study(folder, "{ python: mine.py }")
        let out = folder.appending(path: "out")
        #expect(try run(path, out, "--quiet").status == 0)
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("# another\n".utf8))
        try handle.close()
        let verified = try islet("verify", out.path(), "--quiet", "--allow-algorithm")
        #expect(verified.status == 1 && verified.output.contains("another file than"), "\(verified.output)")
    }

    @Test(arguments: [
        ("gain: 9", "a number from 0 to 5"), ("gian: 1", "nearest: `gain`"), ("group: 0", "from 1 to 1000"),
        ("gain: much", "a number"), ("sha256: abc", "64 hexadecimal digits"),
    ])
    func aParameterThatItDoesNotHaveIsRefusedWithItsLine(_ words: String, _ expected: String) throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try study(folder, "{ python: \(project.path())Python/examples/mine.py, \(words) }")
        let outcome = try run(path, folder.appending(path: "out"))
        #expect(outcome.status == 65 && outcome.error.contains(expected), "\(outcome.error)")
        #expect(outcome.error.contains("study.yaml:4"), "\(outcome.error)")
    }

    /// Ends of the run, and a word of the cause.
    private static let ends: [(how: String, status: Int32, word: String)] = [
        ("import-error", 65, "nothing_of_this_name"), ("exit-before-ready", 65, "I am not ready"),
        ("sleeps-before-ready", 65, "no `ready` within 2 s"), ("other-protocol", 65, "islet-step/2"),
        ("no-json", 65, "hello, world"), ("runs-somehow", 65, "neither alone nor together"),
        ("default-out-of-range", 65, "a default between them"), ("other-encoding", 65, "morse"),
        ("endless-line", 65, "a line without an end"), ("frame-crc", 1, "CRC is wrong"),
        ("frame-magic", 1, "ISL2"), ("frame-4-gib", 1, "4294967295 bytes"),
        ("frame-kind", 1, "unknown kind 99"),
        ("frame-rows", 1, "3 rows"), ("frame-step", 1, "only Islet sends"),
        ("frame-text", 1, "glucose is 120"),
        ("infinity", 1, "1e999"), ("twice", 1, "step 9"), ("none", 1, "0 doses for 1 steps"),
        ("two-answers", 1, "behind the answer"), ("unknown-key", 1, "basall"),
        ("no-handle", 1, "without `handle`"),
        ("text-dose", 1, "no number"), ("half-json", 1, "no JSON"), ("print", 1, "DEBUG: glucose"),
        ("deep", 1, "levels"), ("exit-0", 1, "exit code 0"), ("exit-3", 1, "giving up"),
        ("segfault", 1, "SIGSEGV"), ("in-the-middle", 1, "in the middle of an answer"),
        ("closes-stdout", 1, "closed its standard output"), ("leaves-a-child", 1, "exit code 4"),
        ("raises", 1, "a step that I can't do"), ("stderr", 1, "more than 1 MiB"),
        ("memory", 1, "MiB of memory"),
        ("sleeps", 75, "no answer within 2 s"), ("drips", 75, "no answer within 2 s"),
    ]

    @Test(arguments: ends) func itEndsWithItsCauseAndNothingIsLeft(
        _ end: (how: String, status: Int32, word: String)
    ) throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try study(
            folder, "{ command: [python3, \(Self.wrong), \(end.how)], timeout: 2s, memory: 200 }")
        let mark = folder.lastPathComponent
        let outcome = try islet(
            [
                "run", path, "--allow-algorithm", "--quiet", "--no-report", "--jobs", "1", "--out",
                folder.appending(path: "out").path(),
            ],
            environment: ["TMPDIR": "/tmp/\(mark)"])
        #expect(outcome.status == end.status, "\(outcome.error)")
        #expect(outcome.error.contains(end.word), "\(outcome.error)")
        if end.status != 65 { #expect(outcome.error.contains("session 0"), "\(outcome.error)") }
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "out/sessions.csv").path()))
        #expect(try left(mark).isEmpty)
    }

    /// Doses that fail their step alone: nothing is given by it, and the run goes on.
    @Test(arguments: [
        ("nan", "not a number"), ("negative", "negative"), ("huge", "above 100 U"),
        ("other-step", "answered step"),
        ("other-handle", "answered step"), ("unknown-flags", "unknown flags"),
        ("negative-forecast", "no glucose"),
        ("fail", "I don't know"),
    ])
    func aWrongDoseFailsItsStepAlone(_ how: String, _ word: String) throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try study(folder, "{ command: [python3, \(Self.wrong), \(how)] }")
        let out = folder.appending(path: "out").path()
        let outcome = try islet(
            "run", path, "--allow-algorithm", "--quiet", "--no-report", "--jobs", "1", "--out", out)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(
            outcome.error.contains("a: its algorithm failed in 5 steps, which gave nothing; the first: ")
                && outcome.error.contains(word), "\(outcome.error)")
        let steps = try islet(
            "export", out, "--what", "steps", "--session", "0", "--quiet", "--allow-algorithm")
        let lines = steps.output.split(separator: "\n").map(String.init)
        let failed = lines.filter { $0.contains(word) }
        #expect(failed.count == 1, "\(steps.error)")
        let names =
            lines.first?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        let requested = try #require(names.firstIndex(of: "requested_u"))
        let cells =
            failed.first?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        #expect(cells.indices.contains(requested) && ["", "0"].contains(cells[requested]), "\(failed)")
    }

    @Test func aRunThatFailedGoesOnWhereTheProgramWorksAgain() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let mark = folder.appending(path: "broken").path()
        #expect(FileManager.default.createFile(atPath: mark, contents: nil))
        let text = try String(contentsOf: project.appending(path: "Python/examples/mine.py"), encoding: .utf8)
        try text.replacingOccurrences(
            of: "        rate = s.therapy.basal\n",
            with: """
                        rate = s.therapy.basal
                        import os
                        if s.subject.endswith("003") and s.step == 50 and os.path.exists("\(mark)"): os._exit(9)

                """
        ).write(to: folder.appending(path: "mine.py"), atomically: true, encoding: .utf8)
        let path = try study(folder, "{ python: mine.py }")
        let out = folder.appending(path: "out")
        let broken = try run(path, out)
        #expect(broken.status == 1 && broken.error.contains("1 of 5 sessions failed"), "\(broken.error)")
        #expect(broken.error.contains("exit code 9"), "\(broken.error)")
        try FileManager.default.removeItem(atPath: mark)
        let whole = try digest(run(path, out, "--resume"))
        #expect(try digest(run(path, folder.appending(path: "again"))) == whole)
    }

    /// Processes whose environment has this word.
    private func left(_ mark: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
            guard Int(name) != nil, let data = FileManager.default.contents(atPath: "/proc/\(name)/environ")
            else { return false }
            return String(decoding: data, as: UTF8.self).contains("TMPDIR=/tmp/\(mark)")
        }
    }
}
