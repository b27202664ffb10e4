// A loop with a linked pump and a linked sensor, a simulated pump behind them, and everything that can go wrong between.

@testable import IsletLoop
import DeviceLinks
import IsletDevices
import Foundation
import IsletKernel
import IsletModels

func units(_ value: Double) -> InsulinAmount { InsulinAmount(units: value) }

/// What a command meets on its way.
enum Fault: String, CaseIterable, Sendable {
    /// Carried out, and nothing comes back.
    case silent
    /// It never arrives, and nothing comes back.
    case lost
    /// The answer comes 45 s late: after its timeout.
    case late
    /// The answer comes ten minutes late.
    case veryLate
    /// The driver has no answer, though the pump carried it out.
    case failsSent
    /// The driver says that it never left.
    case failsUnsent
    /// The driver says that it never left, and it did.
    case saysUnsent
    /// The answer comes a hundred times.
    case floods
    /// The pump says that it took five times as much.
    case reportsMore
    /// It answers under another number.
    case otherNumber
    /// It speaks of a bolus that nobody asked for.
    case otherBolus
    case negative
    case notANumber
    /// What it says is of yesterday, or of tomorrow.
    case past
    case future
    /// It says that it gave basal for a month.
    case muchBasal
    /// Another pump answers.
    case otherPump
    /// The process dies with the command in flight, before or after the pump has it.
    case diesBefore
    case diesAfter
    /// Nobody lives through the next two hours.
    case sleeps
}

/// Steps that ask for what the basal would give, and for a meal at once.
struct SteadyAlgorithm: DosingAlgorithm {
    let name = "steady"
    let basalSource = BasalSource.algorithm

    func run(_ input: borrowing StepInput, state: inout NoState) -> StepOutput {
        StepOutput(
            basal: InsulinAmount(units: 0.1),
            meal: InsulinAmount(units: (input.user.meal?.carbohydrate.grams ?? 0) / 10))
    }
}

final class AlertSpy: PumpAlertObserver, @unchecked Sendable {
    var told: [Double] = []
    /// All that was ever issued, and what still is.
    var issued: [PumpIssue] = []
    var open: [PumpIssue] = []
    func pumpDidIssue(_ issue: PumpIssue, text: String) {
        issued.append(issue)
        open.append(issue)
    }
    func pumpDidRetract(_ issue: PumpIssue) { open.removeAll { $0 == issue } }
    func pumpDidLoseTrack(of amount: InsulinAmount) { told.append(amount.units) }
}

final class StatusSpy: DeviceObserver, @unchecked Sendable {
    var statuses: [PumpStatus] = []
    var readings: [GlucoseReading] = []
    var backfilled: [GlucoseReading] = []
    func sensorDidUpdate(reading: GlucoseReading?, state: SensorState) {
        if let reading { readings.append(reading) }
    }
    func sensorDidBackfill(_ readings: [GlucoseReading]) { backfilled += readings }
    func pumpDidUpdate(status: PumpStatus) { statuses.append(status) }
}

final class LinkBench {
    let executor = SessionExecutor()
    let pump: LinkedPump
    let sensor: LinkedSensor
    let loop: LoopController
    private let log = StepLog()
    /// Each step, what it asked for, and what came of it.
    var rows: [StepRecord] { log.entries.map(\.record) }
    let alerts = AlertSpy()
    let devices = StatusSpy()
    let recorder = SessionRecorder(level: .full)
    /// The pump that is worn.
    private(set) var simulator: PumpSimulator
    /// By how much its clock is ahead, ns.
    var clockAhead: Int64 = 0
    /// How long it had been worn when the session began, ns.
    private let worn: Int64
    /// What pumps before it gave, less what it had given when it came.
    private var givenBefore = (bolus: 0.0, basal: 0.0)
    /// What each command meets; nil for an answer after two seconds.
    var fault: (LinkCommand, Instant) -> Fault? = { _, _ in nil }
    /// All that went out, in order.
    private(set) var sent: [LinkCommand] = []
    private(set) var outcomes: [UInt64] = []
    /// Reports that were no answers, by reason; answers that nobody waits for left out.
    private(set) var refusals: [UInt64] = []
    /// What becomes of each report on its way.
    var alter: (inout PumpReport) -> Void = { _ in }
    private(set) var steps: [Instant] = []
    /// Insulin that had left the pump, every five minutes.
    private(set) var given: [Double] = []
    private var pending: [(at: Instant, act: (LinkBench) throws -> Void)] = []
    private var nextReading = Instant.start.adding(7 * Nanoseconds.second)
    private var sleepUntil: Instant?
    /// Commands that went out while another one waited for its answer.
    private(set) var overlaps = 0
    private var waitingFor: (number: Int64, since: Instant)?
    private static let delay = 2 * Nanoseconds.second
    static let start: Int64 = 1_700_000_000 * Nanoseconds.second

    init(
        algorithm: any DosingAlgorithm = SteadyAlgorithm(), hasReadings: Bool = true,
        simulator given: PumpSimulator? = nil, worn: Int64 = 0, owner: String? = nil
    ) throws {
        self.worn = worn
        simulator = try given ?? PumpSimulator(startUTC: Self.start, basal: InsulinRate(unitsPerHour: 1.2))
        pump = LinkedPump(
            executor: executor, recorder: recorder, limits: simulator.pump.limits, pulse: units(0.05),
            owner: owner)
        sensor = LinkedSensor(executor: executor, recorder: recorder)
        let therapy = TherapySettings(
            bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: 1.2),
            carbohydrateRatioGramsPerUnit: 10, correctionFactorMgdlPerUnit: 40,
            totalDailyInsulin: InsulinAmount(units: 45))
        loop = LoopController(
            executor: executor, algorithm: algorithm,
            settings: LoopSettings(
                therapy: therapy, target: GlucoseConcentration(milligramsPerDecilitre: 120)),
            sensor: sensor, pump: pump, recorder: recorder, log: log)
        if !hasReadings { nextReading = .distantFuture }
        executor.journal.observer = { [weak self] event in
            if event.kind == .linkOutcome { self?.outcomes.append(event.words[1]) }
            if event.kind == .linkRefused, event.words[1] != LinkRefusal.notAsked.rawValue {
                self?.refusals.append(event.words[1])
            }
            if event.kind == .step { self?.steps.append(event.instant) }
        }
        executor.start("bench") { [pump, sensor, loop, alerts, devices] in
            await sensor.begin(observers: [devices, loop])
            await pump.begin(observers: [devices, loop], alertObservers: [alerts])
            try await loop.begin()
        }
    }

    deinit { try? executor.end() }

    // MARK: Time

    func live(untilMinute end: Int64) throws { try live(to: .minutes(end)) }

    func live(to end: Instant) throws {
        var next: Instant? = executor.now
        while executor.now < end || next.map({ $0 <= end }) ?? false {
            next = try executor.advance(to: executor.now)
            try post()
            pending.sort { $0.at < $1.at }
            let soonest = min(end, next ?? end, pending.first?.at ?? end, nextReading)
            if let sleepUntil {
                self.sleepUntil = nil
                while nextReading < sleepUntil { try read(arrivesAt: nil) }
                try executor.leap(to: min(sleepUntil, end))
            } else {
                next = try executor.advance(to: max(soonest, executor.now))
            }
            weigh()
            try post()
            while let first = pending.first, first.at <= executor.now {
                pending.removeFirst()
                try first.act(self)
                try post()
            }
            if nextReading <= executor.now { try read(arrivesAt: executor.now) }
            if executor.now >= end { break }
        }
    }

    /// Before anything is said to the pump that comes after a sleep.
    private func weigh() {
        while given.count <= Int(executor.now.minutes / 5) {
            let at = Instant.minutes(Int64(given.count) * 5).adding(worn)
            _ = try? simulator.executor.advance(to: max(at, simulator.executor.now))
            given.append(bolusUnits + basalUnits)
        }
    }

    /// All that was given by request, and by the pump itself.
    var bolusUnits: Double { givenBefore.bolus + simulator.bolusUnits }
    var basalUnits: Double { givenBefore.basal + simulator.basalUnits }

    /// Another pump is worn from now on.
    func wear(_ other: PumpSimulator) throws {
        _ = try simulator.executor.advance(to: executor.now)
        let before = (bolusUnits, basalUnits)
        simulator = other
        _ = try other.executor.advance(to: executor.now)
        givenBefore = (before.0 - other.bolusUnits, before.1 - other.basalUnits)
    }

    private func read(arrivesAt now: Instant?) throws {
        let taken = nextReading
        nextReading = nextReading.adding(5 * Nanoseconds.minute)
        let deliver: (LinkBench) throws -> Void = { bench in
            bench.executor.inspect {
                bench.sensor.here(taken) {
                    $0.hear(
                        GlucoseConcentration(milligramsPerDecilitre: 140), at: $1, isReliable: true)
                }
            }
        }
        // Slept through: it waits in the socket, and comes in a burst afterwards.
        if now != nil {
            try deliver(self)
        } else {
            pending.append((nextReading.adding(10 * Nanoseconds.hour), deliver))
        }
    }

    func inspect<R>(_ body: (LinkedPump) -> R) -> R { executor.inspect { body(pump) } }

    func announce(grams: Double) throws {
        try executor.inspect {
            try loop.announce(
                MealAnnouncement(carbohydrate: Carbohydrate(grams: grams), instant: executor.now))
        }
    }

    // MARK: The way to the pump

    private func post() throws {
        let commands = executor.inspect { pump.here { $0.takeOutbox() } }
        for command in commands { try send(command) }
    }

    private func later(_ nanoseconds: Int64, _ act: @escaping (LinkBench) throws -> Void) {
        pending.append((executor.now.adding(nanoseconds), act))
    }

    private func send(_ command: LinkCommand) throws {
        sent.append(command)
        if let waitingFor, executor.now < waitingFor.since.adding(30 * Nanoseconds.second) { overlaps += 1 }
        waitingFor = (command.number, executor.now)
        let fault = fault(command, executor.now)
        // A pump that is out of reach, or that leaves a bolus unanswered, says nothing.
        func perform() -> PumpReport? { try? simulator.perform(command, at: executor.now.adding(worn)) }
        func answer(_ report: PumpReport?, after delay: Int64 = LinkBench.delay, times: Int = 1) {
            guard var report else { return }
            alter(&report)
            let utc = report.utcNanoseconds + clockAhead
            for _ in 0..<times {
                later(delay) { $0.hear(report, utc: utc) }
            }
        }
        func fail(wasSent: Bool) {
            later(Self.delay) { bench in
                bench.answered(command.number)
                bench.executor.inspect {
                    bench.pump.here((command.number, wasSent)) { $0.fail(number: $1.0, wasSent: $1.1) }
                }
            }
        }
        func relaunch() {
            later(20 * Nanoseconds.second) { bench in
                bench.waitingFor = nil
                bench.executor.inspect { bench.pump.here { $0.relaunched() } }
            }
        }
        switch fault {
        case nil: answer(perform())
        case .silent: _ = perform()
        case .lost: break
        case .late: answer(perform(), after: 45 * Nanoseconds.second)
        case .veryLate: answer(perform(), after: 10 * Nanoseconds.minute)
        case .failsSent:
            _ = perform()
            fail(wasSent: true)
        case .failsUnsent: fail(wasSent: false)
        case .saysUnsent:
            _ = perform()
            fail(wasSent: false)
        case .floods: answer(perform(), times: 100)
        case .reportsMore, .otherNumber, .otherBolus, .negative, .notANumber, .past, .future, .muchBasal,
            .otherPump:
            answer(perform().map { Self.lie(fault, $0) })
        case .diesBefore: relaunch()
        case .diesAfter:
            _ = perform()
            relaunch()
        case .sleeps:
            answer(perform())
            sleepUntil = executor.now.adding(2 * Nanoseconds.hour)
        }
    }

    private static func lie(_ fault: Fault?, _ truth: PumpReport) -> PumpReport {
        var report = truth
        switch fault {
        case .reportsMore:
            report.bolus?.units *= 5
            report.bolus?.deliveredUnits *= 5
        case .otherNumber: report.number += 7
        case .otherBolus:
            report.bolus = PumpReport.Bolus(
                id: (truth.bolus?.id ?? 0) + 1000, units: 3, deliveredUnits: 3, isRunning: false)
        case .negative:
            report.basalUnits = -3
            report.bolus?.deliveredUnits = -1
        case .notANumber:
            report.reservoirUnits = .nan
            report.bolus?.units = .infinity
        case .past: report.utcNanoseconds -= Nanoseconds.day
        case .future: report.utcNanoseconds += Nanoseconds.day
        case .muchBasal: report.basalUnits += 900
        case .otherPump: report.device = "another"
        default: break
        }
        return report
    }

    private func answered(_ number: Int64) {
        if waitingFor?.number == number { waitingFor = nil }
    }

    private func hear(_ report: PumpReport, utc: Int64) {
        answered(report.number)
        let said = Instant(nanoseconds: utc - Self.start - worn)
        executor.inspect { pump.here((report, said)) { _ = $0.hear($1.0, saidAt: $1.1) } }
    }

    // MARK: The person

    func temporaryBasal(_ multiplier: Double, steps: Int) throws {
        try executor.inspect {
            try loop.here((multiplier, steps)) { try $0.setTemporaryBasal(multiplier: $1.0, steps: $1.1) }
        }
    }
    func endTemporaryBasal() { executor.inspect { loop.here { $0.cancelTemporaryBasal() } } }
    func openLoop(_ isOpen: Bool = true) throws {
        executor.inspect { loop.here(isOpen) { $0.setOpenLoop($1) } }
    }
    /// As the door does it.
    func stop() throws {
        try executor.inspect {
            loop.here { $0.cancelRequest() }
            _ = try pump.cancelBolus()
        }
    }
    /// Insulin that had left the pump between two minutes, whole fives of them.
    func flow(_ from: Int, _ to: Int) -> Double { given[to / 5] - given[from / 5] }

    /// What the pump truly does, in reach or not.
    var trueTemporaryBasal: InsulinRate? {
        simulator.executor.inspect { simulator.pump.status.temporaryBasal }
    }

    // MARK: Accounts

    /// What the loop's log counts as given by request.
    var counted: Double { rows.reduce(0) { $0 + ($1.accepted ?? $1.requested ?? .zero).units } }
    /// Requests whose rows have another amount than the pump gave.
    var differences: [String] {
        rows.compactMap { row in
            let given = simulator.boluses.filter { $0.id == row.requestID }.reduce(0) { $0 + $1.units }
            let counted = (row.accepted ?? row.requested ?? .zero).units
            guard abs(given - counted) > 1e-6 else { return nil }
            return
                "\(row.requestID) at \(row.instant.minutes): \(row.accepted.map { "\($0.units)" } ?? "nil") of "
                + "\(row.requested?.units ?? 0), given \(given) \(row.pumpError)"
        }
    }
    var isOpen: Bool { inspect { $0.status.unresolvedRequest != nil } }
}
