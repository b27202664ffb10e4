import IsletDevices
import DeviceLinks
import IsletKernel
import Testing

@Suite("A linked sensor") struct LinkedSensorTests {
    private func bench() throws -> LinkBench {
        let bench = try LinkBench(hasReadings: false)
        try bench.live(untilMinute: 60)
        return bench
    }

    private func hear(_ mgdl: Double, minutes: Double, in bench: LinkBench) {
        let taken = Instant(nanoseconds: Int64(minutes * Double(Nanoseconds.minute)))
        bench.executor.inspect {
            bench.sensor.here((mgdl, taken)) {
                $0.hear(GlucoseConcentration(milligramsPerDecilitre: $1.0), at: $1.1, isReliable: true)
            }
        }
    }

    @Test func aReadingIsHeardOnceAndALateOneIsHistory() throws {
        let bench = try bench()
        for _ in 0..<50 { hear(140, minutes: 59.9, in: bench) }
        hear(180, minutes: 59.6, in: bench)
        hear(120, minutes: 40, in: bench)
        hear(130, minutes: 45, in: bench)
        hear(130, minutes: 45.2, in: bench)
        #expect(bench.devices.readings.map(\.glucose.milligramsPerDecilitre) == [140])
        #expect(bench.devices.backfilled.map(\.glucose.milligramsPerDecilitre) == [120, 130])
        #expect(bench.devices.backfilled.allSatisfy { $0.isBackfilled })
        bench.executor.inspect { #expect(bench.sensor.latestReading?.instant.minutes ?? 0 > 59) }
    }

    @Test func aLateReadingIsNoNewsEvenWhereItIsTheNewest() throws {
        let bench = try bench()
        hear(50, minutes: 44, in: bench)
        #expect(bench.devices.readings.isEmpty && bench.devices.backfilled.count == 1)
        bench.executor.inspect { #expect(bench.sensor.latestReading == nil) }
    }

    /// After ten minutes without a link a low is a low, and a step may use it: 15 min are what a step allows.
    @Test func theNewestReadingIsNewsForAsLongAsAStepMayUseIt() throws {
        let bench = try bench()
        hear(52, minutes: 53, in: bench)
        #expect(bench.devices.readings.map(\.glucose.milligramsPerDecilitre) == [52])
        bench.executor.inspect { #expect(bench.sensor.latestReading != nil) }
    }

    @Test func aClockALittleAheadIsNowAndFurtherAheadIsRefused() throws {
        let bench = try bench()
        hear(140, minutes: 61.5, in: bench)
        #expect(bench.devices.readings.map(\.instant) == [bench.executor.now])
        hear(150, minutes: 62.1, in: bench)
        hear(150, minutes: 1e6, in: bench)
        #expect(bench.devices.readings.count == 1)
    }

    @Test(arguments: [Double.nan, .infinity, -5, 0, 5000]) func whatIsNoGlucoseIsRefused(_ mgdl: Double)
        throws
    {
        let bench = try bench()
        hear(mgdl, minutes: 59.9, in: bench)
        hear(140, minutes: -5, in: bench)
        #expect(bench.devices.readings.isEmpty && bench.devices.backfilled.isEmpty)
    }
}
