// `islet alerts list`: the catalogue.

import Alerts
import ArgumentParser
import Trials

/// `islet alerts list`
struct AlertsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List alerts: code, severity, route, what raises and what closes them.",
        discussion: "Without a policy: the catalogue. With one: its rules.")

    @Option(help: "A preset, or the path of a policy file.")
    var policy: String?

    @Flag(help: "Print the shipped policies, one file each, instead.")
    var presets = false

    @Flag(help: "Print the ranges that growers aim at, by stage of growth, instead.")
    var ranges = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        if presets {
            for preset in AlertPreset.allCases {
                try StandardStream.output.write(
                    "# \(preset.rawValue): \(preset.summary)\n\(preset.text)\n---\n")
            }
            return
        }
        if ranges {
            for entry in AlertMetric.recommendedRanges {
                try StandardStream.output.writeLine(
                    "\(entry.metric.rawValue) \(entry.stage): \(entry.range.lowerBound) to "
                        + "\(entry.range.upperBound) \(entry.metric.unit)")
            }
            return
        }
        var rules = AlertPolicy.bionicloop.rules
        if let policy {
            rules = try AlertPolicy.find(named: policy).rules
        }
        if json {
            try StandardStream.output.write(JSONValue.array(rules.map(entry)).prettyText)
            return
        }
        for rule in rules {
            let known = rule.known
            var text = "\(rule.code)\n  \(rule.severity.name), to \(AlertMessage.destination(rule))"
            if rule.acknowledgement != .none { text += ", acknowledge \(rule.acknowledgement.rawValue)" }
            if known?.isReserved == true { text += ", reserved" }
            if !rule.notifies { text += ", never notifies" }
            text += "\n  when: \(condition(rule))\n"
            if let known { text += "  closes: \(known.closing)\n" }
            try StandardStream.output.write(text)
        }
    }

    private func condition(_ rule: AlertRule) -> String {
        if let known = rule.known { return known.condition }
        return rule.tests.map {
            "\($0.metric.rawValue) \($0.side == .low ? "<" : ">") \($0.bound) \($0.metric.unit)"
        }
        .joined(separator: " and ")
    }

    private func entry(_ rule: AlertRule) -> JSONValue {
        .object([
            .init("code", .string(rule.code)), .init("severity", .string(rule.severity.name)),
            .init("source", .string(rule.source.rawValue)),
            .init("route", .string(AlertMessage.destination(rule))),
            .init("acknowledge", .string(rule.acknowledgement.rawValue)),
            .init("reserved", .bool(rule.known?.isReserved ?? false)),
            .init("notifies", .bool(rule.notifies && rule.severity > .informational)),
            .init("debounce", .string(TimeSpan(nanoseconds: rule.debounce).description)),
            .init("condition", .string(condition(rule))), .init("closes", .string(rule.known?.closing ?? "")),
        ])
    }
}

extension AlertPolicy {
    /// The policy that a word of the command line means.
    static func find(named text: String) throws -> AlertPolicy {
        let node = YAMLNode(.scalar(text, plain: false), origin: .init(file: "--policy"))
        return try find(YAMLReader(node))
    }
}
