// `islet replay JOURNAL --until T --fork ...`: what is refused before anything is told.

import Foundation
import Testing

@Suite("--fork") struct ForkCommandTests {
    @Test(
        arguments: [
            (["--until", "1h", "--fork", "algorithm=nobody"], Int32(64), "expected one of"),
            (["--until", "1h", "--fork", "algorithm"], 64, "--fork takes"),
            (["--until", "1h", "--fork", "meals=none"], 64, "--fork takes"),
            (["--until", "1h", "--fork", "policy=a", "--fork", "policy=b"], 64, "--fork takes"),
            (["--fork", "policy=none"], 64, "--fork takes --until"),
        ])
    func nonsenseIsOneLine(_ arguments: [String], _ status: Int32, _ text: String) throws {
        try withFolder { folder in
            let path = folder + "/x.journal"
            try Data("0123456789abcdef open {}\n".utf8).write(to: URL(filePath: path))
            let outcome = try islet(["replay", path] + arguments)
            #expect(outcome.status == status, "\(outcome.error)")
            #expect(outcome.error.contains(text))
            #expect(outcome.output.isEmpty)
        }
    }

    @Test func aPolicyThatIsNotThereIsMissingAndABadOneIsBadData() throws {
        try withFolder { folder in
            let path = folder + "/x.journal"
            try Data("0123456789abcdef open {}\n".utf8).write(to: URL(filePath: path))
            let missing = try islet(
                "replay", path, "--until", "1h", "--fork", "policy=\(folder)/none.yaml")
            #expect(missing.status == 66 || missing.status == 65, "\(missing.error)")
            try Data("rules: 5\n".utf8).write(to: URL(filePath: folder + "/bad.yaml"))
            let bad = try islet("replay", path, "--until", "1h", "--fork", "policy=\(folder)/bad.yaml")
            #expect(bad.status == 65, "\(bad.error)")
            for outcome in [missing, bad] {
                #expect(outcome.output.isEmpty)
                #expect(outcome.error.split(separator: "\n").count == 1, "\(outcome.error)")
            }
        }
    }
}
