// `islet-live pump STUDY --session K --port N`: a person of a study with sensor and pump, for `islet-live run --pump`.

import ArgumentParser
import DeviceLinks
import IsletFiles
import Glibc
import IsletLive
import IsletDevices
import IsletTrials

/// `islet-live pump`
struct LivePumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pump",
        abstract: "Simulate a person with sensor and pump, behind a port of this machine.",
        discussion: """
            The person of the study's session lives by the wall clock: body, meals, sensor and pump. `islet-live run --pump loopback:PORT` in another terminal is
            the app that they wear. It listens on 127.0.0.1 only.
            """)

    @Argument(help: "The study, a YAML file.", completion: .file(extensions: ["yaml", "yml", "json"]))
    var study: String

    @Option(help: "The session's index, as in sessions.csv.")
    var session: Int

    @Option(help: ArgumentHelp("The port; 0 for any that is free.", valueName: "PORT"))
    var port: UInt16 = 0

    @Option(help: ArgumentHelp("Its seconds per second, as the app has it: 1 to 60.", valueName: "P"))
    var pace = 1.0

    func validate() throws {
        guard (0.01...60).contains(pace) else { throw ValidationError("--pace takes a number up to 60.") }
        if session < 0 { throw ValidationError("--session takes an index from 0.") }
    }

    func run() throws {
        // Whoever started this may have had them blocked.
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        let opening = try LiveOpening(
            study: try Study.read(path: study, overrides: []), session: session, studyPath: study)
        let wearer = try SimulatedWearer(opening, speed: pace)
        let peer: SimulatorPeer
        do {
            peer = try SimulatorPeer(
                port: port, readings: { wearer.readings(after: $0) },
                clock: { wearer.utcNanoseconds }, perform: { try wearer.perform($0) })
        } catch let error as PumpDriverError {
            throw OutputError(.temporary, path: "loopback", message: error.reason)
        }
        try StandardStream.output.writeLine(
            "a simulated person wears a simulated pump at loopback:\(peer.port)")
        while true { sleep(3600) }
    }
}
