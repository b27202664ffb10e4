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
        case .own: ["kind": "own"]
        case .study(let folder, let session, let isSame):
            [
                "kind": "study", "results": .string(folder),
                "session": .integer(Int64(session)),
                "is_same": isSame.map { .bool($0) } ?? .null,
            ]
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
            .init("is_frozen", .bool(view.isFrozen)), .init("is_sounding", .bool(view.isSounding)),
            .init("is_read_only", .bool(view.isReadOnly)),
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
                    [
                        "insulin_units": .number($0.insulinUnits),
                        "lowest_mgdl": number($0.lowestMgdl),
                        "highest_mgdl": number($0.highestMgdl),
                        "mean_mgdl": number($0.meanMgdl),
                    ]
                } ?? .null),
            .init(
                "driver",
                live.wheel.map {
                    [
                        "name": text($0.driver),
                        "waiting_step": $0.step.map { .integer($0) } ?? .null,
                    ]
                } ?? .null),
            .init("is_quiet", .bool(live.isQuiet)), .init("settings", settings(view)),
            .init("insulin_on_board_units", number(live.insulinOnBoard)),
            .init(
                "snoozes",
                .array(
                    (live.snoozes ?? []).map {
                        ["alert": .string($0.code.rawValue), "until": .object(time($0.until, calendar))]
                    })),
            .init("waiting", .array(live.waiting.map { .string($0.rawValue) })),
            .init("health", health(view.health)),
            .init("alerts", .array(view.alerts.map { alert($0, calendar) })),
            .init("cleared_count", .integer(Int64(view.cleared.count))),
            .init("digest", .string("\(live.digest)")),
        ]
        return .object(members)
    }

    /// Where a session stands for its driver.
    static func driven(_ stand: DriverStand, _ calendar: SessionCalendar, _ more: [JSONValue.Member])
        -> JSONValue
    {
        .object(
            more + time(stand.now, calendar) + phase(stand.phase) + [
                .init("driver", text(stand.driver)), .init("step", stand.step ?? .null),
                .init("digest", .string("\(stand.digest)")),
            ])
    }

    /// A sentence in its parts: joined, their `text` is the sentence in mg/dL. An amount has its number, its unit, what it is held against, and whether the unit
    /// is written behind it; a time of day is the session's.
    static func parts(_ sentence: ValueText) -> JSONValue {
        .array(
            sentence.parts.map { part in
                switch part {
                case .words(let words): ["text": .string(words)]
                case .timeOfDay(let time):
                    ["text": .string(time), "is_time_of_day": .bool(true)]
                case .amount(let amount, let written):
                    [
                        "text": .string(written), "value": .number(amount.number),
                        "unit": .string(amount.unit),
                        "compared_with": number(amount.comparedWith),
                        "shows_unit": .bool(amount.showsUnit),
                    ]
                }
            })
    }

    /// Why something was not done: `name` has the sentence, `name_parts` its parts.
    static func reason(_ refusal: LiveRefusal, as name: String) -> JSONValue {
        [
            "code": .string(refusal.code), name: .string(printable(refusal.reason.text, limit: 2000)),
            name + "_parts": parts(refusal.reason),
        ]
    }

    static func health(_ health: SessionHealth) -> JSONValue {
        [
            "is_well": .bool(health.isWell),
            "concerns": .array(
                health.concerns.map {
                    [
                        "part": .string($0.part.rawValue),
                        "severity": .string("\($0.severity)"),
                        "text": .string($0.text.text),
                        "text_parts": parts($0.text),
                        "is_acknowledged": .bool($0.isAcknowledged),
                    ]
                }),
        ]
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
        return [
            "status": .string(status), "is_pump_available": .bool(loop.isPumpAvailable),
            "is_degraded": .bool(live.isDegraded),
            "late_steps": .integer(Int64(live.lateSteps)),
            "last_step": optional(loop.lastStep, calendar),
            "last_delivering": optional(loop.lastDelivering, calendar),
            "next_step": optional(loop.nextStep, calendar),
            "under_way_units": units(loop.underWay), "owed_units": units(loop.owed),
            "owed_until": optional(loop.owedUntil, calendar),
            "temporary_basal_percent": .number(live.basalMultiplier * 100),
            "temporary_basal_ends": optional(loop.temporaryBasalEnds, calendar),
            "requested_bolus": live.requestedBolus.map {
                [
                    "request": .integer(Int64($0.number)), "units": .number($0.units),
                    "until": .object(time($0.until, calendar)),
                    "insulin_on_board_units": .number($0.onBoard),
                    "foreseen_mgdl": number($0.foreseenMgdl),
                    "asks_again": text($0.doubt?.text),
                    "asks_again_parts": $0.doubt.map(parts) ?? .null,
                ]
            } ?? .null,
            "forecast": live.forecast.map {
                .object([.init("mgdl", mgdl($0.glucose))] + time($0.at, calendar))
            }
                ?? .null,
        ]
    }

    private static func pump(_ live: LiveSnapshot, _ calendar: SessionCalendar) -> JSONValue {
        guard let pump = live.pump else { return .null }
        return [
            "condition": .string("\(pump.condition)"), "is_connected": .bool(pump.isConnected),
            "reservoir_units": units(pump.reservoir),
            "is_reservoir_exact": .bool(pump.isReservoirExact),
            "pod": .string("\(pump.pod)"), "pod_expires": optional(pump.podExpiresAt, calendar),
            "temporary_basal_units_per_hour": number(pump.temporaryBasal?.unitsPerHour),
        ]
    }

    static func settings(_ view: SessionView) -> JSONValue {
        let live = view.live
        func clock(_ nanoseconds: Int64) -> JSONValue {
            let minutes = nanoseconds / Nanoseconds.minute
            func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
            return .string("\(two(minutes / 60)):\(two(minutes % 60))")
        }
        return [
            "target_mgdl": mgdl(live.target), "subject": text(live.loopSubject?.id),
            "kilograms": number(live.loopSubject?.bodyWeightKilograms),
            "next_subject": text(live.chosenSubject?.id),
            "next_kilograms": number(live.chosenSubject?.bodyWeightKilograms),
            "quiet_hours": live.quietHours.map { ["from": clock($0.from), "to": clock($0.to)] }
                ?? .null,
            "policy": text(live.policy?.name), "owner": text(view.owner),
            "owner_problem": text(view.ownerProblem),
            "thresholds": .array(view.thresholds.map { threshold($0) }),
        ]
    }

    private static func threshold(_ view: ThresholdView) -> JSONValue {
        [
            "metric": .string(view.metric.rawValue), "unit": .string(view.metric.unit),
            "enabled": .bool(view.isEnabled), "low": number(view.low),
            "high": number(view.high),
            "sensitivity_minutes": .number(Double(view.sensitivity) / Double(Nanoseconds.minute)),
            "range": .array([.number(view.range.lowerBound), .number(view.range.upperBound)]),
            "recommended": .array(
                view.recommended.map {
                    [
                        "stage": .string($0.stage), "from": .number($0.range.lowerBound),
                        "to": .number($0.range.upperBound), "source": .string($0.source),
                    ]
                }),
            "critical_below": number(view.criticalBelow),
            "critical_above": number(view.criticalAbove),
        ]
    }

    // MARK: Alerts and rows

    static func alert(_ alert: AlertStory, _ calendar: SessionCalendar) -> JSONValue {
        [
            "code": .string(alert.code.rawValue), "severity": .string("\(alert.severity)"),
            "source": .string(alert.source.rawValue), "message": .string(alert.message.text),
            "message_parts": parts(alert.message), "action": .string(alert.action),
            "acknowledgement": .string("\(alert.acknowledgement)"),
            "reviewed": optional(alert.reviewedAt, calendar),
            "raised": .object(time(alert.raisedAt, calendar)),
            "updated": .object(time(alert.updatedAt, calendar)),
            "counts_down_to": optional(alert.countdownTo, calendar),
            "cleared": optional(alert.clearedAt, calendar),
            "cleared_by": text(alert.clearedBy?.rawValue), "is_preview": .bool(alert.isPreview),
            "has_banner": .bool(alert.hasBanner),
            "notified": optional(alert.notifiedAt, calendar),
            "told": optional(alert.toldAt, calendar),
            "route": .string(alert.route),
            "story": .array(
                alert.story.map {
                    .object(
                        time($0.at, calendar) + [
                            .init("effect", .string($0.effect)), .init("reason", .string($0.reason)),
                            .init("severity", .string($0.severity)),
                            .init("count", .integer(Int64($0.count))),
                        ])
                }),
        ]
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
            alert = [
                "code": .string(row.code.rawValue), "effect": .string(row.effect),
                "reason": .string(row.reason), "severity": .string(row.severity),
                "message": .string(event.message.text),
                "message_parts": parts(event.message),
                "action": .string(event.action),
                "route": .string(AlertStory.route(of: row.code)),
            ]
        }
        return .object(
            [.init("number", .integer(Int64(event.number)))] + time(event.instant, calendar) + [
                .init("kind", .string(event.kind)), .init("outcome", .string(event.outcome.rawValue)),
                .init("code", text(event.problem?.code)),
                .init("reason", text(event.problem?.reason.text)),
                .init("reason_parts", event.problem.map { parts($0.reason) } ?? .null),
                .init("input", input(event)),
                .init(
                    "values",
                    .array(
                        event.values.map {
                            [
                                "name": .string($0.name), "value": .number($0.value),
                                "unit": .string($0.unit),
                            ]
                        })),
                .init("text", .string(EventText(calendar).text(event))), .init("alert", alert),
            ])
    }

    /// A notification of one of a ward's sessions.
    static func ring(_ ring: WardRing) -> JSONValue {
        .object(
            [
                .init("ring", .integer(Int64(ring.number))), .init("session", .string(ring.session)),
                .init("name", .string(ring.name)),
            ] + (ring.at.map { time($0, ring.calendar) } ?? [.init("t", .null), .init("at", .null)]) + [
                .init("pace", pace(ring.pace)), .init("code", .string(ring.code.rawValue)),
                .init("severity", .string(ring.severity.name)), .init("reason", text(ring.reason?.rawValue)),
                .init("message", .string(ring.message.text)), .init("message_parts", parts(ring.message)),
                .init("action", .string(ring.action)),
                .init("route", .string(AlertStory.route(of: ring.code))),
                .init("hearing", text(ring.hearing?.rawValue)),
            ])
    }

    /// What was said, where that is what happened: a fork's own of what it left out.
    private static func input(_ event: LiveEvent) -> JSONValue {
        guard case .input(let number, let said, _) = event.what else { return .null }
        let input = LiveInput(bytes: Array(said.utf8))
        return [
            "number": .integer(Int64(number)), "name": text(input?.name),
            "alert": text(input?.toldAlert),
        ]
    }

    // MARK: The ward

    static func card(_ card: WardCard) -> JSONValue {
        .object(
            [
                .init("id", .string(card.id)), .init("name", .string(card.name)),
                .init("kind", .string(card.kind.rawValue)), .init("pace", pace(card.pace)),
                .init("number", .integer(Int64(card.number))), .init("is_frozen", .bool(card.isFrozen)),
                .init("is_sounding", .bool(card.isSounding)),
                .init("local_time", .string(card.localTime)),
                .init("glucose_mgdl", mgdl(card.glucose?.glucose)), .init("is_stale", .bool(card.isStale)),
                .init("alerts", .integer(Int64(card.alertCount))),
                .init("has_phone", .bool(card.hasPhone)), .init("is_untold", .bool(card.isUntold)),
                .init("top_alert", text(card.top?.code.rawValue)),
                .init("top_severity", text(card.top.map { "\($0.severity)" })),
                .init("health", health(card.health)),
                .init("group", .string(card.standing.group.rawValue)),
                .init("danger", .string("\(card.standing.danger)")),
                .init("harm", text(card.standing.harm?.text(at: card.now).text)),
                .init("minutes_to_harm", number(card.standing.minutesToHarm)),
                .init("no_insulin_since", optional(card.standing.noInsulinSince, card.calendar)),
                .init("insulin_on_board_units", number(card.insulinOnBoard)),
            ] + phase(card.phase))
    }
}
