// What an environment is told beside the rows of `islet-step/1`.
//
// Guarantees: a row of an environment is the step's cells (`StepFields.step`), then these: what a controller may know stands in the first, what only the simulation knows in
// the second. Does not: mix the two.

import IsletDevices
import IsletKernel

/// What only the simulation knows of a step.
package struct GymRow: Sendable {
    package enum Status: Int64, Sendable {
        /// It waits for an answer.
        case waits
        /// The study's duration is over.
        case over
        /// The body left the physiological range.
        case endedEarly
    }

    var status: Status
    var reached: Instant
    /// What the pump gave since the row before, U.
    var bolus: Double
    var basal: Double
    /// The newest truth, mg/dL.
    var plasma: Double
}

/// One true value.
package struct GymTruth: Sendable {
    var handle: Int64
    var at: Instant
    var plasma: Double
}

package enum GymFields {
    package static let step = GymRow.fields
    /// Sent as a frame of kind `history`: every true value that has become known since the row before.
    package static let truth = GymTruth.fields
}

extension GymRow: CellRow {
    @inline(__always) package static func list<Visitor: StepFieldVisitor<GymRow>>(_ fields: inout Visitor) {
        fields.whole(
            "status", "0 waits for an answer, 1 its time is over, 2 the body left the physiological range"
        ) { $0.status.rawValue }
        fields.instant("reached", "up to when it has been lived") { $0.reached }
        fields.real("true_bolus", "U", "what the pump truly gave by request since the row before") {
            $0.bolus
        }
        fields.real("true_basal", "U", "what the pump truly gave by its programme since the row before") {
            $0.basal
        }
        fields.real("true_glucose", "mg/dL", "the newest true plasma glucose, of the five-minute grid") {
            $0.plasma
        }
    }
}

extension GymTruth: CellRow {
    @inline(__always) package static func list<Visitor: StepFieldVisitor<GymTruth>>(_ fields: inout Visitor) {
        fields.whole("handle", "whose it is") { $0.handle }
        fields.instant("at", "of the five-minute grid") { $0.at }
        fields.real("glucose", "mg/dL", "true plasma glucose") { $0.plasma }
    }
}
