import SessionTime
import Testing

@Suite struct SessionTimeTests {
    @Test func instantsAndDurationsConvertExactlyAlsoBelowZero() {
        #expect(Instant.minutes(3).advanced(by: .seconds(-30)) == Instant(nanoseconds: 150 * Span.second))
        #expect(Instant.minutes(1).duration(to: .minutes(-1)) == .seconds(-120))
        #expect(Instant.start.advanced(by: .nanoseconds(-1)).nanoseconds == -1)
        #expect(Instant.minutes(-5) < .start && Instant.start < .distantFuture)
        for nanoseconds: Int64 in [0, 1, -1, 999_999_999, -999_999_999, -1_000_000_001, .max, .min + 1] {
            #expect(Duration.nanoseconds(nanoseconds).wholeNanoseconds == nanoseconds)
        }
    }

    @Test func partsOfANanosecondAreDroppedTowardsZero() {
        #expect(Duration(secondsComponent: 0, attosecondsComponent: 1_999_999_999).wholeNanoseconds == 1)
        #expect(Duration(secondsComponent: 0, attosecondsComponent: -1_999_999_999).wholeNanoseconds == -1)
        #expect(Duration(secondsComponent: 0, attosecondsComponent: -999_999_999).wholeNanoseconds == 0)
    }

    @Test func anInstantPastTheEndOfTimeTraps() async {
        await #expect(processExitsWith: .failure) { _ = Instant.distantFuture.adding(1) }
    }

    @Test func timeOfDayAndDayFollowLocalMidnight() {
        // 2024-01-01T22:00:00Z, two hours east: local midnight at the very start.
        let calendar = SessionCalendar(startEpochSeconds: 1_704_146_400, offsetSeconds: 7200)
        #expect(calendar.startOfDayOffset == 0)
        #expect(calendar.timeOfDay(at: .minutes(61)) == 61 * Span.minute)
        #expect(calendar.day(of: .start) == 0)
        #expect(calendar.day(of: Instant(nanoseconds: Span.day - 1)) == 0)
        #expect(calendar.day(of: Instant(nanoseconds: Span.day)) == 1)
        #expect(calendar.epochSeconds(at: .minutes(1)) == 1_704_146_460)
    }

    @Test func instantsBeforeTheStartAreInTheDayBefore() {
        let calendar = SessionCalendar(startEpochSeconds: 1_704_146_400, offsetSeconds: 7200)
        #expect(calendar.timeOfDay(at: Instant(nanoseconds: -1)) == Span.day - 1)
        #expect(calendar.day(of: Instant(nanoseconds: -1)) == -1)
        #expect(calendar.day(of: Instant(nanoseconds: -Span.day)) == -1)
        #expect(calendar.timeOfDay(at: Instant(nanoseconds: -Span.day)) == 0)
    }

    @Test func offsetsWestOfGreenwichAndStartsBefore1970Work() {
        // 1969-12-31T23:00:00Z, five hours west: 18:00.
        let calendar = SessionCalendar(startEpochSeconds: -3600, offsetSeconds: -18_000)
        #expect(calendar.startOfDayOffset == 18 * Span.hour)
        #expect(calendar.timeOfDay(at: .minutes(6 * 60)) == 0)
        #expect(calendar.day(of: .minutes(6 * 60)) == 1)
        #expect(calendar.day(of: .minutes(6 * 60 - 1)) == 0)
    }

    @Test func dayAndTimeOfDayPutTogetherGiveTheInstantBack() {
        let calendar = SessionCalendar(startEpochSeconds: 1_700_000_123, offsetSeconds: -12_600)
        for step in Int64(-3000)..<3000 {
            let instant = Instant(nanoseconds: step * 47 * Span.minute + step)
            let time = calendar.timeOfDay(at: instant)
            #expect((0..<Span.day).contains(time))
            #expect(
                calendar.day(of: instant) * Span.day + time - calendar.startOfDayOffset == instant.nanoseconds
            )
        }
    }
}
