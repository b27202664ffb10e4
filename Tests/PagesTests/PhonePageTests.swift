import IsletAlerts
import IsletFiles
import Foundation
import IsletDevices
import IsletKernel
import Testing

@testable import Pages
@testable import IsletLive

/// What pages draw of banners and phones: what the session says, nothing of their own.
@Suite struct PhonePageTests {
    private func page(_ name: PageName, _ view: SessionView, _ context: PageContext = PageContext()) -> String
    {
        Page.session(name, view, timeline: [], clearedShown: 10, context)
    }

    private func toasts(_ text: String) -> Int { text.components(separatedBy: "data-toast=").count - 1 }

    /// Harm: a banner that was put away on one page stands on another, or comes back after a reload.
    @Test func `a threshold's banner is drawn where the session has it`() {
        var view = Samples.person
        #expect(PageName.allCases.allSatisfy { toasts(page($0, view)) == 0 })
        view.alerts[3].hasBanner = true
        for name in PageName.allCases where name != .past {
            let text = page(name, view)
            #expect(toasts(text) == 1, "\(name.rawValue)")
            #expect(text.contains("data-alert=\"THRESHOLD-GLUCOSE-LOW\" data-episode="), "\(name.rawValue)")
            // Once, and whose it is.
            #expect(text.contains("<strong>Adult 7</strong> Glucose is low"))
        }
        #expect(toasts(page(.past, view)) == 0)
    }

    /// Harm: nobody is told, and no page says so.
    @Test func `every page says whether there is a phone, and what rang without one`() {
        var view = Samples.person
        for name in PageName.allCases where name != .past {
            #expect(
                page(name, view).contains("No phone: no notification reaches anybody."), "\(name.rawValue)")
        }
        view.alerts[0].notifiedAt = Samples.now.adding(-5 * Nanoseconds.minute)
        for name in PageName.allCases where name != .past {
            #expect(page(name, view).contains("Rang, no phone: CGM urgent low"), "\(name.rawValue)")
        }
        // A phone that is there may still confirm it; one that did is told of.
        view.hasPhone = true
        #expect(!page(.alerts, view).contains("no phone"))
        view.alerts[0].toldAt = Samples.now
        #expect(page(.alerts, view).contains("Last notification: reached the phone."))
        // What ended untold was never told.
        view.cleared[0].notifiedAt = view.cleared[0].raisedAt
        #expect(page(.alerts, view).contains("Last notification: rang, no phone."))
        var phone = PageContext()
        phone.isPhone = true
        #expect(page(.home, view, phone).contains("This browser is the phone"))
        #expect(page(.home, view).contains("Looking only: another browser is the phone."))
    }

    @Test func `the ward says what rang without a phone`() {
        var card = Samples.card("Adult 9", Samples.alerts)
        card.isUntold = true
        #expect(Page.ward([card], PageContext()).contains("Rang, no phone"))
        card.hasPhone = true
        #expect(!Page.ward([card], PageContext()).contains("Rang, no phone"))
    }

    /// Harm: "all is well again" at 56 mg/dL, after the setting was moved to 55.
    @Test func `an alert that is over is not said to be well`() {
        for reason in AlertEffect.Reason.allCases {
            #expect(!StoryWords.words(reason).contains("well"), "\(reason)")
        }
    }

    @Test func `a time in an alert's words is written as every other`() {
        var view = Samples.person
        view.alerts[3].message =
            "Glucose \(52, unit: "mg/dL", comparedWith: 75), below \(75, unitless: "mg/dL", comparedWith: 52) since \(timeOfDay: "13:53"); lowest \(48, unit: "mg/dL")"
        var context = PageContext()
        #expect(
            page(.home, view, context).contains(
                ", below 75 since <span data-clock>13:53</span>; lowest 48 mg/dL"))
        context.unit = .mmolL
        #expect(
            page(.home, view, context).contains(
                "Glucose 2.9 mmol/L, below 4.2 since <span data-clock>13:53</span>; lowest 2.7 mmol/L"))
    }
}
