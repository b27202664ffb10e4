// The phone of a session whose app may die: between the app on one side and devices, person and system on the other.
//
// Guarantees: while the app is dead nothing reaches it, and what was scheduled with the system is shown all the same; at
// launch it finds devices as they are, hears which of the pump's alerts came and went, and gets the readings that it
// missed as backfill, with their own instants: the loop and the alerts decide on none of them.
// Does not: keep what the person says to a dead app. It is journaled as unheard, and lost.

import IsletAlerts
import IsletLoop
import IsletDevices
import IsletKernel

actor Phone: SessionActor, DeviceObserver, PumpAlertObserver, GlucoseSensorPort, LoopInputs, NotificationPort
{
    nonisolated let executor: SessionExecutor

    private unowned let sensor: any GlucoseSensorPort
    private unowned let pump: any InsulinPumpPort
    private weak var alerts: AlertCenter?
    private weak var loop: LoopController?
    private var isAlive = true
    /// Whether the app runs: a dead one shows nothing.
    var isAppAlive: Bool { isAlive }
    private var system = SimulatedNotificationCenter()
    private var notificationWakeup: Wakeup?
    /// The newest reading that reached the app in its own time.
    private var reading: GlucoseReading?
    private var missed: [GlucoseReading] = []
    /// The pump's open alerts; what the app knows of them; which were issued while it was dead.
    private var open: [PumpIssue: String] = [:]
    private var known: Set<PumpIssue> = []
    private var issuedMeanwhile: Set<PumpIssue> = []

    init(executor: SessionExecutor, sensor: any GlucoseSensorPort, pump: any InsulinPumpPort) {
        self.executor = executor
        self.sensor = sensor
        self.pump = pump
    }

    /// Puts the app on the phone.
    func begin(alerts: AlertCenter, loop: LoopController) {
        self.alerts = alerts
        self.loop = loop
        notificationWakeup = Wakeup(executor, phase: .person, "scheduled notification") { [unowned self] in
            here { $0.ring() }
        }
    }

    // MARK: The app's life

    func quit() {
        isAlive = false
        known = Set(open.keys)
        issuedMeanwhile = []
        loop?.here { $0.kill() }
        alerts?.here { $0.kill() }
    }

    func launch() {
        isAlive = true
        // From here on the app itself watches what it had the system watch.
        system.withdrawScheduled()
        notificationWakeup?.schedule(at: nil)
        loop?.here { $0.relaunch() }
        alerts?.here((sensor.state, pump.status)) { $0.relaunch(finding: $1.0, pump: $1.1) }
        for issue in PumpIssue.allCases {
            if let text = open[issue] {
                guard issuedMeanwhile.contains(issue) || !known.contains(issue) else { continue }
                // Issued anew it is another one: the one that was known was taken back.
                if known.contains(issue) { alerts?.pumpDidRetract(issue) }
                alerts?.pumpDidIssue(issue, text: text)
            } else if known.contains(issue) {
                alerts?.pumpDidRetract(issue)
            }
        }
        guard !missed.isEmpty else { return }
        var history = missed
        missed = []
        for index in history.indices { history[index].isBackfilled = true }
        alerts?.sensorDidBackfill(history)
        loop?.sensorDidBackfill(history)
    }

    // MARK: The system

    nonisolated func perform(_ request: NotificationRequest, at now: Instant) {
        here((request, now)) {
            $0.system.perform($1.0, at: $1.1)
            $0.notificationWakeup?.schedule(at: $0.system.nextDue)
        }
    }

    private func ring() {
        for request in system.deliverDue(at: executor.now) {
            alerts?.here(request) { $0.systemDidDeliver($1) }
        }
        notificationWakeup?.schedule(at: system.nextDue)
    }

    // MARK: Devices

    nonisolated var latestReading: GlucoseReading? { here { $0.reading } }
    nonisolated var state: SensorState { here { $0.sensor.state } }

    private func hear(_ reading: GlucoseReading?, _ state: SensorState) {
        guard isAlive else {
            if let reading { missed.append(reading) }
            return
        }
        if let reading { self.reading = reading }
        alerts?.sensorDidUpdate(reading: reading, state: state)
        loop?.sensorDidUpdate(reading: reading, state: state)
    }

    private func hear(late readings: [GlucoseReading]) {
        guard isAlive else { return missed += readings }
        alerts?.sensorDidBackfill(readings)
        loop?.sensorDidBackfill(readings)
    }

    private func hear(_ status: PumpStatus) {
        guard isAlive else { return }
        alerts?.pumpDidUpdate(status: status)
        loop?.pumpDidUpdate(status: status)
    }

    private func hear(_ issue: PumpIssue, _ text: String) {
        open[issue] = text
        guard isAlive else {
            issuedMeanwhile.insert(issue)
            return
        }
        alerts?.pumpDidIssue(issue, text: text)
    }

    private func hear(retracted issue: PumpIssue) {
        open[issue] = nil
        if isAlive { alerts?.pumpDidRetract(issue) }
    }

    nonisolated func sensorDidUpdate(reading: GlucoseReading?, state: SensorState) {
        here((reading, state)) { $0.hear($1.0, $1.1) }
    }
    nonisolated func sensorDidBackfill(_ readings: [GlucoseReading]) { here(readings) { $0.hear(late: $1) } }
    nonisolated func pumpDidUpdate(status: PumpStatus) { here(status) { $0.hear($1) } }
    nonisolated func pumpDidIssue(_ issue: PumpIssue, text: String) {
        here((issue, text)) { $0.hear($1.0, $1.1) }
    }
    nonisolated func pumpDidRetract(_ issue: PumpIssue) { here(issue) { $0.hear(retracted: $1) } }

    // MARK: The person

    private func pass(_ meal: MealAnnouncement) throws {
        if isAlive {
            try loop?.announce(meal)
        } else {
            executor.journal.record(.unheard, at: executor.now, 0)
        }
    }

    private func pass(_ bolus: InsulinAmount) throws {
        if isAlive {
            try loop?.request(manualBolus: bolus)
        } else {
            executor.journal.record(.unheard, at: executor.now, 1)
        }
    }

    private func pass(_ multiplier: Double, _ steps: Int) throws {
        if isAlive {
            try loop?.request(temporaryBasal: multiplier, steps: steps)
        } else {
            executor.journal.record(.unheard, at: executor.now, 2)
        }
    }

    private func pass(_ target: GlucoseConcentration?, _ steps: Int) throws {
        if isAlive {
            try loop?.request(temporaryTarget: target, steps: steps)
        } else {
            executor.journal.record(.unheard, at: executor.now, 3)
        }
    }

    nonisolated func announce(_ meal: MealAnnouncement) throws { try here(meal) { try $0.pass($1) } }
    nonisolated func request(temporaryBasal multiplier: Double, steps: Int) throws {
        try here((multiplier, steps)) { try $0.pass($1.0, $1.1) }
    }
    nonisolated func request(temporaryTarget target: GlucoseConcentration?, steps: Int) throws {
        try here((target, steps)) { try $0.pass($1.0, $1.1) }
    }
    nonisolated func request(manualBolus amount: InsulinAmount) throws {
        try here(amount) { try $0.pass($1) }
    }
}

extension EventKind {
    /// What the person told a dead app. Words: 0 a meal, 1 a bolus, 2 a temporary basal, 3 a temporary target.
    static let unheard = EventKind(0x600, "unheard")
}
