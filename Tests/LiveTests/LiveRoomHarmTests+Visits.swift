import IsletAlerts
import IsletFiles
import IsletDevices
import IsletKernel
import Testing
import IsletTrials

@testable import IsletLive

/// Visits, and who is seen to have seen what.
extension LiveRoomHarmTests {
    /// Harm: who looks after the room on request again and again tires of alarms that never rang.
    @Test func visitsOnRequestTireNobody() throws {
        let study = try summer("immediate")
        func hearing(_ heard: Heard, after: Instant) -> [String] {
            heard.events.filter { $0.instant > after && $0.text.hasPrefix("person") }.map(\.text)
        }
        let (_, alone) = try lived(study)
        let (session, heard) = try lived(study, to: .start)
        // Before anything rings: nobody is on the way.
        let first = try #require(alone.events.first { $0.alert?.effect == "notify" }?.instant)
        for minute in 1...20 {
            let at = Instant(nanoseconds: first.nanoseconds / 40 * Int64(minute))
            #expect(session.take(LiveCommand(.visit), at: at).outcome == .taken)
        }
        session.advance(to: .distantFuture)
        #expect(hearing(heard, after: first.adding(-1)) == hearing(alone, after: first.adding(-1)))
        #expect(session.outcome?.outcomes["keeper_calls_per_day"] != nil)
        #expect(heard.events.count { $0.text.hasPrefix("visit      as asked: nothing was broken") } == 20)
    }

    /// Harm: a page that is open all night holds back every notification, and nobody comes to the room that freezes.
    @Test func whatIsShownInFrontIsSeenByWhoHasItThere() throws {
        let study = try roomStudy(duration: "8d", faults: 12)
        let heard = Heard()
        let session = try LiveSession(try roomOpening(0, study), journal: nil, listener: heard.take)
        _ = session.take(LiveCommand(.foreground), at: .start)
        session.advance(to: .distantFuture)
        let effects = heard.events.compactMap(\.alert)
        #expect(effects.contains { $0.effect == "suppress" && $0.reason == "foreground" })
        #expect(!effects.contains { $0.effect == "notify" })
        #expect(heard.events.contains { $0.text.hasPrefix("visit      because something rang: mended") })
    }

    /// Harm: a thermometer that drifts shows heat that isn't there: the owner must see what the monitor shows, hear of it as of any value, and have it
    /// right after a visit.
    @Test func aDriftingSensorIsToldByItsValueAndMendedByAVisit() throws {
        for index in 0..<6 {
            let study = try roomStudy(duration: "16d", faults: 4)
            let probe = try LiveSession(try roomOpening(index, study), journal: nil)
            var drift: (since: Instant, mended: Instant)?
            while probe.phase == .running, drift == nil {
                probe.advance(to: probe.now.adding(30 * Nanoseconds.minute))
                guard let visit = probe.snapshot.room?.lastVisit, visit.mended.count == 1,
                    visit.mended[0].kind == "sensor-drift",
                    visit.at.nanoseconds - visit.mended[0].since.nanoseconds > 10 * Nanoseconds.hour
                else { continue }
                drift = (visit.mended[0].since, visit.at)
            }
            guard let drift else { continue }
            let session = try LiveSession(try roomOpening(index, study), journal: nil)
            session.advance(to: drift.mended.adding(-10 * Nanoseconds.minute))
            let told = "\(session.snapshot.alerts)"
            #expect(!told.contains("drift"))
            func shown() -> [Double] { session.snapshot.room?.metrics.compactMap { $0.newest?.value } ?? [] }
            let before = shown()
            _ = session.take(LiveCommand(.visit), at: session.now.adding(Nanoseconds.minute))
            session.advance(to: session.now.adding(10 * Nanoseconds.minute))
            let change = zip(before, shown()).map { abs($0 - $1) }
            #expect(change[0] > 4 || change[1] > 10, "\(change)")
            #expect(session.snapshot.room?.lastVisit?.mended.map(\.kind) == ["sensor-drift"])
            return
        }
        Issue.record("no sensor drifted for ten hours")
    }
}
