// Whether this browser is the phone, and whether any is: said in the header of every page of a session.
//
// Guarantees: a first visit looks; being the phone is chosen, and kept by the browser. Where no phone is, the page says so, and what rang unheard.

import IsletAlerts
import IsletFiles
import IsletLive
import IsletDevices
import IsletKernel

extension SessionPage {
    var phone: Surface {
        guard !view.isReadOnly, view.phase == .running else {
            return Surface(.phone, tag: "div", classes: "phone", "")
        }
        let checked: HTML = context.isPhone ? " checked" : ""
        let choice: HTML =
            "<label class=\"tick\"><input type=\"checkbox\" data-cookie=\"phone\" value=\"1\"\(checked)> Use this browser as the phone</label>"
        return Surface(.phone, tag: "div", classes: "phone", "<p class=\"clock\">\(phoneWords)</p>\(choice)")
    }

    private var phoneWords: HTML {
        let untold = view.alerts.filter(\.isUntold).map { StoryWords.name(of: $0.code.rawValue) }
        guard view.hasPhone else {
            return untold.isEmpty
                ? "No phone: no notification reaches anybody."
                : "<strong>Rang, no phone: \(untold.joined(separator: ", ")).</strong>"
        }
        return context.isPhone
            ? "This browser is the phone: in front, alerts show here; behind, they notify."
            : "Looking only: another browser is the phone."
    }
}

extension AlertStory {
    /// It is about a low glucose of now, and sugar is what helps.
    var isLow: Bool {
        code.rawValue == AlertCode.cgmUrgentLow.rawValue || code.rawValue == "THRESHOLD-GLUCOSE-LOW"
    }

    /// When it last rang, where that was not at its start.
    var lastRangAt: Instant? {
        notifiedAt.flatMap { $0.nanoseconds - raisedAt.nanoseconds >= Nanoseconds.minute ? $0 : nil }
    }

    /// What became of its last notification; empty where there was none, and while it may still be confirmed.
    func whereItRang(hasPhone: Bool) -> String {
        guard notifiedAt != nil else { return "" }
        guard isUntold else { return "reached the phone" }
        return hasPhone && clearedAt == nil ? "" : "rang, no phone"
    }
}
