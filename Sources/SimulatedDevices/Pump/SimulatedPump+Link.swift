// The connection to the pump.
//
// Guarantees: while it is down the status is the last one known, commands throw, and alerts wait; a request that was
// sent and never answered is resolved by the first exchange afterwards.

import Devices
import GSL
import SessionTime
import SimulationKernel

struct Link {
    /// Cut by hand.
    var isCut = false
    /// Out of reach until then.
    var downUntil: Instant?
    var isConnected = true
    /// What was known when the connection broke.
    var lastKnown: PumpStatus?
    /// The request that nobody answered.
    var unresolved: Int64?
    /// How long the silence after it lasts, min, where a scheduled fault drew it.
    var silence: Double?
    /// Scheduled: commands fail, boluses aren't answered, until then.
    var failsUntil = Instant.start
    var unansweredUntil = Instant.start
}

/// What becomes of a bolus command on its way.
enum BolusOutcome {
    case heard, lost, lostUnanswered, heardUnanswered
}

extension SimulatedPump {
    /// Cuts or restores the connection. The pod goes on with what it was told.
    public func setConnected(_ connected: Bool) {
        link.isCut = !connected
        settleLink()
    }

    /// Out of reach for a while.
    func loseLink(for nanoseconds: Int64) {
        let end = executor.now.adding(nanoseconds)
        if let current = link.downUntil, current >= end { return }
        if link.downUntil == nil { log.begin(.pumpOutage, at: executor.now) }
        link.downUntil = end
        settleLink()
        schedule(\.link, "pump in reach", at: end) {
            $0.link.downUntil = nil
            $0.log.end(.pumpOutage, at: $0.executor.now)
            $0.settleLink()
        }
    }

    private func settleLink() {
        let connected = !link.isCut && link.downUntil == nil
        guard connected != link.isConnected else { return }
        var known = trueStatus()
        link.isConnected = connected
        executor.journal.record(.pumpConnection, at: executor.now, connected ? 1 : 0)
        if connected {
            link.lastKnown = nil
            resolve()
            known = trueStatus()
        } else {
            known.isConnected = false
            link.lastKnown = known
        }
        for observer in observers { observer.pumpDidUpdate(status: known) }
        tellAlerts()
    }

    // MARK: Commands

    /// Whether a command other than a bolus gets through.
    func transmit() throws {
        guard link.isConnected else { throw PumpError.notConnected }
        guard let chance else { return }
        // The number is drawn whatever is scheduled.
        let fails = chance.commandFails()
        if executor.now < link.failsUntil { throw PumpError.commandFailed }
        guard fails else { return }
        log.note(.commandFailure)
        throw PumpError.commandFailed
    }

    func bolusOutcome() -> BolusOutcome {
        guard let chance else { return .heard }
        let outcome = chance.bolusOutcome()
        let now = executor.now
        if now < link.unansweredUntil {
            // Numbers of the instant's own: what becomes of it doesn't hang on earlier faults.
            let own = GSLRandom(
                streams.stream(
                    "fault.uncertain-delivery.scheduled", index: UInt64(bitPattern: now.nanoseconds)))
            link.silence = PumpChance.silenceMinutes(own)
            return own.uniform() < 0.5 ? .heardUnanswered : .lostUnanswered
        }
        if now < link.failsUntil { return .lost }
        if outcome == .lost { log.note(.commandFailure) }
        return outcome
    }

    /// The command was sent, and nothing came back: the pump is out of reach until the driver finds it again.
    func fallSilent(after id: Int64) {
        log.begin(.uncertainDelivery, at: executor.now)
        executor.journal.record(
            .unanswered, at: executor.now, UInt64(bitPattern: id), lastRequest?.id == id ? 1 : 0)
        link.unresolved = id
        let minutes = link.silence ?? chance?.silenceMinutes() ?? 1
        link.silence = nil
        loseLink(for: GSLRandom.minutes(minutes))
        // The status that is shown meanwhile names the request.
        link.lastKnown?.unresolvedRequest = id
    }

    /// The first exchange after a silence: the pump says what it has done.
    private func resolve() {
        guard let id = link.unresolved else { return }
        link.unresolved = nil
        let delivered = lastRequest?.id == id ? lastRequest?.delivered ?? .zero : .zero
        executor.journal.record(
            .resolved, at: executor.now, UInt64(bitPattern: id),
            UInt64(bitPattern: device.pulses(in: delivered)))
        log.end(.uncertainDelivery, at: executor.now)
    }
}
