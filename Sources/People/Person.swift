// The person of a session: eats when the scenario says, and tells the loop.
//
// Guarantees: a meal is eaten and announced at its instant, in the person's phase, whatever the devices do.
// Does not: hear alarms, miscount or forget.

public import Devices
public import Records
public import SessionTime
public import SimulationKernel

/// A meal that somebody is going to eat.
public struct PlannedMeal: Hashable, Sendable {
    public var instant: Instant
    public var carbohydrate: Carbohydrate

    public init(instant: Instant, carbohydrate: Carbohydrate) {
        self.instant = instant
        self.carbohydrate = carbohydrate
    }
}

public actor Person: SessionActor {
    public nonisolated let executor: SessionExecutor

    private let body: any Eater
    private let loop: any LoopInputs
    private let recorder: SessionRecorder
    private let meals: [PlannedMeal]

    /// - Parameter meals: in the order of their instants.
    public init(
        executor: SessionExecutor, meals: [PlannedMeal], body: any Eater, loop: any LoopInputs,
        recorder: SessionRecorder
    ) {
        self.executor = executor
        self.meals = meals
        self.body = body
        self.loop = loop
        self.recorder = recorder
    }

    /// Lives the session.
    public func live() async throws {
        for meal in meals {
            try await clock.wait(until: meal.instant, phase: .person, "meal")
            try body.eat(meal.carbohydrate)
            do {
                try loop.announce(MealAnnouncement(carbohydrate: meal.carbohydrate, instant: meal.instant))
            } catch {
                executor.journal.record(.refused, at: meal.instant, meal.carbohydrate.grams.bitPattern)
            }
            executor.journal.record(.meal, at: meal.instant, meal.carbohydrate.grams.bitPattern)
            recorder.did(.meal, meal.carbohydrate.grams, at: meal.instant)
        }
    }
}

extension EventKind {
    /// Words: grams (bits).
    public static let meal = EventKind(0x500, "meal")
    /// The loop refused the announcement of a meal. Words: grams (bits).
    public static let refused = EventKind(0x501, "refused")
}
