// The words of an alert.

import Records
import SessionTime

public enum AlertMessage {
    /// What is so at `now`.
    /// - Parameter sample: the newest of the rule's first metric.
    static func text(
        _ rule: AlertRule, _ details: AlertEngine.Details, _ sample: AlertEngine.Sample?,
        _ limits: AlertLimits,
        at now: Instant
    ) -> String {
        if let end = details.countdownTo { return countdown(rule.known, until: end, at: now) }
        if let test = rule.tests.first, let sample { return breach(rule, test, sample, limits, at: now) }
        if !details.message.isEmpty { return details.message }
        if rule.known == .steppingInterrupted {
            return interruption(details.since.map { now.nanoseconds - $0.nanoseconds } ?? limits.stepping)
        }
        if rule.known == .clockSkew { return skew(limits.clockSkew) }
        return rule.known?.message ?? rule.code.rawValue
    }

    private static func interruption(_ span: Int64) -> String {
        "The loop has not run for \(span / Nanoseconds.minute) minutes."
    }

    private static func skew(_ limit: Int64) -> String {
        let text =
            limit % Nanoseconds.minute == 0
            ? "\(limit / Nanoseconds.minute) minutes" : "\(limit / Nanoseconds.second) seconds"
        return "The phone's clock is off by more than \(text)."
    }

    static func countdown(_ code: AlertCode?, until end: Instant, at now: Instant) -> String {
        let left = max(0, end.nanoseconds - now.nanoseconds)
        let minutes = (left + Nanoseconds.minute - 1) / Nanoseconds.minute
        let span = minutes < spans.count ? spans[Int(minutes)] : span(minutes)
        return
            (code == .pumpExpired ? "The pod has expired. Delivery stops in " : "The pod expires in ")
            + span
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
    ) -> String {
        let who = rule.subject.isEmpty ? "" : "\(rule.subject): "
        let side = test.side == .low ? "below" : "above"
        let isAge = test.metric == .readingAge
        // An episode may outlive its breach.
        let isBreached =
            isAge
            ? test.isBreached(byAge: MetricTest.nanoseconds(sample.value)) : test.isBreached(by: sample.value)
        let which = isBreached ? side : "was \(side)"
        // Whole minutes that have passed: nobody reads more of an age.
        // Of what is foretold, a tenth.
        let tenth = test.metric.isPrediction ? (sample.value * 10).rounded() / 10 : sample.value
        let value = number(isAge ? sample.value.rounded(.down) : tenth)
        let age = now.nanoseconds - sample.sampledAt.nanoseconds
        let when = age > limits.freshness ? ", \(age / Nanoseconds.minute) min ago" : ""
        return
            "\(who)\(test.metric.name) \(value) \(test.metric.unit)\(when), \(which) \(number(test.bound))"
    }

    static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e9 ? "\(Int64(value))" : "\(value)"
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
