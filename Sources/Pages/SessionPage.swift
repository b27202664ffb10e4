// A page of one session: which surfaces it has, in which order.
//
// Guarantees: what is urgent comes first on each page; where controls don't work (frozen, watched, over, past) they are disabled and a surface says why.

import IsletAlerts
import IsletFiles
import IsletLoop
import IsletDevices
import IsletLive
import IsletKernel

struct SessionPage {
    let page: PageName
    let view: SessionView
    let timeline: [LiveEvent]
    let clearedShown: Int
    let context: PageContext
    let telling: PageText

    init(
        _ page: PageName, _ view: SessionView, timeline: [LiveEvent], clearedShown: Int,
        _ context: PageContext
    ) {
        (self.page, self.view, self.timeline) = (page, view, timeline)
        (self.clearedShown, self.context) = (max(10, clearedShown), context)
        telling = PageText(view, context)
    }

    var isPast: Bool { page == .past }
    var isRoom: Bool { view.kind == .room }
    /// Whether its controls do nothing.
    var isOff: Bool { view.areControlsDisabled || isPast }
    /// As an attribute of a control.
    var off: HTML { isOff ? " disabled" : "" }
    /// Switches off what a session that is fed doesn't do.
    var offWhereFed: HTML { isOff || view.live.isFed ? " disabled" : "" }

    // MARK: Pieces

    var fragments: [(name: String, html: String)] { (shell + surfaces).fragments }

    /// What each page of a session has.
    private var shell: [Surface] { isPast ? [clock, bell] : [clock, pace, bell, phone] }

    /// What the page is about, in order.
    private var surfaces: [Surface] {
        switch page {
        case .home: home
        case .alerts:
            [frozen, quietIndicator, thresholdBanner, alertCenter, activeAlerts, band, clearedAlerts]
        case .settings: [frozen, quietIndicator, thresholdBanner, banner] + settings
        case .pump: [frozen, thresholdBanner, banner] + pumpPage
        case .cgm: [frozen, thresholdBanner, banner] + sensorPage
        case .timeline: [frozen, thresholdBanner, banner, band, timelineList]
        case .environment: [frozen, quietIndicator, thresholdBanner, banner, environment]
        case .past: pastPage
        }
    }

    private var home: [Surface] {
        let first = [frozen, banner, quietIndicator, thresholdBanner]
        if isRoom { return first + [environment, settingsRow, visit, notifications] }
        return first + [glucose, loop, pump, charts, summary, settingsRow] + actions + [notifications]
    }

    var document: HTML {
        let heading: HTML =
            "<div class=\"who\"><h1>\(view.name)</h1>\(clock.html)</div>\n\(isPast ? "" as HTML : Page.liveDot)<div class=\"tools\">\(isPast ? "" as HTML : Page.soundButton)\((isPast ? [bell] : [pace, bell]).html)</div>\n\(isPast ? "" as HTML : phone.html)"
        var facts = [
            ("page", page.rawValue), ("session", view.id), ("number", "\(view.number)"),
            ("now", "\(PageText.seconds(view.now))"), ("pace", view.pace.description),
            ("hours", "\(context.hours)"), ("cleared", "\(clearedShown)"), ("unit", context.unit.rawValue),
            ("kind", view.kind.rawValue), ("name", view.name),
            ("numbers", WardCommand.numbers.joined(separator: " ")),
        ]
        if view.isReadOnly { facts.append(("readonly", "1")) }
        if context.isPhone { facts.append(("phone", "1")) }
        if context.canNotify { facts.append(("can-notify", "1")) }
        return Document(
            title: "\(titleOfPage) · \(view.name)", facts: facts, header: heading, navigation: navigation,
            main: page == .home ? homeLayout : surfaces.html, context: context
        ).html
    }

    /// On a desk: what is so on the left, what can be done on the right.
    private var homeLayout: HTML {
        let all = surfaces
        func html(_ names: [Surface.Name]) -> HTML {
            all.filter { $0.name.map(names.contains) ?? false }.html
        }
        let top: [Surface.Name] = [.frozen, .banner, .quietIndicator, .thresholdBanner]
        if isRoom { return html(top) + all.filter { !($0.name.map(top.contains) ?? false) }.html }
        let glances: [Surface.Name] = [.glucose, .loop, .pump]
        let left: [Surface.Name] = [.charts, .summary, .settingsRow]
        let groups: [(String, [Surface.Name])] = [
            ("Eat and measure", [.meal, .bloodGlucose, .calibration]),
            ("Insulin", [.bolus, .temporaryBasal, .suspend]),
            ("Loop", [.loopMode, .target, .sessionControl]), ("Devices", [.pod, .sensor]),
            ("Person", [.subject, .login, .more, .notifications]),
        ]
        let right: [HTML] = groups.map { "<div class=\"group\"><h3>\($0.0)</h3>\(html($0.1))</div>\n" }
        return
            "\(html(top))<div class=\"home\"><div class=\"glances\">\(html(glances))</div><div class=\"left\">\(html(left))</div><div class=\"right\"><h2>Actions</h2>\(right)</div></div>\n"
    }

    private var titleOfPage: String {
        switch page {
        case .home: "Home"
        case .alerts: "Alerts"
        case .settings: "Settings"
        case .pump: "Pump"
        case .cgm: "Sensor"
        case .timeline: "Timeline"
        case .environment: isRoom ? "Environment" : "Values"
        case .past: "The past"
        }
    }

    func address(_ page: PageName) -> String {
        switch page {
        case .home: "/sessions/\(view.id)"
        case .environment: "/subjects/\(view.id)/environment"
        case .past: "/sessions/\(view.id)/past?t=\("\(PageText.seconds(view.now))")"
        default: "/sessions/\(view.id)/\(page.rawValue)"
        }
    }

    private var navigation: HTML {
        var tabs: [(PageName, String)] = [(.home, "Home"), (.alerts, "Alerts")]
        if !isRoom { tabs += [(.pump, "Pump"), (.cgm, "Sensor")] }
        tabs += [
            (.environment, isRoom ? "Environment" : "Values"), (.timeline, "Timeline"),
            (.settings, "Settings"),
            (.past, "The past"),
        ]
        return tabs.map { tab, name -> HTML in
            let here: HTML = tab == page ? " aria-current=\"page\"" : ""
            return "<a href=\"\(address(tab))\"\(here)>\(name)</a>\n"
        }.joined("")
    }

    /// Why something rang, and why it did not.
    var band: Surface { DecisionBand(view: view, context: context, telling: telling).surface }

    // MARK: What each page has

    /// Name aside: what time it is there, and what kind of session it is.
    private var clock: Surface {
        let origin: HTML
        switch view.origin {
        case .own: origin = ""
        case .study(let folder, let session, let isSame):
            let same =
                isSame.map { $0 ? "; came out as recorded" : "; came out otherwise than recorded" } ?? ""
            origin = " · study \(folder), session \(session)\(same)"
        case .fork(let other, let at, let change):
            origin =
                " · forked from <a href=\"/sessions/\(other)/beside/\(view.id)\">\(other)</a> at \(telling.dayAndTime(at)): \(change)"
        }
        var text: HTML = "<p class=\"clock\">\(telling.dayAndTime(view.now))\(origin)</p>"
        if view.live.isFed { text += "<p class=\"clock\">Glucose comes from outside: suggestions only.</p>" }
        if let wheel = view.live.wheel, view.phase == .running {
            text += "<p class=\"clock\">\(Self.words(wheel))</p>"
        }
        var surface = Surface(.timeline, tag: "div", text)
        surface.fragment = "clock"
        surface.name = nil
        return surface
    }

    private var pace: Surface {
        guard view.live.wheel == nil else {
            return Surface(.pace, tag: "div", "<p>Pace: step by step</p>")
        }
        let choices: [(String, String)] = [
            ("paused", "Paused"), ("1", "Real time"), ("60", "60 times"), ("600", "600 times"),
            ("max", "As fast as it can"),
        ]
        let now = view.pace == .paused ? "paused" : view.pace.description
        var options: [HTML] = choices.map { value, name in
            let chosen: HTML = value == now ? " selected" : ""
            return "<option value=\"\(value)\"\(chosen)>\(name)</option>"
        }
        if !choices.contains(where: { $0.0 == now }) {
            options.append("<option value=\"\(now)\" selected>\(now) times</option>")
        }
        let disabled: HTML = view.phase == .running ? "" : " disabled"
        let inner: HTML =
            "<form data-command=\"pace\" data-on-change><label for=\"pace\">Pace</label> <select id=\"pace\" name=\"pace\"\(disabled)>\(options)</select><span role=\"status\" class=\"answer\" data-keep></span></form>"
        return Surface(.pace, tag: "div", inner)
    }

    /// Who drives, and what is waited for.
    private static func words(_ wheel: WheelView) -> HTML {
        let who: HTML =
            wheel.driver.map { "Driven step by step by <strong>\($0)</strong>" }
            ?? "Nobody drives this session: it stands still until somebody does"
        return wheel.step.map { "\(who): step \("\($0)") waits for its dose." } ?? "\(who)."
    }

    private var bell: Surface {
        let count = view.alerts.count
        let words = count == 0 ? "no active alerts" : count == 1 ? "1 active alert" : "\(count) active alerts"
        let worst = view.alerts.map(\.severity).max().map { " " + $0.name } ?? ""
        let badge: HTML =
            count == 0 ? "" : "<span class=\"badge\(worst)\" aria-hidden=\"true\">\(count)</span>"
        return Surface(
            .bell, tag: "div",
            "<a class=\"bell\" href=\"\(address(.alerts))\">\(Icon.bell.html)\(badge)<span class=\"unseen\">Alert center: \(words)</span></a>"
        )
    }

    /// Why nothing can be done here, where nothing can.
    var frozen: Surface {
        var notices: [HTML] = []
        if view.isFrozen {
            notices.append(
                notice(
                    .frozen, "danger", "Frozen",
                    "The app has stopped answering. Nothing shown here is sure, and controls are disabled until it runs again. Last known: \(telling.dayAndTime(view.now)).\(seenButton)"
                ))
        } else if view.live.isDegraded, view.phase == .running {
            notices.append(
                notice(
                    .action, "danger", "No answer",
                    "The algorithm gives no answer: steps fail until it does, and the pump’s own basal runs.\(seenButton)"
                ))
        }
        if !view.live.isAppAlive, !isRoom, view.phase == .running {
            notices.append(
                notice(
                    .stop, "danger", "App not running",
                    "The simulated app has ended: no step runs and nothing rings until it is opened again."))
        }
        if case .study = view.origin {
            notices.append(
                notice(
                    .eye, "plain", "Watching only",
                    "This session comes from a study’s results: it runs as it was recorded, and only its pace can be changed."
                ))
        }
        switch view.phase {
        case .running: break
        case .returning:
            notices.append(
                notice(
                    .wait, "danger", "Coming back",
                    "The server has been started anew and lives this session again from its journal. Until it is back nothing is known of now, and nothing can be done here."
                ))
        case .ended(let reason):
            notices.append(
                notice(
                    .stop, "plain", "Over",
                    reason.isEmpty ? "This session has come to its end." : "This session is over: \(reason)"))
        case .failed where view.kept != nil: notices.append(keptNotice)
        case .failed(let reason):
            notices.append(
                notice(
                    .urgent, "danger", "Failed",
                    "This session stopped here: \(reason). Nothing of it is removed. Where its journal could not be written it goes on by itself once there is room again.\(seenButton)"
                ) + goOnForm)
        }
        return Surface(.frozen, attributes: " role=\"status\"", notices.joined(""))
    }

    /// Ends what the server rings for it; the reason stays.
    private var seenButton: HTML {
        view.isSounding ? " \(Page.seenButton)" : ""
    }

    /// Nobody may take what is shown for now.
    private var keptNotice: HTML {
        guard let kept = view.kept else { return "" }
        let program: HTML =
            "Islet \(kept.version), engine \(kept.engine), lived this session, and this is engine \("\(kept.here)")."
        let shown: HTML =
            kept.isKnown
            ? "It is shown as it last was, at \(telling.dayAndTime(view.now)): what is active here was active then."
            : "Nothing was kept of how it last was."
        let rest: HTML =
            kept.journalEnd.map { " Its journal goes on to \(telling.dayAndTime($0))." } ?? ""
        return notice(
            .stop, "danger", "Lived by another engine",
            "\(program) \(shown)\(rest) Nothing goes on or rings here. That program lives it on from its journal; here it can be begun anew, with the same person and settings."
        )
            + (kept.anew.map { begunAnew($0) } ?? anewForm)
    }

    /// A threshold that is not set again rings for nobody: whoever comes later reads it, too.
    private func begunAnew(_ anew: KeptBy.Anew) -> HTML {
        let link: HTML =
            "<p class=\"go-on\"><a href=\"/sessions/\(anew.id)\">It was begun anew: open that session</a></p>\n"
        guard !anew.refused.isEmpty else { return link }
        let reasons = telling.words(anew.refused.map(\.reason).joined(separator: "; "))
        return link
            + notice(
                .urgent, "danger", "Not set in it",
                "This engine refused these settings: \("\(reasons)").")
    }

    private var anewForm: HTML {
        """
        <form class="go-on" data-post="/api/sessions/\(view.id)/anew"><button type="submit">Begin it anew</button><span class="answer" role="status"></span></form>

        """
    }

    /// Where the cause is gone nobody has to wait.
    private var goOnForm: HTML {
        """
        <form class="go-on" data-post="/api/sessions/\(view.id)/resume"><button type="submit" data-resume>Go on from its journal</button><span class="answer" role="status"></span></form>

        """
    }

    func notice(_ icon: Icon, _ look: String, _ title: String, _ text: HTML) -> HTML {
        "<p class=\"notice \(look)\">\(icon.html)<span><strong>\(title).</strong> \(text)</span></p>\n"
    }

    var quietIndicator: Surface {
        guard view.live.isQuiet else { return Surface(.quietIndicator, "") }
        let until: HTML =
            view.live.quietHours.map {
                " until <span data-clock>\(minuteText($0.to))</span>"
            } ?? ""
        return Surface(
            .quietIndicator,
            notice(
                .moon, "quiet", "Quiet hours active",
                "Only urgent alerts ring\(until). <a href=\"\(address(.settings))#quiet\">Change</a>"))
    }

    func minuteText(_ nanoseconds: Int64) -> String {
        let minutes = nanoseconds / Nanoseconds.minute
        let (h, m) = ("\(minutes / 60)", "\(minutes % 60)")
        return (h.utf8.count < 2 ? "0" + h : h) + ":" + (m.utf8.count < 2 ? "0" + m : m)
    }
}
