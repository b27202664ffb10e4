// What stood around each effect of the alert center when it was decided.
//
// Guarantees: values are those that the rule compared, and no others; the pump is as the app saw it. Watching changes nothing
// about a session: its digest is the one without.
// Does not: know the truth. The session's fault rows do.

import IsletAlerts
import IsletDevices
import IsletKernel
import IsletModels

final class AlertWitness: @unchecked Sendable {
    /// What an effect tells.
    struct Effect {
        var instant: Instant
        var kind: AlertEffect.Kind
        var code: AlertName
        var severity: AlertSeverity
        var reason: AlertEffect.Reason
        /// Empty for a policy that nobody hears.
        var message: ValueText = ""
        var due: Instant?
    }

    struct Moment {
        var effect: Effect
        /// Values of the rule's metrics, in the rule's order; nil while the metric is stale or was never measured.
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
                            effect: Effect(
                                instant: effect.instant, kind: effect.kind, code: effect.code,
                                severity: effect.severity, reason: effect.reason, message: effect.message,
                                due: effect.due),
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

    /// What stood around the effects of a policy that listened in shadow.
    /// - Parameter session: the same one again, which has not begun, with that policy alone in shadow: another one keeps other metrics, and
    ///   has other limits. It is run up to the last effect.
    static func moments(_ effects: [ShadowEffect], of policy: AlertPolicy, in session: Session) -> [Moment] {
        defer { session.end() }
        let (shadows, pump) = (session.shadows, session.pump)
        return effects.map { effect in
            // A session that failed there has no more effects.
            try? session.advance(to: effect.instant)
            let rule = policy.rules[effect.rule]
            return session.executor.inspect {
                Moment(
                    effect: Effect(
                        instant: effect.instant, kind: effect.kind, code: rule.code,
                        severity: effect.severity, reason: effect.reason),
                    values: rule.tests.map { test in
                        let known = shadows?.here(test.metric) { $0.known($1) }
                        return (test.metric, known?.value, known?.ageNanoseconds ?? 0)
                    }, pump: pump.status)
            }
        }
    }
}
