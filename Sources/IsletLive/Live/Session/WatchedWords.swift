// What happens to a watched subject, as lines of a live session.
//
// Guarantees: within an instant what the monitor showed stands first, then who was there, then what the alert center made of it.

import IsletAlerts
import IsletDevices
import IsletKernel
import IsletTrials

enum WatchedWords {
    /// Lines of the news, and `lines` after those of their own instants.
    static func lines(
        of news: (readings: [(metric: AlertMetric, values: [MetricReading])], visits: [KeeperVisit]),
        before lines: [SessionStory.Line]
    ) -> [SessionStory.Line] {
        var all: [SessionStory.Line] = []
        for place in (news.readings.first?.values ?? []).indices {
            let parts = news.readings.map { metric, values in
                "\(metric.name) \(number(values[place].value)) \(metric.unit)"
            }
            guard let at = news.readings.first?.values[place].at else { continue }
            all.append(SessionStory.Line(instant: at, text: "reading    " + parts.joined(separator: ", ")))
        }
        all += news.visits.map { SessionStory.Line(instant: $0.at, text: "visit      \(text($0))") }
        all += lines
        return all.enumerated().sorted {
            ($0.element.instant, $0.offset) < ($1.element.instant, $1.offset)
        }.map(\.element)
    }

    private static func text(_ visit: KeeperVisit) -> String {
        let why =
            switch visit.reason {
            case .called: "because something rang"
            case .round: "on the daily round"
            case .asked: "as asked"
            }
        let found = visit.mended.map(\.kind).joined(separator: ", ")
        return "\(why): \(found.isEmpty ? "nothing was broken" : "mended \(found)")"
    }

    /// Up to two places after the point.
    private static func number(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
}
