import IsletDevices
import IsletKernel
import Testing
import IsletTrials

@testable import IsletAlerts
@testable import IsletLive

/// Banners, words and confirmations of a session that pages look at: what they show is the session's, the same for all of them, and after a replay.
@Suite(.timeLimit(.minutes(45))) struct LiveBannerTests {
    private static let high = "THRESHOLD-GLUCOSE-HIGH"

    /// A session whose glucose is above its bound, with somebody in front.
    private static func raised() throws -> (told: Told, episode: Int) {
        let told = try Told()
        told.say(49, .foreground)
        told.say(50, .threshold(metric: "glucose", low: nil, high: 45))
        _ = told.active(56)
        let alert = try #require(told.session.snapshot.alerts.first { $0.code.rawValue == high })
        return (told, Int(alert.raisedAt.nanoseconds / Nanoseconds.second))
    }

    private static func banners(_ told: Told) -> [String] {
        told.session.snapshot.waitingBanners.map(\.code.rawValue)
    }

    /// Harm: at pace 60 a banner is gone before anybody can read it; where no phone is, it is gone and nobody saw it.
    @Test func onlyAPhonesTenSecondsEndABanner() throws {
        let (told, episode) = try Self.raised()
        told.session.advance(to: .minutes(70))
        #expect(Self.banners(told) == [Self.high])
        told.say(71, .background)
        #expect(Self.banners(told) == [Self.high])
        #expect(
            isRefused(told.say(72, .bannerShown(alert: Self.high, episode: episode + 1)), "another episode"))
        #expect(isRefused(told.say(72, .dismiss(alert: Self.high, episode: episode - 60)), "another episode"))
        #expect(Self.banners(told) == [Self.high])
        #expect(told.say(73, .bannerShown(alert: Self.high, episode: episode)) == .taken)
        #expect(Self.banners(told).isEmpty && told.active().contains(Self.high))
        // Whoever comes back to the front sees it again.
        told.say(74, .foreground)
        #expect(Self.banners(told) == [Self.high])
    }

    /// Harm: somebody who only looks puts a banner away, and another page still has it; or any other setting brings it back.
    @Test func whatWasPutAwayIsGoneEverywhereAndComesBackWithItsBoundAlone() throws {
        let (told, episode) = try Self.raised()
        told.say(57, .background)
        #expect(told.say(58, .dismiss(alert: Self.high, episode: episode)) == .taken)
        #expect(Self.banners(told).isEmpty)
        told.say(59, .threshold(metric: "reservoir", low: 5, high: nil))
        told.say(60, .quietHours(fromMinute: 1320, toMinute: 420))
        told.say(61, .foreground)
        #expect(Self.banners(told).isEmpty && told.active().contains(Self.high))
        told.say(62, .threshold(metric: "glucose", low: nil, high: 42))
        #expect(Self.banners(told) == [Self.high])
    }

    /// Harm: a button that was drawn of one episode answers the next, which nobody has seen.
    @Test func whatAnswersOneEpisodeAnswersNoOther() throws {
        let (told, episode) = try Self.raised()
        told.say(57, .background)
        for other in [episode - 60, episode + 1] {
            #expect(
                isRefused(told.say(58, .acknowledge(alert: Self.high, episode: other)), "another episode"))
            let snoozed = told.say(59, .snooze(alert: Self.high, minutes: 30, episode: other))
            #expect(isRefused(snoozed, "another episode"))
        }
        #expect(told.session.snapshot.snoozes == nil)
        #expect(told.say(60, .snooze(alert: Self.high, minutes: 30, episode: episode)) == .taken)
        #expect(told.session.snapshot.snoozes?.map(\.code.rawValue) == [Self.high])
        // Who names none, as at a terminal, means the one that is there.
        #expect(told.say(62, .snooze(alert: Self.high, minutes: 15)) == .taken)
    }

    /// Harm: an alert says what it began with, or a bound that nobody has set any more.
    @Test func anAlertsWordsAreOfNow() throws {
        let (told, _) = try Self.raised()
        func words() -> String {
            told.session.snapshot.alerts.first { $0.code.rawValue == Self.high }?.message.text ?? ""
        }
        let first = words()
        #expect(first.contains(", above 45 since 06:"))
        told.say(57, .threshold(metric: "glucose", low: nil, high: 41))
        #expect(words().contains(", above 41 since 06:"))
        var seen: Set<String> = []
        for minute in stride(from: Int64(60), to: 180, by: 5) {
            told.session.advance(to: .minutes(minute))
            let alert = told.session.snapshot.alerts.first { $0.code.rawValue == Self.high }
            let values = try #require(alert?.values)
            // The newest value, and the worst where that is another.
            #expect(words().hasPrefix("Glucose \(ValueText.digits(values.current)) mg/dL"))
            #expect(words().contains("; highest ") == (values.worst != values.current))
            seen.insert(words())
        }
        #expect(seen.count > 10)
        let action = told.session.snapshot.alerts.first { $0.code.rawValue == Self.high }?.recommendedAction
        #expect(action?.contains("ketones") ?? false)
    }

    /// Harm: it rang where nobody is, and the page says that it rang.
    @Test func whatAPhoneConfirmsIsKept() throws {
        let (told, _) = try Self.raised()
        #expect(told.session.snapshot.told.isEmpty)
        #expect(told.say(60, .told(alert: Self.high)) == .taken)
        #expect(told.session.snapshot.told.map(\.code.rawValue) == [Self.high])
    }

    /// Harm: a preview that somebody looked at is in the list of what was.
    @Test func aPreviewAndATestLeaveNoHistory() throws {
        let told = try Told(1)
        told.say(60, .preview(alert: "ALERT-PUMP-FAULT"))
        let shown = told.session.snapshot.alerts.first { $0.isPreview }
        #expect(shown?.message.text.hasPrefix("Preview: ") ?? false)
        told.say(61, .dismiss(alert: "ALERT-PUMP-FAULT"))
        told.say(62, .preview(alert: "ALERT-PUMP-FAULT"))
        told.say(63, .acknowledge(alert: "ALERT-PUMP-FAULT"))
        told.say(64, .testAlert(alert: "ALERT-PUMP-LOW-RESERVOIR"))
        told.session.advance(to: .minutes(65))
        #expect(told.active().isEmpty && told.session.snapshot.cleared.isEmpty)
        let rung = told.heard.events.filter { $0.alert?.effect == "notify" && $0.alert?.reason == "test" }
        #expect(rung.map { $0.message.text.hasPrefix("Test: ") } == [true])
    }

    /// Harm: the test of what never notifies rings, and whoever tested relies on it.
    @Test func whatNeverNotifiesDoesNotAsATestEither() throws {
        let told = try Told(1)
        for (minute, code) in [
            (Int64(60), "ALERT-CGM-URGENT-LOW"), (61, "ALERT-CGM-FAILED-OR-EXPIRED"),
        ] {
            told.say(minute, .testAlert(alert: code))
            told.session.advance(to: .minutes(minute + 1))
            #expect(told.rings(code).isEmpty, "\(code)")
        }
        let held = told.heard.events.compactMap(\.alert).filter { $0.effect == "suppress" }
        #expect(held.map(\.reason) == ["sourceRule", "sourceRule"])
    }
}
