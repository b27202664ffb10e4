// What commands have to do with phones: which page says that it is one, and whether a test reaches somebody.
//
// Guarantees: what only a phone can know (a banner was on the screen, a notification was shown) is taken from a page that is one.

import IsletAlerts
import IsletFiles
import IsletLive
import Pages
import IsletDevices
import IsletKernel

extension WardAPI {
    /// What a page says of itself: the answer where the session need not hear of it.
    func heard(_ command: WardCommand, of id: String) throws -> WebResponse? {
        guard let page = command.page else { return nil }
        guard command.wish == .input(.foreground) || command.wish == .input(.background) else {
            guard screens.isPhone(page, of: id) else {
                throw Ward.Refusal.conflict("this page is not the phone: nobody was shown anything by it")
            }
            return nil
        }
        // Several pages may be the phone: its app is in front while any of them is looked at.
        let isShown = command.wish == .input(.foreground)
        screens.see(page, isShown: isShown, of: id, at: ward.host.continuousNow)
        let isInFront = ward.host.status(of: id)?.snapshot.isInForeground ?? false
        guard !isShown || isInFront else { return nil }
        if isShown { ward.host.keepFront(id) }
        return Self.json(
            [
                "number": .null, "repeated": .bool(isInFront), "said": .null,
            ], 202)
    }

    /// Until when it is snoozed; whether a test reaches somebody, or why not; nil for anything else.
    func said(_ command: WardCommand, of id: String) -> String? {
        if case .input(let input) = command.wish, let code = input.snoozedAlert {
            let until = ward.view(id)?.live.snoozes?.first { $0.code.rawValue == code }?.until
            // `2026-03-02T09:41:00-05:00`
            return until.map {
                "Snoozed until \(ward.calendar(of: id).iso8601(at: $0).dropFirst(11).prefix(5))."
            }
        }
        guard case .input(let input) = command.wish, let code = input.testedAlert,
            let view = ward.view(id, screens),
            let rule = view.live.policy?.rules.first(where: { $0.code.rawValue == code })
        else { return nil }
        if let bar = rule.bar(rule.severity) {
            return "It rang nowhere, as the real one never notifies: \(Page.words(of: bar))."
        }
        guard view.hasPhone else {
            return "It reached nobody: no browser is used as the phone of this session."
        }
        let held = view.live.isQuiet && rule.severity < .safetyCritical
        return "Sent to the phone." + (held ? " The real one would wait for the end of the quiet hours." : "")
    }
}
