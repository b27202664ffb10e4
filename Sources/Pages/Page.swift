// The pages: whole documents, and the parts of them that are swapped while they are open.
//
// Guarantees: a fragment has the same markup as in its document; nothing that a session, a study or a request says becomes markup, an attribute or a
// script (`HTML` escapes); no inline script or style; no address of another host. The same view gives the same bytes.
// Does not: know a session, a socket or a clock. Whatever it shows is in the view.

package import IsletFiles
package import IsletLive

/// What a reader's browser asks for, besides the page.
package struct PageContext: Sendable {
    /// The unit of glucose: everywhere, inputs included.
    package var unit: GlucoseUnit
    /// The charts' range: 3, 6, 12, 24.
    package var hours: Int
    /// Loopback or TLS: browsers allow notifications.
    package var canNotify: Bool
    /// A token is required: there is something to log out of.
    package var hasLogin: Bool
    /// The browser was chosen as the phone: its pages are the app's screen. Without that a page looks, and tells the session of no front.
    package var isPhone: Bool
    /// Where the session stands, when its past is looked at, s since its start; nil for a page of now.
    package var presentSeconds: Int64?
    /// What charts are drawn for, px: the width of their place, where its page has said it.
    package var width = 640.0
    /// Whether a ward has rows for those who are well, too.
    package var showsWell = false

    package init(
        unit: GlucoseUnit = .mgdl, hours: Int = 6, canNotify: Bool = true, hasLogin: Bool = false,
        isPhone: Bool = false, presentSeconds: Int64? = nil
    ) {
        (self.unit, self.hours, self.canNotify) = (unit, Self.ranges.contains(hours) ? hours : 6, canNotify)
        (self.hasLogin, self.isPhone, self.presentSeconds) = (hasLogin, isPhone, presentSeconds)
    }

    package static let ranges = [3, 6, 12, 24]
}

/// The pages of one session.
package enum PageName: String, CaseIterable, Sendable {
    case home, alerts, settings, pump, cgm, timeline, environment, past
}

package enum Page {
    /// A page of one session, as a whole document.
    /// - Parameter clearedShown: how many cleared alerts the alert center lists: 10, 20, ...
    package static func session(
        _ page: PageName, _ view: SessionView, timeline: [LiveEvent], clearedShown: Int,
        _ context: PageContext
    ) -> String {
        SessionPage(page, view, timeline: timeline, clearedShown: clearedShown, context).document.text
    }

    /// What is swapped in an open page of one session, by name.
    package static func fragments(
        _ page: PageName, _ view: SessionView, timeline: [LiveEvent], clearedShown: Int,
        _ context: PageContext
    ) -> [(name: String, html: String)] {
        SessionPage(page, view, timeline: timeline, clearedShown: clearedShown, context).fragments
    }

    /// All sessions, in the order given: worst first.
    /// - Parameters:
    ///   - rings: what rang lately, the newest first.
    ///   - ringsFrom: what the stream of a ward's events goes on from.
    package static func ward(
        _ cards: [WardCard], rings: [WardRing] = [], ringsFrom: String = "", _ context: PageContext
    ) -> String {
        WardPage(cards: cards, rings: rings, ringsFrom: ringsFrom, context: context).document.text
    }

    package static func wardFragments(
        _ cards: [WardCard], rings: [WardRing] = [], _ context: PageContext
    ) -> [(name: String, html: String)] {
        WardPage(cards: cards, rings: rings, context: context).fragments
    }
}
