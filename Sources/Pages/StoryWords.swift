// What the alert center decided, and why, as lines of a page: the words are those of `AlertWords.swift`, which every surface has.

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

    static func words(_ kind: AlertEffect.Kind) -> String { kind.words }

    static func words(_ reason: AlertEffect.Reason) -> String { reason.words }

    static func words(_ severity: AlertSeverity) -> String { severity.words }

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
    static func name(of code: String) -> String { AlertWords.name(of: code) }
}
