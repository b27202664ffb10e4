// A continuous glucose monitor: a reading every five minutes, a warm-up, an end of life, and a new one.
//
// Guarantees: sensor k of a subject draws from streams of its own, so replacing one shifts no other; readings are
// clipped to the sensor's range; where there are none, the state says why; readings that a loss of signal held back
// come late, flagged, with their own instants, and are never `latestReading`. A sensor measures at its own phase of the
// five minutes, and a reading arrives its own seconds later: who listens is told on arrival, and the reading keeps the
// instant at which it was measured. A session that begins with a sensor that has just been changed says so, and why.
// One that is fed measures nothing: it shows what it was handed, by whoever has real readings.
// Does not: fail, unless its plan says so; a sensor without a plan is changed the moment its life is over.

public import IsletDevices
public import IsletKernel

public actor SimulatedSensor: SessionActor, GlucoseSensorPort {
    public nonisolated let executor: SessionExecutor
    /// The executor's. Held here, so that an event counts no references.
    private let journal: Journal

    private let device: SensorDevice
    private let model: SensorModel
    private let streams: RandomStreams
    private let body: any InterstitialGlucoseSource
    private let recorder: SessionRecorder
    private let faults: FaultPlan
    private let startOfDay: Int64
    /// Whether readings come from outside, by `feed`.
    private let isFed: Bool
    private var observers: [Held<any DeviceObserver>] = []
    /// Mirrors `observers`, unretained, to avoid reference counting per reading.
    private var callable: [Unmanaged<Held<any DeviceObserver>>] = []
    private var errorModel: SensorErrorCell? { didSet { samplableErrors = .unretained(errorModel) } }
    /// Mirrors `errorModel`, unretained, to avoid reference counting per reading.
    private var samplableErrors: Unmanaged<SensorErrorCell>?
    /// The interstitium of a sensor that follows plasma by itself, in place of the body's own; nil for others.
    private var ownInterstitium: OwnInterstitium?
    private var index: UInt64 = 0
    private var insertedAt: Instant
    private var phase: Int64 = 0
    private var delay: Int64 = 0
    /// The sample under way, or the next one; it arrives `delay` later.
    private var measuresAt = Instant.distantFuture
    /// Every sensor so far: when it measures.
    public private(set) var timings: [SensorTiming] = []
    private var reading: GlucoseReading?
    private var condition = SensorState.ok
    private var tick: Wakeup? { didSet { movableTick = .unretained(tick) } }
    /// Mirrors `tick`, unretained, to avoid reference counting per reading.
    private var movableTick: Unmanaged<Wakeup>?
    private var sensorFaults: SensorFaults?
    /// Measured while the signal was lost, oldest first.
    private var heldBack: [GlucoseReading] = []

    /// A sensor whose warm-up ends at the session's start.
    /// - Parameters:
    ///   - device: nil for the model's own.
    ///   - startOfDay: nanoseconds between local midnight and the session's start.
    ///   - isFed: nothing is measured: readings come by `feed`.
    public init(
        executor: SessionExecutor, model: SensorModel, device: SensorDevice? = nil,
        streams: RandomStreams, body: any InterstitialGlucoseSource, recorder: SessionRecorder,
        faults: FaultPlan = .none, startOfDay: Int64 = 0, isFed: Bool = false
    ) {
        self.executor = executor
        journal = executor.journal
        self.model = model
        let device = device ?? model.device
        self.device = device
        self.streams = streams
        self.body = body
        self.recorder = recorder
        self.faults = faults
        self.startOfDay = startOfDay
        self.isFed = isFed
        insertedAt = Instant(nanoseconds: -device.warmup)
    }

    /// Starts sampling at this instant.
    public func begin(observers: [any DeviceObserver]) throws {
        self.observers = observers.map { Held($0) }
        callable = self.observers.map { .passUnretained($0) }
        if isFed { return }
        try equip()
        if faults.hasSensorFaults {
            let sensorFaults = SensorFaults(
                plan: faults, device: device, streams: streams, startOfDay: startOfDay,
                log: FaultLog(executor: executor, recorder: recorder), at: executor.now)
            sensorFaults.insert(index: index, at: insertedAt)
            self.sensorFaults = sensorFaults
        }
        // Owned by this actor: not counted, as it fires for every reading.
        let me = Unmanaged.passUnretained(self)
        tick = Wakeup(executor, phase: .sensor, "sensor") {
            try me._withUnsafeGuaranteedRef { try $0.here { try $0.wake() } }
        }
        scheduleNext()
    }

    /// The session is over: faults that still last are recorded up to now.
    public func finish() { sensorFaults?.log.finish() }

    /// Whether the sensor has failed or is over, and waits for the person.
    public func needsChange() -> Bool {
        sensorFaults != nil && (condition == .failed || condition == .expired) && changesAt > executor.now
    }

    /// The person, who has seen that it is due, puts the next sensor in at `instant`, or before, where that was planned already.
    public func requestChange(at instant: Instant) {
        guard needsChange() else { return }
        sensorFaults?.changeNoLater(than: max(instant, executor.now))
        scheduleNext()
    }

    /// The person puts the next sensor in now, due or not: it warms up first.
    public func changeNow() throws {
        if isFed { return }
        sensorFaults?.changeNoLater(than: executor.now)
        try change(at: executor.now)
        scheduleNext()
    }

    /// Lets go of those who listen: they hold the sensor, too.
    public func dismissObservers() {
        callable = []
        observers = []
    }

    /// A reading from outside arrives now. One that comes late fills the record, and is news to nobody.
    public func feed(_ reading: GlucoseReading) {
        guard isFed else { return }
        guard reading.isBackfilled else {
            condition = .ok
            return publish(reading)
        }
        heldBack = [reading]
        backfill()
    }

    /// Goes on from what another life of a fed session showed last. To be called before it begins.
    package func adopt(_ newest: GlucoseReading?) { reading = newest }

    // MARK: Time

    private var changesAt: Instant { sensorFaults?.changeAt ?? insertedAt.adding(device.life) }

    private func scheduleNext() { movableTick?.schedule(at: min(measuresAt.adding(delay), changesAt)) }

    private func wake() throws {
        while changesAt <= executor.now { try change(at: changesAt) }
        if measuresAt.adding(delay) <= executor.now { try sample() }
        scheduleNext()
    }

    /// The sensor of this index, with a phase and a delay of its own.
    private func equip() throws {
        let errors = try SensorErrorCell.of(model.makeErrors(streams, index))
        errorModel = errors
        ownInterstitium = errors.ownLag.map {
            OwnInterstitium(
                lagMinutes: $0, intervalMinutes: Double(device.samplingInterval) / Double(Nanoseconds.minute))
        }
        var random = streams.stream("sensor.timing", index: index)
        let seconds = device.samplingInterval / Nanoseconds.second
        // Both numbers are drawn whatever the device makes of them.
        let (ownPhase, ownDelay) = (
            Int64.random(in: 0..<seconds, using: &random),
            Int64.random(in: device.delaySeconds, using: &random)
        )
        phase = device.hasOwnPhase ? ownPhase * Nanoseconds.second : 0
        delay = ownDelay * Nanoseconds.second
        timings.append(SensorTiming(insertedAt: insertedAt, phase: phase, delay: delay))
        let since = executor.now.nanoseconds - phase
        let samples = (since + device.samplingInterval - 1) / device.samplingInterval
        measuresAt = Instant(nanoseconds: max(0, samples) * device.samplingInterval + phase)
        body.expectSample(at: measuresAt)
    }

    private func change(at instant: Instant) throws {
        sensorFaults?.advance(to: instant)
        index += 1
        insertedAt = instant
        try equip()
        journal.record(.sensorReplaced, at: executor.now, index)
        sensorFaults?.insert(index: index, at: instant)
        heldBack = []
        if executor.now < instant.adding(device.warmup), sensorFaults?.holdsReadingsBack != true {
            tell(.warmup)
        }
    }

    // MARK: Samples

    private func sample() throws {
        let measured = measuresAt
        measuresAt = measured.adding(device.samplingInterval)
        var interstitial = try body.sampledGlucose(next: measuresAt)
        if case .some = ownInterstitium {
            let plasma = body.sampledPlasma.milligramsPerDecilitre
            interstitial = GlucoseConcentration(
                milligramsPerDecilitre: ownInterstitium?.follow(plasma) ?? plasma)
        }
        let isWarm = measured.nanoseconds - insertedAt.nanoseconds >= device.warmup
        guard let sensorFaults else {
            guard isWarm else { return tell(.warmup) }
            condition = .ok
            return publish(measure(interstitial, less: 0, at: measured))
        }
        if sensorFaults.nextChange <= measured { sensorFaults.advance(to: measured) }
        var state = sensorFaults.state(at: measured)
        if !isWarm, state != .failed { state = .warmup }
        // The error model goes on whatever is shown of it.
        let shown =
            isWarm ? measure(interstitial, less: sensorFaults.reduction(at: measured), at: measured) : nil
        let reading = state == .ok ? shown : nil
        // Whether it arrives is settled when it would.
        if sensorFaults.nextChange <= executor.now { sensorFaults.advance(to: executor.now) }
        guard !sensorFaults.holdsReadingsBack else {
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

    private func measure(
        _ interstitial: GlucoseConcentration, less reduction: Double, at now: Instant
    ) -> GlucoseReading {
        let age = now.nanoseconds - insertedAt.nanoseconds
        let raw = samplableErrors?.sample(
            interstitial: interstitial.milligramsPerDecilitre,
            daysSinceInsertion: Double(age) / Double(Nanoseconds.day))
        let value = (raw ?? interstitial.milligramsPerDecilitre) - reduction
        let shown = min(max(value, device.range.lowerBound), device.range.upperBound)
        return GlucoseReading(instant: now, glucose: GlucoseConcentration(milligramsPerDecilitre: shown))
    }

    private func publish(_ reading: GlucoseReading) {
        self.reading = reading
        let value = reading.glucose.milligramsPerDecilitre
        journal.record(
            .reading, at: executor.now, UInt64(bitPattern: reading.instant.nanoseconds), value.bitPattern)
        recorder.reading(value, at: reading.instant)
        // By index: an iterator would count references to the array.
        for index in callable.indices {
            callable[index].call((reading, condition)) { $0.sensorDidUpdate(reading: $1.0, state: $1.1) }
        }
    }

    /// Says that there is no reading, and why; once.
    private func tell(_ state: SensorState) {
        guard condition != state else { return }
        condition = state
        for observer in observers { observer.value.sensorDidUpdate(reading: nil, state: state) }
    }

    private func backfill() {
        let readings = heldBack
        heldBack = []
        for reading in readings {
            journal.record(
                .backfill, at: executor.now, UInt64(bitPattern: reading.instant.nanoseconds),
                reading.glucose.milligramsPerDecilitre.bitPattern)
            recorder.backfill(
                reading.glucose.milligramsPerDecilitre, measuredAt: reading.instant, at: executor.now)
        }
        for observer in observers { observer.value.sensorDidBackfill(readings) }
    }

    // MARK: Port

    public nonisolated var latestReading: GlucoseReading? { here { $0.reading } }
    public nonisolated var state: SensorState { here { $0.condition } }
}

/// When one sensor measures: at `phase` of each five minutes of the session, and each reading arrives `delay` later.
public struct SensorTiming: Hashable, Sendable {
    public var insertedAt: Instant
    /// Nanoseconds.
    public var phase: Int64
    /// Nanoseconds.
    public var delay: Int64
}

extension EventKind {
    /// Words: when it was measured, the reading's bits (mg/dL).
    public static let reading = EventKind(0x100, "reading")
    /// Words: the new sensor's index.
    public static let sensorReplaced = EventKind(0x101, "sensorReplaced")
    /// Words: when it was measured, the reading's bits (mg/dL).
    public static let backfill = EventKind(0x102, "backfill")
}
