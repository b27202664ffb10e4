// The connection to the pump.
//
// Guarantees: while it is down the status is the last one known, commands throw, and alerts wait; a request that was
// sent and never answered is resolved by the first exchange afterwards. An outage and the silence after such a request are
// logged apart, each over its own span, also where they overlap.

import IsletDevices
import IsletNumerics
import IsletKernel

struct Link {
    /// Cut by hand.
    var isCut = false
    /// Out of reach until then.
    var outUntil: Instant?
    /// After a request that was not answered, found again then.
    var silentUntil: Instant?
    var isConnected = true
    /// What was known when the connection broke.
    var lastKnown: PumpStatus?
    /// The request that nobody answered.
    var unresolved: Int64?
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
        if link.outUntil == nil { log.begin(.pumpOutage, at: executor.now) }
        link.outUntil = max(link.outUntil ?? .start, executor.now.adding(nanoseconds))
        settleLink()
        waitForLink()
    }

    private func waitForLink() {
        let next = min(link.outUntil ?? .distantFuture, link.silentUntil ?? .distantFuture)
        schedule(\.link, "pump in reach", at: next == .distantFuture ? nil : next) { $0.findAgain() }
    }

    /// An outage, a silence or both are over.
    private func findAgain() {
        let now = executor.now
        if let end = link.outUntil, end <= now {
            link.outUntil = nil
            log.end(.pumpOutage, at: now)
        }
        if let end = link.silentUntil, end <= now { link.silentUntil = nil }
        settleLink()
        waitForLink()
    }

    private func settleLink() {
        let connected = !link.isCut && link.outUntil == nil && link.silentUntil == nil
        guard connected != link.isConnected else { return }
        var known = trueStatus()
        link.isConnected = connected
        truth.set(.unreachable, !connected, at: executor.now)
        journal.record(.pumpConnection, at: executor.now, connected ? 1 : 0)
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
    @inline(__always)  // Each step of a loop sends three, mostly to a pump without faults.
    func transmit(_ command: PumpCommand = .other) throws {
        if !link.isConnected || faultDraws != nil { try transmitWithFaults(command) }
    }

    private func transmitWithFaults(_ command: PumpCommand) throws {
        guard link.isConnected else { throw PumpError.notConnected }
        guard let faultDraws else { return }
        if executor.now < link.failsUntil { throw PumpError.commandFailed }
        guard faultDraws.fails(command, at: executor.now) else { return }
        log.note(.commandFailure)
        throw PumpError.commandFailed
    }

    func bolusOutcome() -> BolusOutcome {
        guard let faultDraws else { return .heard }
        let now = executor.now
        if now < link.unansweredUntil {
            let own = numbers("fault.uncertain-delivery.scheduled", at: now)
            return own.uniform() < 0.5 ? .heardUnanswered : .lostUnanswered
        }
        if now < link.failsUntil { return .lost }
        let outcome = faultDraws.bolusOutcome(at: now)
        if outcome == .lost { log.note(.commandFailure) }
        return outcome
    }

    /// The command was sent, and nothing came back: the pump is out of reach until the driver finds it again.
    func fallSilent(after id: Int64) {
        log.begin(.uncertainDelivery, at: executor.now)
        journal.record(
            .unanswered, at: executor.now, UInt64(bitPattern: id), lastRequest?.id == id ? 1 : 0)
        link.unresolved = id
        let minutes = PumpOutage.minutes(
            numbers("fault.uncertain-delivery.silence", at: executor.now))
        link.silentUntil = executor.now.adding(GSLRandom.minutes(minutes))
        settleLink()
        waitForLink()
        // The status that is shown meanwhile names the request.
        link.lastKnown?.unresolvedRequest = id
    }

    /// Numbers of an instant's own: they hang on nothing that was before.
    private func numbers(_ stream: StaticString, at now: Instant) -> GSLRandom {
        GSLRandom(streams.stream(stream, index: UInt64(bitPattern: now.nanoseconds)))
    }

    /// The first exchange after a silence: the pump says what it has done.
    private func resolve() {
        guard let id = link.unresolved else { return }
        link.unresolved = nil
        let delivered = lastRequest?.id == id ? lastRequest?.delivered ?? .zero : .zero
        journal.record(
            .resolved, at: executor.now, UInt64(bitPattern: id),
            UInt64(bitPattern: device.pulses(in: delivered)))
        log.end(.uncertainDelivery, at: executor.now)
    }
}
