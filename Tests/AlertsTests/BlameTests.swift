import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

/// What the engine says stands in the way, and from when to when exactly.
@Suite struct BlameTests {
    private static func low(
        _ adjust: (inout AlertRule) -> Void = { _ in }
    ) -> AlertRule {
        var rule = AlertRule(
            code: "LOW", trigger: .metrics([MetricTest(.glucose, .low, 70)]), severity: .actionable,
            acknowledgement: .reviews)
        rule.cooldown = 0
        adjust(&rule)
        return rule
    }

    /// Readings every five minutes from the start.
    private static func readings(_ values: [Double]) -> [(at: Instant, input: AlertInput)] {
        values.enumerated().map { place, value in
            let at = Instant.minutes(Int64(place) * 5)
            return (at, .metric(.glucose, value, sampledAt: at))
        }
    }

    private static func tape(_ inputs: [(at: Instant, input: AlertInput)], startsAt hour: Int64 = 12)
        -> AlertTape
    {
        AlertTape(inputs, wallClock: WallClock(startEpochSeconds: hour * 3600, zone: .utc))
    }

    /// Where the rule stood with this obstacle, in minutes.
    private static func spans(
        _ log: BlameLog?, _ obstacle: AlertObstacle, rule: Int = 0
    ) -> [[Double]] {
        (log?.intervals(of: rule) { $0.has(obstacle) }.intervals ?? []).map {
            [$0.from.minutes, $0.to.minutes]
        }
    }
    private static func spans(_ log: BlameLog?, _ standing: AlertStanding, rule: Int = 0) -> [[Double]] {
        (log?.intervals(of: rule) { $0.isSuperset(of: standing) }.intervals ?? []).map {
            [$0.from.minutes, $0.to.minutes]
        }
    }

    private static func log(
        _ policy: AlertPolicy, _ inputs: [(at: Instant, input: AlertInput)], startsAt hour: Int64 = 12,
        until end: Int64 = 60
    ) throws -> BlameLog? {
        try tape(inputs, startsAt: hour).run(policy, until: .minutes(end)).blame
    }

    private static func policy(_ rules: [AlertRule]) -> AlertPolicy { AlertPolicy(name: "p", rules: rules) }

    @Test func aDebounceStandsInTheWayUntilItIsOver() throws {
        let log = try Self.log(
            Self.policy([Self.low { $0.debounce = 12 * Nanoseconds.minute }]),
            Self.readings([100, 100, 65, 65, 65, 65, 65, 100, 100, 100, 100, 100]))
        #expect(Self.spans(log, .debounce) == [[10, 22]])
        #expect(Self.spans(log, .condition) == [[10, 35]] && Self.spans(log, .episode) == [[22, 35]])
        #expect(Self.spans(log, .annunciated) == [[22, 35]])
    }

    @Test func aValueIsStaleFromTheNanosecondAfterItsFreshness() throws {
        let late = Instant.minutes(40)
        let log = try Self.log(
            Self.policy([Self.low()]),
            Self.readings([100, 100]) + [(late, .metric(.glucose, 100, sampledAt: late))])
        let stale = try #require(log?.intervals(of: 0) { $0.has(.stale) })
        #expect(
            stale
                == IntervalSet([
                    Interval(.start, .start), Interval(Instant.minutes(20).adding(1), late),
                    Interval(Instant.minutes(55).adding(1), .minutes(60)),
                ]))
    }

    @Test func aCooldownStandsInTheWayOfWhatWasTakenBackBefore() throws {
        let log = try Self.log(
            Self.policy([Self.low { $0.cooldown = 30 * Nanoseconds.minute }]),
            Self.readings([65, 65, 100, 65, 65, 65, 65, 65, 65, 65, 65, 65]))
        #expect(Self.spans(log, .cooldown) == [[15, 30]])
        #expect(Self.spans(log, .annunciated) == [[0, 10], [30, 60]])
    }

    @Test func quietHoursStandInTheWayFromTheirStartToTheirEnd() throws {
        // It begins at 21:30. What rang before they begin goes on; what comes within waits for their end.
        var policy = Self.policy([Self.low()])
        policy.quietHours = QuietHours(
            from: 22 * Nanoseconds.hour, to: 22 * Nanoseconds.hour + 17 * Nanoseconds.minute)
        let log = try Self.log(
            policy, Self.readings([100, 100, 100, 100, 100, 100, 100, 65, 65, 65, 65, 65]), startsAt: 21,
            until: 60)
        #expect(Self.spans(log, .quietHours) == [])
        let night = Self.tape(
            Self.readings([100, 100, 100, 100, 100, 100, 100, 65, 65, 65, 65, 65]), startsAt: 21
        )
        var clock = night
        clock.wallClock = WallClock(startEpochSeconds: 21 * 3600 + 1800, zone: .utc)
        let inNight = try clock.run(policy, until: .minutes(60)).blame
        #expect(Self.spans(inNight, .quietHours) == [[35, 47]])
        #expect(Self.spans(inNight, .annunciated) == [[47, 60]])
    }

    @Test func quietHoursThatBeginWhileAnAlertWaitsBeginOnTheDot() throws {
        // Snoozed from 5 to 40; quiet from minute 20.5 to 30.
        var policy = Self.policy([Self.low()])
        policy.quietHours = QuietHours(
            from: 12 * Nanoseconds.hour + 20 * Nanoseconds.minute + 30 * Nanoseconds.second,
            to: 12 * Nanoseconds.hour + 30 * Nanoseconds.minute)
        let log = try Self.log(
            policy,
            Self.readings([Double](repeating: 65, count: 12)) + [
                (.minutes(5), .snooze("LOW", for: 35 * Nanoseconds.minute))
            ])
        #expect(Self.spans(log, .snoozed) == [[5, 40]] && Self.spans(log, .quietHours) == [[20.5, 30]])
        #expect(Self.spans(log, .annunciated) == [[0, 5], [40, 60]])
    }

    @Test func anAcknowledgementStandsInTheWayAndHysteresisProlongsIt() throws {
        // Acknowledged at 7; 72 at 10 is inside the bound and not past 75: the episode goes on, and so does the acknowledgement.
        let values: [Double] = [65, 65, 72, 65, 65, 80, 65, 65, 65, 65, 65, 65]
        let inputs = Self.readings(values) + [(.minutes(7), .acknowledge("LOW"))]
        let rule = Self.low { $0.trigger = .metrics([MetricTest(.glucose, .low, 70, clearAt: 75)]) }
        let log = try Self.log(Self.policy([rule]), inputs)
        #expect(Self.spans(log, .acknowledged) == [[7, 25]])
        #expect(Self.spans(log, .hysteresis) == [[10, 25]])
        #expect(Self.spans(log, .condition) == [[0, 10], [15, 25], [30, 60]])
        #expect(log?.standing(of: 0, at: .minutes(16)).first == .hysteresis)
        #expect(Self.spans(log, .annunciated) == [[0, 7], [30, 60]])
        // Without hysteresis the breach at 15 rings anew: ten minutes that it alone kept silent.
        let without = try Self.log(Self.policy([rule]).without(.hysteresis), inputs)
        #expect(Self.spans(without, .annunciated) == [[0, 7], [15, 25], [30, 60]])
    }

    @Test func anInhibitorAFrontAndASourceRuleStandInTheWay() throws {
        var urgent = AlertRule(
            code: "URGENT", trigger: .metrics([MetricTest(.glucose, .low, 55)]), severity: .safetyCritical)
        urgent.inhibits = ["LOW"]
        let silent = Self.low {
            $0.code = "SILENT"
            $0.notifies = false
        }
        let log = try Self.log(
            Self.policy([Self.low(), urgent, silent]),
            Self.readings([100, 50, 50, 60, 100, 100, 65, 65, 65, 65, 100, 100]) + [
                (.minutes(28), .foreground), (.minutes(41), .background),
            ])
        #expect(Self.spans(log, .inhibited) == [[5, 15]])
        // Released at 15, over at 20. In front at 30 it would have rung: gone, also after the app has left the front.
        #expect(Self.spans(log, .annunciated) == [[15, 20]])
        #expect(Self.spans(log, .foreground) == [[30, 50]])
        #expect(Self.spans(log, .sourceRule, rule: 2) == [[5, 20], [30, 50]])
        #expect(Self.spans(log, .annunciated, rule: 1) == [[5, 15]])
    }

    @Test func allThatStandsInTheWayIsToldAtOnce() throws {
        var policy = Self.policy([
            Self.low {
                $0.debounce = 10 * Nanoseconds.minute
                $0.notifies = false
            }
        ])
        policy.quietHours = QuietHours(from: 12 * Nanoseconds.hour, to: 13 * Nanoseconds.hour)
        let log = try Self.log(
            policy, Self.readings([65, 65, 65, 65]) + [(.minutes(2), .foreground)], until: 20)
        #expect(
            log?.standing(of: 0, at: .minutes(3)).obstacles == [
                .debounce, .quietHours, .foreground, .sourceRule,
            ])
        #expect(
            log?.standing(of: 0, at: .minutes(12)).obstacles == [.quietHours, .foreground, .sourceRule])
    }

    @Test func whatASourceSaysHasStandingsToo() throws {
        var environment = AppEnvironment()
        environment.isPumpStatusKnown = false
        var back = environment
        back.isPumpStatusKnown = true
        let log = try Self.log(
            .bionicloop, [(.minutes(3), .environment(environment)), (.minutes(20), .environment(back))])
        let rule = try #require(AlertPolicy.bionicloop.rules.firstIndex { $0.known == .pumpSignalLoss })
        #expect(Self.spans(log, .debounce, rule: rule) == [[3, 8]])
        #expect(Self.spans(log, .annunciated, rule: rule) == [[8, 20]])
    }

    /// A pump's alert that is closed by acknowledging while its condition holds: acknowledged, though there is no episode.
    @Test func whatWasClosedStaysAcknowledged() throws {
        let rule = Self.low { $0.acknowledgement = .closes }
        let log = try Self.log(
            Self.policy([rule]),
            Self.readings([65, 65, 65, 65, 100, 65]) + [(.minutes(7), .acknowledge("LOW"))], until: 30)
        #expect(
            Self.spans(log, .acknowledged) == [[7, 20]] && Self.spans(log, .episode) == [[0, 7], [25, 30]])
    }

    // MARK: What holds always

    private static func random(_ seed: Int) -> AlertTape {
        var session = RandomSession(seed)
        var inputs: [(at: Instant, input: AlertInput)] = []
        for (at, events) in session.timeline(120, within: 600) {
            for event in events {
                switch event {
                case .user(let input): inputs.append((at, input))
                case .glucose(let value): inputs.append((at, .metric(.glucose, value, sampledAt: at)))
                case .app(.foreground): inputs.append((at, .foreground))
                case .app: inputs.append((at, .background))
                default: break
                }
            }
        }
        return tape(inputs, startsAt: 1)
    }

    @Test(arguments: 0..<12) func howOftenTheEngineIsAskedChangesNoStanding(_ seed: Int) throws {
        let tape = Self.random(seed)
        let end = Instant.minutes(660)
        let plain = try tape.run(.rich, until: end)
        let looks = (1..<6600).map { Instant(nanoseconds: Int64($0) * 6 * Nanoseconds.second) }
        let asked = try tape.run(.rich, until: end, looks: looks)
        #expect(plain.blame == asked.blame && plain.effects == asked.effects)
        let without = try tape.run(.rich, until: end, keepsBlame: false)
        #expect(without.effects == plain.effects && without.blame == nil)
    }

    @Test(arguments: 0..<60) func whatIsActiveAndNotToldHasSomethingInItsWay(_ seed: Int) throws {
        let run = try Self.random(seed).run(.rich, until: .minutes(660))
        let log = try #require(run.blame)
        for (rule, changes) in log.changes.enumerated() {
            for change in changes where change.standing.contains(.episode) {
                if change.standing.contains(.annunciated) { continue }
                #expect(
                    change.standing.first != nil,
                    "\(AlertPolicy.rich.rules[rule].code) at \(change.instant.minutes) min, seed \(seed)")
            }
        }
    }

    @Test func aRemovedMechanismIsGoneAndNothingElseIs() {
        var policy = AlertPolicy.rich
        policy.rules[0].cooldowns.safetyCritical = 5
        for mechanism in AlertMechanism.allCases {
            let without = policy.without(mechanism)
            #expect(without.without(mechanism) == without && !without.uses(mechanism))
            #expect(without.name == policy.name && without.limits == policy.limits)
            #expect(policy.uses(mechanism))
            #expect(without.rules.map(\.code) == policy.rules.map(\.code))
        }
        let low = policy.rules.count - 2
        #expect(policy.without(.debounce).rules.allSatisfy { $0.debounce == 0 })
        #expect(policy.without(.debounce).rules[low].keepFiringFor == 6 * Nanoseconds.minute)
        #expect(policy.without(.offDelay).rules.allSatisfy { $0.keepFiringFor == 0 })
        #expect(policy.without(.cooldown).rules.allSatisfy { $0.cooldown(at: .safetyCritical, .init()) == 0 })
        #expect(policy.without(.cooldown).rules.allSatisfy { $0.cooldown(at: .actionable, .init()) == 0 })
        #expect(policy.without(.hysteresis).rules[low].tests == [MetricTest(.glucose, .low, 70)])
        #expect(policy.without(.inhibition).rules.allSatisfy { $0.inhibits.isEmpty })
        #expect(policy.without(.acknowledgement).rules.allSatisfy { $0.acknowledgement == .none })
        #expect(policy.without(.sourceRule).rules.allSatisfy { $0.notifies })
        #expect(policy.without(.quietHours).quietHours == nil)
        #expect(policy.without(.foreground).notifiesInForeground && !policy.without(.snooze).takesSnoozes)
        #expect(!AlertPolicy.none.uses(.debounce))
    }

    @Test func asIfNobodyHadSnoozedOrAcknowledged() throws {
        let inputs =
            Self.readings([Double](repeating: 65, count: 12)) + [
                (.minutes(5), .snooze("LOW", for: 20 * Nanoseconds.minute)),
                (.minutes(40), .acknowledge("LOW")),
            ]
        let policy = Self.policy([Self.low()])
        let told = try [policy, policy.without(.snooze), policy.without(.acknowledgement)].map {
            Self.spans(try Self.log($0, inputs), .annunciated)
        }
        #expect(told[0] == [[0, 5], [25, 40]] && told[1] == [[0, 40]])
        #expect(told[2] == [[0, 5], [25, 60]])
    }
}
