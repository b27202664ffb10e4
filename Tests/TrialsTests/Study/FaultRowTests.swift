// Each kind of fault is one row: what the rest of the program knows of it is there, and fits.

import IsletAlerts
import IsletDevices
import IsletFiles
import IsletKernel
import IsletModels
import Testing

@testable import IsletTrials

@Suite("A fault's row")
struct FaultRowTests {
    @Test("names alerts that there are, a rate within its range, and a source")
    func isComplete() {
        #expect(Set(FaultKind.all.map(\.id)).count == FaultKind.all.count)
        for (place, kind) in FaultKind.all.enumerated() {
            #expect(kind.index == place && FaultKind.named(kind.id) == kind)
            #expect(kind.rate.range.contains(kind.rate.defaultValue), "\(kind.id)")
            #expect(!kind.meaning.isEmpty && !kind.source.isEmpty)
            guard case .alerts(let codes, _) = kind.notice else { continue }
            #expect(!codes.isEmpty)
            for code in codes { #expect(AlertCode(rawValue: code) != nil, "\(kind.id): \(code)") }
        }
    }

    /// The places are in journals, and so in digests.
    @Test("keeps its place: new kinds go to the end")
    func keepsItsPlace() {
        #expect(
            FaultKind.all.prefix(15).map(\.id) == [
                "compression-low", "signal-loss", "temporary-sensor-error", "sensor-failure",
                "late-sensor-change", "pump-outage", "command-failure", "uncertain-delivery", "occlusion",
                "site-failure", "pod-fault", "late-pod-change", "missing-pulses", "app-relaunch", "app-quit",
            ])
    }

    /// No kind is forgotten by the device that it is of: what a study schedules is in the session's truth.
    @Test(
        "does something where a study schedules it", arguments: FaultKind.all.filter(\.canBeScheduled))
    func strikes(kind: FaultKind) throws {
        let study = try Study.parse(
            """
            seed: 3
            duration: 1d
            cohort: { generate: { count: 1 } }
            arms: [{}]
            faults: { scheduled: [{ at: 6h, kind: \(kind.id), for: 2h }] }
            """, file: "s.yaml")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "s.yaml", jobs: 1)
        let session = try Session(study: study, subject: subjects[0], index: 0, arm: study.arms[0])
        #expect(session.run().end == .completed)
        let spans = session.recorder.faults.filter { $0.kind == kind.id }
        #expect(spans.first?.instant.nanoseconds ?? 0 >= 6 * Nanoseconds.hour, "\(kind.id)")
        #expect(!spans.isEmpty, "\(kind.id)")
    }

    @Test("may have standard rates by age, which a study can set")
    func ratesByAge() throws {
        let own = FaultKind.all.filter { $0.rate.defaultByAge != nil }
        #expect(own == [.siteFailure])
        #expect(
            refusal(
                of:
                    "cohort: { generate: {} }\narms: [{}]\nfaults: { occlusion: { rate: { adult: 1 } } }\n")?
                .line == 3)
    }
}
