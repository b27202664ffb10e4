// When the sensor is read, and what a step does about a reading that is on its way.
//
// Guarantees: a reading that arrives up to 27 s before a grid point lets its step begin at once; a step waits up to 27 s
// after its grid point for a reading that is due within that time, and runs the moment it arrives, or then without.
// A sensor that must be asked is asked from 27 s before each grid point on, again 10 s after an error, and every 15 min
// without a session; reads and errors are counted as the pump's are.
// Does not: wait for a sensor that has missed a reading, nor move the grid: the first step's point is the session's own.

import IsletDevices
import IsletKernel

extension LoopController {
    /// A reading arrived, or the sensor's state changed.
    func noteReading(isNew: Bool) {
        guard isNew else { return }
        lastArrival = executor.now
        guard memory.isInSession, !isSuspended else { return }
        // The step of this very instant is scheduled already, unless it waits.
        if memory.nextStep <= executor.now.adding(LoopTiming.earlyWindow) { moveTick(to: executor.now) }
    }

    /// How long the next step waits for a reading that comes soon after its grid point: sensors keep their five minutes.
    @inline(__always)
    var waitForReading: Int64 {
        guard let lastArrival else { return 0 }
        let due = lastArrival.nanoseconds + LoopTiming.step - memory.nextStep.nanoseconds
        return due > 0 && due <= LoopTiming.earlyWindow ? LoopTiming.earlyWindow : 0
    }

    /// The reading that is due now or soon has not arrived, and the step can still wait for it.
    @inline(__always)
    var isReadingLate: Bool {
        guard let lastArrival else { return false }
        let next = memory.nextStep.nanoseconds
        let due = lastArrival.nanoseconds + LoopTiming.step
        // One that is asked for is due from its first read on.
        return due >= (sensor.isPolled ? next - LoopTiming.earlyWindow : next)
            && due <= next + LoopTiming.earlyWindow
            && executor.now.nanoseconds < next + LoopTiming.earlyWindow
    }

    // MARK: A sensor that must be asked

    /// Waits for the next grid point's read, unless one is due before. Without a session the poll reads.
    func scheduleSensorRead() {
        let next = memory.isInSession ? memory.nextStep.adding(-LoopTiming.earlyWindow) : .distantFuture
        if let planned = sensorWork?.instant, planned <= next { return }
        sensorWork?.schedule(at: next == .distantFuture ? nil : max(next, executor.now))
    }

    func workOnSensor() {
        guard !isSuspended else { return }
        readSensor()
    }

    /// Asks the sensor for what is new. A step whose reading is only being asked for again waits for it.
    func readSensor() {
        guard sensor.isPolled else { return }
        memory.work.sensorReads += 1
        let before = sensor.latestReading?.instant
        do {
            try sensor.read()
        } catch {
            memory.work.sensorErrors += 1
            sensorWork?.schedule(at: executor.now.adding(LoopTiming.retry))
            return
        }
        // Within the window the step that follows sees to the next one.
        if executor.now < memory.nextStep.adding(-LoopTiming.earlyWindow) { scheduleSensorRead() }
        if let now = sensor.latestReading?.instant, before.map({ now > $0 }) ?? true {
            noteReading(isNew: true)
        }
    }
}
