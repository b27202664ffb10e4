// How times, amounts and glucose stand on a page.
//
// Guarantees: times are the session's own local ones, in 24 h, and carry what a browser needs to show its own way and to count on (`data-t`: seconds since
// the session's start); glucose is in the reader's unit everywhere. Does not: know the wall clock.

import IsletAlerts
import IsletFiles
import IsletDevices
import IsletLive
import IsletKernel

struct PageText {
    var calendar: SessionCalendar
    var now: Instant
    var unit: GlucoseUnit

    init(_ view: SessionView, _ context: PageContext) {
        (calendar, now, unit) = (view.calendar, view.now, context.unit)
    }

    init(calendar: SessionCalendar, now: Instant, unit: GlucoseUnit) {
        (self.calendar, self.now, self.unit) = (calendar, now, unit)
    }

    // MARK: Times

    static func seconds(_ instant: Instant) -> Int64 { instant.nanoseconds / Nanoseconds.second }

    private static func twoDigits(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }

    func clock(_ instant: Instant) -> String {
        let minutes = calendar.timeOfDay(at: instant) / Nanoseconds.minute
        return Self.twoDigits(minutes / 60) + ":" + Self.twoDigits(minutes % 60)
    }

    /// `14:05`, with its day where that isn't today.
    func time(_ instant: Instant) -> HTML {
        let whole = Instant(nanoseconds: Self.seconds(instant) * Nanoseconds.second)
        let time: HTML =
            "<time datetime=\"\(calendar.iso8601(at: whole))\" data-t=\"\("\(Self.seconds(instant))")\">\(clock(instant))</time>"
        let day = calendar.day(of: instant)
        let today = calendar.day(of: now)
        if day == today { return time }
        return "\(day == today - 1 ? "yesterday" : "day \(day + 1)") \(time)"
    }

    /// With its day, always.
    func dayAndTime(_ instant: Instant) -> HTML {
        let whole = Instant(nanoseconds: Self.seconds(instant) * Nanoseconds.second)
        return
            "day \("\(calendar.day(of: instant) + 1)"), <time datetime=\"\(calendar.iso8601(at: whole))\" data-t=\"\("\(Self.seconds(instant))")\">\(clock(instant))</time>"
    }

    /// `2 h 5 min`; under a minute in seconds.
    static func span(_ nanoseconds: Int64) -> String {
        let seconds = max(0, nanoseconds / Nanoseconds.second)
        if seconds < 60 { return "\(seconds) s" }
        let minutes = seconds / 60
        if minutes < 60 { return "\(minutes) min" }
        if minutes < 48 * 60 {
            return minutes % 60 == 0 ? "\(minutes / 60) h" : "\(minutes / 60) h \(minutes % 60) min"
        }
        let hours = minutes / 60
        return hours % 24 == 0 ? "\(hours / 24) days" : "\(hours / 24) days \(hours % 24) h"
    }

    /// `3 min ago`, counted on by the browser.
    func age(_ instant: Instant) -> HTML {
        "<span data-age=\"\("\(Self.seconds(instant))")\">\(Self.span(now.nanoseconds - instant.nanoseconds)) ago</span>"
    }

    /// `22 min left`, counted down by the browser.
    func left(_ until: Instant) -> HTML {
        "<span data-until=\"\("\(Self.seconds(until))")\">\(Self.span(until.nanoseconds - now.nanoseconds))</span>"
    }

    // MARK: Amounts

    static func units(_ amount: InsulinAmount) -> String { units(amount.units) }
    static func units(_ units: Double) -> String { ChartNumber.text(units, places: 2) + " U" }

    func glucose(_ value: GlucoseConcentration) -> String {
        unit.text(mgdl: value.milligramsPerDecilitre) + " " + unit.rawValue
    }
    func glucose(mgdl: Double) -> String { unit.text(mgdl: mgdl) + " " + unit.rawValue }

    /// What a metric's values are multiplied by to be shown.
    func factor(_ metric: AlertMetric) -> Double { unit.factor(of: metric.unit) }
    func unitText(_ metric: AlertMetric) -> String { unit.text(ofUnit: metric.unit) }

    /// Decimals that a metric's values are shown with.
    func places(_ metric: AlertMetric) -> Int {
        if unit.converts(metric.unit) { return unit.places(of: metric.unit) }
        switch metric.unit {
        case "mg/dL", "min", "h": return 0
        case "kPa", "mg/dL/min": return 2
        default: return 1
        }
    }

    /// Without its unit.
    func number(_ value: Double, of metric: AlertMetric) -> String {
        ChartNumber.text(value * factor(metric), places: places(metric))
    }
    /// As an input's value.
    func input(_ value: Double, of metric: AlertMetric) -> String {
        ChartNumber.plain(value * factor(metric), places: places(metric))
    }
    func value(_ value: Double, of metric: AlertMetric) -> String {
        number(value, of: metric) + " " + unitText(metric)
    }

    /// A sentence in the reader's unit.
    func words(_ sentence: ValueText) -> String { Self.shortened(unit.text(sentence)) }

    /// A sentence in the reader's unit whose times are written as the reader's browser writes every other.
    func message(_ sentence: ValueText) -> HTML {
        var (html, pending): (HTML, ValueText) = ("", "")
        for part in sentence.parts {
            switch part {
            case .timeOfDay(let time):
                html = "\(html)\(words(pending))<span data-clock>\(time)</span>"
                pending = ""
            case .words(let text): pending += ValueText(text)
            case .amount(let amount, _): pending += ValueText(amount)
            }
        }
        return "\(html)\(words(pending))"
    }

    /// With a capital at its begin and a point at its end.
    static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
    }

    /// Numbers with as many decimals as a reader can use: 282.9606 → 283.0, 1.23456 → 1.23.
    static func shortened(_ text: String) -> String {
        text.replacing(#/\d+\.\d{3,}/#) { match in
            guard let value = Double(match.output) else { return String(match.output) }
            return ChartNumber.plain(value, places: value >= 10 ? 1 : 2)
        }
    }

    // MARK: Trend

    /// An arrow, and what it means; nil where nothing can be said.
    func trend(_ perMinute: Double?) -> (arrow: String, words: String)? {
        guard let perMinute, perMinute.isFinite else { return nil }
        switch perMinute {
        case ..<(-3): return ("↓↓", "falling very fast")
        case ..<(-2): return ("↓", "falling fast")
        case ..<(-1): return ("↘", "falling")
        case ...1: return ("→", "steady")
        case ...2: return ("↗", "rising")
        case ...3: return ("↑", "rising fast")
        default: return ("↑↑", "rising very fast")
        }
    }
}
