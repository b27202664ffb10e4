// A continuous glucose monitor: a reading every five minutes, a warm-up, an end of life, and a new one.
//
// Guarantees: sensor k of a subject draws from streams of its own, so replacing one shifts no other; readings are
// clipped to the sensor's range; where there are none, the state says why; readings that a loss of signal held back
// come late, flagged, with their own instants, and are never `latestReading`.
// Does not: fail, unless its plan says so; a sensor without a plan is changed the moment its life is over.

public import Devices
public import Records
import SessionTime
public import SimulationKernel

public actor SimulatedSensor: SessionActor, GlucoseSensorPort {
    public nonisolated let executor: SessionExecutor

    private let device: SensorDevice
    private let model: SensorModel
    private let streams: RandomStreams
    private let body: any InterstitialGlucoseSource
    private let recorder: SessionRecorder
    private let faults: FaultPlan
    private let startOfDay: Int64
    private var observers: [any DeviceObserver] = []
    private var errorModel: (any SensorErrorModel)?
    private var index: UInt64 = 0
    private var insertedAt: Instant
    private var reading: GlucoseReading?
    private var condition = SensorState.ok
    private var tick: Wakeup?
    private var troubles: SensorTroubles?
    /// Measured while the signal was lost, oldest first.
    private var heldBack: [GlucoseReading] = []

    /// A sensor whose warm-up ends at the session's start.
    /// - Parameter startOfDay: nanoseconds between local midnight and the session's start.
    public init(
        executor: SessionExecutor, model: SensorModel, device: SensorDevice = .dexcomG6,
        streams: RandomStreams, body: any InterstitialGlucoseSource, recorder: SessionRecorder,
        faults: FaultPlan = .none, startOfDay: Int64 = 0
    ) {
        self.executor = executor
        self.model = model
        self.device = device
        self.streams = streams
        self.body = body
        self.recorder = recorder
        self.faults = faults
        self.startOfDay = startOfDay
        insertedAt = Instant(nanoseconds: -device.warmup)
    }

    /// Starts sampling at this instant.
    public func begin(observers: [any DeviceObserver]) throws {
        self.observers = observers
        errorModel = try model.makeSensor(streams: streams, index: index)
        if faults.troublesSensor {
            let troubles = SensorTroubles(
                plan: faults, device: device, streams: streams, startOfDay: startOfDay,
                log: FaultLog(executor: executor, recorder: recorder), at: executor.now)
            troubles.insert(index: index, at: insertedAt)
            self.troubles = troubles
        }
        let tick = Wakeup(executor, phase: .sensor, "sensor") { [unowned self] in
            try here { try $0.sample() }
        }
        self.tick = tick
        tick.schedule(at: executor.now)
    }

    /// The session is over: faults that still last are recorded up to now.
    public func finish() { troubles?.log.finish() }

    /// Lets go of those who listen: they hold the sensor, too.
    public func dismissObservers() { observers = [] }

    private func sample() throws {
        let now = executor.now
        defer { tick?.schedule(at: now.adding(device.samplingInterval)) }
        let interstitial = try body.interstitialGlucose()
        guard troubles == nil else { return try sampleInTrouble(interstitial, at: now) }
        if now.nanoseconds - insertedAt.nanoseconds >= device.life { try change(at: now) }
        let age = now.nanoseconds - insertedAt.nanoseconds
        guard age >= device.warmup else { return tell(.warmup) }
        condition = .ok
        publish(measure(interstitial, less: 0, at: now))
    }

    /// As `sample`, for a sensor that things happen to.
    private func sampleInTrouble(_ interstitial: GlucoseConcentration, at now: Instant) throws {
        if let changeAt = troubles?.changeAt, now >= changeAt {
            try change(at: now)
            troubles?.insert(index: index, at: now)
            heldBack = []
        }
        if let next = troubles?.nextChange, now >= next { troubles?.advance(to: now) }
        guard let troubles else { return }
        let isWarm = now.nanoseconds - insertedAt.nanoseconds >= device.warmup
        var state = troubles.state(at: now)
        if !isWarm, state != .failed { state = .warmup }
        // The error model goes on whatever is shown of it.
        let measured = isWarm ? measure(interstitial, less: troubles.compression(at: now), at: now) : nil
        let reading = state == .ok ? measured : nil
        guard troubles.lostUntil == nil else {
            if var reading {
                reading.isBackfilled = true
                heldBack.append(reading)
                if heldBack.count > device.backfill / device.samplingInterval { heldBack.removeFirst() }
            }
            return
        }
        if !heldBack.isEmpty { backfill() }
        guard let reading else { return tell(state) }
        condition = .ok
        publish(reading)
    }

    private func change(at now: Instant) throws {
        index += 1
        insertedAt = now
        errorModel = try model.makeSensor(streams: streams, index: index)
        executor.journal.record(.sensorReplaced, at: now, index)
    }

    private func measure(
        _ interstitial: GlucoseConcentration, less compression: Double, at now: Instant
    ) -> GlucoseReading {
        let age = now.nanoseconds - insertedAt.nanoseconds
        let raw = errorModel?.sample(
            interstitial: interstitial.milligramsPerDecilitre,
            daysSinceInsertion: Double(age) / Double(Span.day))
        let value = (raw ?? interstitial.milligramsPerDecilitre) - compression
        let shown = min(max(value, device.range.lowerBound), device.range.upperBound)
        return GlucoseReading(instant: now, glucose: GlucoseConcentration(milligramsPerDecilitre: shown))
    }

    private func publish(_ reading: GlucoseReading) {
        self.reading = reading
        let value = reading.glucose.milligramsPerDecilitre
        executor.journal.record(.reading, at: reading.instant, value.bitPattern)
        recorder.reading(value, at: reading.instant)
        for observer in observers { observer.sensorDidUpdate(reading: reading, state: condition) }
    }

    /// Says that there is no reading, and why; once.
    private func tell(_ state: SensorState) {
        guard condition != state else { return }
        condition = state
        for observer in observers { observer.sensorDidUpdate(reading: nil, state: state) }
    }

    private func backfill() {
        let readings = heldBack
        heldBack = []
        for reading in readings {
            executor.journal.record(
                .backfill, at: executor.now, UInt64(bitPattern: reading.instant.nanoseconds),
                reading.glucose.milligramsPerDecilitre.bitPattern)
            recorder.backfill(
                reading.glucose.milligramsPerDecilitre, measuredAt: reading.instant, at: executor.now)
        }
        for observer in observers { observer.sensorDidBackfill(readings) }
    }

    // MARK: Port

    public nonisolated var latestReading: GlucoseReading? { here { $0.reading } }
    public nonisolated var state: SensorState { here { $0.condition } }
}

extension EventKind {
    /// Words: the reading's bits (mg/dL).
    public static let reading = EventKind(0x100, "reading")
    /// Words: the new sensor's index.
    public static let sensorReplaced = EventKind(0x101, "sensorReplaced")
    /// Words: when it was measured, the reading's bits (mg/dL).
    public static let backfill = EventKind(0x102, "backfill")
}
