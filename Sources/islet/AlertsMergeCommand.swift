// `islet alerts merge FILE...`: thresholds that one owner set on several devices.

import IsletFiles
import IsletAlerts
import ArgumentParser
import IsletDevices
import IsletTrials

/// `islet alerts merge`
struct AlertsMergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract:
            "Join the thresholds that one owner set on several devices: the newest write of each stays.",
        discussion: """
            Each threshold of each file says `writtenAt` and `device`, and `sequence` where one second saw several writes.
            The newest write of a metric stays, and a side that it leaves out is gone. One that was switched off
            (`enabled: false`) is a write too. Rules, quiet hours and name are those of the first file. The result is a policy file, and the order
            of the other files doesn't matter.

            Example:
              islet alerts merge phone.yaml tablet.yaml --out both.json
            """)

    @Argument(help: "Policy files.", completion: .file(extensions: ["yaml", "yml", "json"]))
    var files: [String]

    @Option(help: "Where to write it, in place of the terminal.", completion: .file())
    var out: String?

    func run() throws {
        guard let first = files.first else { throw ValidationError("merge takes policy files.") }
        var settings = AlertSettings()
        var owner: String?
        for file in files {
            let read = try AlertSettings.read(path: file)
            // One file can hold one subject: another's thresholds would take the place of the first's.
            for subject in read.writes.flatMap(\.sides).map(\.rule.subject) {
                let first = owner ?? subject
                owner = first
                guard subject != first else { continue }
                throw InputError(
                    file: file, found: "thresholds of \(quoted(subject))",
                    expected:
                        "those of \(quoted(first)), as in the first file; `islet thresholds` keeps many subjects"
                )
            }
            settings.merge(read)
        }
        let policy = try AlertPolicy.decode(try YAMLDocument.read(path: first))
        let text = settings.text(in: policy)
        if let out {
            try AtomicFile.write(text, to: out)
        } else {
            try StandardStream.output.write(text)
        }
    }
}
