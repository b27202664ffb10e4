// What happened, as a person would say it.
//
// Guarantees: every input has words, one that has no row here those of its name; glucose is in the reader's unit, with as many digits as a meter shows. Does not: tell of the app's
// comings and goings: they are no news.

import IsletAlerts
import IsletFiles
import IsletDevices
import Foundation

struct TimelineWords {
    let telling: Telling

    /// nil for what is no news.
    func words(_ text: String) -> String? {
        if let (name, fields) = Self.input(text) {
            return ["foreground", "background", "bannerShown"].contains(name) ? nil : words(name, fields)
        }
        if text.hasPrefix("pace ") {
            let pace = text.dropFirst(5).filter { $0 != " " }
            return pace == "0" || pace == "paused" ? "Paused" : "Pace: \(pace) times"
        }
        let plain = text.split(separator: " ").joined(separator: " ")
        let begun = plain.prefix(1).uppercased() + plain.dropFirst()
        return Telling.shortened(telling.unit.words(rounded(begun)))
    }

    /// Glucose as a meter shows it: 165.202 mg/dL → 165 mg/dL.
    private func rounded(_ text: String) -> String {
        guard telling.unit == .mgdl else { return text }
        return text.replacing(#/(\d+\.\d+) mg\/dL(?!\/)/#) { match in
            (Double(match.1).map { ChartNumber.plain($0, places: 0) } ?? String(match.1)) + " mg/dL"
        }
    }

    /// `input 38 {"meal":{"grams":45}}`, with or without what became of it.
    private static func input(_ text: String) -> (name: String, fields: [String: Any])? {
        guard text.hasPrefix("input"), let begin = text.firstIndex(of: "{"),
            let end = text.lastIndex(of: "}"),
            let json = try? JSONSerialization.jsonObject(with: Data(text[begin...end].utf8))
                as? [String: Any],
            let name = json.keys.first, json.count == 1
        else { return nil }
        return (name, json[name] as? [String: Any] ?? [:])
    }

    private static let plain: [String: String] = [
        "cancelOwed": "What was owed was called off", "cancelBolus": "The running bolus was stopped",
        "cancelTemporaryBasal": "Temporary basal ended by hand", "resume": "Insulin resumed",
        "changePod": "Pod changed", "changeSensor": "Sensor changed", "openLoop": "Loop opened",
        "closedLoop": "Loop closed", "startSession": "Session started", "endSession": "Session ended",
        "signIn": "Logged in", "signOut": "Logged out", "openSettings": "Settings opened",
        "saveSettings": "Settings saved", "dismissDropped": "A dose that was given up was dismissed",
        "recommendThresholds": "Thresholds as recommended", "takePump": "The pump was taken over",
        "visit": "The keeper came", "device": "A device reported",
    ]

    private func number(_ value: Double) -> String {
        ChartNumber.text(value, places: value == value.rounded() ? 0 : 1)
    }

    private func words(_ name: String, _ fields: [String: Any]) -> String {
        if let plain = Self.plain[name] { return plain }
        func value(_ key: String) -> Double? { (fields[key] as? NSNumber)?.doubleValue }
        func isSo(_ key: String) -> Bool { (fields[key] as? NSNumber)?.boolValue ?? false }
        let alert = StoryWords.name(of: fields["alert"] as? String ?? "")
        let glucose = value("mgdl").map(telling.glucose(mgdl:)) ?? ""
        let units = value("units").map { Telling.units($0) } ?? ""
        let minutes = value("minutes").map { "\(number($0)) min" }
        switch name {
        case "meal":
            let how = [isSo("isEaten") ? "eaten" : nil, isSo("isAnnounced") ? "announced" : nil].compactMap {
                $0
            }
            return "Meal: \(number(value("grams") ?? 0)) g, \(how.joined(separator: " and "))"
        case "bloodGlucose": return "Blood glucose: \(glucose)"
        case "calibration": return "Sensor calibrated: \(glucose)"
        case "reading": return "Reading from outside: \(glucose)"
        case "target": return "Target: \(glucose)"
        case "requestBolus": return "Bolus asked for: \(units), to be confirmed"
        case "confirmBolus": return "Bolus confirmed: \(units)"
        case "stateInsulin":
            return
                "Boluses of the last 8 h stated: \(units), the last one \(number(value("minutesAgo") ?? 0)) min ago"
        case "temporaryBasal":
            return "Temporary basal: \(number((value("multiplier") ?? 1) * 100)) % for \(minutes ?? "")"
        case "suspend": return "Insulin suspended" + (minutes.map { ", reminder after \($0)" } ?? "")
        case "subject":
            return "Subject: \(fields["id"] as? String ?? ""), \(number(value("kilograms") ?? 0)) kg"
        case "acknowledge": return "Acknowledged: \(alert)"
        case "snooze": return "Snoozed for \(minutes ?? ""): \(alert)"
        case "testAlert": return "Tested: \(alert)"
        case "preview": return "Preview: \(alert)"
        case "dismiss": return "Banner dismissed: \(alert)"
        case "told": return "Reached the phone: \(alert)"
        case "tap": return "Opened from the alert: \(alert)"
        case "quietHours":
            guard let from = value("fromMinute"), let to = value("toMinute") else { return "No quiet hours" }
            return "Quiet hours: \(clock(from)) to \(clock(to))"
        case "threshold", "switchThreshold": return threshold(fields)
        case "changeThreshold": return changedThreshold(fields)
        case "clockStep": return "The clock was set by \(number(value("seconds") ?? 0)) s"
        default:
            let spaced = name.map { $0.isUppercase ? " " + $0.lowercased() : String($0) }.joined()
            return spaced.prefix(1).uppercased() + spaced.dropFirst()
        }
    }

    private func clock(_ minute: Double) -> String {
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let minute = Int(max(0, min(1440, minute)))
        return two(minute / 60) + ":" + two(minute % 60)
    }

    /// Only what was said of it.
    private func changedThreshold(_ fields: [String: Any]) -> String {
        guard let metric = AlertMetric(rawValue: fields["metric"] as? String ?? "") else {
            return "Threshold changed"
        }
        var parts = [("low", "below"), ("high", "above")].compactMap { key, word -> String? in
            if let bound = fields[key] as? NSNumber {
                return "rings \(word) \(telling.value(bound.doubleValue, of: metric))"
            }
            return fields[key] == nil ? nil : "rings no more \(word) any value"
        }
        if let minutes = (fields["sensitivityMinutes"] as? NSNumber)?.doubleValue {
            parts.append(minutes == 0 ? "at once" : "after \(number(minutes)) min")
        }
        if let isOn = (fields["isEnabled"] as? NSNumber)?.boolValue, !isOn { parts.append("off") }
        return "\(metric.name): " + (parts.isEmpty ? "as before" : parts.joined(separator: ", "))
    }

    private func threshold(_ fields: [String: Any]) -> String {
        guard let metric = AlertMetric(rawValue: fields["metric"] as? String ?? "") else {
            return "Threshold set"
        }
        if let isOn = (fields["isEnabled"] as? NSNumber)?.boolValue, fields["low"] == nil,
            fields["high"] == nil
        {
            return "\(metric.name): alerts \(isOn ? "on" : "off")"
        }
        let parts = [("low", "below"), ("high", "above")].compactMap { key, word in
            (fields[key] as? NSNumber).map { "\(word) \(telling.value($0.doubleValue, of: metric))" }
        }
        return "\(metric.name): "
            + (parts.isEmpty ? "nothing rings" : "rings " + parts.joined(separator: " and "))
    }
}
