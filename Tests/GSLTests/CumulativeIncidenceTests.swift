// Cumulative incidence with competing risks, against lifelines 0.30.3 and statsmodels 0.15, pasted as literals. The oracle of
// `make test` compares it on random data.

import IsletNumerics
import Testing

@Suite struct CumulativeIncidenceTests {
    private func observations(_ times: [Double], _ endings: [Int]) -> [CumulativeIncidence.Observation] {
        zip(times, endings).map { .init(time: $0, ending: [.censored, .event, .competing][$1]) }
    }

    @Test func `without ties it is lifelines' AalenJohansenFitter`() throws {
        let curve = try CumulativeIncidence(
            observations([1.5, 2.25, 3, 3.5, 4, 5.5, 6, 7, 8.5, 9], [1, 0, 2, 1, 1, 2, 0, 1, 2, 1]))
        let expected = [0.1, 0.1, 0.1, 0.2125, 0.325, 0.325, 0.325, 0.475, 0.475, 0.625]
        #expect(curve.steps.count == 10)
        for (step, share) in zip(curve.steps, expected) { #expect(abs(step.incidence - share) < 1e-12) }
        #expect(curve.incidence(at: 1.49) == 0 && curve.incidence(at: 3.75) == curve.steps[3].incidence)
        #expect(curve.time(ofShare: 0.1) == 1.5 && curve.time(ofShare: 0.5) == 9)
        #expect(curve.time(ofShare: 0.7) == nil)
    }

    @Test func `with ties it is statsmodels' CumIncidenceRight`() throws {
        let curve = try CumulativeIncidence(
            observations([1, 1, 1, 2, 2, 3, 3, 3, 4, 4], [1, 2, 0, 1, 1, 2, 0, 1, 0, 2]))
        #expect(curve.steps.map(\.time) == [1, 2, 3, 4] && curve.steps.map(\.atRisk) == [10, 7, 5, 2])
        for (step, share) in zip(
            curve.steps, [0.1, 0.3285714285714286, 0.4428571428571429, 0.4428571428571429])
        {
            #expect(abs(step.incidence - share) < 1e-12)
        }
        for (step, share) in zip(curve.steps, [0.1, 0.1, 0.2142857142857143, 0.38571428571428573]) {
            #expect(abs(step.competing - share) < 1e-12)
        }
    }

    @Test func `episodes that end unheard are neither detected nor dropped`() throws {
        // Four low episodes: told of after 5 and 10 min, two over after 20 and 40 without a word. Kaplan and Meier, who call the
        // last two censored, would say that all are told of sooner or later.
        let curve = try CumulativeIncidence(observations([5, 10, 20, 40], [1, 1, 2, 2]))
        #expect(curve.steps.map(\.incidence) == [0.25, 0.5, 0.5, 0.5])
        #expect(curve.steps.last?.waiting == 0 && curve.steps.last?.competing == 0.5)
        #expect(curve.time(ofShare: 0.5) == 10 && curve.time(ofShare: 0.51) == nil)
    }

    @Test func `shares add up to one, whatever the order of the observations`() throws {
        var random = SplitMix64(state: 3)
        let some = (0..<200).map { _ in
            CumulativeIncidence.Observation(
                time: Double(random.next() % 50) / 4,
                ending: [.event, .competing, .censored][Int(random.next() % 3)])
        }
        let curve = try CumulativeIncidence(some)
        #expect(curve == (try CumulativeIncidence(some.reversed())))
        for step in curve.steps {
            #expect(abs(step.incidence + step.competing + step.waiting - 1) < 1e-12)
        }
        for (a, b) in zip(curve.steps, curve.steps.dropFirst()) {
            #expect(a.incidence <= b.incidence && a.time < b.time)
        }
    }

    @Test func `nothing to look at, and times that are none, throw`() {
        #expect(throws: StatisticsError.tooFewValues(needed: 1, found: 0)) { try CumulativeIncidence([]) }
        #expect(throws: StatisticsError.notFinite(index: 1)) {
            try CumulativeIncidence(observations([1, .nan], [1, 1]))
        }
        #expect(throws: StatisticsError.self) { try CumulativeIncidence(observations([-1], [1])) }
    }
}
