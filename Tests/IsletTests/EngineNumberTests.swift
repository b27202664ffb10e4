// Results and journals of another engine, as the programs take them.

import Foundation
import IsletTrials
import Testing

private let study = """
    study: numbered
    duration: 1d
    cohort: { generate: { model: uva-padova-2008, count: 2 } }
    arms: [{ name: a, algorithm: basal-bolus }, { name: b, algorithm: pid-insulin-feedback }]

    """

@Suite struct EngineNumberTests {
    private func edit(_ path: String, _ change: (inout [String: Any]) -> Void) throws {
        let data = try Data(contentsOf: URL(filePath: path))
        var root = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        change(&root)
        try JSONSerialization.data(withJSONObject: root).write(to: URL(filePath: path))
    }

    /// An engine that this one is not.
    private let other = BuildFacts.engine + 1

    /// Whether it is one line with the file, both engines and the way out.
    private func isRefusal(_ outcome: Outcome, _ file: String) -> Bool {
        outcome.status == 65 && outcome.error.contains(file) && outcome.error.contains("engine \(other)")
            && outcome.error.contains("engine \(BuildFacts.engine)") && outcome.error.contains("Islet 0.1.0")
            && outcome.error.split(separator: "\n").count == 1
    }

    @Test func `results say their engine, whatever the version; without one they are engine 1's`() throws {
        try withFolder { folder in
            try write(study, to: folder + "/study.yaml")
            let out = folder + "/out"
            #expect(try islet("run", folder + "/study.yaml", "--quiet", "--out", out).status == 0)
            var engine: Any?
            try edit(out + "/manifest.json") {
                engine = $0["engine"]
                $0["version"] = "0.0.9"
            }
            #expect(engine as? Int == BuildFacts.engine)
            let verified = try islet("verify", out)
            // A manifest that names another version than its store is found out; its sessions are lived again all the same.
            #expect(
                verified.status == 1 && verified.error.contains("2 findings; 4 sessions run again"),
                "\(verified)")
            #expect(verified.output.contains("version is 0.1.0, manifest.json says 0.0.9"), "\(verified)")
            #expect(try islet("replay", out, "--session", "1").status == 0)
            #expect(try islet("run", folder + "/study.yaml", "--quiet", "--out", out, "--resume").status == 0)
            try edit(out + "/manifest.json") { $0["engine"] = nil }
            let old = try islet("verify", out)
            #expect(
                old.output.contains("lived by engine 1; this program is engine \(BuildFacts.engine)"),
                "\(old)")
        }
    }

    @Test
    func `of another engine they open, report and export, are checked by hash, and are not gone on with`()
        throws
    {
        try withFolder { folder in
            try write(study, to: folder + "/study.yaml")
            let shards = ["1/2", "2/2"].enumerated().map { (folder + "/shard\($0)", $1) }
            for (path, shard) in shards {
                let run = try islet(
                    "run", folder + "/study.yaml", "--quiet", "--out", path, "--shard", shard)
                #expect(run.status == 0, "\(run.error)")
            }
            let out = folder + "/out"
            #expect(try islet("run", folder + "/study.yaml", "--quiet", "--out", out).status == 0)
            for path in [out, shards[0].0] { try edit(path + "/manifest.json") { $0["engine"] = other } }
            let manifest = try Data(contentsOf: URL(filePath: out + "/manifest.json"))

            let verified = try islet("verify", out)
            #expect(verified.status == 0 && verified.output.contains("0 sessions run again"), "\(verified)")
            #expect(
                verified.output.contains(
                    "lived by engine \(other); this program is engine \(BuildFacts.engine)"))
            #expect(isRefusal(try islet("replay", out, "--session", "1"), "out/manifest.json"))
            let resumed = try islet("run", folder + "/study.yaml", "--quiet", "--out", out, "--resume")
            #expect(isRefusal(resumed, "out/manifest.json"), "\(resumed)")
            #expect(try Data(contentsOf: URL(filePath: out + "/manifest.json")) == manifest)
            let merged = try islet(["merge"] + shards.map(\.0) + ["--quiet", "--out", folder + "/whole"])
            #expect(isRefusal(merged, "shard0/manifest.json"), "\(merged)")
            #expect(!FileManager.default.fileExists(atPath: folder + "/whole"))

            let exported = try islet("export", out, "--what", "deliveries")
            #expect(
                exported.status == 0 && exported.output.split(separator: "\n").count > 10, "\(exported.error)"
            )
            #expect(try islet("compare", out, out).status == 0)
            let report = try islet("report", out)
            #expect(report.status == 0, "\(report.error)")
            let page = try String(contentsOfFile: out + "/report.html", encoding: .utf8)
            #expect(page.contains("engine \(other) lived the sessions"))
            // The report leaves the number as it was.
            var engine: Any?
            try edit(out + "/manifest.json") { engine = $0["engine"] }
            #expect(engine as? Int == other)
            // A changed file is found all the same.
            try write("changed", to: out + "/summary.json")
            #expect(try islet("verify", out).status == 1)
        }
    }
}
