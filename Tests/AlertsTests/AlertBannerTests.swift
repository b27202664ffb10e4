import IsletDevices
import IsletKernel
import Testing

@testable import IsletAlerts

@Suite struct AlertBannerTests {
    /// Harm: a page says that its ten seconds are over, of a banner that has none, and a pump's fault is on the screen no more.
    @Test func aPhonePutsNothingAwayThatMustBeActedOn() {
        var banners = AlertBannerQueue(.phone)
        let fault = ActiveAlert(
            source: .pump, sourceCode: "", code: AlertCode.pumpFault.name, severity: .safetyCritical,
            message: "",
            recommendedAction: "", acknowledgement: .closes, acknowledgedAt: nil, dedupeKey: "",
            raisedAt: .start, updatedAt: .start, countdownTo: nil, ownSeverity: .safetyCritical, bound: nil)
        banners.comeToFront([fault], at: .start)
        #expect(banners.banner(at: .minutes(1))?.code == fault.code)
        banners.wasShown(fault.code, at: .minutes(1))
        #expect(banners.banner(at: .minutes(1))?.code == fault.code)
        banners.dismiss(fault.code, at: .minutes(2))
        #expect(banners.banner(at: .minutes(2))?.code == fault.code)
        #expect(banners.marks.isEmpty)
    }
}
