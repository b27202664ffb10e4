// What an assumed setting could as well be: the values that a sensitivity analysis tries.
//
// Guarantees: pure arithmetic on the value in force, within the setting's range; what is published is not varied. The rule is ours, one for all, so that
// nobody chooses steps by what they do: half and one and a half times the value, 10 mg/dL or an hour by the clock to either side, and a tenth in place of a
// chance of 0. What makes a preset what it is (nothing reaches the deaf) is not varied there.

public import IsletDevices

/// Hours by the clock, of which half would be another time of day.
private let clockTimes: Set<String> = ["bedAdult", "bedAdolescent", "bedChild", "rises"]

extension NumberRow where Root == PersonSettings, More == PersonSettingFacts {
    /// A value below and one above; either may equal `value`, where the range ends there.
    public func alternatives(to value: Double) -> (low: Double, high: Double) {
        let (low, high): (Double, Double)
        if unit == "mg/dL" {
            (low, high) = (value - 10, value + 10)
        } else if clockTimes.contains(name) {
            (low, high) = (value - 1, value + 1)
        } else {
            (low, high) = (value / 2, value == 0 ? 0.1 * range.upperBound : 1.5 * value)
        }
        func within(_ x: Double) -> Double { min(max(x, range.lowerBound), range.upperBound) }
        return (within(low), within(high))
    }

    /// Whether it is a preset's own, as not hearing is the deaf's.
    func defines(_ preset: PersonPreset) -> Bool {
        switch preset {
        case .deaf: value(in: .deaf) != value(in: .typical)
        case .muted: value(in: .muted) != value(in: .typical)
        case .typical, .attentive: false
        }
    }

    /// Whether a sensitivity analysis varies it for somebody with these settings.
    /// - Parameter isBesideLoop: whether an algorithm corrects beside them: nobody else watches the site.
    public func isVaried(in settings: PersonSettings, isBesideLoop: Bool) -> Bool {
        guard source.isAssumed, !defines(settings.preset) else { return false }
        guard isBesideLoop || !PersonSettings.sites.contains(where: { $0.name == name }) else { return false }
        return settings.announcing == .own || !PersonSettings.announcingRows.contains { $0.name == name }
    }
}
