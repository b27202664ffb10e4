// What a session leaves behind, row by row, while it runs.
//
// Guarantees: rows stand in the order in which they happened; a level records nothing of a higher one, and then costs
// one comparison.
// Does not: write anything. A finished session hands its rows over as one `SessionRecord`.

public import IsletKernel

/// How much of each session a study keeps.
public enum RecordLevel: String, Sendable, CaseIterable, Comparable {
    /// Outcomes only.
    case summary
    /// Meals, manual doses, faults and alert effects too.
    case events
    /// Every step, reading and delivery too.
    case full

    private var rank: Int {
        switch self {
        case .summary: 0
        case .events: 1
        case .full: 2
        }
    }

    public static func < (a: Self, b: Self) -> Bool { a.rank < b.rank }
}

/// What the person did, and what reached them.
public struct PersonRow: Hashable, Sendable, Codable {
    public enum Kind: String, Sendable, Codable, CaseIterable {
        case meal, announcement
        case manualBolus = "manual_bolus"
        /// Sugar against a low.
        case rescue
        /// A notification that was noticed awake, that was not, that woke, that did not wake.
        case heard, unheard, woke
        case sleptOn = "slept_on"
        /// A low that was felt awake, or that woke.
        case felt
        case feltAsleep = "felt_asleep"
        /// The phone in the hand, because something rang, or against a low.
        case looked
        case acknowledged
        case askedAgain = "asked_again"
        /// An app that was found dead.
        case reopened
        case podChange = "pod_change"
        case sensorChange = "sensor_change"
        /// A ring that the person slept through and a parent noticed.
        case parentHeard = "parent_heard"
        /// A late meal bolus that was not given any more.
        case bolusLeftOut = "bolus_left_out"
        /// Exercise began; how long it will last.
        case exercise
        /// Carbohydrate before exercise.
        case exerciseCarbs = "exercise_carbs"
        /// Glucose stays high for no reason that the person knows: it may be the site. For how long it has been high.
        case siteSuspected = "site_suspected"
        /// 1 where there were ketones, else 0.
        case ketonesChecked = "ketones_checked"
        /// A pod is going to be changed for its site, which does fail, or which doesn't: that the person can't know.
        case siteChange = "site_change"
        case siteChangeInVain = "site_change_in_vain"
        /// Insulin against a high that came from no pump, and of which no loop knows.
        case pen
        /// Exercise is put off, or called off: how long after its hour.
        case exercisePutOff = "exercise_put_off"
        case exerciseCalledOff = "exercise_called_off"
        /// The loop is told of exercise: the target meanwhile.
        case exerciseTold = "exercise_told"

        /// The unit of its amount.
        public var unit: String {
            switch self {
            case .meal, .announcement, .rescue, .bolusLeftOut, .exerciseCarbs: "g"
            case .manualBolus, .pen: "U"
            case .felt, .feltAsleep, .looked, .exerciseTold: "mg/dL"
            case .acknowledged, .podChange, .sensorChange, .exercise, .siteSuspected, .siteChange,
                .siteChangeInVain, .exercisePutOff, .exerciseCalledOff:
                "min"
            case .heard, .unheard, .woke, .sleptOn, .parentHeard, .askedAgain, .reopened, .ketonesChecked: ""
            }
        }

        /// The place in `allCases`.
        public var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }
    public var instant: Instant
    public var kind: Kind
    /// In the kind's unit. For a notification, its number among those about the same within five minutes; 0 for a look without a reading.
    public var amount: Double
    /// The alert that rang or was acknowledged; empty for other rows. The store finds it in `alert_effects`, at the same instant.
    public var code = AlertName.none
}

/// One effect of the alert center.
public struct AlertRow: Hashable, Sendable {
    public var instant: Instant
    public var effect: String
    public var code: AlertName
    public var severity: String
    public var reason: String

    public init(instant: Instant, effect: String, code: AlertName, severity: String, reason: String) {
        self.instant = instant
        self.effect = effect
        self.code = code
        self.severity = severity
        self.reason = reason
    }
}

/// A fault, over its true span.
public struct FaultRow: Hashable, Sendable {
    public var instant: Instant
    public var end: Instant
    public var kind: String

    public init(instant: Instant, end: Instant, kind: String) {
        self.instant = instant
        self.end = end
        self.kind = kind
    }
}

/// One step of the loop.
public struct StepRow: Hashable, Sendable, Codable {
    public var instant: Instant
    public var algorithmTime: Int64
    public var cgmMgdl: Double?
    public var isPumpAvailable: Bool
    public var basalUnits: Double
    public var correctionUnits: Double
    public var mealUnits: Double
    public var acceptedUnits: Double
    /// Empty for a step that went well.
    public var failure: String

    public init(
        instant: Instant, algorithmTime: Int64, cgmMgdl: Double?, isPumpAvailable: Bool, basalUnits: Double,
        correctionUnits: Double, mealUnits: Double, acceptedUnits: Double, failure: String
    ) {
        self.instant = instant
        self.algorithmTime = algorithmTime
        self.cgmMgdl = cgmMgdl
        self.isPumpAvailable = isPumpAvailable
        self.basalUnits = basalUnits
        self.correctionUnits = correctionUnits
        self.mealUnits = mealUnits
        self.acceptedUnits = acceptedUnits
        self.failure = failure
    }
}

/// One reading of the sensor.
public struct ReadingRow: Hashable, Sendable, Codable {
    /// When it was measured.
    public var instant: Instant
    public var mgdl: Double
    /// When it arrived, where a loss of signal held it back.
    public var backfilledAt: Instant?

    public init(instant: Instant, mgdl: Double, backfilledAt: Instant? = nil) {
        (self.instant, self.mgdl, self.backfilledAt) = (instant, mgdl, backfilledAt)
    }
}

/// Insulin that the person asked for and that was given up.
public struct LapseRow: Hashable, Sendable {
    public var instant: Instant
    /// The amount, the meal that it was for, and why.
    public var words: String

    public init(instant: Instant, words: String) {
        self.instant = instant
        self.words = words
    }
}

/// One delivery of the pump.
public struct DeliveryRow: Hashable, Sendable, Codable {
    public var instant: Instant
    public var requestID: Int64
    public var units: Double
}

/// What was true, and what the sensor made of it, at one instant of the five-minute grid from the session's start.
public struct TruthRow: Hashable, Sendable {
    public var instant: Instant
    /// The body's own, mg/dL: what glucose outcomes are computed from.
    public var plasmaMgdl: Double
    /// Measured in the five minutes up to this instant, mg/dL; nil where the sensor had nothing to show.
    public var sensorMgdl: Double?
    /// Whether a loss of signal held the value back: nobody saw it at that time.
    public var isBackfilled: Bool

    public init(instant: Instant, plasmaMgdl: Double, sensorMgdl: Double?, isBackfilled: Bool) {
        self.instant = instant
        self.plasmaMgdl = plasmaMgdl
        self.sensorMgdl = sensorMgdl
        self.isBackfilled = isBackfilled
    }
}

/// Collects the rows of one session. Belongs to the session's thread, like its actors.
public final class SessionRecorder: @unchecked Sendable {
    public let level: RecordLevel
    public private(set) var person: [PersonRow] = []
    public private(set) var alerts: [AlertRow] = []
    public private(set) var faults: [FaultRow] = []
    public private(set) var steps: [StepRow] = []
    public private(set) var readings: [ReadingRow] = []
    public private(set) var deliveries: [DeliveryRow] = []
    /// Rows for stories: no table of results has them, columns of the step log do.
    public private(set) var lapses: [LapseRow] = []
    /// What the sensor said, whatever the level: outcomes of sensor glucose need it. By arrival.
    public private(set) var sensorTrace: [SensorPoint] = []

    /// One reading, for outcomes.
    public struct SensorPoint: Hashable, Sendable {
        /// When it was measured.
        public var instant: Instant
        public var mgdl: Double
        /// Whether it came late: nobody saw it at that time.
        public var isBackfilled: Bool
    }
    public private(set) var truth: [TruthRow] = []

    public init(level: RecordLevel) { self.level = level }

    /// Rows of all kinds.
    public var rowCount: Int {
        person.count + alerts.count + faults.count + steps.count + readings.count + deliveries.count
            + truth.count
    }

    public func did(_ kind: PersonRow.Kind, _ amount: Double, at instant: Instant, code: AlertName = .none) {
        if level >= .events {
            person.append(PersonRow(instant: instant, kind: kind, amount: amount, code: code))
        }
    }

    public func alert(_ row: @autoclosure () -> AlertRow) {
        if level >= .events { alerts.append(row()) }
    }

    public func fault(_ row: @autoclosure () -> FaultRow) {
        if level >= .events { faults.append(row()) }
    }

    public func lapse(_ row: @autoclosure () -> LapseRow) {
        if level >= .events { lapses.append(row()) }
    }

    public func step(_ row: @autoclosure () -> StepRow) {
        if level >= .full { steps.append(row()) }
    }

    /// Gives the readings away: a record that waits to be written needs them no more.
    public func takeSensorTrace() -> [SensorPoint] {
        defer { sensorTrace = [] }
        return sensorTrace
    }

    /// Reserves room for the readings of a session.
    public func expect(readings count: Int) { sensorTrace.reserveCapacity(count) }

    public func reading(_ mgdl: Double, at instant: Instant) {
        sensorTrace.append(SensorPoint(instant: instant, mgdl: mgdl, isBackfilled: false))
        if level >= .full { readings.append(ReadingRow(instant: instant, mgdl: mgdl)) }
    }

    /// A reading that arrived late.
    public func backfill(_ mgdl: Double, measuredAt instant: Instant, at now: Instant) {
        sensorTrace.append(SensorPoint(instant: instant, mgdl: mgdl, isBackfilled: true))
        if level >= .full { readings.append(ReadingRow(instant: instant, mgdl: mgdl, backfilledAt: now)) }
    }

    public func delivery(_ units: Double, requestID: Int64, at instant: Instant) {
        if level >= .full {
            deliveries.append(DeliveryRow(instant: instant, requestID: requestID, units: units))
        }
    }

    /// Ends the session's record: the truth on its grid beside what the sensor made of it.
    /// - Parameters:
    ///   - plasma: mg/dL, every `interval` nanoseconds from the session's start.
    ///   - sensor: as `takeSensorTrace` gave it. Of several readings within an interval the last one counts.
    public func finish(plasma: [Float], every interval: Int64, sensor: [SensorPoint]) {
        guard level >= .full else { return }
        truth = plasma.indices.map { slot in
            TruthRow(
                instant: Instant(nanoseconds: Int64(slot) * interval), plasmaMgdl: Double(plasma[slot]),
                sensorMgdl: nil, isBackfilled: false)
        }
        var measuredAt = [Instant?](repeating: nil, count: truth.count)
        for point in sensor where point.instant.nanoseconds >= 0 {
            let slot = Int((point.instant.nanoseconds + interval - 1) / interval)
            guard truth.indices.contains(slot) else { continue }
            if let before = measuredAt[slot], before >= point.instant { continue }
            measuredAt[slot] = point.instant
            truth[slot].sensorMgdl = point.mgdl
            truth[slot].isBackfilled = point.isBackfilled
        }
    }

    /// Hands over the rows so far, as a recorder of their own; this one goes on without them.
    public func takeRows() -> SessionRecorder {
        let taken = SessionRecorder(level: level)
        swap(&taken.person, &person)
        swap(&taken.alerts, &alerts)
        swap(&taken.faults, &faults)
        swap(&taken.steps, &steps)
        swap(&taken.readings, &readings)
        swap(&taken.deliveries, &deliveries)
        swap(&taken.lapses, &lapses)
        swap(&taken.truth, &truth)
        return taken
    }
}
