// What a program of somebody's own is told and answers: one table of fields.
//
// Guarantees: the packed layout, the lines of JSON, the C header, the list in `hello` that a NumPy dtype is made of, and docs/algorithms.md are of these rows: a
// field has one name, one unit, one place and one absence, whoever reads it. Every cell has eight bytes. Does not: say when a row is sent (`PluginGroup`).

import IsletDevices
package import IsletFiles
import IsletKernel

/// One cell of a row.
package struct StepField<Row>: Sendable {
    /// What a cell holds.
    package enum Kind: String, Sendable {
        /// int64.
        case whole = "int64"
        /// int64, ns since the session's start; the least integer where absent. In `lines` seconds, as text with nine places.
        case instant = "int64 ns"
        /// float64; NaN where absent.
        case real = "float64"
        /// 64 bits of text, of several cells side by side.
        case text = "8 bytes"
    }

    package let name: String
    /// Empty for a pure number.
    package let unit: String
    package let kind: Kind
    package let meaning: String
    /// What it means that it is absent; nil for what is always there.
    package let absence: String?
    /// The cell's bits.
    let cell: @Sendable (borrowing Row) -> UInt64

    private init(
        _ name: String, _ unit: String, _ kind: Kind, _ meaning: String, _ absence: String?,
        _ cell: @escaping @Sendable (borrowing Row) -> UInt64
    ) {
        (self.name, self.unit, self.kind) = (name, unit, kind)
        (self.meaning, self.absence, self.cell) = (meaning, absence, cell)
    }

    /// For `hello`: a name, a type and a unit.
    package var listed: JSONValue {
        .array([.string(name), .string(kind == .real ? "<f8" : "<i8"), .string(unit)])
    }

    static func whole(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (borrowing Row) -> Int64
    ) -> StepField {
        StepField(name, "", .whole, meaning, nil) { StepBits.whole(value($0)) }
    }

    static func instant(
        _ name: String, _ meaning: String, absence: String? = nil,
        _ value: @escaping @Sendable (borrowing Row) -> Instant?
    ) -> StepField {
        StepField(name, "ns", .instant, meaning, absence) { StepBits.instant(value($0)) }
    }

    static func real(
        _ name: String, _ unit: String, _ meaning: String, absence: String? = nil,
        _ value: @escaping @Sendable (borrowing Row) -> Double?
    ) -> StepField {
        StepField(name, unit, .real, meaning, absence) { StepBits.real(value($0)) }
    }

    static func text(
        _ name: String, _ meaning: String, part: Int, _ value: @escaping @Sendable (borrowing Row) -> String
    ) -> StepField {
        StepField(name, "UTF-8", .text, meaning, nil) { StepBits.text(value($0), part) }
    }
}

/// Somebody who is asked about, as `begin` says it.
package struct BeginRow: Sendable {
    var handle: Int64
    var seed: UInt64
    /// Only settings have changed.
    var isSame: Bool
    var therapy: TherapySettings
    var target: GlucoseConcentration
    var subject: String
}

/// One step, as `step` asks it.
package struct AskedRow: Sendable {
    let handle: Int64
    let question: StepQuestion
    /// In the order of `hello`; nil where there are none.
    let custom: [String]?

    init(handle: Int64, question: StepQuestion) {
        (self.handle, self.question) = (handle, question)
        let fields = question.input.customFields
        custom = fields.isEmpty ? nil : Array(fields.keys.sorted().prefix(StepFields.customFields))
    }

    var flags: Int64 {
        (question.input.insulinPump.isAvailable ? 1 : 0) | (question.input.isOpenLoop ? 2 : 0)
            | (question.input.pumpBasal != nil ? 4 : 0) | (question.input.earlier != nil ? 8 : 0)
            | (question.undoesLast ? 16 : 0)
    }
}

/// Insulin of the hours before, as `history` tells it.
package struct HistoryRow: Sendable {
    var handle: Int64
    var complete: Instant
    var given: GivenInsulin
}

/// What `dose` answers.
package struct DoseRow: Sendable {
    var handle: Int64 = 0
    var step: Int64 = 0
    var basal = 0.0
    var correction = 0.0
    var meal = 0.0
    var glucagon = 0.0
    var flags: Int64 = 0
    var forecast = Double.nan

    var parts: [Double] { [basal, correction, meal, glucagon] }
}

/// What `own` answers: numbers of somebody's own, in the order of `ready`.
package struct OwnRow: Sendable {
    var handle: Int64 = 0
    var step: Int64 = 0
    /// NaN where absent.
    var values = [Double](repeating: .nan, count: OwnNumber.most)
}

/// The rows of `islet-step/1`.
package enum StepFields {
    package static let begin = BeginRow.fields
    package static let step = AskedRow.fields
    package static let history = HistoryRow.fields

    /// How many numbers of one's own a step may carry.
    package static let customFields = 6

    package static let dose: [StepField<DoseRow>] = [
        .whole("handle", "whom it is about: the step's") { $0.handle },
        .whole("step", "the step's own number") { $0.step },
        .real("basal", "U", "basal insulin of this step; 0 where the pump's programmed basal runs") {
            $0.basal
        },
        .real("correction", "U", "beside it, for glucose") { $0.correction },
        .real("meal", "U", "what the person waits for: meals, manual boluses") { $0.meal },
        .real("glucagon", "U", "recorded, never delivered") { $0.glucagon },
        .whole("flags", "1: it gives up control itself") { $0.flags },
        .real("forecast", "mg/dL", "glucose `forecastMinutes` after this reading", absence: "can't say") {
            $0.forecast
        },
    ]

    package static let own: [StepField<OwnRow>] =
        [
            .whole("handle", "whom it is about: the step's") { $0.handle },
            .whole("step", "the step's own number") { $0.step },
        ]
        + (0..<OwnNumber.most).map { place in
            .real("own\(place)", "", "a number of one's own, by its place in `ready`", absence: "can't say") {
                $0.values[place]
            }
        }

    /// A dose of cells, in the order of `dose`.
    static func dose(_ cells: some RandomAccessCollection<UInt64>) -> DoseRow {
        var (row, place) = (DoseRow(), cells.startIndex)
        func next() -> UInt64 {
            defer { place = cells.index(after: place) }
            return cells[place]
        }
        row.handle = Int64(bitPattern: next())
        row.step = Int64(bitPattern: next())
        row.basal = Double(bitPattern: next())
        row.correction = Double(bitPattern: next())
        row.meal = Double(bitPattern: next())
        row.glucagon = Double(bitPattern: next())
        row.flags = Int64(bitPattern: next())
        row.forecast = Double(bitPattern: next())
        return row
    }
}

extension BeginRow: CellRow {
    @inline(__always) package static func list<Visitor: StepFieldVisitor<BeginRow>>(_ fields: inout Visitor) {
        fields.whole("handle", "whom it is about: 0 in `alone`, the slot in `together`") { $0.handle }
        fields.whole("seed", "of this person's own luck, from the study's streams; 64 bits") {
            Int64(bitPattern: $0.seed)
        }
        fields.whole("flags", "1: the state goes on, only settings have changed") { $0.isSame ? 1 : 0 }
        fields.real("weight", "kg", "body weight") { $0.therapy.bodyWeightKilograms }
        fields.real("basal", "U/h", "programmed basal rate") { $0.therapy.basalRate.unitsPerHour }
        fields.real("cr", "g/U", "carbohydrate ratio") { $0.therapy.carbohydrateRatioGramsPerUnit }
        fields.real("cf", "mg/dL/U", "correction factor") { $0.therapy.correctionFactorMgdlPerUnit }
        fields.real("tdi", "U", "total daily insulin") { $0.therapy.totalDailyInsulin.units }
        fields.real("maximum_bolus", "U", "the most that one request may be") {
            $0.therapy.maximumBolus.units
        }
        fields.real("target", "mg/dL", "the nominal target") { $0.target.milligramsPerDecilitre }
        fields.text(8, "subject", "the subject's name") { $0.subject }
    }
}

extension AskedRow: CellRow {
    @inline(__always) package static func list<Visitor: StepFieldVisitor<AskedRow>>(_ fields: inout Visitor) {
        fields.whole("handle", "whom it is about") { $0.handle }
        fields.whole("step", "steps run before this one, on the five-minute grid") {
            $0.question.input.algorithmTime
        }
        fields.whole(
            "flags",
            "1 pump available, 2 open loop, 4 pump basal known, 8 `history` went before, 16 undo: the last answer was not used, go back to the state before it"
        ) { $0.flags }
        fields.instant("now", "this step's instant") { $0.question.input.now }
        fields.instant("first_step", "when step 0 ran", absence: "at step 0") {
            $0.question.input.firstStepTime
        }
        fields.instant("last_step", "when the step before ran", absence: "at the first step") {
            $0.question.input.lastWorldTime
        }
        fields.instant(
            "last_cgm", "of the last reading that a step used", absence: "before the first reading"
        ) {
            $0.question.input.lastCgmTime
        }
        fields.instant("cgm_time", "when `cgm` was measured", absence: "no reading") {
            $0.question.input.cgm?.instant
        }
        fields.real("cgm", "mg/dL", "a fresh reading that no step has used", absence: "no reading") {
            $0.question.input.cgm?.glucose.milligramsPerDecilitre
        }
        fields.whole("bolus_id", "the last request's id; -1 where nothing is known of one") {
            $0.question.input.insulinPump.lastBolus?.id ?? -1
        }
        fields.instant("bolus_at", "when it was requested", absence: "no last request") {
            $0.question.input.insulinPump.lastBolus?.requestedAt
        }
        fields.real("bolus_requested", "U", "what it asked for", absence: "no last request") {
            $0.question.input.insulinPump.lastBolus?.requested.units
        }
        fields.real("bolus_delivered", "U", "what was given", absence: "no last request") {
            $0.question.input.insulinPump.lastBolus?.delivered.units
        }
        fields.whole("bolus_cut_by", "0 nobody, 1 the person, 2 the pump ended it before its time") { row in
            switch row.question.input.insulinPump.lastBolus?.cutBy {
            case nil: 0
            case .person: 1
            case .pump: 2
            }
        }
        fields.whole("shortfall_step", "the step whose basal and correction never came; -1 for none") {
            $0.question.input.shortfall?.algorithmTime ?? -1
        }
        fields.real("shortfall", "U", "how much of them", absence: "none") {
            $0.question.input.shortfall?.amount.units
        }
        fields.whole("dropped_step", "the step whose meal insulin was given up; -1 for none") {
            $0.question.input.dropped?.algorithmTime ?? -1
        }
        fields.real("dropped", "U", "how much of it", absence: "none") {
            $0.question.input.dropped?.amount.units
        }
        fields.real("dropped_manual", "U", "of `dropped`, what was asked for by hand", absence: "none") {
            $0.question.input.dropped?.manual.units
        }
        fields.real(
            "pump_basal", "U", "what the pump gave by itself since the last good step",
            absence: "not known"
        ) { $0.question.input.pumpBasal?.amount.units }
        fields.instant("pump_basal_since", "since when it flowed", absence: "not known") {
            $0.question.input.pumpBasal?.since
        }
        fields.real(
            "pump_basal_withheld", "U",
            "of it, what a zero withheld and this step's request holds beside the dose",
            absence: "not known"
        ) { $0.question.input.pumpBasal?.withheld.units }
        fields.real("target", "mg/dL", "the nominal target") {
            $0.question.input.target.milligramsPerDecilitre
        }
        fields.real("temporary_target", "mg/dL", "a target for now", absence: "the nominal one holds") {
            $0.question.input.temporaryTarget?.milligramsPerDecilitre
        }
        fields.real("basal_multiplier", "1", "1, unless a temporary basal runs") {
            $0.question.input.basalMultiplier
        }
        fields.whole("multiplier_steps", "steps left of it") {
            Int64($0.question.input.basalMultiplierStepsLeft)
        }
        fields.real("finger_stick", "mg/dL", "a finger-stick value", absence: "none") {
            $0.question.input.user.bloodGlucose?.milligramsPerDecilitre
        }
        fields.real("calibration", "mg/dL", "a value to calibrate with", absence: "none") {
            $0.question.input.user.calibration?.milligramsPerDecilitre
        }
        fields.real("manual_bolus", "U", "insulin that the person asks for by hand", absence: "none") {
            $0.question.input.user.manualBolus?.units
        }
        fields.real("meal", "g", "carbohydrate of an announced meal", absence: "none") {
            $0.question.input.user.meal?.carbohydrate.grams
        }
        fields.instant("meal_at", "when it is eaten", absence: "no meal") {
            $0.question.input.user.meal?.instant
        }
        fields.reals(
            StepFields.customFields, "custom", "a number of one's own, by its place in `hello`",
            absence: "not given"
        ) { row, place in
            guard let custom = row.custom, place < custom.count else { return nil }
            return row.question.input.customFields[custom[place]]
        }
    }
}

extension HistoryRow: CellRow {
    @inline(__always) package static func list<Visitor: StepFieldVisitor<HistoryRow>>(_ fields: inout Visitor)
    {
        fields.whole("handle", "whom it is about") { $0.handle }
        fields.instant("complete", "from when on the hours before are known") { $0.complete }
        fields.instant("since", "it flowed from here") { $0.given.since }
        fields.instant("until", "to here") { $0.given.until }
        fields.real("amount", "U", "how much") { $0.given.amount.units }
        fields.real("user", "U", "of it, what the person had asked for") { $0.given.userRequested.units }
        fields.real("manual", "U", "of that, by hand") { $0.given.manual.units }
    }
}

/// Names, types and units of a row's cells, for `hello`.
func layout<Row>(_ fields: [StepField<Row>]) -> JSONValue { .array(fields.map(\.listed)) }
