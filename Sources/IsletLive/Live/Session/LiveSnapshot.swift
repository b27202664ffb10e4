// What a live session shows: values kept at the end of its last advance.
//
// Guarantees: plain values; whoever looks at them touches no session.

package import IsletAlerts
package import IsletLoop
package import IsletDevices
import IsletFiles
import IsletModels
package import IsletKernel
import IsletTrials

package struct LiveSnapshot: Sendable, Codable {
    package var now = Instant.start
    package var phase = LiveSession.Phase.running
    /// Day and local time of day.
    package var localTime = ""
    package var subject = ""
    package var arm = ""
    /// What doses, by its id.
    package var algorithm = ""
    /// nil before the first advance, and of a session that is over.
    package var loop: LoopDisplay?
    package var pump: PumpStatus?
    package var sensor: SensorState?
    /// The algorithm gave no answer for the last step, and the pump's programmed basal runs in its place.
    package var isDegraded = false
    /// How many steps have had no answer in time.
    package var lateSteps = 0
    /// Glucose comes from outside: doses are suggestions.
    package var isFed = false
    /// By the alert center's order.
    package var alerts: [ActiveAlert] = []
    /// Newest first, up to a hundred.
    package var cleared: [ClearedAlert] = []
    /// Codes whose condition holds, and whose episode has not begun yet.
    package var waiting: [AlertName] = []
    /// What alerts go by now.
    package var policy: AlertPolicy?
    /// The threshold of each metric that can be watched, in the order of the metrics.
    package var thresholds: [MetricThreshold] = []
    package var quietHours: QuietHours?
    /// Whether quiet hours are on now.
    package var isQuiet = false
    package var isAppAlive = true
    package var isInForeground = false
    package var isSignedIn = true
    /// What the cloud says of the subject's claim.
    package var isClaimOk = true
    /// What the app in front shows above everything, at `now`.
    package var banner: AlertBanner?
    /// Banners of thresholds that nobody has put away and whose ten seconds aren't over, the oldest first. Every page shows the same.
    package var waitingBanners: [AlertBanner] = []
    /// Notifications that a phone has confirmed, the newest last.
    package var told: [ToldRing] = []
    /// Snoozes of active alerts, with their ends; nil for none.
    package var snoozes: [AlertSnooze]?
    /// Whom the loop's session is about, and whom the next one will be.
    package var loopSubject: LoopSubject?
    package var chosenSubject: LoopSubject?
    /// What the loop aims at.
    package var target: GlucoseConcentration?
    /// The temporary basal as a share of the programmed one; 1 without a temporary basal.
    package var basalMultiplier = 1.0
    /// The bolus that waits for its confirmation: the request's number, its amount, and until when.
    package var requestedBolus: RequestedBolus?
    /// Insulin on board of boluses, U, as it was at the loop's last step; nil without one.
    package var insulinOnBoard: Double?
    /// What apps said was given, of the last day and an hour; nil for nothing.
    package var treatments: [PostedTreatment]?
    /// By what the loop doses; nil without one.
    package var therapy: TherapySettings?
    /// What has left the pump since the session's start; nil without one.
    package var insulin: PumpLedgerUnits?
    /// The algorithm's own, from its last step; nil where it says nothing.
    package var forecast: GlucoseForecast?
    /// Who drives it step by step, and where it waits; nil for a session that goes by a clock.
    package var wheel: WheelView?
    /// What is watched of a subject that is no person; nil for people.
    package var room: RoomSnapshot?
    /// The newest event's number.
    package var eventCount = 0
    package var digest = Digest128()

    package init() {}

    /// To be made by the thread that advances.
    init(_ live: LiveSession, policy: AlertPolicy) {
        now = live.now
        phase = live.phase
        localTime = SessionStory.time(live.now, live.opening.study.start.calendar)
        subject = live.opening.subject.name
        arm = live.opening.armName
        algorithm = live.algorithm.kind.id
        eventCount = live.eventCount
        digest = live.digest
        quietHours = policy.quietHours
        isDegraded = live.asker.isDegraded
        if live.isDriven { wheel = WheelView(live) }
        lateSteps = live.lateSteps
        isFed = live.opening.isFed
        if let watched = live.watched {
            room = RoomSnapshot(watched.look(), live.opening.study.subject.kind, policy: policy, at: now)
        }
        guard live.outcome == nil else { return }
        self.policy = policy
        let session = live.session
        let face = session.executor.inspect {
            isAppAlive = session.isAppAlive
            return session.alerts.here { $0.face }
        }
        (alerts, cleared, waiting) = (face.active, face.cleared, face.waiting)
        (isQuiet, isInForeground, isSignedIn) = (face.isQuiet, face.isForeground, face.isSignedIn)
        (banner, isClaimOk) = (face.banner, face.isClaimOk)
        (waitingBanners, told) = (face.waitingBanners, live.door.rings)
        if !face.snoozes.isEmpty { snoozes = face.snoozes }
        thresholds = live.door.shownThresholds
        guard let session = live.person else {
            dropSubject(policy)
            return
        }
        insulin = live.ledger
        if let said = live.door.personActs?.treatments, !said.isEmpty { treatments = said }
        forecast = live.asker.forecast
        session.executor.inspect {
            requestedBolus = live.door.requestedBolus
            (loop, pump, sensor) = (
                session.loop.here { $0.display() }, session.controls.status, session.readings.state
            )
            let settings = session.loop.here { $0.settingsInForce }
            (loopSubject, chosenSubject) = (settings.subject, settings.chosenSubject)
            (target, basalMultiplier) = (settings.target, settings.basalMultiplier)
            therapy = settings.therapy
            insulinOnBoard = live.door.personActs?.onBoard(asOf: loop?.lastStep)
        }
    }
}

/// What had left a session's pump at an instant.
package struct InsulinLook: Sendable {
    package var at: Instant
    package var given: PumpLedgerUnits
    /// Whether the pump says that it gives nothing.
    package var isDry: Bool

    package init(at: Instant, given: PumpLedgerUnits, isDry: Bool) {
        (self.at, self.given, self.isDry) = (at, given, isDry)
    }

    /// nil where there is no pump, or its session is over.
    init?(_ live: LiveSession) {
        guard let session = live.person, live.outcome == nil else { return nil }
        self.init(
            at: live.now, given: live.ledger,
            isDry: session.executor.inspect { session.controls.status }.givesNothing)
    }
}

extension LiveSnapshot {
    /// A session is about one subject, and whoever shows it names that.
    private mutating func dropSubject(_ policy: AlertPolicy) {
        for place in alerts.indices {
            alerts[place].message = policy.plain(alerts[place].message, alerts[place].code)
        }
        for place in cleared.indices {
            let alert = cleared[place].alert
            cleared[place].alert.message = policy.plain(alert.message, alert.code)
        }
    }
}

/// Where an algorithm says that glucose will be.
package struct GlucoseForecast: Hashable, Sendable, Codable {
    package var glucose: GlucoseConcentration
    package var at: Instant
}

/// A bolus by hand that nothing is given of yet.
package struct RequestedBolus: Hashable, Sendable, Codable {
    /// The number of the request, which confirms it.
    package var number: Int
    package var units: Double
    /// Later it must be asked for anew.
    package var until: Instant
    /// What still acts of earlier boluses, U.
    package var onBoard = 0.0
    /// Where the insulin on board and this bolus would bring glucose without more food, mg/dL; nil where nobody knows the glucose.
    package var foreseenMgdl: Double?
    /// Why it asks again, with what speaks against it now; nil where nothing does.
    package var doubt: ValueText?
}

/// What left the pump, in units.
package struct PumpLedgerUnits: Hashable, Sendable, Codable {
    package var bolus: Double
    package var basal: Double

    init(_ session: Session?) {
        guard let session else {
            (bolus, basal) = (0, 0)
            return
        }
        let ledger = session.ledger
        bolus = Double(ledger.delivered) * session.pump.pulse.units
        basal = Double(ledger.basal) * session.pump.pulse.units
    }
}

/// How session time and wall time belong together.
package struct LiveAnchor: Hashable, Sendable {
    package var instant: Instant
    package var pace: LivePace
    /// Since 1970.
    package var utcNanoseconds: Int64
    /// The continuous clock's at the same moment.
    package var boot: LiveBoot?

    package init(instant: Instant, pace: LivePace, utcNanoseconds: Int64, boot: LiveBoot? = nil) {
        self.boot = boot
        self.instant = instant
        self.pace = pace
        self.utcNanoseconds = utcNanoseconds
    }

    /// Session time at a moment of the wall clock.
    /// - Parameter isBounded: never before the anchor's own.
    func instant(atUTC utc: Int64, speed: Double, isBounded: Bool = true) -> Instant {
        let span = utc.subtractingReportingOverflow(utcNanoseconds)
        let passed =
            span.overflow ? 0 : Double(isBounded ? max(0, span.partialValue) : span.partialValue) * speed
        return instant.adding(Int64(min(max(passed, -1e18), 1e18)))
    }
}
