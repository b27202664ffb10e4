// The pages: each surface in its place, text that stays text, one unit, controls that are off when nothing can be done.

import IsletAlerts
import IsletFiles
import IsletLoop
import IsletDevices
import Foundation
@testable import IsletLive
import IsletKernel
import Testing

@testable import Pages

@Suite("Pages") struct PageTests {
    private func page(
        _ name: PageName, _ view: SessionView = Samples.person, _ context: PageContext = PageContext(),
        cleared: Int = 10
    ) -> String {
        Page.session(name, view, timeline: Samples.events, clearedShown: cleared, context)
    }

    /// The surfaces that the contract names, by the page where they belong.
    private static let surfaces: [PageName: [Surface.Name]] = [
        .home: [
            .banner, .carousel, .bell, .settingsRow, .quietIndicator, .thresholdBanner, .loop, .glucose,
            .pump, .charts,
            .summary, .target, .subject, .meal, .bloodGlucose, .calibration, .bolus, .temporaryBasal,
            .suspend, .pod,
            .sensor, .loopMode, .sessionControl, .login, .frozen, .notifications, .units, .pace,
        ],
        .alerts: [.bell, .alertCenter, .activeAlerts, .clearedAlerts, .story, .quietIndicator, .frozen],
        .settings: [
            .settingsRow, .thresholds, .threshold, .sensitivity, .quietHours, .quietIndicator, .testAlert,
            .previews,
            .subject, .notifications,
        ],
        .pump: [.pump, .bolus, .temporaryBasal, .suspend, .pod, .banner],
        .cgm: [.sensor, .glucose, .charts, .calibration, .bloodGlucose],
        .timeline: [.timeline, .bell], .environment: [.environment, .thresholdBanner],
        .past: [.past, .fork, .glucose],
    ]

    @Test(arguments: PageName.allCases)
    func `each surface stands in its page, once where it is swapped`(_ name: PageName) throws {
        let text = page(name)
        for surface in try #require(Self.surfaces[name]) {
            #expect(
                text.contains("data-surface=\"\(surface.rawValue)\""),
                "\(surface.rawValue) in \(name.rawValue)")
        }
        for fragment in Page.fragments(
            name, Samples.person, timeline: Samples.events, clearedShown: 10, PageContext())
        {
            let opening = "data-fragment=\"\(fragment.name)\""
            #expect(text.components(separatedBy: opening).count == 2, "\(fragment.name) in \(name.rawValue)")
            let isSame = fragment.html.isEmpty || text.contains(fragment.html)
            #expect(isSame, "\(fragment.name)'s fragment is not what its document has")
        }
    }

    @Test func `every surface of the contract is in some page`() {
        var text = PageName.allCases.map { page($0) }.joined() + page(.home, Samples.room)
        text += Page.ward(Samples.cards, PageContext())
        text += Page.studies([], PageContext())
        text += Samples.beside(PageContext())
        for surface in Surface.Name.allCases {
            #expect(text.contains("data-surface=\"\(surface.rawValue)\""), "\(surface.rawValue)")
        }
    }

    @Test(arguments: PageName.allCases)
    func `nothing inline, no other host, ids once, tags closed`(_ name: PageName) throws {
        let text = page(name)
        // Nothing of ours is escaped by mistake, and no value is described instead of written.
        #expect(!text.contains("&lt;"), "\(name.rawValue)")
        #expect(!text.contains("HTML(") && !text.contains("Optional("), "\(name.rawValue)")
        #expect(!text.contains(" style="))
        #expect(!text.contains("<style"))
        #expect(text.components(separatedBy: "<script").count == 2)
        #expect(!text.contains("<script>"))
        for event in [" onclick=", " onload=", " onerror=", " onchange="] { #expect(!text.contains(event)) }
        let hosts = text.matches(of: /(?:src|href|action)="(?:https?:)?\/\/[^"]*"/)
        #expect(hosts.isEmpty)
        var seen: Set<String> = []
        for match in text.matches(of: /\sid="([^"]+)"/) {
            #expect(seen.insert(String(match.1)).inserted, "id \(match.1) twice in \(name.rawValue)")
        }
        for match in text.matches(of: /\sfor="([^"]+)"/) {
            #expect(
                seen.contains(String(match.1)), "label for \(match.1), which is nowhere in \(name.rawValue)")
        }
        for tag in [
            "section", "div", "form", "details", "ul", "ol", "li", "p", "span", "button", "a", "label", "svg",
        ] {
            let opened = text.matches(of: try Regex("<\(tag)[ >]")).count
            let closed = text.components(separatedBy: "</\(tag)>").count - 1
            #expect(opened == closed, "\(tag): \(opened) opened, \(closed) closed in \(name.rawValue)")
        }
        #expect(text.components(separatedBy: "<h1").count == 2)
        #expect(text.components(separatedBy: "role=\"alert\"").count >= 2)
        #expect(text.contains("class=\"skip\""))
        #expect(text.contains("Not a medical device"))
    }

    @Test func `headings go down one level at a time`() {
        for name in PageName.allCases {
            var before = 1
            for match in page(name).matches(of: /<h([1-6])[ >]/) {
                let level = Int(match.1) ?? 0
                #expect(level <= before + 1, "h\(level) after h\(before) in \(name.rawValue)")
                before = level
            }
        }
    }

    // MARK: Text is text

    @Test func `no name, message, study or event becomes markup`() {
        let evil = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'&\u{202E}"
        var view = Samples.person
        view.name = evil
        view.live.subject = evil
        view.live.loopSubject?.id = evil
        view.alerts[0].message = ValueText(evil)
        view.alerts[0].action = evil
        view.alerts[0].code = .init(rawValue: evil)
        view.alerts[0].story[0].effect = evil
        view.alerts[0].story[0].reason = evil
        view.cleared[0].message = ValueText(evil)
        view.phase = .failed(evil)
        view.origin = .fork(of: "adult-1", at: .start, change: evil)
        view.thresholds[0].recommended[0].source = evil
        view.log.spans[0].code = .init(rawValue: evil)
        var texts = PageName.allCases.map {
            Page.session(
                $0, view,
                timeline: [
                    LiveEvent(
                        number: 1, instant: .start, .refusal(LiveRefusal(.outOfRange, ValueText(evil)))),
                    LiveEvent(number: 2, instant: .start, .notice(evil, isSure: true)),
                    LiveEvent(number: 3, instant: .start, .end(EarlyEnd(reason: evil))),
                    LiveEvent(number: 4, instant: .start, .exchange(policy: evil, algorithm: evil)),
                    LiveEvent(number: 5, instant: .start, .input(number: 1, said: evil, .taken)),
                ], clearedShown: 10, PageContext()
            )
        }
        var card = Samples.card(evil, Samples.alerts)
        card.top?.message = ValueText(evil)
        card.localTime = evil
        texts.append(Page.ward([card], PageContext()))
        texts.append(Page.problem(404, evil, evil))
        texts.append(Page.new(studies: [evil], PageContext()))
        for text in texts {
            #expect(!text.contains("<script>"))
            #expect(!text.contains("<img src=x"))
            #expect(!text.contains("\u{202E}"))
        }
    }

    // MARK: Units

    @Test func `mmol/L throughout: values, messages, inputs, sliders, charts`() {
        var context = PageContext()
        context.unit = .mmolL
        for name in PageName.allCases {
            var text = page(name, Samples.person, context)
            // The choice of the unit names both.
            text = text.replacingOccurrences(of: ">mg/dL</option>", with: "")
            #expect(!text.contains("mg/dL"), "\(name.rawValue)")
        }
        let home = page(.home, Samples.person, context)
        #expect(home.contains("<strong>2.9</strong> <span class=\"unit\">mmol/L</span>"))
        #expect(home.contains("Glucose is urgently low: 2.9 mmol/L, below 3.1."))
        #expect(
            home.contains(
                "name=\"mgdl\" type=\"number\" inputmode=\"decimal\" min=\"3.90\" max=\"13.80\" step=\"0.1\" value=\"6.1\""
            ))
        let settings = page(.settings, Samples.person, context)
        #expect(settings.contains("data-unit=\"mmol/L\" data-factor=\"18.016000\""))
        #expect(
            settings.contains(
                "name=\"low\" aria-label=\"Glucose: ring below, mmol/L\" min=\"2.2\" max=\"22.2\" step=\"0.1\" value=\"4.2\""
            ))
        #expect(settings.contains("Recommended (adult): 3.9 to 10.0 mmol/L"))
        #expect(Page.ward(Samples.cards, context).contains("<strong>2.9</strong>"))
        #expect(
            !Samples.beside(context).replacingOccurrences(of: ">mg/dL</option>", with: "").contains("mg/dL"))
    }

    // MARK: Alerts

    @Test func `what must be acknowledged can be, and a reviewed low says so`() {
        let text = page(.alerts)
        func button(_ code: String, minutesAgo: Int64, _ words: String) -> String {
            let raised = Samples.now.adding(-minutesAgo * Nanoseconds.minute).nanoseconds / Nanoseconds.second
            return "data-command=\"acknowledge\" data-alert=\"\(code)\" data-episode=\"\(raised)\">\(words)<"
        }
        #expect(text.contains(button("ALERT-PUMP-FAULT", minutesAgo: 33, "Acknowledge")))
        #expect(text.contains(button("ALERT-CGM-URGENT-LOW", minutesAgo: 7, "Mark as reviewed")))
        #expect(text.contains("data-command=\"signIn\""))
        #expect(!text.contains("data-command=\"acknowledge\" data-alert=\"ALERT-AUTH-LOGIN-REQUIRED\""))
        var view = Samples.person
        view.alerts[0].reviewedAt = Samples.now
        let reviewed = page(.alerts, view)
        #expect(reviewed.contains("<strong>Reviewed</strong>"))
        #expect(!reviewed.contains("Mark as reviewed"))
    }

    @Test func `cleared alerts come ten at a time, with more and less`() {
        func count(_ text: String) -> Int { text.components(separatedBy: "card alert ended").count - 1 }
        #expect(count(page(.alerts)) == 10)
        #expect(page(.alerts).contains("data-cleared=\"20\""))
        #expect(!page(.alerts).contains(">Less<"))
        let more = page(.alerts, cleared: 20)
        #expect(count(more) == 20)
        #expect(more.contains("data-cleared=\"30\""))
        #expect(more.contains("data-cleared=\"10\""))
        let all = page(.alerts, cleared: 30)
        #expect(count(all) == 23)
        #expect(!all.contains(">More<"))
    }

    @Test func `severity is an icon and a word; the banner counts`() {
        let text = page(.home)
        #expect(text.contains("class=\"banner safetyCritical\""))
        #expect(text.contains("<p class=\"severity\">Urgent"))
        #expect(text.contains("<p class=\"severity\">Action needed"))
        #expect(text.contains("1 of 4"))
        #expect(text.contains("Alert center: 4 active alerts"))
    }

    @Test func `each effect and reason has its own words`() {
        let effects = Set(AlertEffect.Kind.allCases.map(StoryWords.words))
        #expect(effects.count == AlertEffect.Kind.allCases.count)
        let reasons = Set(AlertEffect.Reason.allCases.map { StoryWords.words($0) as String })
        #expect(reasons.count == AlertEffect.Reason.allCases.count)
        #expect(StoryWords.line(effect: "suppress", reason: "quietHours") == "Held back: quiet hours")
        #expect(page(.alerts).contains("Held back: quiet hours"))
        #expect(page(.alerts).contains("(3 times)"))
        #expect(StoryWords.name(of: "ALERT-CGM-URGENT-LOW") == "CGM urgent low")
    }

    @Test func `numbers in messages have as many decimals as a reader can use`() {
        var view = Samples.person
        view.alerts[0].message =
            "Glucose \(282.9606394864198, unit: "mg/dL", comparedWith: 250), above \(250, unitless: "mg/dL"); \(1.23456, unit: "kPa")"
        #expect(page(.home, view).contains("Glucose 283.0 mg/dL, above 250; 1.23 kPa"))
    }

    /// Harm: one word of an alert is put better, and a page in mmol/L shows mg/dL.
    @Test func `an alert in other words has the same values in the reader's unit`() {
        var view = Samples.person
        view.alerts[0].message =
            "Zucker \(52, unit: "mg/dL", comparedWith: 55), unter \(55, unitless: "mg/dL", comparedWith: 52) seit \(timeOfDay: "13:53"), tiefster \(48, unit: "mg/dL")"
        var context = PageContext()
        context.unit = .mmolL
        let words =
            "Zucker 2.9 mmol/L, unter 3.1 seit <span data-clock>13:53</span>, tiefster 2.7 mmol/L"
        #expect(page(.home, view, context).contains(words))
        #expect(
            page(.home, view).contains(
                words.replacing("2.9 mmol/L", with: "52 mg/dL").replacing("3.1", with: "55").replacing(
                    "2.7 mmol/L", with: "48 mg/dL")))
    }

    @Test func `the timeline speaks as people do`() {
        let text = page(.timeline)
        #expect(text.contains("Meal: 45 g, eaten and announced"))
        // The charts say that.
        #expect(!text.contains("Reading 52 mg/dL"))
        #expect(!text.contains("foreground"))
        #expect(!text.contains("{"))
    }

    // MARK: Times

    @Test func `times are the session's own, with what a browser needs`() {
        let text = page(.home)
        #expect(text.contains("<time datetime=\"2026-03-04T"))
        #expect(text.contains("-05:00\" data-t=\""))
        #expect(PageText.span(59 * Nanoseconds.second) == "59 s")
        #expect(PageText.span(125 * Nanoseconds.minute) == "2 h 5 min")
        #expect(PageText.span(50 * Nanoseconds.hour) == "2 days 2 h")
    }

    // MARK: Ward and assets

    @Test func `the ward keeps its order and says why`() throws {
        let text = Page.ward(Samples.cards, PageContext())
        let first = try #require(text.firstRange(of: "data-session=\"adult-7\""))
        let last = try #require(text.firstRange(of: "data-session=\"child-3\""))
        #expect(first.lowerBound < last.lowerBound)
        #expect(text.contains("Glucose is urgently low"))
        #expect(text.contains("data-number>2</strong> <span>urgent</span>"))
        #expect(text.contains("data-number>1</strong> <span>need action</span>"))
        #expect(text.contains("data-act=\"a\"") && text.contains("What rang last"))
        #expect(text.contains("and 3 more"))
    }

    @Test func `a preview is no trouble in the ward, and an old value beside an urgent alert is urgent`() {
        var preview = Samples.card("Adult 9", [Samples.alerts[1]])
        preview.top?.isPreview = true
        preview.health = SessionHealth()
        preview.standing = WardStanding()
        let text = Page.ward([preview], PageContext())
        #expect(!text.contains("data-class=\"urgent\"") && !text.contains("data-class=\"action\""))
        #expect(text.contains("Preview:"))
        let both = Page.ward([Samples.card("Adult 9", Samples.alerts, stale: true)], PageContext())
        #expect(both.contains("data-class=\"urgent\""))
    }

    @Test func `assets are named by their content, and modules import each other by it`() throws {
        for name in ["page.css", "charts.css", "page.js", "live.js", "swap.js", "icon.svg"] {
            let asset = try #require(Page.asset(name))
            #expect(!asset.bytes.isEmpty, "\(name)")
        }
        #expect(Page.asset("../Page.swift") == nil)
        let script = String(decoding: try #require(Page.asset("page.js")).bytes, as: UTF8.self)
        #expect(script.contains("from './live.js?v="))
        #expect(!script.contains("from './live.js'"))
    }

    /// As they stand in the sources, but for the versions in imports; `ward.css` goes with `page.css`.
    @Test func `every file of the page is its own bytes`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Sources/Pages/Assets")
        func file(_ name: String) throws -> String {
            try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.count == 17)
        for name in names where name != "ward.css" {
            let asset = try #require(Page.asset(name), "\(name)")
            let text = String(decoding: asset.bytes, as: UTF8.self).replacing(
                /\.js\?v=[0-9a-f]+';/, with: ".js';")
            #expect(try text == file(name) + (name == "page.css" ? file("ward.css") : ""), "\(name)")
        }
    }

    /// For those who want to look: `ISLET_PAGES=DIR` writes every page as a file.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["ISLET_PAGES"] != nil))
    func `writes the pages`() throws {
        let folder = URL(fileURLWithPath: ProcessInfo.processInfo.environment["ISLET_PAGES"] ?? ".")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        func write(_ name: String, _ text: String) throws {
            let here = text.replacing(/\/assets\/([a-z.]+)\?v=[0-9a-f]+/) { "\($0.1)" }
            try here.write(to: folder.appending(path: name + ".html"), atomically: true, encoding: .utf8)
        }
        for name in PageName.allCases {
            try write(name.rawValue, page(name))
            try write("room-" + name.rawValue, page(name, Samples.room))
        }
        try write("ward", Page.ward(Samples.cards, PageContext()))
        try write("beside", Samples.beside(PageContext()))
        for name in ["page.css", "charts.css", "icon.svg"] {
            try Data(Page.asset(name)?.bytes ?? []).write(to: folder.appending(path: name))
        }
    }
}
