// The harm as an invariant: whatever goes wrong, of what a person's programme is at most a fifth, and a pulse, is missing over
// any three hours with an active pod, unless the algorithm decided by a fresh reading to give less; and nothing comes twice.

import IsletAlerts
import IsletLoop
import IsletDevices
import IsletFiles
import IsletKernel
import IsletModels
import Testing

@testable import IsletTrials

/// What a person had, every five minutes, beside what the programme was and the algorithm wanted of it.
private struct InsulinCourse {
    /// U that had left the pump.
    var given: [Double] = []
    /// U of each step that the person was to have: the programme, or less where a step with a fresh reading asked for less.
    var wanted: [Double] = []
    /// U that steps asked for beyond the programme, meals among it.
    var beyond: [Double] = []
    var programmePerStep = 0.0
    var glucose: [Double] = []

    private static let window = 36

    /// The most that was missing over three hours, of their programme; 1 for all.
    func worstShare(pulse: Double) -> (share: Double, minute: Int) {
        var worst = (share: -1.0, minute: 0)
        for begin in 0..<max(0, wanted.count - Self.window) {
            let end = begin + Self.window
            let missing = wanted[begin..<end].reduce(0, +) - (given[end] - given[begin]) - pulse
            let share = missing / (programmePerStep * Double(Self.window))
            if share > worst.share { worst = (share, begin * 5) }
        }
        return worst
    }

    /// The most that came over three hours beyond what was wanted and asked for.
    func mostBeyond() -> (units: Double, minute: Int) {
        var most = (units: -1.0, minute: 0)
        for begin in 0..<max(0, wanted.count - Self.window) {
            let end = begin + Self.window
            let asked = wanted[begin..<end].reduce(0, +) + beyond[begin..<end].reduce(0, +)
            let units = given[end] - given[begin] - asked
            if units > most.units { most = (units, begin * 5) }
        }
        return most
    }
}

/// A PID that answers one step in so many.
private struct FailingPID: DosingAlgorithm {
    struct NoAnswer: Error {}
    private let pid = PIDInsulinFeedback()
    let name = "failing"
    let basalSource = BasalSource.algorithm
    let every: Int64

    init(every: Int64) { self.every = every }

    var forecastMinutes: Double? { pid.forecastMinutes }
    func run(_ input: borrowing StepInput, state: inout PIDInsulinFeedback.State) throws -> StepOutput {
        guard input.algorithmTime % every == 0 else { throw NoAnswer() }
        return pid.run(input, state: &state)
    }
}

@Suite("The course of a person's insulin")
struct InsulinCourseTests {
    private static let pulse = 0.05

    /// - Parameter act: what somebody does to the session, every five minutes.
    private static func live(
        hours: Int, faults: String = "", meals: String = "none", algorithm: String = "pid-insulin-feedback",
        subject: Int = 0, seams: SessionSeams = SessionSeams(), hold: (SessionExecutor) -> Void = { _ in },
        act: (Session, Int) throws -> Void = { _, _ in }
    ) throws -> (course: InsulinCourse, session: Session) {
        let study = try Study.parse(
            """
            study: course
            seed: 7
            start: 2026-03-02T06:00:00-05:00
            duration: \(hours)h
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 2 } }
            sensor: ideal
            scenario: { meals: \(meals) }
            faults: { scheduled: [\(faults)] }
            record: full
            arms: [{ algorithm: \(algorithm) }]
            """, file: "course.yaml")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "course.yaml", jobs: 1)
        let session = try Session(
            study: study, subject: subjects[subject], index: subject, arm: study.arms[0], seams: seams)
        hold(session.executor)
        var course = InsulinCourse()
        for minute in stride(from: 0, to: hours * 60, by: 5) {
            try session.advance(to: .minutes(Int64(minute)))
            course.given.append(insulin(session))
            try act(session, minute)
        }
        try session.advance(to: .minutes(Int64(hours * 60) - 1))
        course.glucose = session.plasmaTruth
        let therapy = session.executor.inspect { session.loop.here { $0.settingsInForce.therapy } }
        course.programmePerStep = therapy.basalRate.unitsPerHour / 12
        course.wanted = [Double](repeating: course.programmePerStep, count: course.given.count)
        course.beyond = [Double](repeating: 0, count: course.given.count)
        for row in session.recorder.steps where row.failure.isEmpty {
            let own = row.basalUnits + row.correctionUnits
            let place = min(course.wanted.count - 1, Int((row.instant.minutes + 0.5) / 5))
            if row.cgmMgdl != nil { course.wanted[place] = min(course.programmePerStep, own) }
            course.beyond[place] = max(0, own - course.programmePerStep) + row.mealUnits
        }
        return (course, session)
    }

    private static func insulin(_ session: Session) -> Double {
        let ledger = session.ledger
        return Double(ledger.delivered + ledger.basal) * pulse
    }

    /// Holds a course to the invariant, in both directions.
    private static func check(
        _ course: InsulinCourse, _ name: String, from location: SourceLocation = #_sourceLocation
    ) {
        #expect(course.programmePerStep > 0, "\(name)", sourceLocation: location)
        let worst = course.worstShare(pulse: pulse)
        #expect(
            worst.share <= 0.2,
            "\(name): \(Int(100 * worst.share)) % of three hours from minute \(worst.minute) is missing",
            sourceLocation: location)
        // Half an hour of the programme beside what was asked for: a request of unknown fate counts as given, and the programme runs.
        let most = course.mostBeyond()
        #expect(
            most.units <= 0.2 * 36 * course.programmePerStep + 2 * pulse,
            "\(name): \(most.units) U more than anybody asked for in three hours from minute \(most.minute)",
            sourceLocation: location)
    }

    /// Harm: 0.00 U of 4.37 U in three hours; a quarter of the basal for a day.
    @Test(
        "has the programme while boluses are refused, nobody knows of them, or one never ends, for a day",
        arguments: BolusRefusingPump.Way.allCases, [0, 1])
    func bolusesDoNotCome(_ way: BolusRefusingPump.Way, subject: Int) throws {
        nonisolated(unsafe) var executor: SessionExecutor?
        var seams = SessionSeams()
        seams.pump = { BolusRefusingPump($0, way, 60..<1500) { executor?.now ?? .start } }
        let lived = try Self.live(hours: 27, subject: subject, seams: seams, hold: { executor = $0 })
        defer { executor = nil }
        Self.check(lived.course, "\(way) of subject \(subject)")
    }

    @Test("has the programme while every command is lost for a day", arguments: [0, 1])
    func commandsFail(subject: Int) throws {
        let lived = try Self.live(
            hours: 27, faults: "{ at: 1h, kind: command-failure, for: 24h }", subject: subject)
        Self.check(lived.course, "lost, subject \(subject)")
    }

    /// Harm: a third of the basal for 11.5 h, 137 → 344 mg/dL without a meal, no alarm.
    @Test(
        "has the programme where the app lives for a minute at a time",
        arguments: [(15, 0), (15, 2), (10, 0), (10, 3), (25, 1)], [0, 1])
    func crashLoop(loop: (every: Int, phase: Int), subject: Int) throws {
        let (every, phase) = loop
        let faults = stride(from: 60 + phase, to: 760, by: every).map {
            "{ at: \($0)m, kind: app-quit, for: \(every - 1)m }"
        }
        let lived = try Self.live(hours: 14, faults: faults.joined(separator: ", "), subject: subject)
        Self.check(lived.course, "1:\(every) phase \(phase), subject \(subject)")
        #expect((lived.course.glucose.max() ?? 999) < 260)
    }

    @Test(
        "has the programme around a stop of two hours, and where the pump was never there",
        arguments: [
            "{ at: 3h1m, kind: app-quit, for: 2h }", "{ at: 3h1m, kind: pump-outage, for: 2h }",
            "{ at: 0s, kind: pump-outage, for: 24h }",
            // The pump comes back for a few minutes at a time.
            "{ at: 2h, kind: pump-outage, for: 38m }, { at: 2h44m, kind: pump-outage, for: 38m }, { at: 3h27m, kind: pump-outage, for: 38m }, { at: 4h11m, kind: pump-outage, for: 40m }",
        ], [0, 1])
    func stopped(faults: String, subject: Int) throws {
        let lived = try Self.live(hours: 26, faults: faults, subject: subject)
        Self.check(lived.course, "\(faults) subject \(subject)")
    }

    /// Harm: an algorithm that gave no answer in time at every second step: half of the programme for as long as that went on.
    @Test("has the programme where the algorithm fails at most of its steps", arguments: [2, 3, 7], [0, 1])
    func algorithmFails(every: Int64, subject: Int) throws {
        var seams = SessionSeams()
        seams.algorithm = { _ in FailingPID(every: every) }
        let lived = try Self.live(hours: 14, subject: subject, seams: seams)
        Self.check(lived.course, "one good step in \(every), subject \(subject)")
    }

    /// Harm: an app that dies again and again, of whose lives each second one has its commands lost: half of the programme.
    @Test(
        "has the programme where the app lives for a minute at a time and commands fail in each second life",
        arguments: [15, 25], [0, 1])
    func crashLoopAndFailures(every: Int, subject: Int) throws {
        let deaths = stride(from: 61, to: 760, by: every).map {
            "{ at: \($0)m, kind: app-quit, for: \(every - 1)m }"
        }
        let failures = stride(from: 59 + every, to: 760, by: 2 * every).map {
            "{ at: \($0)m, kind: command-failure, for: 3m }"
        }
        let lived = try Self.live(
            hours: 14, faults: (deaths + failures).joined(separator: ", "), subject: subject)
        Self.check(lived.course, "1:\(every) and failures, subject \(subject)")
    }

    /// Harm: seven doses of one reading, 2.50 U in five minutes where 0.375 is the most.
    @Test("is not doubled by a session that is started seven times within the hour", arguments: [0, 1])
    func restarted(subject: Int) throws {
        let lived = try Self.live(
            hours: 10, subject: subject,
            act: { session, minute in
                guard minute >= 240, minute < 275 else { return }
                try session.executor.inspect {
                    try session.loop.here {
                        $0.endSession()
                        try $0.startSession()
                    }
                }
            })
        Self.check(lived.course, "restarted, subject \(subject)")
        let given = lived.course.given
        let most: Double = zip(given.dropFirst(), given).map { $0 - $1 }.max() ?? 0
        #expect(most <= 3 * lived.course.programmePerStep + 2 * Self.pulse)
    }
}
