// The ward: every session at a glance, who is in most danger first, and what rang just now.
//
// Guarantees: keeps the order it is given; each row says in words why it stands where it stands, and what can be done about it; a tick stands only where all is well.
// Each row is a part of its own, so that who follows the ward is sent what has changed; what only time changes (ages) is counted by the page, and is no change.

import IsletAlerts
import IsletFiles
import IsletLoop
import IsletDevices
import IsletLive
import IsletKernel

struct WardPage {
    var cards: [WardCard]
    /// The newest first.
    var rings: [WardRing] = []
    /// What the stream of events goes on from: the ring that was shown last.
    var ringsFrom = ""
    var context: PageContext

    /// From so many on, rows are lower and well people a list of names.
    static let many = 40
    static let ringsShown = 4

    func count(_ group: WardStanding.Group) -> Int { cards.count { $0.standing.group == group } }

    var document: HTML {
        Document(
            title: count(.urgent) > 0 ? "(\(count(.urgent))!) Ward" : "Ward",
            facts: [
                ("page", "ward"), ("unit", context.unit.rawValue), ("rings", ringsFrom),
                ("urgent-icon", Page.address(of: "icon-urgent.svg")),
                ("numbers", WardCommand.numbers.joined(separator: " ")),
                ("can-notify", context.canNotify ? "1" : ""),
            ],
            header: header, main: "\(strip.html)\(list)\(heard.html)\(foot)", context: context
        ).html
    }

    /// What changes while the page is open: rows of who is well only where they are shown as rows.
    var fragments: [(name: String, html: String)] {
        let shown = cards.filter { context.showsWell || $0.standing.group != .well }
        return [strip, order, well, heard].fragments
            + shown.map { ("row-\($0.id)", WardRow($0, context, isPart: true).html.text) }
    }

    // MARK: Bar

    private var header: HTML {
        let people = cards.sorted { ($0.name, $0.id) < ($1.name, $1.id) }.map { card -> HTML in
            "<option value=\"\(card.id)\">as \(card.name)</option>"
        }
        let paces: [HTML] = [
            ("", "Pace of all"), ("1", "real time"), ("60", "60 times"), ("600", "600 times"),
            ("max", "as fast as it can"),
        ].map { "<option value=\"\($0.0)\">\($0.1)</option>" }
        let all: HTML =
            cards.isEmpty
            ? ""
            : """
            <label class="unseen" for="ward-pace">Pace of all sessions</label><select id="ward-pace" data-ward-pace>\(paces)</select><button type="button" data-ward-pause>\(Icon.pause.html)Pause all</button><label class="unseen" for="find">Find a person</label><input id="find" type="search" placeholder="Find  /" autocomplete="off" data-find>
            """
        return """
            <div class="who"><h1>Ward</h1></div>
            \(Page.liveDot)
            <div class="tools wardtools">\(Page.soundButton)<label class="unseen" for="listen">Listen as</label><select id="listen" data-listen><option value="">Listen to all</option>\(people)</select>\(all)</div>

            """
    }

    /// Counts, each of which shows those alone; and that nothing is heard, where nothing is.
    private var strip: Surface {
        func button(_ filter: String, _ count: Int, _ words: HTML, _ icon: Icon?) -> HTML {
            let sign: HTML = icon.map { $0.html } ?? ""
            let look: HTML = filter == "well" ? "count well" : "count \(filter)"
            return
                "<button type=\"button\" class=\"\(look)\" data-filter=\"\(filter)\" aria-pressed=\"false\">\(sign)<strong data-number>\(count)</strong> <span>\(words)</span></button>"
        }
        let unheard = cards.count { $0.isUnanswered }
        let dry = cards.count { $0.standing.noInsulinSince != nil }
        var buttons = button("urgent", count(.urgent), "urgent", .urgent)
        buttons += button("action", count(.action), "need action", .action)
        buttons += button("nodata", count(.noData), "no data", .wait)
        if count(.watch) > 0 { buttons += button("watch", count(.watch), "to watch", .eye) }
        buttons += button("well", count(.well), "well", .check)
        let all: HTML =
            "<button type=\"button\" data-filter=\"\" aria-pressed=\"true\">All</button><button type=\"button\" data-filter=\"unheard\" aria-pressed=\"false\">Unheard <b data-number>\(unheard)</b></button><button type=\"button\" data-filter=\"dry\" aria-pressed=\"false\">No insulin <b data-number>\(dry)</b></button>"
        let links = Page.wardTabs.dropFirst().map { tab -> HTML in
            "<a href=\"\(tab.address)\">\(tab.name)</a>\n"
        }
        let nav: HTML = "<nav class=\"links\" aria-label=\"Pages\">\(Array(links))</nav>"
        let inner: HTML =
            cards.isEmpty
            ? "" : "<div class=\"counts\" role=\"group\" aria-label=\"Show only\">\(buttons)\(all)</div>"
        return Surface(
            .strip, tag: "div", classes: "strip", inner + nav)
    }

    // MARK: Rows

    private var list: HTML {
        guard !cards.isEmpty else { return Self.empty }
        let rows = cards.enumerated().map { place, card -> HTML in
            let group = card.standing.group.rawValue
            return
                "<li class=\"person\" data-surface=\"card\" data-fragment=\"row-\(card.id)\" data-session=\"\(card.id)\" data-key=\"\(card.id)\" data-class=\"\(group)\" data-order=\"\(place)\" tabindex=\"-1\">\(WardRow(card, context, isPart: false).html)</li>\n"
        }
        let many: HTML = cards.count > Self.many ? " many" : ""
        let several: HTML = cards.count >= 16 ? " several" : ""
        return """
            <section data-surface="ward" class="wardlist\(many)\(several)"><h2 class="unseen">Who is in most danger first</h2>
            <p class="pillplace" role="status"><button type="button" class="pill" data-pill hidden></button></p>
            <ul class="plain rows">\(rows)</ul>
            \(well.html)</section>
            \(order.html)
            """
    }

    private static let empty: HTML = """
        <section data-surface="ward" class="ground empty"><h2>No one is here yet</h2>
        <div class="row"><form data-post="/api/demonstration"><button type="submit" class="do">Start the demonstration</button><span class="answer" role="status"></span></form><a class="button" href="/new">Start from a study</a><a class="button" href="/studies">Watch results</a></div></section>

        """

    /// Who stands where, and what time it is there: for the page's script.
    private var order: Surface {
        let lines = cards.map { card -> String in
            let pace = card.isMoving ? card.pace.description : "paused"
            return
                "\(card.id) \(card.standing.group.rawValue) \(card.standing.danger.rawValue) \(PageText.seconds(card.now)) \(pace) \(card.filters.joined(separator: ","))"
        }
        return Surface(
            .order, tag: "div", classes: "unseen", attributes: " hidden",
            "\(lines.joined(separator: ";"))")
    }

    /// Who is well, in a line or two.
    private var well: Surface {
        let people = cards.filter { $0.standing.group == .well }
        guard !people.isEmpty else { return Surface(.well, tag: "div", classes: "wellline", "") }
        let names = people.map { card -> HTML in
            "<a href=\"/sessions/\(card.id)\" data-person=\"\(card.name)\"><span class=\"name\">\(card.name)</span>\(WardRow(card, context, isPart: true).brief)</a>"
        }
        return Surface(
            .well, tag: "div", classes: "wellline",
            "<p class=\"wellhead\"><span class=\"well\">\(Icon.check.html)<strong>Well</strong></span> <span data-number>(\(people.count))</span></p><p class=\"names\">\(names.joined("<span aria-hidden=\"true\"> · </span>"))</p><button type=\"button\" class=\"quiet\" data-show-well aria-expanded=\"false\">Show as rows</button>"
        )
    }

    // MARK: What rang

    private var heard: Surface {
        guard !cards.isEmpty else { return Surface(.heard, classes: "heard", "") }
        let items = rings.prefix(Self.ringsShown).map { ring -> HTML in
            let telling = PageText(calendar: ring.calendar, now: ring.at ?? .start, unit: context.unit)
            let when: HTML =
                ring.at.map {
                    "\(telling.dayAndTime($0))<span class=\"ago\" data-age=\"\("\(PageText.seconds($0))")\" data-keep></span>"
                } ?? "its time is not known"
            return
                "<li data-key=\"ring-\(ring.number)\" data-session=\"\(ring.session)\"><span class=\"when\">\(when)</span> <strong>\(ring.name)</strong> <span class=\"severity \(ring.severity.name)\">\(SessionPage.icon(ring.severity).html)\(StoryWords.words(ring.severity))</span> <span class=\"what\">\(telling.message(ring.message))</span> <span class=\"ears\">\(Self.ears(ring))</span></li>\n"
        }
        let list: HTML =
            items.isEmpty
            ? "<p class=\"facts\">Nothing has rung yet.</p>" : "<ol class=\"plain\">\(items)</ol>"
        return Surface(.heard, classes: "heard", "<h2>What rang last</h2>\(list)")
    }

    /// What the page's script writes, and what it is told by.
    private var foot: HTML {
        guard !cards.isEmpty else { return "" }
        let keys = [
            ("j", "next"), ("k", "previous"), ("a", "acknowledge"), ("z", "snooze"), ("o", "open"),
            ("p", "the past"), ("m", "sound"), ("/", "find"),
        ].map { key, words -> HTML in "<kbd>\(key)</kbd> \(words) " }
        let notify: HTML =
            context.canNotify
            ? "<button type=\"button\" data-notify hidden>Allow notifications of this ward</button><span class=\"facts\" data-notify-state></span>"
            : ""
        return """
            <div class="wardfoot"><p class="facts" data-counted role="status"></p>\(notify)<p class="keys"><label class="tick"><input type="checkbox" data-keys checked> Keys</label> \(keys)</p></div>

            """
    }

    /// What became of a ring.
    static func ears(_ ring: WardRing) -> String {
        switch ring.hearing {
        case nil: return "rang"
        case .sleptOn: return "rang, slept on"
        case .unheard: return "rang, not heard"
        case .parentHeard: return "rang, heard by a parent" + late(ring)
        case .woke: return "rang, woke" + late(ring)
        default: return "rang, heard" + late(ring)
        }
    }

    /// Who hears and does not look has not answered yet.
    private static func late(_ ring: WardRing) -> String {
        guard let looked = ring.lookedAt, let at = ring.at else { return "" }
        let minutes = (looked.nanoseconds - at.nanoseconds) / Nanoseconds.minute
        return minutes < 2 ? ", looked at once" : ", looked \(minutes) min later"
    }

    static func words(_ pace: LivePace) -> String {
        switch pace {
        case .paused: "paused"
        case .max: "as fast as it can"
        case .step: "step by step"
        case .scaled(let speed): speed == 1 ? "real time" : "\(pace) times"
        }
    }
}

extension Page {
    /// How long ago the server last said something: every page that follows it has one.
    static let liveDot: HTML =
        "<p class=\"live connecting\" data-live><span class=\"dot\" aria-hidden=\"true\"></span><span data-live-words>Connecting</span> <span class=\"age\" data-live-age></span></p>"

    static let seenButton: HTML =
        "<button type=\"button\" data-seen data-act=\"a\">\(Icon.eye.html)<span>Seen</span><span class=\"unseen\">: the alarm sounds no more while it is so</span></button>"

    static let soundButton: HTML =
        "<span class=\"soundplace\"><span class=\"muted\" data-muted>\(Icon.muted.html)<span>Muted: alarms are not heard.</span></span><button type=\"button\" class=\"sound\" data-sound aria-pressed=\"false\"><span data-sound-words>Sound on</span></button></span>"
}

extension WardCard {
    /// Its time goes on.
    var isMoving: Bool {
        guard !isFrozen, case .running = phase else { return false }
        return true
    }

    /// Something rang, and nobody has answered.
    var isUnanswered: Bool {
        (isUntold && !hasPhone) || (standing.unansweredSince != nil && !wasHeard)
    }

    /// Which of the strip's filters it passes, besides its group.
    var filters: [String] {
        (isUnanswered ? ["unheard"] : []) + (standing.noInsulinSince != nil ? ["dry"] : [])
    }
}
