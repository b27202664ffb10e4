// What makes no sense is refused before a session hears of it.
//
// Guarantees: the one place that looks at an input by itself: numbers finite and in range, names known. What hangs on a session's state
// (what is owed, whether the pump is in reach) is judged by the session, at the input's instant.

package import IsletAlerts
import IsletLoop
import IsletDevices
import IsletFiles
package import IsletTrials

/// What an input may speak of.
package struct LiveInputContext: Sendable {
    package var policy: AlertPolicy
    /// Glucose comes from outside: insulin is suggested only.
    package var isFed: Bool
    /// What kind of subject the session is about.
    package var kind: SubjectKind

    package init(policy: AlertPolicy, isFed: Bool = false, kind: SubjectKind = .person) {
        self.policy = policy
        self.isFed = isFed
        self.kind = kind
    }
}

extension LiveInput {
    /// How long a bolus waits for its confirmation, ns of session time.
    package static let confirmsWithin: Int64 = 5 * 60 * 1_000_000_000
    static let snoozeMinutes = 1...1440
    static let largestClockStepSeconds = 10.0 * 366 * 86_400

    /// How far a reading's stamp may lie in the future, ns: it counts as taken now.
    package static let futureStamp: Int64 = 2 * 60 * 1_000_000_000

    /// What is wrong with it; nil where nothing is.
    package func problem(in context: LiveInputContext) -> LiveRefusal? {
        if let missing = missing(in: context.kind) { return missing }
        if context.isFed, let refusal = refusalWhereFed { return refusal }
        switch self {
        case .reading(_, let mgdl):
            guard context.isFed else {
                return LiveRefusal(
                    .otherDevices,
                    "reading: found one from outside, expected a session that is fed: this one's sensor is simulated"
                )
            }
            return Self.outside("reading, mg/dL", mgdl, LoopController.bloodGlucoseRange)
        case .meal(let grams, let isEaten, let isAnnounced):
            if !isEaten, !isAnnounced {
                return LiveRefusal(
                    .contradictory, "meal: found neither eaten nor announced, expected one or both")
            }
            return Self.outside("meal, g", grams, 1...MealAnnouncement.largest.grams)
        case .bloodGlucose(let mgdl):
            return Self.outside("blood glucose, mg/dL", mgdl, LoopController.bloodGlucoseRange)
        case .calibration(let mgdl):
            return Self.outside("calibration, mg/dL", mgdl, LoopController.bloodGlucoseRange)
        case .requestBolus(let units): return Self.outside("manual bolus, U", units, 0.05...100)
        case .confirmBolus(let request, let units, _):
            if request < 1 {
                return LiveRefusal(
                    .outOfRange, "confirmed bolus: found request \(request), expected a request's number")
            }
            return Self.outside("manual bolus, U", units, 0.05...100)
        case .target(let mgdl): return Self.outside("target, mg/dL", mgdl, LoopController.targetRange)
        case .temporaryBasal(let multiplier, let minutes):
            guard minutes % 5 == 0 else {
                return LiveRefusal(
                    .outOfRange, "temporary basal, min: found \(minutes), expected whole steps of 5")
            }
            return Self.outside("basal multiplier", multiplier, 0...10)
                ?? Self.outside("temporary basal, min", Double(minutes), 5...1440)
        case .stateInsulin(let units, let minutes):
            return Self.outside("insulin of the last eight hours, U", units, Self.statedUnits)
                ?? Self.outside("last bolus, min ago", Double(minutes), 0...480)
        case .suspend(let minutes):
            return minutes.flatMap { Self.outside("suspension, min", Double($0), 1...1440) }
        case .subject(let id, let kilograms):
            guard (1...100).contains(id.count), id.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
                return LiveRefusal(
                    .outOfRange, "subject: found `\(printable(id, limit: 40))`, expected 1 to 100 characters")
            }
            return Self.outside("weight, kg", kilograms, 1...300)
        case .acknowledge(let alert), .testAlert(let alert): return Self.unknown(alert, context)
        case .dismiss(let alert, let episode): return Self.unknown(alert, context) ?? Self.problem(episode)
        case .bannerShown(let alert, let episode):
            return Self.unknown(alert, context) ?? Self.problem(episode)
        case .told(let alert): return Self.unknown(alert, context)
        case .tap(let alert), .preview(let alert):
            // Whoever has no pump and no loop has none of their alerts to look at.
            return AlertCode(rawValue: alert) == nil || !context.kind.isPerson
                ? Self.unknown(alert, context) : nil
        case .snooze(let alert, let minutes):
            return Self.unknown(alert, context)
                ?? Self.outside(
                    "snooze, min", Double(minutes),
                    Double(Self.snoozeMinutes.lowerBound)...Double(Self.snoozeMinutes.upperBound))
        case .quietHours(let from, let to):
            guard (from == nil) == (to == nil) else {
                return LiveRefusal(.contradictory, "quiet hours: found one end, expected both or none")
            }
            return [from, to].lazy.compactMap { $0 }.compactMap {
                Self.outside("quiet hours, min after midnight", Double($0), 0...1439)
            }.first
        case .threshold(let metric, let low, let high, let minutes, _):
            return Self.problem(metric, low, high, context.kind)
                ?? minutes.flatMap { Self.outside("sensitivity, min", Double($0), 0...1440) }
        case .changeThreshold(let metric, let low, let high, let minutes, _, let below, let above):
            let criticals = [below, above].compactMap { $0?.value }
            return Self.problem(metric, low?.value, high?.value, context.kind)
                ?? criticals.lazy.compactMap { Self.outside("critical bound", $0, -1000...1000) }.first
                ?? minutes.flatMap { Self.outside("sensitivity, min", Double($0), 0...1440) }
        case .switchThreshold(let metric, _): return Self.problem(metric, nil, nil, context.kind)
        case .clockStep(let seconds):
            return Self.outside(
                "clock step, s", seconds, -Self.largestClockStepSeconds...Self.largestClockStepSeconds)
        case .leftOut:
            return LiveRefusal(.notAnInput, "found what only a fork's journal has, expected an input")
        // The session looks at what devices say.
        case .device: return nil
        case .cancelOwed, .cancelBolus, .cancelTemporaryBasal, .resume, .changePod, .changeSensor, .openLoop,
            .closedLoop, .startSession, .endSession, .foreground, .background, .visit, .signIn, .signOut,
            .subjectClaim, .openSettings, .saveSettings, .dismissDropped, .recommendThresholds, .takePump:
            return nil
        }
    }

    /// Why it means nothing to a kind of subject; nil where it does.
    func missing(in kind: SubjectKind) -> LiveRefusal? {
        if kind.isPerson {
            guard case .visit = self else { return nil }
            return LiveRefusal(
                .notOfSubject, "visit: found one of a person, expected a subject that somebody looks after")
        }
        let what: String
        switch self {
        case .acknowledge, .snooze, .testAlert, .foreground, .background, .quietHours, .threshold, .clockStep,
            .visit, .switchThreshold, .changeThreshold, .recommendThresholds, .openSettings, .saveSettings,
            .dismiss, .bannerShown, .told, .tap, .preview, .leftOut:
            return nil
        case .signIn, .signOut, .subjectClaim: what = "no log-in of its own"
        case .requestBolus, .confirmBolus, .cancelBolus, .cancelOwed, .temporaryBasal, .cancelTemporaryBasal,
            .suspend, .resume, .changePod, .stateInsulin, .takePump:
            what = "no pump"
        case .meal: what = "no meals"
        case .bloodGlucose, .calibration, .changeSensor: what = "no glucose"
        case .target, .openLoop, .closedLoop, .startSession, .endSession, .subject, .dismissDropped:
            what = "no loop"
        case .reading, .device: what = "no device outside: its monitor is simulated"
        }
        return LiveRefusal(.notOfSubject, "a \(kind.spoken) has \(what)")
    }

    /// Where glucose is a real person's nothing here gives insulin, and none is made up.
    private var refusalWhereFed: LiveRefusal? {
        switch self {
        case .meal(_, let isEaten, _) where isEaten:
            return LiveRefusal(
                .suggestionsOnly,
                "meal: found one that is eaten, expected `announce`: nobody eats in a session that is fed")
        case .requestBolus, .confirmBolus, .cancelBolus, .temporaryBasal, .cancelTemporaryBasal, .suspend,
            .resume,
            .changePod, .changeSensor, .closedLoop:
            return LiveRefusal(
                .suggestionsOnly,
                "found what is a pump's, a sensor's or a closed loop's, expected suggestions only: glucose comes from outside"
            )
        default: return nil
        }
    }

    /// What a person may state of the last eight hours, U; more is a slip.
    package static let statedUnits = 0.0...200

    /// NaN is in no range.
    private static func outside(
        _ name: String, _ value: Double, _ range: ClosedRange<Double>
    ) -> LiveRefusal? {
        if range.contains(value) { return nil }
        return LiveRefusal(
            .outOfRange, "\(name): found \(value), expected \(range.lowerBound) to \(range.upperBound)")
    }

    private static func problem(_ episode: Int?) -> LiveRefusal? {
        episode.flatMap { Self.outside("episode, s since the start", Double($0), 0...1e9) }
    }

    private static func unknown(_ alert: String, _ context: LiveInputContext) -> LiveRefusal? {
        guard !context.policy.rules.contains(where: { $0.code.rawValue == alert }) else { return nil }
        let codes = context.policy.rules.map(\.code.rawValue)
        let meant = nearest(to: alert, among: codes).map { "; nearest: \($0)" } ?? ""
        return LiveRefusal(
            .unknownAlert,
            "alert: found `\(printable(alert, limit: 60))`, expected a code of the policy\(meant)")
    }

    private static func problem(
        _ metric: String, _ low: Double?, _ high: Double?, _ kind: SubjectKind
    ) -> LiveRefusal? {
        guard let known = AlertMetric(rawValue: metric), kind.metrics.contains(known),
            let range = range(of: known)
        else {
            let names = kind.metrics.filter { Self.range(of: $0) != nil }.map(\.rawValue)
                .joined(separator: ", ")
            return LiveRefusal(
                .unknownMetric, "threshold: found `\(printable(metric, limit: 40))`, expected one of \(names)"
            )
        }
        let unit = "threshold of \(metric), \(known.unit)"
        for bound in [low, high] {
            if let bound, let problem = outside(unit, bound, range) { return problem }
        }
        if let low, let high, low >= high {
            return LiveRefusal(
                .contradictory, "\(unit): found \(low) to \(high), expected low below high")
        }
        return nil
    }

    /// Where a threshold of a session's metric makes sense; nil for metrics that no session has.
    package static func range(of metric: AlertMetric) -> ClosedRange<Double>? {
        switch metric {
        case .glucose: 40...400
        case .glucoseRate: -10...10
        case .reservoir: 0...300
        case .readingAge: 5...1440
        // As far as the critical bounds: what harms would pass without a word beyond.
        case .temperature, .humidity, .vpd:
            metric.criticalBelow.flatMap { low in metric.criticalAbove.map { low...$0 } }
        default: nil
        }
    }
}
