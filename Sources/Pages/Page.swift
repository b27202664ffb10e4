// The pages (placeholder of their shape until they are drawn).

package import Charts
package import Live
package import Ward

package struct PageContext: Sendable {
    package var unit: GlucoseUnit
    package var hours: Int
    package var canNotify: Bool
    package var hasLogin: Bool
    package var lookOnly: Bool

    package init(unit: GlucoseUnit, hours: Int, canNotify: Bool, hasLogin: Bool, lookOnly: Bool) {
        (self.unit, self.hours, self.canNotify) = (unit, hours, canNotify)
        (self.hasLogin, self.lookOnly) = (hasLogin, lookOnly)
    }
}

package enum PageName: String, CaseIterable, Sendable {
    case home, alerts, settings, pump, cgm, timeline, environment, past
}

package enum Page {
    package static func session(
        _ page: PageName, _ view: SessionView, timeline: [LiveEvent], clearedShown: Int,
        _ context: PageContext
    ) -> String { "<!doctype html><title>\(page.rawValue)</title>" }
    package static func fragments(
        _ page: PageName, _ view: SessionView, timeline: [LiveEvent], clearedShown: Int,
        _ context: PageContext
    ) -> [(name: String, html: String)] { [] }
    package static func ward(_ cards: [WardCard], _ context: PageContext) -> String {
        "<!doctype html><title>ward</title>"
    }
    package static func wardFragments(_ cards: [WardCard], _ context: PageContext) -> [(
        name: String, html: String
    )] { [] }
    package static func new(studies: [String], _ context: PageContext) -> String {
        "<!doctype html><title>new</title>"
    }
    package static func login(failed: Bool) -> String { "<!doctype html><title>login</title>" }
    package static func problem(_ status: Int, _ title: String, _ text: String) -> String {
        "<!doctype html><title>problem</title>"
    }
    package static func asset(_ name: String) -> (type: String, bytes: [UInt8])? { nil }
}
