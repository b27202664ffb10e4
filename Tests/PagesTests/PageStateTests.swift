// What the pages say of a session's state, and what can be done in it.

import IsletAlerts
import IsletFiles
import IsletLoop
import IsletDevices
import Foundation
@testable import IsletLive
import IsletKernel
import Testing

@testable import Pages

@Suite("States on pages") struct PageStateTests {
    private func page(
        _ name: PageName, _ view: SessionView = Samples.person, _ context: PageContext = PageContext()
    ) -> String {
        Page.session(name, view, timeline: Samples.events, clearedShown: 10, context)
    }

    // MARK: Controls

    /// What can be pressed or filled in and changes the session.
    private func controls(_ text: String) -> [Substring] {
        guard let main = text.firstRange(of: "<main"), let end = text.firstRange(of: "</main>") else {
            return []
        }
        return text[main.lowerBound..<end.lowerBound].matches(
            of: /<(?:button|input|select|textarea)\s[^>]*>/
        ).map(\.output).filter {
            !$0.contains("data-step") && !$0.contains("data-notify") && !$0.contains("data-not-now")
                && !$0.contains("type=\"hidden\"") && !$0.contains("data-resume")
        }
    }

    @Test func `frozen, watched, over or failed: a surface says so, and every control is disabled`() {
        var frozen = Samples.person
        frozen.isFrozen = true
        var watched = Samples.person
        watched.origin = .study(folder: "results", session: 3, isSame: nil)
        var over = Samples.person
        over.phase = .ended("")
        var failed = Samples.person
        failed.phase = .failed("its journal is damaged")
        for (view, words) in [
            (frozen, "Frozen."), (watched, "Watching only."), (over, "Over."),
            (failed, "its journal is damaged"),
        ] {
            for name in PageName.allCases where name != .past {
                let text = page(name, view)
                #expect(text.contains(words), "\(words) in \(name.rawValue)")
                // One that has failed can go on, and nothing else.
                #expect(text.contains("data-resume") == (words == "its journal is damaged"))
                for control in controls(text) {
                    #expect(control.contains(" disabled"), "\(control) in \(name.rawValue) where \(words)")
                }
            }
        }
        let free = controls(page(.home))
        #expect(free.count > 20)
        #expect(free.allSatisfy { !$0.contains(" disabled") })
    }

    @Test func `the past has its own controls only`() {
        var context = PageContext()
        context.presentSeconds = PageText.seconds(Samples.now) + 7200
        let text = page(.past, Samples.person, context)
        #expect(!text.contains("data-command=\"acknowledge\""))
        #expect(!text.contains("data-command=\"requestBolus\""))
        #expect(!text.contains("data-command=\"cancelOwed\""))
        #expect(text.contains("You are looking at the past"))
        #expect(text.contains("2 h before now"))
        #expect(text.contains("data-post=\"/api/sessions/adult-7/forks\""))
        for preset in ["bionicloop", "story", "dexcom-g7"] {
            #expect(text.contains("<option value=\"\(preset)\">"))
        }
    }

    @Test func `a session that is fed suggests only`() {
        var view = Samples.person
        view.live.isFed = true
        let text = page(.home, view)
        #expect(text.contains("suggestions only"))
        for control in controls(text)
        where control.contains("bolus-units") || control.contains("suspend-minutes") {
            #expect(control.contains(" disabled"))
        }
        #expect(page(.past, view).contains("one future only"))
    }

    // MARK: Glucose and loop

    @Test func `glucose that is old or missing is red and says so`() {
        #expect(page(.home).contains("class=\"big verylow\""))
        var old = Samples.person
        old.live.loop?.isGlucoseStale = true
        let text = page(.home, old)
        #expect(text.contains("class=\"big stale\""))
        #expect(text.contains("Old: no newer reading."))
        #expect(!text.contains("class=\"arrow\""), "an old value has no trend")
        var missing = Samples.person
        missing.live.loop?.glucose = nil
        #expect(page(.home, missing).contains("No reading."))
    }

    @Test func `the loop's five states have their words`() {
        var view = Samples.person
        #expect(page(.home, view).contains("<strong>Closed loop</strong>"))
        view.live.loop?.status = .openLoop
        #expect(page(.home, view).contains("<strong>Open loop</strong>"))
        view.live.loop?.lastStep = nil
        view.live.loop?.status = .closedLoop
        #expect(page(.home, view).contains("<strong>Waiting for the first step</strong>"))
        view.live.loop?.status = .noSession
        #expect(page(.home, view).contains("<strong>Stopped</strong>"))
        view.isFrozen = true
        #expect(page(.home, view).contains("<strong>Frozen</strong>"))
    }

    @Test func `a reservoir that is known as a lower bound says more than`() {
        #expect(page(.pump).contains("more than 50.00 U"))
        var view = Samples.person
        view.live.pump?.isReservoirExact = true
        #expect(!page(.pump, view).contains("more than"))
    }

    @Test func `a bolus that waits for its confirmation shows its amount and what is left`() {
        var view = Samples.person
        #expect(!page(.home, view).contains("confirmBolus"))
        view.live.requestedBolus = Samples.requestedBolus
        let text = page(.home, view)
        #expect(text.contains("data-command=\"confirmBolus\" data-request=\"41\" data-units=\"2.5\""))
        #expect(text.contains("Give 2.50 U now?"))
        #expect(text.contains("Not now"))
    }
}
