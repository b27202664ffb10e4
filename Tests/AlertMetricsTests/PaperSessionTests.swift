import IsletAlerts
import IsletKernel
import Testing

/// Ten small sessions, worked out by hand: every number here was computed on paper from the page's definitions, before the code ran.
@Suite struct PaperSessionTests {
    static let sessions: [PaperSession] = [
        // Low 60-100. Told from 60 to 100: at the onset, so lead 0. Plasma at 60: 65, at 45: 100: it falls, so the ring is no nuisance.
        PaperSession(
            name: "in time", plasma: [(60, 100, 65)], rules: [PaperSession.low],
            events: [(60, 0, .raise), (60, 0, .notify), (100, 0, .clear), (100, 0, .withdraw)],
            standings: [[(60, .told), (100, [])]], nights: [(0, 300)],
            expected: [
                (.sensitivityG0, 1), (.sensitivityG15, 1), (.sensitivityG30, 1), (.ppv, 1), (.ppv30, 1),
                (.falsePerDay, 0), (.lead, 0), (.timeToDetect, 0), (.notifications, 1),
                (.notificationsNight, 1), (.notificationsMax, 1), (.annunciating, 40), (.nuisance, 0),
                (.suppressed, 0), (.missed, 0), (.missedSeverity, 0), (.acknowledgeDelay, nil), (.heard, nil),
                (.suppressed(by: .debounce), 0), (.unseen, 0),
            ]),
        // Low 60-120. The sensor sees it at 65, the debounce runs to 80: windows end at 60, 75 and 90, so only g30 has it; lead 60 - 80 = -20.
        // Silent 60-80: 5 min unseen, 15 min debounce.
        PaperSession(
            name: "late by debounce", plasma: [(60, 120, 65)], rules: [PaperSession.low],
            events: [(80, 0, .raise), (80, 0, .notify), (120, 0, .clear), (120, 0, .withdraw)],
            standings: [[(65, .held(.debounce)), (80, .told), (120, [])]],
            expected: [
                (.sensitivityG0, 0), (.sensitivityG15, 0), (.sensitivityG30, 1), (.ppv, 1), (.falsePerDay, 0),
                (.lead, -20), (.timeToDetect, 20), (.suppressed, 20), (.suppressed(by: .debounce), 15),
                (.unseen, 5), (.annunciating, 40), (.missed, 0), (.notificationsNight, nil),
            ]),
        // Low 60-100 at 50 mg/dL, never told: 40 min × 4 mg/dL below 54. The ring of 300-310 is of nothing: false, nuisance.
        PaperSession(
            name: "missed, and false", plasma: [(60, 100, 50)], rules: [PaperSession.low],
            events: [(300, 0, .raise), (300, 0, .notify), (310, 0, .clear), (310, 0, .withdraw)],
            expected: [
                (.sensitivityG0, 0), (.sensitivityG30, 0), (.ppv, 0), (.ppv30, 0), (.falsePerDay, 1),
                (.lead, nil), (.timeToDetect, nil), (.missed, 1), (.missedSeverity, 160), (.suppressed, 40),
                (.suppressed(by: .stale), nil), (.unseen, nil), (.nuisance, 1), (.annunciating, 10),
            ]),
        // Nothing happened: nothing to be sensitive to, no alert to be right; 0 a day all the same.
        PaperSession(
            name: "quiet", rules: [PaperSession.low],
            expected: [
                (.sensitivityG0, nil), (.sensitivityG15, nil), (.ppv, nil), (.falsePerDay, 0), (.lead, nil),
                (.timeToDetect, nil), (.notifications, 0), (.notificationsMax, 0), (.annunciating, 0),
                (.nuisance, nil), (.suppressed, nil), (.missed, nil), (.missedSeverity, nil),
            ]),
        // Lows 60-90 and 120-150, one alarm told from 55 to 160. The first is matched with lead 5; at the second's onset the alarm is going: it counts, its
        // lead of 65 min cut to 30. Mean 17.5. Both delays 0.
        PaperSession(
            name: "one alarm over two lows", plasma: [(60, 90, 65), (120, 150, 65)],
            rules: [PaperSession.low],
            events: [(55, 0, .raise), (55, 0, .notify), (160, 0, .clear), (160, 0, .withdraw)],
            expected: [
                (.sensitivityG0, 1), (.sensitivityG30, 1), (.ppv, 1), (.falsePerDay, 0), (.lead, 17.5),
                (.timeToDetect, 0), (.suppressed, 0), (.annunciating, 105), (.missed, 0),
            ]),
        // Low 60-120, told 60-75 and 90-120: two alerts of one episode. One is matched, the other is not: 1 a day. Both have the truth beside them.
        PaperSession(
            name: "one low in two alarms", plasma: [(60, 120, 65)], rules: [PaperSession.low],
            events: [
                (60, 0, .raise), (60, 0, .notify), (75, 0, .clear), (75, 0, .withdraw), (90, 0, .raise),
                (90, 0, .notify), (120, 0, .clear), (120, 0, .withdraw),
            ],
            expected: [
                (.sensitivityG0, 1), (.ppv, 1), (.falsePerDay, 1), (.lead, 0), (.notifications, 2),
                (.notificationsMax, 1), (.suppressed, 15), (.annunciating, 45),
            ]),
        // Level 2 low 60-90 at 50 mg/dL, foretold at 40, acknowledged at 70: lead 20, told 40-70, silent 70-90 by the acknowledgement, 30 min after the raise. The ring
        // of 40 has its truth within 30 min.
        PaperSession(
            name: "foretold and acknowledged", plasma: [(60, 90, 50)], rules: [PaperSession.urgentLow],
            events: [(40, 0, .raise), (40, 0, .notify), (70, 0, .acknowledge), (95, 0, .clear)],
            standings: [[(40, .told), (70, .held(.acknowledged, .cooldown, isActive: true)), (95, [])]],
            heard: 1,
            expected: [
                (.sensitivityG0, 1), (.lead, 20), (.timeToDetect, 0), (.suppressed, 20),
                (.suppressed(by: .acknowledged), 20), (.suppressed(by: .cooldown), 0),
                (.acknowledgeDelay, 30), (.heard, 1), (.nuisance, 0), (.annunciating, 30), (.ppv, 0),
                (.ppv30, 1), (.falsePerDay, 0),
            ]),
        // A rule about a rate is judged by nobody. 600, 603 and 609 lie within ten minutes, 603, 609 and 610 too, all four don't.
        PaperSession(
            name: "burden alone", rules: [PaperSession.rate],
            events: [
                (600, 0, .raise), (600, 0, .notify), (603, 0, .notify), (609, 0, .notify), (610, 0, .notify),
                (630, 0, .clear), (630, 0, .withdraw),
            ], nights: [(600, 605)],
            expected: [
                (.notifications, 4), (.notificationsNight, 2), (.notificationsMax, 3), (.annunciating, 30),
                (.sensitivityG0, nil), (.ppv, nil), (.falsePerDay, nil), (.nuisance, nil), (.missed, nil),
            ]),
        // No pod 100-160, told from 105: delay 5. Whether the pump was truly out of reach at 300 nobody knows: that ring is burden only.
        PaperSession(
            name: "devices", devices: [(.noPod, [(100, 160)])],
            rules: [AlertRule(.pumpNoActivePod), AlertRule(.pumpSignalLoss)],
            events: [
                (105, 0, .raise), (105, 0, .notify), (160, 0, .clear), (160, 0, .withdraw), (300, 1, .raise),
                (300, 1, .notify), (320, 1, .clear), (320, 1, .withdraw),
            ], standings: [[(100, .held(.debounce)), (105, .told), (160, [])], [(300, .told), (320, [])]],
            expected: [
                (.sensitivityG0, 0), (.sensitivityG15, 1), (.ppv, 1), (.falsePerDay, 0), (.lead, -5),
                (.timeToDetect, 5), (.notifications, 2), (.nuisance, 0), (.suppressed, 5),
                (.suppressed(by: .debounce), 5), (.missedSeverity, nil), (.annunciating, 75),
            ]),
        // Highs 100-130 (told after 10), 300-320 (never), 600-660 (after 40), 1400 to the end of the session (not yet: 40 min so far).
        // Cumulative incidence: at 10 min 1/4; at 20 one of three at risk ends, 3/4 × 2/3 = 1/2 are left; at 40 of two at risk one is told: 1/4 + 1/2 × 1/2 = 1/2.
        // Missed: the second. Silent: 10 + 20 + 40 + 40.
        PaperSession(
            name: "competing risk",
            plasma: [(100, 130, 260), (300, 320, 260), (600, 660, 260), (1400, 1445, 260)],
            rules: [PaperSession.high],
            events: [
                (110, 0, .raise), (110, 0, .notify), (130, 0, .clear), (130, 0, .withdraw), (640, 0, .raise),
                (640, 0, .notify), (660, 0, .clear), (660, 0, .withdraw),
            ],
            expected: [
                (.sensitivityG0, 0), (.sensitivityG15, 0.25), (.sensitivityG30, 0.25), (.ppv, 1),
                (.falsePerDay, 0), (.lead, -25), (.timeToDetect, 40), (.missed, 1), (.missedSeverity, nil),
                (.suppressed, 110), (.annunciating, 40),
            ]),
    ]

    @Test(arguments: 0..<10) func sessionIsAsOnPaper(_ number: Int) { Self.sessions[number].check() }

    @Test func thereAreTen() { #expect(Self.sessions.count == 10) }
}
