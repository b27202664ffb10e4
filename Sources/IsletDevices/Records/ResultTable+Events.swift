// The tables of what happened within sessions.

extension ResultTable {
    static let events: [ResultTable] = [
        ResultTable(
            "person_events", from: .events, .events, "what the person did, and what reached them",
            [
                ResultColumn(
                    "kind", .text,
                    "`meal`, `announcement`, `manual_bolus`, `rescue` (carbohydrate against a low); with a person who listens, for each notification `heard`, `unheard`, `woke` or `slept_on`, and `felt`, `felt_asleep`, `looked`, `acknowledged`, `asked_again`, `reopened`, `pod_change`, `sensor_change`"
                ),
                ResultColumn(
                    "amount", .real,
                    "g of carbohydrate; U of a bolus; mg/dL of `felt` (plasma) and `looked` (reading, 0 for none); min of `acknowledged` (since the raise) and of changes (until then); of a notification the how many-th it is about the same in its five minutes"
                ),
            ]),
        ResultTable(
            "alert_effects", from: .events, .events, "each decision of the alert center",
            [
                ResultColumn(
                    "effect", .text, isWord: true, "what it did: `raise`, `notify`, `suppress`, ..."),
                ResultColumn("code", .text, isWord: true, "the alert's code"),
                ResultColumn("severity", .text, isWord: true, "at that time"),
                ResultColumn("reason", .text, isWord: true, "why"),
            ]),
        ResultTable(
            "faults", from: .events, .events, "each fault over its true span",
            [
                ResultColumn("end_ns", .integer, "its end, in nanoseconds since the session's start"),
                ResultColumn("kind", .text, "as in a study's `faults`"),
            ]),
        ResultTable(
            "steps", from: .full, .events, "each run of the dosing algorithm",
            [
                ResultColumn("algorithm_time", .integer, "the step's number on the five-minute grid"),
                ResultColumn("cgm_mgdl", .real, isOptional: true, "the fresh reading that it ran on"),
                ResultColumn("pump_available", .integer, "1 where the pump could be reached"),
                ResultColumn("basal_u", .real, "the dose's basal part"),
                ResultColumn("correction_u", .real, "its correction part"),
                ResultColumn("meal_u", .real, "its meal part"),
                ResultColumn("accepted_u", .real, "what the pump accepted"),
                ResultColumn("failure", .text, "why it failed; empty where it went well"),
            ]),
        ResultTable(
            "readings", from: .full, .events,
            "each reading of the sensor; its time is that of the measurement",
            [
                ResultColumn("glucose_mgdl", .real, "what the sensor said"),
                ResultColumn(
                    "backfilled_ns", .integer, isOptional: true,
                    "when it arrived, where a loss of signal held it back, in nanoseconds since the session's start"
                ),
            ]),
        ResultTable(
            "deliveries", from: .full, .events, "each bolus that the pump gave",
            [
                ResultColumn("request_id", .integer, "the request's number"),
                ResultColumn("delivered_u", .real, "what was delivered of it"),
            ]),
        ResultTable(
            "truth", from: .full, .events,
            "every 5 min from the session's start what was true, from which glucose outcomes are computed",
            [
                ResultColumn("plasma_mgdl", .real, "the true plasma glucose"),
                ResultColumn(
                    "sensor_mgdl", .real, isOptional: true,
                    "what the sensor measured in the five minutes up to this instant"),
                ResultColumn(
                    "sensor_backfilled", .integer, "1 where that came late, and nobody saw it at that time"),
            ]),
    ]

    /// Like `alert_effects`, of each policy in shadow.
    static let shadowEffects = ResultTable(
        "shadow_effects", from: .events, .packed(logs: "shadow_logs"),
        "each decision of the policies in shadow",
        [
            ResultColumn("effect", .text, isWord: true, "what it did: `raise`, `notify`, `suppress`, ..."),
            ResultColumn("code", .text, isWord: true, "the alert's code"),
            ResultColumn("severity", .text, isWord: true, "at that time"),
            ResultColumn("reason", .text, isWord: true, "why"),
        ])
}
