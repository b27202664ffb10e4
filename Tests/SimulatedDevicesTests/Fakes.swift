// Bodies that only note what reaches them, and a session for them to live in.

import Devices
import Records
import SessionTime
import SimulationKernel

@testable import SimulatedDevices

/// Its glucose is what the test says; it notes the insulin it gets. Belongs to the session's thread.
final class FakeBody: InterstitialGlucoseSource, InsulinReceiver, @unchecked Sendable {
    var mgdl: (Int) -> Double
    var samples = 0
    var boluses: [(amount: InsulinAmount, nanoseconds: Int64)] = []
    var rates: [InsulinRate] = []

    init(mgdl: @escaping (Int) -> Double = { _ in 120 }) { self.mgdl = mgdl }

    func interstitialGlucose() -> GlucoseConcentration {
        defer { samples += 1 }
        return GlucoseConcentration(milligramsPerDecilitre: mgdl(samples))
    }

    func receive(_ amount: InsulinAmount, over nanoseconds: Int64) { boluses.append((amount, nanoseconds)) }
    func setBasalRate(_ rate: InsulinRate) { rates.append(rate) }
}

/// Notes what it is told.
final class FakeObserver: DeviceObserver, @unchecked Sendable {
    var sensor: [(reading: GlucoseReading?, state: SensorState)] = []
    var pump: [PumpStatus] = []

    func sensorDidUpdate(reading: GlucoseReading?, state: SensorState) { sensor.append((reading, state)) }
    func pumpDidUpdate(status: PumpStatus) { pump.append(status) }
}

/// A pump, begun at the session's start, that a test can command at any instant.
final class PumpBench {
    let executor = SessionExecutor()
    let body = FakeBody()
    let observer = FakeObserver()
    let recorder = SessionRecorder(level: .full)
    let pump: SimulatedPump

    init(_ device: PumpDevice = .omnipod) throws {
        pump = SimulatedPump(executor: executor, device: device, body: body, recorder: recorder)
        executor.start("begin") { [pump, observer] in await pump.begin(observers: [observer]) }
        try executor.advance(to: .start)
    }

    deinit { try? executor.end() }

    func at<R>(_ instant: Instant, _ body: (SimulatedPump) throws -> R) throws -> R {
        try executor.advance(to: instant)
        return try executor.inspect { try body(pump) }
    }

    var ledger: PumpLedger { executor.inspect { pump.here { $0.ledger() } } }
}
