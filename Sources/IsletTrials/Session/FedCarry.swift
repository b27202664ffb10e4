// What a session whose glucose comes from outside hands on to another engine, beside loop and alert center.
//
// Guarantees: the newest reading is the newest there, too, and the programmed basal that is taken to run is counted on. The body, which nobody looks at, and the pump
// begin anew: a body in its steady state, a fresh pod.
// Does not: hand on the readings before: they are told, and their stamps are the inputs' matter.

import IsletDevices
package import IsletKernel
import IsletModels

/// The simulated devices of a fed session between two engines.
package struct FedCarry: Hashable, Sendable, Codable {
    struct Reading: Hashable, Sendable, Codable {
        var instant: Instant
        var glucose: GlucoseConcentration
    }

    var newest: Reading?
    /// Pushed by the programme since the session's start.
    var basalPulses: Int64
}

extension Session {
    /// What another engine goes on from, where glucose comes from outside. Called on the session's thread.
    package var fedCarry: FedCarry {
        FedCarry(
            newest: sensor.latestReading.map { .init(instant: $0.instant, glucose: $0.glucose) },
            basalPulses: pump.here { $0.ledger().allBasal })
    }

    /// Goes on from another engine's, at this instant. To be called before the session begins.
    package func adopt(_ carry: FedCarry, at instant: Instant) {
        sensor.here(carry.newest.map { GlucoseReading(instant: $0.instant, glucose: $0.glucose) }) {
            $0.adopt($1)
        }
        pump.here(carry.basalPulses) { $0.adopt(basal: $1) }
        patient.here(instant) { $0.begin(at: $1) }
    }
}
