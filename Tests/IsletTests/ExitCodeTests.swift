// The built program, run as a script would run it: exit codes and the one line on standard error are a contract.

import Foundation
import Testing

@Suite struct ExitCodeTests {
    @Test func aStudyThatIsFineIsZero() throws {
        let outcome = try islet(
            "study", "check", "Cohorts/quickstart.yaml", "--set", "cohort.generate.count=10")
        #expect(outcome.status == 0)
        #expect(outcome.output == "quickstart: 10 subjects × 3 arms × 7d = 30 sessions\nok\n")
        #expect(outcome.error.isEmpty)
    }

    @Test func helpAndVersionAreZero() throws {
        for arguments in ["--help", "--version", "study"] { #expect(try islet(arguments).status == 0) }
        #expect(try islet().status == 0)
    }

    @Test func usageIs64() throws {
        #expect(try islet("bogus").status == 64)
        #expect(try islet("study", "check").status == 64)
        #expect(try islet("study", "schema", "--bogus").status == 64)
    }

    @Test func badDataIs65WithOneLine() throws {
        let outcome = try islet("study", "check", "Package.swift")
        #expect(outcome.status == 65)
        #expect(outcome.error.hasPrefix("Package.swift:"))
        #expect(outcome.error.split(separator: "\n").count == 1)
        #expect(outcome.output.isEmpty)
        let override = try islet("study", "check", "Cohorts/speed.yaml", "--set", "seed=x")
        #expect(override.status == 65)
        #expect(override.error.hasPrefix("--set seed: found `x` at seed, expected"))
    }

    @Test func missingInputIs66() throws {
        #expect(try islet("study", "check", "no/such.yaml").status == 66)
        #expect(try islet("study", "check", "Sources").status == 66)
        let table = "cohort={table: none.csv}"
        #expect(try islet("study", "check", "Cohorts/speed.yaml", "--set", table).status == 66)
    }

    /// Harm: who has a damaged journal is told that it is no folder, or that an argument is missing, and looks in the wrong place.
    @Test func aFileIsAJournalHoweverDamagedAndAMissingOneIsMissing() throws {
        try withFolder { folder in
            let path = folder + "/x.journal"
            let commands = [["verify", path], ["replay", path]]
            for text in ["", "0123", "0123456789abcdef opem {}\n", "0123456789abcdef open {}\n"] {
                try write(text, to: path)
                for command in commands {
                    let outcome = try islet(command)
                    #expect(
                        outcome.status == 65 && outcome.error.hasPrefix("\(path):1: "), "\(command), \(text)")
                }
            }
            try FileManager.default.removeItem(atPath: path)
            for command in commands {
                let outcome = try islet(command)
                #expect(outcome.status == 66 && outcome.error.contains(path), "\(command): \(outcome.error)")
            }
        }
    }

    @Test func aFullDiskIs75() throws {
        let outcome = try islet("study", "schema", output: "/dev/full")
        #expect(outcome.status == 75)
        #expect(outcome.error == "standard output: cannot write: No space left on device\n")
    }
}
