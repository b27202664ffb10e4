// `islet alerts list`: the catalogue.

import IsletFiles
import IsletAlerts
import ArgumentParser
import IsletCommands
import IsletDevices
import IsletTrials

/// `islet alerts list`
struct AlertsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List alerts: code, severity, route, what raises and what closes them.",
        discussion: """
            Without a policy: the catalogue. With one: its rules as resolved, every setting of each, defaults included.

            Examples:
              islet alerts list
              islet alerts list --policy dexcom-g7
            """
    )

    @Option(help: "A preset, or the path of a policy file.")
    var policy: String?

    @Flag(help: "Print the shipped policies, one file each, instead.")
    var presets = false

    @Flag(help: "Print the ranges that growers aim at, by stage of growth, instead.")
    var ranges = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var units: GlucoseUnits

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
        let resolved = try policy.map { try AlertPolicy.find(named: $0) } ?? .bionicloop
        if json {
            try StandardStream.output.write(
                JSONValue.array(resolved.rules.map { entry($0, resolved) }).prettyText)
            return
        }
        if policy != nil {
            try StandardStream.output.writeLine("policy \(resolved.name)")
            try write(resolved.settings, indent: "  ")
            try StandardStream.output.writeLine("")
        }
        for rule in resolved.rules {
            var text = "\(rule.code)\n  \(rule.severity.name), to \(AlertMessage.destination(rule))"
            if rule.acknowledgement != .none { text += ", acknowledge \(rule.acknowledgement.rawValue)" }
            if rule.known?.isReserved == true { text += ", reserved" }
            if !rule.notifies { text += ", never notifies" }
            text +=
                "\n  when: \(rule.conditionText(in: units.unit))\n  closes: \(rule.closingText(in: units.unit))\n"
            try StandardStream.output.write(text)
            if policy != nil { try write(rule.settings(in: resolved, units.unit), indent: "  ") }
        }
        if resolved.name == AlertPreset.bionicloop.rawValue {
            try StandardStream.output.writeLine(
                "A lost sensor signal is the sensor app's affair: nothing here rings for it.")
        }
    }

    /// One setting a line, the short ones in one.
    private func write(_ settings: [(key: String, value: String)], indent: String) throws {
        var line = indent
        for (key, value) in settings {
            let text = "\(key): \(value)"
            if line.count > indent.count, line.count + text.count > 97 {
                try StandardStream.output.writeLine(line)
                line = indent
            }
            line += (line.count > indent.count ? "; " : "") + text
        }
        if line.count > indent.count { try StandardStream.output.writeLine(line) }
    }

    private func entry(_ rule: AlertRule, _ policy: AlertPolicy) -> JSONValue {
        [
            "code": .string(rule.code.rawValue), "severity": .string(rule.severity.name),
            "source": .string(rule.source.rawValue),
            "route": .string(AlertMessage.destination(rule)),
            "acknowledge": .string(rule.acknowledgement.rawValue),
            "reserved": .bool(rule.known?.isReserved ?? false),
            "notifies": .bool(rule.notifies && rule.severity > .informational),
            "debounce": .string(TimeSpan(nanoseconds: rule.debounce).description),
            "condition": .string(rule.condition), "closes": .string(rule.closing),
            "settings": .object(rule.settings(in: policy).map { .init($0.key, .string($0.value)) }),
            "policy": .object(policy.settings.map { .init($0.key, .string($0.value)) }),
        ]
    }
}

extension AlertPolicy {
    /// The policy that a word of the command line means.
    static func find(named text: String) throws -> AlertPolicy {
        let node = YAMLNode(.scalar(text, plain: false), origin: .init(file: "--policy"))
        return try find(YAMLReader(node))
    }
}
