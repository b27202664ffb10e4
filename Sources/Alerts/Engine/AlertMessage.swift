// The words of an alert.

import SessionTime

public enum AlertMessage {
    /// What stands on the banner.
    static func text(_ rule: AlertRule, _ details: AlertEngine.Details, at now: Instant) -> String {
        if let end = details.countdownTo { return countdown(rule.known, until: end, at: now) }
        if !details.message.isEmpty { return details.message }
        return rule.known?.message ?? rule.code
    }

    static func countdown(_ code: AlertCode?, until end: Instant, at now: Instant) -> String {
        let left = max(0, end.nanoseconds - now.nanoseconds)
        let minutes = (left + Span.minute - 1) / Span.minute
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

    /// Subject, metric, value and threshold of a breach.
    static func breach(_ rule: AlertRule, value: Double) -> String {
        guard let test = rule.tests.first else { return rule.code }
        let who = rule.subject.isEmpty ? "" : "\(rule.subject): "
        let which = test.side == .low ? "below" : "above"
        // Whole minutes that have passed: nobody reads more of an age.
        let value = test.metric == .readingAge ? value.rounded(.down) : value
        return
            "\(who)\(test.metric.name) \(number(value)) \(test.metric.unit), \(which) \(number(test.bound))"
    }

    static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e9 ? "\(Int64(value))" : "\(value)"
    }

    /// Where a tap leads: a room of the app, or a link to a subject's metric.
    public static func destination(_ rule: AlertRule) -> String {
        guard rule.known == nil, !rule.tests.isEmpty else { return (rule.known?.route ?? .home).rawValue }
        return deepLink(rule)
    }

    static func deepLink(_ rule: AlertRule) -> String {
        guard rule.known == nil, let test = rule.tests.first else {
            return "islet://\((rule.known?.route ?? .home).rawValue)"
        }
        return "islet://subject/\(rule.subject.isEmpty ? "me" : rule.subject)/\(test.metric.rawValue)"
    }
}
