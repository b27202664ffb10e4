// What happened, as a person would say it.
//
// Guarantees: an event is told by its values, in the reader's unit, with as many digits as a meter shows, and clocks in the reader's way. What was refused
// begins with that word and says what was asked for, never that it was done. A new input has no words before somebody writes both. Does not: tell of the
// app's comings and goings: they are no news.

import IsletAlerts
import IsletFiles
import IsletDevices
import IsletLive
import IsletKernel
import IsletTrials

struct TimelineWords {
    let telling: Telling

    /// nil for what is no news.
    func words(_ event: LiveEvent) -> HTML? {
        switch event.what {
        case .input(_, let said, let outcome): return input(said, outcome, event)
        case .refusal(let refusal): return refused(event, "", refusal.reason)
        case .pace(.paused): return "Paused"
        case .pace(let pace): return "Pace: \(pace.description) times"
        case .leap: return "Nobody lived up to here"
        case .late:
            return
                "The algorithm gave no answer in time: the step fails, and the pump goes on with its programmed basal"
        case .exchange(let policy, let algorithm):
            return "From here on \(LiveFork.Change.words(policy: policy, algorithm: algorithm))"
        case .upgrade(let from, let to):
            return
                "Islet was upgraded: engine \(to) goes on with what engine \(from) lived, with all alerts, insulin accounts and settings"
        case .end(let early):
            return early.map { "The session ended early: \($0.reason)" } ?? "The session has come to its end"
        case .row(let row, let fate): return words(row, fate)
        case .values(let values):
            let parts = values.map { "\($0.metric.name) \(telling.value($0.value, of: $0.metric))" }
            return "\(parts.joined(separator: ", "))"
        case .visit(let visit): return "Visit, \(visit.words)"
        case .notice(let text, _): return "The pump \(text)"
        }
    }

    // MARK: Inputs

    private func input(_ said: String, _ outcome: LiveOutcome, _ event: LiveEvent) -> HTML? {
        guard var input = LiveInput(bytes: Array(said.utf8)) else {
            return outcome.refusal.map { refused(event, "", $0.reason) }
                ?? "Something was said that nobody here understands"
        }
        if case .leftOut(let inner, _) = input, let other = LiveInput(bytes: Array(inner.utf8)) {
            input = other
        }
        let words = self.words(input)
        guard let refusal = outcome.refusal else { return words.done }
        return words.done == nil ? nil : refused(event, words.ask, refusal.reason)
    }

    /// - Parameter ask: what was asked for, as an imperative; empty where nobody knows it.
    private func refused(_ event: LiveEvent, _ ask: HTML, _ reason: String) -> HTML {
        let word: HTML = event.outcome == .unknown ? "Not sure whether it was done" : "Refused"
        let sentence = Telling.sentence(Telling.shortened(reason))
        return "<strong>\(word):</strong> \(ask)\(ask.isEmpty ? "" : ". ")\(sentence)"
    }

    private func number(_ value: Double) -> String {
        ChartNumber.text(value, places: value == value.rounded() ? 0 : 1)
    }

    /// What an input asks for, as an imperative, and what is so once it was taken; nil where that is no news.
    private func words(_ input: LiveInput) -> (ask: HTML, done: HTML?) {
        switch input {
        case .meal(let grams, let isEaten, let isAnnounced):
            let how = [isEaten ? "eaten" : nil, isAnnounced ? "announced" : nil].compactMap { $0 }
            let meal = "\(number(grams)) g" + (how.isEmpty ? "" : ", ") + how.joined(separator: " and ")
            return ("note a meal of \(meal)", "Meal: \(meal)")
        case .bloodGlucose(let mgdl):
            return measured(mgdl, "note a blood glucose of", "Blood glucose:")
        case .calibration(let mgdl):
            return measured(mgdl, "calibrate the sensor with", "Sensor calibrated:")
        case .reading(_, let mgdl):
            return measured(mgdl, "show a reading from outside of", "Reading from outside:")
        case .target(let mgdl): return measured(mgdl, "set the target to", "Target:")
        case .requestBolus(let units):
            let amount = Telling.units(units)
            return ("offer a bolus of \(amount)", "Bolus asked for: \(amount), to be confirmed")
        case .confirmBolus(_, let units, _):
            let amount = Telling.units(units)
            return ("give a bolus of \(amount)", "Bolus confirmed: \(amount)")
        case .stateInsulin(let units, let minutes):
            let stated = "\(Telling.units(units)), the last one \(number(Double(minutes))) min ago"
            return (
                "count these boluses of the last 8 h: \(stated)", "Boluses of the last 8 h stated: \(stated)"
            )
        case .temporaryBasal(let multiplier, let minutes):
            let share = "\(number(multiplier * 100)) % for \(number(Double(minutes))) min"
            return ("set a temporary basal of \(share)", "Temporary basal: \(share)")
        case .suspend(let minutes):
            let reminder = minutes.map { ", reminder after \(number(Double($0))) min" } ?? ""
            return ("suspend insulin\(reminder)", "Insulin suspended\(reminder)")
        case .subject(let id, let kilograms):
            let who = "\(id), \(number(kilograms)) kg"
            return ("set the subject to \(who)", "Subject: \(who)")
        case .quietHours(let from, let to):
            guard let from, let to else { return ("have no quiet hours", "No quiet hours") }
            return (
                "set quiet hours from \(clock(from)) to \(clock(to))",
                "Quiet hours: \(clock(from)) to \(clock(to))"
            )
        case .clockStep(let seconds):
            return ("set the clock by \(number(seconds)) s", "The clock was set by \(number(seconds)) s")
        case .leftOut: return ("do what another life did", "Left out")
        case .acknowledge, .snooze, .testAlert, .preview, .dismiss, .told, .tap, .bannerShown:
            return alert(input)
        case .threshold, .changeThreshold, .switchThreshold, .recommendThresholds: return threshold(input)
        default: return plain(input)
        }
    }

    private func measured(_ mgdl: Double, _ ask: String, _ done: String) -> (HTML, HTML?) {
        let glucose = telling.glucose(mgdl: mgdl)
        return ("\(ask) \(glucose)", "\(done) \(glucose)")
    }

    private func clock(_ minute: Int) -> HTML {
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let minute = max(0, min(1440, minute))
        return "<span data-clock>\(two(minute / 60)):\(two(minute % 60))</span>"
    }

    /// What has no values.
    private func plain(_ input: LiveInput) -> (HTML, HTML?) {
        switch input {
        case .cancelOwed: ("call off what is owed", "What was owed was called off")
        case .cancelBolus: ("stop the running bolus", "The running bolus was stopped")
        case .cancelTemporaryBasal: ("end the temporary basal", "Temporary basal ended by hand")
        case .resume: ("resume insulin", "Insulin resumed")
        case .changePod: ("change the pod", "Pod changed")
        case .changeSensor: ("change the sensor", "Sensor changed")
        case .openLoop: ("open the loop", "Loop opened")
        case .closedLoop: ("close the loop", "Loop closed")
        case .startSession: ("start the session", "Session started")
        case .endSession: ("end the session", "Session ended")
        case .signIn: ("log in", "Logged in")
        case .signOut: ("log out", "Logged out")
        case .subjectClaim(let isOk):
            (
                "note what the cloud says of the subject's ID",
                isOk ? "The subject's ID is this subject's" : "The subject's ID is claimed elsewhere"
            )
        case .openSettings: ("open the settings", "Settings opened")
        case .saveSettings: ("save the settings", "Settings saved")
        case .dismissDropped: ("dismiss a dose that was given up", "A dose that was given up was dismissed")
        case .takePump: ("take over the pump", "The pump was taken over")
        case .visit: ("send the keeper", "The keeper came")
        case .device: ("believe what a device reported", "A device reported")
        case .foreground, .background: ("note where the app is", nil)
        // Inputs with values, and those about alerts and thresholds, have words of their own.
        case .meal, .bloodGlucose, .calibration, .reading, .target, .requestBolus, .confirmBolus,
            .stateInsulin, .temporaryBasal, .suspend, .subject, .quietHours, .clockStep, .leftOut,
            .acknowledge, .snooze, .testAlert, .preview, .dismiss, .told, .tap, .bannerShown, .threshold,
            .changeThreshold, .switchThreshold, .recommendThresholds:
            ("", nil)
        }
    }

    private func alert(_ input: LiveInput) -> (HTML, HTML?) {
        func name(_ code: String) -> String { StoryWords.name(of: code) }
        switch input {
        case .acknowledge(let code): return ("acknowledge \(name(code))", "Acknowledged: \(name(code))")
        case .snooze(let code, let minutes):
            let span = "\(number(Double(minutes))) min"
            return ("snooze \(name(code)) for \(span)", "Snoozed for \(span): \(name(code))")
        case .testAlert(let code): return ("test \(name(code))", "Tested: \(name(code))")
        case .preview(let code): return ("preview \(name(code))", "Preview: \(name(code))")
        case .dismiss(let code, _):
            return ("dismiss the banner of \(name(code))", "Banner dismissed: \(name(code))")
        case .told(let code):
            return ("note that the phone showed \(name(code))", "Reached the phone: \(name(code))")
        case .tap(let code): return ("open the alert \(name(code))", "Opened from the alert: \(name(code))")
        default: return ("note that a banner was shown", nil)
        }
    }

    private func threshold(_ input: LiveInput) -> (HTML, HTML?) {
        switch input {
        case .threshold(let metric, let low, let high, _, let isEnabled):
            return threshold(metric) { metric in
                if let isEnabled, low == nil, high == nil { return "alerts \(isEnabled ? "on" : "off")" }
                let parts = [(low, "below"), (high, "above")].compactMap { bound, word in
                    bound.map { "\(word) \(telling.value($0, of: metric))" }
                }
                return parts.isEmpty ? "nothing rings" : "rings " + parts.joined(separator: " and ")
            }
        case .switchThreshold(let metric, let isEnabled):
            return threshold(metric) { _ in "alerts \(isEnabled ? "on" : "off")" }
        case .changeThreshold(let metric, let low, let high, let minutes, let isEnabled, _, _):
            return threshold(metric) { metric in
                // Only what was said of it.
                var parts = [(low, "below"), (high, "above")].compactMap { bound, word -> String? in
                    guard let bound else { return nil }
                    return bound.value.map { "rings \(word) \(telling.value($0, of: metric))" }
                        ?? "rings no more \(word) any value"
                }
                if let minutes {
                    parts.append(minutes == 0 ? "at once" : "after \(number(Double(minutes))) min")
                }
                if isEnabled == false { parts.append("off") }
                return parts.isEmpty ? "as before" : parts.joined(separator: ", ")
            }
        default: return ("set thresholds as recommended", "Thresholds as recommended")
        }
    }

    private func threshold(_ metric: String, _ words: (AlertMetric) -> String) -> (HTML, HTML?) {
        guard let metric = AlertMetric(rawValue: metric) else { return ("set a threshold", "Threshold set") }
        let said = words(metric)
        return ("set the threshold of \(metric.name) so: \(said)", "\(metric.name): \(said)")
    }

    // MARK: Rows

    private func words(_ row: SessionHappening, _ fate: DoseFate) -> HTML {
        switch row {
        case .reading(let row): return "Reading \(telling.glucose(mgdl: row.mgdl))"
        case .step(let row): return step(row, fate)
        case .lapse(let row): return "Not given: \(row.words)"
        case .delivery(let row):
            return "Delivery: \(Telling.units(row.units)) for request \("\(row.requestID)")"
        case .person(let row): return person(row)
        case .fault(let row): return "Fault: \(row.kind), until \(telling.time(row.end))"
        case .alert(let row): return "\(StoryWords.line(effect: row.effect, reason: row.reason))"
        }
    }

    private func step(_ row: StepRow, _ fate: DoseFate) -> HTML {
        let seen = row.cgmMgdl.map { "on \(telling.glucose(mgdl: $0))" } ?? "without glucose"
        let head: HTML =
            "Step \("\(row.algorithmTime)") \(seen)\(row.isPumpAvailable ? "" : ", pump unavailable")"
        if !row.failure.isEmpty { return "\(head) failed: \(row.failure)" }
        let became =
            switch fate {
            case .accepted: "accepted \(Telling.units(row.acceptedUnits))"
            case .onItsWay: "on its way"
            case .suggested: "suggested only"
            }
        return
            "\(head): basal \(Telling.units(row.basalUnits)), correction \(Telling.units(row.correctionUnits)), meal \(Telling.units(row.mealUnits)); \(became)"
    }

    private func person(_ row: PersonRow) -> HTML {
        if let words = row.words(telling.unit) {
            return "Person \(words)\(row.code.isNone ? "" : " (\(StoryWords.name(of: row.code.rawValue)))")"
        }
        switch row.kind {
        case .manualBolus: return "Bolus by hand: \(Telling.units(row.amount))"
        case .announcement: return "Announced: \(number(row.amount)) g"
        default: return "Eaten: \(number(row.amount)) g"
        }
    }
}
