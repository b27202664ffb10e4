// Tells an alert center what a recorded sensor said, when the app had it.
//
// Guarantees: readings arrive in the sensor's phase, as in a session; one that came later than a minute after its measurement is history, as
// a backfilled one is there. The next sensor's readings don't go on from the one before.

import IsletAlerts
import IsletDevices
import IsletKernel

/// One reading on its way.
struct FedReading: Sendable {
    var measured: Instant
    var arrives: Instant
    var mgdl: Double
    var sensor: Int32

    /// Later, and it is history.
    private static let latest = Nanoseconds.minute

    var isBackfilled: Bool { arrives.nanoseconds - measured.nanoseconds > Self.latest }

    var reading: GlucoseReading {
        GlucoseReading(
            instant: measured, glucose: GlucoseConcentration(milligramsPerDecilitre: mgdl),
            isBackfilled: isBackfilled)
    }
}

actor TraceFeed: SessionActor {
    nonisolated let executor: SessionExecutor
    private let center: AlertCenter
    /// By arrival.
    private let readings: ArraySlice<FedReading>
    private var next: Int
    private var sensor: Int32?
    private var wakeup: Wakeup?

    init(executor: SessionExecutor, center: AlertCenter, readings: ArraySlice<FedReading>) {
        (self.executor, self.center, self.readings) = (executor, center, readings)
        next = readings.startIndex
    }

    func begin() {
        wakeup = Wakeup(executor, phase: .sensor, "trace") { [unowned self] in here { $0.wake() } }
        scheduleNext()
    }

    private func scheduleNext() {
        wakeup?.schedule(at: next < readings.endIndex ? readings[next].arrives : nil)
    }

    private func wake() {
        while next < readings.endIndex, readings[next].arrives <= executor.now {
            tell(readings[next])
            next += 1
        }
        scheduleNext()
    }

    private func tell(_ one: FedReading) {
        if let sensor, sensor != one.sensor { center.sensorDidUpdate(reading: nil, state: .warmup) }
        sensor = one.sensor
        if one.isBackfilled {
            center.sensorDidUpdate(reading: nil, state: .ok)
            center.sensorDidBackfill([one.reading])
        } else {
            center.sensorDidUpdate(reading: one.reading, state: .ok)
        }
    }
}
