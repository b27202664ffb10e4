import Synchronization
import Testing

@testable import IsletFiles

/// A clock and a screen that the test owns.
private final class Desk: Sendable {
    let seconds = Mutex(0.0)
    let written = Mutex<[String]>([])
    func line(_ style: ProgressLine.Style, sessions: Int, alreadyDone: Int = 0) -> ProgressLine {
        ProgressLine(
            sessions: sessions, alreadyDone: alreadyDone, style: style,
            now: { self.seconds.withLock { $0 } },
            write: { text in self.written.withLock { $0.append(text) } })
    }
    func wait(_ duration: Double) { seconds.withLock { $0 += duration } }
    var texts: [String] { written.withLock { $0 } }
}

@Suite struct ProgressLineTests {
    @Test func aLogGetsOneJSONLineEveryFewSeconds() {
        let desk = Desk()
        let line = desk.line(.lines, sessions: 100)
        for _ in 0..<48 {
            desk.wait(0.125)
            line.add(patientDays: 7)
        }
        #expect(
            desk.texts
                == [
                    #"{"sessions_done":40,"sessions":100,"patient_days_per_second":56,"seconds_left":7.5}"#
                        + "\n"
                ])
        line.finish()
        #expect(desk.texts.count == 2)
    }

    @Test func resumedSessionsCountAsDoneButNotForTheSpeed() {
        let desk = Desk()
        let line = desk.line(.lines, sessions: 100, alreadyDone: 90)
        desk.wait(5)
        line.add(sessions: 5, patientDays: 50)
        #expect(
            desk.texts == [
                #"{"sessions_done":95,"sessions":100,"patient_days_per_second":10,"seconds_left":5}"# + "\n"
            ])
    }

    @Test func nothingIsSaidWhenQuiet() {
        let desk = Desk()
        let line = desk.line(.silent, sessions: 2)
        desk.wait(100)
        line.add(patientDays: 1)
        line.finish()
        #expect(desk.texts.isEmpty)
    }

    @Test(arguments: 0...200)
    func aBarNeverWrapsAndAlwaysOverwrites(columns: Int) {
        let snapshot = ProgressLine.Snapshot(
            sessionsDone: 420, sessions: 1000, patientDaysPerSecond: 5100.4, secondsLeft: 3661)
        let bar = snapshot.bar(columns: columns, color: false)
        #expect(bar.count == max(0, columns - 1))
        #expect(!bar.contains("\u{1B}"))
        if columns == 100 {
            #expect(
                bar.hasPrefix("[###")
                    && bar.contains("42%  420/1000 sessions  5100 patient-days/s  1 h 01 min left"))
        }
    }

    @Test func aRunOfNothingIsDone() {
        let snapshot = ProgressLine.Snapshot(
            sessionsDone: 0, sessions: 0, patientDaysPerSecond: .infinity, secondsLeft: nil)
        #expect(snapshot.bar(columns: 80, color: true).contains("100%"))
        #expect(snapshot.json["seconds_left"] == .null)
    }
}
