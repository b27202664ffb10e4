// What happened in one session, line by line.

package import IsletFiles
package import IsletDevices
package import IsletKernel

/// A session's rows at `record: full`, as lines in the order of time.
package struct SessionStory: Sendable {
    package struct Line: Hashable, Sendable {
        package var instant: Instant
        package var text: String
        /// The code of an alert effect; nil for other lines.
        package var alertCode: AlertName?
        /// The number of its episode, as in every command; nil for other lines and for what belongs to none.
        package var episode: Int?
        /// The effect that the line tells of; nil for other lines.
        package var alert: AlertRow?

        package init(
            instant: Instant, text: String, alertCode: AlertName? = nil, episode: Int? = nil,
            alert: AlertRow? = nil
        ) {
            self.instant = instant
            self.text = text
            self.alertCode = alertCode
            self.episode = episode
            self.alert = alert
        }
    }

    package private(set) var lines: [Line] = []
    private let calendar: SessionCalendar
    private let unit: GlucoseUnit

    private let isWhole: Bool

    /// - Parameters:
    ///   - alerts: in place of those of the arm's own policy.
    ///   - unit: that glucose is told in.
    ///   - isWhole: false for rows of a part only: their alerts have no numbers, and each is told by itself.
    ///   - tellsFaults: false where nobody can know of them.
    package init(
        _ rows: SessionRecorder, calendar: SessionCalendar, alerts: [AlertRow]? = nil,
        unit: GlucoseUnit = .mgdl, isWhole: Bool = true, tellsFaults: Bool = true
    ) {
        self.calendar = calendar
        self.unit = unit
        self.isWhole = isWhole
        // Within an instant: what the sensor said, what the loop did, what the pump gave, what the person did, what the
        // alert center made of it.
        for row in rows.readings { add(row.instant, "reading    \(glucose(row.mgdl))") }
        for row in rows.steps {
            var text = "step \(row.algorithmTime)"
            text += row.cgmMgdl.map { " on \(glucose($0))" } ?? " without glucose"
            text += row.isPumpAvailable ? "" : ", pump unavailable"
            text +=
                ": basal \(Self.number(row.basalUnits)) U, correction \(Self.number(row.correctionUnits)) U, meal "
                + "\(Self.number(row.mealUnits)) U; accepted \(Self.number(row.acceptedUnits)) U"
            if !row.failure.isEmpty { text += "; FAILED: \(row.failure)" }
            add(row.instant, text)
        }
        for row in rows.lapses { add(row.instant, "not given  \(row.words)") }
        for row in rows.deliveries {
            add(row.instant, "delivery   \(Self.number(row.units)) U for request \(row.requestID)")
        }
        for row in rows.person {
            add(row.instant, Self.text(row))
        }
        for row in tellsFaults ? rows.faults : [] {
            add(row.instant, "fault      \(row.kind), until \(time(row.end))")
        }
        addAlerts(alerts ?? rows.alerts)
        lines = lines.enumerated().sorted {
            $0.element.instant != $1.element.instant
                ? $0.element.instant < $1.element.instant : $0.offset < $1.offset
        }.map(\.element)
    }

    /// What the person did, in words.
    private static func text(_ row: PersonRow) -> String {
        guard let words = row.words else {
            return "\(row.kind.rawValue)       \(number(row.amount)) \(row.kind.unit)"
        }
        return "person     " + words + (row.code.isNone ? "" : " (\(row.code))")
    }

    private mutating func add(
        _ instant: Instant, _ text: String, alertCode: AlertName? = nil, episode: Int? = nil,
        alert: AlertRow? = nil
    ) {
        lines.append(
            Line(
                instant: instant, text: unit.words(text), alertCode: alertCode, episode: episode, alert: alert
            ))
    }

    /// A countdown, and what is held back again and again for one reason, is told once, with how often.
    private mutating func addAlerts(_ rows: [AlertRow]) {
        let numbers = isWhole ? AlertEpisodes.numbers(of: rows) : rows.map { _ in nil }
        /// The last line of each code, where it may be gone on with: its place, its text, how often.
        var going: [AlertName: (place: Int, text: String, count: Int)] = [:]
        for (row, number) in zip(rows, numbers) {
            let name = number.map { " #\($0)" } ?? ""
            let text =
                "alert\(name.isEmpty ? "     " : name)  \(row.effect) \(row.code) (\(row.severity)): \(row.reason)"
            let repeats = isWhole && (row.effect == "refresh" || row.effect == "suppress")
            if repeats, let (place, before, count) = going[row.code], before == text {
                going[row.code] = (place, before, count + 1)
                lines[place].text = "\(text), \(count + 1) times up to \(time(row.instant))"
                continue
            }
            add(row.instant, text, alertCode: row.code, episode: number, alert: row)
            going[row.code] = repeats ? (lines.count - 1, text, 1) : nil
        }
    }

    /// Day and local time of day, to the second.
    package func time(_ instant: Instant) -> String { Self.time(instant, calendar) }

    package static func time(_ instant: Instant, _ calendar: SessionCalendar) -> String {
        let seconds = calendar.timeOfDay(at: instant) / Nanoseconds.second
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return
            "day \(calendar.day(of: instant)) \(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    }

    private func glucose(_ mgdl: Double) -> String {
        unit == .mgdl ? "\(Self.number(mgdl)) mg/dL" : "\(unit.pair(mgdl, nil).value) \(unit.rawValue)"
    }

    /// Up to three places after the point.
    private static func number(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e9 else { return "\(value)" }
        return "\((value * 1000).rounded() / 1000)"
    }
}
