// Steps of an algorithm on a body that isn't there.

@testable import IsletLoop
import IsletDevices
import IsletKernel
import Testing

/// Steps of five minutes on a body that isn't there: readings as a test says, a pump that does what it is told.
struct AlgorithmSteps<Algorithm: DosingAlgorithm> {
    var algorithm: Algorithm
    var state = Algorithm.State()
    var therapy = TherapySettings(
        bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: 1), carbohydrateRatioGramsPerUnit: 10,
        correctionFactorMgdlPerUnit: 50, totalDailyInsulin: InsulinAmount(units: 45))
    var target = 100.0
    var now = Instant.start
    var running: RunningTemporaryBasal?
    private var number: Int64 = 0
    private var last: Instant?

    init(_ algorithm: Algorithm) { self.algorithm = algorithm }

    mutating func step(
        _ glucose: Double?, meal: Double? = nil, minutes: Int64 = 5, age: Int64 = 0,
        isPumpAvailable: Bool = true, _ change: (inout StepInput) -> Void = { _ in }
    ) -> StepOutput {
        var input = input(glucose, meal: meal, age: age, isPumpAvailable: isPumpAvailable)
        change(&input)
        var output = StepOutput()
        do { output = try algorithm.run(input, state: &state) } catch { Issue.record(error) }
        if let answer = output.temporaryBasal, isPumpAvailable {
            running =
                answer.minutes > 0
                ? RunningTemporaryBasal(
                    rate: answer.rate, ends: now.adding(Int64(answer.minutes) * Nanoseconds.minute)) : nil
        }
        last = now
        now = now.adding(minutes * Nanoseconds.minute)
        number += max(1, minutes / 5)
        return output
    }

    /// What the next step is told.
    mutating func input(
        _ glucose: Double?, meal: Double? = nil, age: Int64 = 0, isPumpAvailable: Bool = true
    ) -> StepInput {
        var input = StepInput(
            algorithmTime: number, now: now, therapy: therapy,
            target: GlucoseConcentration(milligramsPerDecilitre: target))
        input.insulinPump = StepPumpStatus(isAvailable: isPumpAvailable)
        input.cgm = glucose.map {
            GlucoseReading(
                instant: now.adding(-age * Nanoseconds.minute),
                glucose: GlucoseConcentration(milligramsPerDecilitre: $0))
        }
        input.user.meal = meal.map {
            MealAnnouncement(carbohydrate: Carbohydrate(grams: $0), instant: now)
        }
        if let running, running.ends > now { input.temporaryBasal = running } else { running = nil }
        if let last {
            let rate = running?.rate ?? therapy.basalRate
            let hours = Double(now.nanoseconds - last.nanoseconds) / Double(Nanoseconds.hour)
            input.pumpBasal = PumpBasal(
                amount: InsulinAmount(units: rate.unitsPerHour * hours), since: last)
        }
        return input
    }

    /// Readings in a row; the last answer.
    mutating func steps(_ readings: [Double]) -> StepOutput {
        var output = StepOutput()
        for reading in readings { output = step(reading) }
        return output
    }
}
