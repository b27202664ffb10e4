// `islet alerts replay`, as a user runs it: what it prints and writes, and what it refuses.

import Foundation
import Testing

private let header = "time,glucose_mgdl\n"

private func rows(_ count: Int, from hour: Int = 6, _ value: (Int) -> Int) -> String {
    (0..<count).map { place in
        let minute = hour * 60 + place * 5
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return
            "2026-03-\(two(2 + minute / 1440))T\(two(minute / 60 % 24)):\(two(minute % 60)):00-05:00,\(value(place))\n"
    }.joined()
}

@Suite("islet alerts replay")
struct AlertsReplayTests {
    @Test("several traces and policies: the table, and a folder with summary, alerts, effects and report")
    func folder() throws {
        try withFolder { folder in
            var files: [String] = []
            for person in 0..<6 {
                let file = folder + "/person-\(person).csv"
                try (header + rows(400) { 50 + person * 3 + ($0 * 29 + person) % 170 }).write(
                    toFile: file, atomically: true, encoding: .utf8)
                files.append(file)
            }
            let out = folder + "/out"
            let policies = ["--policy", "dexcom-g7", "--policy", "story", "--policy", "loop"]
            let run = try islet(["alerts", "replay"] + files + policies + ["--out", out])
            #expect(run.status == 0, "\(run.error)")
            #expect(run.output.contains("6 people") && run.output.contains("the trace itself, smoothed"))
            #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
            #expect(
                Set(try FileManager.default.contentsOfDirectory(atPath: out)) == [
                    "summary.json", "alerts.csv", "effects.csv", "report.html",
                ])
            let summary = try #require(
                try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: out + "/summary.json")))
                    as? [String: Any])
            #expect(summary["sessions"] as? Int == 6)
            let recorded = try #require(summary["recorded"] as? [String: Any])
            #expect((recorded["truth"] as? String)?.contains("the trace itself, smoothed") == true)
            #expect((recorded["traces"] as? [Any])?.count == 6)
            #expect((summary["policy_comparisons"] as? [Any])?.isEmpty == false)
            let report = try String(contentsOfFile: out + "/report.html", encoding: .utf8)
            #expect(report.contains("the trace itself, smoothed") && report.contains("recorded glucose"))
            #expect(!report.contains("simulated people") && !report.contains("islet replay DIR"))
            #expect(!report.lowercased().contains("true plasma glucose") && !report.contains("NaN"))
            // What is told a policy is what its effects add up to.
            let effects = try String(contentsOfFile: out + "/effects.csv", encoding: .utf8).split(
                separator: "\n")
            let alerts = try String(contentsOfFile: out + "/alerts.csv", encoding: .utf8).split(
                separator: "\n")
            let notified = alerts.dropFirst().reduce(0) { $0 + (Int($1.split(separator: ",")[5]) ?? 0) }
            #expect(notified > 0 && effects.count { $0.contains(",notify,") } == notified)
            // A folder is never written into.
            let again = try islet(["alerts", "replay", files[0], "--policy", "story", "--out", out])
            #expect(again.status == 73, "\(again.error)")
            // The same files give the same bytes.
            let other = try islet(["alerts", "replay"] + files + policies + ["--out", folder + "/other"])
            #expect(other.status == 0)
            for name in ["summary.json", "effects.csv", "alerts.csv", "report.html"] {
                let (a, b) = (
                    FileManager.default.contents(atPath: "\(out)/\(name)"),
                    FileManager.default.contents(atPath: "\(folder)/other/\(name)")
                )
                #expect(a != nil && a == b, "\(name)")
            }
        }
    }

    @Test("what can't be told is refused with its line, and leaves nothing")
    func refusals() throws {
        try withFolder { folder in
            func refused(_ text: String, _ arguments: String...) throws -> Outcome {
                let file = folder + "/trace.csv"
                try text.write(toFile: file, atomically: true, encoding: .utf8)
                let run = try islet(
                    ["alerts", "replay", file, "--policy", "story", "--out", folder + "/out"] + arguments)
                #expect(!FileManager.default.fileExists(atPath: folder + "/out"))
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["trace.csv"])
                return run
            }
            let mmol = try refused(header + "2026-03-02T06:00:00-05:00,5.5\n")
            #expect(mmol.status == 65 && mmol.error.contains("trace.csv:2: found"), "\(mmol.error)")
            let local = try refused(header + "2026-03-02T06:00:00,100\n")
            #expect(local.status == 65 && local.error.contains("--time-zone"))
            #expect(try refused(header).status == 65)
            #expect(try refused(header + rows(5) { _ in 100 }, "--format", "clarity").status == 65)
            #expect(try refused(header + rows(5) { _ in 100 }, "--trace-units", "mmol/L").status == 65)
            #expect(try refused(header + rows(5) { _ in 100 }, "--trace-units", "g/L").status == 64)
            #expect(try refused(header + rows(5) { _ in 100 }, "--policy", "none").status == 65)
            #expect(try islet("alerts", "replay", folder + "/none.csv", "--policy", "story").status == 66)
            #expect(try islet("alerts", "replay", folder + "/trace.csv").status == 64)
        }
    }
}
