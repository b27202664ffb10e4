// Views as JSON: what the API answers.
//
// Guarantees: instants stand twice, as the session's local time with its offset (`at`) and as seconds since its start (`t`); glucose is in mg/dL, insulin in U;
// what isn't known is null.

import IsletAlerts
import IsletLoop
import IsletDevices
import IsletFiles
import IsletLive
import IsletKernel

enum SessionJSON {
    static func seconds(_ instant: Instant) -> JSONValue {
        .number(Double(instant.nanoseconds) / Double(Nanoseconds.second))
    }

    static func time(_ instant: Instant, _ calendar: SessionCalendar) -> [JSONValue.Member] {
        [.init("t", seconds(instant)), .init("at", .string(calendar.iso8601(at: instant)))]
    }

    static func optional(_ instant: Instant?, _ calendar: SessionCalendar) -> JSONValue {
        instant.map { .object(time($0, calendar)) } ?? .null
    }

    static func number(_ value: Double?) -> JSONValue { value.map { .number($0) } ?? .null }
    static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    static func units(_ value: InsulinAmount?) -> JSONValue { number(value?.units) }
    static func mgdl(_ value: GlucoseConcentration?) -> JSONValue { number(value?.milligramsPerDecilitre) }

    static func phase(_ phase: LiveSession.Phase) -> [JSONValue.Member] {
        switch phase {
        case .running: [.init("phase", .string("running")), .init("reason", .null)]
        case .returning: [.init("phase", .string("returning")), .init("reason", .null)]
        case .ended(let reason): [.init("phase", .string("ended")), .init("reason", .string(reason))]
        case .failed(let reason): [.init("phase", .string("failed")), .init("reason", .string(reason))]
        }
    }

    static func pace(_ pace: LivePace) -> JSONValue {
        .string(pace == .paused ? "paused" : pace.description)
    }

    static func origin(_ origin: SessionOrigin, _ calendar: SessionCalendar) -> JSONValue {
        switch origin {
        case .own: .object([.init("kind", .string("own"))])
        case .study(let folder, let session, let isSame):
            .object([
                .init("kind", .string("study")), .init("results", .string(folder)),
                .init("session", .integer(Int64(session))),
                .init("is_same", isSame.map { .bool($0) } ?? .null),
            ])
        case .fork(let of, let at, let change):
            .object(
                [.init("kind", .string("fork")), .init("of", .string(of)), .init("change", .string(change))]
                    + time(at, calendar))
        }
    }

    // MARK: One session

    static func snapshot(_ view: SessionView) -> JSONValue {
        let (live, calendar) = (view.live, view.calendar)
        var members: [JSONValue.Member] = [
            .init("id", .string(view.id)), .init("name", .string(view.name)),
            .init("kind", .string(view.kind.rawValue)), .init("origin", origin(view.origin, calendar)),
            .init("number", .integer(Int64(view.number))),
        ]
        members += time(view.now, calendar)
        members.append(.init("ends", .object(time(view.end, calendar))))
        members.append(.init("pace", pace(view.pace)))
        members += phase(view.phase)
        members += [
            .init("is_frozen", .bool(view.isFrozen)), .init("is_read_only", .bool(view.isReadOnly)),
            .init("are_controls_disabled", .bool(view.areControlsDisabled)),
            .init("is_fed", .bool(live.isFed)), .init("is_app_alive", .bool(live.isAppAlive)),
            .init("is_in_foreground", .bool(live.isInForeground)), .init("has_phone", .bool(view.hasPhone)),
            .init("is_signed_in", .bool(live.isSignedIn)), .init("subject", .string(live.subject)),
            .init("arm", .string(live.arm)), .init("glucose", glucose(view)),
            .init("loop", loop(live, calendar)),
            .init("pump", pump(live, calendar)), .init("sensor", text(live.sensor.map { "\($0)" })),
            .init("values", .array(view.values.map { value($0, calendar) })),
            .init(
                "last_24_hours",
                view.summary.map {
                    .object([
                        .init("insulin_units", .number($0.insulinUnits)),
                        .init("lowest_mgdl", number($0.lowestMgdl)),
                        .init("highest_mgdl", number($0.highestMgdl)),
                        .init("mean_mgdl", number($0.meanMgdl)),
                    ])
                } ?? .null),
            .init("is_quiet", .bool(live.isQuiet)), .init("settings", settings(view)),
            .init("waiting", .array(live.waiting.map { .string($0.rawValue) })),
            .init("health", health(view.health)),
            .init("alerts", .array(view.alerts.map { alert($0, calendar) })),
            .init("cleared_count", .integer(Int64(view.cleared.count))),
            .init("digest", .string("\(live.digest)")),
        ]
        return .object(members)
    }

    /// A sentence in its parts: joined, their `text` is the sentence in mg/dL. An amount has its number, its unit, what it is held against, and whether the unit
    /// is written behind it; a time of day is the session's.
    static func parts(_ sentence: ValueText) -> JSONValue {
        .array(
            sentence.parts.map { part in
                switch part {
                case .words(let words): .object([.init("text", .string(words))])
                case .timeOfDay(let time):
                    .object([.init("text", .string(time)), .init("is_time_of_day", .bool(true))])
                case .amount(let amount, let written):
                    .object([
                        .init("text", .string(written)), .init("value", .number(amount.number)),
                        .init("unit", .string(amount.unit)),
                        .init("compared_with", number(amount.comparedWith)),
                        .init("shows_unit", .bool(amount.showsUnit)),
                    ])
                }
            })
    }

    static func health(_ health: SessionHealth) -> JSONValue {
        .object([
            .init("is_well", .bool(health.isWell)),
            .init(
                "concerns",
                .array(
                    health.concerns.map {
                        .object([
                            .init("part", .string($0.part.rawValue)),
                            .init("severity", .string("\($0.severity)")),
                            .init("text", .string($0.text.text)),
                            .init("text_parts", parts($0.text)),
                            .init("is_acknowledged", .bool($0.isAcknowledged)),
                        ])
                    })),
        ])
    }

    static func value(_ value: MetricNow, _ calendar: SessionCalendar) -> JSONValue {
        .object(
            [
                .init("metric", .string(value.metric.rawValue)), .init("value", .number(value.value)),
                .init("unit", .string(value.metric.unit)),
            ] + time(value.at, calendar))
    }

    private static func glucose(_ view: SessionView) -> JSONValue {
        guard let reading = view.live.loop?.glucose else { return .null }
        return .object(
            [
                .init("mgdl", mgdl(reading.glucose)),
                .init("is_stale", .bool(view.live.loop?.isGlucoseStale ?? true)),
                .init("mgdl_per_minute", number(view.trend)),
            ] + time(reading.instant, view.calendar))
    }

    private static func loop(_ live: LiveSnapshot, _ calendar: SessionCalendar) -> JSONValue {
        guard let loop = live.loop else { return .null }
        let status =
            switch loop.status {
            case .noSession: "no session"
            case .openLoop: "open loop"
            case .closedLoop: "closed loop"
            }
        return .object([
            .init("status", .string(status)), .init("is_pump_available", .bool(loop.isPumpAvailable)),
            .init("is_degraded", .bool(live.isDegraded)),
            .init("late_steps", .integer(Int64(live.lateSteps))),
            .init("last_step", optional(loop.lastStep, calendar)),
            .init("last_delivering", optional(loop.lastDelivering, calendar)),
            .init("next_step", optional(loop.nextStep, calendar)),
            .init("under_way_units", units(loop.underWay)), .init("owed_units", units(loop.owed)),
            .init("owed_until", optional(loop.owedUntil, calendar)),
            .init("temporary_basal_percent", .number(live.basalMultiplier * 100)),
            .init("temporary_basal_ends", optional(loop.temporaryBasalEnds, calendar)),
            .init(
                "requested_bolus",
                live.requestedBolus.map {
                    .object([
                        .init("request", .integer(Int64($0.number))), .init("units", .number($0.units)),
                        .init("until", .object(time($0.until, calendar))),
                        .init("insulin_on_board_units", .number($0.onBoard)),
                        .init("asks_again", text($0.doubt?.text)),
                        .init("asks_again_parts", $0.doubt.map(parts) ?? .null),
                    ])
                } ?? .null),
            .init(
                "forecast",
                live.forecast.map { .object([.init("mgdl", mgdl($0.glucose))] + time($0.at, calendar)) }
                    ?? .null),
        ])
    }

    private static func pump(_ live: LiveSnapshot, _ calendar: SessionCalendar) -> JSONValue {
        guard let pump = live.pump else { return .null }
        return .object([
            .init("condition", .string("\(pump.condition)")), .init("is_connected", .bool(pump.isConnected)),
            .init("reservoir_units", units(pump.reservoir)),
            .init("is_reservoir_exact", .bool(pump.isReservoirExact)),
            .init("pod", .string("\(pump.pod)")), .init("pod_expires", optional(pump.podExpiresAt, calendar)),
            .init("temporary_basal_units_per_hour", number(pump.temporaryBasal?.unitsPerHour)),
        ])
    }

    static func settings(_ view: SessionView) -> JSONValue {
        let live = view.live
        func clock(_ nanoseconds: Int64) -> JSONValue {
            let minutes = nanoseconds / Nanoseconds.minute
            func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
            return .string("\(two(minutes / 60)):\(two(minutes % 60))")
        }
        return .object([
            .init("target_mgdl", mgdl(live.target)), .init("subject", text(live.loopSubject?.id)),
            .init("kilograms", number(live.loopSubject?.bodyWeightKilograms)),
            .init("next_subject", text(live.chosenSubject?.id)),
            .init("next_kilograms", number(live.chosenSubject?.bodyWeightKilograms)),
            .init(
                "quiet_hours",
                live.quietHours.map { .object([.init("from", clock($0.from)), .init("to", clock($0.to))]) }
                    ?? .null),
            .init("policy", text(live.policy?.name)), .init("owner", text(view.owner)),
            .init("owner_problem", text(view.ownerProblem)),
            .init("thresholds", .array(view.thresholds.map { threshold($0) })),
        ])
    }

    private static func threshold(_ view: ThresholdView) -> JSONValue {
        .object([
            .init("metric", .string(view.metric.rawValue)), .init("unit", .string(view.metric.unit)),
            .init("enabled", .bool(view.isEnabled)), .init("low", number(view.low)),
            .init("high", number(view.high)),
            .init("sensitivity_minutes", .number(Double(view.sensitivity) / Double(Nanoseconds.minute))),
            .init("range", .array([.number(view.range.lowerBound), .number(view.range.upperBound)])),
            .init(
                "recommended",
                .array(
                    view.recommended.map {
                        .object([
                            .init("stage", .string($0.stage)), .init("from", .number($0.range.lowerBound)),
                            .init("to", .number($0.range.upperBound)), .init("source", .string($0.source)),
                        ])
                    })),
            .init("critical_below", number(view.criticalBelow)),
            .init("critical_above", number(view.criticalAbove)),
        ])
    }

    // MARK: Alerts and rows

    static func alert(_ alert: AlertStory, _ calendar: SessionCalendar) -> JSONValue {
        .object([
            .init("code", .string(alert.code.rawValue)), .init("severity", .string("\(alert.severity)")),
            .init("source", .string(alert.source.rawValue)), .init("message", .string(alert.message.text)),
            .init("message_parts", parts(alert.message)), .init("action", .string(alert.action)),
            .init("acknowledgement", .string("\(alert.acknowledgement)")),
            .init("reviewed", optional(alert.reviewedAt, calendar)),
            .init("raised", .object(time(alert.raisedAt, calendar))),
            .init("updated", .object(time(alert.updatedAt, calendar))),
            .init("counts_down_to", optional(alert.countdownTo, calendar)),
            .init("cleared", optional(alert.clearedAt, calendar)),
            .init("cleared_by", text(alert.clearedBy?.rawValue)), .init("is_preview", .bool(alert.isPreview)),
            .init("has_banner", .bool(alert.hasBanner)),
            .init("notified", optional(alert.notifiedAt, calendar)),
            .init("told", optional(alert.toldAt, calendar)),
            .init("route", .string(alert.route)),
            .init(
                "story",
                .array(
                    alert.story.map {
                        .object(
                            time($0.at, calendar) + [
                                .init("effect", .string($0.effect)), .init("reason", .string($0.reason)),
                                .init("severity", .string($0.severity)),
                                .init("count", .integer(Int64($0.count))),
                            ])
                    })),
        ])
    }

    static func reading(_ row: ReadingRow, _ calendar: SessionCalendar) -> JSONValue {
        .object(
            time(row.instant, calendar) + [
                .init("mgdl", .number(row.mgdl)), .init("came_late", .bool(row.backfilledAt != nil)),
            ])
    }

    static func step(_ row: StepRow, _ calendar: SessionCalendar) -> JSONValue {
        .object(
            time(row.instant, calendar) + [
                .init("algorithm_time", .integer(row.algorithmTime)), .init("cgm_mgdl", number(row.cgmMgdl)),
                .init("is_pump_available", .bool(row.isPumpAvailable)),
                .init("basal_units", .number(row.basalUnits)),
                .init("correction_units", .number(row.correctionUnits)),
                .init("meal_units", .number(row.mealUnits)),
                .init("accepted_units", .number(row.acceptedUnits)),
                .init("failure", .string(row.failure)),
            ])
    }

    static func event(_ event: LiveEvent, _ calendar: SessionCalendar) -> JSONValue {
        var alert = JSONValue.null
        if let row = event.alert {
            alert = .object([
                .init("code", .string(row.code.rawValue)), .init("effect", .string(row.effect)),
                .init("reason", .string(row.reason)), .init("severity", .string(row.severity)),
                .init("message", .string(event.message.text)),
                .init("message_parts", parts(event.message)),
                .init("action", .string(event.action)),
                .init("route", .string(AlertStory.route(of: row.code))),
            ])
        }
        return .object(
            [.init("number", .integer(Int64(event.number)))] + time(event.instant, calendar) + [
                .init("kind", .string(event.kind)), .init("outcome", .string(event.outcome.rawValue)),
                .init("code", text(event.problem?.code)), .init("reason", text(event.problem?.reason)),
                .init("input", input(event)),
                .init(
                    "values",
                    .array(
                        event.values.map {
                            .object([
                                .init("name", .string($0.name)), .init("value", .number($0.value)),
                                .init("unit", .string($0.unit)),
                            ])
                        })),
                .init("text", .string(EventText(calendar).text(event))), .init("alert", alert),
            ])
    }

    /// What was said, where that is what happened: a fork's own of what it left out.
    private static func input(_ event: LiveEvent) -> JSONValue {
        guard case .input(let number, let said, _) = event.what else { return .null }
        let input = LiveInput(bytes: Array(said.utf8))
        return .object([
            .init("number", .integer(Int64(number))), .init("name", text(input?.name)),
            .init("alert", text(input?.toldAlert)),
        ])
    }

    // MARK: The ward

    static func card(_ card: WardCard) -> JSONValue {
        .object(
            [
                .init("id", .string(card.id)), .init("name", .string(card.name)),
                .init("kind", .string(card.kind.rawValue)), .init("pace", pace(card.pace)),
                .init("number", .integer(Int64(card.number))), .init("is_frozen", .bool(card.isFrozen)),
                .init("local_time", .string(card.localTime)),
                .init("glucose_mgdl", mgdl(card.glucose?.glucose)), .init("is_stale", .bool(card.isStale)),
                .init("alerts", .integer(Int64(card.alertCount))),
                .init("has_phone", .bool(card.hasPhone)), .init("is_untold", .bool(card.isUntold)),
                .init("top_alert", text(card.top?.code.rawValue)),
                .init("top_severity", text(card.top.map { "\($0.severity)" })),
                .init("health", health(card.health)),
            ] + phase(card.phase))
    }
}
