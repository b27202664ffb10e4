// The values at which nobody looks twice, against a look at every rule.

import IsletFiles
import Testing

@testable import IsletAlerts

@Suite struct CalmValuesTests {
    @Test(arguments: AlertPreset.allCases)
    func aCalmValueIsOneThatBreachesNoRule(_ preset: AlertPreset) throws {
        let policy = PreparedPolicy(try preset.policy())
        for metric in AlertMetric.allCases {
            let tests: [MetricTest?] = policy.calmTests[metric.index].map(\.test)
            let calm = policy.calmValues[metric.index]
            var values: [Double] = [-1e9, 0, 1e9]
            for test in tests {
                if let bound = test?.bound { values += [bound.nextDown, bound, bound.nextUp] }
            }
            for value in values {
                let isBreached = tests.contains { $0?.isBreached(by: value) ?? true }
                #expect(calm.contains(value) != isBreached, "\(metric): \(value)")
            }
        }
    }

    @Test func allAreCalmAsLongAsEachIs() {
        var rules = CalmRules([true, false, true])
        #expect(!rules.areAll)
        rules[1] = true
        rules[1] = true
        #expect(rules.areAll)
        rules[2] = false
        rules[0] = false
        rules[2] = true
        #expect(!rules.areAll && rules[2] && !rules[0])
        rules[0] = true
        #expect(rules.areAll)
    }
}
