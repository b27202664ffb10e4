// The person of a session: eats when the scenario says, tells the loop, hears the phone, and acts.
//
// Guarantees: a meal is eaten and announced at its instant, in the person's phase, whatever the devices do. A person without a configuration does
// nothing else, and a deaf one leaves body, loop and devices as they are without: readings, doses and truth to the byte. Whatever rings
// together is answered once. Nothing is eaten against a low within 15 min of the rescue before, nor above the settings' limit in
// two hours; insulin is asked for within the therapy's limits, and by hand not beside an algorithm unless the settings say so. A meal's insulin
// is asked for once: not by a correction while a late bolus is still to come, not when the meal is long absorbed, not into a low.
// Does not: decide what the scenario's meals are.
//
// Files: `+Hearing` what reaches the person, `+Acting` what they do about it, `+Site` what they think of a pod's site, `+Announcing` what they say of meals.

public import IsletAlerts
public import IsletDevices
public import IsletKernel

/// A meal that somebody is going to eat.
public struct PlannedMeal: Hashable, Sendable {
    public var instant: Instant
    public var carbohydrate: Carbohydrate
    public var absorption = MealAbsorption.usual
    /// What the loop is told, and when; nil where it is told nothing.
    public var announcement: MealAnnouncement?

    public init(instant: Instant, carbohydrate: Carbohydrate) {
        self.instant = instant
        self.carbohydrate = carbohydrate
        announcement = MealAnnouncement(carbohydrate: carbohydrate, instant: instant)
    }
}

/// What makes somebody more than an eater.
public struct PersonConfiguration: Sendable {
    public var settings: PersonSettings
    public var age: PersonAge
    public var calendar: SessionCalendar
    public var streams: RandomStreams
    public var therapy: TherapySettings
    /// Before the session's end.
    public var duration: Instant
    /// Whether an algorithm corrects beside this person: then they watch the site.
    public var isBesideLoop: Bool

    public init(
        settings: PersonSettings, age: PersonAge, calendar: SessionCalendar, streams: RandomStreams,
        therapy: TherapySettings, duration: Instant, isBesideLoop: Bool = false
    ) {
        self.settings = settings
        self.age = age
        self.calendar = calendar
        self.streams = streams
        self.therapy = therapy
        self.duration = duration
        self.isBesideLoop = isBesideLoop
    }
}

public actor Person: SessionActor, AlertListener, LowGlucoseObserver {
    public nonisolated let executor: SessionExecutor

    let body: any Eater
    let loop: any LoopInputs
    let recorder: SessionRecorder
    private let meals: [PlannedMeal]
    let watch: PersonWatch?
    private let exercise: ExerciseWatch?
    /// nil for somebody who only eats.
    var state: PersonState?
    var phone: (any PersonPhone)?
    var devices: (any PersonDevices)?
    private var wakeup: Wakeup?

    /// - Parameters:
    ///   - meals: in the order of their instants.
    ///   - configuration: nil for somebody who only eats.
    ///   - watch: what somebody without a configuration looks at in believable weeks.
    ///   - exercise: in believable weeks, of whoever they are.
    public init(
        executor: SessionExecutor, meals: [PlannedMeal], body: any Eater, loop: any LoopInputs,
        recorder: SessionRecorder, configuration: PersonConfiguration? = nil, watch: PersonWatch? = nil,
        exercise: ExerciseWatch? = nil
    ) {
        self.executor = executor
        self.meals = meals
        self.body = body
        self.loop = loop
        self.recorder = recorder
        self.watch = watch
        self.exercise = exercise
        state = configuration.map(PersonState.init)
    }

    /// Takes the phone; nothing for somebody who only eats.
    public func begin(phone: any PersonPhone, devices: any PersonDevices) {
        guard state != nil else { return }
        self.phone = phone
        self.devices = devices
        wakeup = Wakeup(executor, phase: .person, "person") { [unowned self] in try here { try $0.wake() } }
        planLook()
        scheduleNext()
    }

    /// Lets go of phone and devices: they hold the person, too.
    public func dismiss() {
        phone = nil
        devices = nil
    }

    /// Lives the session.
    public func live() async throws {
        watch?.begin(executor: executor, body: body, loop: loop, recorder: recorder)
        exercise?.begin(executor: executor, body: body, loop: loop, recorder: recorder, person: self)
        state?.nextMeal = meals.first?.instant
        for action in actions {
            try await clock.wait(until: action.instant, phase: .person, "meal")
            let meal = meals[action.meal]
            if action.eats { try body.eat(meal.carbohydrate, absorption: meal.absorption) }
            if action.announces, let announcement = meal.announcement {
                action.eats ? tell(announcement, of: meal) : tellLate(announcement, eaten: meal.instant)
            }
            guard action.eats else { continue }
            executor.journal.record(.meal, at: action.instant, meal.carbohydrate.grams.bitPattern)
            recorder.did(.meal, meal.carbohydrate.grams, at: action.instant)
            state?.ate(at: action.instant)
            state?.nextMeal = action.meal + 1 < meals.count ? meals[action.meal + 1].instant : nil
            if !action.announces, meal.announcement != nil { state?.owedBoluses += 1 }
        }
    }

    private struct PersonAction {
        var instant: Instant
        var meal: Int
        var eats: Bool
        var announces: Bool
    }

    /// Who announces at the first bite does both at once.
    private var actions: [PersonAction] {
        var actions: [PersonAction] = []
        for (index, meal) in meals.enumerated() {
            let said = meal.announcement?.instant
            actions.append(
                PersonAction(instant: meal.instant, meal: index, eats: true, announces: said == meal.instant))
            if let said, said != meal.instant {
                actions.append(PersonAction(instant: said, meal: index, eats: false, announces: true))
            }
        }
        return actions.enumerated()
            .sorted { ($0.element.instant, $0.offset) < ($1.element.instant, $1.offset) }
            .map(\.element)
    }

    // MARK: Time

    func scheduleNext() { wakeup?.schedule(at: state?.next) }

    /// What is due, in the order in which one does it.
    private func wake() throws {
        let now = executor.now
        if let due = state?.closesAt, due <= now { close() }
        if let due = state?.bites?.at, due <= now { try bite() }
        while let late = state?.lateBoluses.first, late.at <= now {
            state?.lateBoluses.removeFirst()
            tellLate(late.meal, eaten: late.eaten)
        }
        if let due = state?.attendsAt, due <= now { attend(.alert) }
        if let due = state?.rechecksAt, due <= now { attend(.recheck) }
        if let due = state?.looksAt, due <= now {
            if state?.isAsleep(at: now) == false { attend(.ownAccord) }
            planLook()
        }
        scheduleNext()
    }

    /// Eats now what no scenario planned.
    public func eatNow(_ carbohydrate: Carbohydrate) throws {
        let now = executor.now
        try body.eat(carbohydrate)
        executor.journal.record(.meal, at: now, carbohydrate.grams.bitPattern)
        recorder.did(.meal, carbohydrate.grams, at: now)
        state?.ate(at: now)
    }

    /// What the person heard and did up to now.
    public func facts() -> PersonFacts? { state?.facts(until: executor.now) }
    /// Eaten against lows so far, g, those that exercise may bring among them: by who listens, or by who looks at the sensor now and then.
    public func rescueGrams() -> Double {
        (state?.counts.rescueGrams.sum ?? 0) + (watch?.rescueGrams ?? 0) + (exercise?.grams ?? 0)
    }

    /// When something was eaten last against a low.
    var lastRescue: Instant? {
        guard let state else { return watch?.lastRescue }
        return state.lastRescue
    }

    /// Something is eaten against a low, by whatever led to it: nothing is eaten beside it.
    func ate(againstLow amount: Carbohydrate) {
        state?.rescue(amount.grams, at: executor.now)
        watch?.rescued(at: executor.now)
    }

    public nonisolated func alertDidRing(_ ring: AlertRing) -> Bool { here(ring) { $0.hear($1) } }
    public nonisolated func alertDidShow(_ ring: AlertRing) { here(ring) { $0.see($1) } }
    public nonisolated func bodyIsLow(_ plasma: GlucoseConcentration) { here(plasma) { $0.feel($1) } }
}

extension EventKind {
    /// Words: grams (bits).
    public static let meal = EventKind(0x500, "meal")
    /// The loop refused the announcement of a meal. Words: grams (bits).
    public static let refused = EventKind(0x501, "refused")
    /// Sugar against a low. Words: grams (bits).
    public static let rescue = EventKind(0x502, "rescue")
    /// The person asked for insulin by hand. Words: units (bits), 1 where the loop refused.
    public static let askedBolus = EventKind(0x503, "askedBolus")
    /// A notification rang. Words: `AlertTopic`, 1 for heard, 1 for at night asleep, the n-th of its slot.
    public static let rang = EventKind(0x504, "rang")
    /// A low was felt. Words: 1 where it woke.
    public static let felt = EventKind(0x505, "felt")
    /// The person looked at the phone. Words: why (`PersonState.Cause`), the reading (bits; NaN for none).
    public static let looked = EventKind(0x506, "looked")
    /// Something else was done. Words: `PersonRow.Kind.index`, an instant or 0.
    public static let did = EventKind(0x507, "did")
}
