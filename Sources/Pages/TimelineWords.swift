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
    let telling: PageText

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
        case .driver(let name):
            return name.map { "Driven by \($0), step by step" } ?? "Nobody drives any more"
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
        if let left = input.leftOut, let other = LiveInput(bytes: Array(left.input.utf8)) { input = other }
        let words = self.words(input)
        guard let refusal = outcome.refusal else { return words.done }
        return words.done == nil ? nil : refused(event, words.ask, refusal.reason)
    }

    /// - Parameter ask: what was asked for, as an imperative; empty where nobody knows it.
    private func refused(_ event: LiveEvent, _ ask: HTML, _ reason: ValueText) -> HTML {
        let word: HTML = event.outcome == .unknown ? "Not sure whether it was done" : "Refused"
        let sentence = PageText.sentence(telling.words(reason))
        return "<strong>\(word):</strong> \(ask)\(ask.isEmpty ? "" : ". ")\(sentence)"
    }

    private func number(_ value: Double) -> String {
        ChartNumber.text(value, places: value == value.rounded() ? 0 : 1)
    }

    /// What an input asks for, as an imperative, and what is so once it was taken; nil where that is no news. Its row's words, but for those few whose sentence
    /// hangs on what is said.
    func words(_ input: LiveInput, as row: InputRow? = nil) -> (ask: HTML, done: HTML?) {
        switch input.name {
        case "meal":
            let how = [("isEaten", "eaten"), ("isAnnounced", "announced")]
                .filter { input.flag($0.0) == true }.map(\.1)
            let meal =
                "\(number(input.number("grams") ?? 0)) g" + (how.isEmpty ? "" : ", ")
                + how.joined(separator: " and ")
            return ("note a meal of \(meal)", "Meal: \(meal)")
        case "quietHours" where input.values.isEmpty: return ("have no quiet hours", "No quiet hours")
        case "subjectClaim":
            let isOk = input.flag("isOk") == true
            return (
                "note what the cloud says of the subject's ID",
                isOk ? "The subject's ID is this subject's" : "The subject's ID is claimed elsewhere"
            )
        case "threshold", "changeThreshold", "switchThreshold":
            let metric = AlertMetric(rawValue: input.text("metric") ?? "")
            guard let metric else { return ("set a threshold", "Threshold set") }
            let said = threshold(input, metric)
            return ("set the threshold of \(metric.name) so: \(said)", "\(metric.name): \(said)")
        default:
            guard let row = row ?? input.row else { return ("", nil) }
            return (
                filled(row.words.ask, input, row),
                row.words.done.map { filled($0, input, row) }
            )
        }
    }

    /// A row's words with the values that were said; what stands in brackets goes where its value wasn't.
    private func filled(_ words: String, _ input: LiveInput, _ row: InputRow) -> HTML {
        var (html, rest): (HTML, Substring) = ("", words[...])
        if let open = rest.firstIndex(of: "["), let close = rest[open...].firstIndex(of: "]") {
            let inner = String(rest[rest.index(after: open)..<close])
            let isSaid = row.fields.contains {
                inner.contains("{\($0.name)}") && input.values[$0.name] != nil
            }
            let whole = rest[..<open] + (isSaid ? inner : "") + rest[rest.index(after: close)...]
            return filled(String(whole), input, row)
        }
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let name = rest[rest.index(after: open)..<close]
            html = "\(html)\(String(rest[..<open]))"
            if let field = row.fields.first(where: { $0.name == name }), let value = input.values[field.name]
            {
                html += shown(value, field)
            }
            rest = rest[rest.index(after: close)...]
        }
        return "\(html)\(String(rest))"
    }

    /// A value in the reader's unit.
    private func shown(_ value: LiveValue, _ field: InputFacts) -> HTML {
        switch (field.kind, value) {
        case (.clock, .whole(let minute)): return clock(Int(minute))
        case (.alert, .text(let code)): return "\(StoryWords.name(of: code))"
        case (_, .number(let number)):
            switch field.unit {
            case "mg/dL": return "\(telling.glucose(mgdl: number))"
            case "U": return "\(PageText.units(number))"
            default: return "\(self.number(number * field.factor)) \(field.unit)"
            }
        case (_, .whole(let number)):
            return "\(self.number(Double(number)))\(field.unit.isEmpty ? "" : " " + field.unit)"
        case (_, .text(let text)): return "\(text)"
        case (_, .flag(let flag)): return flag ? "yes" : "no"
        case (_, .link): return ""
        }
    }

    private func clock(_ minute: Int) -> HTML {
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let minute = max(0, min(1440, minute))
        return "<span data-clock>\(two(minute / 60)):\(two(minute % 60))</span>"
    }

    /// What was said of a threshold.
    private func threshold(_ input: LiveInput, _ metric: AlertMetric) -> String {
        let isEnabled = input.flag("isEnabled")
        let sides = [("low", "below"), ("high", "above")]
        if input.name == "switchThreshold" { return "alerts \(isEnabled == true ? "on" : "off")" }
        guard input.name == "changeThreshold" else {
            if let isEnabled, input.number("low") == nil, input.number("high") == nil {
                return "alerts \(isEnabled ? "on" : "off")"
            }
            let parts = sides.compactMap { side, word in
                input.number(side).map { "\(word) \(telling.value($0, of: metric))" }
            }
            return parts.isEmpty ? "nothing rings" : "rings " + parts.joined(separator: " and ")
        }
        // Only what was said of it.
        var parts = sides.compactMap { side, word -> String? in
            guard input.values[side] != nil else { return nil }
            return input.number(side).map { "rings \(word) \(telling.value($0, of: metric))" }
                ?? "rings no more \(word) any value"
        }
        if let minutes = input.whole("sensitivityMinutes") {
            parts.append(minutes == 0 ? "at once" : "after \(number(Double(minutes))) min")
        }
        if isEnabled == false { parts.append("off") }
        return parts.isEmpty ? "as before" : parts.joined(separator: ", ")
    }

    // MARK: Rows

    private func words(_ row: SessionHappening, _ fate: DoseFate) -> HTML {
        switch row {
        case .reading(let row): return "Reading \(telling.glucose(mgdl: row.mgdl))"
        case .step(let row): return step(row, fate)
        case .lapse(let row): return "Not given: \(row.words)"
        case .delivery(let row):
            return "Delivery: \(PageText.units(row.units)) for request \("\(row.requestID)")"
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
            case .accepted: "accepted \(PageText.units(row.acceptedUnits))"
            case .onItsWay: "on its way"
            case .suggested: "suggested only"
            }
        return
            "\(head): basal \(PageText.units(row.basalUnits)), correction \(PageText.units(row.correctionUnits)), meal \(PageText.units(row.mealUnits)); \(became)"
    }

    private func person(_ row: PersonRow) -> HTML {
        if let words = row.words(telling.unit) {
            return "Person \(words)\(row.code.isNone ? "" : " (\(StoryWords.name(of: row.code.rawValue)))")"
        }
        switch row.kind {
        case .manualBolus: return "Bolus by hand: \(PageText.units(row.amount))"
        case .announcement: return "Announced: \(number(row.amount)) g"
        default: return "Eaten: \(number(row.amount)) g"
        }
    }
}
