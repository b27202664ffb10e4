// What the algorithm forecasts, from its step to an alert; and studies in which nobody would.

import IsletFiles
import IsletAlerts
import IsletDevices
import IsletKernel
import IsletLoop
import Testing

@testable import IsletTrials

@Suite struct ForecastSessionTests {
    private func study(_ algorithm: String, _ rest: String) throws -> Study {
        try Study.parse(
            """
            study: forecast
            seed: 3
            duration: 2d
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 1 } }
            scenario: { meals: hard }
            person: deaf
            arms: [{ algorithm: \(algorithm), alerts: \(rest)
            """, file: "forecast.yaml")
    }

    private static let policy = "{ policy: f, rules: [{ code: FORECAST, when: forecastGlucose < 90 }] }"

    @Test func whatTheAlgorithmForecastsRingsAndSaysSo() throws {
        let study = try study("pid-insulin-feedback", "\(Self.policy) }]\nrecord: full")
        let subject = try CohortLoader.subjects(of: study, studyPath: "f.yaml", jobs: 1)[0]
        let session = try Session(study: study, subject: subject, index: 0, arm: study.arms[0])
        _ = session.run()
        let raised = session.recorder.alerts.filter { $0.effect == "raise" }
        #expect(!raised.isEmpty)
        // As the algorithm's own equations have it, from the readings that its steps had.
        let steps = session.recorder.steps
        var (slope, last): (Double, (minute: Double, mgdl: Double)?) = (0, nil)
        var below: [Double] = []
        for step in steps {
            guard let mgdl = step.cgmMgdl else {
                last = nil
                continue
            }
            let minute = step.instant.minutes
            // A first reading has no slope; readings are five minutes apart.
            if let before = last {
                slope += 0.35 * ((mgdl - before.mgdl) / 5 - slope)
                if mgdl + slope * 45 < 90 { below.append(minute) }
            } else {
                slope = 0
            }
            last = (minute, mgdl)
        }
        let first = try #require(below.first)
        #expect(abs(raised[0].instant.minutes - first) < 0.5)
    }

    @Test func anAlgorithmThatForecastsNothingIsRefusedWithALine() throws {
        func problem(_ rest: String) -> String {
            do {
                _ = try study("basal-bolus", rest)
                return ""
            } catch { return "\(error)" }
        }
        let able = AlgorithmKind.all.filter { TunedAlgorithm($0).algorithm.forecastMinutes != nil }.map(\.id)
        #expect(able.count > 3)
        let own = problem("\(Self.policy) }]")
        #expect(
            own
                == "forecast.yaml:7: found forecastGlucose in the policy `f`, beside the arm `basal-bolus` at arms[0].alerts, expected an algorithm that forecasts (\(able.joined(separator: ", "))), or `glucoseIn20m`: basal-bolus makes no forecast"
        )
        #expect(
            problem("none }]\npolicies: [\(Self.policy)]")
                .hasPrefix("forecast.yaml:8: found forecastGlucose in the policy `f`"))
        #expect(problem("{ policy: f, rules: [{ code: SOON, when: glucoseIn20m < 70 }] } }]").isEmpty)
        // Looking ahead by nothing is no forecast either.
        #expect(
            throws: (any Error).self,
            performing: {
                try study("{ name: pid-insulin-feedback, prediction: 0 }", "\(Self.policy) }]")
            })
        #expect(throws: Never.self) { try study("pid-insulin-feedback", "\(Self.policy) }]") }
    }
}
