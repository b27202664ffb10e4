// What a person types, as inputs: one line an act.
//
// Guarantees: a line is one input or one message that says what is understood; numbers are not judged here.

import IsletAlerts
import Foundation
import IsletDevices

package enum LiveWords {
    /// What a line asks for.
    package enum Wish: Hashable, Sendable {
        case input(LiveInput)
        /// Confirms the bolus that was asked for last.
        case confirm(anyway: Bool)
        case pace(LivePace)
        case status
        case help
        case quit
    }

    /// What can't be understood, and why.
    package struct Unknown: Error, Hashable { package var message: String }

    package static let help = """
        meal 45 | eat 45 | announce 45       grams: eaten and announced, or one of both
        bg 110 | cal 110                     a finger-stick value, mg/dL; to calibrate with
        given 6.5 40                         units of all boluses of the last 8 h, the last one 40 min ago
        bolus 1.5, then confirm              units, by hand; confirm anyway where it asks again
        cancel | stop                        what is owed; the bolus that runs
        target 110 | temp 50% 30 | temp off  mg/dL; share of the basal, minutes
        suspend [30] | resume | pod | sensor
        open | close | start | end           the loop, and its session
        subject NAME 70                      kilograms, from the next session on
        ack CODE | snooze CODE 30 | test CODE | preview CODE | tap CODE
        dismiss CODE | dismiss               a banner or a preview; what was dropped
        quiet 22:00-07:00 | quiet off | threshold glucose 70-180 (70- or -180 for one side, - for none)
        threshold glucose 70-180 15 | threshold glucose off | threshold glucose on
                                             minutes that a value must be beyond; both sides
        front | back                         the app comes to the front, or leaves it
        takepump                             the pump outside is this app's, whoever commanded it
        visit                                a grow room: somebody goes there, and mends what is broken
        login | logout | settings | save     who is signed in; settings are opened, saved
        pace 60 | pause | status | quit      pace: 1, 60, 600, max
        @NAME before any of these: said again under the same name it is taken once
        """

    /// - Returns: the wish, and the name before it; empty for none.
    package static func parse(_ line: String) -> Result<(wish: Wish, key: String), Unknown> {
        var words = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)
        var key = ""
        if let first = words.first, first.hasPrefix("@") {
            key = String(first.dropFirst())
            words.removeFirst()
        }
        guard let verb = words.first else {
            return .failure(Unknown(message: "nothing; `help` lists what there is"))
        }
        if verb == "threshold", words.count >= 3, let problem = ambiguity(words[1], words[2]) {
            return .failure(Unknown(message: problem))
        }
        guard let wish = wish(verb, Array(words.dropFirst())) else {
            return .failure(Unknown(message: "`\(line)` is not understood; `help` lists what there is"))
        }
        return .success((wish, key))
    }

    private static func wish(_ verb: String, _ words: [String]) -> Wish? {
        let plain: [String: Wish] = [
            "confirm": .confirm(anyway: false), "cancel": .input(.cancelOwed), "stop": .input(.cancelBolus),
            "resume": .input(.resume), "pod": .input(.changePod), "sensor": .input(.changeSensor),
            "open": .input(.openLoop), "close": .input(.closedLoop), "start": .input(.startSession),
            "end": .input(.endSession), "front": .input(.foreground), "back": .input(.background),
            "login": .input(.signIn), "logout": .input(.signOut), "settings": .input(.openSettings),
            "save": .input(.saveSettings), "dismiss": .input(.dismissDropped),
            "pause": .pace(.paused), "status": .status, "help": .help, "quit": .quit,
            "suspend": .input(.suspend(minutes: nil)), "visit": .input(.visit),
            "takepump": .input(.takePump),
        ]
        if words.isEmpty { return plain[verb] }
        if verb == "confirm", words == ["anyway"] { return .confirm(anyway: true) }
        if words.count == 1 { return wish(verb, words[0]) }
        return input(verb, words).map { .input($0) }
    }

    private static func wish(_ verb: String, _ word: String) -> Wish? {
        let number = Double(word)
        let text = String(word)
        switch verb {
        case "meal": return number.map { .input(.meal(grams: $0, isEaten: true, isAnnounced: true)) }
        case "eat": return number.map { .input(.meal(grams: $0, isEaten: true, isAnnounced: false)) }
        case "announce": return number.map { .input(.meal(grams: $0, isEaten: false, isAnnounced: true)) }
        case "bg": return number.map { .input(.bloodGlucose(mgdl: $0)) }
        case "cal": return number.map { .input(.calibration(mgdl: $0)) }
        case "bolus": return number.map { .input(.requestBolus(units: $0)) }
        case "target": return number.map { .input(.target(mgdl: $0)) }
        case "suspend": return Int(word).map { .input(.suspend(minutes: $0)) }
        case "temp": return word == "off" ? .input(.cancelTemporaryBasal) : nil
        case "ack": return .input(.acknowledge(alert: text))
        case "test": return .input(.testAlert(alert: text))
        case "preview": return .input(.preview(alert: text))
        case "tap": return .input(.tap(alert: text))
        case "dismiss": return .input(.dismiss(alert: text))
        case "quiet": return quiet(text).map { .input($0) }
        case "pace": return LivePace(text).map { .pace($0) }
        default: return nil
        }
    }

    private static func input(_ verb: String, _ words: [String]) -> LiveInput? {
        if verb == "threshold", words.count == 3, let minutes = Int(words[2]),
            let (low, high) = sides(words[1])
        {
            return .threshold(metric: words[0], low: low, high: high, sensitivityMinutes: minutes)
        }
        guard words.count == 2 else { return nil }
        switch verb {
        case "temp":
            guard words[0].hasSuffix("%"), let percent = Double(words[0].dropLast()),
                let minutes = Int(words[1])
            else { return nil }
            return .temporaryBasal(multiplier: percent / 100, minutes: minutes)
        case "given":
            guard let units = Double(words[0]), let minutes = Int(words[1]) else { return nil }
            return .stateInsulin(units: units, minutesAgo: minutes)
        case "subject": return Double(words[1]).map { .subject(id: words[0], kilograms: $0) }
        case "snooze": return Int(words[1]).map { .snooze(alert: words[0], minutes: $0) }
        case "threshold":
            if words[1] == "on" || words[1] == "off" {
                return .switchThreshold(metric: words[0], isEnabled: words[1] == "on")
            }
            guard let (low, high) = sides(words[1]) else { return nil }
            return .threshold(metric: words[0], low: low, high: high)
        default: return nil
        }
    }

    /// Two numbers and a hyphen between them; either may be missing, or be below 0.
    private static func sides(_ text: String) -> (low: Double?, high: Double?)? {
        for hyphen in text.indices where text[hyphen] == "-" {
            let (low, high) = (text[..<hyphen], text[text.index(after: hyphen)...])
            guard low.isEmpty || Double(low) != nil, high.isEmpty || Double(high) != nil else { continue }
            return (Double(low), Double(high))
        }
        return nil
    }

    /// `-3` is an upper bound of 3, or one of -3 whose hyphen is missing: for what goes below 0 nobody can tell.
    private static func ambiguity(_ metric: String, _ text: String) -> String? {
        guard let metric = AlertMetric(rawValue: metric), let range = LiveInput.range(of: metric),
            range.lowerBound < 0, text.hasPrefix("-"), let number = Double(text), number < 0
        else { return nil }
        let size = text.dropFirst()
        return
            "`\(printable(text, limit: 40))` could be either side of \(metric.rawValue): `-\(size)-` rings below -\(size), `-+\(size)` above \(size)"
    }

    private static func quiet(_ text: String) -> LiveInput? {
        if text == "off" { return .quietHours(fromMinute: nil, toMinute: nil) }
        let ends = text.split(separator: "-").map { end -> Int? in
            let parts = end.split(separator: ":")
            guard parts.count == 2, let hour = Int(parts[0]), let minute = Int(parts[1]),
                (0...23).contains(hour),
                (0...59).contains(minute)
            else { return nil }
            return hour * 60 + minute
        }
        guard ends.count == 2, let from = ends[0], let to = ends[1] else { return nil }
        return .quietHours(fromMinute: from, toMinute: to)
    }
}
