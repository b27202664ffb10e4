// A continuous glucose monitor: a reading every five minutes, a warm-up, an end of life, and a new one.
//
// Guarantees: sensor k of a subject draws from streams of its own, so replacing one shifts no other; readings are
// clipped to the sensor's range; during warm-up there are none, and the state says so.
// Does not: lose radio contact or fail early.

public import Devices
public import Records
import SessionTime
public import SimulationKernel

/// What a make of sensor does, in time and range.
public struct SensorDevice: Hashable, Sendable {
    public var name: String
    public var samplingInterval: Int64
    public var warmup: Int64
    /// From insertion to the last reading.
    public var life: Int64
    public var range: ClosedRange<Double>

    /// Dexcom G6: 10 days, two hours of warm-up, 40 to 400 mg/dL.
    public static let dexcomG6 = SensorDevice(
        name: "Dexcom G6", samplingInterval: 5 * Span.minute, warmup: 2 * Span.hour, life: 10 * Span.day,
        range: 40...400)
}

public actor SimulatedSensor: SessionActor, GlucoseSensorPort {
    public nonisolated let executor: SessionExecutor

    private let device: SensorDevice
    private let model: SensorModel
    private let streams: RandomStreams
    private let body: any InterstitialGlucoseSource
    private let recorder: SessionRecorder
    private var observers: [any DeviceObserver] = []
    private var errorModel: (any SensorErrorModel)?
    private var index: UInt64 = 0
    private var insertedAt: Instant
    private var reading: GlucoseReading?
    private var condition = SensorState.ok
    private var tick: Wakeup?

    /// A sensor whose warm-up ends at the session's start.
    public init(
        executor: SessionExecutor, model: SensorModel, device: SensorDevice = .dexcomG6,
        streams: RandomStreams,
        body: any InterstitialGlucoseSource, recorder: SessionRecorder
    ) {
        self.executor = executor
        self.model = model
        self.device = device
        self.streams = streams
        self.body = body
        self.recorder = recorder
        insertedAt = Instant(nanoseconds: -device.warmup)
    }

    /// Starts sampling at this instant.
    public func begin(observers: [any DeviceObserver]) throws {
        self.observers = observers
        errorModel = try model.makeSensor(streams: streams, index: index)
        let tick = Wakeup(executor, phase: .sensor, "sensor") { [unowned self] in
            try here { try $0.sample() }
        }
        self.tick = tick
        tick.schedule(at: executor.now)
    }

    private func sample() throws {
        let now = executor.now
        defer { tick?.schedule(at: now.adding(device.samplingInterval)) }
        let interstitial = try body.interstitialGlucose()
        if now.nanoseconds - insertedAt.nanoseconds >= device.life {
            index += 1
            insertedAt = now
            errorModel = try model.makeSensor(streams: streams, index: index)
            executor.journal.record(.sensorReplaced, at: now, index)
        }
        let age = now.nanoseconds - insertedAt.nanoseconds
        let state: SensorState = age < device.warmup ? .warmup : .ok
        guard state == .ok else {
            if condition != state {
                condition = state
                for observer in observers { observer.sensorDidUpdate(reading: nil, state: state) }
            }
            return
        }
        condition = state
        let raw = errorModel?.sample(
            interstitial: interstitial.milligramsPerDecilitre,
            daysSinceInsertion: Double(age) / Double(Span.day))
        let value = min(
            max(raw ?? interstitial.milligramsPerDecilitre, device.range.lowerBound), device.range.upperBound)
        let reading = GlucoseReading(
            instant: now, glucose: GlucoseConcentration(milligramsPerDecilitre: value))
        self.reading = reading
        executor.journal.record(.reading, at: now, value.bitPattern)
        recorder.reading(value, at: now)
        for observer in observers { observer.sensorDidUpdate(reading: reading, state: state) }
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
}
