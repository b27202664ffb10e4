// Bodies that only note what reaches them, and a session for them to live in.

import IsletDevices
import IsletKernel

@testable import IsletModels

/// Its glucose is what the test says; it notes the insulin it gets. Belongs to the session's thread.
final class FakeBody: InterstitialGlucoseSource, InsulinReceiver, @unchecked Sendable {
    var mgdl: (Int) -> Double
    var samples = 0
    var boluses: [(amount: InsulinAmount, nanoseconds: Int64)] = []
    var rates: [InsulinRate] = []

    init(mgdl: @escaping (Int) -> Double = { _ in 120 }) { self.mgdl = mgdl }

    /// When the sensor measured, and when it will.
    var sampledAt: [Instant] = []

    func expectSample(at instant: Instant) {
        // A new sensor's first sample stands in for the old one's next.
        if sampledAt.count > samples { sampledAt.removeLast() }
        sampledAt.append(instant)
    }

    func sampledGlucose(next: Instant) -> GlucoseConcentration {
        defer {
            samples += 1
            expectSample(at: next)
        }
        return GlucoseConcentration(milligramsPerDecilitre: mgdl(samples))
    }

    /// Where the test says nothing else, as its interstitium.
    var plasma: ((Int) -> Double)?
    var sampledPlasma: GlucoseConcentration {
        GlucoseConcentration(milligramsPerDecilitre: (plasma ?? mgdl)(samples - 1))
    }

    /// The session's clock.
    var now: () -> Instant = { .start }
    private var running: [(units: Double, began: Instant, nanoseconds: Int64)] = []
    private var basal: (units: Double, since: Instant, rate: Double) = (0, .start, 0)
    private var requested = 0.0

    func receive(_ amount: InsulinAmount, over nanoseconds: Int64) {
        boluses.append((amount, nanoseconds))
        requested += amount.units
        if nanoseconds > 10 * Nanoseconds.second { running.append((amount.units, now(), nanoseconds)) }
    }

    func stopReceiving() -> InsulinAmount {
        var left = 0.0
        for infusion in running {
            let end = infusion.began.adding(infusion.nanoseconds)
            guard end > now() else { continue }
            left +=
                infusion.units * Double(end.nanoseconds - now().nanoseconds) / Double(infusion.nanoseconds)
        }
        running = []
        requested -= left
        return InsulinAmount(units: left)
    }

    func setBasalRate(_ rate: InsulinRate) {
        basal = (basalUnits, now(), rate.unitsPerHour)
        rates.append(rate)
    }

    /// What flowed in by rate.
    var basalUnits: Double {
        basal.units + basal.rate * Double(now().nanoseconds - basal.since.nanoseconds)
            / Double(Nanoseconds.hour)
    }

    /// What `receive` brought, less what was stopped.
    var bolusUnits: Double { requested }
}

/// Notes what it is told.
final class FakeObserver: DeviceObserver, PumpAlertObserver, @unchecked Sendable {
    var sensor: [(reading: GlucoseReading?, state: SensorState)] = []
    var backfills: [[GlucoseReading]] = []
    var pump: [PumpStatus] = []
    /// "+issue" and "-issue", in order.
    var alerts: [String] = []

    func sensorDidUpdate(reading: GlucoseReading?, state: SensorState) { sensor.append((reading, state)) }
    func sensorDidBackfill(_ readings: [GlucoseReading]) { backfills.append(readings) }
    func pumpDidUpdate(status: PumpStatus) { pump.append(status) }
    func pumpDidIssue(_ issue: PumpIssue, text: String) { alerts.append("+\(issue)") }
    func pumpDidRetract(_ issue: PumpIssue) { alerts.append("-\(issue)") }
}

/// A pump, begun at the session's start, that a test can command at any instant.
final class PumpBench {
    let executor = SessionExecutor()
    let body = FakeBody()
    let observer = FakeObserver()
    let recorder = SessionRecorder(level: .full)
    let pump: SimulatedPump

    init(
        _ device: PumpDevice = .omnipod, faults: FaultPlan = .none, habits: PodHabits? = nil,
        seed: UInt64 = 1
    ) throws {
        pump = SimulatedPump(
            executor: executor, device: device, body: body, recorder: recorder, faults: faults,
            streams: RandomStreams(seed: seed, subject: 0), habits: habits)
        body.now = { [executor] in executor.now }
        executor.start("begin") { [pump, observer] in
            await pump.begin(observers: [observer], alertObservers: [observer])
        }
        try executor.advance(to: .start)
    }

    deinit { try? executor.end() }

    @discardableResult
    func at<R>(_ instant: Instant, _ body: (SimulatedPump) throws -> R) throws -> R {
        try executor.advance(to: instant)
        return try executor.inspect { try body(pump) }
    }

    var ledger: PumpLedger { executor.inspect { pump.here { $0.ledger() } } }

    /// The kinds and spans of the faults that are over, in hours.
    var faults: [(kind: String, from: Double, to: Double)] {
        recorder.faults.map { ($0.kind, $0.instant.minutes / 60, $0.end.minutes / 60) }
    }
}

extension SensorDevice {
    /// One that measures on the session's grid and is heard at once: for tests of what else it does.
    var onGrid: SensorDevice {
        var device = self
        device.hasOwnPhase = false
        device.delaySeconds = 0...0
        return device
    }
}

/// A count against its expectation, in standard errors of a Poisson process.
func standardErrors(_ count: Int, expected: Double) -> Double {
    (Double(count) - expected).magnitude / expected.squareRoot()
}

func units(_ units: Double) -> InsulinAmount { InsulinAmount(units: units) }
func hourly(_ units: Double) -> InsulinRate { InsulinRate(unitsPerHour: units) }
func hours(_ hours: Double) -> Instant { Instant(nanoseconds: Int64(hours * Double(Nanoseconds.hour))) }
