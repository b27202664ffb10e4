// The columns of an exported step log, in order: a public contract. Units stand last in their names.
// What the table `steps` of a store has too is a column of `ResultTable.Step`.

import IsletLoop
package import IsletDevices
import IsletFiles
import IsletKernel

/// A column of the step log.
package typealias StepColumn = RecordedColumn<LoggedStep>

extension StepColumn {
    package static let all: [StepColumn] = StepColumn.sections.flatMap(\.columns)

    /// Columns in a row of one make, and whether they say the same of two steps of one session: what is said again is copied.
    struct Section: Sendable {
        let columns: [StepColumn]
        let isEqual: @Sendable (LoggedStep, LoggedStep) -> Bool

        init(columns: [StepColumn], isEqual: @escaping @Sendable (LoggedStep, LoggedStep) -> Bool) {
            self.columns = columns.flatMap(\.exports)
            self.isEqual = isEqual
        }
    }

    /// Nil for an empty text.
    private static func some(_ text: String) -> String? { text.isEmpty ? nil : text }

    static let sections: [Section] = [
        Section(columns: Array(origin.prefix(1))) { _, _ in false },
        Section(columns: Array(origin.dropFirst())) {
            ($0.origin === $1.origin || $0.origin.session == $1.origin.session)
                && $0.entry.record.input.subjectID == $1.entry.record.input.subjectID
        },
        Section(columns: timing) { _, _ in false },
        Section(columns: beginning) {
            $0.entry.record.input.firstStepTime == $1.entry.record.input.firstStepTime
        },
        Section(columns: before) { _, _ in false },
        Section(columns: glucose) { _, _ in false },
        Section(columns: settings) {
            // Field by field in place: no copies of a step's input.
            $0.entry.record.input.therapy == $1.entry.record.input.therapy
                && $0.entry.record.input.target == $1.entry.record.input.target
                && $0.entry.record.input.temporaryTarget == $1.entry.record.input.temporaryTarget
                && $0.entry.record.input.basalMultiplier == $1.entry.record.input.basalMultiplier
                && $0.entry.record.input.isOpenLoop == $1.entry.record.input.isOpenLoop
                && $0.entry.record.input.basalMultiplierStepsLeft
                    == $1.entry.record.input.basalMultiplierStepsLeft
        },
        Section(columns: person) {
            $0.entry.record.input.user == $1.entry.record.input.user
                && $0.entry.record.input.customFields == $1.entry.record.input.customFields
        },
        Section(columns: insulinPump) {
            $0.entry.record.input.insulinPump == $1.entry.record.input.insulinPump
        },
        Section(columns: glucagonPump) {
            $0.entry.record.input.glucagonPump == $1.entry.record.input.glucagonPump
        },
        Section(columns: pod) {
            $0.entry.record.pumpStatus == $1.entry.record.pumpStatus
                && $0.entry.record.input.pumpBasal == $1.entry.record.input.pumpBasal
        },
        Section(columns: answer) { _, _ in false },
        Section(columns: rates) { _, _ in false },
    ]

    private static let origin: [StepColumn] =
        [
            .identifier(
                "step_id", "the same wherever the step is run again", { $0.pointee.origin.stepKey }
            ) { $0.pointee.entry.record.requestID },
            .text("study", "the study's name") { $0.pointee.origin.study },
        ]
        + zip(
            ResultTable.origin,
            [
                .whole { $0.pointee.origin.session.session },
                .whole { $0.pointee.origin.session.subjectIndex },
                .text { $0.pointee.entry.record.input.subjectID },
                .whole { $0.pointee.origin.session.armIndex },
                .text { $0.pointee.origin.session.arm },
            ]
        ).map { StepColumn($0, $1) }.map {
            $0.name == "session" ? $0.exported("the session's index") : $0
        }

    private static let timing: [StepColumn] = [
        StepColumn(ResultTable.Step.algorithmTime, .whole { Int($0.pointee.entry.record.algorithmTime) }),
        .instant("time", "when the step ran") { $0.pointee.entry.record.instant },
    ]

    private static let beginning: [StepColumn] = [
        .instant("first_step_time", "when the first step ran; empty in it") {
            $0.pointee.entry.record.input.firstStepTime
        }
    ]

    private static let before: [StepColumn] = [
        .instant("last_world_time", "when the step before ran") {
            $0.pointee.entry.record.input.lastWorldTime
        },
        .instant("last_cgm_time", "when the last reading that a step used was measured") {
            $0.pointee.entry.record.input.lastCgmTime
        },
    ]

    private static let glucose: [StepColumn] = [
        StepColumn(
            ResultTable.Step.glucose,
            .real { $0.pointee.entry.record.input.cgm?.glucose.milligramsPerDecilitre }),
        .instant("cgm_time", "when it was measured") { $0.pointee.entry.record.input.cgm?.instant },
        .text("sensor_state", "what the sensor said of itself") {
            $0.pointee.entry.record.sensorState.word
        },
        .real("bg_check_mgdl", "a finger-stick value that the person entered") {
            $0.pointee.entry.record.input.user.bloodGlucose?.milligramsPerDecilitre
        },
        .real("bg_calibration_mgdl", "a finger-stick value to calibrate with") {
            $0.pointee.entry.record.input.user.calibration?.milligramsPerDecilitre
        },
    ]

    private static let settings: [StepColumn] = [
        .real("weight_kg", "body weight") { $0.pointee.entry.record.input.therapy.bodyWeightKilograms },
        .real("basal_rate_u_per_h", "the programmed basal rate of the therapy") {
            $0.pointee.entry.record.input.therapy.basalRate.unitsPerHour
        },
        .real("carbohydrate_ratio_g_per_u", "carbohydrate that one unit covers") {
            $0.pointee.entry.record.input.therapy.carbohydrateRatioGramsPerUnit
        },
        .real("correction_factor_mgdl_per_u", "how far one unit lowers glucose") {
            $0.pointee.entry.record.input.therapy.correctionFactorMgdlPerUnit
        },
        .real("total_daily_insulin_u", "total daily insulin of the therapy") {
            $0.pointee.entry.record.input.therapy.totalDailyInsulin.units
        },
        .real("maximum_bolus_u", "the most that one bolus may be") {
            $0.pointee.entry.record.input.therapy.maximumBolus.units
        },
        .real("target_mgdl", "the nominal target") {
            $0.pointee.entry.record.input.target.milligramsPerDecilitre
        },
        .real("temporary_target_mgdl", "the target that stood in for it") {
            $0.pointee.entry.record.input.temporaryTarget?.milligramsPerDecilitre
        },
        .real("basal_multiplier", "1, unless a temporary basal ran") {
            $0.pointee.entry.record.input.basalMultiplier
        },
        .whole("basal_multiplier_steps_left", "steps that the temporary basal had left") {
            $0.pointee.entry.record.input.basalMultiplierStepsLeft
        },
        .flag("open_loop", "true: only what the person asked for is requested") {
            $0.pointee.entry.record.input.isOpenLoop
        },
    ]

    private static let person: [StepColumn] = [
        .real("manual_bolus_u", "insulin that the person asked for") {
            $0.pointee.entry.record.input.user.manualBolus?.units
        },
        .real("announced_carbs_g", "carbohydrate of the announced meal") {
            $0.pointee.entry.record.input.user.meal?.carbohydrate.grams
        },
        .instant("announced_meal_time", "when it is eaten") {
            $0.pointee.entry.record.input.user.meal?.instant
        },
        .object("custom_fields", "the custom input fields, as a JSON object") { step in
            let fields = step.pointee.entry.record.input.customFields.sorted { $0.key < $1.key }
            guard !fields.isEmpty else { return nil }
            return JSONValue.object(fields.map { .init($0.key, .number($0.value)) }).compactText
        },
    ]

    private static let insulinPump: [StepColumn] = pump("insulin_pump") {
        $0.pointee.entry.record.input.insulinPump
    }
    private static let glucagonPump: [StepColumn] = pump("glucagon_pump") {
        $0.pointee.entry.record.input.glucagonPump
    }

    private static let pod: [StepColumn] = [
        .flag("insulin_pump_connected", "whether the pump could be reached") {
            $0.pointee.entry.record.pumpStatus.isConnected
        },
        .text("insulin_pump_condition", "what the pump had last said of itself") {
            $0.pointee.entry.record.pumpStatus.condition.word
        },
        .text("pod_phase", "where the pod was in its life") {
            $0.pointee.entry.record.pumpStatus.pod.word
        },
        .real("reservoir_u", "insulin left in the reservoir") {
            $0.pointee.entry.record.pumpStatus.reservoir.units
        },
        .flag("reservoir_exact", "false where there was more than that") {
            $0.pointee.entry.record.pumpStatus.isReservoirExact
        },
        .real(
            "pump_basal_u",
            "what the pump gave by itself since the step before; empty where it couldn't say, and told later"
        ) { $0.pointee.entry.record.input.pumpBasal?.amount.units },
        .instant("pump_basal_since", "when that began to flow") {
            $0.pointee.entry.record.input.pumpBasal?.since
        },
    ]

    /// What the step knew of a pump.
    private static func pump(
        _ name: String, _ status: @escaping @Sendable (StepColumn.Place) -> StepPumpStatus
    ) -> [StepColumn] {
        [
            .flag(name + "_available", "whether the step could dose with it") { status($0).isAvailable },
            .whole(name + "_last_request", "the step whose completed request this one read") {
                (status($0).lastBolus?.id).map { Int($0) }
            },
            .instant(name + "_last_request_time", "when that was requested") {
                status($0).lastBolus?.requestedAt
            },
            .real(name + "_last_requested_u", "how much that asked for") {
                status($0).lastBolus?.requested.units
            },
            .real(name + "_last_delivered_u", "how much of that was delivered") {
                status($0).lastBolus?.delivered.units
            },
        ]
    }

    private static let answer: [StepColumn] = [
        StepColumn(ResultTable.Step.basal, .real { $0.pointee.entry.record.output.basal.units }),
        StepColumn(ResultTable.Step.correction, .real { $0.pointee.entry.record.output.correction.units }),
        StepColumn(ResultTable.Step.meal, .real { $0.pointee.entry.record.output.meal.units }),
        .real("glucagon_u", "its glucagon: recorded, never delivered") {
            $0.pointee.entry.record.output.glucagon.units
        },
        .flag("algorithm_gave_up", "true where the algorithm itself gave up control") {
            $0.pointee.entry.record.output.isOpenLoop
        },
        .real("requested_u", "what the pump was asked for, earlier remainders included; empty: nothing") {
            $0.pointee.entry.record.requested?.units
        },
        .real("cut_u", "what was above the maximum bolus: neither requested nor owed") {
            $0.pointee.entry.record.cut > .zero ? $0.pointee.entry.record.cut.units : nil
        },
        .real("dropped_u", "what the person waited for and was given up since the step before") {
            $0.pointee.entry.record.dropped.flatMap { $0.amount > .zero ? $0.amount.units : nil }
        },
        .real("dropped_g", "of a meal that no step had heard of within 15 min") {
            $0.pointee.entry.record.dropped.flatMap { $0.carbohydrate > .zero ? $0.carbohydrate.grams : nil }
        },
        .text("dropped_cause", "why it had not come") {
            some($0.pointee.entry.record.dropped?.cause.text ?? "")
        },
        StepColumn(ResultTable.Step.accepted, .real { $0.pointee.entry.record.accepted?.units })
            .exported("what it accepted; empty where that never became known"),
        .real("delivered_u", "what a later step was told was delivered; empty where none was told") {
            $0.pointee.entry.deliveredUnits
        },
        .real("uncertain_u", "sent and at first not answered: counted as delivered until it was known") {
            $0.pointee.entry.record.wasUncertain ? $0.pointee.entry.record.requested?.units : nil
        },
        .text("pump_error", "why the pump took nothing") { some($0.pointee.entry.record.pumpError) },
        StepColumn(ResultTable.Step.failure, .text { some($0.pointee.entry.record.failure) })
            .exported("why the algorithm failed; empty for a step that went well"),
    ]

    private static let rates: [StepColumn] = [
        .real("temporary_rate_u_per_h", "the temporary basal rate that it answered with; empty: none") {
            $0.pointee.entry.record.output.temporaryBasal?.rate.unitsPerHour
        },
        .real("temporary_rate_min", "for how long; 0 ends the one that runs") {
            $0.pointee.entry.record.output.temporaryBasal?.minutes
        },
        .real("running_rate_u_per_h", "the temporary rate that ran then, as far as was known") {
            $0.pointee.entry.record.input.temporaryBasal?.rate.unitsPerHour
        },
        .instant("running_rate_until", "when that was to end") {
            $0.pointee.entry.record.input.temporaryBasal?.ends
        },
        .real("forecast_mgdl", "glucose at the algorithm's own horizon, as it foresaw it; empty: not said") {
            $0.pointee.entry.record.output.forecast?.milligramsPerDecilitre
        },
    ]
}

// Words of the step log, apart from the names that code uses for the same.

extension SensorState {
    var word: String {
        switch self {
        case .ok: "ok"
        case .warmup: "warmup"
        case .temporaryError: "temporary_error"
        case .noReliableGlucose: "no_reliable_glucose"
        case .failed: "failed"
        case .expired: "expired"
        }
    }
}

extension PumpStatus.Condition {
    var word: String {
        switch self {
        case .ready: "ready"
        case .bolusing: "bolusing"
        case .suspended: "suspended"
        case .noPod: "no_pod"
        case .fault: "fault"
        }
    }
}

extension PodPhase {
    var word: String {
        switch self {
        case .none: "none"
        case .priming: "priming"
        case .active: "active"
        case .expiring: "expiring"
        case .expired: "expired"
        case .fault: "fault"
        }
    }
}
