// Axes: which values are named, and where values stand.

import IsletFiles
import IsletKernel
import Testing

@Suite("Axes") struct AxisTests {
    private func labels(_ axis: Axis, _ most: Int) -> [String] { axis.ticks(atMost: most).map(\.label) }

    @Test func `linear ticks are round, with the decimals that their step takes`() {
        #expect(labels(.linear("", from: 0, to: 1), 6) == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"])
        #expect(labels(.linear("", from: -3, to: 7), 6) == ["\u{2212}2", "0", "2", "4", "6"])
        #expect(
            labels(.linear("", around: [0.0031, 0.0004]), 5) == ["0.000", "0.001", "0.002", "0.003", "0.004"])
        #expect(labels(.linear("", around: [.nan, .infinity]), 3) == ["0.0", "0.5", "1.0"])
    }

    @Test func `logarithmic ticks are decades, with 2 and 5 where there is room`() {
        #expect(labels(.logarithmic("", around: [3, 80]), 8) == ["1", "2", "5", "10", "20", "50", "100"])
        #expect(labels(.logarithmic("", around: [0.01, 5000]), 6) == ["0.01", "1", "100", "10000"])
        #expect(Axis.logarithmic("", around: [1, 100]).place(10) == 0.5)
        #expect(Axis.logarithmic("", around: [1, 100]).place(0) == nil)
    }

    @Test func `glucose is named by the consensus' bounds in either unit`() {
        #expect(labels(.glucose(.mgdl), 8) == ["54", "70", "180", "250", "350"])
        // Where there is no room for both, 70 is what is named.
        #expect(
            Axis.glucose(.mgdl).ticks(atMost: 8, apart: 0.06).map(\.label) == ["70", "180", "250", "350"])
        #expect(
            Axis.glucose(.mmolL).ticks(atMost: 8, apart: 0.04).map(\.label)
                == ["3.0", "3.9", "10.0", "13.9", "19.4"])
        #expect(GlucoseUnit.mmolL.text(mgdl: 180.16) == "10.0" && GlucoseUnit.mgdl.text(mgdl: 69.6) == "70")
    }

    @Test func `time is local, and a midnight is named by its day of the week`() {
        let axis = Axis.time("", from: 0, to: 2160, calendar: ChartFixtures.newYork)
        #expect(labels(axis, 7) == ["06:00", "12:00", "18:00", "Fri 00:00", "06:00", "12:00"])
        #expect(labels(.clock(), 5) == ["00:00", "06:00", "12:00", "18:00", "24:00"])
        #expect(
            labels(.time("", from: 0, to: 30 * 1440, calendar: ChartFixtures.newYork), 6).first
                == "Thu, day 8")
    }

    @Test func `a profile names its bounds, whatever it holds`() {
        #expect(labels(.profile(.mgdl), 2) == ["54", "70", "180", "250", "400"])
        #expect(labels(.profile(.mmolL), 2) == ["3.0", "3.9", "10.0", "13.9", "22.2"])
    }

    /// Clocks go forward at 02:00 on the second day: a tick stands where they show a round time.
    @Test func `ticks follow clocks that are put forward`() {
        let calendar = SessionCalendar(
            startEpochSeconds: 1_772_946_000, offsetSeconds: -18_000,
            changes: [.init(at: .minutes(120), offsetSeconds: -14_400)])
        let ticks = Axis.time("", from: 0, to: 600, calendar: calendar).ticks(atMost: 6)
        #expect(ticks.map(\.label) == ["Sun 00:00", "04:00", "06:00", "08:00", "10:00"])
        #expect(ticks.map(\.value) == [0, 180, 300, 420, 540])
    }

    @Test func `ticks rise within the range, at most as many as asked for`() {
        var luck = ChartFixtures.Luck(state: 5)
        for _ in 0..<3000 {
            let axis = luck.axis()
            let most = 2 + luck.below(12)
            let ticks = axis.ticks(atMost: most)
            if axis.names == nil { #expect(ticks.count <= most + 1, "\(axis)") }
            for (a, b) in zip(ticks, ticks.dropFirst()) { #expect(a.value < b.value, "\(axis)") }
            for tick in ticks {
                #expect(
                    axis.names != nil
                        || axis.lower - 1e-6 * abs(axis.lower) <= tick.value
                            && tick.value <= axis.upper + 1e-6 * abs(axis.upper),
                    "\(axis)")
            }
            for value in [axis.lower, axis.upper, 1e300, -1e300, luck.value()] {
                if let place = axis.place(value) { #expect(place >= 0 && place <= 1) }
            }
        }
    }

    @Test func `numbers have no locale, no negative zero and no nan`() {
        #expect(ChartNumber.text(-0.001, places: 2) == "0.00")
        #expect(ChartNumber.text(-1234.5678, places: 2) == "\u{2212}1234.57")
        #expect(ChartNumber.text(.nan, places: 2) == "–" && ChartNumber.plain(.infinity, places: 1) == "0")
        #expect(
            [0.012345, 0.12345, 1.2345, 12.345, 123.45].map(ChartNumber.significant) == [
                "0.0123", "0.123", "1.23", "12.3", "123",
            ])
        #expect(TextWidth.fitted("ALERT-PUMP-SIGNAL-LOSS", width: 80, size: 11).count < 14)
        #expect(TextWidth.fitted("short", width: 80, size: 11) == "short")
    }

    @Test func `the region of a mean is Hotelling's`() {
        // n = 12: T² = 11·(0.05^(−2/10) − 1) = 9.0264; a circle of radius √(T²/12)·σ.
        let region = Region.ofMean(x: 3, y: 4, covariance: (xx: 1, xy: 0, yy: 1), n: 12, corners: 8) ?? []
        #expect(region.count == 8)
        for corner in region {
            let radius = ((corner.x - 3) * (corner.x - 3) + (corner.y - 4) * (corner.y - 4)).squareRoot()
            #expect(abs(radius - 0.8673) < 0.0005)
        }
        #expect(Region.ofMean(x: 0, y: 0, covariance: (xx: 1, xy: 0, yy: 1), n: 3) == nil)
        #expect(Region.ofMean(x: 0, y: 0, covariance: (xx: .nan, xy: 0, yy: 1), n: 30) == nil)
    }

    /// A value at the border would be read as the border's.
    @Test func `an axis of glucose reaches as far as what it holds`() throws {
        for (values, ends) in [
            (70.0...320, 40.0...350), (20...720, 20...750), (33...351, 30...400), (1...1000, 0...1000),
        ] {
            let axis = Axis.glucose(.mgdl, holding: values)
            #expect(axis.place(ends.lowerBound) == 0 && axis.place(ends.upperBound) == 1, "\(values)")
        }
    }
}
