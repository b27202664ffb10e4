// Two apps on one pump, and one that was installed anew.

import IsletLoop
import DeviceLinks
import IsletDevices
import IsletKernel
import IsletModels
import Testing

/// Steps that ask for what the basal would give, and for a correction beside it; keeps what it was told of the hours before.
private struct Correcting: DosingAlgorithm {
    final class Heard: @unchecked Sendable {
        var earlier: [InsulinHistory] = []
    }

    let name = "correcting"
    let basalSource = BasalSource.algorithm
    let heard = Heard()

    func run(_ input: borrowing StepInput, state: inout NoState) -> StepOutput {
        if let earlier = input.earlier { heard.earlier.append(earlier) }
        return StepOutput(
            basal: InsulinAmount(units: 0.1), correction: InsulinAmount(units: input.cgm == nil ? 0 : 0.2),
            meal: InsulinAmount(units: (input.user.meal?.carbohydrate.grams ?? 0) / 10))
    }
}

@Suite("Whose a linked pump is", .timeLimit(.minutes(30))) struct LinkOwnershipTests {
    private func shared(isOwnable: Bool) throws -> (pump: PumpSimulator, apps: [LinkBench]) {
        let pump = try PumpSimulator(startUTC: LinkBench.start, basal: InsulinRate(unitsPerHour: 1.2))
        pump.isOwnable = isOwnable
        return (
            pump,
            [try LinkBench(simulator: pump, owner: "one"), try LinkBench(simulator: pump, owner: "two")]
        )
    }

    /// By turns, ten seconds each.
    private func live(_ apps: [LinkBench], untilMinute end: Int64) throws {
        while let now = apps.first?.executor.now, now < .minutes(end) {
            for app in apps { try app.live(to: now.adding(10 * Nanoseconds.second)) }
        }
    }

    private func isCommand(_ command: LinkCommand) -> Bool {
        command.act != .readStatus && command.act != .readAccount
    }

    /// Harm: two loops dose one person, by turns.
    @Test func `the second of two apps is refused by ownership`() throws {
        let (pump, apps) = try shared(isOwnable: true)
        try live(apps, untilMinute: 180)
        #expect(pump.owner == "one")
        let own = apps[0].sent.filter { if case .bolus = $0.act { true } else { false } }.count
        #expect(pump.boluses.count >= 20 && pump.boluses.count <= own)
        #expect(apps[0].inspect { !$0.status.isCommandedByOther && $0.status.isConnected })
        #expect(apps[1].inspect { $0.status.isCommandedByOther && !$0.isReady })
        // It only looks, and says why.
        #expect(apps[1].sent.drop { !isCommand($0) }.dropFirst(3).allSatisfy { !isCommand($0) })
        let notices = apps[1].executor.inspect { apps[1].pump.here { $0.takeNotices() } }
        #expect(notices.contains { $0.text.contains("belongs to another app, one") })
        // What the owner has counted is what the pump gave.
        #expect(abs(apps[0].counted - apps[0].bolusUnits) < 0.35)
    }

    /// Harm: at a pump that can't refuse, two loops dose by turns; or both stop, and leave the person without basal.
    @Test func `where a pump can't refuse at most one goes on, and the programme runs else`() throws {
        let (pump, apps) = try shared(isOwnable: false)
        func stopped() -> [Bool] { apps.map { $0.inspect { $0.status.isCommandedByOther } } }
        func boluses(_ app: LinkBench) -> Int {
            app.sent.count { if case .bolus = $0.act { true } else { false } }
        }
        try live(apps, untilMinute: 40)
        #expect(stopped().contains(true))
        let before = apps.map(boluses)
        try live(apps, untilMinute: 220)
        #expect(zip(apps, before).count { boluses($0) > $1 } <= 1)
        let flowed = apps[0].flow(60, 180) + apps[0].bolusUnits
        #expect(flowed > 2.3, "\(flowed) U in 2 h at 1.2 U/h")
        // A person takes it over, once: the other one's last word ends nothing.
        let end = pump.boluses.count
        let taker = try #require(stopped().lastIndex(of: true))
        try apps[taker].executor.inspect { try apps[taker].pump.here { try $0.takeOver() } }
        try live(apps, untilMinute: 330)
        #expect(stopped() == [taker != 0, taker == 0] && pump.boluses.count > end + 3)
    }

    @Test func `taking over is a person's act, and the one before stops`() throws {
        let (pump, apps) = try shared(isOwnable: true)
        try live(apps, untilMinute: 60)
        let before = apps[0].sent.count
        try apps[1].executor.inspect { try apps[1].pump.here { try $0.takeOver() } }
        try live(apps, untilMinute: 70)
        #expect(pump.owner == "two")
        #expect(apps[0].inspect { $0.status.isCommandedByOther })
        let given = pump.boluses.count
        let commands = apps[0].sent.dropFirst(before).count(where: isCommand)
        try live(apps, untilMinute: 150)
        #expect(pump.boluses.count > given + 5)
        #expect(apps[0].sent.dropFirst(before).count(where: isCommand) == commands)
        #expect(throws: PumpError.self) {
            try apps[1].executor.inspect { try apps[1].pump.here { try $0.takeOver() } }
        }
    }

    /// Harm: corrections on top of a lunch that the other app has given meanwhile.
    @Test func `who takes its pump back knows nothing of what was given before`() throws {
        let (pump, apps) = try shared(isOwnable: true)
        try live(apps, untilMinute: 60)
        #expect(apps[0].inspect { $0.status.insulinKnownSince } == nil)
        try apps[1].executor.inspect { try apps[1].pump.here { try $0.takeOver() } }
        try live(apps, untilMinute: 100)
        #expect(pump.owner == "two")
        try apps[0].executor.inspect { try apps[0].pump.here { try $0.takeOver() } }
        try live(apps, untilMinute: 110)
        #expect(pump.owner == "one")
        let since = try #require(apps[0].inspect { $0.status.insulinKnownSince })
        #expect((100...102).contains(since.minutes), "\(since.minutes)")
    }

    // MARK: Installed anew

    /// An app that has given 6 U for a meal and corrections for three hours is installed anew.
    private func reinstalled(_ alter: @escaping (inout PumpReport) -> Void) throws -> (LinkBench, Correcting)
    {
        let pump = try PumpSimulator(startUTC: LinkBench.start, basal: InsulinRate(unitsPerHour: 1.2))
        let first = try LinkBench(algorithm: Correcting(), simulator: pump, owner: "one")
        try first.live(untilMinute: 149)
        try first.announce(grams: 60)
        try first.live(untilMinute: 180)
        let algorithm = Correcting()
        let anew = try LinkBench(
            algorithm: algorithm, simulator: pump, worn: 180 * Nanoseconds.minute, owner: "one")
        anew.alter = alter
        return (anew, algorithm)
    }

    /// Harm: an app that was installed anew takes the person for one without insulin.
    @Test func `an app that was installed anew knows its pump and what it gave`() throws {
        let (anew, algorithm) = try reinstalled { _ in }
        try anew.live(untilMinute: 40)
        #expect(anew.inspect { !$0.status.isCommandedByOther && $0.status.insulinKnownSince == nil })
        let history = try #require(algorithm.heard.earlier.first)
        // Before its time the person is simulated: the programme alone, 1.2 U/h for eight hours less what the loop replaced.
        let boluses = history.given.filter { $0.until.nanoseconds - $0.since.nanoseconds < Nanoseconds.hour }
        let sum = boluses.reduce(0) { $0 + $1.amount.units }
        let (least, most): (Double, Double) = (6 + 20 * 0.3, 6 + 40 * 0.3)
        #expect(sum >= least && sum <= most, "\(sum) U")
        #expect(anew.bolusUnits > 0)
        let doses = anew.rows.compactMap(\.requested).map(\.units)
        #expect(doses.contains { $0 > 0.25 })
    }

    /// Harm: where nobody knows what was given before, corrections come on top of it.
    @Test func `where nobody knows the hours before nothing is corrected until they are stated`() throws {
        let (anew, algorithm) = try reinstalled { $0.account = nil }
        try anew.live(untilMinute: 60)
        func doses(_ from: Int64) -> [Double] {
            anew.rows.filter { $0.instant >= .minutes(from) }.compactMap(\.requested).map(\.units)
        }
        #expect(doses(0).count >= 5 && doses(0).allSatisfy { $0 <= 0.2 + 1e-9 }, "\(doses(0))")
        #expect(anew.executor.inspect { anew.loop.here { $0.display() } }.correctionsWithheldUntil != nil)
        // Meals are given all the same.
        try anew.announce(grams: 30)
        try anew.live(untilMinute: 70)
        #expect(doses(60).contains { $0 > 3 })
        try anew.executor.inspect {
            try anew.loop.here { try $0.state(boluses: units(7), lastGiven: .minutes(5)) }
        }
        try anew.live(untilMinute: 100)
        #expect(doses(75).contains { $0 > 0.25 })
        let stated = try #require(algorithm.heard.earlier.last)
        #expect(stated.given.contains { $0.manual.units == 7 })
    }
}
