// What the pump was asked for and gave in the last eight hours, for algorithms: by kind, in cells of five minutes.
//
// Guarantees: filled from `StepInput` alone, it holds what the pump pushed, to a pulse, at each step that could know: what never came is taken
// out of the cell of its own step, what the pump gave by itself is spread over the time in which it flowed, a step that ran on no pump counts
// as nothing. Cells are plain values: a step allocates nothing.
// Does not: know what was carried on of less than a pulse, nor anything older than eight hours.

public import IsletDevices
import IsletKernel

public struct InsulinLedger: Hashable, Sendable, Codable {
    /// Cells of five minutes: eight hours.
    public static let cells = 96
    public static let cellMinutes = 5.0
    public typealias Cells = FixedCells<96>

    /// Cell 0 is the time from this step on: what it asks for. Cell n ended n − 1 steps ago. U.
    ///
    /// What the pump gave by itself: its programme, or a temporary rate.
    public private(set) var basal = Cells()
    /// Basal and correction that steps asked for.
    public private(set) var own = Cells()
    /// For meals.
    public private(set) var meals = Cells()
    /// Asked for by hand.
    public private(set) var manual = Cells()
    /// The step of cell 0.
    private var step: Int64 = 0
    /// False before the first step.
    private var hasBegun = false
    /// How many cells are known; those before are empty because nobody said.
    public private(set) var known = 0

    public init() {}

    /// Insulin of one cell, U.
    public func total(_ cell: Int) -> Double {
        boluses(cell) + basal[cell]
    }

    /// What was asked for by request in a cell, U.
    public func boluses(_ cell: Int) -> Double { own[cell] + meals[cell] + manual[cell] }

    /// All of it, U.
    public var sum: Double { basal.sum + own.sum + meals.sum + manual.sum }

    // MARK: What a step tells

    /// Takes up what a step is told. To be called once at the begin of each step.
    public mutating func take(_ input: borrowing StepInput) {
        if hasBegun { age(by: max(0, input.algorithmTime - step)) }
        step = input.algorithmTime
        hasBegun = true
        known = max(known, 1)
        if let earlier = input.earlier { begin(earlier, at: input.now) }
        if let shortfall = input.shortfall { takeBack(shortfall, from: \.own) }
        if let dropped = input.dropped { takeBack(dropped, from: \.meals) }
        if let flowed = input.pumpBasal {
            // What was withheld comes with this step's request.
            own[0] += flowed.withheld.units
            spread(
                (flowed.amount - flowed.withheld).units,
                minutes: input.now.minutes - flowed.since.minutes, into: \.basal)
        }
    }

    /// Takes up what the step asks for at the person's wish: for a meal, and by hand. In open loop only the latter is given.
    public mutating func note(meal: InsulinAmount, of input: borrowing StepInput) {
        let byHand = input.user.manualBolus?.units ?? 0
        manual[0] += byHand
        if !input.isOpenLoop { meals[0] += max(0, meal.units - byHand) }
    }

    /// Takes up what the step asks for of its own: nothing without a pump, or in open loop.
    public mutating func note(own: InsulinAmount, of input: borrowing StepInput) {
        if input.insulinPump.isAvailable, !input.isOpenLoop { self.own[0] += own.units }
    }

    /// As it stands at a later step that is told nothing.
    func aged(to step: Int64) -> Self {
        var aged = self
        if hasBegun { aged.age(by: max(0, step - self.step)) }
        return aged
    }

    private mutating func age(by steps: Int64) {
        let places = Int(min(steps, Int64(Self.cells)))
        basal.age(by: places)
        own.age(by: places)
        meals.age(by: places)
        manual.age(by: places)
        known = min(Self.cells, known + places)
    }

    /// It covers everything up to now.
    private mutating func begin(_ earlier: InsulinHistory, at now: Instant) {
        self = InsulinLedger(step: step)
        known = Int(min(Double(Self.cells), (now.minutes - earlier.since.minutes) / Self.cellMinutes)) + 1
        known = min(max(known, 1), Self.cells)
        for given in earlier.given {
            let since = now.minutes - given.since.minutes
            let until = max(0, now.minutes - given.until.minutes)
            func spread(_ units: InsulinAmount, _ cells: WritableKeyPath<Self, Cells>) {
                self.spread(units.units, minutes: since, until: until, into: cells)
            }
            spread(given.manual, \.manual)
            spread(given.userRequested - given.manual, \.meals)
            spread(given.amount - given.userRequested, \.own)
        }
    }

    private init(step: Int64) {
        self.step = step
        hasBegun = true
    }

    /// - Parameter minutes: since when it flowed.
    private mutating func spread(
        _ units: Double, minutes: Double, until end: Double = 0, into cells: WritableKeyPath<Self, Cells>
    ) {
        guard units != 0 else { return }
        let length = minutes - end
        guard length > 0 else {
            let cell = Int((minutes / Self.cellMinutes).rounded(.up))
            if cell < Self.cells { self[keyPath: cells][max(0, cell)] += units }
            return
        }
        var cell = Int(end / Self.cellMinutes) + 1
        while cell < Self.cells {
            let from = Double(cell - 1) * Self.cellMinutes
            let overlap = min(minutes, from + Self.cellMinutes) - max(end, from)
            guard overlap > 0 else { return }
            self[keyPath: cells][cell] += units * overlap / length
            cell += 1
        }
    }

    private mutating func takeBack(_ lacking: Shortfall, from cells: WritableKeyPath<Self, Cells>) {
        let cell = step - lacking.algorithmTime
        guard (0..<Int64(Self.cells)).contains(cell) else { return }
        self[keyPath: cells][Int(cell)] -= (lacking.amount - lacking.manual).units
        manual[Int(cell)] -= lacking.manual.units
    }
}
