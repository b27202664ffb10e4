// A site from which insulin leaks, or isn't absorbed.

import IsletNumerics
import IsletKernel

extension FaultKind {
    public static let siteFailure = FaultKind(
        id: "site-failure", meaning: "insulin leaks or isn't absorbed",
        source:
            "Kanapka 2022: infusion sets that fail within an hour, at a constant hazard; all ages 3.3 % in 72 h",
        rate: FaultRate(
            4.7e-4, "1/hour", 0...1,
            byAge: RatesByAge(adult: 2.7e-4, adolescent: 8.3e-4, child: 6.3e-4, other: 4.7e-4)),
        notice: .nothing("insulin leaks past the pump's notice: glucose alone tells"), signs: [.highGlucose],
        sampling: FaultSampling(perDay: 0.5...3, medianMinutes: 240, spread: 0.7),
        effect: .pump(
            PumpEffect(
                chance: FaultChance(stream: "fault.site-failure", hours: 1) { pump, random in
                    let floor = random.uniform(in: SiteFailure.floor)
                    let variance = SiteFailure.noticedSD * SiteFailure.noticedSD
                    let hours = random.gamma(
                        shape: SiteFailure.noticedMean * SiteFailure.noticedMean / variance,
                        scale: variance / SiteFailure.noticedMean)
                    guard pump.pod.state == .active, pump.site.failure == nil else { return }
                    try pump.failSite(floor: floor)
                    pump.planChange(
                        at: pump.executor.now.adding(
                            SiteFailure.noticedAfter + GSLRandom.minutes(hours * 60)))
                },
                begin: { pump, fault in
                    try pump.failSite(
                        floor: pump.random(of: fault, "fault.site-failure.scheduled").uniform(
                            in: SiteFailure.floor),
                        lasts: fault.nanoseconds)
                })))
}

/// A failing site's floor is uniform, and it is found out, by whatever, 3 h plus a gamma time later (Kanapka 2022: hours above 250 mg/dL before the
/// removal; the 3 h until there are assumed). A person who watches glucose for it may be sooner.
enum SiteFailure {
    static let floor = 0.0...0.5
    static let noticedAfter = 3 * Nanoseconds.hour
    /// Hours.
    static let noticedMean = 5.1
    static let noticedSD = 3.7
}
