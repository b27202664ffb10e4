// When a bolus by hand asks again.

import IsletDevices
import IsletKernel
import Testing

@testable import IsletLive

@Suite("A bolus asks again where something speaks against it") struct GivenBolusesTests {
    private let therapy = TherapySettings(
        bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: 1), carbohydrateRatioGramsPerUnit: 10,
        correctionFactorMgdlPerUnit: 40, totalDailyInsulin: InsulinAmount(units: 45))

    private func given(_ units: Double, minutesAgo: Int64, at now: Instant) -> GivenBoluses {
        let recorder = SessionRecorder(level: .full)
        recorder.delivery(units, requestID: 1, at: now.adding(-minutesAgo * Nanoseconds.minute))
        var given = GivenBoluses()
        given.note(recorder, at: now)
        return given
    }

    private func doubt(_ units: Double, of given: GivenBoluses, mgdl: Double?, at now: Instant) -> String? {
        GivenBoluses.doubt(
            of: units, onBoard: given.onBoard(at: now, therapy), needed: given.needed(at: now, therapy),
            mgdl: mgdl,
            therapy)?.text
    }

    @Test func `12 U at 58 mg/dL, 90 min after 9.2 U, ask again with insulin on board and the reason`() throws
    {
        let now = Instant.minutes(600)
        let before = given(9.2, minutesAgo: 90, at: now)
        let onBoard = before.onBoard(at: now, therapy)
        #expect((4.5...6.5).contains(onBoard))
        let said = try #require(doubt(12, of: before, mgdl: 58, at: now))
        #expect(said.hasPrefix("12.0 U asks again: glucose is 58 mg/dL"))
        #expect(said.contains("U of earlier boluses still act"))
    }

    @Test func `nothing asks again where nothing speaks against it`() {
        let now = Instant.minutes(900)
        #expect(doubt(4, of: GivenBoluses(), mgdl: 140, at: now) == nil)
        #expect(doubt(4, of: GivenBoluses(), mgdl: nil, at: now) == nil)
        // A step's small boluses stand in for the basal.
        #expect(doubt(4, of: given(0.08, minutesAgo: 5, at: now), mgdl: 140, at: now) == nil)
        // High enough for what is on board and more.
        #expect(doubt(4, of: given(2, minutesAgo: 120, at: now), mgdl: 260, at: now) == nil)
        #expect(doubt(4, of: given(9.2, minutesAgo: 361, at: now), mgdl: 110, at: now) == nil)
    }

    @Test func `what is on board is enough, or nobody knows the glucose: it asks`() {
        let now = Instant.minutes(900)
        #expect(
            doubt(4, of: given(6, minutesAgo: 60, at: now), mgdl: 150, at: now)?.contains("enough") == true)
        #expect(
            doubt(4, of: given(6, minutesAgo: 60, at: now), mgdl: nil, at: now)?.contains("nobody knows")
                == true)
        #expect(doubt(1, of: GivenBoluses(), mgdl: 65, at: now) != nil)
    }

    @Test func `what a meal still needs is not on board for nothing`() {
        let now = Instant.minutes(900)
        let recorder = SessionRecorder(level: .full)
        recorder.did(.meal, 60, at: now.adding(-20 * Nanoseconds.minute))
        recorder.did(.announcement, 60, at: now.adding(-20 * Nanoseconds.minute))
        recorder.delivery(6, requestID: 1, at: now.adding(-20 * Nanoseconds.minute))
        var given = GivenBoluses()
        given.note(recorder, at: now)
        #expect(doubt(1, of: given, mgdl: 130, at: now) == nil)
        #expect(doubt(1, of: given, mgdl: 66, at: now) != nil)
    }

    @Test func `the model of insulin on board falls from one to nothing in six hours`() {
        let shares = stride(from: 0.0, through: 360, by: 10).map(GivenBoluses.share(after:))
        #expect(shares.first == 1 && shares.last == 0)
        #expect(zip(shares, shares.dropFirst()).allSatisfy { $0 >= $1 })
        #expect((0.45...0.7).contains(GivenBoluses.share(after: 90)))
    }
}
