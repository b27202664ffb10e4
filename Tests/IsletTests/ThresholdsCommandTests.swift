// `islet thresholds` as a person uses it.

import Foundation
import Testing

@Suite struct ThresholdsCommandTests {
    private func thresholds(_ words: String, _ more: [String] = []) throws -> Outcome {
        try islet(["thresholds"] + words.split(separator: " ").map(String.init) + more)
    }

    private func store(_ folder: String, permission: String? = "allow") throws -> [String] {
        let path = folder + "/phone.sqlite"
        let said = try islet(
            ["thresholds", "init", "--store", path, "--owner", "ann", "--device", "phone"]
                + (permission.map { ["--notifications", $0] } ?? []))
        #expect(said.status == 0, "\(said.error)")
        return ["--store", path]
    }

    private static let values = """
        time,subject,metric,value
        2026-03-02T06:00:00Z,basil,temperature,78
        2026-03-02T06:05:00Z,basil,temperature,86
        2026-03-02T06:05:00Z,mint,temperature,86
        2026-03-02T06:20:00Z,basil,temperature,97
        2026-03-02T06:25:00Z,basil,temperature,79

        """

    @Test func `1 3 4 set, list, disable, enable, remove, and a policy file of them`() throws {
        try withFolder { folder in
            let store = try store(folder)
            var said = try thresholds(
                "subject --subject basil --kind grow-room --stage flowering",
                store + ["--name", "Basil, tent 2"])
            #expect(said.status == 0 && said.output == "basil: Basil, tent 2, grow-room, flowering\n")
            said = try thresholds(
                "set --subject basil --metric temperature --max 85 --sensitivity 15m", store)
            #expect(said.output == "basil temperature: max 85 °F, after 15m\n", "\(said.error)")
            // What is not said stays.
            said = try thresholds("set --subject basil --metric temperature --min 16 --unit °C", store)
            #expect(said.output == "basil temperature: min 60.8 °F, max 85 °F, after 15m\n", "\(said.error)")
            said = try thresholds("set --subject basil --metric vpd --recommended", store)
            #expect(said.output == "basil vpd: min 1.2 kPa, max 1.6 kPa, immediate\n", "\(said.error)")
            said = try thresholds("disable --subject basil --metric vpd", store)
            #expect(said.output == "basil vpd: min 1.2 kPa, max 1.6 kPa, immediate, off\n")
            said = try thresholds("list", store)
            #expect(said.output.contains("Basil, tent 2"))
            let rows = said.output.split(separator: "\n")
            #expect(rows.contains { $0.contains("vpd") && $0.contains(" off ") && $0.contains("1.2 to 1.6") })
            #expect(
                rows.contains {
                    $0.contains("temperature") && $0.contains(" on ") && $0.contains("not sent yet")
                })
            said = try thresholds("export --subject basil", store + ["--out", folder + "/basil.json"])
            let policy = try read(folder + "/basil.json")
            #expect(policy.contains("temperature") && !policy.contains("vpd"), "what is off is left out")
            #expect(try islet("alerts", "list", "--policy", folder + "/basil.json").status == 0)
            said = try thresholds("enable --subject basil --metric vpd", store)
            #expect(!said.output.contains("off"))
            said = try thresholds("remove --subject basil --metric vpd", store)
            #expect(said.output == "1 removed\n")
            #expect(try !thresholds("list", store).output.contains("vpd"))
            #expect(try thresholds("remove --subject basil --metric vpd", store).status == 65)
            #expect(try thresholds("remove --subject basil", store).output == "2 removed\n")
        }
    }

    @Test(arguments: [
        ("set --subject a --metric glucose --min 180 --max 70", 65, "min below max"),
        ("set --subject a --metric glucose --min 3.9", 65, "20 mg/dL to 600 mg/dL"),
        ("set --subject a --metric glucose --min 3.9 --unit kPa", 65, "mg/dL or mmol/L"),
        ("set --subject a --metric glucose --min nan", 65, "a number"),
        ("set --subject a --metric glucos --min 70", 65, "nearest: glucose"),
        ("set --subject a --metric glucose --min 70 --sensitivity soon", 65, "immediate, or a time"),
        ("set --subject a --metric glucose --min 70 --sensitivity 2d", 65, "up to one day"),
        ("set --subject a --metric glucose --min none", 65, "neither min nor max"),
        ("set --subject a --metric vpd --recommended", 65, "a kind and stage"),
        ("subject --subject a --kind grow-room --stage flowring", 65, "seedling, vegetative, flowering"),
        ("quiet-hours --from 25:00 --to 07:00 --time-zone UTC", 65, "00:00 to 23:59"),
        ("quiet-hours --from 22:00 --to 07:00 --time-zone Mars/Crater", 65, "a time zone"),
        ("quiet-hours --from 22:00", 64, "--from, --to and --time-zone"),
        ("enable --subject a --metric glucose", 65, "no threshold"),
        ("test --subject a --metric glucose", 65, "no threshold"),
        ("export --subject a", 65, "--subject"),
    ])
    func `what can't be meant is one clear line, and nothing is kept`(
        words: String, status: Int32, found: String
    ) throws {
        try withFolder { folder in
            let store = try store(folder)
            let before = try thresholds("list", store).output
            let said = try thresholds(words, store)
            #expect(said.status == status, "\(said.error)")
            if status == 65 { #expect(said.error.split(separator: "\n").count == 1, "\(said.error)") }
            #expect(said.error.contains(found), "\(said.error)")
            #expect(try thresholds("list", store).output == before)
        }
    }

    @Test
    func
        `5 6 9 10 11 values are played: told, kept in the timeline, and held back by night but for the critical`()
        throws
    {
        try withFolder { folder in
            let store = try store(folder)
            let values = folder + "/values.csv"
            try write(Self.values, to: values)
            for subject in ["basil", "mint"] {
                _ = try thresholds("set --subject \(subject) --metric temperature --max 85", store)
            }
            var said = try thresholds("play \(values) --record", store)
            #expect(said.status == 0, "\(said.error)")
            #expect(said.output.contains("notified (conditionHeld): basil: Temperature 86 °F, above 85"))
            #expect(said.output.contains("notified (conditionHeld): mint: Temperature 86 °F, above 85"))
            #expect(said.output.hasSuffix("2 raised, 3 notified, 1 active at the end\n"), "\(said.output)")
            said = try thresholds("history --subject basil", store)
            #expect(
                said.output.contains(
                    "2026-03-02T06:05:00Z  2026-03-02T06:25:00Z  basil    temperature  above 85   86     97     79    °F    critical  2026-03-02T06:05:00Z"
                ),
                "\(said.output)")
            #expect(try thresholds("history", store).output.contains("goes on"))
            // The same again is the same history.
            _ = try thresholds("play \(values) --record", store)
            #expect(try thresholds("history", store).output.split(separator: "\n").count == 3)
            // By night: only what is critical, and the rest when the night ends.
            _ = try thresholds("quiet-hours --from 06:00 --to 06:30 --time-zone UTC", store)
            said = try thresholds("play \(values) --run-on 10m", store)
            #expect(said.output.contains("not notified: quietHours"))
            #expect(said.output.contains("2026-03-02T06:20:00Z  basil  THRESHOLD-TEMPERATURE-HIGH  notified"))
            #expect(
                said.output.contains(
                    "2026-03-02T06:30:00Z  mint   THRESHOLD-TEMPERATURE-HIGH  notified (released)"))
            #expect(said.output.hasSuffix("2 raised, 2 notified, 1 active at the end\n"), "\(said.output)")
            #expect(try thresholds("play \(values)", store).output.contains("quiet hours active"))
            try write(Self.values.replacing("mint", with: "mynt"), to: values)
            said = try thresholds("play \(values)", store)
            #expect(said.status == 65 && said.error.contains("mynt"))
        }
    }

    @Test
    func
        `5 permission is asked for at the first set-up, and without it nobody is woken and everybody is told`()
        throws
    {
        try withFolder { folder in
            let store = try store(folder, permission: nil)
            let values = folder + "/values.csv"
            try write(Self.values.replacing("mint", with: "basil"), to: values)
            var said = try thresholds("set --subject basil --metric temperature --max 85", store)
            #expect(said.output.contains("Notifications are not allowed yet: nobody is woken"))
            said = try thresholds("play \(values)", store)
            #expect(said.output.contains("not notified: no permission: basil: Temperature 86 °F, above 85"))
            #expect(
                said.output.contains(
                    "1 raised, 0 notified, 0 active at the end, 2 withheld without permission"))
            said = try thresholds("test --subject basil --metric temperature", store)
            #expect(said.status == 1 && said.error.contains("withheld"))
            #expect(try thresholds("list", store).output.contains("notifications: not asked"))
            _ = try thresholds("permission --deny", store)
            #expect(try thresholds("list", store).output.contains("notifications: denied"))
            said = try thresholds("permission --allow", store)
            #expect(said.output == "notifications: allowed\n")
            said = try thresholds("test --subject basil --metric temperature", store)
            #expect(said.status == 0 && said.output.contains("islet://subject/basil/temperature"))
            _ = try thresholds("disable --subject basil --metric temperature", store)
            #expect(try thresholds("test --subject basil --metric temperature", store).status == 1)
        }
    }

    @Test func `a second subject's file is not merged over the first's`() throws {
        try withFolder { folder in
            for (name, low) in [("Basil", 60), ("Mint", 65)] {
                try write(
                    """
                    policy: mine
                    subject: \(name)
                    thresholds:
                      - { metric: temperature, min: \(low), writtenAt: "2026-03-02T06:00:00Z", device: phone }

                    """, to: folder + "/\(name).yaml")
            }
            let said = try islet("alerts", "merge", folder + "/Basil.yaml", folder + "/Mint.yaml")
            #expect(
                said.status == 65 && said.output.isEmpty && said.error.contains("Mint.yaml"), "\(said.error)")
            #expect(try islet("alerts", "merge", folder + "/Basil.yaml", folder + "/Basil.yaml").status == 0)
        }
    }

    @Test func `a store that isn't there, or is something else, is said and not made`() throws {
        try withFolder { folder in
            let path = folder + "/no.sqlite"
            #expect(try thresholds("list", ["--store", path]).status == 66)
            #expect(!FileManager.default.fileExists(atPath: path))
            try write("text, and no database at all, whatever its name says it is", to: path)
            #expect(try thresholds("list", ["--store", path]).status == 65)
            #expect(try thresholds("init", ["--store", path]).status == 65)
            #expect(try read(path).hasPrefix("text"))
        }
    }
}
