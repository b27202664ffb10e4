// The alert surfaces: banner with its carousel, threshold banner, alert center.
//
// Guarantees: a severity is an icon and a word, never a colour alone; what can be done about an alert stands beside it; every alert shown has its story.

import IsletAlerts
import IsletFiles
import IsletLoop
import IsletDevices
import IsletLive
import IsletKernel

extension SessionPage {
    static func icon(_ severity: AlertSeverity) -> Icon {
        switch severity {
        case .safetyCritical: .urgent
        case .actionable: .action
        case .informational: .information
        }
    }

    /// The top alert, and the others to step through.
    var banner: Surface {
        guard !view.alerts.isEmpty else {
            return Surface(
                .banner, classes: "banners", attributes: " aria-label=\"Active alerts\"", noAlerts + standing)
        }
        let items = view.alerts.enumerated().map { place, alert -> HTML in
            let hidden: HTML = place == 0 ? "" : " hidden"
            return
                "<li class=\"banner \(alert.severity.name)\" data-key=\"\(key(alert))\"\(hidden)>\(head(alert, level: "h2"))<div class=\"row\">\(buttons(alert))</div></li>\n"
        }
        let several = view.alerts.count > 1
        let steps: HTML =
            several
            ? "<div class=\"steps\" data-surface=\"carousel\"><button type=\"button\" data-step=\"-1\">\(Icon.previous.html)<span class=\"unseen\">Previous alert</span></button><span data-count aria-live=\"off\">1 of \(view.alerts.count)</span><button type=\"button\" data-step=\"1\">\(Icon.next.html)<span class=\"unseen\">Next alert</span></button></div>"
            : "<div class=\"steps\" data-surface=\"carousel\" hidden><span data-count>1 of 1</span></div>"
        return Surface(
            .banner, classes: "banners", attributes: " aria-label=\"Active alerts\"",
            "<div class=\"carousel\"><ul class=\"plain\">\(items)</ul>\(steps)</div>\(standing)")
    }

    /// A tick only where all is well: that nothing rings says nothing about insulin.
    private var noAlerts: HTML {
        view.health.isWell
            ? "<p class=\"calm\">\(Icon.check.html)<span>No active alerts. All is well.</span></p>"
            : "<p class=\"facts\">No active alerts.</p>"
    }

    /// What is the matter and no alert says, or says no more.
    private var standing: HTML {
        let told = view.health.concerns.filter {
            $0.part != .alerts && (view.alerts.isEmpty || ($0.isAcknowledged && $0.needsAction))
        }
        guard !told.isEmpty else { return "" }
        let items = told.map { one -> HTML in
            let look = one.needsAction ? "danger" : "plain"
            let name = one.needsAction ? StoryWords.words(one.severity) : "Not well"
            return
                "<li class=\"notice \(look)\">\(Self.icon(one.severity).html)<span><strong>\(name):</strong> \(telling.words(one.words))</span></li>\n"
        }
        return "<ul class=\"plain\" data-standing>\(items)</ul>"
    }

    /// Names an episode: another episode of the same code has another key.
    func key(_ alert: AlertStory) -> String {
        "\(alert.code.rawValue)@\(PageText.seconds(alert.raisedAt))\(alert.isPreview ? "p" : "")"
    }

    /// What a control about an alert sends: which one, and which episode of it, so that no button that was drawn of one answers the next.
    static func facts(of alert: AlertStory) -> HTML {
        "data-alert=\"\(alert.code.rawValue)\" data-episode=\"\("\(PageText.seconds(alert.raisedAt))")\""
    }

    private func head(_ alert: AlertStory, level: String) -> HTML {
        let preview: HTML = alert.isPreview ? " · preview: nothing is the matter" : ""
        let reviewed: HTML = alert.reviewedAt.map { " · <strong>Reviewed</strong> \(telling.time($0))" } ?? ""
        let whereRang = alert.whereItRang(hasPhone: view.hasPhone)
        let last: HTML = alert.lastRangAt.map { " · last rang \(telling.time($0))" } ?? ""
        let rang: HTML =
            (whereRang.isEmpty
                ? "" : alert.isUntold ? " · <strong>\(whereRang)</strong>" : " · \(whereRang)") + last
        let action: HTML =
            alert.action.isEmpty ? "" : "<p class=\"do\">\(PageText.shortened(alert.action))</p>"
        let countdown: HTML =
            alert.countdownTo.flatMap { $0 > view.now ? " · \(telling.left($0)) left" : nil } ?? ""
        return
            "<div class=\"head\">\(Self.icon(alert.severity).html)<div><p class=\"severity\">\(StoryWords.words(alert.severity)) · since \(telling.time(alert.raisedAt)), \(telling.age(alert.raisedAt))\(countdown)\(preview)\(reviewed)\(rang)</p><\(level) class=\"message\">\(telling.message(alert.message))</\(level)>\(action)</div></div>"
    }

    /// What can be done about it.
    private func buttons(_ alert: AlertStory) -> HTML {
        guard !isPast else { return "" }
        var text: HTML = ""
        let code = alert.code.rawValue
        switch alert.acknowledgement {
        case .none: break
        case .closes:
            text +=
                "<button type=\"button\" data-command=\"acknowledge\" \(Self.facts(of: alert))\(off)>Acknowledge</button>"
        case .reviews where alert.reviewedAt == nil:
            text +=
                "<button type=\"button\" data-command=\"acknowledge\" \(Self.facts(of: alert))\(off)>Mark as reviewed</button>"
        case .reviews: break
        }
        if code == AlertCode.loginRequired.rawValue {
            text += "<button type=\"button\" data-command=\"signIn\"\(off)>Log in</button>"
        }
        if code == AlertCode.subjectConflict.rawValue {
            text += "<a class=\"button\" href=\"\(address(.settings))#subject\">Correct the subject ID</a>"
        }
        // What the advice says comes before whose reading it was.
        if alert.isLow, !isRoom, page != .past {
            text += "<a class=\"button\" href=\"\(address(.home))#eat\">Note what is eaten</a>"
        }
        let target: (PageName, String)? =
            switch alert.route {
            case "pump": (.pump, "Go to pump")
            case "cgm": (.cgm, "Go to sensor")
            case "environment": (.environment, "Go to values")
            default: nil
            }
        if let target, target.0 != page {
            text +=
                "<a class=\"button\" data-tap=\"\(code)\" href=\"\(address(target.0))\">\(target.1)</a>"
        }
        if page != .alerts { text += "<a class=\"button quiet\" href=\"\(address(.alerts))\">Why</a>" }
        if alert.isPreview || alert.source == .policy {
            text +=
                "<button type=\"button\" class=\"quiet\" data-command=\"dismiss\" \(Self.facts(of: alert))\(off)>Dismiss</button>"
        }
        return text
    }

    /// The in-app banner of thresholds: the first that the session still shows. Whether it is shown, over or put away the session knows, the same on every
    /// page; a page that is the phone says when its ten seconds are over.
    var thresholdBanner: Surface {
        let alerts = view.alerts.filter { $0.source == .policy }
        guard !isPast, let alert = alerts.first(where: \.hasBanner) else {
            return Surface(.thresholdBanner, tag: "div", classes: "toasts", "")
        }
        let more: HTML =
            alerts.count > 1
            ? "<span class=\"badge\">\(alerts.count)<span class=\"unseen\"> threshold alerts</span></span>"
            : ""
        let code = alert.code.rawValue
        let facts: HTML =
            "data-toast=\"\(key(alert))-\(alert.severity.name)\" \(Self.facts(of: alert))"
        let action: HTML = alert.action.isEmpty ? "" : " \(alert.action)"
        return Surface(
            .thresholdBanner, tag: "div", classes: "toasts",
            "<div class=\"toast \(alert.severity.name)\" data-key=\"toast-\(key(alert))\" \(facts)><a data-tap=\"\(code)\" href=\"\(address(.environment))\">\(Self.icon(alert.severity).html)<span><strong>\(view.name)</strong> \(telling.message(alert.message)).\(action)</span>\(more)</a><button type=\"button\" class=\"quiet\" data-command=\"dismiss\" \(Self.facts(of: alert))\(off)>Dismiss</button></div>\n"
        )
    }

    // MARK: Alert center

    var alertCenter: Surface {
        let count = view.alerts.count
        let words: HTML =
            count == 0
            ? "Nothing is active now." : count == 1 ? "One alert is active." : "\(count) alerts are active."
        let waiting = view.live.waiting.filter { code in !view.alerts.contains { $0.code == code } }
        let soon: HTML =
            waiting.isEmpty
            ? ""
            : "<p class=\"facts\">Waiting to be sure: \(waiting.map { StoryWords.name(of: $0.rawValue) }.joined(separator: ", ")).</p>"
        return Surface(
            .alertCenter,
            "<h2>Alert center</h2><p>\(words) The most urgent comes first.</p>\(soon)")
    }

    var activeAlerts: Surface {
        let items = view.alerts.map { alert -> HTML in
            "<li class=\"card alert \(alert.severity.name)\" data-key=\"\(key(alert))\">\(head(alert, level: "h4"))<div class=\"row\">\(buttons(alert))\(snooze(alert))</div>\(story(alert))</li>\n"
        }
        let list: HTML =
            items.isEmpty
            ? noAlerts + standing
            : "<ul class=\"plain\">\(items)</ul>"
        return Surface(.activeAlerts, "<h3>Active</h3>\(list)")
    }

    /// Where its rule lets it be.
    private func snooze(_ alert: AlertStory) -> HTML {
        guard !alert.isPreview, alert.acknowledgement != .closes else { return "" }
        let code = alert.code.rawValue
        let options: [HTML] = [(15, "15 min"), (30, "30 min"), (60, "1 h"), (120, "2 h")].map {
            "<option value=\"\($0.0)\">\($0.1)</option>"
        }
        return
            "<form class=\"inline\" data-command=\"snooze\"><input type=\"hidden\" name=\"alert\" value=\"\(code)\"><input type=\"hidden\" name=\"episode\" value=\"\("\(PageText.seconds(alert.raisedAt))")\"><label for=\"snooze-\(code)\">Snooze for</label> <select id=\"snooze-\(code)\" name=\"minutes\"\(off)>\(options)</select> <button type=\"submit\"\(off)>Snooze</button><span class=\"answer\" role=\"status\" data-keep></span></form>"
    }

    /// How it came about, in plain words.
    func story(_ alert: AlertStory) -> HTML {
        let lines = alert.story.map { line -> HTML in
            let times: HTML = line.count > 1 ? " <span class=\"facts\">(\(line.count) times)</span>" : ""
            return
                "<li>\(telling.time(line.at)) <span>\(StoryWords.line(effect: line.effect, reason: line.reason))</span>\(times)</li>"
        }
        let whereRang = alert.whereItRang(hasPhone: view.hasPhone)
        let end: HTML = whereRang.isEmpty ? "" : "<p class=\"facts\">Last notification: \(whereRang).</p>"
        let body: HTML =
            lines.isEmpty
            ? "<p>Nothing is known of how it came about.</p>" : "<ol class=\"story\">\(lines)</ol>\(end)"
        return
            "<details class=\"why\" data-surface=\"story\" data-key=\"story-\(key(alert))\"><summary>Story<span class=\"unseen\"> of \(telling.words(alert.message))</span></summary><p class=\"facts\">\(StoryWords.name(of: alert.code.rawValue)) · <code>\(alert.code.rawValue)</code></p>\(body)</details>"
    }

    var clearedAlerts: Surface {
        let shown = view.cleared.prefix(clearedShown)
        let items = shown.map { alert -> HTML in
            let ended: HTML =
                alert.clearedAt.map { at in
                    let why = alert.clearedBy.map { ": \(StoryWords.words($0))" } ?? ""
                    return "ended \(telling.time(at))\(why)"
                } ?? ""
            return
                "<li class=\"card alert ended\" data-key=\"\(key(alert))\"><p class=\"severity\">\(StoryWords.words(alert.severity)) · \(telling.time(alert.raisedAt)), \(ended)</p><h4 class=\"message\">\(telling.message(alert.message))</h4>\(story(alert))</li>\n"
        }
        var more: HTML = ""
        if view.cleared.count > clearedShown {
            more +=
                "<a class=\"button\" data-cleared=\"\(clearedShown + 10)\" href=\"\(address(.alerts))?cleared=\(clearedShown + 10)#cleared\">More</a>"
        }
        if clearedShown > 10 {
            more +=
                "<a class=\"button\" data-cleared=\"\(clearedShown - 10)\" href=\"\(address(.alerts))?cleared=\(clearedShown - 10)#cleared\">Less</a>"
        }
        let list: HTML = items.isEmpty ? "<p>None yet.</p>" : "<ul class=\"plain\">\(items)</ul>"
        let counted: HTML =
            view.cleared.isEmpty
            ? "" : "<p class=\"facts\">\(shown.count) of \(view.cleared.count), newest first.</p>"
        return Surface(
            .clearedAlerts, attributes: " id=\"cleared\"",
            "<h3>Recently cleared</h3>\(counted)\(list)<div class=\"row\">\(more)</div>")
    }

    /// The way to the alert center from the settings.
    var settingsRow: Surface {
        let count = view.alerts.count
        return Surface(
            .settingsRow, tag: "div",
            "<a class=\"rowlink\" href=\"\(address(.alerts))\">\(Icon.bell.html)<span>Alert center</span><span class=\"count\">\(count == 0 ? "none active" : "\(count) active")</span></a>"
        )
    }
}
