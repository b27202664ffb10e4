import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

/// Each definition at its edges, by hand.
@Suite struct MetricCaseTests {
    private typealias Paper = PaperSession

    // MARK: Truth

    @Test func anEpisodeLastsAQuarterOfAnHourAndEndsWithOne() {
        // 10 min: none. 15 min: one. Two of 20 with 10 between are one; with 15 between they are two.
        func lows(_ stretches: [(from: Int, to: Int, mgdl: Float)]) -> IntervalSet? {
            Paper(name: "", plasma: stretches, rules: []).truth[.low70]
        }
        #expect(lows([(60, 70, 65)]) == Paper.set([]))
        #expect(lows([(60, 75, 65)]) == Paper.set([(60, 75)]))
        #expect(lows([(60, 80, 65), (90, 110, 65)]) == Paper.set([(60, 110)]))
        #expect(lows([(60, 80, 65), (95, 115, 65)]) == Paper.set([(60, 80), (95, 115)]))
        // What is short does not begin an episode, and does not end one either.
        #expect(lows([(60, 80, 65), (85, 90, 65), (95, 100, 65), (200, 210, 65)]) == Paper.set([(60, 100)]))
        // On at the end of the session: up to it. The bound itself is inside.
        #expect(lows([(1425, 1445, 65)]) == Paper.set([(1425, 1440)]))
        #expect(lows([(60, 90, 70)]) == Paper.set([]))
    }

    @Test func levelsAreEpisodesOfTheirOwn() {
        let truth = Paper(
            name: "", plasma: [(60, 100, 65), (75, 90, 50), (200, 400, 181), (300, 315, 251)], rules: []
        ).truth
        #expect(truth[.low70] == Paper.set([(60, 100)]) && truth[.low54] == Paper.set([(75, 90)]))
        #expect(truth[.high180] == Paper.set([(200, 400)]) && truth[.high250] == Paper.set([(300, 315)]))
        #expect(truth.prolonged(.high180).count == 1 && truth.prolonged(.low70).isEmpty)
        #expect(truth[.noPod] == nil)
    }

    @Test func reboundsAreCountedOfLowsThatWereWatchedForTwoHours() {
        // 60-90 then 181 at 200 (110 min after): one. 500-530 then nothing: none. 1400-1430: the session ends first, nobody can say.
        let truth = Paper(
            name: "", plasma: [(60, 90, 65), (200, 205, 181), (500, 530, 65), (1400, 1430, 65)], rules: []
        ).truth
        #expect(truth.rebounds.some == 1 && truth.rebounds.all == 2)
    }

    @Test func whatIsUnknownIsInNoRateOfWhatIsFound() {
        // Lows at 60 and 700, the first one told of; another alert for nothing at 300; a pod missing from 100 to 200, missed. Glucose is unknown for 960 of 1440 min.
        let rules = [Paper.low] + AlertPolicy.bionicloop.rules.filter { $0.truth == .noPod }
        #expect(rules.count == 2)
        func metrics(_ unknown: [(Int64, Int64)], rules: [AlertRule]) -> AlertMetrics {
            var truth = Paper(
                name: "", plasma: [(60, 100, 65), (700, 740, 65)], devices: [(.noPod, [(100, 200)])],
                rules: []
            ).truth
            truth.unknown = Paper.set(unknown)
            let told: [(Int64, AlertEvent.Kind)] = [
                (60, .raise), (60, .notify), (100, .clear), (300, .raise), (300, .notify), (310, .clear),
            ]
            return AlertMetrics(
                policy: AlertPolicy(name: "paper", rules: rules),
                events: rules.first?.truth == .low70 ? told.map { AlertEvent(.minutes($0.0), 0, $0.1) } : [],
                truth: truth)
        }
        let known = metrics([], rules: rules)
        #expect(known[.missedPerDay] == 2 && known[.falsePerDay] == 1)
        // Where a third of the day is known, glucose is missed three times as often; the pod is known all day.
        let some = metrics([(400, 690), (770, 1440)], rules: rules)
        #expect(some[.missed] == 2 && some[.missedPerDay] == 4 && some[.falsePerDay] == 3)
        let glucose = metrics([(400, 690), (770, 1440)], rules: [rules[0]])
        #expect(glucose[.missedPerDay] == 3 && glucose[.falsePerDay] == 3)
        #expect(glucose.missedPerDay(of: .low70) == 3)
        let pod = metrics([(400, 690), (770, 1440)], rules: [rules[1]])
        #expect(pod[.missedPerDay] == 1)
        // Of glucose that nobody knows at all nothing is said.
        #expect(metrics([(0, 1440)], rules: [rules[0]])[.falsePerDay] == nil)
    }

    // MARK: Matching

    @Test func anAlertIsOfAnEpisodeThatBeginsAtMostHalfAnHourAfterIt() {
        func sensitivity(_ minute: Int64) -> Double? {
            Paper(
                name: "", plasma: [(60, 100, 65)], rules: [Paper.low],
                events: [(minute, 0, .raise), (minute, 0, .notify), (minute + 1, 0, .clear)]
            ).metrics[.sensitivityG15]
        }
        #expect(sensitivity(29) == 0 && sensitivity(30) == 1)
        #expect(sensitivity(75) == 1 && sensitivity(76) == 0)
    }

    @Test func anAlarmThatIsOverAtTheOnsetIsNotGoing() {
        // Told 10-50 of nothing, low from 60: at 60 nobody is being told, and 10 is 50 min before.
        let metrics = Paper(
            name: "", plasma: [(60, 100, 65)], rules: [Paper.low],
            events: [(10, 0, .raise), (10, 0, .notify), (50, 0, .clear), (50, 0, .withdraw)]
        ).metrics
        #expect(metrics[.sensitivityG30] == 0 && metrics[.falsePerDay] == 1 && metrics[.missed] == 1)
    }

    @Test func twoRulesAboutOneTruthAreOneAlarm() {
        var soon = Paper.rule("SOON", .glucose, .low, 85)
        soon.claim = .about(.low70)
        let metrics = Paper(
            name: "", plasma: [(60, 100, 65)], rules: [Paper.low, soon],
            events: [
                (50, 1, .raise), (50, 1, .notify), (60, 0, .raise), (60, 0, .notify), (100, 0, .clear),
                (105, 1, .clear),
            ]
        ).metrics
        // One alert at 50: lead 10, nothing false. Two notifications all the same; told from 50 to 105.
        #expect(metrics[.lead] == 10 && metrics[.falsePerDay] == 0 && metrics[.ppv] == 1)
        #expect(metrics[.notifications] == 2 && metrics[.annunciating] == 55)
    }

    @Test func anAlarmThatNobodyWasToldOfIsNoAlert() {
        let metrics = Paper(
            name: "", plasma: [(60, 100, 65)], rules: [Paper.low],
            events: [(60, 0, .raise), (100, 0, .clear)]
        ).metrics
        #expect(metrics[.sensitivityG30] == 0 && metrics[.ppv] == nil && metrics[.missed] == 1)
        #expect(metrics[.suppressed] == 40)
    }

    @Test func twoEpisodesNeedTwoAlerts() {
        // Lows 60-80 and 100-130, one alert at 75 that is over at 80: the second's window is 70-115, the alert is taken.
        let metrics = Paper(
            name: "", plasma: [(60, 80, 65), (100, 130, 65)], rules: [Paper.low],
            events: [(75, 0, .raise), (75, 0, .notify), (80, 0, .clear), (80, 0, .withdraw)]
        ).metrics
        #expect(metrics[.sensitivityG15] == 0.5 && metrics[.missed] == 1 && metrics[.lead] == -15)
    }

    // MARK: Nuisance

    private func nuisance(
        _ plasma: [(from: Int, to: Int, mgdl: Float)], at minute: Int64,
        treated: [(Int64, AlertTopic)] = []
    ) -> Double? {
        Paper(
            name: "", plasma: plasma, rules: [Paper.low],
            events: [(minute, 0, .raise), (minute, 0, .notify), (minute + 30, 0, .clear)],
            treatments: treated
        ).metrics[.nuisance]
    }

    @Test func aRingIsANuisanceWhereItCallsForNothing() {
        let low: [(from: Int, to: Int, mgdl: Float)] = [(60, 120, 65)]
        // True, and half an hour before; not 31 min before, nor after its end.
        #expect(nuisance(low, at: 90) == 0 && nuisance(low, at: 30) == 0)
        #expect(nuisance(low, at: 29) == 1 && nuisance(low, at: 120) == 1)
        // Treated 15 min before: nothing more to do; 16 min before: time to look again. What was done about a high doesn't count.
        #expect(nuisance(low, at: 90, treated: [(75, .low)]) == 1)
        #expect(nuisance(low, at: 90, treated: [(74, .low)]) == 0)
        #expect(nuisance(low, at: 90, treated: [(80, .high)]) == 0)
        // 60 at 75, 65 at 90: 70 at 105 at that pace, so it recovers. From 61 it comes to 69 only.
        #expect(nuisance([(60, 90, 60), (90, 120, 65)], at: 90) == 1)
        #expect(nuisance([(60, 90, 61), (90, 120, 65)], at: 90) == 0)
    }

    // MARK: Waterfall

    @Test func aSilentMinuteIsGivenToTheFirstObstacleInTheOrder() {
        let paper = Paper(
            name: "", plasma: [(60, 120, 65)], rules: [Paper.low],
            standings: [
                [
                    (60, .held(.debounce, .quietHours, .cooldown)),
                    (70, .held(.quietHours, .cooldown, isActive: true)),
                    (90, .held(.cooldown, isActive: true)), (100, AlertStanding(.stale)), (110, [.condition]),
                ]
            ])
        let metrics = paper.metrics
        #expect(metrics[.suppressed(by: .debounce)] == 10 && metrics[.suppressed(by: .quietHours)] == 20)
        #expect(metrics[.suppressed(by: .cooldown)] == 10 && metrics[.suppressed(by: .stale)] == 10)
        #expect(metrics[.unseen] == 10 && metrics[.suppressed] == 60)
        #expect(metrics.silence?.sum == 60)
    }

    @Test func ofTwoRulesTheOneNearestToBeingHeardSpeaks() {
        let paper = Paper(
            name: "", plasma: [(60, 100, 65)], rules: [Paper.low, Paper.rule("LOW-TOO", .glucose, .low, 69)],
            standings: [
                [(60, AlertStanding(.stale))],
                [(70, .held(.debounce)), (85, .held(.cooldown, isActive: true))],
            ])
        let metrics = paper.metrics
        #expect(metrics[.suppressed(by: .stale)] == 10 && metrics[.suppressed(by: .debounce)] == 15)
        #expect(metrics[.suppressed(by: .cooldown)] == 15)
    }

    // MARK: Telling

    /// A low of an hour from 60, notified at these minutes, acknowledged never or at one.
    private func hour(
        rung: [Int64], repeatEvery: Int64? = nil, acknowledgedAt: Int64? = nil, tellsFor: Int64? = 15,
        standings: [(Int64, AlertStanding)]? = nil
    ) -> AlertMetrics {
        var rule = Paper.low
        rule.repeatEvery = repeatEvery.map { $0 * Nanoseconds.minute }
        let rings = rung.map { ($0, 0, AlertEvent.Kind.notify) }
        let all = [(rung[0], 0, .raise)] + rings + [(120, 0, .clear), (120, 0, .withdraw)]
        var paper = Paper(
            name: "", plasma: [(60, 120, 65)], rules: [rule],
            events: (all + (acknowledgedAt.map { [($0, 0, .acknowledge)] } ?? [])).sorted { $0.0 < $1.0 },
            standings: standings.map { [$0] })
        if let tellsFor { paper.tellsFor = tellsFor }
        return paper.metrics
    }

    @Test func aNotificationThatIsNeverRepeatedTellsForAStatedTime() {
        // Rung at the onset and never again: told for 15 min, silent for 45, and it stood there notified all the hour.
        let once = hour(rung: [60], standings: [(60, .told), (120, [])])
        #expect(once[.suppressed] == 45 && once[.unrepeated] == 45 && once[.unseen] == 0)
        #expect(once[.annunciating] == 60 && once.silence?.sum == 45)
        #expect(hour(rung: [60], tellsFor: 5)[.suppressed] == 55)
        #expect(hour(rung: [60], tellsFor: nil)[.suppressed] == 0)
        // Fifteen minutes are the usual.
        let usual = AlertMetrics(
            policy: AlertPolicy(name: "p", rules: [Paper.low]),
            events: [AlertEvent(.minutes(60), 0, .raise), AlertEvent(.minutes(60), 0, .notify)],
            truth: Paper(name: "", plasma: [(60, 120, 65)], rules: []).truth)
        #expect(usual[.suppressed] == 45)
        // Nothing else is judged by it: the alert of 60 is going at 120, and of a low that begins later it still is one.
        #expect(once[.sensitivityG0] == 1 && once[.missed] == 0 && once[.notifications] == 1)
        let later = hour(rung: [20])
        #expect(later[.sensitivityG0] == 1 && later[.suppressed] == 60)
    }

    @Test func eachNotificationTellsAnew() {
        // 60-75 and 100-115; 60-85 without a break; 50-65 of which 60-65 are in the low.
        #expect(hour(rung: [60, 100])[.suppressed] == 30)
        #expect(hour(rung: [60, 70])[.suppressed] == 35 && hour(rung: [60, 75])[.suppressed] == 30)
        #expect(hour(rung: [50])[.suppressed] == 55)
        #expect(hour(rung: [60, 75, 90, 105])[.suppressed] == 0)
    }

    @Test func aNotificationTellsUntilItIsAcknowledgedOrIsToBeRepeated() {
        #expect(hour(rung: [60], acknowledgedAt: 65)[.suppressed] == 55)
        #expect(hour(rung: [60], acknowledgedAt: 80)[.suppressed] == 45)
        // Every 5 min, as it says; swallowed from 75 on. Every 30 min: each tells for 15.
        #expect(hour(rung: Array(stride(from: 60, to: 120, by: 5)), repeatEvery: 5)[.suppressed] == 0)
        #expect(hour(rung: [60, 65, 70], repeatEvery: 5)[.suppressed] == 45)
        #expect(hour(rung: [60, 90], repeatEvery: 30)[.suppressed] == 30)
    }

    @Test func whatHeldARepeatBackIsToBlameForTheSilence() {
        let swallowed: AlertStanding = [.condition, .episode, .annunciated, AlertStanding(.cooldown)]
        let held = hour(
            rung: [60, 70], repeatEvery: 5, standings: [(60, .told), (65, swallowed), (70, .told)])
        #expect(held[.suppressed] == 50 && held[.suppressed(by: .cooldown)] == 5)
        #expect(held[.unrepeated] == 45 && held.silence?.sum == 50)
        // Of two rules the one that was told speaks: nothing is in its way.
        let two = Paper(
            name: "", plasma: [(60, 100, 65)], rules: [Paper.low, Paper.rule("LOW-TOO", .glucose, .low, 69)],
            events: [(60, 0, .raise), (60, 0, .notify)],
            standings: [[(60, .told)], [(60, .held(.cooldown, isActive: true))]], tellsFor: 15
        ).metrics
        #expect(two[.unrepeated] == 25 && two[.suppressed(by: .cooldown)] == 0)
    }

    @Test func soleCauseIsWhatTheRunWithoutAMechanismTellsMore() {
        let told: [(Int64, Int, AlertEvent.Kind)] = [(60, 0, .raise), (60, 0, .notify), (100, 0, .clear)]
        var with = Paper(name: "", plasma: [(60, 100, 65)], rules: [Paper.low])
        with.events = [(75, 0, .raise), (75, 0, .notify), (100, 0, .clear)]
        var without = with
        without.events = told
        #expect(soleCauseMinutes(with: with.metrics, without: without.metrics) == 15)
        #expect(soleCauseMinutes(with: without.metrics, without: with.metrics) == -15)
        let quiet = Paper(name: "", rules: [Paper.low]).metrics
        #expect(soleCauseMinutes(with: quiet, without: quiet) == nil)
    }

    // MARK: What there is none of

    @Test func aPolicyWithoutRulesAndASessionOfNoLengthHaveNoMetrics() {
        let none = Paper(name: "", plasma: [(60, 100, 65)], rules: []).metrics
        var instant = Paper(name: "", rules: [Paper.low])
        instant.length = 0
        for key in AlertMetricKey.all {
            #expect(none[key] == nil, "\(key.name)")
            #expect(instant.metrics[key] == nil, "\(key.name)")
        }
    }

    @Test func whatTheSystemRangForADeadAppIsAnAlert() {
        // Rung by the system at 60, raised at the launch at 70 (already delivered), over at 100; the next time it is taken away unraised at 220.
        var rule = AlertRule(.steppingInterrupted)
        rule.claim = .about(.low70)
        let metrics = Paper(
            name: "", plasma: [(60, 100, 65), (200, 230, 65)], rules: [rule],
            events: [
                (60, 0, .notify), (70, 0, .raise), (100, 0, .clear), (100, 0, .withdraw), (200, 0, .notify),
                (220, 0, .withdraw),
            ]
        ).metrics
        #expect(metrics[.sensitivityG0] == 1 && metrics[.annunciating] == 60 && metrics[.falsePerDay] == 0)
        #expect(metrics[.suppressed] == 10)
    }

    @Test func effectsThatNobodyNoticesAreNoEvents() {
        func event(_ kind: AlertEffect.Kind, _ reason: AlertEffect.Reason) -> AlertEvent.Kind? {
            AlertEvent(.start, rule: 0, kind, reason)?.kind
        }
        #expect(event(.raise, .conditionHeld) == .raise && event(.notify, .repeated) == .notify)
        #expect(event(.clear, .acknowledged) == .close && event(.clear, .recovered) == .clear)
        #expect(event(.raise, .preview) == nil && event(.notify, .test) == nil)
        #expect(event(.suppress, .cooldown) == nil && event(.wait, .conditionBegan) == nil)
    }

    // MARK: Unequal lengths

    /// A low of an hour at 40 mg/dL each day from 10:00, and nobody told of any.
    private func unheardLows(days: Int64, endsEarly: Bool) -> AlertMetrics {
        let lows = (0..<Int(days)).map { (from: $0 * 1440 + 600, to: $0 * 1440 + 660, mgdl: Float(40)) }
        var paper = Paper(name: "", plasma: lows, rules: [Paper.low, Paper.urgentLow])
        paper.standings = [[(0, .held(.quietHours))], [(0, .held(.quietHours))]]
        // The last low is the end.
        paper.length = endsEarly ? (days - 1) * 1440 + 660 : days * 1440
        paper.endsEarly = endsEarly
        return paper.metrics
    }

    @Test func anArmThatEndsEarlyDoesNotLookBetter() throws {
        let (whole, ended) = (unheardLows(days: 10, endsEarly: false), unheardLows(days: 2, endsEarly: true))
        // Two truths: 10 lows and 10 deep ones. Those of two days are fewer, and that is no merit.
        #expect(whole[.missed] == 20 && ended[.missed] == 4)
        #expect(whole[.suppressed] == 1200 && ended[.suppressed] == 240)
        for key in AlertMetricKey.all where key.isTotal {
            let perDay = try #require(key.perDay)
            #expect(!perDay.isTotal && perDay.perDay == nil && perDay.unit == key.unit + "/day")
            guard let more = whole[key], more > 0 else { continue }
            #expect(try #require(whole[perDay]) == more / 10)
            #expect(try #require(ended[perDay]) > more / 10, "\(perDay.name)")
        }
        #expect(whole[.missedSeverity] == 8400)
        #expect(try #require(AlertMetricKey.missed.perDay).name == "alerts_missed_per_day")
    }

    /// The low that ends a session is no low of which nobody knows what came after.
    @Test func anEpisodeThatEndsTheSessionUnheardWasMissed() {
        func metrics(endsEarly: Bool) -> AlertMetrics {
            var paper = Paper(name: "", plasma: [(600, 660, 40)], rules: [Paper.urgentLow])
            paper.length = 660
            paper.endsEarly = endsEarly
            return paper.metrics
        }
        #expect(metrics(endsEarly: false)[.missed] == 0 && metrics(endsEarly: true)[.missed] == 1)
        #expect(metrics(endsEarly: true)[.missedSeverity] == 840)
        // Its end came before the grace was over: that is no reason to leave it out.
        var paper = Paper(name: "", plasma: [(600, 620, 40)], rules: [Paper.urgentLow])
        paper.length = 620
        #expect(paper.metrics[.sensitivityG30] == nil)
        paper.endsEarly = true
        #expect(paper.metrics[.sensitivityG30] == 0)
    }

    @Test func namesAreUniqueAndSayWhatTheyAreOf() {
        let names = AlertMetricKey.all.map(\.name)
        #expect(AlertMetricKey.all.enumerated().allSatisfy { $0.element.index == $0.offset })
        for obstacle in AlertObstacle.allCases {
            #expect(AlertMetricKey.suppressed(by: obstacle).name == "alerts_suppressed_\(obstacle.key)_min")
        }
        // A constant whose row were gone would be the first one.
        let constants: [AlertMetricKey] = [
            .sensitivityG0, .sensitivityG15, .sensitivityG30, .ppv, .ppv30, .falsePerDay, .lead,
            .timeToDetect,
            .notifications, .notificationsNight, .notificationsMax, .annunciating, .nuisance, .suppressed,
            .missed, .missedPerDay, .missedSeverity, .acknowledgeDelay, .heard, .unseen,
            .unrepeated,
        ]
        #expect(Set(constants).count == constants.count)
        #expect(Set(names).count == names.count && names.allSatisfy { $0.hasPrefix("alerts_") })
    }
}
