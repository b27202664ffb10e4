// Glucose metrics against the consensus' numbers and against iglu_python 0.4.3, pasted as literals.

import IsletFiles
import Testing

@Suite("Glucose metrics") struct GlucoseMetricsTests {
    /// Two triangle waves and a hash: 30 h from 06:00 every 5 min, 41.5...274 mg/dL. All halves, so exact.
    private static func wave(_ i: Int) -> Double {
        func triangle(_ i: Int, _ period: Int) -> Double {
            let k = i % period
            return Double(k < period / 2 ? k : period - k)
        }
        let jitter = Double(i * 7919 % 23) * 0.5
        return 30 + 3.5 * triangle(i, 97) + 2.5 * triangle(i + 11, 61) + jitter
    }

    private static func trace(where isKept: (Int) -> Bool = { _ in true }) throws -> GlucoseTrace {
        let kept = (0...360).filter(isKept)
        return try GlucoseTrace(
            minutes: kept.map { Double(5 * $0) }, mgdl: kept.map(wave), startMinuteOfDay: 360)
    }

    private func expect(
        _ metrics: GlucoseMetrics, _ expected: [GlucoseMetricKey: Double],
        location: SourceLocation = #_sourceLocation
    ) {
        #expect(expected.count == GlucoseMetricKey.allCases.count, sourceLocation: location)
        for key in GlucoseMetricKey.allCases {
            // iglu's lows end at 112.5, ours where f changes sign, 0.02 mg/dL above: 3e-9 in LBGI here.
            let found = metrics[key] ?? .nan
            let wanted = expected[key] ?? .nan
            #expect(
                abs(found - wanted) <= 1e-8 * max(1, abs(wanted)), "\(key.rawValue)", sourceLocation: location
            )
        }
    }

    @Test func `a whole trace gives iglu's numbers`() throws {
        // iglu_python 0.4.3; ADRR times 10·1.509²/22.77
        expect(
            GlucoseMetrics(try Self.trace()),
            [
                .n: 361, .days: 1.25, .coveragePercent: 100, .meanMgdl: 161.49030470914127,
                .sdMgdl: 53.45152830333713, .cvPercent: 33.09890856891266, .gmiPercent: 7.1728480886426595,
                .tir70to180Percent: 54.016620498614955, .titr70to140Percent: 28.254847645429365,
                .tbr70Percent: 4.1551246537396125, .tbr54Percent: 1.662049861495845,
                .tar180Percent: 41.82825484764543, .tar250Percent: 2.7700831024930745,
                .lbgi: 1.1245683708405543, .hbgi: 7.165013566018861, .gri: 46.64819944598338,
                .adrr: 49.51880906091307, .moddMgdl: 31.52054794520548, .mageMgdl: 168,
                .jIndex: 46.199991578764156, .conga1h: 47.46408690435465, .hypoEventsL1: 1,
                .hypoEventsL2: 1, .hyperEventsL1: 4, .hyperEventsL2: 1,
            ])
    }

    @Test func `gaps of 80, 25 and 205 min leave iglu's numbers and stay out of every percentage`() throws {
        let gaps = [100..<115, 200..<204, 260..<300]
        expect(
            GlucoseMetrics(try Self.trace { index in !gaps.contains { $0.contains(index) } }),
            [
                .n: 302, .days: 1.25, .coveragePercent: 83.65650969529086, .meanMgdl: 171.3476821192053,
                .sdMgdl: 48.17680937325539, .cvPercent: 28.116405648101587, .gmiPercent: 7.408636556291391,
                .tir70to180Percent: 51.98675496688742, .titr70to140Percent: 24.17218543046358,
                .tbr70Percent: 0.9933774834437087, .tbr54Percent: 0, .tar180Percent: 47.019867549668874,
                .tar250Percent: 3.3112582781456954, .lbgi: 0.30937067719748457, .hbgi: 8.09713382815471,
                .gri: 42.64900662251656, .adrr: 34.57799963203001, .moddMgdl: 29.68032786885246,
                .mageMgdl: 162.05054858934167, .jIndex: 48.19100236502345, .conga1h: 45.51033281671598,
                .hypoEventsL1: 0, .hypoEventsL2: 0, .hyperEventsL1: 4, .hyperEventsL2: 1,
            ])
    }

    @Test func `the risk transform has the published values`() {
        // reference/models.md 8.4
        let published = [
            (54, -1.3587, 18.461), (70, -0.8806, 7.755), (112.5, -0.0003, 0), (140, 0.4080, 1.665),
            (180, 0.8792, 7.729), (250, 1.4979, 22.436), (400, 2.3884, 57.046), (20, -3.1629, 100.04),
        ]
        for (glucose, f, risk) in published {
            #expect(abs(GlucoseRisk.symmetrized(glucose) - f) < 5e-5)
            #expect(abs(GlucoseRisk.risk(glucose) - risk) < 5e-3)
        }
    }

    @Test func `exactly 70, 140 and 180 are in range, and 54 and 250 in the nearer band`() throws {
        let metrics = GlucoseMetrics(
            try GlucoseTrace(minutes: [0, 5, 10, 15, 20], mgdl: [54, 70, 140, 180, 250]))
        #expect(metrics.tir70to180Percent == 60 && metrics.titr70to140Percent == 40)
        #expect(metrics.tbr70Percent == 20 && metrics.tbr54Percent == 0)
        #expect(metrics.tar180Percent == 20 && metrics.tar250Percent == 0)
        #expect(metrics.gri == 2.4 * 20 + 0.8 * 20)
    }

    @Test func `GRI stops at 100`() throws {
        #expect(GlucoseMetrics(try GlucoseTrace(minutes: [0, 5], mgdl: [40, 40])).gri == 100)
    }

    @Test func `days for ADRR are those of the local clock`() throws {
        // A low and a high an hour apart: within one day, and across midnight.
        let (low, high) = (GlucoseRisk.risk(50), GlucoseRisk.risk(300))
        let together = try GlucoseTrace(minutes: [0, 60], mgdl: [50, 300], startMinuteOfDay: 600)
        #expect(GlucoseMetrics(together).adrr == low + high)
        let apart = try GlucoseTrace(minutes: [0, 60], mgdl: [50, 300], startMinuteOfDay: 1410)
        #expect(GlucoseMetrics(apart).adrr == (low + high) / 2)
    }

    @Test func `what a short trace can't tell is nil, never NaN`() throws {
        let none = GlucoseMetrics(try GlucoseTrace(minutes: [], mgdl: []))
        #expect(none.n == 0 && none.meanMgdl == nil && none.days == nil && none.lbgi == nil)
        let one = GlucoseMetrics(try GlucoseTrace(minutes: [0], mgdl: [60]))
        #expect(one.n == 1 && one.meanMgdl == 60 && one.sdMgdl == nil && one.coveragePercent == nil)
        #expect(one.hypoEventsL1 == 0)
        let flat = GlucoseMetrics(
            try GlucoseTrace(minutes: (0..<30).map { 5 * Double($0) }, mgdl: .init(repeating: 100, count: 30))
        )
        #expect(flat.sdMgdl == 0 && flat.mageMgdl == nil && flat.moddMgdl == nil && flat.conga1h == 0)
        for metrics in [none, one, flat] {
            #expect(metrics.ordered.allSatisfy { $0.value?.isFinite ?? true })
        }
    }

    @Test func `a span longer than the readings lowers coverage`() throws {
        let instants = (0..<10).map { Int64($0) * 300_000 }
        let trace = try GlucoseTrace(
            localMilliseconds: instants, mgdl: .init(repeating: 100, count: 10), span: 0...(19 * 300_000))
        #expect(GlucoseMetrics(trace).coveragePercent == 50)
    }

    @Test func `two readings far apart take neither time nor memory`() throws {
        let trace = try GlucoseTrace(minutes: [0, 5, 9e9], mgdl: [100, 110, 120])
        let metrics = GlucoseMetrics(trace)
        #expect(metrics.n == 3 && metrics.mageMgdl == nil && metrics.moddMgdl == nil)
    }

    @Test func `readings that make no trace say which`() {
        #expect(throws: GlucoseTrace.ValidationError.self) { try GlucoseTrace(minutes: [0], mgdl: []) }
        #expect(throws: GlucoseTrace.ValidationError.self) {
            try GlucoseTrace(minutes: [0, 0], mgdl: [100, 100])
        }
        #expect(throws: GlucoseTrace.ValidationError.self) { try GlucoseTrace(minutes: [.nan], mgdl: [100]) }
        for bad in [0, -5, .nan, .infinity, 1e9] {
            #expect(throws: GlucoseTrace.ValidationError.self) { try GlucoseTrace(minutes: [0], mgdl: [bad]) }
        }
    }

    @Test func `keys stand as users script against them, in order`() {
        #expect(
            GlucoseMetricKey.allCases.map(\.rawValue) == [
                "n", "days", "coverage_percent", "mean_mgdl", "sd_mgdl", "cv_percent", "gmi_percent",
                "tir_70_180_percent", "titr_70_140_percent", "tbr_70_percent", "tbr_54_percent",
                "tar_180_percent", "tar_250_percent", "lbgi", "hbgi", "gri", "adrr", "modd_mgdl", "mage_mgdl",
                "j_index", "conga_1h", "hypo_events_l1", "hypo_events_l2", "hyper_events_l1",
                "hyper_events_l2",
            ])
    }
}
