// The tables whose rows the program has as values: sessions, the alerts of a session, and what happened within it.

import IsletKernel

package enum RecordedTables {
    /// The values of the columns of `ResultTable.origin`.
    private static let origin: [RecordedColumn<SessionRow>.Value] = [
        .whole { $0.pointee.record.session }, .whole { $0.pointee.record.subjectIndex },
        .text { $0.pointee.record.subject }, .whole { $0.pointee.record.armIndex },
        .text { $0.pointee.record.arm },
    ]

    package static let sessions = RecordedTable<SessionRow>(
        "sessions", from: .summary, .sessions, "one row a session; its outcomes are columns",
        zip(ResultTable.origin, origin).map { RecordedColumn($0, $1) } + [
            .text("start", "when it starts, ISO 8601 with the study's offset") { $0.pointee.start },
            .real("lived_days", "how long it lived, in days") {
                Double($0.pointee.record.endedAt.nanoseconds) / Double(Nanoseconds.day)
            },
            RecordedColumn(
                ResultColumn("ended_early", .text, isOptional: true, "why it ended before its time"),
                .text { $0.pointee.record.end.reason }),
            RecordedColumn(
                ResultColumn(
                    "not_finite", .text, isOptional: true,
                    "outcomes whose value was NaN or infinite, and is therefore left out: names with blanks between them"
                ), .text { $0.pointee.record.outcomes.notFiniteText }),
            .text("digest", "of everything that happened in it, 32 hexadecimal digits") {
                $0.pointee.record.digest
            },
            .whole("events", "events that the session's executor fired (store only)") {
                $0.pointee.record.events
            },
            .text(
                "checkpoints",
                "the digest on the way, for `islet replay` (store only); empty for a short session"
            ) { $0.pointee.record.checkpoints },
        ])

    package static let alerts = RecordedTable<AlertTally>(
        "alerts", from: .summary, .keyed(["in_shadow", "policy", "code"]),
        "one row a session, policy and code that the policy has: a code that it doesn't have is absent, one that was not raised is 0",
        [
            RecordedColumn(ResultTable.policy, .text { $0.pointee.policy }),
            .word("code", "the alert's code: the catalogue's or the policy's own") {
                $0.pointee.code.rawValue
            },
            .whole("raised", "episodes raised") { $0.pointee.raised },
            .whole(
                "notified",
                "notifications, repeats and those that the system showed while the app was dead included"
            ) { $0.pointee.notified },
            .whole("notified_night", "of these, between 23:00 and 07:00 on the phone's clock") {
                $0.pointee.notifiedNight
            },
            .whole(
                "heard", isOptional: true,
                "notifications that the person heard; empty where nobody listens"
            ) { $0.pointee.heard },
            .real("minutes_active", "minutes with an active episode") { $0.pointee.minutesActive },
            .real(
                "minutes_annunciating",
                "minutes from a notification to the episode's end, its acknowledgement or snooze, or the notification's withdrawal"
            ) { $0.pointee.minutesAnnunciating },
            .whole("raised_night", "of the episodes, those raised between 23:00 and 07:00") {
                $0.pointee.raisedNight
            },
            .flag("in_shadow", "1 where the policy listened in shadow, 0 for the arm's own") {
                $0.pointee.isInShadow
            },
        ])

    package static let person = RecordedTable<PersonRow>(
        "person_events", from: .events, .events, "what the person did, and what reached them",
        [
            .text(
                "kind",
                "`meal`, `announcement`, `manual_bolus`, `rescue` (carbohydrate against a low), `exercise`, `exercise_carbs` (before it), `exercise_put_off`, `exercise_called_off`, `exercise_told`; with a person who listens, for each notification `heard`, `unheard`, `woke` or `slept_on`, and `felt`, `felt_asleep`, `looked`, `acknowledged`, `asked_again`, `reopened`, `pod_change`, `sensor_change`, beside a loop `site_suspected`, `ketones_checked`, `site_change`, `site_change_in_vain`, `pen`"
            ) { $0.pointee.kind.rawValue },
            .real(
                "amount",
                "g of carbohydrate; U of a bolus; mg/dL of `felt` (plasma) and `looked` (reading, 0 for none); min of `acknowledged` (since the raise) and of changes (until then); of a notification the how many-th it is about the same in its five minutes"
            ) { $0.pointee.amount },
        ])

    package static let alertEffects = RecordedTable<AlertRow>(
        "alert_effects", from: .events, .events, "each decision of the alert center",
        [
            .word("effect", "what it did: `raise`, `notify`, `suppress`, ...") { $0.pointee.effect }
                .exported("what the alert center did"),
            .word("code", "the alert's code") { $0.pointee.code.rawValue }.exported("the alert"),
            .word("severity", "at that time") { $0.pointee.severity }.exported("how grave it is"),
            .word("reason", "why") { $0.pointee.reason },
        ])

    package static let faults = RecordedTable<FaultRow>(
        "faults", from: .events, .events, "each fault over its true span",
        [
            .instant("end", "its end") { $0.pointee.end },
            .text("kind", "as in a study's `faults`") { $0.pointee.kind },
        ])

    package static let steps = RecordedTable<StepRow>(
        "steps", from: .full, .events, "each run of the dosing algorithm",
        [
            RecordedColumn(ResultTable.Step.algorithmTime, .whole { Int($0.pointee.algorithmTime) }),
            RecordedColumn(ResultTable.Step.glucose, .real { $0.pointee.cgmMgdl }),
            .flag("pump_available", "1 where the pump could be reached") { $0.pointee.isPumpAvailable },
            RecordedColumn(ResultTable.Step.basal, .real { $0.pointee.basalUnits }),
            RecordedColumn(ResultTable.Step.correction, .real { $0.pointee.correctionUnits }),
            RecordedColumn(ResultTable.Step.meal, .real { $0.pointee.mealUnits }),
            RecordedColumn(ResultTable.Step.accepted, .real { $0.pointee.acceptedUnits }),
            RecordedColumn(ResultTable.Step.failure, .text { $0.pointee.failure }),
        ])

    package static let readings = RecordedTable<ReadingRow>(
        "readings", from: .full, .events, "each reading of the sensor; its time is that of the measurement",
        [
            .real("glucose_mgdl", "what the sensor said") { $0.pointee.mgdl }
                .exported("what the sensor measured"),
            .instant(
                "backfilled", isOptional: true,
                "when it arrived, where a loss of signal held it back"
            ) { $0.pointee.backfilledAt },
        ])

    package static let deliveries = RecordedTable<DeliveryRow>(
        "deliveries", from: .full, .events, "each bolus that the pump gave",
        [
            .whole("request_id", "the request's number") { Int($0.pointee.requestID) }
                .exported("the request that it was for"),
            .real("delivered_u", "what was delivered of it") { $0.pointee.units }
                .exported("how much of it was delivered"),
        ])

    package static let truth = RecordedTable<TruthRow>(
        "truth", from: .full, .events,
        "every 5 min from the session's start what was true, from which glucose outcomes are computed",
        [
            .real("plasma_mgdl", "the true plasma glucose") { $0.pointee.plasmaMgdl }
                .exported("the true plasma glucose, from which glucose outcomes are computed"),
            .real(
                "sensor_mgdl", isOptional: true,
                "what the sensor measured in the five minutes up to this instant"
            ) { $0.pointee.sensorMgdl },
            .flag("sensor_backfilled", "1 where that came late, and nobody saw it at that time") {
                $0.pointee.sensorMgdl == nil ? nil : $0.pointee.isBackfilled
            }.exported("true where that came late, and nobody saw it at that time"),
        ])
}

extension ResultTable {
    public static let sessions = RecordedTables.sessions.table
    public static let alerts = RecordedTables.alerts.table

    static let events: [ResultTable] = [
        RecordedTables.person.table, RecordedTables.alertEffects.table, RecordedTables.faults.table,
        RecordedTables.steps.table, RecordedTables.readings.table, RecordedTables.deliveries.table,
        RecordedTables.truth.table,
    ]

    /// Like `alert_effects`, of each policy in shadow.
    static let shadowEffects = ResultTable(
        "shadow_effects", from: .events, .packed(logs: "shadow_logs"),
        "each decision of the policies in shadow", RecordedTables.alertEffects.table.columns)
}
