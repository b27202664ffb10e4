// Whoever watches, exports or looks at a session: it is the very session that ran.

import IsletAlerts
import IsletLoop
import IsletDevices
import IsletKernel
import IsletModels
import Testing

@testable import IsletTrials

@Suite("The same session")
struct SameSessionTests {
    private func study(_ faults: String, duration: String, algorithm: String = "pid-insulin-feedback") throws
        -> Study
    {
        try Study.parse(
            """
            study: same
            seed: 20260402
            duration: \(duration)
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 3 } }
            faults: \(faults)
            arms: [{ algorithm: \(algorithm), alerts: bionicloop }]
            """, file: "same.yaml", overrides: [])
    }

    private func session(_ study: Study, _ index: Int, keepsStepLog: Bool = false) throws -> Session {
        let subjects = try CohortLoader.subjects(of: study, studyPath: "same.yaml", jobs: 1)
        return try Session(
            study: study, subject: subjects[index % 3], index: index, arm: study.arms[0],
            keepsStepLog: keepsStepLog)
    }

    @Test(
        "has the same digest with a step log and without, also where the app dies while it waits for glucose",
        arguments: [
            "{ scheduled: [{ at: 0m, kind: signal-loss, for: 85m }, { at: 10m, kind: app-relaunch }] }",
            "{ scheduled: [{ at: 0m, kind: signal-loss, for: 85m }, { at: 12m, kind: app-quit, for: 31m }] }",
            "{ app-relaunch: { rate: 24 }, app-quit: { rate: 10 }, signal-loss: { rate: 4 }, "
                + "pump-outage: { rate: 2 }, occlusion: { rate: 1 }, pod-fault: true, "
                + "uncertain-delivery: { rate: 0.5 }, command-failure: { rate: 0.1 } }",
        ])
    func stepLog(faults: String) throws {
        for algorithm in ["pid-insulin-feedback", "basal-bolus"] {
            let study = try study(faults, duration: "36h", algorithm: algorithm)
            for index in 0..<3 {
                let plain = try session(study, index).run()
                let kept = try session(study, index, keepsStepLog: true)
                #expect(kept.run().digest == plain.digest)
                #expect(kept.takeStepLog().count > 100)
            }
        }
    }

    @Test("has the same digest and outcomes, whoever reads all there is to read, and whenever")
    func looks() throws {
        var random = RandomStreams(seed: 5, subject: 0).stream("looks")
        for algorithm in ["pid-insulin-feedback", "basal-bolus"] {
            let study = try study("all", duration: "80h", algorithm: algorithm)
            for index in 0..<3 {
                let unseen = try session(study, index).run()
                let seen = try session(study, index)
                var now = Instant.start
                while now < seen.duration {
                    now = now.adding(Int64.random(in: 1...40 * Nanoseconds.minute, using: &random))
                    try seen.advance(to: now)
                    look(seen)
                }
                let outcome = seen.run()
                #expect(outcome.digest == unseen.digest && outcome.outcomes == unseen.outcomes)
            }
        }
    }

    private func look(_ session: Session) {
        _ = session.ledger
        _ = session.evaluations
        session.executor.inspect {
            let pump = session.pump
            _ = (pump.status, pump.isReady, pump.here { $0.trueReservoir() }, pump.here { $0.openIssues() })
            _ = session.loop.here { $0.display() }
            _ = session.loop.here { $0.currentMemory }
            _ = (session.sensor.latestReading, session.sensor.state)
            _ = session.alerts.here { $0.active }
        }
    }
}
