// What happened in one session, row by row and line by line.
//
// Guarantees: a row is told as it is, with its values; words and units are made for whoever reads them, by `StoryText`.

import IsletAlerts
package import IsletFiles
package import IsletDevices
package import IsletKernel

/// One row that a session's recorder has at `record: full`.
package enum SessionHappening: Hashable, Sendable {
    case reading(ReadingRow)
    case step(StepRow)
    case lapse(LapseRow)
    case delivery(DeliveryRow)
    case person(PersonRow)
    case fault(FaultRow)
    case alert(AlertRow)

    package var instant: Instant {
        switch self {
        case .reading(let row): row.instant
        case .step(let row): row.instant
        case .lapse(let row): row.instant
        case .delivery(let row): row.instant
        case .person(let row): row.instant
        case .fault(let row): row.instant
        case .alert(let row): row.instant
        }
    }

    /// All rows in the order of time. Within an instant: what the sensor said, what the loop did, what the pump gave, what the
    /// person did, what the alert center made of it.
    /// - Parameters:
    ///   - alerts: in place of the recorder's own.
    ///   - tellsFaults: false where nobody can know of them.
    package static func all(
        of rows: SessionRecorder, alerts: [AlertRow]? = nil, tellsFaults: Bool = true
    ) -> [SessionHappening] {
        var all = rows.readings.map { Self.reading($0) }
        all += rows.steps.map { .step($0) }
        all += rows.lapses.map { .lapse($0) }
        all += rows.deliveries.map { .delivery($0) }
        all += rows.person.map { .person($0) }
        if tellsFaults { all += rows.faults.map { .fault($0) } }
        all += (alerts ?? rows.alerts).map { .alert($0) }
        return all.enumerated().sorted {
            ($0.element.instant, $0.offset) < ($1.element.instant, $1.offset)
        }.map(\.element)
    }
}

/// What became of the insulin that a step asked for and the pump has not accepted.
package enum DoseFate: Hashable, Sendable {
    /// The pump answered at once: what it accepted is what it gives.
    case accepted
    /// The pump is outside and has not answered yet.
    case onItsWay
    /// Nobody gives it: glucose comes from outside.
    case suggested
}

/// Rows in words, for a reader of one unit.
package struct StoryText: Sendable {
    package var calendar: SessionCalendar
    package var unit: GlucoseUnit
    /// Whether effects of alerts are told in words, and glucose as a meter shows it; else by the names of files.
    package var isInWords: Bool

    package init(_ calendar: SessionCalendar, _ unit: GlucoseUnit = .mgdl, isInWords: Bool = false) {
        (self.calendar, self.unit, self.isInWords) = (calendar, unit, isInWords)
    }

    /// - Parameter number: of an alert's episode, as in every command; nil for none.
    package func text(
        _ happening: SessionHappening, fate: DoseFate = .accepted, number: Int? = nil
    ) -> String {
        switch happening {
        case .reading(let row): "reading    \(glucose(row.mgdl))"
        case .step(let row): text(row, fate)
        case .lapse(let row): "not given  \(row.words)"
        case .delivery(let row): "delivery   \(Self.number(row.units)) U for request \(row.requestID)"
        case .person(let row): text(row)
        case .fault(let row): "fault      \(row.kind), until \(SessionStory.time(row.end, calendar))"
        case .alert(let row): "alert\(number.map { " #\($0)" } ?? "     ")  " + effect(row)
        }
    }

    /// `Notified, LOW (Action needed): a reminder, since it still holds`.
    private func effect(_ row: AlertRow) -> String {
        guard isInWords, let kind = AlertEffect.Kind(rawValue: row.effect),
            let reason = AlertEffect.Reason(rawValue: row.reason)
        else { return "\(row.effect) \(row.code) (\(row.severity)): \(row.reason)" }
        let severity = AlertSeverity(name: row.severity)?.words ?? row.severity
        return "\(kind.words), \(row.code) (\(severity)): \(reason.words)"
    }

    private func text(_ row: StepRow, _ fate: DoseFate) -> String {
        var text = "step \(row.algorithmTime)"
        text += row.cgmMgdl.map { " on \(glucose($0))" } ?? " without glucose"
        text += row.isPumpAvailable ? "" : ", pump unavailable"
        text +=
            ": basal \(Self.number(row.basalUnits)) U, correction \(Self.number(row.correctionUnits)) U, meal "
            + "\(Self.number(row.mealUnits)) U; "
        switch fate {
        case .accepted: text += "accepted \(Self.number(row.acceptedUnits)) U"
        case .onItsWay: text += "on its way"
        case .suggested: text += "suggested only"
        }
        if !row.failure.isEmpty { text += "; FAILED: \(row.failure)" }
        return text
    }

    /// What the person did, in words.
    private func text(_ row: PersonRow) -> String {
        guard let words = row.words(unit) else {
            return "\(row.kind.rawValue)       \(Self.number(row.amount)) \(row.kind.unit)"
        }
        return "person     " + words + (row.code.isNone ? "" : " (\(row.code))")
    }

    package func glucose(_ mgdl: Double) -> String {
        guard unit == .mgdl else { return "\(unit.pair(mgdl, nil).value) \(unit.rawValue)" }
        return "\(isInWords ? unit.pair(mgdl, nil, places: 0).value : Self.number(mgdl)) mg/dL"
    }

    /// Up to three places after the point.
    package static func number(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e9 else { return "\(value)" }
        return "\((value * 1000).rounded() / 1000)"
    }
}

/// A session's rows at `record: full`, as lines in the order of time.
package struct SessionStory: Sendable {
    package struct Line: Hashable, Sendable {
        package var instant: Instant
        package var text: String
        /// The code of an alert effect; nil for other lines.
        package var alertCode: AlertName?
        /// The number of its episode, as in every command; nil for other lines and for what belongs to none.
        package var episode: Int?
    }

    package private(set) var lines: [Line] = []
    private let words: StoryText

    /// - Parameters:
    ///   - alerts: in place of those of the arm's own policy.
    ///   - unit: that glucose is told in.
    package init(
        _ rows: SessionRecorder, calendar: SessionCalendar, alerts: [AlertRow]? = nil,
        unit: GlucoseUnit = .mgdl
    ) {
        words = StoryText(calendar, unit, isInWords: true)
        let happenings = SessionHappening.all(of: rows, alerts: alerts)
        let effects = happenings.compactMap { if case .alert(let row) = $0 { row } else { nil } }
        var numbers = AlertEpisodes.numbers(of: effects)[...]
        /// The last line of each code, where it may be gone on with: its place, its text, how often.
        var going: [AlertName: (place: Int, text: String, count: Int)] = [:]
        for happening in happenings {
            guard case .alert(let row) = happening else {
                lines.append(Line(instant: happening.instant, text: words.text(happening)))
                continue
            }
            let number = numbers.popFirst() ?? nil
            add(row, number, words.text(happening, number: number), &going)
        }
    }

    /// A countdown, and what is held back again and again for one reason, is told once, with how often.
    private mutating func add(
        _ row: AlertRow, _ number: Int?, _ text: String,
        _ going: inout [AlertName: (place: Int, text: String, count: Int)]
    ) {
        let repeats = row.effect == "refresh" || row.effect == "suppress"
        if repeats, let (place, before, count) = going[row.code], before == text {
            going[row.code] = (place, before, count + 1)
            lines[place].text = "\(text), \(count + 1) times up to \(time(row.instant))"
            return
        }
        lines.append(Line(instant: row.instant, text: text, alertCode: row.code, episode: number))
        going[row.code] = repeats ? (lines.count - 1, text, 1) : nil
    }

    /// Day, counted from 1, day of the week and local time of day, to the second.
    package func time(_ instant: Instant) -> String { Self.time(instant, words.calendar) }

    package static func time(_ instant: Instant, _ calendar: SessionCalendar) -> String {
        calendar.words(at: instant, withSeconds: true)
    }
}
