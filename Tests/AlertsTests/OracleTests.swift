// The engine against probability theory: independent samples, on-delay n, off-delay m.

import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

@Suite struct OracleTests {
    static let parameters: [(p: Double, n: Int, m: Int)] = [
        (0.1, 1, 1), (0.3, 1, 1), (0.5, 1, 1), (0.8, 1, 1), (0.5, 2, 1), (0.5, 1, 2), (0.3, 2, 2),
        (0.7, 2, 2),
        (0.5, 3, 3), (0.6, 3, 1), (0.4, 1, 3), (0.8, 4, 2), (0.7, 3, 4), (0.6, 4, 4), (0.9, 5, 2),
        (0.5, 4, 1),
        (0.2, 1, 5), (0.35, 2, 3), (0.65, 3, 2), (0.75, 5, 5),
    ]

    @Test(arguments: parameters)
    func `share of time active and samples to raise are what theory says`(_ set: (p: Double, n: Int, m: Int))
    {
        let (p, n, m) = set
        let q = 1 - p
        var rule = AlertRule(
            code: "LOW", trigger: .metrics([MetricTest(.glucose, .low, 70)]), severity: .actionable,
            debounce: Int64(n - 1) * AlertWorld.grid)
        rule.keepFiringFor = Int64(m - 1) * AlertWorld.grid
        var engine = AlertEngine(
            policy: PreparedPolicy(AlertPolicy(name: "oracle", rules: [rule])),
            wallClock: WallClock(startEpochSeconds: 0, zone: .utc))
        var random = RandomStream(key: 0xace, index: UInt64(n * 100 + m * 10) + UInt64(p * 1000) << 16)

        // Cycles from clear to clear: independent, so that the ratio has a standard error.
        var cycles: [(inactive: Double, active: Double)] = []
        var (inactive, active, wasActive) = (0.0, 0.0, false)
        var sample: Int64 = 0
        while cycles.count < 3000 {
            let at = Instant(nanoseconds: sample * AlertWorld.grid)
            let value: Double = Double.random(in: 0..<1, using: &random) < p ? 60 : 100
            _ = engine.sample(.glucose, value, sampledAt: at, at: at)
            engine.settle(at: at)
            _ = engine.takeEffects()
            sample += 1
            // The span after this sample is active or not.
            let isActive = engine.badge > 0
            if wasActive, !isActive {
                cycles.append((inactive, active))
                (inactive, active) = (0, 0)
            }
            if isActive { active += 1 } else { inactive += 1 }
            wasActive = isActive
        }
        // The first cycle began without a clear.
        cycles.removeFirst()

        func sum(_ x: Double, _ count: Int) -> Double { (0..<count).reduce(0) { $0 + power(x, $1) } }
        let on = power(p, n) * sum(q, m)
        let share = on / (on + power(q, m) * sum(p, n))
        let toRaise = (1 - power(p, n)) / ((1 - p) * power(p, n))

        let count = Double(cycles.count)
        let meanActive = cycles.reduce(0) { $0 + $1.active } / count
        let meanInactive = cycles.reduce(0) { $0 + $1.inactive } / count
        let measured = meanActive / (meanActive + meanInactive)
        // Delta method for a ratio of means.
        let residual = cycles.reduce(0.0) {
            let r = $1.active - measured * ($1.active + $1.inactive)
            return $0 + r * r
        }
        let error = (residual / (count - 1) / count).squareRoot() / (meanActive + meanInactive)
        #expect(abs(measured - share) <= 3 * error, "share \(measured), theory \(share), se \(error)")

        // The clearing sample itself is the first inactive span; the raising one ends the inactive spans.
        let spread = cycles.reduce(0.0) { $0 + ($1.inactive - meanInactive) * ($1.inactive - meanInactive) }
        let raiseError = (spread / (count - 1) / count).squareRoot()
        #expect(abs(meanInactive - toRaise) <= 3 * raiseError, "to raise \(meanInactive), theory \(toRaise)")
    }

    func power(_ x: Double, _ n: Int) -> Double { (0..<n).reduce(1.0) { product, _ in product * x } }
}
