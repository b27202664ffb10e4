// A person with a phone, a body and devices that do what a test says.

import IsletAlerts
import IsletDevices
import IsletKernel
import IsletModels

@testable import IsletPeople

/// Belongs to the session's thread.
final class FakePhone: PersonPhone, PersonDevices, @unchecked Sendable {
    var isAppAlive = true
    var reading: GlucoseReading?
    var toAcknowledge: [(code: AlertName, raisedAt: Instant)] = []
    var isClosedLoop = false
    var dropped: PersonDropped?
    var podNeedsChange = false
    var sensorNeedsChange = false
    var log: [String] = []

    func reopenApp() { isAppAlive = true; log.append("reopen") }
    func open() { log.append("open") }
    func close() { log.append("close") }
    func acknowledge(_ code: AlertName) {
        log.append("acknowledge \(code)")
        toAcknowledge.removeAll { $0.code == code }
    }
    func askAgain() throws { log.append("ask again") }
    func dismissDropped() { log.append("dismiss") }
    func changePod(at instant: Instant) { log.append("pod \(instant.minutes)") }
    func changeSensor(at instant: Instant) { log.append("sensor \(instant.minutes)") }

    var podWornSince: Instant? = .minutes(-600)
    var hasKetones = false
    var siteFails = false
    /// Since when readings lie above which bound, as the curve shows it.
    var highSince: Instant?
    var anHourAgo: Double?
    var injected: [(minute: Double, units: Double)] = []
    var executor: SessionExecutor?
    /// A pod that is changed is worn since.
    var putsOnPods = true

    func high(above bound: Double) -> PersonHigh? {
        guard let glucose = reading?.glucose.milligramsPerDecilitre, glucose > bound else { return nil }
        return highSince.map { PersonHigh(since: $0, anHourAgo: anHourAgo) }
    }
    func changeSite(at instant: Instant) {
        log.append("site \(instant.minutes)")
        if putsOnPods { podWornSince = instant }
    }
    func inject(_ amount: InsulinAmount) throws {
        injected.append((executor?.now.minutes ?? -1, amount.units))
    }
}

final class FakeBody: Eater, LoopInputs, Exerciser, @unchecked Sendable {
    var lowered: [(minute: Double, multiplier: Double, steps: Int)] = []
    func request(temporaryBasal multiplier: Double, steps: Int) throws {
        lowered.append((executor?.now.minutes ?? -1, multiplier, steps))
    }

    var told: [(minute: Double, mgdl: Double?, steps: Int)] = []
    func request(temporaryTarget target: GlucoseConcentration?, steps: Int) throws {
        told.append((executor?.now.minutes ?? -1, target?.milligramsPerDecilitre, steps))
    }
    var moved: [(from: Double, to: Double?)] = []
    func moveExercise(from instant: Instant, to bout: ExerciseBout?) throws {
        moved.append((instant.minutes, bout?.from.minutes))
    }

    var eaten: [(minute: Double, grams: Double)] = []
    var asked: [(minute: Double, units: Double)] = []
    var executor: SessionExecutor?

    func eat(_ amount: Carbohydrate) throws { eaten.append((executor?.now.minutes ?? -1, amount.grams)) }
    var announced: [(minute: Double, grams: Double)] = []
    func announce(_ meal: MealAnnouncement) throws {
        announced.append((executor?.now.minutes ?? -1, meal.carbohydrate.grams))
    }
    func request(manualBolus amount: InsulinAmount) throws {
        asked.append((executor?.now.minutes ?? -1, amount.units))
    }
}

/// A session that starts at a local hour and has nobody in it but the person.
final class PersonWorld {
    let executor = SessionExecutor()
    let phone = FakePhone()
    let body = FakeBody()
    let recorder = SessionRecorder(level: .full)
    let person: Person

    init(
        _ settings: PersonSettings, age: PersonAge = .adult, hour: Int64 = 12, seed: UInt64 = 1,
        subject: UInt64 = 0,
        meals: [PlannedMeal] = [], changes: [SessionCalendar.Change] = [], isBesideLoop: Bool = false
    ) {
        let calendar = SessionCalendar(
            startEpochSeconds: hour * 3600, offsetSeconds: 0, changes: changes)
        body.executor = executor
        phone.executor = executor
        person = Person(
            executor: executor, meals: meals, body: body, loop: body, recorder: recorder,
            configuration: PersonConfiguration(
                settings: settings, age: age, calendar: calendar,
                streams: RandomStreams(seed: seed, subject: subject),
                therapy: TherapySettings(
                    bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: 1),
                    carbohydrateRatioGramsPerUnit: 10, correctionFactorMgdlPerUnit: 40,
                    totalDailyInsulin: InsulinAmount(units: 45)),
                duration: .minutes(60 * 24 * 400), isBesideLoop: isBesideLoop))
        let (person, phone) = (person, phone)
        executor.inspect { person.here(phone) { $0.begin(phone: $1, devices: $1) } }
        executor.start("person") { try await person.live() }
    }

    func advance(toMinute minute: Double) throws {
        try executor.advance(to: Instant(nanoseconds: Int64(minute * Double(Nanoseconds.minute))))
    }

    @discardableResult
    func ring(_ topic: AlertTopic, code: AlertName = "LOW", bound: Double? = nil) -> Bool {
        let ring = AlertRing(
            instant: executor.now, code: code, topic: topic, severity: .actionable, glucoseBound: bound)
        let person = person
        return executor.inspect { person.alertDidRing(ring) }
    }

    func feel(_ mgdl: Double) {
        let person = person
        executor.inspect { person.bodyIsLow(GlucoseConcentration(milligramsPerDecilitre: mgdl)) }
    }

    func show(_ mgdl: Double) {
        phone.reading = GlucoseReading(
            instant: executor.now, glucose: GlucoseConcentration(milligramsPerDecilitre: mgdl))
    }

    func end() {
        let person = person
        executor.inspect { person.here { $0.dismiss() } }
        try? executor.end()
    }
}
