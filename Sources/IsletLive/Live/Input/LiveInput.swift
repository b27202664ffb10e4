// What reaches a live session from outside: one case an act, with what it says.
//
// Guarantees: encoded and decoded to an equal value; equal values give equal bytes, which are what the journal keeps and the digest hashes.
// Does not: validate (`problem(in:)` does, before anything is told) or act (`LiveDoor` does, at its instant).

import Foundation
package import DeviceLinks
import IsletKernel

package enum LiveInput: Hashable, Sendable, Codable {
    /// Carbohydrate that is eaten, announced to the loop, or both.
    case meal(grams: Double, isEaten: Bool, isAnnounced: Bool)
    /// A finger-stick value; for a first step where there is no reading.
    case bloodGlucose(mgdl: Double)
    /// A finger-stick value to calibrate with.
    case calibration(mgdl: Double)
    /// The first half of a manual bolus: nothing is given. Its answer's number is what confirms it.
    case requestBolus(units: Double)
    /// The second half, within five minutes, with the same amount; once. What asks again is given `anyway` only.
    case confirmBolus(request: Int, units: Double, anyway: Bool? = nil)
    /// Calls off what is owed and not under way.
    case cancelOwed
    /// Cuts the running bolus short at the pump.
    case cancelBolus
    /// The nominal target from now on.
    case target(mgdl: Double)
    /// Multiplies the basal for so long, in whole steps of five minutes.
    case temporaryBasal(multiplier: Double, minutes: Int)
    case cancelTemporaryBasal
    /// Stops all delivery; the pump reminds the person after so long, where that is said.
    case suspend(minutes: Int?)
    case resume
    case changePod
    case changeSensor
    case openLoop
    case closedLoop
    /// The boluses of the last eight hours, as the person states them: their sum, and when the last one was given. For hours that nobody here knows.
    case stateInsulin(units: Double, minutesAgo: Int)
    /// The pump outside is this app's from now on, whoever commanded it before.
    case takePump
    case startSession
    case endSession
    /// Whom the loop's sessions are about, from the next one on.
    case subject(id: String, kilograms: Double)
    case acknowledge(alert: String)
    case snooze(alert: String, minutes: Int)
    case testAlert(alert: String)
    /// Minutes since local midnight; both nil for none.
    case quietHours(fromMinute: Int?, toMinute: Int?)
    /// A threshold's two sides; nil switches a side off. A sensitivity that isn't said is as before; one that isn't said to be off is on, and one that is
    /// off keeps all of it.
    case threshold(
        metric: String, low: Double?, high: Double?, sensitivityMinutes: Int? = nil, isEnabled: Bool? = nil)
    /// A threshold is changed where something is said of it; what isn't said is left alone, on or off too. A critical bound that is off is the metric's own.
    case changeThreshold(
        metric: String, low: ThresholdBound? = nil, high: ThresholdBound? = nil,
        sensitivityMinutes: Int? = nil, isEnabled: Bool? = nil, criticalBelow: ThresholdBound? = nil,
        criticalAbove: ThresholdBound? = nil)
    /// Every metric that something is recommended for, as its subject is now, has that as its threshold.
    case recommendThresholds
    /// Both sides off, or on again as they were.
    case switchThreshold(metric: String, isEnabled: Bool)
    case signIn
    case signOut
    /// What the cloud answers about the subject's claim from now on. Comes from the cloud, not from a person.
    case subjectClaim(isOk: Bool)
    case openSettings
    case saveSettings
    /// Puts an alert's banner away, and ends a preview. The alert stays. Of which episode: when it was raised, in whole seconds since the start; nil
    /// for the one that is active.
    case dismiss(alert: String, episode: Int? = nil)
    /// A page that is the phone has shown an alert's banner for its ten seconds.
    case bannerShown(alert: String, episode: Int)
    /// A page that is the phone has shown an alert's notification: somebody was told.
    case told(alert: String)
    /// Taps an alert's notification.
    case tap(alert: String)
    /// Shows what an alert would look like, until it is dismissed.
    case preview(alert: String)
    /// The person has seen what was dropped of what they had asked for.
    case dismissDropped
    case foreground
    case background
    /// A reading of a real sensor, by its own stamp: nanoseconds since the session's start. Comes from a feed, not from a person.
    case reading(at: Int64, mgdl: Double)
    /// A device outside of the session has something to say. Comes from a driver, not from a person.
    case device(LinkInput)
    /// Whoever looks after the subject goes there now, and puts right what is broken.
    case visit
    /// An input of another life that makes no sense in this one, a fork: it keeps its number, and does nothing.
    case leftOut(input: String, reason: String)
    /// The wall clock was set, by so many seconds against the time that passed. Comes from the host, not from a person.
    case clockStep(seconds: Double)

    /// The kind that it has in a kernel's journal.
    package static let kind = "live"

    /// Canonical: keys in alphabetical order.
    package var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return (try? encoder.encode(self)).map(Array.init) ?? []
    }

    /// nil for what no input wrote.
    package init?(bytes: [UInt8]) {
        guard let input = try? JSONDecoder().decode(LiveInput.self, from: Data(bytes)) else { return nil }
        self = input
    }
}

/// One side of a threshold, as somebody says it: a number, or that it is off.
package enum ThresholdBound: Hashable, Sendable, Codable {
    case off
    case at(Double)

    /// nil for off.
    package var value: Double? { if case .at(let value) = self { value } else { nil } }

    package init(_ value: Double?) { self = value.map { .at($0) } ?? .off }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if (try? container.decode(String.self)) == "off" {
            self = .off
        } else {
            self = .at(try container.decode(Double.self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .off: try container.encode("off")
        case .at(let value): try container.encode(value)
        }
    }
}

/// An input with the name that its sender gave it.
package struct LiveCommand: Hashable, Sendable {
    package var input: LiveInput
    /// Said again under the same key it is taken once; empty for none.
    package var key: String

    package init(_ input: LiveInput, key: String = "") {
        self.input = input
        self.key = key
    }
}

/// What its sender hears.
package struct LiveAnswer: Hashable, Sendable {
    package var outcome: LiveOutcome
    /// Of the input in its journal; nil where it was refused before it got one.
    package var number: Int?
    /// It had been answered before.
    package var isRepeated = false
    /// Nothing reached the session, which is frozen: it may be said again.
    package var isFrozen = false
    /// What the person must know beside that it was noted; empty for nothing.
    package var note = ""

    package init(
        outcome: LiveOutcome, number: Int? = nil, isRepeated: Bool = false, isFrozen: Bool = false,
        note: String = ""
    ) {
        (self.outcome, self.number) = (outcome, number)
        (self.isRepeated, self.isFrozen, self.note) = (isRepeated, isFrozen, note)
    }
}
