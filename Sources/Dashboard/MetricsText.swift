// Figures about the server, as Prometheus reads them.

import Foundation
import IsletLive

enum MetricsText {
    static func text(_ ward: Ward, _ news: WardNews, _ counters: Counters) -> String {
        var text = ""
        func add(_ name: String, _ help: String, _ type: String, _ rows: [(labels: String, value: Int)]) {
            text += "# HELP islet_\(name) \(help)\n# TYPE islet_\(name) \(type)\n"
            for row in rows { text += "islet_\(name)\(row.labels) \(row.value)\n" }
        }
        var byPhase = ["running": 0, "ended": 0, "failed": 0, "returning": ward.returningCount]
        var (events, late, alerts) = (0, 0, 0)
        for id in ward.ids where !ward.isReturning(id) {
            guard let status = ward.host.status(of: id) else {
                byPhase["failed", default: 0] += 1
                continue
            }
            switch status.snapshot.phase {
            case .running: byPhase["running", default: 0] += 1
            case .ended: byPhase["ended", default: 0] += 1
            case .failed: byPhase["failed", default: 0] += 1
            case .returning: byPhase["returning", default: 0] += 1
            }
            events += status.snapshot.eventCount
            late += status.snapshot.lateSteps
            alerts += status.snapshot.alerts.count
        }
        add(
            "sessions", "Sessions of the ward.", "gauge",
            byPhase.sorted { $0.key < $1.key }.map { ("{phase=\"\($0.key)\"}", $0.value) })
        add(
            "sessions_frozen", "Sessions whose advance does not return.", "gauge",
            [("", ward.host.watch().count)])
        add(
            "sessions_degraded", "Sessions whose algorithm gave no answer.", "gauge",
            [("", ward.host.degraded().count)])
        add("events_total", "Events of the sessions that are there.", "counter", [("", events)])
        add("late_steps_total", "Steps whose algorithm gave no answer in time.", "counter", [("", late)])
        add("alerts_active", "Active alerts of all sessions.", "gauge", [("", alerts)])
        let counted = counters.now
        add(
            "responses_total", "Responses by status.", "counter",
            counted.byStatus.sorted { $0.key < $1.key }.map { ("{status=\"\($0.key)\"}", $0.value) })
        add("event_streams", "Open event streams.", "gauge", [("", counted.streams)])
        add(
            "event_streams_dropped_total", "Event streams that their clients left.", "counter",
            [("", counted.streamsDropped)])
        add("resident_bytes", "Memory of the process.", "gauge", [("", residentBytes)])
        return text
    }

    private static var residentBytes: Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }
}
