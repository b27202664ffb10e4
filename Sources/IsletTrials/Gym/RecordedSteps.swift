// Answers that were recorded step by step, as the algorithm of an arm: `algorithm: { recorded: ["0.05;0.05 0 4.2;..."] }`.
//
// Guarantees: a text a subject, in the order of the cohort; a step is answered by its own number, however the session came there, so that a session that is run again asks
// for what was answered then. What stands in the study is all of it: nothing outside is needed to verify, report or look at it. A step that the record doesn't have fails.
// Does not: judge doses. The loop does, as those of any algorithm.

package import IsletDevices
import IsletFiles
package import IsletLoop

package struct RecordedSteps: Hashable, Sendable {
    /// What was answered, a subject each: steps with `;` between them, from step 0 on.
    package var texts: [String]
    /// Whether the doses are all insulin, or come on top of the programmed basal.
    package var basalSource = BasalSource.algorithm
    /// How far the forecasts of the record look ahead, min; nil where it has none.
    package var forecastMinutes: Double?
    /// The algorithm that doses; the record has the forecasts alone then.
    package var beside: TunedAlgorithm?

    package init(_ texts: [String]) { self.texts = texts }

    /// One step: what is left out is 0, and a forecast absent.
    package struct Step: Hashable, Sendable {
        /// U; nothing where the record has forecasts alone.
        package var basal = 0.0
        package var correction = 0.0
        package var meal = 0.0
        /// mg/dL; nil for none.
        package var forecast: Double?

        package init() {}

        /// As it will be recorded: what a study would refuse is refused here.
        /// - Parameter whose: for the refusal.
        package init(_ dose: DoseRow, of whose: String) throws(InputError) {
            let numbers = [dose.basal, dose.correction, dose.meal]
            guard numbers.allSatisfy({ (0...PluginAnswers.largestDose).contains($0) }), dose.flags == 0,
                dose.glucagon == 0,
                dose.forecast.isNaN || (0...RecordedSteps.largestForecast).contains(dose.forecast)
            else {
                throw InputError(
                    file: "message",
                    found:
                        "the answer \(numbers.map { "\($0)" }.joined(separator: " ")) U, forecast \(dose.forecast) of \(whose)",
                    expected: "doses from 0 to \(Int(PluginAnswers.largestDose)) U, no glucagon, no flags")
            }
            (basal, correction, meal) = (dose.basal, dose.correction, dose.meal)
            forecast = dose.forecast.isNaN ? nil : dose.forecast
        }

        /// One step alone, as `text` has it.
        package var text: String { RecordedSteps.text([(0, self)], isForecast: false) }

        /// Reads what `text` wrote; nil for anything else.
        package init?(_ text: String) {
            guard let steps = RecordedSteps.steps(text, isForecast: false), steps.count == 1,
                let step = steps[0]
            else { return nil }
            self = step
        }
    }

    /// No forecast is above it, mg/dL.
    package static let largestForecast = 1e6

    // MARK: Text

    /// `basal correction meal forecast`, cut off behind the last that says something; a forecast alone where `isForecast`.
    /// - Parameter steps: by rising number.
    static func text(_ steps: [(number: Int64, step: Step)], isForecast: Bool) -> String {
        var (text, next): (String, Int64) = ("", 0)
        for (number, step) in steps {
            // A number that was never asked leaves its place empty.
            text += String(repeating: ";", count: max(0, Int(number - next)) + (next > 0 ? 1 : 0))
            next = number + 1
            if isForecast {
                text += step.forecast.map(JSONValue.numberText) ?? ""
                continue
            }
            var numbers = [step.basal, step.correction, step.meal].map(JSONValue.numberText)
            if let forecast = step.forecast {
                numbers.append(JSONValue.numberText(forecast))
            } else {
                while numbers.count > 1, numbers.last == "0" { numbers.removeLast() }
            }
            text += numbers.joined(separator: " ")
        }
        return text
    }

    /// By number; nil where the text is none.
    static func steps(_ text: String, isForecast: Bool) -> [Step?]? {
        var steps: [Step?] = []
        for part in text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
            guard !part.isEmpty else {
                steps.append(nil)
                continue
            }
            var numbers: [Double] = []
            for word in part.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false) {
                guard let text = String(word), let number = Double(text), number.isFinite, number >= 0 else {
                    return nil
                }
                numbers.append(number)
            }
            guard numbers.count <= (isForecast ? 1 : 4) else { return nil }
            var step = Step()
            if isForecast {
                step.forecast = numbers[0]
            } else {
                step.basal = numbers[0]
                if numbers.count > 1 { step.correction = numbers[1] }
                if numbers.count > 2 { step.meal = numbers[2] }
                if numbers.count > 3 { step.forecast = numbers[3] }
            }
            steps.append(step)
        }
        return steps
    }

    // MARK: Study

    package static let key = "recorded"

    static let shape: MappingShape = {
        let rule = TextRule(
            expectation:
                "steps with `;` between them, each `basal correction meal forecast` (U, U, U, mg/dL; from the end on may be left out), or beside an algorithm a forecast",
            pattern: #"^[0-9eE+\-. ;]*$"#, accepts: { steps($0, isForecast: false) != nil })
        return MappingShape(
            summary: "What was answered step by step, as environments of the Python package record it.",
            keys: [
                KeyShape(
                    key, .list(.text(rule), count: 1...Study.maximumSessions),
                    "A text a subject, in the order of the cohort: what each step answers, by its number."),
                KeyShape(
                    "basalSource",
                    .choice(
                        noun: "where basal comes from",
                        [
                            Shape.Choice("algorithm", "the doses are all insulin"),
                            Shape.Choice("programmed", "the pump's programmed basal runs beside them"),
                        ]), "Where basal comes from.", defaultValue: "algorithm"),
                KeyShape(
                    "forecastMinutes", .number(1...600), "How far the forecasts look ahead, min.",
                    leftOut: "no forecasts"),
                KeyShape(
                    "beside", TunedAlgorithm.codec.shape,
                    "The algorithm that doses; the record has forecasts alone then.",
                    leftOut: "the record doses"),
            ], chosenBy: [key])
    }()

    static func decode(_ reader: YAMLReader) throws(InputError) -> RecordedSteps {
        var recorded = RecordedSteps([])
        if let name = reader["basalSource"], try name.text() == "programmed" {
            recorded.basalSource = .programmed
        }
        if let minutes = reader["forecastMinutes"] {
            recorded.forecastMinutes = try minutes.number(in: 1...600)
        }
        if let inner = reader["beside"] {
            recorded.beside = try TunedAlgorithm.codec.decode(inner)
            guard reader["basalSource"] == nil else {
                throw reader.problem(
                    found: "basalSource beside an algorithm that doses", expected: "one of the two")
            }
        }
        for item in reader[key]?.items ?? [] {
            let text = try item.text()
            guard steps(text, isForecast: recorded.beside != nil) != nil else {
                throw item.problem(
                    found: quotedForMessage(text), expected: "forecasts in mg/dL with `;` between them")
            }
            recorded.texts.append(text)
        }
        return recorded
    }

    var json: JSONValue {
        var members = [JSONValue.Member(Self.key, .array(texts.map { .string($0) }))]
        if let beside {
            members.append(.init("beside", TunedAlgorithm.codec.encode(beside)))
        } else if basalSource == .programmed {
            members.append(.init("basalSource", "programmed"))
        }
        if let forecastMinutes { members.append(.init("forecastMinutes", .number(forecastMinutes))) }
        return .object(members)
    }

    /// What an arm says of its algorithm whoever's session it is. It answers for nobody: each step that it is asked for fails.
    var ofNobody: AlgorithmKind { kind(steps: []) }

    /// The kind of algorithm of one subject.
    package func kind(subject index: Int) -> AlgorithmKind {
        let text = texts.indices.contains(index) ? texts[index] : ""
        return kind(steps: Self.steps(text, isForecast: beside != nil) ?? [])
    }

    private func kind(steps: [Step?]) -> AlgorithmKind {
        let made: any DosingAlgorithm =
            if let beside {
                RecordedForecasts(wrapped: beside.algorithm, steps: steps, forecastMinutes: forecastMinutes)
            } else {
                RecordedDoses(basalSource: basalSource, steps: steps, forecastMinutes: forecastMinutes)
            }
        return AlgorithmKind(
            id: Self.key, summary: "answers that were recorded step by step", basalSource: made.basalSource
        ) { made }
    }
}

/// What was answered so far, for whoever records it.
package struct RecordedAnswers: Sendable {
    /// In the order of steps.
    private var all: [(number: Int64, step: RecordedSteps.Step)] = []

    package init() {}

    package mutating func add(_ number: Int64, _ step: RecordedSteps.Step) {
        // Where a first step fails its number is asked again.
        if all.last?.number == number { all.removeLast() }
        all.append((number, step))
    }

    /// As a study has them, for one of its subjects; nobody else has any.
    package func texts(subject index: Int, isForecast: Bool = false) -> [String] {
        Array(repeating: "", count: index) + [RecordedSteps.text(all, isForecast: isForecast)]
    }
}

/// Gives what was given.
struct RecordedDoses: DosingAlgorithm {
    let name = RecordedSteps.key
    let basalSource: BasalSource
    let steps: [RecordedSteps.Step?]
    let forecastMinutes: Double?

    func run(_ input: borrowing StepInput, state: inout NoState) throws -> StepOutput {
        let number = Int(input.algorithmTime)
        guard steps.indices.contains(number), let step = steps[number] else {
            throw NotRecorded(step: number)
        }
        return StepOutput(step)
    }
}

/// Doses by another algorithm, and forecasts what was forecast.
struct RecordedForecasts: AlgorithmWrapper {
    let wrapped: any DosingAlgorithm
    let steps: [RecordedSteps.Step?]
    let forecastMinutes: Double?

    let name = RecordedSteps.key
    func makeCell() -> StateCell { wrapped.makeCell() }

    func step(_ input: borrowing StepInput, _ cell: StateCell) throws -> StepOutput {
        let number = Int(input.algorithmTime)
        return try wrapped.step(input, cell).forecasting(
            steps.indices.contains(number) ? steps[number]?.forecast : nil)
    }

    /// - Throws: always: its state is the inner algorithm's, and `step` has it.
    func run(_ input: borrowing StepInput, state: inout NoState) throws -> StepOutput { throw NobodyAsked() }
}

/// A step was run that the record doesn't have.
struct NotRecorded: Error, CustomStringConvertible {
    let step: Int
    var description: String { "nothing was recorded for step \(step)" }
}

extension StepOutput {
    /// As it was recorded.
    package init(_ step: RecordedSteps.Step) {
        self.init(
            basal: InsulinAmount(units: step.basal), correction: InsulinAmount(units: step.correction),
            meal: InsulinAmount(units: step.meal))
        if let value = step.forecast { forecast = GlucoseConcentration(milligramsPerDecilitre: value) }
    }

    /// This dose with another forecast, or none.
    func forecasting(_ value: Double?) -> StepOutput {
        var output = self
        output.forecast = value.map { GlucoseConcentration(milligramsPerDecilitre: $0) }
        return output
    }
}
