// A glucose sensor outside of the session, as the session sees it: its newest reading.
//
// Guarantees: readings enter as inputs of the session, so that it replays. One instant has one reading: what comes again is dropped. What comes late
// is backfill, and no decision hangs on it. A reading from up to 2 min ahead counts as of now, and the journal has its offset; one from further
// ahead, of another day, or that is no glucose is refused.
// Does not: ask the sensor, or know why it is silent (warm-up, failed, expired): its driver brings readings only.

public import IsletDevices
public import IsletKernel

public actor LinkedSensor: SessionActor, GlucoseSensorPort {
    public nonisolated let executor: SessionExecutor
    private let journal: Journal
    private let recorder: SessionRecorder
    private var observers: [any DeviceObserver] = []
    var reading: GlucoseReading?
    /// When the readings of the last day were taken, ascending.
    var known: [Instant] = []

    /// What a sensor can show, mg/dL.
    public static let range = 20.0...600.0

    public init(executor: SessionExecutor, recorder: SessionRecorder) {
        self.executor = executor
        journal = executor.journal
        self.recorder = recorder
    }

    public func begin(observers: [any DeviceObserver]) { self.observers = observers }
    public func dismissObservers() { observers = [] }

    /// A reading arrived.
    /// - Parameter taken: when it was taken, by the session's clock.
    public func hear(_ glucose: GlucoseConcentration, at taken: Instant, isReliable: Bool) {
        let now = executor.now
        let mgdl = glucose.milligramsPerDecilitre
        guard Self.range.contains(mgdl), taken <= now.adding(LinkTiming.clockOffset), taken >= .start,
            taken > now.adding(-LinkTiming.readingHistory)
        else {
            journal.record(
                .linkedReadingRefused, at: now, UInt64(bitPattern: taken.nanoseconds), mgdl.bitPattern)
            return
        }
        let instant = min(taken, now)
        let place = known.firstIndex { $0 > instant } ?? known.count
        func isNear(_ other: Instant) -> Bool {
            abs(other.nanoseconds - instant.nanoseconds) < LinkTiming.readingSpacing
        }
        if place > 0, isNear(known[place - 1]) { return }
        if place < known.count, isNear(known[place]) { return }
        known.insert(instant, at: place)
        known.removeFirst(known.firstIndex { $0 > now.adding(-LinkTiming.readingHistory) } ?? 0)
        if taken > now {
            journal.record(
                .sensorClockAhead, at: now, UInt64(bitPattern: taken.nanoseconds - now.nanoseconds))
        }
        var reading = GlucoseReading(instant: instant, glucose: glucose, isReliable: isReliable)
        let isNews =
            self.reading.map { instant > $0.instant } ?? true
            && now.nanoseconds - instant.nanoseconds <= LinkTiming.readingIsNews
        reading.isBackfilled = !isNews
        journal.record(
            .linkedReading, at: now, UInt64(bitPattern: instant.nanoseconds), mgdl.bitPattern, isNews ? 1 : 0,
            isReliable ? 1 : 0)
        if isNews {
            self.reading = reading
            recorder.reading(mgdl, at: instant)
            for observer in observers { observer.sensorDidUpdate(reading: reading, state: .ok) }
        } else {
            recorder.backfill(mgdl, measuredAt: instant, at: now)
            for observer in observers { observer.sensorDidBackfill([reading]) }
        }
    }

    public nonisolated var latestReading: GlucoseReading? { here { $0.reading } }
    public nonisolated var state: SensorState { .ok }
}

extension EventKind {
    /// Words: when it was taken, mg/dL (bits), 1 for news and 0 for history, 1 where the sensor trusts it.
    public static let linkedReading = EventKind(0x180, "linkedReading")
    /// Words: when it says that it was taken, mg/dL (bits).
    public static let linkedReadingRefused = EventKind(0x181, "linkedReadingRefused")
    /// The sensor's clock is ahead. Words: by how many nanoseconds.
    public static let sensorClockAhead = EventKind(0x182, "sensorClockAhead")
}
