// What the alert center decided, and why, in words that need no manual.
//
// Guarantees: each effect and each reason has words: the switches have no default, so that a new one doesn't compile without.

package import IsletAlerts

extension Page {
    /// For an answer of the API.
    package static func words(of reason: AlertEffect.Reason) -> String { StoryWords.words(reason) }
}

enum StoryWords {
    /// One line of an alert's story.
    static func line(effect: String, reason: String) -> String {
        let why = AlertEffect.Reason(rawValue: reason).map(words(_:)) ?? reason
        guard let kind = AlertEffect.Kind(rawValue: effect) else { return "\(effect): \(why)" }
        if kind == .snooze, reason == AlertEffect.Reason.released.rawValue { return "Snooze taken back" }
        return "\(words(kind)): \(why)"
    }

    static func words(_ kind: AlertEffect.Kind) -> String {
        switch kind {
        case .raise: "Alert began"
        case .update: "Alert changed"
        case .clear: "Alert ended"
        case .notify: "Notified"
        case .withdraw: "Notification taken back"
        case .route: "Opened from its notification"
        case .refresh: "Message brought up to date"
        case .suppress: "Held back"
        case .schedule: "Notification planned"
        case .acknowledge: "Acknowledged"
        case .snooze: "Snoozed"
        case .wait: "Waiting to be sure"
        case .drop: "Came to nothing"
        }
    }

    static func words(_ reason: AlertEffect.Reason) -> String {
        switch reason {
        case .conditionHeld: "it lasted long enough to count"
        case .recovered: "what it was about is over"
        case .retracted: "the device took it back"
        case .acknowledged: "somebody acknowledged it"
        case .replaced: "another alert stands in its place"
        case .cleanup: "what it stood for is gone, as a pod or a setting"
        case .reissued: "the device said it again"
        case .severityChanged: "it matters more, or less, than before"
        case .escalated: "it went on too long without an answer"
        case .repeated: "a reminder, since it still holds"
        case .released: "what held it back is over"
        case .cooldown: "the last notification was too short a time ago"
        case .quietHours: "quiet hours"
        case .snoozed: "it is snoozed"
        case .inhibited: "a more important alert covers it"
        case .foreground: "the app is open, so it shows on the screen"
        case .sourceRule: "alerts of the sensor never notify; the sensor's own app does"
        case .policyRule: "the settings say that it doesn't notify"
        case .severity: "it is only for information"
        case .alreadyDelivered: "it was delivered before"
        case .latched: "it stays until somebody acknowledges it"
        case .stale: "there is no fresh value to judge by"
        case .conditionBegan: "what it is about has begun"
        case .conditionEnded: "what it is about ended before it counted"
        case .onceADay: "it notifies once a day at most"
        case .deadline: "its time was up"
        case .countdown: "its countdown went on"
        case .person: "a person did it"
        case .test: "somebody tested it"
        case .preview: "somebody asked to see it; nothing is the matter"
        case .monitoringEnded: "nobody watches for it any more"
        case .unanswered: "nobody answered it on the screen"
        case .boundChanged: "its bound was moved"
        }
    }

    static func words(_ severity: AlertSeverity) -> String {
        switch severity {
        case .informational: "Information"
        case .actionable: "Action needed"
        case .safetyCritical: "Urgent"
        }
    }

    /// What stands beside an alert's lane: the begin of its message, as far as there is room.
    static func lane(_ code: String) -> String {
        guard let known = AlertCode(rawValue: code) else { return name(of: code) }
        let message = known.message.hasSuffix(".") ? String(known.message.dropLast()) : known.message
        guard message.count > 26 else { return message }
        var short = ""
        for word in message.split(separator: " ") {
            guard short.count + word.count < 24 else { break }
            short += (short.isEmpty ? "" : " ") + word
        }
        return short + "…"
    }

    /// A code as a name: `ALERT-CGM-URGENT-LOW` → `CGM urgent low`.
    static func name(of code: String) -> String {
        var parts = code.split(separator: "-").map(String.init)
        if ["ALERT", "THRESHOLD"].contains(parts.first ?? ""), parts.count > 1 { parts.removeFirst() }
        let kept: Set<String> = ["CGM", "VPD", "ID"]
        let words = parts.enumerated().map { place, word in
            if kept.contains(word) { return word }
            let small = word.lowercased()
            return place == 0 ? small.prefix(1).uppercased() + small.dropFirst() : small
        }
        return words.joined(separator: " ")
    }
}
