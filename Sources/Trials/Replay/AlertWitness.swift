// What stood around each effect of the alert center when it was decided.
//
// Guarantees: values are those that the rule compared, and no others; the pump is as the app saw it. Watching changes nothing
// about a session: its digest is the one without.
// Does not: know the truth. The session's fault rows do.

import Alerts
import Devices
import SimulatedDevices
import SimulationKernel

final class AlertWitness: @unchecked Sendable {
    struct Moment {
        var effect: AlertEffect
        /// Of the metrics of the rule, in its order; a value is nil while the metric is stale or was never measured.
        var values: [(metric: AlertMetric, value: Double?, ageNanoseconds: Int64)]
        var pump: PumpStatus
    }

    private(set) var moments: [Moment] = []

    /// Watches a session that has not begun.
    init(_ session: Session) {
        let (alerts, pump) = (session.alerts, session.pump)
        session.executor.inspect {
            alerts.here(self) { center, witness in
                center.observer = { [unowned center, unowned witness, unowned pump] effect in
                    witness.moments.append(
                        Moment(
                            effect: effect,
                            values: center.here(effect) { center, effect in
                                center.tests(of: effect).map { test in
                                    let known = center.known(test.metric)
                                    return (test.metric, known?.value, known?.ageNanoseconds ?? 0)
                                }
                            }, pump: pump.status))
                }
            }
        }
    }
}
