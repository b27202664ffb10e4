// A linked or fed session as it is handed on, and as it goes on under another engine.
//
// Guarantees: what is handed on is written down before anybody hears of it; numbers of events and inputs are counted on. The first instant
// under another engine is the last that was kept: what was due since then happens once, as after any death of the process. What this engine can't go on
// with is told as refused.

import DeviceLinks
import IsletAlerts
import IsletDevices
import IsletKernel
import IsletLoop
import IsletTrials

/// What a session knows of upgrades beside its opening.
struct UpgradeState {
    /// The journal's length when what another engine would go on from was last written.
    var keptLength = 0
    /// Inputs before an upgrade, by number: what was said, and what became of it.
    var earlier: [Int: (said: [UInt8], outcome: LiveOutcome?)] = [:]
    /// Up to where another engine had read its feed.
    var read: ReadReadings?
    /// The newest keys, the oldest first.
    var newestKeys: [String] = []
    /// What another engine dosed by, as far as this one can say; nil where it knows it.
    var unknownAlgorithm: String?
    /// Nothing is kept while this is true: nobody is told of what happens meanwhile.
    var isHeldBack = false
}

extension LiveSession {
    /// What another engine goes on from; nil for a session whose world is not outside, or that is over.
    /// - Parameter untold: events that have happened and are told after this.
    func carry(untold: Int = 0) -> LiveCarry? {
        guard let person, opening.hasWorldOutside, outcome == nil, let acts = door.personActs else {
            return nil
        }
        return session.executor.inspect {
            LiveCarry(
                at: now, pace: anchor.map { JournalLine($0).text }, events: eventCount + untold,
                inputs: inputCount, lateSteps: lateSteps,
                answered: answeredKeys, said: said, loop: person.loop.here { $0.carry },
                alerts: person.alerts.here { $0.carry }, links: person.links?.carry,
                fed: opening.isFed ? person.fedCarry : nil,
                algorithm: algorithm == opening.algorithm
                    ? nil : LiveFork.Change(algorithm: algorithm).json,
                door: door.carry, person: acts.carry)
        }
    }

    /// An input was said under a key.
    func note(_ key: String, of number: Int) {
        guard !key.isEmpty else { return }
        answers[key] = number
        upgrades.newestKeys.append(key)
        // Half at a time.
        if upgrades.newestKeys.count >= 2 * LiveCarry.mostKeys {
            upgrades.newestKeys.removeFirst(LiveCarry.mostKeys)
        }
    }

    /// Whether another engine had read a reading of this stamp, ns since the start.
    func wasRead(_ input: LiveInput) -> Bool {
        input.readingStamp.map { upgrades.read?.has($0) ?? false } ?? false
    }

    private var answeredKeys: [LiveCarry.Answered] {
        upgrades.newestKeys.suffix(LiveCarry.mostKeys).compactMap { key in
            guard let number = answers[key], let outcome = known(number) else { return nil }
            return LiveCarry.Answered(
                key: key, number: number, said: String(decoding: bytes(of: number), as: UTF8.self),
                outcome: outcome.text)
        }
    }

    /// Writes beside the journal what another engine would go on from, where the journal has grown; what can't be written stops the session, as with the
    /// journal.
    func keepState(untold: Int = 0) {
        guard phase == .running, !upgrades.isHeldBack, hasBegun || now > .start, let journal,
            journal.length != upgrades.keptLength,
            let carry = carry(untold: untold)
        else { return }
        do {
            try KeptState(
                engine: opening.engine, bytes: journal.length, check: journal.check, carry: carry
            ).write(beside: journal.path)
            upgrades.keptLength = journal.length
        } catch {
            fail("\(error)")
        }
    }

    /// Lives what has been up to now, of which nobody is told as it happens: it is kept once, at its end.
    package func liveUntold(_ body: () -> Void) {
        upgrades.isHeldBack = true
        body()
        upgrades.isHeldBack = false
        keepState()
    }

    /// Takes over what another engine handed on. Nothing has run yet.
    func adopt(_ carry: LiveCarry) {
        guard let person, let acts = door.personActs else { return }
        if let other = carry.algorithm { adopt(algorithm: other) }
        session.executor.inspect {
            person.loop.here(carry.loop) { $0.adopt($1) }
            person.alerts.here(carry.alerts) { $0.adopt($1) }
            if let links = carry.links { person.links?.adopt(links) }
            if let fed = carry.fed { person.adopt(fed, at: carry.at) }
        }
        door.adopt(carry.door, inputs: carry.inputs)
        acts.adopt(carry.person)
        upgrades.read = carry.person.readings
        count(events: carry.events, lateSteps: carry.lateSteps)
        inputCount = carry.inputs
        said = carry.said
        anchor = carry.pace.flatMap { JournalLine(Substring($0)) }?.anchor
        for one in carry.answered {
            note(one.key, of: one.number)
            upgrades.earlier[one.number] = (Array(one.said.utf8), JournalLine.outcome(Substring(one.outcome)))
        }
    }

    /// With an algorithm that this engine doesn't know, or not with these parameters, the session goes on by the study's own: one that was chosen for this
    /// person, with the same accounts of insulin, therapy, target and alerts. Not to go on would leave them without any, and another one in its place is
    /// nobody's choice. `goOnUpgraded` tells them.
    private func adopt(algorithm json: String) {
        do {
            exchange(try LiveFork.Change(json: json, file: "carried"), isRecorded: false)
        } catch {
            upgrades.unknownAlgorithm = printable(error.found, limit: 100)
        }
    }

    /// Why it doesn't dose by what another engine dosed by; nil where it does.
    private func unknownAlgorithm(of engine: Int) -> LiveRefusal? {
        guard let found = upgrades.unknownAlgorithm else { return nil }
        let isForecastLost =
            algorithm.algorithm.forecastMinutes == nil
            && door.policy.rules.flatMap(\.tests).contains { $0.metric == .forecastGlucose }
        return LiveRefusal(
            .unknownAlgorithm,
            "this engine doesn't know what engine \(engine) dosed by (\(found)): the study's own algorithm, \(algorithm.kind.id), doses from here on\(isForecastLost ? ", and alerts of its forecast have none" : "")"
        )
    }

    /// The first instant under this engine; nothing for a session that began with it.
    func goOnUpgraded() {
        guard let upgrade = opening.upgrade else { return }
        hasBegun = true
        if upgrade.carry.at > .start { jump(to: upgrade.carry.at) } else { move(to: .start) }
        tell(.upgrade(from: upgrade.from, to: opening.engine))
        if let refusal = unknownAlgorithm(of: upgrade.from) { tell(.refusal(refusal)) }
        report()
    }
}
