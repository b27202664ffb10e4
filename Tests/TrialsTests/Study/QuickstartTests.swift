// What the shipped quickstart asks, so that nobody's edit makes it ask something else than its words say.

import IsletAlerts
import IsletFiles
import Foundation
import IsletPeople
import IsletDevices
import IsletKernel
import Testing

@testable import IsletTrials

@Suite("The quickstart")
struct QuickstartTests {
    private func study() throws -> Study {
        let path = projectDirectory.appending(path: "Cohorts/quickstart.yaml").path()
        return try Study.read(path: path)
    }

    @Test("compares two policies on people who hear them, in a week of life; they differ in 15 minutes alone")
    func twoPolicies() throws {
        let study = try study()
        #expect(study.scenario.life != nil && study.duration.seconds == 7 * 86_400)
        #expect(study.arms.map(\.name) == ["at-once", "after-15-min", "silent"])
        let listeners = study.arms.map { study.person(in: $0) }
        #expect(listeners == [PersonSettings(.typical), PersonSettings(.typical), PersonSettings(.muted)])
        var (first, second) = (study.arms[0].alerts, study.arms[1].alerts)
        #expect(first.rules.count { $0.debounce == 15 * Nanoseconds.minute } == 0)
        for (place, rule) in second.rules.enumerated() where ["LOW", "HIGH"].contains(rule.code.rawValue) {
            #expect(rule.debounce == 15 * Nanoseconds.minute)
            second.rules[place].debounce = 0
        }
        #expect(second.rules.count == first.rules.count)
        first.rules.sort { $0.code < $1.code }
        second.rules.sort { $0.code < $1.code }
        #expect(first.rules == second.rules)
        // But for who hears it the yardstick is the reference.
        #expect(study.arms[2].alerts == study.arms[0].alerts && study.reference == "at-once")
    }

    @Test("declares what it is about before it runs, and what waiting may cost")
    func declared() throws {
        let study = try study()
        #expect(study.primary == ["tbr_54_percent", "tbr_70_percent", "alerts_notifications_per_day"])
        #expect(study.margin == 0.2)
    }
}
