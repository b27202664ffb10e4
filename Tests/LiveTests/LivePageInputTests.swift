import IsletFiles
import IsletAlerts
import IsletLoop
import IsletDevices
import IsletKernel
import Testing
import IsletTrials

@testable import IsletLive

/// What a page says beside what a terminal said: who is signed in, settings, banners, previews, thresholds with their sensitivity and switch.
@Suite(.timeLimit(.minutes(45))) struct LivePageInputTests {
    private static let login = "ALERT-AUTH-LOGIN-REQUIRED"
    private static let high = "THRESHOLD-GLUCOSE-HIGH"

    // MARK: Signed in

    @Test func whoSignsOutIsToldToLogInUntilTheyDoOrNoSessionRuns() throws {
        let told = try Told(1)
        #expect(told.say(60, .signOut) == .taken && !told.session.snapshot.isSignedIn)
        #expect(told.active(61).contains(Self.login))
        #expect(told.say(70, .signIn) == .taken)
        #expect(!told.active(71).contains(Self.login) && told.session.snapshot.isSignedIn)
        #expect(told.session.snapshot.cleared.first?.alert.code.rawValue == Self.login)
        // Nobody has to be signed in for a session that has ended; the next one asks for it.
        told.say(80, .signOut)
        #expect(told.active(81).contains(Self.login))
        told.say(90, .endSession)
        #expect(!told.active(91).contains(Self.login))
        told.say(100, .startSession)
        #expect(told.active(101).contains(Self.login))
    }

    /// Harm: signing out takes a low that nobody has seen off the list.
    @Test func signingOutTakesNoAlertAway() throws {
        let told = try Told()
        told.say(50, .threshold(metric: "glucose", low: nil, high: 45))
        told.session.advance(to: .minutes(55))
        #expect(told.active(61).contains(Self.high))
        let before = told.session.snapshot.alerts.first { $0.code.rawValue == Self.high }
        told.say(62, .signOut)
        told.say(63, .signIn)
        told.say(64, .signOut)
        #expect(told.session.snapshot.alerts.first { $0.code.rawValue == Self.high } == before)
        #expect(told.active(64).contains(Self.login))
        #expect(told.rings(Self.high).count == 1)
    }

    /// Harm: after a relaunch, or another setting, nobody is asked to log in any more.
    @Test func whoIsSignedOutIsSoAfterASettingAndAfterADeathOfTheApp() throws {
        let study = try smallStudy("faults: { scheduled: [{ at: 2h, kind: app-quit, for: 30m }] }")
        let told = try Told(1, study)
        told.say(60, .signOut)
        told.say(70, .threshold(metric: "glucose", low: 60, high: nil))
        #expect(told.active(71).contains(Self.login))
        #expect(isRefused(told.say(130, .signIn), "dead"))
        #expect(isRefused(told.say(131, .saveSettings), "dead"))
        #expect(told.active(200).contains(Self.login) && !told.session.snapshot.isSignedIn)
    }

    // MARK: Settings

    @Test(arguments: [LiveInput.saveSettings, .openSettings, .foreground])
    func aConflictOfTheSubjectIsOverWhereTheCloudSaysSoAndSomebodyLooks(_ look: LiveInput) throws {
        let code = "ALERT-SUBJECT-ID-CONFLICT"
        let told = try Told(1)
        told.say(60, .subjectClaim(isOk: false))
        #expect(told.active(61).contains(code) && !told.session.snapshot.isClaimOk)
        // What is saved doesn't help as long as the claim fails.
        told.say(70, .saveSettings)
        #expect(told.active(71).contains(code))
        told.say(80, .subjectClaim(isOk: true))
        #expect(told.active(81).contains(code))
        told.say(90, look)
        #expect(!told.active(91).contains(code))
    }

    @Test func aConflictThatComesWhileTheAppIsDeadIsFoundAtItsLaunch() throws {
        let study = try smallStudy("faults: { scheduled: [{ at: 2h, kind: app-quit, for: 30m }] }")
        let told = try Told(1, study)
        #expect(told.say(130, .subjectClaim(isOk: false)) == .taken)
        #expect(told.active(200).contains("ALERT-SUBJECT-ID-CONFLICT"))
    }

    // MARK: Banners and previews

    @Test func aBannerIsPutAwayWhereItMayBeAndTheAlertStays() throws {
        let told = try Told()
        told.say(49, .foreground)
        #expect(isRefused(told.say(49, .dismiss(alert: Self.login)), "not active"))
        told.say(50, .threshold(metric: "glucose", low: nil, high: 45))
        // The next reading raises it; its banner is there for ten seconds.
        var at = Instant.minutes(53)
        while told.session.snapshot.banner == nil, at < .minutes(58) {
            at = at.adding(3 * Nanoseconds.second)
            told.session.advance(to: at)
        }
        #expect(told.session.snapshot.banner?.code.rawValue == Self.high)
        #expect(told.session.take(LiveCommand(.dismiss(alert: Self.high)), at: at).outcome == .taken)
        #expect(told.session.snapshot.banner == nil && told.active().contains(Self.high))
        // What must be acted on stays, whoever puts it away.
        told.say(61, .signOut)
        #expect(told.session.snapshot.banner?.code.rawValue == Self.login)
        #expect(isRefused(told.say(61, .dismiss(alert: Self.login)), "stays until"))
        #expect(told.session.snapshot.banner?.code.rawValue == Self.login)
        // What was put away isn't shown anew to whoever comes back; that its time was over before changes nothing.
        told.say(62, .signIn)
        told.say(63, .background)
        told.say(64, .foreground)
        #expect(told.session.snapshot.banner == nil)
    }

    @Test func aBannerThatIsPutAwayAfterItsTimeIsNotShownAnew() throws {
        for isDismissed in [false, true] {
            let told = try Told()
            told.say(49, .foreground)
            told.say(50, .threshold(metric: "glucose", low: nil, high: 45))
            told.session.advance(to: .minutes(55))
            _ = told.active(61)
            let raised = try #require(told.session.snapshot.banner).raisedAt
            // A page that is the phone says when its ten seconds are over; the session's own would be a sixth of a second at pace 60.
            let episode = Int(raised.nanoseconds / Nanoseconds.second)
            #expect(told.say(62, .bannerShown(alert: Self.high, episode: episode)) == .taken)
            #expect(told.session.snapshot.banner == nil)
            if isDismissed { told.say(62, .dismiss(alert: Self.high)) }
            told.say(63, .background)
            told.say(64, .foreground)
            #expect((told.session.snapshot.banner == nil) == isDismissed)
        }
    }

    /// Harm: what must be reviewed is off the list because somebody closed its banner.
    @Test func whatMustBeAcknowledgedIsNotDismissed() throws {
        let study = try alwaysUrgentlyLow()
        let told = try Told(0, study)
        told.say(60, .foreground)
        #expect(told.active().contains("ALERT-CGM-URGENT-LOW"))
        #expect(isRefused(told.say(61, .dismiss(alert: "ALERT-CGM-URGENT-LOW")), "stays until"))
        let alert = told.session.snapshot.alerts.first { $0.code.rawValue == "ALERT-CGM-URGENT-LOW" }
        #expect(alert?.acknowledgedAt == nil && alert != nil)
    }

    @Test(arguments: ["bionicloop", "none", "dexcom-g7"])
    func everyCodeCanBePreviewedUnderEveryPolicyAndIsOverWhenDismissed(_ name: String) throws {
        var study = try smallStudy()
        study.arms[0].alerts = try #require(AlertPreset(rawValue: name)).policy()
        let told = try Told(0, study)
        let codes = AlertCode.allCases.map(\.rawValue) + study.arms[0].alerts.rules.map(\.code.rawValue)
        var minute: Int64 = 60
        for code in codes where !told.active().contains(code) {
            #expect(told.say(minute, .preview(alert: code)) == .taken, "\(code)")
            let shown = try #require(told.session.snapshot.alerts.first { $0.code.rawValue == code })
            #expect(shown.isPreview && !shown.message.isEmpty)
            #expect(told.say(minute, .tap(alert: code)) == .taken)
            #expect(told.say(minute + 1, .dismiss(alert: code)) == .taken)
            #expect(!told.active().contains(code), "\(code)")
            minute += 2
        }
        // A rule that a preview brought along raises nothing by itself.
        told.session.advance(to: .minutes(1439))
        let own = Set(study.arms[0].alerts.rules.map(\.code.rawValue))
        let raised = told.heard.events.compactMap(\.alert).filter {
            $0.effect == "raise" && $0.reason != "preview"
        }
        #expect(raised.allSatisfy { own.contains($0.code.rawValue) })
    }

    /// Harm: who looks at previews hides, or silences, what is so.
    @Test func aPreviewOfWhatIsActiveIsNoPreview() throws {
        let told = try Told()
        told.say(50, .threshold(metric: "glucose", low: nil, high: 45))
        told.session.advance(to: .minutes(55))
        told.say(62, .preview(alert: Self.high))
        #expect(told.session.snapshot.alerts.contains { $0.code.rawValue == Self.high && !$0.isPreview })
        told.say(63, .dismiss(alert: Self.high))
        #expect(told.active(64).contains(Self.high))
        // One of a code without a rule touches no other alert.
        var study = try smallStudy()
        study.arms[0].alerts = AlertPolicy.none
        let bare = try Told(0, study)
        bare.say(50, .threshold(metric: "glucose", low: nil, high: 45))
        bare.session.advance(to: .minutes(55))
        let before = bare.session.snapshot.alerts
        bare.say(62, .preview(alert: "ALERT-PUMP-FAULT"))
        let after = bare.session.snapshot.alerts.first { $0.code.rawValue == Self.high }
        #expect(after != nil && after?.raisedAt == before.first?.raisedAt)
        #expect(bare.rings(Self.high) == [54])
    }

    // MARK: Dropped

    @Test func whatWasDroppedIsShownUntilItIsSeen() throws {
        let study = try smallStudy("faults: { scheduled: [{ at: 55m, kind: pump-outage, for: 60m }] }")
        let told = try Told(1, study)
        #expect(isRefused(told.say(50, .dismissDropped), "nothing"))
        told.say(58, .meal(grams: 40, isEaten: false, isAnnounced: true))
        told.session.advance(to: .minutes(110))
        try #require(told.session.snapshot.loop?.dropped != nil)
        #expect(told.say(111, .dismissDropped) == .taken)
        #expect(told.session.snapshot.loop?.dropped == nil)
    }
}

/// A study in which the urgent low is always so: nobody's glucose is above 390.
func alwaysUrgentlyLow() throws -> Study {
    var policy = AlertPolicy.bionicloop
    let place = try #require(policy.rules.firstIndex { $0.code.rawValue == "ALERT-CGM-URGENT-LOW" })
    policy.rules[place].trigger = .metrics([MetricTest(.glucose, .low, 390)])
    var study = try smallStudy()
    study.arms[0].alerts = policy
    return study
}
