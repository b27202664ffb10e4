// A session in the ward's list, and which comes first.

import IsletAlerts
import IsletLoop
import IsletDevices
import IsletKernel

extension WardCard {
    package init(_ view: SessionView) {
        let loop = view.live.loop
        let from = view.now.adding(-3 * Nanoseconds.hour)
        self.init(
            id: view.id, name: view.name, kind: view.kind, origin: view.origin, pace: view.pace,
            phase: view.phase, isFrozen: view.isFrozen, localTime: view.live.localTime, now: view.now,
            calendar: view.calendar,
            glucose: loop?.glucose,
            isStale: loop?.isGlucoseStale ?? true, trend: view.trend, loop: loop?.status,
            values: view.values, alertCount: view.alerts.count, top: view.alerts.first,
            isUntold: view.alerts.contains(where: \.isUntold), hasPhone: view.hasPhone,
            sparkline: view.log.readings.filter { $0.instant >= from }.map {
                MetricPoint($0.instant, $0.mgdl)
            },
            number: view.number, health: view.health, kept: view.kept)
    }

    /// Worst first: what doesn't run as it should, then by what is the matter, whether or not an alert still says so, then by name.
    func precedes(_ other: WardCard) -> Bool {
        if trouble != other.trouble { return trouble > other.trouble }
        if severity != other.severity { return severity > other.severity }
        if alertCount != other.alertCount { return alertCount > other.alertCount }
        return (name, id) < (other.name, other.id)
    }

    private var severity: AlertSeverity {
        max(top?.severity ?? .informational, health.worst ?? .informational)
    }

    /// How much worse than any alert it is.
    private var trouble: Int {
        if isFrozen { return 4 }
        switch phase {
        case .failed, .returning: return 3
        case .ended(let reason) where !reason.isEmpty: return 2
        case .ended: return 0
        case .running: return top == nil && !health.needsAction ? 1 : 2
        }
    }
}
