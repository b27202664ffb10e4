// What the mirrors of devices outside hand on to those of another engine.
//
// Guarantees: a command that was sent and not answered, a bolus of unknown fate, what is to be told again and whose the pump is go on; ids and numbers are
// counted on, so that no bolus is given twice. The pump is asked first, as after any death of the process: nothing is taken to be as it was.
// Does not: hand on what is said once only: notices.

import IsletDevices
import IsletKernel

/// A linked pump and sensor between two engines.
package struct LinkCarry: Hashable, Sendable, Codable {
    var pump: LinkedPump.Carry
    var newest: Reading?
    /// When the readings of the last day were taken, ascending.
    var known: [Instant]

    struct Reading: Hashable, Sendable, Codable {
        var instant: Instant
        var glucose: GlucoseConcentration
        var isReliable: Bool
    }

    /// Insulin of which nobody knows whether it was given, U.
    package var unknownUnits: Double { pump.unknown?.amount.units ?? 0 }
}

extension LinkedPump {
    struct Carry: Hashable, Sendable, Codable {
        struct Mirror: Hashable, Sendable, Codable {
            var report: PumpReport
            var heardAt: Instant
        }
        struct InFlight: Hashable, Sendable, Codable {
            var command: LinkCommand
            var sentAt: Instant
        }
        struct Amount: Hashable, Sendable, Codable {
            var amount: InsulinAmount
            var at: Instant
        }

        var mirror: Mirror?
        var idBase: Int64
        var foreign: Foreign?
        var mayHaveZero: Bool
        var yieldedAt: Instant
        var lastWordsUntil: Instant
        var isTakingOver: Bool
        var knownSince: Instant?
        var before: InsulinHistory?
        var nextNumber: Int64
        var queue: [Queued]
        var inFlight: InFlight?
        var request: Request?
        var late: BolusStatus?
        var basalOffset: Double
        var surplus: Double
        var unknown: Amount?
        var extras: [Extra]
        var earlier: Amount?
        var disbelievedSince: Instant?
        var clockOffset: Int64
        var doubtfulBasal: Double?
        var programme: Programme?
        var wishes: [Queued]
        var toldIssues: [PumpIssue]
        var podExpiresAt: Instant?
    }

    var carry: Carry {
        Carry(
            mirror: mirror.map { .init(report: $0.report, heardAt: $0.heardAt) }, idBase: idBase,
            foreign: foreign, mayHaveZero: mayHaveZero, yieldedAt: yieldedAt, lastWordsUntil: lastWordsUntil,
            isTakingOver: isTakingOver, knownSince: knownSince, before: before, nextNumber: nextNumber,
            queue: queue, inFlight: inFlight.map { .init(command: $0.command, sentAt: $0.sentAt) },
            request: request, late: late, basalOffset: basalOffset, surplus: surplus,
            unknown: unknown.map { .init(amount: $0.amount, at: $0.since) }, extras: extras,
            earlier: earlier.map { .init(amount: $0.amount, at: $0.metAt) },
            disbelievedSince: disbelievedSince, clockOffset: clockOffset, doubtfulBasal: doubtfulBasal,
            programme: programme, wishes: wishes, toldIssues: toldIssues, podExpiresAt: podExpiresAt)
    }

    func adopt(_ carry: Carry) {
        isAdopted = true
        mirror = carry.mirror.map { ($0.report, $0.heardAt) }
        (idBase, nextNumber, queue) = (carry.idBase, carry.nextNumber, carry.queue)
        (foreign, mayHaveZero, yieldedAt) = (carry.foreign, carry.mayHaveZero, carry.yieldedAt)
        (lastWordsUntil, isTakingOver) = (carry.lastWordsUntil, carry.isTakingOver)
        (knownSince, before) = (carry.knownSince, carry.before)
        inFlight = carry.inFlight.map { ($0.command, $0.sentAt) }
        (request, late) = (carry.request, carry.late)
        (basalOffset, surplus, extras) = (carry.basalOffset, carry.surplus, carry.extras)
        unknown = carry.unknown.map { ($0.amount, $0.at) }
        earlier = carry.earlier.map { ($0.amount, $0.at) }
        (disbelievedSince, clockOffset) = (carry.disbelievedSince, carry.clockOffset)
        (doubtfulBasal, programme, wishes) = (carry.doubtfulBasal, carry.programme, carry.wishes)
        (toldIssues, podExpiresAt) = (carry.toldIssues, carry.podExpiresAt)
    }

    /// The first instant under another engine: what was sent may have been carried out, and is asked about before anything else is said. The owner
    /// says `relaunched` once drivers are there, or the pump is asked within a minute.
    func goOnAdopted() {
        isReachable = false
        if inFlight != nil { lapse() } else { askFirst() }
        if let request, request.isOpen, let sentAt = request.sentAt {
            giveUp?.schedule(at: sentAt.adding(LinkTiming.knowable))
        } else if let unknown {
            giveUp?.schedule(at: unknown.since.adding(LinkTiming.insulinActs))
        }
        poll?.schedule(at: now.adding(LinkTiming.pollWhileLost))
        tellUnknown()
    }
}

extension LinkedSensor {
    var carried: (newest: LinkCarry.Reading?, known: [Instant]) {
        (
            reading.map {
                LinkCarry.Reading(instant: $0.instant, glucose: $0.glucose, isReliable: $0.isReliable)
            }, known
        )
    }

    func adopt(_ newest: LinkCarry.Reading?, known: [Instant]) {
        reading = newest.map {
            GlucoseReading(instant: $0.instant, glucose: $0.glucose, isReliable: $0.isReliable)
        }
        self.known = known
    }
}

extension SessionLinks {
    /// What another engine goes on from. Called on the session's thread.
    package var carry: LinkCarry {
        let sensor = sensor.here { $0.carried }
        return LinkCarry(pump: pump.here { $0.carry }, newest: sensor.newest, known: sensor.known)
    }

    /// Goes on from another engine's devices. To be called before the session begins.
    package func adopt(_ carry: LinkCarry) {
        pump.here(carry) { $0.adopt($1.pump) }
        sensor.here(carry) { $0.adopt($1.newest, known: $1.known) }
    }
}
