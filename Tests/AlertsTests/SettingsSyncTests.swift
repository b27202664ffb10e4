// Settings of several devices converge, whatever the order and however often they are delivered.

import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

@Suite struct SettingsSyncTests {
    static func side(_ side: MetricTest.Side, _ bound: Double) -> AlertSettingsWrite.Side {
        .init(
            AlertRule(
                code: "THRESHOLD-GLUCOSE-\(side == .low ? "LOW" : "HIGH")",
                trigger: .metrics([MetricTest(.glucose, side, bound)]), severity: .actionable))
    }

    @Test func `11 any order and duplication of deliveries converges, also within one second`() {
        for seed in 0..<400 {
            var random = RandomStream(key: 11, index: UInt64(seed))
            let devices = ["phone", "tablet", "watch"]
            // Writes of two seconds, some with equal time and device, from clocks that jump.
            let writes = (0..<Int.random(in: 2...9, using: &random)).map { _ -> AlertSettingsWrite in
                var sides: [AlertSettingsWrite.Side] = []
                let kind = Int.random(in: 0...2, using: &random)
                if kind != 1 { sides.append(Self.side(.low, Double.random(in: 60...80, using: &random))) }
                if kind != 0 { sides.append(Self.side(.high, Double.random(in: 180...250, using: &random))) }
                sides[0].isEnabled = Bool.random(using: &random)
                return AlertSettingsWrite(
                    sides,
                    time: HybridTime(
                        seconds: Int64.random(in: 100...101, using: &random),
                        sequence: Int64.random(in: 0...1, using: &random)),
                    device: devices[Int.random(in: 0..<3, using: &random)])
            }
            var results: Set<AlertSettings> = []
            for _ in 0..<8 {
                var deliveries = writes + writes.filter { _ in Bool.random(using: &random) }
                deliveries.shuffle(using: &random)
                // One by one on one device, and by merging what two devices hold.
                var (one, left, right) = (AlertSettings(), AlertSettings(), AlertSettings())
                for (place, write) in deliveries.enumerated() {
                    one.take(write)
                    if place % 2 == 0 { left.take(write) } else { right.take(write) }
                }
                results.insert(one)
                var (ab, ba) = (left, right)
                ab.merge(right)
                ba.merge(left)
                ba.merge(ba)
                #expect(ab == ba, "seed \(seed)")
                results.insert(ab)
            }
            #expect(results.count == 1, "seed \(seed)")
            #expect(
                results.first?.writes.first.map { stays in writes.allSatisfy { !$0.supersedes(stays) } }
                    == true)
        }
    }

    @Test func `11 a side that a newer write leaves out is gone`() {
        var settings = AlertSettings()
        settings.take(
            AlertSettingsWrite(
                [Self.side(.low, 70), Self.side(.high, 250)], time: HybridTime(seconds: 1), device: "phone"))
        settings.take(
            AlertSettingsWrite([Self.side(.low, 80)], time: HybridTime(seconds: 2), device: "tablet"))
        #expect(settings.rules.map(\.code) == ["THRESHOLD-GLUCOSE-LOW"])
        #expect(settings.rules.flatMap(\.tests).map(\.bound) == [80])
    }

    @Test func `11 a write that knows another is newer, within one second and on a clock that is behind`() {
        var (phone, tablet) = (AlertSettings(), AlertSettings())
        let first = phone.write([Self.side(.low, 70)], clock: 1000, device: "phone")
        let second = phone.write([Self.side(.low, 71)], clock: 1000, device: "phone")
        #expect(second.supersedes(first) && second.time == HybridTime(seconds: 1000, sequence: 1))
        // The tablet's clock is an hour behind; its person has seen 71 and wants 72.
        tablet.merge(phone)
        let third = tablet.write([Self.side(.low, 72)], clock: 1000 - 3600, device: "a tablet")
        #expect(third.supersedes(second))
        phone.merge(tablet)
        #expect(phone == tablet && phone.rules.flatMap(\.tests).map(\.bound) == [72])
        #expect(
            phone.write([Self.side(.low, 73)], clock: 1001, device: "phone").time == HybridTime(seconds: 1001)
        )
    }
}
