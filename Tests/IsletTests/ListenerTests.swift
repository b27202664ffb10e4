import Foundation
import Testing

/// Programs that listen beside an algorithm, and the alert rules that compare their numbers. They need python3.
@Suite struct ListenerTests {
    private static let rules =
        "[{ code: SOON, when: own.glucoseIn30 < 100, truth: low70, acknowledge: reviews }, { code: LOW, when: glucose < 70 }, { code: SILENT, when: own.silentMinutes > 14 }]"

    private func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "islet-listener-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    private func study(
        _ folder: URL, _ listener: String, alerts: String = "{ policy: p, rules: \(rules) }",
        _ more: String = "", algorithm: String = "pid-insulin-feedback", name: String = "study"
    ) throws -> String {
        let path = folder.appending(path: name + ".yaml").path()
        try """
        duration: 1d
        cohort: { generate: { count: 5 } }
        person: typical
        arms: [{ name: a, algorithm: \(algorithm), \(listener) alerts: \(alerts) }]
        \(more)
        """.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private static let example = "listener: { python: \(project.path())Python/examples/low_soon.py },"

    private func run(_ study: String, _ out: URL, _ more: String...) throws -> Outcome {
        try islet(["run", study, "--no-report", "--allow-algorithm", "--out", out.path()] + more)
    }

    private func digest(_ outcome: Outcome) throws -> String {
        try #require(outcome.status == 0, "\(outcome.error)")
        return String(try #require(outcome.output.split(separator: "\n").first { $0.hasPrefix("digest") }))
    }

    /// Of alerts.csv: by policy, shadow and code, what was raised.
    private func raised(_ out: URL, _ code: String) throws -> [String] {
        let lines = try String(contentsOf: out.appending(path: "alerts.csv"), encoding: .utf8)
            .split(separator: "\n").map {
                $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            }
        let head = try #require(lines.first)
        let place = { (name: String) in try #require(head.firstIndex(of: name), "\(head)") }
        let (codes, sessions, shadows, raises) = (
            try place("code"), try place("session"), try place("in_shadow"), try place("raised")
        )
        return lines.dropFirst().filter { $0[codes] == code }.map {
            "\($0[shadows]) \($0[sessions]) \($0[raises])"
        }
    }

    @Test func aListenerRingsAndChangesNoDose() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let plain = "{ policy: p, rules: [{ code: LOW, when: glucose < 70 }] }"
        let without = try digest(
            run(
                study(folder, "", alerts: plain, name: "without"), folder.appending(path: "without"),
                "--set", "person=deaf"))
        let heard = try digest(
            run(
                study(folder, Self.example, alerts: plain, name: "with"), folder.appending(path: "with"),
                "--set", "person=deaf"))
        #expect(heard == without)
        let path = try study(folder, Self.example, "policies: [{ policy: q, rules: \(Self.rules) }]")
        let one = folder.appending(path: "1")
        let wanted = try digest(run(path, one, "--jobs", "1"))
        #expect(try digest(run(path, folder.appending(path: "9"), "--jobs", "9")) == wanted)
        let soon = try raised(one, "SOON")
        let (own, shadow) = (soon.filter { $0.hasPrefix("0") }, soon.filter { $0.hasPrefix("1") })
        #expect(!own.isEmpty && own.contains { !$0.hasSuffix(" 0") }, "\(soon)")
        #expect(own.map { $0.dropFirst() } == shadow.map { $0.dropFirst() })
        let verified = try islet("verify", one.path(), "--quiet", "--allow-algorithm")
        #expect(verified.status == 0, "\(verified.output)\(verified.error)")
        let manifest = try String(contentsOf: one.appending(path: "manifest.json"), encoding: .utf8)
        #expect(manifest.contains("\"listener\"") && manifest.contains("low-soon"))
    }

    @Test func aGroupOfListenersIsTheSameAsOneEach() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = try String(
            contentsOf: project.appending(path: "Python/examples/low_soon.py"), encoding: .utf8)
        try text.replacingOccurrences(
            of: "name, version = \"low-soon\", 1", with: "name, version, runs = \"low-soon\", 1, \"together\""
        ).write(to: folder.appending(path: "group.py"), atomically: true, encoding: .utf8)
        let alone = try study(folder, Self.example, name: "alone")
        let group = try study(folder, "listener: { python: group.py, group: 2 },")
        let wanted = try digest(run(alone, folder.appending(path: "alone")))
        #expect(try digest(run(group, folder.appending(path: "group"), "--jobs", "2")) == wanted)
        let both = try study(
            folder, Self.example, algorithm: "{ python: \(project.path())Python/examples/pid.py }",
            name: "both")
        #expect(try digest(run(both, folder.appending(path: "both"))) == wanted)
    }

    /// From its 100th step on it can do no more: doses and other alerts go on, its own ends, and the rule of its silence rings.
    @Test func aListenerThatFailsIsToldOfAndTakesNothingAlong() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = try String(
            contentsOf: project.appending(path: "Python/examples/low_soon.py"), encoding: .utf8)
        try text.replacingOccurrences(
            of: "        if s.cgm is None:\n",
            with:
                "        if s.step >= 100:\n            raise ValueError(\"no more\")\n        if s.cgm is None:\n"
        ).write(to: folder.appending(path: "fails.py"), atomically: true, encoding: .utf8)
        let path = try study(folder, "listener: { python: fails.py },")
        let out = folder.appending(path: "out")
        let outcome = try run(path, out)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(
            outcome.error.contains("its listener failed in") && outcome.error.contains("no more"),
            "\(outcome.error)")
        #expect(try raised(out, "SILENT").filter { $0.hasSuffix(" 1") }.count == 5)
        let steps = try islet(
            "export", out.path(), "--what", "steps", "--session", "0", "--quiet", "--allow-algorithm")
        #expect(steps.status == 0 && !steps.output.contains("no more"), "\(steps.error)")
    }

    @Test func aListenerThatDiesEndsItsSessionsAsFailed() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try """
        import os, islet.algorithm as ia
        class Dies(ia.Listener):
            name = "dies"
            glucoseIn30 = ia.Number()
            def step(self, s):
                if s.step == 50 and s.subject.endswith("003"): os._exit(9)
        ia.serve(Dies)
        """.write(to: folder.appending(path: "dies.py"), atomically: true, encoding: .utf8)
        let path = try study(folder, "listener: { python: dies.py },")
        let outcome = try run(path, folder.appending(path: "out"))
        #expect(outcome.status == 1 && outcome.error.contains("1 of 5 sessions failed"), "\(outcome.error)")
        #expect(outcome.error.contains("exit code 9"), "\(outcome.error)")
    }

    @Test func whatNobodyAnswersIsRefusedWithItsLine() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        func refusal(
            _ listener: String, _ rules: String = Self.rules, algorithm: String = "pid-insulin-feedback"
        )
            throws -> String
        {
            let path = try study(
                folder, listener, alerts: "{ policy: p, rules: \(rules) }", algorithm: algorithm)
            let outcome = try run(path, folder.appending(path: "out"))
            #expect(outcome.status == 65 && outcome.error.contains("study.yaml:4"), "\(outcome.error)")
            return outcome.error
        }
        #expect(try refusal("").contains("`listener:`, or an algorithm of one's own"))
        #expect(
            try refusal(Self.example, "[{ code: SOON, when: own.glucoseIn3 < 60 }]").contains(
                "nearest: `own.glucoseIn30`"))
        let (mine, low) = (
            "\(project.path())Python/examples/mine.py", "\(project.path())Python/examples/low_soon.py"
        )
        #expect(try refusal("listener: { python: \(mine) },").contains("one that answers numbers of its own"))
        #expect(try refusal("", algorithm: "{ python: \(low) }").contains("which only listens"))
        #expect(try refusal("listener: low_soon.py,").contains("arms[0].listener"))
        #expect(try refusal("listener: { python: \(low), readings: 99 },").contains("from 3 to 12"))
    }

    /// An algorithm may have numbers, too; an infinite one fails its step, which gives nothing.
    @Test func anAlgorithmMayHaveNumbersToo() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try """
        import islet.algorithm as ia
        class Own(ia.Algorithm):
            name = "own"
            glucoseIn30 = ia.Number("mg/dL", "as it is")
            def step(self, s):
                number = float("inf") if s.step == 20 else s.cgm
                return ia.Dose(basal=s.therapy.basal / 12, own={"glucoseIn30": number})
        ia.serve(Own)
        """.write(to: folder.appending(path: "own.py"), atomically: true, encoding: .utf8)
        let path = try study(folder, "", algorithm: "{ python: own.py }")
        let out = folder.appending(path: "out")
        #expect(try run(path, out).status == 0)
        #expect(try raised(out, "SOON").contains { !$0.hasSuffix(" 0") })
        let steps = try islet(
            "export", out.path(), "--what", "steps", "--session", "0", "--quiet", "--allow-algorithm")
        #expect(
            steps.output.split(separator: "\n").filter { $0.contains("glucoseIn30 is infinite") }.count == 1)
    }
}
