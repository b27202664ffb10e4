// What the person waits for and the pump has not given: it is asked for again for 15 min, then dropped and told.
//
// Guarantees: insulin for a meal, or asked for by hand, is requested at most 15 min after the person said so, whatever became of
// pump, pod, app and algorithm meanwhile; after that it is dropped: journaled, in the step log with its cause, told to the
// algorithm, and shown until the person asks again. What is above the maximum bolus is cut off, told in the same
// ways, and never owed. The person may cancel what is owed at any time.
// Does not: take back a bolus that is under way.

public import IsletDevices
public import IsletKernel

/// Why insulin that a person waited for did not come.
public enum DropCause: UInt8, Sendable, Codable, CaseIterable {
    /// The pump was away, busy, suspended or without a pod.
    case pumpUnavailable
    /// The pump refused, or the command failed.
    case refused
    /// Sent and not answered; the pump never got it.
    case neverArrived
    /// The pod stopped or came off halfway.
    case cutShort
    /// No step ran, or the algorithm failed.
    case noStep
    /// The person called it off.
    case cancelled
    /// The pump can't ever do it.
    case impossible
    case sessionEnded
    /// A finger-stick said that glucose is low.
    case lowTyped

    /// As step logs and messages have it.
    public var text: String {
        switch self {
        case .pumpUnavailable: "pump unavailable"
        case .refused: "refused"
        case .neverArrived: "never arrived"
        case .cutShort: "cut short"
        case .noStep: "no step"
        case .cancelled: "cancelled"
        case .impossible: "impossible"
        case .sessionEnded: "session ended"
        case .lowTyped: "low typed in"
        }
    }
}

extension LoopMemory {
    /// Insulin that the person waits for.
    public struct Owed: Hashable, Sendable, Codable {
        public var amount: InsulinAmount
        /// When the person said so.
        public var requestedAt: Instant
        /// The algorithm time of the step that first asked the pump for it.
        public var algorithmTime: Int64
        /// Why it has not come yet.
        public var cause = DropCause.pumpUnavailable
        /// Of the meal that it is for; zero for what was asked for by hand.
        public var meal = Carbohydrate.zero
        /// Asked for by hand: algorithms count all of it.
        public var isManual = false

        public var lapsesAfter: Instant { requestedAt.adding(LoopTiming.owed) }
    }

    /// What was dropped: shown until the person asks again, or has seen it.
    public struct Dropped: Hashable, Sendable, Codable {
        public var amount = InsulinAmount.zero
        /// Of the meal that the amount was for; zero for what was asked for by hand.
        public var meal = Carbohydrate.zero
        /// Of a meal that no step has heard of.
        public var carbohydrate = Carbohydrate.zero
        public var at: Instant
        public var cause: DropCause
        /// The person was told and said so; it can be asked for again all the same.
        public var isSeen = false
    }

    /// A computed dose that was above the maximum bolus.
    public struct Cut: Hashable, Sendable, Codable {
        public var amount: InsulinAmount
        public var at: Instant
    }

    /// When the person said what waits for the next step.
    public struct UserInputTimes: Hashable, Sendable, Codable {
        public var meal: Instant?
        public var bolus: Instant?
        public var glucose: Instant?

        public init() {}

        var isNothing: Bool {
            if case (.none, .none, .none) = (meal, bolus, glucose) { true } else { false }
        }

        /// Of what a step makes insulin of.
        var first: Instant? {
            guard let meal, let bolus else { return meal ?? bolus }
            return min(meal, bolus)
        }
    }
}

extension [LoopMemory.Owed] {
    var sum: InsulinAmount { isEmpty ? .zero : reduce(.zero) { $0 + $1.amount } }
    /// Of `sum`, what was asked for by hand.
    var manual: InsulinAmount { isEmpty ? .zero : reduce(.zero) { $0 + ($1.isManual ? $1.amount : .zero) } }

    /// What is left of it once `given` has come, the oldest first.
    func remaining(after given: InsulinAmount, _ cause: DropCause) -> [LoopMemory.Owed] {
        guard !isEmpty else { return [] }
        var given = given
        var left: [LoopMemory.Owed] = []
        for var one in self {
            let taken = Swift.min(given, one.amount)
            given = given - taken
            one.amount = one.amount - taken
            one.cause = cause
            if one.amount.units > 1e-9 { left.append(one) }
        }
        return left
    }

    /// What `given` covers of it.
    func covered(by given: InsulinAmount) -> [LoopMemory.Owed] {
        guard !isEmpty else { return [] }
        var given = given
        var covered: [LoopMemory.Owed] = []
        for var one in self where given > .zero {
            one.amount = Swift.min(given, one.amount)
            given = given - one.amount
            covered.append(one)
        }
        return covered
    }

    /// Takes so much off, the newest first. Answers with what there was to take.
    mutating func cutNewest(_ amount: InsulinAmount) -> InsulinAmount {
        var toCut = amount
        for index in indices.reversed() where toCut > .zero {
            let cut = Swift.min(toCut, self[index].amount)
            self[index].amount = self[index].amount - cut
            toCut = toCut - cut
        }
        return amount - toCut
    }
}

extension LoopController {
    /// The most that one bolus may be: the therapy's limit, within the pump's.
    var maximumBolus: InsulinAmount { min(settings.therapy.maximumBolus, pump.limits.largestBolus) }

    /// Before each step: what the person has waited for too long is dropped.
    @inline(__always)
    func dropLapsed(at now: Instant) {
        if !memory.owed.isEmpty || !memory.userInputTimes.isNothing { dropLate(at: now) }
    }

    private func dropLate(at now: Instant) {
        func isOver(_ asked: Instant?) -> Bool {
            asked.map { now.nanoseconds - $0.nanoseconds > LoopTiming.owed } ?? false
        }
        if !memory.owed.isEmpty {
            for one in memory.owed where isOver(one.requestedAt) { drop(one, one.cause) }
            memory.owed.removeAll { isOver($0.requestedAt) }
        }
        guard !memory.userInputTimes.isNothing else { return }
        if isOver(memory.userInputTimes.meal), let meal = memory.user.meal {
            memory.user.meal = nil
            memory.userInputTimes.meal = nil
            note(LoopMemory.Dropped(carbohydrate: meal.carbohydrate, at: now, cause: .noStep))
        }
        if isOver(memory.userInputTimes.bolus), let bolus = memory.user.manualBolus {
            memory.user.manualBolus = nil
            memory.userInputTimes.bolus = nil
            note(LoopMemory.Dropped(amount: bolus, at: now, cause: .noStep))
        }
        if isOver(memory.userInputTimes.glucose) {
            memory.user.bloodGlucose = nil
            memory.user.calibration = nil
            memory.userInputTimes.glucose = nil
        }
    }

    /// Drops what a step has asked for and the algorithm has counted.
    func drop(_ one: LoopMemory.Owed, _ cause: DropCause) {
        guard one.amount > .zero else { return }
        tellDropped(one.amount, manual: one.isManual ? one.amount : .zero, of: one.algorithmTime)
        note(LoopMemory.Dropped(amount: one.amount, meal: one.meal, at: executor.now, cause: cause))
    }

    private func note(_ dropped: LoopMemory.Dropped) {
        memory.dropped.append(dropped)
        if memory.dropped.count > Self.droppedLimit { memory.dropped.removeFirst() }
        journal.record(
            .owedDropped, at: executor.now, dropped.amount.units.bitPattern,
            dropped.carbohydrate.grams.bitPattern, UInt64(dropped.cause.rawValue), 0)
        recorder.lapse(
            LapseRow(instant: executor.now, words: "\(dropped.words): \(dropped.cause.text)"))
        tellLapsed(isNew: dropped.cause != .cancelled)
    }

    /// Nobody reads more; what is older was told when it lapsed.
    private static let droppedLimit = 100

    /// The algorithm hears at its next good step. What two steps lack counts with the later one.
    private func tellDropped(
        _ amount: InsulinAmount, manual: InsulinAmount, of algorithmTime: Int64
    ) {
        // What becomes known before the log is handed over stands in it.
        guard !memory.awaitsHistory else { return }
        let before = memory.droppedShortfall
        memory.droppedShortfall = Shortfall(
            algorithmTime: max(algorithmTime, before?.algorithmTime ?? algorithmTime),
            amount: amount + (before?.amount ?? .zero), manual: manual + (before?.manual ?? .zero))
    }

    /// A computed dose was above the maximum bolus: both parts are told, neither is owed.
    func cutOff(
        _ id: Int64, own: InsulinAmount, personal: InsulinAmount, manual: InsulinAmount,
        of algorithmTime: Int64
    ) {
        guard own + personal > .zero else { return }
        fallShort(own, of: algorithmTime)
        if personal > .zero { tellDropped(personal, manual: manual, of: algorithmTime) }
        memory.cut = LoopMemory.Cut(amount: own + personal, at: executor.now)
        journal.record(
            .doseCut, at: executor.now, UInt64(bitPattern: id),
            own.units.bitPattern, personal.units.bitPattern, 0)
    }

    // MARK: The person

    /// Calls off what is owed, and a manual bolus that no step has heard of. A bolus that is under way goes on.
    public func cancelOwed() {
        for one in memory.owed { drop(one, .cancelled) }
        memory.owed = []
        memory.request?.isCancelled = true
        memory.delivery?.isCancelled = true
        memory.user.manualBolus = nil
        memory.userInputTimes.bolus = nil
    }

    /// Nobody waits any more for what an ended session owed, nor for what no step of it has heard of.
    func tellEnded(_ before: LoopMemory) {
        let now = executor.now
        for one in before.owed {
            note(LoopMemory.Dropped(amount: one.amount, meal: one.meal, at: now, cause: .sessionEnded))
        }
        if let bolus = before.user.manualBolus {
            note(LoopMemory.Dropped(amount: bolus, at: now, cause: .sessionEnded))
        }
        if let meal = before.user.meal {
            note(LoopMemory.Dropped(carbohydrate: meal.carbohydrate, at: now, cause: .sessionEnded))
        }
    }

    /// After hours that no step lived through: what lapsed meanwhile is told at once, not at the next step.
    func dropLapsedOnWaking() {
        guard !memory.owed.isEmpty || !memory.userInputTimes.isNothing else { return }
        dropLate(at: executor.now)
    }

    /// Asks once more, now, for what was dropped last: the insulin by hand, the meal as if it were eaten now.
    /// - Throws: `LoopInputRefused` where that is above a limit; it is shown on then.
    public func askAgainForDropped() throws {
        guard let dropped = lastDropped else { return }
        if dropped.amount > .zero { try add(manualBolus: dropped.amount) }
        if dropped.carbohydrate > .zero {
            try add(MealAnnouncement(carbohydrate: dropped.carbohydrate, instant: executor.now))
        }
        dismissDropped()
    }

    /// What was dropped last, all that lapsed at one instant, until the person asks again or dismisses it. A look: nothing changes.
    public var lastDropped: LoopMemory.Dropped? {
        guard let last = memory.dropped.last else { return nil }
        return memory.dropped.filter { $0.at == last.at }.together
    }

    /// Whether the algorithm doses: by hand, a correction would come on top of its own.
    public var isClosedLoop: Bool {
        memory.isInSession && !memory.isOpenLoop && algorithmDosesBasal
    }

    /// The person has seen what was dropped.
    public func dismissDropped() {
        memory.dropped = []
        tellLapsed(isNew: false)
    }
}

extension EventKind {
    /// What the person waited for is given up. Words: units (bits), grams (bits) where no step had heard of it, `DropCause`, 0.
    public static let owedDropped = EventKind(0x310, "owedDropped")
    /// A computed dose was above the maximum bolus. Words: request id, units of basal and correction cut off (bits), units of
    /// the person's part (bits), 0.
    public static let doseCut = EventKind(0x311, "doseCut")
}
