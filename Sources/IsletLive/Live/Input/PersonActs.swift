// What inputs do in a session of a person: loop, pump, sensor, meals.
//
// Guarantees: called at an input's instant, on the session's thread; whole or refused whole.

import IsletAlerts
import IsletLoop
import IsletDevices
import DeviceLinks
import IsletKernel
import IsletModels
import IsletTrials

final class PersonActs: LiveActs {
    /// The session outlives it.
    private unowned let session: Session
    private let isFed: Bool
    /// Boluses that wait for their confirmation, by the number of their request.
    private var requested: [Int: (units: Double, at: Instant)] = [:]
    /// Stamps of the readings so far, ns since the start.
    private var stamps: Set<Int64> = []
    private var newestStamp = Int64.min
    private var isSignedIn = true
    private var given = GivenBoluses()

    private let body: SimulatedBody
    /// What apps said was given, by the instant at which it was heard: of the last day and an hour.
    private(set) var treatments: [PostedTreatment] = []

    init(_ session: Session, _ body: SimulatedBody, isFed: Bool, stage: String) {
        (self.session, self.body, self.isFed) = (session, body, isFed)
        recommendedTo = ("person", stage)
    }

    /// Kept from one step to the next: a look costs nothing.
    private var board: (step: Instant, units: Double)?

    /// Insulin on board of boluses, U, as it was at a step of the loop; nil without one.
    func onBoard(asOf step: Instant?) -> Double? {
        guard let step else { return nil }
        if let board, board.step == step { return board.units }
        var all = given
        all.note(session.recorder, at: step)
        let units = all.onBoard(at: step, session.loop.here { $0.settingsInForce.therapy })
        board = (step, units)
        return units
    }

    let recommendedTo: (kind: String, stage: String)

    /// What another engine goes on from.
    var carry: PersonCarry {
        var all = given
        all.note(session.recorder, at: session.executor.now)
        return PersonCarry(
            requested: requested.sorted { $0.key < $1.key }.map {
                .init(number: $0.key, units: $0.value.units, at: $0.value.at)
            }, isSignedIn: isSignedIn, given: all,
            readings: isFed ? ReadReadings(stamps, newest: newestStamp) : nil)
    }

    /// Goes on from another engine's.
    func adopt(_ carry: PersonCarry) {
        requested = [:]
        for one in carry.requested { requested[one.number] = (one.units, one.at) }
        (isSignedIn, given) = (carry.isSignedIn, carry.given)
        guard let read = carry.readings else { return }
        (stamps, newestStamp) = (Set(read.stamps), read.newest ?? .min)
    }

    func note(_ rows: SessionRecorder) { given.note(rows, at: session.executor.now) }

    /// As things are now.
    private func judgement(of units: Double) -> (onBoard: Double, foreseen: Double?, doubt: ValueText?) {
        let now = session.executor.now
        var all = given
        all.note(session.recorder, at: now)
        let (shown, therapy) = session.loop.here { ($0.display(), $0.settingsInForce.therapy) }
        let mgdl = shown.glucose.flatMap {
            now.nanoseconds - $0.instant.nanoseconds <= LoopTiming.freshness
                ? $0.glucose.milligramsPerDecilitre : nil
        }
        // What was confirmed a minute ago acts as well, though no step or no pump has had it yet.
        let toCome = (shown.owed ?? .zero) + (shown.underWay ?? .zero)
        let onBoard = all.onBoard(at: now, therapy) + toCome.units
        let needed = all.needed(at: now, therapy)
        return (
            onBoard,
            mgdl.map { $0 - (onBoard + units - needed) * therapy.correctionFactorMgdlPerUnit },
            GivenBoluses.doubt(of: units, onBoard: onBoard, needed: needed, mgdl: mgdl, therapy)
        )
    }

    var requestedBolus: RequestedBolus? {
        let now = session.executor.now
        return requested.first.flatMap { number, asked in
            let until = asked.at.adding(LiveInput.confirmsWithin)
            guard until >= now else { return nil }
            let judged = judgement(of: asked.units)
            return RequestedBolus(
                number: number, units: asked.units, until: until, onBoard: judged.onBoard,
                foreseenMgdl: judged.foreseen, doubt: judged.doubt)
        }
    }

    // MARK: What rows do

    func meal(_ grams: Double, isEaten: Bool, isAnnounced: Bool) throws {
        let amount = Carbohydrate(grams: grams)
        if isAnnounced {
            try session.needsApp()
            try needsSession()
            try session.loop.announce(
                MealAnnouncement(carbohydrate: amount, instant: session.executor.now))
            if !isEaten { session.recorder.did(.announcement, grams, at: session.executor.now) }
        }
        if isEaten {
            try isOfTheStudy()
            try session.eat(amount)
        }
    }

    func requestBolus(_ units: Double, number: Int) throws {
        try session.needsApp()
        try needsSession()
        // What the confirmation would refuse isn't offered.
        try session.loop.here(InsulinAmount(units: units)) { try $0.check(manualBolus: $1) }
        // Whoever asks anew has thought better of what was asked before.
        requested = [number: (units, session.executor.now)]
    }

    func bloodGlucose(_ mgdl: Double) throws {
        let glucose = GlucoseConcentration(milligramsPerDecilitre: mgdl)
        try loop(glucose) { try $0.enter(bloodGlucose: $1) }
        session.alerts.here(glucose) { $0.hear(typed: $1) }
    }

    func calibration(_ mgdl: Double) throws {
        let glucose = GlucoseConcentration(milligramsPerDecilitre: mgdl)
        try loop(glucose) { try $0.enter(calibration: $1) }
        session.alerts.here(glucose) { $0.hear(typed: $1) }
    }

    func cancelOwed() throws { try loop(()) { loop, _ in loop.cancelOwed() } }

    func target(_ mgdl: Double) throws {
        try loop(GlucoseConcentration(milligramsPerDecilitre: mgdl)) { try $0.setTarget($1) }
    }

    func temporaryBasal(_ multiplier: Double, minutes: Int) throws {
        try loop((multiplier, minutes / 5)) { try $0.setTemporaryBasal(multiplier: $1.0, steps: $1.1) }
    }

    func cancelTemporaryBasal() throws { try loop(()) { loop, _ in loop.cancelTemporaryBasal() } }

    func openLoop(_ isOpen: Bool) throws { try loop(isOpen) { $0.setOpenLoop($1) } }

    func startSession() throws {
        try loop(()) { loop, _ in try loop.startSession() }
        tellWhetherThereIsASession()
    }

    func endSession() throws {
        try loop(()) { loop, _ in loop.endSession() }
        tellWhetherThereIsASession()
    }

    func stateInsulin(_ units: Double, minutesAgo: Int) throws {
        try session.needsApp()
        // What a simulated body was given is known.
        guard session.links != nil else { throw LiveRefusal(.otherDevices, "what was given here is known") }
        let given = session.executor.now.adding(-Self.nanoseconds(minutesAgo))
        try loop((InsulinAmount(units: units), given)) { try $0.state(boluses: $1.0, lastGiven: $1.1) }
    }

    func subject(_ id: String, kilograms: Double) throws {
        try loop(LoopSubject(id: id, bodyWeightKilograms: kilograms)) { $0.setSubject($1) }
    }

    /// What concerns the loop alone.
    private func loop<Argument>(
        _ argument: Argument, _ body: @escaping (isolated LoopController, Argument) throws -> Void
    ) throws {
        try session.needsApp()
        try session.loop.here(argument, body)
    }

    /// What was given enters now, whenever it was given: what has been lived and shown stays. Said again it is taken, and nothing more enters.
    func treatment(_ said: PostedTreatment) throws {
        let now = session.executor.now
        var said = said
        if let known = treatments.first(where: { $0.id == said.id }) {
            guard known.saysTheSame(as: said) else {
                throw LiveRefusal(
                    .saysOther,
                    "treatment \(printable(said.id, limit: 100)) was heard, and said something else")
            }
            return
        }
        if let problem = said.problem(at: now) { throw problem }
        treatments.removeAll { $0.heardAt < now.adding(-PostedTreatment.remembered) }
        guard treatments.count < PostedTreatment.most else {
            throw LiveRefusal(
                .loopLimit, "treatments: found \(PostedTreatment.most) in a day, expected fewer")
        }
        try isOfTheStudy()
        guard let body = body.receiver else { throw LiveRefusal(.otherDevices, "there is no simulated body") }
        if let units = said.units {
            try session.needsApp()
            let amount = InsulinAmount(units: units)
            try session.loop.here(amount) { try $0.hear(givenByHand: $1) }
            try body.receive(amount, over: 0)
            given.note(byHand: units, at: now)
            session.gave(byHand: amount)
            session.recorder.did(.manualBolus, units, at: now)
        }
        if let grams = said.grams { try session.eat(Carbohydrate(grams: grams)) }
        said.heardAt = now
        treatments.append(said)
        session.executor.journal.record(
            .liveTreatment, at: now, (said.units ?? 0).bitPattern, (said.grams ?? 0).bitPattern)
    }

    func sign(in isIn: Bool) throws {
        try session.needsApp()
        isSignedIn = isIn
        tellWhetherThereIsASession()
    }

    func subjectClaim(_ isOk: Bool) { session.alerts.here(isOk) { $0.claimed(isOk: $1) } }

    func dismissDropped() throws {
        try session.needsApp()
        guard session.loop.here({ $0.lastDropped }) != nil else {
            throw LiveRefusal(.nothingDropped, "nothing was dropped")
        }
        session.loop.here { $0.dismissDropped() }
    }

    func suspend(minutes: Int?) throws {
        try session.controls.suspend(nanoseconds: minutes.map(Self.nanoseconds))
    }

    func resume() throws { try session.controls.resume() }

    func takePump() throws {
        try session.needsApp()
        guard let links = session.links else {
            throw LiveRefusal(.otherDevices, "no pump is outside of this session")
        }
        guard links.pump.status.isCommandedByOther else {
            throw LiveRefusal(.notCommandedByOther, "nobody else commands the pump")
        }
        try links.pump.here { try $0.takeOver() }
    }

    func cancelBolus() throws {
        // Whether or not the pump can be told: what has not arrived isn't sent again.
        if session.isAppAlive { session.loop.here { $0.cancelRequest() } }
        _ = try session.controls.cancelBolus()
    }

    func changePod() throws {
        try isOfTheStudy()
        session.pump.here { $0.changePodNow() }
        session.recorder.did(.podChange, 0, at: session.executor.now)
    }

    func changeSensor() throws {
        try isOfTheStudy()
        try session.sensor.here { try $0.changeNow() }
        session.recorder.did(.sensorChange, 0, at: session.executor.now)
    }

    func device(_ input: LinkInput) throws {
        guard let links = session.links else {
            throw LiveRefusal(.otherDevices, "no device is outside of this session")
        }
        if let reason = links.hear(input) {
            throw LiveRefusal(.notBelieved, "not believed: \(reason.text)")
        }
    }

    let kind = SubjectKind.person

    func visit() throws { throw LiveRefusal(.notOfSubject, "nobody looks after a person") }

    func confirmBolus(_ request: Int, _ units: Double, anyway: Bool) throws {
        try session.needsApp()
        try needsSession()
        let now = session.executor.now
        guard let asked = requested[request] else {
            throw LiveRefusal(
                .notWaiting, "request \(request) is not waiting: it was confirmed, replaced, or never made")
        }
        guard now.nanoseconds - asked.at.nanoseconds <= LiveInput.confirmsWithin else {
            requested = [:]
            throw LiveRefusal(.tooLate, "request \(request) is more than 5 min old: ask again")
        }
        guard asked.units == units else {
            throw LiveRefusal(
                .otherAmount,
                "request \(request) was of \(asked.units, unit: "U"), not of \(units, unit: "U")")
        }
        // It waits on: whoever has read the reason may still want it.
        if !anyway, let doubt = judgement(of: units).doubt {
            throw LiveRefusal(.asksAgain, "\(doubt); nothing was given: confirm it anyway, or leave it")
        }
        requested = [:]
        try session.loop.request(manualBolus: InsulinAmount(units: units))
        session.recorder.did(.manualBolus, units, at: now)
    }

    /// A reading is news while it is the newest and at most as old as a step may use; what comes later is history.
    func feed(_ stamp: Int64, _ mgdl: Double) throws {
        guard isFed else { throw LiveRefusal(.otherDevices, "the sensor is simulated") }
        let now = session.executor.now.nanoseconds
        guard stamp >= 0 else { throw LiveRefusal(.badStamp, "a reading from before the session's start") }
        guard stamp <= now + LiveInput.futureStamp else {
            throw LiveRefusal(
                .badStamp, "a reading from \((stamp - now) / Nanoseconds.minute) min in the future")
        }
        let instant = min(stamp, now)
        guard stamps.insert(instant).inserted else {
            throw LiveRefusal(.badStamp, "a second reading of that time")
        }
        let isNews = instant > newestStamp && now - instant <= LoopTiming.freshness
        newestStamp = max(newestStamp, instant)
        session.feed(
            GlucoseReading(
                instant: Instant(nanoseconds: instant),
                glucose: GlucoseConcentration(milligramsPerDecilitre: mgdl), isBackfilled: !isNews))
    }

    /// What a person outside does with body, pod and sensor, nobody here does.
    private func isOfTheStudy() throws {
        guard session.links == nil else {
            throw LiveRefusal(.otherDevices, "body, pump and sensor are outside of this session")
        }
    }

    /// Nobody has to be signed in for a session that has ended, and no step is missed.
    private func tellWhetherThereIsASession() {
        let hasSession = session.loop.here { $0.display().status } != .noSession
        session.alerts.here((isSignedIn, hasSession)) { $0.signedIn($1.0, hasSession: $1.1) }
    }

    /// What waits for a step waits for nothing where none comes.
    private func needsSession() throws {
        guard session.loop.here({ $0.display().status }) != .noSession else {
            throw LiveRefusal(
                .noSession, "no session runs, and nobody would give it: start one, or use the pump")
        }
    }

    private static func nanoseconds(_ minutes: Int) -> Int64 { Int64(minutes) * Nanoseconds.minute }

    static func refusal(_ error: PumpError) -> LiveRefusal {
        switch error {
        case .notConnected: LiveRefusal(.pumpUnreachable, "the pump can't be reached")
        case .notReady(let condition):
            LiveRefusal(.pumpNotReady, ValueText(String("the pump is not ready: \(condition)")))
        case .commandFailed: LiveRefusal(.pumpUnreachable, "the command didn't reach the pump")
        case .outOfRange(let amount, let limit):
            LiveRefusal(
                .pumpLimit, "\(amount.units, unit: "U"): the pump takes up to \(limit.units, unit: "U")")
        case .uncertain:
            LiveRefusal(.pumpUncertain, "sent and not answered: it may have been carried out")
        case .underWay:
            LiveRefusal(.pumpUncertain, "on its way to the pump, and not confirmed yet")
        }
    }
}
