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

    /// One line a row, and what the terminal itself understands.
    package static func help(_ rows: [InputRow] = InputRow.all) -> String {
        func line(_ typed: String, _ help: String) -> String {
            typed + String(repeating: " ", count: max(2, 30 - typed.count)) + help
        }
        let inputs = rows.flatMap(\.keys).map {
            line($0.example.isEmpty ? $0.verb : "\($0.verb) \($0.example)", $0.help)
        }
        let own = [
            line("confirm", "gives the bolus that was asked for; `confirm anyway` where it asks again"),
            line("pace 60 | pause", "1, 60, 600, max session seconds per second"),
            line("status | help | quit", ""),
            "@NAME before any of these: said again under the same name it is taken once",
        ]
        return (inputs + own).map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }

    /// - Returns: the wish, and the name before it; empty for none.
    package static func parse(
        _ line: String, _ rows: [InputRow] = InputRow.all
    ) -> Result<(wish: Wish, key: String), Unknown> {
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
        guard let wish = wish(verb, Array(words.dropFirst()), rows) else {
            return .failure(Unknown(message: "`\(line)` is not understood; `help` lists what there is"))
        }
        return .success((wish, key))
    }

    private static func wish(_ verb: String, _ words: [String], _ rows: [InputRow]) -> Wish? {
        switch (verb, words.first, words.count) {
        case ("confirm", nil, _): return .confirm(anyway: false)
        case ("confirm", "anyway"?, 1): return .confirm(anyway: true)
        case ("pause", nil, _): return .pace(.paused)
        case ("pace", let pace?, 1): return LivePace(pace).map { .pace($0) }
        case ("status", nil, _): return .status
        case ("help", nil, _): return .help
        case ("quit", nil, _): return .quit
        default: break
        }
        return rows.lazy.compactMap { row in
            row.keys.lazy.filter { $0.verb == verb }.compactMap { $0.input(words, row) }.first
        }.first.map { .input($0) }
    }

    /// A metric; its two sides, or whether it is on; and how many minutes a value must be beyond one.
    static func threshold(_ words: [String]) -> LiveInput? {
        if words.count == 2, words[1] == "on" || words[1] == "off" {
            return .switchThreshold(metric: words[0], isEnabled: words[1] == "on")
        }
        guard let (low, high) = sides(words[1]) else { return nil }
        guard words.count == 3 else { return .threshold(metric: words[0], low: low, high: high) }
        return Int(words[2]).map {
            .threshold(metric: words[0], low: low, high: high, sensitivityMinutes: $0)
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

    static func quiet(_ text: String) -> LiveInput? {
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
