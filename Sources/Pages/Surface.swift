// A part of a page with a name: what tests, the traceability table and the page's own script find it by.
//
// Guarantees: the element of a surface stays while the page is open, and only what is inside of it is swapped; a surface's name stands in `Surface.Name`, so that none
// is misspelt.

import IsletFiles

struct Surface {
    /// The DOM's contract.
    enum Name: String, CaseIterable {
        case banner, carousel, bell
        case alertCenter = "alert-center"
        case activeAlerts = "active-alerts"
        case clearedAlerts = "cleared-alerts"
        case story
        case settingsRow = "settings-row"
        case thresholds, threshold, sensitivity
        case quietHours = "quiet-hours"
        case quietIndicator = "quiet-indicator"
        case testAlert = "test-alert"
        case previews
        case thresholdBanner = "threshold-banner"
        case loop, glucose, pump, charts, summary, target, subject, meal
        case bloodGlucose = "blood-glucose"
        case calibration, bolus
        case temporaryBasal = "temporary-basal"
        case suspend, pod, sensor
        case loopMode = "loop-mode"
        case sessionControl = "session-control"
        case login, frozen, notifications, timeline, ward, card, sparkline, past, fork, beside
        case studyList = "study-list"
        case units, pace, visit, environment, phone, more, strip, order, well, heard, band
    }

    /// nil for a part that is only swapped.
    var name: Name?
    /// As what it is swapped.
    var fragment: String
    var tag = "section"
    var classes = ""
    /// Further attributes of its element, which don't change.
    var attributes: HTML = ""
    /// Whether it is swapped while the page is open.
    var isLive = true
    var inner: HTML

    init(
        _ name: Name, tag: String = "section", classes: String = "", attributes: HTML = "",
        isLive: Bool = true,
        _ inner: HTML
    ) {
        (self.name, fragment, self.tag, self.classes) = (name, name.rawValue, tag, classes)
        (self.attributes, self.isLive, self.inner) = (attributes, isLive, inner)
    }

    var html: HTML {
        let surface: HTML = name.map { " data-surface=\"\($0.rawValue)\"" } ?? ""
        let fragment: HTML = isLive ? " data-fragment=\"\(fragment)\"" : ""
        let looks: HTML = classes.isEmpty ? "" : " class=\"\(classes)\""
        let open: HTML = "<\(tag)\(surface)\(fragment)\(looks)\(attributes)>"
        return open + inner + "</\(tag)>\n"
    }
}

extension [Surface] {
    /// What is swapped, by name.
    var fragments: [(name: String, html: String)] {
        filter(\.isLive).map { ($0.fragment, $0.inner.text) }
    }

    var html: HTML { map(\.html).joined("") }
}
