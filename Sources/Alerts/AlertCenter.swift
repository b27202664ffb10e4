// The alert center of a session: it hears the devices, decides in its own phase, and journals every effect.
//
// Guarantees: conditions are judged once all inputs of an instant are in, in the alerts phase; a device that says
// nothing new costs a few comparisons and no event.
// Does not: reach the person. Who listens to its effects does.

public import Devices
public import Records
import SessionTime
public import SimulationKernel

public actor AlertCenter: SessionActor, DeviceObserver {
    /// mg/dL; below it a reliable, fresh reading is an urgent low.
    public static let urgentLowBelow = 55.0

    public nonisolated let executor: SessionExecutor

    private var engine: AlertEngine
    private let recorder: SessionRecorder
    private var wakeup: Wakeup?
    private var raised = 0
    private var notified = 0
    private var raisedByCode = [Int](repeating: 0, count: AlertCode.allCases.count)

    public init(executor: SessionExecutor, policy: AlertPolicy, recorder: SessionRecorder) {
        self.executor = executor
        engine = AlertEngine(policy: policy)
        self.recorder = recorder
    }

    public func begin() {
        wakeup = Wakeup(executor, phase: .alerts, "alert center") { [unowned self] in here { $0.judge() } }
    }

    /// Episodes raised so far, by code.
    public func episodes() -> [(code: AlertCode, count: Int)] {
        AlertCode.allCases.map { ($0, raisedByCode[$0.index]) }
    }

    public var notifications: Int { notified }
    public var active: [ActiveAlert] { engine.active }

    private func tell(_ code: AlertCode, holds: Bool) {
        guard engine.changes(code, holds: holds) else { return }
        engine.set(code, holds: holds, at: executor.now)
        wakeup?.schedule(at: executor.now)
    }

    private func judge() {
        engine.settle(at: executor.now)
        for effect in engine.takeEffects() {
            executor.journal.record(
                .alertEffect, at: effect.instant, UInt64(effect.code.index), UInt64(effect.kind.code),
                UInt64(effect.severity.rawValue), UInt64(effect.reason.code))
            recorder.alert(
                AlertRow(
                    instant: effect.instant, effect: effect.kind.rawValue, code: effect.code.rawValue,
                    severity: effect.severity.name, reason: effect.reason.rawValue))
            switch effect.kind {
            case .raise:
                raised += 1
                raisedByCode[effect.code.index] += 1
            case .notify: notified += 1
            default: break
            }
        }
        wakeup?.schedule(at: engine.nextDeadline)
    }

    private func hear(_ reading: GlucoseReading?, _ state: SensorState) {
        let isUnavailable =
            switch state {
            case .warmup, .temporaryError, .noReliableGlucose: true
            case .ok, .failed, .expired: false
            }
        tell(.cgmUnavailable, holds: isUnavailable)
        // Only a reliable reading speaks for the urgent low; none ends it by its absence.
        if let reading, reading.isReliable {
            tell(.cgmUrgentLow, holds: reading.glucose.milligramsPerDecilitre < Self.urgentLowBelow)
        }
    }

    private func hear(_ status: PumpStatus) {
        tell(.pumpSignalLoss, holds: !status.isConnected && status.condition != .noPod)
    }

    // MARK: Devices

    public nonisolated func sensorDidUpdate(reading: GlucoseReading?, state: SensorState) {
        here((reading, state)) { $0.hear($1.0, $1.1) }
    }

    public nonisolated func pumpDidUpdate(status: PumpStatus) { here(status) { $0.hear($1) } }
}

extension EventKind {
    /// Words: code, effect, severity, reason, as their indices.
    public static let alertEffect = EventKind(0x400, "alertEffect")
}

extension AlertEffect.Kind {
    var code: UInt8 {
        switch self {
        case .raise: 0
        case .clear: 1
        case .notify: 2
        case .withdraw: 3
        case .suppress: 4
        }
    }
}

extension AlertEffect.Reason {
    var code: UInt8 {
        switch self {
        case .conditionHeld: 0
        case .recovered: 1
        case .acknowledged: 2
        case .cooldown: 3
        case .foreground: 4
        case .sourceRule: 5
        case .severity: 6
        }
    }
}
