// What any driver of a pump must keep, as checks that any test framework can run.
//
// Guarantees: each finding names the rule that was broken and what was seen; a driver that keeps the contract has none.
// Does not: know a driver. Its author says how to make one, how to break its link, and what its pump gave.

public import DeviceLinks

/// A driver to be tested, with the pump behind it. The pump is a simulator or a bench, never on a body.
public protocol PumpDriverSubject: Sendable {
    /// A driver of a pump that has had no command.
    func makeDriver() async throws -> any PumpDriver
    /// What becomes of the next command and of no other.
    func breakNext(_ fault: PumpDriverContract.LinkFault) async
    /// What the pump has given by request, by the bolus's id; an id that was given twice is there twice.
    func boluses() async -> [(id: Int64, units: Double)]
}

public enum PumpDriverContract {
    public enum LinkFault: String, Sendable, CaseIterable {
        /// The pump carries it out, and nothing comes back.
        case answerLost
        /// It never reaches the pump, and nothing comes back.
        case commandLost
        /// The link breaks before the pump has it, and after.
        case brokenBefore
        case brokenAfter
    }

    /// How long a driver may take, s. Its own limits are the contract's; more is for a machine that does much beside.
    public struct Patience: Sendable {
        /// To give up by itself.
        public var givesUp: Double
        /// To let go when it is cancelled: less than `givesUp`, or a driver that never lets go passes.
        public var letsGo: Double

        public init(givesUp: Double = 30, letsGo: Double = 2) {
            (self.givesUp, self.letsGo) = (givesUp, letsGo)
        }
    }

    /// All that is wrong with a driver; empty for one that keeps the contract.
    public static func findings(
        _ subject: some PumpDriverSubject, patience: Patience = Patience()
    ) async -> [String] {
        var findings: [String] = []
        findings += await answers(subject)
        for fault in LinkFault.allCases { findings += await fails(subject, fault, patience) }
        findings += await letsGo(subject, patience)
        return findings
    }

    // MARK: Answers

    private static func answers(_ subject: some PumpDriverSubject) async -> [String] {
        var found: [String] = []
        func expect(_ isSo: Bool, _ rule: String, _ seen: Any) {
            if !isSo { found.append("\(rule): \(seen)") }
        }
        do {
            let driver = try await subject.makeDriver()
            let first = try await driver.perform(LinkCommand(number: 10, act: .readStatus))
            expect(first.number == 10, "a report bears its command's number", first.number)
            expect(
                first.highestNumber >= 10, "a report tells the highest number answered", first.highestNumber)
            expect(!first.device.isEmpty, "a report names its pump", "no name")
            let bolus = LinkCommand.Act.bolus(id: 3, units: 0.5)
            let given = try await driver.perform(LinkCommand(number: 11, act: bolus))
            expect(given.bolus?.id == 3 && given.refusal == nil, "a bolus is answered with itself", given)
            expect(
                given.bolus.map { abs($0.units - 0.5) < 1e-6 } ?? false,
                "a bolus is answered with what was taken", given)
            let again = try await driver.perform(LinkCommand(number: 12, act: bolus))
            expect(again.bolus?.id == 3, "the same id is answered with the same bolus", again)
            var seen = await subject.boluses()
            expect(seen.count { $0.id == 3 } == 1, "the same id is given once", seen)
            let older = try await driver.perform(
                LinkCommand(number: 5, act: .bolus(id: 4, units: 0.5)))
            expect(older.refusal != nil, "a command below one that was answered is refused", older)
            seen = await subject.boluses()
            expect(!seen.contains { $0.id == 4 }, "a command below one that was answered gives nothing", seen)
            let basal = try await driver.perform(
                LinkCommand(number: 13, act: .temporaryBasal(unitsPerHour: 0, seconds: 1800)))
            expect(
                basal.temporaryUnitsPerHour == 0 && (1700...1800).contains(basal.temporarySecondsLeft),
                "a temporary basal is confirmed with its end", basal)
            let large = try await driver.perform(
                LinkCommand(number: 14, act: .bolus(id: 5, units: 1e6)))
            expect(large.refusal != nil, "what no pump can give is refused", large)
        } catch {
            found.append("answers without faults: threw \(error)")
        }
        return found
    }

    // MARK: Faults

    private static func fails(
        _ subject: some PumpDriverSubject, _ fault: LinkFault, _ patience: Patience
    ) async -> [String] {
        var found: [String] = []
        do {
            let driver = try await subject.makeDriver()
            _ = try await driver.perform(LinkCommand(number: 1, act: .readStatus))
            await subject.breakNext(fault)
            let clock = ContinuousClock()
            let began = clock.now
            var isSurelyUnsent = false
            do {
                let report = try await driver.perform(
                    LinkCommand(number: 2, act: .bolus(id: 1, units: 0.5)))
                if report.bolus?.id != 1 { found.append("\(fault): answered with something else: \(report)") }
            } catch PumpDriverError.notSent {
                isSurelyUnsent = true
            } catch {}
            if began.duration(to: clock.now) > .seconds(patience.givesUp) {
                found.append("\(fault): gave up after \(began.duration(to: clock.now))")
            }
            // The link may take a while to come back.
            var status = try? await driver.perform(LinkCommand(number: 3, act: .readStatus))
            for _ in 0..<600 where status == nil {
                try await Task.sleep(for: .milliseconds(100))
                status = try? await driver.perform(LinkCommand(number: 3, act: .readStatus))
            }
            guard let status else { return found + ["\(fault): the link doesn't come back"] }
            let given = await subject.boluses().contains { $0.id == 1 }
            if isSurelyUnsent, given { found.append("\(fault): `notSent`, and the pump has it") }
            if given != (status.bolus?.id == 1) {
                found.append("\(fault): a status read says \(status.bolus?.id ?? -1), given is \(given)")
            }
            // What a status read has denied never comes.
            try await Task.sleep(for: .milliseconds(300))
            let later = await subject.boluses()
            if later.contains(where: { $0.id == 1 }) != given {
                found.append("\(fault): given after it was denied")
            }
            if later.count(where: { $0.id == 1 }) > 1 { found.append("\(fault): given twice") }
        } catch {
            found.append("\(fault): threw \(error)")
        }
        return found
    }

    private static func letsGo(_ subject: some PumpDriverSubject, _ patience: Patience) async -> [String] {
        do {
            let driver = try await subject.makeDriver()
            _ = try await driver.perform(LinkCommand(number: 1, act: .readStatus))
            await subject.breakNext(.commandLost)
            let clock = ContinuousClock()
            // A child task runs where its caller does.
            let took = try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await driver.perform(LinkCommand(number: 2, act: .readStatus)) }
                try await Task.sleep(for: .milliseconds(200))
                let began = clock.now
                group.cancelAll()
                try await group.waitForAll()
                return began.duration(to: clock.now)
            }
            return took > .seconds(patience.letsGo) ? ["cancelled, it let go after \(took)"] : []
        } catch {
            return ["cancelled: threw \(error)"]
        }
    }
}
