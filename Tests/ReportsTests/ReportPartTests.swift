// Parts of a report that need no study: what is escaped, how numbers are written, what a profile counts.

import IsletFiles
import IsletDevices
import IsletKernel
import Testing
import IsletTrials

@testable import IsletResults

@Suite("Parts of a report") struct ReportPartTests {
    @Test func `what is interpolated is text, whatever it holds, and markup stays markup`() {
        let name = "<script>alert('x')</script> & \"co\""
        let page: HTML = "<p>\(name)</p>\("<b>\(3)</b>" as HTML)"
        #expect(
            page.text
                == "<p>&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;co&quot;</p><b>3</b>")
        #expect((["a", "b", "c"] as [HTML]).listed.text == "a, b and c")
    }

    @Test func `a number names its place, and is converted only where it is glucose`() throws {
        let mean = try #require(Outcome.named("mean_mgdl"))
        let low = try #require(Outcome.named("tbr_54_percent"))
        #expect(
            OutcomeWords(.mgdl).number(151.26, "a.b", mean).text == "<span data-path=\"a.b\">151.3</span>")
        #expect(
            OutcomeWords(.mmolL).number(180.16, "a.b", mean).text
                == "<span data-path=\"a.b\" data-factor=\"0.05550621669626999\">10.00</span>")
        #expect(
            OutcomeWords(.mmolL).number(-0.425, "a.b", low).text == "<span data-path=\"a.b\">−0.43</span>")
        #expect(OutcomeWords(.mmolL).name("tbr_54_percent") == "time below 3.0 mmol/L")
        #expect(OutcomeWords(.mgdl).probability(0.0004, "p").text.contains("&lt; 0.001"))
    }

    /// Values 0 to 99 at each quarter of an hour: a percentile is the share itself, within a step.
    @Test func `a profile's percentiles are those of the values, in whatever order days come`() throws {
        let calendar = SessionCalendar(startEpochSeconds: 1_767_250_800, offsetSeconds: -18_000)
        func profile(_ order: [Int]) -> GlucoseProfile {
            var profile = GlucoseProfile()
            for day in order {
                profile.add(
                    [Double](repeating: 100 + Double(day), count: 288), every: 5 * Nanoseconds.minute,
                    calendar: calendar)
            }
            return profile
        }
        let (up, down) = (profile(Array(0..<100)), profile(Array((0..<100).reversed())))
        #expect(up.sessions == 100 && up.values == 28_800)
        for slot in [0, 7, 50, 95] {
            for (share, expected) in [(0.05, 105.0), (0.25, 125), (0.5, 150), (0.75, 175), (0.95, 195)] {
                let found = try #require(up.percentile(share, slot: slot))
                #expect(abs(found - expected) <= 2)
                #expect(found == down.percentile(share, slot: slot))
            }
        }
        #expect(GlucoseProfile().percentile(0.5, slot: 0) == nil)
    }

    /// The session starts at 02:00: its first value belongs there.
    @Test func `a profile goes by the local clock`() {
        let calendar = SessionCalendar(startEpochSeconds: 1_767_250_800, offsetSeconds: -18_000)
        var profile = GlucoseProfile()
        profile.add([60, 61, 62], every: 5 * Nanoseconds.minute, calendar: calendar)
        #expect(profile.percentile(0.5, slot: 8) != nil)
        #expect(profile.percentile(0.5, slot: 0) == nil && profile.percentile(0.5, slot: 9) == nil)
    }

    /// A sensor that has been over since yesterday is no quiet day.
    @Test func `an alert that was raised before the day, and lasts, has its row`() {
        func row(_ minute: Double, _ effect: String, _ code: String) -> AlertRow {
            AlertRow(
                instant: Instant.start.adding(Int64(minute) * Nanoseconds.minute), effect: effect,
                code: AlertName(rawValue: code), severity: "warning", reason: "")
        }
        let alerts = [
            row(100, "raise", "OLD"), row(110, "notify", "OLD"), row(200, "raise", "OVER"),
            row(300, "clear", "OVER"),
        ]
        let lanes = Lanes(
            alerts: alerts, person: [], endedAt: Instant.start.adding(4320 * Nanoseconds.minute),
            window: 1440...2880)
        #expect(lanes.names == ["Old"])
        let bars = lanes.marks.compactMap { if case .bars(let bars) = $0 { bars } else { nil } }.flatMap(
            \.self)
        #expect(bars.map(\.from) == [1440] && bars.map(\.to) == [2880])
        #expect(lanes.description.contains("Old 0"))
    }
}
