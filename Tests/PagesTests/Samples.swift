// Views made by hand, for the tests of the pages.

@testable import IsletAlerts
@testable import IsletLoop
@testable import IsletDevices
@testable import IsletLive
import IsletKernel
import IsletTrials

@testable import Pages

enum Samples {
    static let now = Instant.minutes(2 * 1440 + 14 * 60 + 5)

    static func alert(
        _ code: AlertName, _ severity: AlertSeverity, _ source: AlertSource, _ message: ValueText,
        action: String = "",
        acknowledgement: AlertAcknowledgement = .none, minutesAgo: Int64 = 7, route: String = "home",
        clearedMinutesAgo: Int64? = nil
    ) -> AlertStory {
        let at = now.adding(-minutesAgo * Nanoseconds.minute)
        let lines: [AlertStory.Line] = [
            .init(
                at: at.adding(-5 * Nanoseconds.minute), effect: "wait", reason: "conditionBegan",
                severity: severity.name),
            .init(at: at, effect: "raise", reason: "conditionHeld", severity: severity.name),
            .init(at: at, effect: "suppress", reason: "quietHours", severity: severity.name, count: 3),
        ]
        return AlertStory(
            code: code, severity: severity, source: source, message: message, action: action,
            acknowledgement: acknowledgement, reviewedAt: nil, raisedAt: at, updatedAt: at, countdownTo: nil,
            clearedAt: clearedMinutesAgo.map { now.adding(-$0 * Nanoseconds.minute) },
            clearedBy: clearedMinutesAgo == nil ? nil : .recovered, isPreview: false, route: route,
            story: lines)
    }

    static var alerts: [AlertStory] {
        [
            alert(
                "ALERT-CGM-URGENT-LOW", .safetyCritical, .cgm,
                "Glucose is urgently low: \(52, unit: "mg/dL", comparedWith: 55), below \(55, unitless: "mg/dL", comparedWith: 52).",
                action: "Eat fast carbohydrate; check with a meter.", acknowledgement: .reviews, route: "cgm"),
            alert(
                "ALERT-PUMP-FAULT", .safetyCritical, .pump, "The pod has failed and delivers no insulin.",
                action: "Change the pod.", acknowledgement: .closes, minutesAgo: 33, route: "pump"),
            alert(
                "ALERT-AUTH-LOGIN-REQUIRED", .actionable, .app, "You are signed out.", action: "Log in.",
                minutesAgo: 80),
            alert(
                "THRESHOLD-GLUCOSE-LOW", .actionable, .policy,
                "Glucose is low: \(52, unit: "mg/dL", comparedWith: 75), below \(75, unitless: "mg/dL", comparedWith: 52).",
                minutesAgo: 12, route: "environment"),
        ]
    }

    /// A person in trouble, in the third day.
    static var person: SessionView {
        var view = SessionView(id: "adult-7", name: "Adult 7")
        view.number = 912
        view.now = now
        view.end = .minutes(14 * 1440)
        view.calendar = SessionCalendar(startEpochSeconds: 1_772_431_200, offsetSeconds: -18_000)
        view.pace = .scaled(60)
        view.alerts = alerts
        view.cleared = (0..<23).map {
            alert(
                "ALERT-PUMP-SIGNAL-LOSS", .actionable, .pump, "The pump cannot be reached.",
                minutesAgo: 200 + Int64($0) * 60, route: "pump", clearedMinutesAgo: 180 + Int64($0) * 60)
        }
        view.thresholds = [glucoseThreshold]
        view.log = log
        view.live = live
        view.trend = -1.4
        view.summary = DaySummary(insulinUnits: 38.45, lowestMgdl: 52, highestMgdl: 231, meanMgdl: 137)
        return view
    }

    static var live: LiveSnapshot {
        var live = LiveSnapshot()
        live.now = now
        live.subject = "adult-7"
        live.loop = display
        var pump = PumpStatus(condition: .ready, isConnected: true, reservoir: InsulinAmount(units: 50))
        pump.isReservoirExact = false
        pump.podExpiresAt = now.adding(29 * Nanoseconds.hour + 11 * Nanoseconds.minute)
        live.pump = pump
        live.sensor = .ok
        live.target = GlucoseConcentration(milligramsPerDecilitre: 110)
        live.loopSubject = LoopSubject(id: "S-017", bodyWeightKilograms: 71.5)
        live.quietHours = QuietHours(from: 22 * Nanoseconds.hour, to: 7 * Nanoseconds.hour)
        live.isQuiet = true
        live.isInForeground = true
        live.basalMultiplier = 0.5
        live.isSignedIn = false
        return live
    }

    static var display: LoopDisplay {
        LoopDisplay(
            status: .closedLoop,
            glucose: GlucoseReading(
                instant: now.adding(-2 * Nanoseconds.minute),
                glucose: GlucoseConcentration(milligramsPerDecilitre: 52)), isGlucoseStale: false,
            isPumpAvailable: true, underWay: InsulinAmount(units: 0.35),
            lastStep: now.adding(-2 * Nanoseconds.minute),
            nextStep: now.adding(3 * Nanoseconds.minute), basalMultiplierStepsLeft: 7,
            temporaryBasalEnds: now.adding(33 * Nanoseconds.minute), owed: InsulinAmount(units: 1.2),
            owedUntil: now.adding(8 * Nanoseconds.minute),
            dropped: LoopMemory.Dropped(
                amount: InsulinAmount(units: 2), at: now.adding(-50 * Nanoseconds.minute),
                cause: .neverArrived),
            cut: nil, refusedState: nil)
    }

    /// A wave that ends in a low.
    static func mgdl(_ minutesAgo: Int64) -> Double {
        let phase = Double(minutesAgo % 360) / 360
        return minutesAgo < 60 ? 52 + Double(minutesAgo) * 1.1 : 118 + 90 * (phase < 0.5 ? phase : 1 - phase)
    }

    static var log: SessionLog {
        var log = SessionLog()
        for step in stride(from: Int64(1440), through: 2, by: -5) {
            let at = now.adding(-step * Nanoseconds.minute)
            log.readings.append(ReadingRow(instant: at, mgdl: mgdl(step)))
            log.steps.append(
                StepRow(
                    instant: at, algorithmTime: step, cgmMgdl: mgdl(step), isPumpAvailable: true,
                    basalUnits: 0.08 + (step % 60 < 30 ? 0.03 : 0), correctionUnits: 0, mealUnits: 0,
                    acceptedUnits: 0.1, failure: ""))
        }
        log.deliveries = [200, 190, 120, 40].map {
            DeliveryRow(instant: now.adding(-$0 * Nanoseconds.minute), requestID: $0, units: Double($0) / 50)
        }
        log.person = [
            PersonRow(instant: now.adding(-205 * Nanoseconds.minute), kind: .meal, amount: 60),
            PersonRow(instant: now.adding(-5 * Nanoseconds.minute), kind: .rescue, amount: 16),
        ]
        log.spans = [
            AlertSpan(
                code: "ALERT-CGM-URGENT-LOW", severity: "safetyCritical",
                from: now.adding(-7 * Nanoseconds.minute),
                to: nil),
            AlertSpan(
                code: "ALERT-PUMP-SIGNAL-LOSS", severity: "actionable",
                from: now.adding(-200 * Nanoseconds.minute),
                to: now.adding(-180 * Nanoseconds.minute)),
        ]
        return log
    }

    static var glucoseThreshold: ThresholdView {
        ThresholdView(
            metric: .glucose, isEnabled: true, low: 75, high: 200, sensitivity: 15 * Nanoseconds.minute,
            range: 40...400, step: 1, recommended: MetricRange.ofPeople, criticalBelow: 54,
            criticalAbove: 400,
            series: stride(from: Int64(1440), through: 0, by: -5).map {
                MetricPoint(now.adding(-$0 * Nanoseconds.minute), mgdl($0))
            })
    }

    static var room: SessionView {
        var view = SessionView(id: "room-1", name: "Grow room 1")
        view.kind = .room
        view.now = now
        view.pace = .scaled(60)
        let rows: [(AlertMetric, ClosedRange<Double>, Double, Double)] = [
            (.temperature, 40...110, 77, 4), (.humidity, 0...100, 58, 9), (.vpd, 0...3, 1.1, 0.3),
        ]
        for (metric, range, middle, swing) in rows {
            let series = stride(from: Int64(1440), through: 0, by: -10).map {
                MetricPoint(
                    now.adding(-$0 * Nanoseconds.minute), middle + swing * (Double($0 % 240) / 120 - 1))
            }
            view.values.append(MetricNow(metric: metric, value: middle, at: now, series: series))
            view.thresholds.append(
                ThresholdView(
                    metric: metric, isEnabled: true, low: middle - swing, high: middle + swing,
                    sensitivity: 0,
                    range: range, step: metric == .vpd ? 0.05 : 1,
                    recommended: [
                        MetricRange(
                            "grow-room", "vegetative", metric, (middle - swing)...(middle + swing), "growers")
                    ], criticalBelow: metric.criticalBelow, criticalAbove: metric.criticalAbove,
                    series: series))
        }
        view.alerts = [
            alert(
                "THRESHOLD-TEMPERATURE-HIGH", .actionable, .policy,
                "Temperature is high: 83.1 °F, above 81.0.",
                route: "environment")
        ]
        return view
    }

    static func card(_ name: String, _ alerts: [AlertStory], stale: Bool = false, frozen: Bool = false)
        -> WardCard
    {
        let id = String(name.lowercased().map { $0 == " " ? "-" : $0 })
        var concerns = alerts.filter { $0.severity > .informational }.map {
            SessionHealth.Concern(.alerts, $0.severity, $0.message)
        }
        if frozen {
            concerns.append(.init(.session, .safetyCritical, "frozen: nothing that is shown is sure"))
        }
        if stale { concerns.append(.init(.glucose, .actionable, "the last reading is old")) }
        var facts = WardStanding.Facts()
        (facts.health, facts.isFrozen, facts.isStale) = (SessionHealth(concerns), frozen, stale)
        (facts.now, facts.alerts) = (now, alerts)
        facts.reading = GlucoseReading(
            instant: now, glucose: GlucoseConcentration(milligramsPerDecilitre: alerts.isEmpty ? 128 : 52))
        var card = WardCard(
            id: id, name: name, kind: .person, origin: .own, pace: .scaled(60), phase: .running,
            isFrozen: frozen,
            localTime: "day 3, 14:05", now: now,
            calendar: SessionCalendar(startEpochSeconds: 0, offsetSeconds: 0),
            glucose: GlucoseReading(
                instant: now, glucose: GlucoseConcentration(milligramsPerDecilitre: alerts.isEmpty ? 128 : 52)
            ),
            isStale: stale, trend: -1.2, loop: .closedLoop, values: [], alertCount: alerts.count,
            top: alerts.first,
            sparkline: stride(from: Int64(180), through: 0, by: -5).map {
                MetricPoint(now.adding(-$0 * Nanoseconds.minute), mgdl($0))
            }, number: 4, health: SessionHealth(concerns))
        (card.standing, card.isSounding) = (WardStanding(facts), frozen)
        card.answers = alerts.first { $0.acknowledgement != .none }
        card.pump = .ready
        return card
    }

    static var cards: [WardCard] {
        var room = card("Grow room 1", [alerts[2]])
        room.kind = .room
        room.glucose = nil
        room.loop = nil
        room.values = Samples.room.values
        (room.standing.group, room.standing.danger, room.standing.harm) = (.action, .action, nil)
        return [
            card("Adult 7", alerts), card("Adult 2", [], stale: true, frozen: true), room,
            card("Child 3", []),
        ]
    }

    static var events: [LiveEvent] {
        (1...12).map { number in
            let at = now.adding(Int64(number - 12) * 20 * Nanoseconds.minute)
            func input(_ input: LiveInput) -> LiveEvent.What {
                .input(number: number, said: String(decoding: input.bytes, as: UTF8.self), .taken)
            }
            let alert = AlertRow(
                instant: at, effect: "notify", code: "ALERT-CGM-URGENT-LOW", severity: "safetyCritical",
                reason: "conditionHeld")
            let what: LiveEvent.What =
                switch number {
                case 1: input(.meal(grams: 45, isEaten: true, isAnnounced: true))
                case 2: input(.foreground)
                case _ where number.isMultiple(of: 3): .row(.alert(alert), .accepted)
                default: .row(.reading(ReadingRow(instant: at, mgdl: 52.202)), .accepted)
                }
            return LiveEvent(number: number, instant: at, what)
        }
    }
}

extension Samples {
    static var requestedBolus: RequestedBolus {
        RequestedBolus(number: 41, units: 2.5, until: now.adding(4 * Nanoseconds.minute))
    }

    static func beside(_ context: PageContext) -> String {
        var fork = person
        fork.id = "adult-7-fork"
        fork.name = "Adult 7, forked"
        fork.origin = .fork(
            of: "adult-7", at: now.adding(-90 * Nanoseconds.minute), change: "policy dexcom-g7")
        return Page.beside(
            person, fork, from: now.adding(-90 * Nanoseconds.minute), to: now,
            comparison: [
                .init(name: "Mean glucose", unit: "mg/dL", left: 137, right: 141.5, places: 0),
                .init(
                    name: "Readings below \(70, unit: "mg/dL")", unit: "%", left: 3.4, right: nil, places: 1),
            ], context)
    }
}
