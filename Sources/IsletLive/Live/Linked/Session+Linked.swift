// A session whose pump and sensor are outside of it.
//
// Guarantees: loop and alert center are the study's, and so are therapy and policy; body, devices, meals and faults of the study are not lived, and nothing is
// summed up of them.
// Does not: talk to devices. Commands wait in the pump's outbox, reports come in as inputs.

package import IsletAlerts
package import IsletLoop
package import IsletDevices
package import DeviceLinks
import IsletModels
import IsletKernel
package import IsletTrials

extension SessionLinks: OutsideDevices {
    package var pumpPort: any InsulinPumpPort { pump }
    package var pumpControls: any InsulinPumpControls { pump }
    package var sensorPort: any GlucoseSensorPort { sensor }

    init(_ study: Study, _ executor: SessionExecutor, _ recorder: SessionRecorder, owner: String?) {
        let device = study.pump.device
        self.init(
            pump: LinkedPump(
                executor: executor, recorder: recorder, limits: device.limits, pulse: device.pulse,
                owner: owner),
            sensor: LinkedSensor(executor: executor, recorder: recorder))
    }

    package func begin(
        alerts: AlertCenter, loop: LoopController, watchers: [any DeviceObserver]
    ) async throws {
        await alerts.begin(pump: pump)
        await alerts.tellSeen(to: loop)
        let observers: [any DeviceObserver] = watchers + [alerts, loop]
        await sensor.begin(observers: observers)
        await pump.begin(observers: observers, alertObservers: [alerts])
        try await loop.begin(observers: [alerts])
    }

    package func dismissObservers() {
        pump.here { $0.dismissObservers() }
        sensor.here { $0.dismissObservers() }
    }
}

extension Session {
    /// nil where pump and sensor are the study's.
    package var links: SessionLinks? { outside as? SessionLinks }
}

extension AlertPolicy {
    /// With what every session of linked devices has, whatever its policy says: what the pump says of itself rings, so do steps that don't run, insulin that
    /// doesn't come or is of unknown fate, and so does a sensor that falls silent, since nobody says why it did. A rule that the policy has for any of these stays as it is.
    package var ofLinkedPump: AlertPolicy {
        var policy = self
        let own = AlertCode.allCases.filter {
            $0.source == .pump
                || [.steppingInterrupted, .insulinMissing, .insulinDropped].contains($0)
        }
        for rule in own.map({ AlertRule($0) }) + [
            AlertRule(
                code: AlertName(rawValue: "ALERT-PUMP-DELIVERY-UNKNOWN"),
                trigger: .metrics([MetricTest(.unknownInsulin, .high, 0)]),
                severity: .safetyCritical, acknowledgement: .reviews)
        ] where !rules.contains(where: { $0.code == rule.code }) {
            policy.rules.append(rule)
        }
        if !rules.contains(where: { $0.tests.contains { $0.metric == .readingAge } }) {
            policy.rules.append(
                AlertRule(
                    code: AlertName(rawValue: "ALERT-CGM-SILENT"),
                    trigger: .metrics([MetricTest(.readingAge, .high, 20)]), severity: .actionable))
        }
        return policy
    }
}
