import IsletKernel
import Testing

@Suite struct SessionTimeTests {
    @Test func instantsAndDurationsConvertExactlyAlsoBelowZero() {
        #expect(
            Instant.minutes(3).advanced(by: .seconds(-30)) == Instant(nanoseconds: 150 * Nanoseconds.second))
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
        #expect(calendar.timeOfDay(at: .minutes(61)) == 61 * Nanoseconds.minute)
        #expect(calendar.day(of: .start) == 0)
        #expect(calendar.day(of: Instant(nanoseconds: Nanoseconds.day - 1)) == 0)
        #expect(calendar.day(of: Instant(nanoseconds: Nanoseconds.day)) == 1)
        #expect(calendar.epochSeconds(at: .minutes(1)) == 1_704_146_460)
    }

    @Test func instantsBeforeTheStartAreInTheDayBefore() {
        let calendar = SessionCalendar(startEpochSeconds: 1_704_146_400, offsetSeconds: 7200)
        #expect(calendar.timeOfDay(at: Instant(nanoseconds: -1)) == Nanoseconds.day - 1)
        #expect(calendar.day(of: Instant(nanoseconds: -1)) == -1)
        #expect(calendar.day(of: Instant(nanoseconds: -Nanoseconds.day)) == -1)
        #expect(calendar.timeOfDay(at: Instant(nanoseconds: -Nanoseconds.day)) == 0)
    }

    @Test func offsetsWestOfGreenwichAndStartsBefore1970Work() {
        // 1969-12-31T23:00:00Z, five hours west: 18:00.
        let calendar = SessionCalendar(startEpochSeconds: -3600, offsetSeconds: -18_000)
        #expect(calendar.startOfDayOffset == 18 * Nanoseconds.hour)
        #expect(calendar.timeOfDay(at: .minutes(6 * 60)) == 0)
        #expect(calendar.day(of: .minutes(6 * 60)) == 1)
        #expect(calendar.day(of: .minutes(6 * 60 - 1)) == 0)
    }

    /// New York from 2 March 2026, 06:00: clocks go forward on the 8th at 2 h, back on 1 November at 2 h.
    @Test func localClocksGoForwardAndBack() {
        let (forward, back): (Int64, Int64) = (1_772_953_200, 1_793_512_800)
        let start: Int64 = 1_772_449_200
        let calendar = SessionCalendar(
            startEpochSeconds: start, offsetSeconds: -18_000,
            changes: [
                .init(
                    at: Instant(nanoseconds: (forward - start) * Nanoseconds.second), offsetSeconds: -14_400),
                .init(at: Instant(nanoseconds: (back - start) * Nanoseconds.second), offsetSeconds: -18_000),
            ])
        func local(_ epoch: Int64) -> String {
            calendar.iso8601(at: Instant(nanoseconds: (epoch - start) * Nanoseconds.second))
        }
        #expect(local(forward - 1) == "2026-03-08T01:59:59-05:00")
        #expect(local(forward) == "2026-03-08T03:00:00-04:00")
        #expect(local(back - 1) == "2026-11-01T01:59:59-04:00")
        #expect(local(back) == "2026-11-01T01:00:00-05:00")
        for day: Int64 in [0, 5, 6, 7, 100, 243, 244, 245, 300] {
            for hour: Int64 in [0, 1, 4, 12, 23] {
                let instant = calendar.instant(ofDay: day, nanosecondOfDay: hour * Nanoseconds.hour)
                #expect(
                    calendar.day(of: instant) == day
                        && calendar.timeOfDay(at: instant) == hour * Nanoseconds.hour)
            }
        }
        // Half past two doesn't exist on the 8th: it is half past three.
        let skipped = calendar.instant(ofDay: 6, nanosecondOfDay: 150 * Nanoseconds.minute)
        #expect(calendar.timeOfDay(at: skipped) == 210 * Nanoseconds.minute)
    }

    @Test func dayAndTimeOfDayPutTogetherGiveTheInstantBack() {
        let calendar = SessionCalendar(startEpochSeconds: 1_700_000_123, offsetSeconds: -12_600)
        for step in Int64(-3000)..<3000 {
            let instant = Instant(nanoseconds: step * 47 * Nanoseconds.minute + step)
            let time = calendar.timeOfDay(at: instant)
            #expect((0..<Nanoseconds.day).contains(time))
            #expect(
                calendar.day(of: instant) * Nanoseconds.day + time - calendar.startOfDayOffset
                    == instant.nanoseconds
            )
        }
    }
}

@Suite struct LocalTimeTextTests {
    @Test func theTextIsLocalExactAndSaysItsOffset() {
        let east = SessionCalendar(startEpochSeconds: 1_704_146_400, offsetSeconds: 7200)
        #expect(east.iso8601(at: .start) == "2024-01-02T00:00:00+02:00")
        #expect(east.iso8601(at: Instant(nanoseconds: -1)) == "2024-01-01T23:59:59.999999999+02:00")
        #expect(east.iso8601(at: Instant(nanoseconds: 1_500_000_000)) == "2024-01-02T00:00:01.5+02:00")
        // 58 days later: the leap day of 2024.
        #expect(east.iso8601(at: Instant(nanoseconds: 58 * Nanoseconds.day)) == "2024-02-29T00:00:00+02:00")
        #expect(east.iso8601(at: Instant(nanoseconds: 365 * Nanoseconds.day)) == "2025-01-01T00:00:00+02:00")
        let west = SessionCalendar(startEpochSeconds: -3600, offsetSeconds: -12_600)
        #expect(west.iso8601(at: .minutes(60)) == "1969-12-31T20:30:00-03:30")
        let here = SessionCalendar(startEpochSeconds: 4_107_542_400, offsetSeconds: 0)
        #expect(here.iso8601(at: .minutes(1)) == "2100-03-01T00:01:00Z")
        #expect(here.iso8601(at: .minutes(-1)) == "2100-02-28T23:59:00Z")
    }
}

@Suite struct CivilDateTests {
    @Test func daysAndDatesAreEachOthersInverse() {
        #expect(CivilDate.daysSince1970(year: 1970, month: 1, day: 1) == 0)
        #expect(CivilDate.daysSince1970(year: 2000, month: 3, day: 1) == 11_017)
        var date = (year: 1896, month: 1, day: 1)
        var days = CivilDate.daysSince1970(year: 1896, month: 1, day: 1)
        #expect(days == -27_028)
        // Day by day, over two centuries that begin without a leap day and one that begins with one.
        while date.year < 2105 {
            #expect(CivilDate.date(daysSince1970: days) == date)
            #expect(CivilDate.daysSince1970(year: date.year, month: date.month, day: date.day) == days)
            days += 1
            date.day += 1
            if date.day > CivilDate.days(inMonth: date.month, of: date.year) {
                date = (date.year, date.month + 1, 1)
            }
            if date.month > 12 { date = (date.year + 1, 1, 1) }
        }
    }
}
