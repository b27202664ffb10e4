// The words of an alert, with the values in them.

package import IsletDevices
import IsletKernel

public enum AlertMessage {
    /// What is so at `now`.
    /// - Parameters:
    ///   - sample: the newest of the rule's first metric.
    ///   - values: what the episode has come to; nil before one.
    static func text(
        _ rule: AlertRule, _ details: AlertEngine.Details, _ sample: AlertEngine.Sample?,
        _ values: AlertValues?, _ limits: AlertLimits, _ clock: WallClock, at now: Instant
    ) -> ValueText {
        if let end = details.countdownTo { return countdown(rule.known, until: end, at: now) }
        if let known = rule.known, let text = insulin(known, details, sample) { return text }
        if let test = rule.tests.first, let sample {
            return breach(rule, test, sample, limits, at: now) + course(test, values, clock, at: now)
        }
        if !details.message.isEmpty { return ValueText(details.message) }
        if rule.known == .steppingInterrupted {
            return interruption(details.since.map { now.nanoseconds - $0.nanoseconds } ?? limits.stepping)
        }
        if rule.known == .clockSkew { return skew(limits.clockSkew) }
        return ValueText(rule.known?.message ?? rule.code.rawValue)
    }

    /// What is missing, or what lapsed; nil for what is no loop's insulin.
    private static func insulin(
        _ code: AlertCode, _ details: AlertEngine.Details, _ sample: AlertEngine.Sample?
    ) -> ValueText? {
        switch code {
        case .insulinMissing:
            guard let sample else { return nil }
            return LoopInsulin.missing(share: sample.value)
        case .insulinDropped:
            return details.message.isEmpty ? nil : "Not given: \(details.message)."
        default: return nil
        }
    }

    /// What an alert is about where nothing is the matter, with the word that says so first.
    static func example(_ rule: AlertRule, _ limits: AlertLimits, _ word: String) -> ValueText {
        let who = rule.subject.isEmpty ? "" : "\(rule.subject): "
        if let test = rule.tests.first, test.bound.isFinite {
            let side = test.side == .low ? "below" : "above"
            return "\(word): \(who)\(test.metric.name) \(side) \(test.bound, unit: test.metric.unit)"
        }
        if rule.known == .steppingInterrupted { return "\(word): \(interruption(limits.stepping))" }
        if rule.known == .clockSkew { return "\(word): \(skew(limits.clockSkew))" }
        return "\(word): \(who)\(rule.known?.message ?? rule.code.rawValue)"
    }

    /// The message without the subject's name, for a place that names the subject itself.
    package static func withoutSubject(_ rule: AlertRule, _ message: ValueText) -> ValueText {
        rule.subject.isEmpty ? message : message.removingFirst("\(rule.subject): ")
    }

    /// Since when a value is beyond its bound, and how far it has been.
    private static func course(
        _ test: MetricTest, _ values: AlertValues?, _ clock: WallClock, at now: Instant
    ) -> ValueText {
        // An age says both by itself.
        guard let values, let since = values.since, test.metric != .readingAge else { return "" }
        var text: ValueText
        let lasted = now.nanoseconds - since.nanoseconds
        if lasted >= longestByClock {
            text = " for \(lasted / Nanoseconds.hour) h"
        } else {
            text = " since \(timeOfDay: time(clock.timeOfDay(at: since)))"
        }
        guard values.worst != values.current else { return text }
        let worst = test.metric.isPrediction ? (values.worst * 10).rounded() / 10 : values.worst
        let most = test.side == .low ? "lowest" : "highest"
        return "\(text); \(most) \(worst, unit: test.metric.unit)"
    }

    /// Longer ago a time of day could be of another day.
    private static let longestByClock = 20 * Nanoseconds.hour

    /// `02:05`: the one form that a time of day has in words; who shows them may write it as its reader does.
    private static func time(_ sinceMidnight: Int64) -> String {
        let minutes = sinceMidnight / Nanoseconds.minute
        let (hour, minute) = (minutes / 60, minutes % 60)
        return (hour < 10 ? "0" : "") + "\(hour)" + (minute < 10 ? ":0" : ":") + "\(minute)"
    }

    private static func interruption(_ span: Int64) -> ValueText {
        "The loop has not run for \(span / Nanoseconds.minute) minutes."
    }

    private static func skew(_ limit: Int64) -> ValueText {
        let text =
            limit % Nanoseconds.minute == 0
            ? "\(limit / Nanoseconds.minute) minutes" : "\(limit / Nanoseconds.second) seconds"
        return "The phone's clock is off by more than \(text)."
    }

    static func countdown(_ code: AlertCode?, until end: Instant, at now: Instant) -> ValueText {
        let left = max(0, end.nanoseconds - now.nanoseconds)
        let minutes = (left + Nanoseconds.minute - 1) / Nanoseconds.minute
        let span = minutes < spans.count ? spans[Int(minutes)] : span(minutes)
        return ValueText(
            (code == .pumpExpired ? "The pod has expired. Delivery stops in " : "The pod expires in ")
                + span)
    }

    private static func span(_ minutes: Int64) -> String {
        minutes >= 60 ? "\(minutes / 60) h \(minutes % 60) min." : "\(minutes) min."
    }

    /// Up to the end of a pod's service: a countdown is written every minute.
    private static let spans: [String] = (0...540).map { span(Int64($0)) }

    /// Subject, metric, value and threshold of a breach, and how old the value is where it is stale.
    private static func breach(
        _ rule: AlertRule, _ test: MetricTest, _ sample: AlertEngine.Sample, _ limits: AlertLimits,
        at now: Instant
    ) -> ValueText {
        let who = rule.subject.isEmpty ? "" : "\(rule.subject): "
        let side = test.side == .low ? "below" : "above"
        let isAge = test.metric == .readingAge
        // An episode may outlive its breach.
        let isBreached =
            isAge
            ? test.isBreached(byAge: MetricTest.nanoseconds(sample.value))
            : test.isBreached(by: sample.value) || rule.isCriticalAtOnce && rule.isCritical(sample.value)
        let which = isBreached ? side : "was \(side)"
        // Whole minutes that have passed: nobody reads more of an age.
        // Of what is foretold, a tenth.
        let tenth = test.metric.isPrediction ? (sample.value * 10).rounded() / 10 : sample.value
        let value = isAge ? sample.value.rounded(.down) : tenth
        let age = now.nanoseconds - sample.sampledAt.nanoseconds
        let when = age > limits.freshness ? ", \(age / Nanoseconds.minute) min ago" : ""
        let (unit, bound) = (test.metric.unit, rule.boundPassed(by: sample.value) ?? test.bound)
        return
            "\(who)\(test.metric.name) \(value, unit: unit, comparedWith: bound)\(when), \(which) \(bound, unitless: unit, comparedWith: value)"
    }

    /// The same of readings that have stopped, with what they said last: nobody else tells of it.
    static func silence(_ text: ValueText, after last: AlertEngine.Sample, of metric: AlertMetric)
        -> ValueText
    {
        "\(text), last \(metric.name.lowercased()) \(last.value, unit: metric.unit)"
    }

    /// Where a tap leads: a screen of the app, or a link to a subject's metric.
    public static func destination(_ rule: AlertRule) -> String {
        guard rule.known == nil, !rule.tests.isEmpty else { return (rule.known?.route ?? .home).rawValue }
        return deepLink(rule)
    }

    static func deepLink(_ rule: AlertRule) -> String {
        guard rule.known == nil, let test = rule.tests.first else {
            return "islet://\((rule.known?.route ?? .home).rawValue)"
        }
        return
            "islet://subject/\(rule.subject.isEmpty ? "me" : segment(rule.subject))/\(test.metric.rawValue)"
    }

    /// A name as a part of a link's path: what would end the part, or the path, is written as bytes.
    private static func segment(_ name: String) -> String {
        var text = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"), UInt8(ascii: "~"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                text += digits.utf8.count < 2 ? "%0" + digits : "%" + digits
            }
        }
        return text
    }
}
