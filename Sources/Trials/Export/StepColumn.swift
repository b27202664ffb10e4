// The columns of an exported step log, in order: a public contract. Units stand last in their names.

import Documents
import ClosedLoop
import Devices
import SessionTime

/// One column: its name, what it holds, and where that comes from.
package struct StepColumn: Sendable {
    package let name: String
    package let meaning: String
    /// Whether it says in seconds since the session's start what the column before it says.
    package let isInSeconds: Bool
    let value: @Sendable (LoggedStep) -> StepValue

    private init(
        _ name: String, _ meaning: String, isInSeconds: Bool = false,
        _ value: @escaping @Sendable (LoggedStep) -> StepValue
    ) {
        self.name = name
        self.meaning = meaning
        self.isInSeconds = isInSeconds
        self.value = value
    }

    /// An instant is two columns: wall-clock time, and seconds since the session's start.
    private static func instant(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (LoggedStep) -> Instant?
    ) -> [StepColumn] {
        [
            StepColumn(name, meaning) { step in
                value(step).map { .instant($0, step.origin.calendar) } ?? .absent
            },
            StepColumn(name + "_s", meaning, isInSeconds: true) { step in
                StepValue(value(step).map { Double($0.nanoseconds) / 1e9 })
            },
        ]
    }

    private static func text(_ text: String) -> StepValue { text.isEmpty ? .absent : .text(text) }

    package static let all: [StepColumn] = StepColumn.sections.flatMap(\.columns)

    /// Columns in a row of one make, and whether they say the same of two steps of one session: what is said again is copied.
    struct Section: Sendable {
        var columns: [StepColumn]
        var isEqual: @Sendable (LoggedStep, LoggedStep) -> Bool
    }

    static let sections: [Section] = [
        Section(columns: Array(origin.prefix(1))) { _, _ in false },
        Section(columns: Array(origin.dropFirst())) {
            ($0.origin === $1.origin || $0.origin.session == $1.origin.session)
                && $0.record.input.subjectID == $1.record.input.subjectID
        },
        Section(columns: timing) { _, _ in false },
        Section(columns: glucose) { _, _ in false },
        Section(columns: settings) {
            // No locals: copies of a step's input cost more than the comparison.
            $0.record.input.therapy == $1.record.input.therapy
                && $0.record.input.target == $1.record.input.target
                && $0.record.input.temporaryTarget == $1.record.input.temporaryTarget
                && $0.record.input.basalMultiplier == $1.record.input.basalMultiplier
                && $0.record.input.isOpenLoop == $1.record.input.isOpenLoop
                && $0.record.input.basalMultiplierStepsLeft == $1.record.input.basalMultiplierStepsLeft
        },
        Section(columns: person) {
            $0.record.input.user == $1.record.input.user
                && $0.record.input.customFields == $1.record.input.customFields
        },
        Section(columns: insulinPump) { $0.record.input.insulinPump == $1.record.input.insulinPump },
        Section(columns: glucagonPump) { $0.record.input.glucagonPump == $1.record.input.glucagonPump },
        Section(columns: pod) {
            $0.record.pumpStatus == $1.record.pumpStatus
                && $0.record.input.pumpBasal == $1.record.input.pumpBasal
        },
        Section(columns: answer) { _, _ in false },
    ]

    private static let origin: [StepColumn] = [
        StepColumn("step_id", "the same wherever the step is run again") {
            .identifier($0.origin.key, Int64($0.origin.session.session), $0.record.requestID)
        },
        StepColumn("study", "the study's name") { .text($0.origin.study) },
        StepColumn("session", "the session's index") { .integer(Int64($0.origin.session.session)) },
        StepColumn("subject_index", "the subject's place in the cohort, from 0") {
            .integer(Int64($0.origin.session.subjectIndex))
        },
        StepColumn("subject", "the subject's name") { .text($0.record.input.subjectID) },
        StepColumn("arm_index", "the arm's place in the study, from 0") {
            .integer(Int64($0.origin.session.armIndex))
        },
        StepColumn("arm", "the arm's name") { .text($0.origin.session.arm) },
    ]

    private static let timing: [StepColumn] =
        [
            StepColumn("algorithm_time", "the step's number on the five-minute grid") {
                .integer($0.record.algorithmTime)
            }
        ] + instant("time", "when the step ran") { $0.record.instant }
        + instant("first_step_time", "when the first step ran; empty in it") { $0.record.input.firstStepTime }
        + instant("last_world_time", "when the step before ran") { $0.record.input.lastWorldTime }
        + instant("last_cgm_time", "when the last reading that a step used was measured") {
            $0.record.input.lastCgmTime
        }

    private static let glucose: [StepColumn] =
        [
            StepColumn("cgm_mgdl", "the fresh reading that the step ran on; empty without one") {
                StepValue($0.record.input.cgm?.glucose.milligramsPerDecilitre)
            }
        ] + instant("cgm_time", "when it was measured") { $0.record.input.cgm?.instant } + [
            StepColumn("sensor_state", "what the sensor said of itself") {
                .text($0.record.sensorState.word)
            },
            StepColumn("bg_check_mgdl", "a finger-stick value that the person entered") {
                StepValue($0.record.input.user.bloodGlucose?.milligramsPerDecilitre)
            },
            StepColumn("bg_calibration_mgdl", "a finger-stick value to calibrate with") {
                StepValue($0.record.input.user.calibration?.milligramsPerDecilitre)
            },
        ]

    private static let settings: [StepColumn] = [
        StepColumn("weight_kg", "body weight") { StepValue($0.record.input.therapy.bodyWeightKilograms) },
        StepColumn("basal_rate_u_per_h", "the programmed basal rate of the therapy") {
            StepValue($0.record.input.therapy.basalRate.unitsPerHour)
        },
        StepColumn("carbohydrate_ratio_g_per_u", "carbohydrate that one unit covers") {
            StepValue($0.record.input.therapy.carbohydrateRatioGramsPerUnit)
        },
        StepColumn("correction_factor_mgdl_per_u", "how far one unit lowers glucose") {
            StepValue($0.record.input.therapy.correctionFactorMgdlPerUnit)
        },
        StepColumn("total_daily_insulin_u", "total daily insulin of the therapy") {
            StepValue($0.record.input.therapy.totalDailyInsulin.units)
        },
        StepColumn("maximum_bolus_u", "the most that one bolus may be") {
            StepValue($0.record.input.therapy.maximumBolus.units)
        },
        StepColumn("target_mgdl", "the nominal target") {
            StepValue($0.record.input.target.milligramsPerDecilitre)
        },
        StepColumn("temporary_target_mgdl", "the target that stood in for it") {
            StepValue($0.record.input.temporaryTarget?.milligramsPerDecilitre)
        },
        StepColumn("basal_multiplier", "1, unless a temporary basal ran") {
            StepValue($0.record.input.basalMultiplier)
        },
        StepColumn("basal_multiplier_steps_left", "steps that the temporary basal had left") {
            .integer(Int64($0.record.input.basalMultiplierStepsLeft))
        },
        StepColumn(
            "open_loop", "true: only what the person asked for is requested"
        ) {
            .flag($0.record.input.isOpenLoop)
        },
    ]

    private static let person: [StepColumn] =
        [
            StepColumn("manual_bolus_u", "insulin that the person asked for") {
                StepValue($0.record.input.user.manualBolus?.units)
            },
            StepColumn("announced_carbs_g", "carbohydrate of the announced meal") {
                StepValue($0.record.input.user.meal?.carbohydrate.grams)
            },
        ] + instant("announced_meal_time", "when it is eaten") { $0.record.input.user.meal?.instant } + [
            StepColumn("custom_fields", "the custom input fields, as a JSON object") { step in
                let fields = step.record.input.customFields.sorted { $0.key < $1.key }
                guard !fields.isEmpty else { return .absent }
                return .object(.object(fields.map { .init($0.key, .number($0.value)) }))
            }
        ]

    private static let insulinPump: [StepColumn] = pump("insulin_pump") { $0.record.input.insulinPump }
    private static let glucagonPump: [StepColumn] = pump("glucagon_pump") { $0.record.input.glucagonPump }

    private static let pod: [StepColumn] =
        [
            StepColumn("insulin_pump_connected", "whether the pump could be reached") {
                .flag($0.record.pumpStatus.isConnected)
            },
            StepColumn("insulin_pump_condition", "what the pump had last said of itself") {
                .text($0.record.pumpStatus.condition.word)
            },
            StepColumn("pod_phase", "where the pod was in its life") { .text($0.record.pumpStatus.pod.word) },
            StepColumn("reservoir_u", "insulin left in the reservoir") {
                StepValue($0.record.pumpStatus.reservoir.units)
            },
            StepColumn("reservoir_exact", "false where there was more than that") {
                .flag($0.record.pumpStatus.isReservoirExact)
            },
            StepColumn(
                "pump_basal_u",
                "what the pump gave by itself since the step before; empty where it couldn't say, and told later"
            ) {
                StepValue($0.record.input.pumpBasal?.amount.units)
            },
        ] + instant("pump_basal_since", "when that began to flow") { $0.record.input.pumpBasal?.since }

    /// What the step knew of a pump.
    private static func pump(
        _ name: String, _ status: @escaping @Sendable (LoggedStep) -> StepPumpStatus
    ) -> [StepColumn] {
        [
            StepColumn(name + "_available", "whether the step could dose with it") {
                .flag(status($0).isAvailable)
            },
            StepColumn(name + "_last_request", "the step whose completed request this one read") {
                status($0).lastBolus.map { .integer($0.id) } ?? .absent
            },
        ]
            + instant(name + "_last_request_time", "when that was requested") {
                status($0).lastBolus?.requestedAt
            } + [
                StepColumn(name + "_last_requested_u", "how much that asked for") {
                    StepValue(status($0).lastBolus?.requested.units)
                },
                StepColumn(name + "_last_delivered_u", "how much of that was delivered") {
                    StepValue(status($0).lastBolus?.delivered.units)
                },
            ]
    }

    private static let answer: [StepColumn] = [
        StepColumn("basal_u", "what the algorithm answered: basal insulin of this step") {
            StepValue($0.record.output.basal.units)
        },
        StepColumn("correction_u", "its correction") { StepValue($0.record.output.correction.units) },
        StepColumn("meal_u", "its insulin for the meal") { StepValue($0.record.output.meal.units) },
        StepColumn("glucagon_u", "its glucagon: recorded, never delivered") {
            StepValue($0.record.output.glucagon.units)
        },
        StepColumn("algorithm_gave_up", "true where the algorithm itself gave up control") {
            .flag($0.record.output.isOpenLoop)
        },
        StepColumn("requested_u", "what the pump was asked for, earlier remainders included; empty: nothing")
        {
            StepValue($0.record.requested?.units)
        },
        StepColumn("cut_u", "what was above the maximum bolus: neither requested nor owed") {
            StepValue($0.record.cut > .zero ? $0.record.cut.units : nil)
        },
        StepColumn("dropped_u", "what the person waited for and was given up since the step before") {
            StepValue($0.record.dropped.flatMap { $0.amount > .zero ? $0.amount.units : nil })
        },
        StepColumn("dropped_g", "of a meal that no step had heard of within 15 min") {
            StepValue($0.record.dropped.flatMap { $0.carbohydrate > .zero ? $0.carbohydrate.grams : nil })
        },
        StepColumn("dropped_cause", "why it had not come") { text($0.record.dropped?.cause.text ?? "") },
        StepColumn("accepted_u", "what it accepted; empty where that never became known") {
            StepValue($0.record.accepted?.units)
        },
        StepColumn("delivered_u", "what a later step was told was delivered; empty where none was told") {
            StepValue($0.deliveredUnits)
        },
        StepColumn("uncertain_u", "sent and at first not answered: counted as delivered until it was known") {
            $0.record.wasUncertain ? StepValue($0.record.requested?.units) : .absent
        },
        StepColumn("pump_error", "why the pump took nothing") { text($0.record.pumpTrouble) },
        StepColumn("failure", "why the algorithm failed; empty for a step that went well") {
            text($0.record.failure)
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
