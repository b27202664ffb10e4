// A study's person with sensor and pump, living by the wall clock at the other end of a loopback link.
//
// Guarantees: body, meals, sensor, pump and faults are the study's session, by the same code; nothing in it doses: the pump does what commands from outside
// say, and its own programme else.
// Does not: outlive its process.

package import DeviceLinks
import IsletDevices
import Foundation
import IsletModels
import IsletKernel
import IsletTrials

package final class SimulatedWearer: @unchecked Sendable {
    private let lock = NSLock()
    private let session: Session
    private let simulator: PumpSimulator
    private let heard = HeardReadings()
    private let clocks: any LiveClocks
    private let speed: Double
    private let begin: (continuous: Int64, utc: Int64)

    /// Begins to live now.
    package init(_ opening: LiveOpening, speed: Double, clocks: any LiveClocks = SystemClocks()) throws {
        self.clocks = clocks
        self.speed = speed
        begin = (clocks.continuousNanoseconds(), clocks.utcNanoseconds())
        guard let subject = opening.subject.person else {
            throw InputError(
                file: opening.study.name, found: "a session of a \(opening.study.subject.kind.spoken)",
                expected: "one of a person: nobody else wears a pump")
        }
        var seams = SessionSeams()
        seams.pump = { AbsentPump(pulse: $0.pulse, limits: $0.limits) }
        seams.observers = [heard]
        session = try Session(
            study: opening.study, subject: subject, index: opening.subjectIndex, arm: opening.arm,
            seams: seams)
        try session.executor.advance(to: .start)
        let (executor, pump) = (session.executor, session.pump)
        simulator = PumpSimulator(
            executor: session.executor, pump: session.pump,
            device: "simulator-\(begin.utc)", startUTC: begin.utc, speed: speed,
            programmed: executor.inspect { pump.here { $0.programmedNow() } })
    }

    deinit { session.end() }

    private var now: Instant {
        let passed = Double(clocks.continuousNanoseconds() - begin.continuous) * speed
        return Instant(nanoseconds: Int64(max(0, passed)))
    }

    /// What the clock of its devices says, ns since 1970: nobody sets it.
    package var utcNanoseconds: Int64 { begin.utc + clocks.continuousNanoseconds() - begin.continuous }

    package func perform(_ command: LinkCommand) throws -> PumpReport {
        try lock.withLock { try simulator.perform(command, at: now) }
    }

    package func readings(after utc: Int64) -> [FedReading] {
        lock.withLock {
            _ = try? session.executor.advance(to: max(now, session.executor.now))
            return heard.readings.map {
                FedReading(
                    utcNanoseconds: begin.utc + Int64(Double($0.instant.nanoseconds) / speed),
                    mgdl: $0.glucose.milligramsPerDecilitre, isReliable: $0.isReliable)
            }.filter { $0.utcNanoseconds > utc }
        }
    }
}

private final class HeardReadings: DeviceObserver, @unchecked Sendable {
    /// Readings of the last day.
    private(set) var readings: [GlucoseReading] = []
    func sensorDidUpdate(reading: GlucoseReading?, state: SensorState) {
        if let reading { keep(reading) }
    }
    func sensorDidBackfill(_ readings: [GlucoseReading]) { for reading in readings { keep(reading) } }
    func pumpDidUpdate(status: PumpStatus) {}

    private func keep(_ reading: GlucoseReading) {
        readings.append(reading)
        if readings.count > 576 { readings.removeFirst(288) }
    }
}
