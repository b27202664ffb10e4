// What a session whose world is outside, linked or fed, hands on to another engine, and the file beside its journal that has it.
//
// Guarantees: everything that is under way, active, owed or set, as of an instant, with the place in the journal that it belongs to; it is on disk before
// anybody is told of what it has, and before a driver gets a command that it knows of. Another engine needs nothing that was lived before.
// Does not: stand in for the journal. Without it, or with another journal's, nothing is handed on.

import DeviceLinks
import Foundation
import IsletAlerts
package import IsletDevices
import IsletFiles
package import IsletKernel
import IsletLoop
import IsletTrials

/// A linked or fed session between two engines.
package struct LiveCarry: Hashable, Sendable, Codable {
    /// What was said under a key, and what became of it.
    struct Answered: Hashable, Sendable, Codable {
        var key: String
        var number: Int
        /// As the journal has the input.
        var said: String
        /// As the journal has the answer (`LiveOutcome`).
        var outcome: String
    }

    package var at: Instant
    /// The newest line that says how session time and wall time belong together; nil where nobody has said.
    var pace: String?
    /// How many events, inputs and late steps there have been.
    var events: Int
    var inputs: Int
    var lateSteps: Int
    /// The newest keys: what was said just before is known again.
    var answered: [Answered]
    var said: [String: String]
    var loop: LoopCarry
    var alerts: AlertCarry
    /// nil where devices are simulated.
    var links: LinkCarry?
    /// nil where glucose is not handed in.
    var fed: FedCarry?
    /// Which one doses or suggests where it is not the study's (`LiveFork.Change`, as JSON).
    var algorithm: String?
    var door: DoorCarry
    var person: PersonCarry

    /// More keys than anybody still repeats.
    static let mostKeys = 500

    /// Codes of what is active.
    package var activeAlerts: [AlertName] { alerts.active }
    var standing: [(alert: ActiveAlert, notifiedAt: Instant?)] { alerts.standing }
    /// A request that was sent and not confirmed, and insulin of unknown fate, U.
    package var unconfirmedUnits: Double { loop.unconfirmed?.units ?? 0 }
    package var unknownUnits: Double { links?.unknownUnits ?? 0 }
}

/// What a session's door knows beside its policy.
struct DoorCarry: Hashable, Sendable, Codable {
    /// By the metric's name.
    var thresholds: [String: LiveThresholds.Said]
    var rings: [ToldRing]
}

/// What a person's acts know: boluses that wait for a word, and what was given.
struct PersonCarry: Hashable, Sendable, Codable {
    struct Requested: Hashable, Sendable, Codable {
        var number: Int
        var units: Double
        var at: Instant
    }

    var requested: [Requested]
    var isSignedIn: Bool
    var given: GivenBoluses
    /// nil where glucose is not handed in.
    var readings: ReadReadings?
}

/// Up to where a feed was read.
///
/// Of the last day each reading is known by its stamp. What was taken a day and more before the newest counts as read: nothing hangs on it any more.
struct ReadReadings: Hashable, Sendable, Codable {
    /// ns since the session's start; nil where there has been no reading.
    var newest: Int64?
    /// Stamps of the readings of the day before the newest, ns since the start, ascending.
    var stamps: [Int64]

    /// How far back stamps are kept, ns.
    static let span = Nanoseconds.day

    init(_ stamps: Set<Int64>, newest: Int64) {
        self.newest = newest == .min ? nil : newest
        self.stamps = stamps.filter { $0 > (newest == .min ? .min : newest - Self.span) }.sorted()
    }

    func has(_ stamp: Int64) -> Bool {
        guard let newest else { return false }
        return stamp <= newest - Self.span || stamps.contains(stamp)
    }
}

/// From which engine a session goes on, and with what: stands in its journal's opening.
package struct LiveUpgrade: Sendable {
    package var from: Int
    package var carry: LiveCarry

    /// Why an instant before it is not this journal's.
    func before(_ instant: Instant, _ path: String) -> InputError {
        InputError(
            file: path, found: "minute \(instant.minutes)",
            expected:
                "minute \(carry.at.minutes) or later: what engine \(from) lived is in its journal beside this one"
        )
    }
}

/// The file beside a journal.
struct KeptState: Codable {
    var format = KeptState.newest
    /// The engine that wrote it.
    var engine: Int
    /// The journal's length and last check when it was written.
    var bytes: Int
    var check: String
    var carry: LiveCarry

    static let newest = 1
    private static let byteLimit = 16 << 20

    /// Where it stands: `x.kept.json` beside `x.journal`.
    static func path(of journal: String) -> String {
        (journal.hasSuffix(".journal") ? String(journal.dropLast(".journal".count)) : journal) + ".kept.json"
    }

    func write(beside journal: String) throws {
        try AtomicFile.write(
            String(decoding: CarryJSON.bytes(self), as: UTF8.self), to: Self.path(of: journal))
    }

    /// - Throws: `InputError` where there is none, or one that can't be read.
    static func read(beside journal: String) throws -> KeptState {
        let file = path(of: journal)
        let bytes = try readInput(file, limitBytes: byteLimit)
        let kept: KeptState
        do { kept = try CarryJSON.value(KeptState.self, bytes) } catch {
            throw InputError(
                file: file, found: "what no session kept",
                expected: "the file that Islet writes beside a journal")
        }
        guard kept.format == newest else {
            throw InputError(file: file, found: "format \(kept.format)", expected: "format \(newest)")
        }
        return kept
    }
}

/// How carried values are written: equal values to equal bytes, and every double to one that reads back equal.
enum CarryJSON {
    static func bytes(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return Array(try encoder.encode(value))
    }

    static func value<Value: Decodable>(_: Value.Type, _ bytes: [UInt8]) throws -> Value {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try decoder.decode(Value.self, from: Data(bytes))
    }
}
