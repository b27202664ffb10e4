// Owed insulin: requested by the person, not delivered by the pump. It is requested again for 15 min, then dropped.
//
// Guarantees: insulin for a meal, or for a manual bolus, is requested at most 15 min after the person's input, whatever
// happens to pump, pod, app and algorithm meanwhile. Later it is dropped: the drop is journaled, recorded in the step
// log with its cause, reported to an algorithm that has counted the insulin, and shown until the person requests it
// again or dismisses it. The part of a dose above the maximum bolus is cut off and recorded, and is never owed. The
// person may cancel owed insulin at any time.
// Does not: stop a bolus that is under way.

public import IsletDevices
public import IsletKernel

/// Why owed insulin was not delivered.
public enum DropCause: UInt8, Sendable, Codable, CaseIterable {
    /// The pump was out of reach, busy, suspended or without a pod.
    case pumpUnavailable
    /// The pump refused, or the command failed.
    case refused
    /// The request was sent and not answered, and the pump had not received it.
    case neverArrived
    /// The pod stopped or came off during the bolus.
    case cutShort
    /// No step ran, or the algorithm failed.
    case noStep
    /// The person cancelled it.
    case cancelled
    /// The amount is out of the pump's range.
    case impossible
    case sessionEnded
    /// The person entered a low finger-stick glucose.
    case lowTyped

    /// The cause as step logs and messages name it.
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
    /// Insulin that the person requested and the pump has not delivered.
    public struct Owed: Hashable, Sendable, Codable {
        public var amount: InsulinAmount
        /// When the person entered the meal or the bolus.
        public var requestedAt: Instant
        /// The algorithm time of the step that first requested it of the pump.
        public var algorithmTime: Int64
        /// Why it has not been delivered yet.
        public var cause = DropCause.pumpUnavailable
        /// Carbohydrate of the meal that it covers; zero for a manual bolus.
        public var meal = Carbohydrate.zero
        /// Whether it is a manual bolus: algorithms count all of that.
        public var isManual = false

        public var lapsesAfter: Instant { requestedAt.adding(LoopTiming.owed) }
    }

    /// Owed insulin, or a meal, that was dropped: shown until the person requests it again or dismisses it.
    public struct Dropped: Hashable, Sendable, Codable {
        public var amount = InsulinAmount.zero
        /// Carbohydrate of the meal that the amount was for; zero for a manual bolus.
        public var meal = Carbohydrate.zero
        /// Carbohydrate of a meal that no step has processed; zero otherwise.
        public var carbohydrate = Carbohydrate.zero
        public var at: Instant
        public var cause: DropCause
        /// The person has seen the notification; the insulin can still be requested again.
        public var isSeen = false
    }

    /// A computed dose that was above the maximum bolus.
    public struct Cut: Hashable, Sendable, Codable {
        public var amount: InsulinAmount
        public var at: Instant
    }

    /// When the person made the inputs that wait for the next step.
    public struct UserInputTimes: Hashable, Sendable, Codable {
        public var meal: Instant?
        public var bolus: Instant?
        public var glucose: Instant?

        public init() {}

        var isNothing: Bool {
            if case (.none, .none, .none) = (meal, bolus, glucose) { true } else { false }
        }

        /// The earlier of meal and manual bolus, the inputs that lead to a dose.
        var first: Instant? {
            guard let meal, let bolus else { return meal ?? bolus }
            return min(meal, bolus)
        }
    }
}

extension [LoopMemory.Owed] {
    var sum: InsulinAmount { isEmpty ? .zero : reduce(.zero) { $0 + $1.amount } }
    /// The part of `sum` that is manual boluses.
    var manual: InsulinAmount { isEmpty ? .zero : reduce(.zero) { $0 + ($1.isManual ? $1.amount : .zero) } }

    /// What is still owed after `given` was delivered, which covers the oldest first. Sets the cause of what is left.
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

    /// The part that `given` covers, the oldest first.
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

    /// Reduces the newest first by `amount` in all. Returns by how much it could.
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
    /// The largest bolus: the lower of the therapy's and the pump's limit.
    var maximumBolus: InsulinAmount { min(settings.therapy.maximumBolus, pump.limits.largestBolus) }

    /// Drops owed insulin, and inputs that no step has processed, older than 15 min. Called before each step.
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

    /// Drops insulin that a step has requested and the algorithm has counted. Leaves `memory.owed` as it is.
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

    /// How many drops are kept; the oldest goes first. Each was reported to observers when it happened.
    private static let droppedLimit = 100

    /// Reports the shortfall to the algorithm with its next good step. Several are summed under the latest step's time.
    private func tellDropped(
        _ amount: InsulinAmount, manual: InsulinAmount, of algorithmTime: Int64
    ) {
        // The insulin history that the algorithm is about to receive contains it already.
        guard !memory.awaitsHistory else { return }
        let before = memory.droppedShortfall
        memory.droppedShortfall = Shortfall(
            algorithmTime: max(algorithmTime, before?.algorithmTime ?? algorithmTime),
            amount: amount + (before?.amount ?? .zero), manual: manual + (before?.manual ?? .zero))
    }

    /// Records what was cut off a dose above the maximum bolus and reports it to the algorithm. None of it is owed.
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

    /// Cancels owed insulin and a manual bolus that no step has processed. A bolus that is under way continues.
    public func cancelOwed() {
        for one in memory.owed { drop(one, .cancelled) }
        memory.owed = []
        memory.request?.isCancelled = true
        memory.delivery?.isCancelled = true
        callOffManualBolus()
    }

    /// A manual bolus that no step has processed is not given.
    func callOffManualBolus() {
        guard memory.user.manualBolus != nil else { return }
        memory.user.manualBolus = nil
        memory.userInputTimes.bolus = nil
    }

    /// Drops what the ended session owed, and its meal and manual bolus that no step had processed.
    func tellEnded(_ before: LoopMemory) {
        let now = executor.now
        tellEnded(before.owed)
        if let bolus = before.user.manualBolus {
            note(LoopMemory.Dropped(amount: bolus, at: now, cause: .sessionEnded))
        }
        if let meal = before.user.meal {
            note(LoopMemory.Dropped(carbohydrate: meal.carbohydrate, at: now, cause: .sessionEnded))
        }
    }

    /// Drops what an ended session owed; of its requests once it is known not to have come.
    func tellEnded(_ owed: [LoopMemory.Owed], isCancelled: Bool = false) {
        for one in owed {
            note(
                LoopMemory.Dropped(
                    amount: one.amount, meal: one.meal, at: executor.now,
                    cause: isCancelled ? .cancelled : .sessionEnded))
        }
    }

    /// Drops, after a time without steps, what is older than 15 min at once, rather than at the next step.
    func dropLapsedOnWaking() {
        guard !memory.owed.isEmpty || !memory.userInputTimes.isNothing else { return }
        dropLate(at: executor.now)
    }

    /// Requests again what was dropped lately: insulin as a manual bolus, a meal as if it were eaten now.
    /// - Throws: `LoopInputRefused` where that is above a limit; the drop is then still shown.
    public func askAgainForDropped() throws {
        guard let dropped = lastDropped else { return }
        if dropped.amount > .zero { try add(manualBolus: dropped.amount) }
        if dropped.carbohydrate > .zero {
            try add(MealAnnouncement(carbohydrate: dropped.carbohydrate, instant: executor.now))
        }
        dismissDropped()
    }

    /// What was dropped last and in the half hour before it, together: the notification names it all. Nil once it was requested again or dismissed. Changes nothing.
    public var lastDropped: LoopMemory.Dropped? {
        guard let last = memory.dropped.last else { return nil }
        return memory.dropped.filter { $0.at >= last.at.adding(-Self.oneLapse) }.together
    }

    private static let oneLapse = 30 * Nanoseconds.minute

    /// Whether the algorithm lowers highs by itself. A manual correction would then come on top of the algorithm's.
    public var isClosedLoop: Bool {
        memory.isInSession && !memory.isOpenLoop && algorithmLowersHighs
    }

    /// The person dismisses all drops.
    public func dismissDropped() {
        memory.dropped = []
        tellLapsed(isNew: false)
    }
}

extension EventKind {
    /// Owed insulin was dropped. Words: units (bits), grams (bits) of an unprocessed meal, `DropCause`, 0.
    public static let owedDropped = EventKind(0x310, "owedDropped")
    /// A computed dose was above the maximum bolus. Words: request id, units cut off of basal and
    /// correction (bits), and of the person's meal and manual bolus (bits), 0.
    public static let doseCut = EventKind(0x311, "doseCut")
}
