// `islet thresholds set`: one threshold, made or changed.

import IsletFiles
import IsletAlerts
import ArgumentParser
import IsletResults
import IsletDevices
import IsletKernel

/// `islet thresholds set`
struct ThresholdsSetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Make a threshold, or change what is said of it.",
        discussion: """
            What is not said stays as it was. A value below min or above max is a violation; the alert is raised when it has lasted as long as the sensitivity says. Beyond
            a critical bound it is safety-critical: quiet hours don't hold it back.

            Examples:
              islet thresholds set --store phone.sqlite --subject basil --metric temperature --min 65 --max 80 --sensitivity 15m
              islet thresholds set --store phone.sqlite --subject basil --metric vpd --recommended
              islet thresholds set --store phone.sqlite --subject me --metric glucose --min 3.9 --unit mmol/L --critical-below 3.0
            """)

    @OptionGroup var store: ThresholdStoreOption
    @OptionGroup var name: ThresholdName

    @Option(help: ArgumentHelp("The least that is well; none for no such side.", valueName: "X"))
    var min: String?

    @Option(help: ArgumentHelp("The most that is well; none for no such side.", valueName: "X"))
    var max: String?

    @Option(help: ArgumentHelp("Of the numbers here. (default: the metric's)", valueName: "unit"))
    var unit: String?

    @Option(help: ArgumentHelp("immediate, or a time such as 15m or 1h.", valueName: "time"))
    var sensitivity: String?

    @Option(help: ArgumentHelp("Safety-critical below; default for the metric's own.", valueName: "X"))
    var criticalBelow: String?

    @Option(help: ArgumentHelp("Safety-critical above; default for the metric's own.", valueName: "X"))
    var criticalAbove: String?

    @Flag(help: "Take min and max from the range recommended for the subject's kind and stage.")
    var recommended = false

    func run() throws {
        let metric = try name.resolved()
        let kept = try store.open()
        let changed = try kept.update { ledger in
            let settings = OwnerSettings(ledger)
            var threshold =
                settings.thresholds(of: name.subject).first { $0.metric == metric }
                ?? AlertThreshold(subject: name.subject, metric: metric)
            try change(&threshold, settings)
            try ledger.set(.threshold(threshold), clock: ThresholdStoreOption.clock)
            return threshold
        }
        try StandardStream.output.writeLine(changed.words)
        try kept.askPermission()
    }

    private func change(_ threshold: inout AlertThreshold, _ settings: OwnerSettings) throws {
        if recommended {
            guard let row = settings.recommended(threshold) else {
                let subject = settings.subject(name.subject)
                throw InputError(
                    file: "--recommended",
                    found:
                        "no range for \(threshold.metric.rawValue) of a \(subject?.kind ?? "") in stage \(quoted(subject?.stage ?? ""))",
                    expected:
                        "a kind and stage of `islet thresholds recommended`, set by `islet thresholds subject`"
                )
            }
            threshold.min = row.range.lowerBound
            threshold.max = row.range.upperBound
        }
        func number(_ option: String, _ text: String) throws -> Double {
            guard let value = finiteNumber(text) else {
                throw InputError(file: option, found: quoted(text), expected: "a number")
            }
            return try MetricUnit.value(value, in: unit, of: threshold.metric)
        }
        if let min { threshold.min = min == "none" ? nil : try number("--min", min) }
        if let max { threshold.max = max == "none" ? nil : try number("--max", max) }
        if let criticalBelow {
            threshold.criticalBelow =
                criticalBelow == "default" ? nil : try number("--critical-below", criticalBelow)
        }
        if let criticalAbove {
            threshold.criticalAbove =
                criticalAbove == "default" ? nil : try number("--critical-above", criticalAbove)
        }
        if let sensitivity {
            if sensitivity == "immediate" {
                threshold.sensitivity = 0
            } else if let span = TimeSpan(sensitivity) {
                threshold.sensitivity = span.nanoseconds
            } else {
                throw InputError(
                    file: "--sensitivity", found: quoted(sensitivity),
                    expected: "immediate, or a time such as 15m or 1h")
            }
        }
    }
}

extension AlertThreshold {
    /// For people, on one line.
    var words: String {
        func text(_ value: Double) -> String { "\(JSONValue.numberText(value)) \(metric.unit)" }
        let sides = [min.map { "min \(text($0))" }, max.map { "max \(text($0))" }].compactMap { $0 }
        let critical = [
            criticalBelow.map { "below \(text($0))" }, criticalAbove.map { "above \(text($0))" },
        ].compactMap { $0 }
        var words = "\(subject) \(metric.rawValue): " + sides.joined(separator: ", ") + ", \(sensitivityText)"
        if !critical.isEmpty { words += ", critical " + critical.joined(separator: " and ") }
        return words + (isEnabled ? "" : ", off")
    }

    var sensitivityText: String {
        sensitivity == 0 ? "immediate" : "after \(TimeSpan(nanoseconds: sensitivity))"
    }
}

/// Units that a person may give a number in.
private enum MetricUnit {
    /// More places would be the arithmetic's, not the person's.
    private static func hundredth(_ value: Double) -> Double { (value * 100).rounded() / 100 }

    static func value(_ value: Double, in unit: String?, of metric: AlertMetric) throws -> Double {
        guard let unit, unit.lowercased() != metric.unit.lowercased() else { return value }
        let isGlucose = metric.unit.hasPrefix(GlucoseUnit.mgdl.rawValue)
        if isGlucose,
            unit.lowercased()
                == metric.unit.replacing(GlucoseUnit.mgdl.rawValue, with: GlucoseUnit.mmolL.rawValue)
                .lowercased()
        {
            return hundredth(value * GlucoseUnit.mgdlPerMillimole)
        }
        if metric.unit == "°F", ["°c", "c"].contains(unit.lowercased()) {
            return hundredth(value * 9 / 5 + 32)
        }
        if metric.unit == "°F", unit.lowercased() == "f" { return value }
        let others = isGlucose ? " or mmol/L" : metric.unit == "°F" ? " or °C" : ""
        throw InputError(file: "--unit", found: quoted(unit), expected: metric.unit + others)
    }
}
