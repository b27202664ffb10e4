// How a peer proves that it is this project's simulator: it lives two days of a simulated pump within the moment in which it is asked.
//
// Guarantees: the answer to a challenge follows from the simulator's code and the challenge alone; nobody has it without running that code, in virtual
// time. A pump in a person's body can't, and nothing that passes commands on to one does so unless it is built to deceive.
// Does not: resist somebody who means harm. The connection is loopback; whoever commands this machine commands it.

import IsletDevices
import IsletKernel
import IsletModels

public enum SimulatorProof {
    /// - Parameter challenge: drawn anew for each connection.
    public static func answer(to challenge: UInt64) -> String? {
        guard let simulator = try? PumpSimulator(device: "proof") else { return nil }
        var random = RandomStreams(seed: challenge, subject: 0).stream("proof")
        var instant = Instant.start
        for number in 0..<100 {
            instant = instant.adding(Int64.random(in: 1...3600, using: &random) * Nanoseconds.second)
            let act: LinkCommand.Act =
                switch Int.random(in: 0..<4, using: &random) {
                case 0: .temporaryBasal(unitsPerHour: Double.random(in: 0...3, using: &random), seconds: 1800)
                case 1: .cancelTemporaryBasal
                default: .bolus(id: Int64(number), units: Double.random(in: 0...2, using: &random))
                }
            guard (try? simulator.perform(LinkCommand(number: Int64(number), act: act), at: instant)) != nil
            else { return nil }
        }
        return "\(simulator.executor.journal.digest) \(simulator.ledger.delivered) \(simulator.ledger.basal)"
    }
}
