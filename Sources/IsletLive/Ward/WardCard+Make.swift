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
            phase: view.phase, isFrozen: view.isFrozen, isSounding: view.isSounding,
            localTime: view.live.localTime, now: view.now,
            calendar: view.calendar,
            glucose: loop?.glucose,
            isStale: loop?.isGlucoseStale ?? true, trend: view.trend, loop: loop?.status,
            values: view.values, alertCount: view.alerts.count, top: view.alerts.first,
            isUntold: view.alerts.contains(where: \.isUntold), hasPhone: view.hasPhone,
            sparkline: view.log.readings.filter { $0.instant >= from }.map {
                MetricPoint($0.instant, $0.mgdl)
            },
            number: view.number, health: view.health, kept: view.kept)
        (standing, pump, lastStep) = (view.standing, view.live.pump?.condition, loop?.lastStep)
        (insulinOnBoard, forecast) = (view.live.insulinOnBoard, view.forecast)
        let hour = view.now.adding(-Nanoseconds.hour)
        lastMeal = view.log.person.last {
            ($0.kind == .meal || $0.kind == .rescue) && $0.instant >= hour
        }
        if health.concerns.contains(where: \.isAcknowledged) {
            acknowledgedAt = view.cleared.first { $0.clearedBy == .acknowledged }?.clearedAt
        }
        let real = view.alerts.filter { !$0.isPreview }
        answers = real.first { $0.acknowledgement != .none && $0.reviewedAt == nil }
        let snoozes = view.live.snoozes ?? []
        snoozable = real.first { alert in
            alert.acknowledgement != .closes && !snoozes.contains { $0.code == alert.code }
        }
        snooze = snoozes.max { $0.until < $1.until }
        let ears: Set<PersonRow.Kind> = [.heard, .woke, .parentHeard, .unheard, .sleptOn]
        wasHeard = real.filter { $0.severity > .informational && $0.reviewedAt == nil }.allSatisfy { alert in
            let last = view.log.person.last { $0.code == alert.code && ears.contains($0.kind) }
            return last.map { $0.kind != .unheard && $0.kind != .sleptOn } ?? false
        }
    }

    /// Who is in most danger first; of equals, whom nobody has answered longest, then by name.
    func precedes(_ other: WardCard) -> Bool {
        standing.precedes(other.standing) ?? ((name, id) < (other.name, other.id))
    }
}
