// Open-loop therapy whose pump stops its basal where glucose will be low in half an hour, and gives it again as soon as it will not.
//
// Follows: Tandem's Basal-IQ, as the PROLOG trial (Forlenza et al., Diabetes Care 41:2155, 2018) and its maker's support pages describe it:
// no basal where glucose is expected below 80 mg/dL in 30 min, or a reading is below 70; basal again once glucose begins to rise, also
// below 70; at most two hours without basal in any two and a half. Ours: expected is a straight line through the last four readings, and
// a rise is that line's. Boluses are `basal-bolus`'s, also while basal is stopped.
//
// Guarantees: nothing beyond therapy is ever given. After a gap only what is low now stops the basal; without a fresh reading the programme
// runs, and where steps no longer come the pump's own programme is back within half an hour. Does not: know of insulin on board or of
// meals, nor lower a high; people correct by hand beside it.

public import IsletDevices
import IsletKernel

extension AlgorithmKind {
    public static let predictiveSuspend = AlgorithmKind(
        summary: "suspension: basal and boluses as basal-bolus, no basal while a low is predicted",
        default: PredictiveSuspend(),
        parameters: [
            .init(
                "suspendBelow", "mg/dL", "predicted glucose below which there is no basal", \.suspendBelow,
                60...200),
            .init("suspendAt", "mg/dL", "a reading below it stops the basal, too", \.suspendAt, 40...120),
            .init(
                "prediction", "min", "how far the line through the last readings is drawn on", \.prediction,
                5...120),
            .init(
                "longest", "min", "how much of the time in `window` may be without basal", \.longest, 5...300),
            .init("window", "min", "the time that `longest` counts in", \.window, 10...630),
        ])
}

public struct PredictiveSuspend: DosingAlgorithm {
    public struct State: AlgorithmState {
        var suspension = SuspensionRecord()
        var line = ReadingLine()
        public init() {}
    }

    /// mg/dL.
    var suspendBelow = 80.0
    /// mg/dL.
    var suspendAt = 70.0
    /// Minutes.
    var prediction = 30.0
    var longest = 120.0
    var window = 150.0

    public let name = "predictive-suspend"
    public let basalSource = BasalSource.algorithm
    public let lowersHighs = false
    private let therapy = BasalBolus()

    public init() {}

    public var forecastMinutes: Double? { prediction }

    public func run(_ input: borrowing StepInput, state: inout State) -> StepOutput {
        var output = therapy.withBasal(input)
        state.suspension.advance(to: input.algorithmTime)
        guard let reading = input.cgm else { return output }
        let glucose = reading.glucose.milligramsPerDecilitre
        state.line.add(glucose, minute: reading.instant.minutes)
        let predicted = state.line.value(after: prediction)
        output.forecast = predicted.map { GlucoseConcentration(milligramsPerDecilitre: max(0, $0)) }
        guard glucose < suspendAt || predicted ?? .infinity < suspendBelow, !state.line.rises,
            state.suspension.minutes(within: window) < longest
        else { return output }
        state.suspension.suspend()
        output.basal = .zero
        return output
    }
}

/// A straight line through the last four readings, by least squares.
struct ReadingLine: AlgorithmState {
    private struct Point: Codable, Hashable, Sendable {
        var glucose = 0.0
        var minute = 0.0
    }

    // Four fields rather than an array, which would allocate at each step.
    private var a = Point()
    private var b = Point()
    private var c = Point()
    private var d = Point()
    private var count = 0

    /// Readings that lie farther apart than this draw no line together: one may be missing, not two.
    private static let longest = 20.0

    mutating func add(_ glucose: Double, minute: Double) {
        (a, b, c, d) = (b, c, d, Point(glucose: glucose, minute: minute))
        count = min(count + 1, 4)
    }

    /// Whether there is a line, and it goes up.
    var rises: Bool { line.map { $0.slope > 0 } ?? false }

    /// mg/dL so many minutes after the newest reading; nil for fewer than four readings in 20 min.
    func value(after minutes: Double) -> Double? {
        line.map { $0.mean + $0.slope * (minutes - $0.meanTime) }
    }

    /// The readings' mean, the mean of their minutes after the newest one, and mg/dL a minute.
    private var line: (mean: Double, meanTime: Double, slope: Double)? {
        guard count == 4, d.minute - a.minute <= Self.longest, d.minute > a.minute else { return nil }
        // From the newest reading on, so that nothing large is taken from something large.
        let times = (a.minute - d.minute, b.minute - d.minute, c.minute - d.minute)
        let meanTime = (times.0 + times.1 + times.2) / 4
        let mean = (a.glucose + b.glucose + c.glucose + d.glucose) / 4
        let along =
            (times.0 - meanTime) * (a.glucose - mean) + (times.1 - meanTime) * (b.glucose - mean)
            + (times.2 - meanTime) * (c.glucose - mean) - meanTime * (d.glucose - mean)
        let squares =
            (times.0 - meanTime) * (times.0 - meanTime) + (times.1 - meanTime) * (times.1 - meanTime)
            + (times.2 - meanTime) * (times.2 - meanTime) + meanTime * meanTime
        return (mean, meanTime, along / squares)
    }
}
