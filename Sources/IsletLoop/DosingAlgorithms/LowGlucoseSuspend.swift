// Open-loop therapy whose pump stops its basal while glucose is low, as pumps with a sensor did first.
//
// Follows: Medtronic's low-glucose suspend (Paradigm Veo, MiniMed 530G), as the ASPIRE In-Home trial used it (Bergenstal et al., N Engl J
// Med 369:224, 2013): a reading at or below a threshold stops all basal, for two hours at most, and basal runs for four hours then
// whatever the sensor says. That pump stays stopped for its two hours unless somebody ends it: `shortest: 120` is its rule, with nobody who
// ends it. By default basal is back at the first reading above the threshold, as who is awake would see to. Boluses are `basal-bolus`'s,
// also while basal is stopped.
//
// Guarantees: nothing beyond therapy is ever given. Without a fresh reading the programme runs, and where steps no longer come the pump's
// own programme is back within half an hour. Does not: lower a high; people correct by hand beside it.

public import IsletDevices

extension AlgorithmKind {
    public static let lowGlucoseSuspend = AlgorithmKind(
        summary: "suspension: basal and boluses as basal-bolus, no basal while glucose is low",
        default: LowGlucoseSuspend(),
        parameters: [
            .init(
                "suspendAt", "mg/dL", "a reading at or below it stops the basal", \.suspendAt, 40...120),
            .init(
                "shortest", "min", "for so long a stop lasts whatever the next readings are", \.shortest,
                0...300),
            .init(
                "longest", "min", "how much of the time in `window` may be without basal", \.longest, 5...300),
            .init("window", "min", "the time that `longest` counts in", \.window, 10...630),
        ])
}

public struct LowGlucoseSuspend: DosingAlgorithm {
    public struct State: AlgorithmState {
        var suspension = SuspensionRecord()
        /// The first step that a stop doesn't last to by itself.
        var heldBefore: Int64 = 0
        public init() {}
    }

    /// mg/dL.
    var suspendAt = 70.0
    /// Minutes.
    var shortest = 0.0
    /// Minutes: two hours, then four with basal.
    var longest = 120.0
    var window = 360.0

    public let name = "low-glucose-suspend"
    public let basalSource = BasalSource.algorithm
    public let lowersHighs = false
    private let therapy = BasalBolus()

    public init() {}

    public func run(_ input: borrowing StepInput, state: inout State) -> StepOutput {
        var output = therapy.withBasal(input)
        state.suspension.advance(to: input.algorithmTime)
        let isHeld = input.algorithmTime < state.heldBefore
        guard let reading = input.cgm, isHeld || reading.glucose.milligramsPerDecilitre <= suspendAt,
            state.suspension.minutes(within: window) < longest
        else { return output }
        if !isHeld { state.heldBefore = input.algorithmTime + Int64(shortest / 5) }
        state.suspension.suspend()
        output.basal = .zero
        return output
    }
}
