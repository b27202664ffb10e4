// Somebody outside drives a session step by step: it waits for them, whatever the clocks say.
//
// Guarantees: one driver at a time, by a token that only they have; the journal has its hash, and each dose, on disk before it counts: after a kill the session stands where it stood, and
// the same driver goes on. What is out of order is refused and changes nothing. Told the same doses it is, to the digest, the session of a study that has them recorded.
// Does not: judge whether a dose is wise. The loop does, as any algorithm's.

import IsletDevices
package import IsletFiles
package import IsletKernel
package import IsletTrials

/// Who drives.
package struct LiveDriver: Hashable, Sendable, Codable {
    /// What people call them.
    package var name: String
    /// SHA-256 of their token.
    package var hash: String

    package init(name: String, hash: String) { (self.name, self.hash) = (name, hash) }

    package init(name: String, token: String) {
        self.init(name: name, hash: SHA256.digest(of: Array(token.utf8)).description)
    }

    func has(_ token: String) -> Bool { LiveDriver(name: name, token: token) == self }
}

/// What a session knows of who drives it. Belongs to the session's thread.
struct Wheel {
    var driver: LiveDriver?
    /// What the step that it waits at is answered with; for a moment only.
    var dose: RecordedSteps.Step?
    var answers = RecordedAnswers()
}

/// The same, as it is shown.
package struct WheelView: Hashable, Sendable, Codable {
    /// nil for nobody.
    package var driver: String?
    /// The number of the step that waits for its dose; nil where none does.
    package var step: Int64?

    init(_ live: LiveSession) {
        driver = live.wheel.driver?.name
        step = live.isHeld ? live.heldQuestion?.input.algorithmTime : nil
    }
}

/// What a driver wants.
package enum DriverWish: Sendable {
    /// To drive. Who takes over does so from whoever drives; else nobody may.
    case sit(LiveDriver, takesOver: Bool)
    case leave(token: String)
    /// On to the next step, or by so long at most, ns.
    case advance(token: String, by: Int64?)
    case act(token: String, step: Int64, RecordedSteps.Step)
    /// Nothing: where it stands.
    case look
}

/// Where a session stands for its driver.
package struct DriverStand: Sendable {
    package var now: Instant
    package var phase: LiveSession.Phase
    package var driver: String?
    /// The step that waits, as `islet-step/1` has it; nil where none does.
    package var step: JSONValue?
    package var digest: Digest128
}

extension LiveSession {
    /// What one `advance` of a driver goes through at most where no step comes.
    package static let longestDrive = Nanoseconds.day

    /// - Throws: `LiveRefusal`, and nothing has changed.
    package func drive(_ wish: DriverWish) throws(LiveRefusal) -> DriverStand {
        guard isDriven else {
            throw LiveRefusal(
                .notDriven, "the session goes by its own clock: only one of pace `step` is driven")
        }
        if case .look = wish { return stand }
        guard phase == .running else { throw Self.refusal(phase) }
        switch wish {
        case .look: break
        case .sit(let driver, let takesOver):
            if let other = wheel.driver, other != driver, !takesOver {
                throw LiveRefusal(.otherDriver, "\(other.name) drives this session")
            }
            try change(to: driver)
        case .leave(let token):
            try check(token)
            try change(to: nil)
        case .advance(let token, let span):
            try check(token)
            if let step = heldQuestion?.input.algorithmTime {
                throw LiveRefusal(.held, "step \(step) waits for its dose: time goes on when it has one")
            }
            advance(to: now.adding(min(span ?? Self.longestDrive, Self.longestDrive)))
        case .act(let token, let step, let dose):
            try check(token)
            try act(step, dose)
        }
        if case .failed = phase { throw Self.refusal(phase) }
        return stand
    }

    private var stand: DriverStand {
        DriverStand(
            now: now, phase: phase, driver: wheel.driver?.name,
            step: isHeld ? heldQuestion.map { StepDoor.row($0) } : nil, digest: digest)
    }

    private func check(_ token: String) throws(LiveRefusal) {
        guard let driver = wheel.driver else {
            throw LiveRefusal(.noDriver, "nobody drives this session: ask for a token first")
        }
        guard driver.has(token) else {
            throw LiveRefusal(.otherDriver, "\(driver.name) drives this session, by another token")
        }
    }

    private func change(to driver: LiveDriver?) throws(LiveRefusal) {
        guard driver != wheel.driver else { return }
        keep(.driver(now, driver), isSynced: true)
        guard phase == .running else { throw Self.refusal(phase) }
        sit(driver)
        look()
    }

    /// Somebody drives from here on.
    func sit(_ driver: LiveDriver?) {
        wheel.driver = driver
        tell(.driver(driver?.name))
    }

    /// Gives the step that waits its dose: on disk first.
    private func act(_ step: Int64, _ dose: RecordedSteps.Step) throws(LiveRefusal) {
        guard let question = heldQuestion else {
            throw LiveRefusal(.notHeld, "no step waits for a dose: advance comes first")
        }
        let number = question.input.algorithmTime
        guard number == step else {
            throw LiveRefusal(
                .otherStep, "step \(number) waits for its dose, and this is one of step \(step)")
        }
        keep(.act(now, step: step, dose.text), isSynced: true)
        guard phase == .running else { throw Self.refusal(phase) }
        give(dose)
        report()
    }

    private func give(_ dose: RecordedSteps.Step) {
        wheel.dose = dose
        move(to: now)
        wheel.dose = nil
    }

    /// Lives what a journal has of drivers: who, and the dose of a step.
    /// - Throws: `Divergence` where the step doesn't wait for it.
    func replay(_ line: JournalLine, _ number: Int) throws {
        if case .driver(_, let driver) = line { return sit(driver) }
        guard case .act(_, let step, let dose) = line else { return }
        let here = isHeld && isDriven ? heldQuestion?.input.algorithmTime : nil
        guard here == step, let dose = RecordedSteps.Step(dose) else {
            throw Divergence(
                line: number, journal: "the dose \(printable(dose, limit: 60)) of step \(step)",
                here: here.map { "step \($0) that waits" } ?? "no step that waits")
        }
        give(dose)
    }

    /// Gives a step the dose that another life's had, and writes it down.
    /// - Returns: why not; nil where it did.
    func actAgain(_ step: Int64, _ dose: String) -> String? {
        guard phase == .running else { return "the fork is over" }
        guard let dose = RecordedSteps.Step(dose) else { return "it is no dose" }
        do { try act(step, dose) } catch { return error.reason.text }
        return nil
    }

    /// The study that it is a session of, with what its driver answered so far.
    package var drivenStudy: Study {
        var study = opening.study
        let place = opening.session % study.arms.count
        guard isDriven, var recorded = study.arms[place].recorded else { return study }
        recorded.texts = wheel.answers.texts(subject: opening.subjectIndex)
        study.arms[place].chosenAlgorithm = .recorded(recorded)
        return study
    }
}
