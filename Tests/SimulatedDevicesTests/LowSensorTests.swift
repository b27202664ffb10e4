// A newcomer's sensor: one file, and it is worn like any other.

import IsletDevices
import IsletKernel
import Testing

@testable import IsletModels

@Suite struct LowSensorTests {
    @Test func aSensorThatOnlyThisFileKnowsIsWornForDaysAndKeepsItsPromise() throws {
        let executor = SessionExecutor()
        let body = FakeBody { _ in 130 }
        let recorder = SessionRecorder(level: .full)
        let sensor = SimulatedSensor(
            executor: executor, model: .low, streams: RandomStreams(seed: 4, subject: 0), body: body,
            recorder: recorder)
        executor.start("sensor") { try await sensor.begin(observers: []) }
        try executor.advance(to: .minutes(15 * 24 * 60))
        // Two sensors, each low by its own share, and the same throughout.
        let values = Set(recorder.readings.map(\.mgdl))
        #expect(values.count == 2)
        #expect(values.allSatisfy { $0 > 0.8 * 130 && $0 <= 130 })
        try executor.end()
    }
}
