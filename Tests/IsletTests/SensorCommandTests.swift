// A sensor's parameters, from the study's file to what is verified, replayed and exported.

import Foundation
import Testing

@Suite struct SensorCommandTests {
    /// Harm: a folder says that its sensor was the published one, and nobody can live its sessions again.
    @Test func whatASensorWasSetToGoesWithTheFolder() throws {
        try withFolder { folder in
            let study = { (sensor: String) in
                """
                duration: 1d
                record: full
                cohort: { generate: { count: 1 } }
                sensor: \(sensor)
                arms: [{ name: a }, { name: b, sensor: { model: dexcom-g7, offset: -20 } }]

                """
            }
            try write(study("{ model: vettoretti-2019, noise: 2 }"), to: folder + "/study.yaml")
            let out = folder + "/out"
            #expect(try islet("run", folder + "/study.yaml", "--quiet", "--out", out).status == 0)
            // What was read from the folder alone gives the same sessions.
            #expect(try islet("verify", out).status == 0)
            let replay = try islet("replay", out, "--session", "1")
            #expect(replay.status == 0 && replay.output.contains("as stored"), "\(replay.error)")
            let steps = try islet("export", out, "--what", "steps", "--session", "1", "--quiet")
            #expect(steps.status == 0 && steps.output.split(separator: "\n").count > 280)
            let manifest = try String(contentsOf: URL(filePath: out + "/manifest.json"), encoding: .utf8)
                .filter { !$0.isWhitespace }
            #expect(
                manifest.contains(
                    #""sensor":{"model":"vettoretti-2019","noise":2,"spread":0.9,"offset":0,"lag":0}"#))
            #expect(
                manifest.contains(
                    #""sensor":{"model":"dexcom-g7","noise":1,"spread":0.9,"offset":-20,"lag":0}"#))
            // Refused in one line, and nothing is written.
            try write(study("{ model: vettoretti-2019, nois: 2 }"), to: folder + "/slip.yaml")
            let slip = try islet("run", folder + "/slip.yaml", "--quiet", "--out", folder + "/none")
            #expect(
                slip.status == 65
                    && slip.error.contains(
                        "slip.yaml:4: found the unknown key `nois` in sensor, expected `noise`")
            )
            #expect(slip.error.split(separator: "\n").count == 1)
            #expect(!FileManager.default.fileExists(atPath: folder + "/none"))
        }
    }
}
