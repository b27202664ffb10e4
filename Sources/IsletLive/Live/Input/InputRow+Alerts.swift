// Inputs about alerts, their thresholds, and the app that shows them.

import IsletAlerts
import IsletDevices

extension InputRow {
    private static let episodes = 0...1_000_000_000
    private static let episodeWords = "episode, since the start"
    /// What a button was drawn of: what came after it is not what the reader means.
    private static let episode = InputField<Int?>.optionalWhole("episode", "s", episodes, episodeWords)

    static let ofAlerts: [InputRow] = [
        InputRow(
            "acknowledge",
            "Acknowledges an alert, or says that it was reviewed. `episode`: the second at which the one that is meant was raised.",
            .alert, episode,
            keys: [InputKeys("ack", "CODE", "an alert")],
            words: Words("acknowledge {alert}", "Acknowledged: {alert}"), marks: [.aboutActiveAlert]
        ) { door, alert, episode in try door.acknowledge(AlertName(rawValue: alert), episode) },
        InputRow(
            "snooze", "An alert is held back for so long; with `episode`, if it is still that one.", .alert,
            .whole("minutes", "min", 1...1440, "snooze", told: "duration"), episode,
            keys: [InputKeys("snooze", "CODE 30", "an alert, for so many minutes")],
            words: Words("snooze {alert} for {minutes}", "Snoozed for {minutes}: {alert}"),
            marks: [.aboutActiveAlert]
        ) { door, alert, minutes, episode in
            try door.snooze(AlertName(rawValue: alert), minutes: minutes, episode)
        },
        InputRow(
            "endSnooze", "A snooze is taken back: what it held back is notified, if it still holds.", .alert,
            keys: [InputKeys("unsnooze", "CODE", "takes a snooze back")],
            words: Words("end the snooze of {alert}", "No longer snoozed: {alert}"),
            marks: [.aboutActiveAlert]
        ) { door, alert in try door.endSnooze(AlertName(rawValue: alert)) },
        InputRow(
            "testAlert", "Shows and rings an alert of the policy, to see whether it reaches somebody.",
            .alert,
            keys: [InputKeys("test", "CODE", "rings it, to see whether it reaches somebody")],
            words: Words("test {alert}", "Tested: {alert}")
        ) { door, alert in try door.tell(.testAlert(AlertName(rawValue: alert))) },
        InputRow(
            "dismiss",
            "Puts an alert's banner away, and ends a preview. The alert stays. `episode`: the second at which the one that is meant was raised.",
            .alert, episode,
            keys: [InputKeys("dismiss", "CODE", "a banner or a preview")],
            words: Words("dismiss the banner of {alert}", "Banner dismissed: {alert}"),
            marks: [.aboutActiveAlert]
        ) { door, alert, episode in try door.dismiss(AlertName(rawValue: alert), episode) },
        InputRow(
            "bannerShown", "The phone has shown an alert's banner for its ten seconds.", .alert,
            .whole("episode", "s", episodes, episodeWords), api: API(page: .phone),
            words: Words("note that a banner was shown", nil), marks: [.aboutActiveAlert]
        ) { door, alert, episode in try door.bannerShown(AlertName(rawValue: alert), episode) },
        InputRow(
            "told", "The phone has shown an alert's notification.", .alert, api: API(page: .phone),
            words: Words("note that the phone showed {alert}", "Reached the phone: {alert}")
        ) { door, alert in try door.told(AlertName(rawValue: alert)) },
        InputRow(
            "tap", "Taps an alert's notification.", .knownAlert,
            keys: [InputKeys("tap", "CODE", "its notification")],
            words: Words("open the alert {alert}", "Opened from the alert: {alert}"),
            marks: [.aboutActiveAlert]
        ) { door, alert in try door.tell(.tap(try door.ruled(alert))) },
        InputRow(
            "preview", "Shows what an alert would look like, until it is dismissed.", .knownAlert,
            keys: [InputKeys("preview", "CODE", "what it would look like")],
            words: Words("preview {alert}", "Preview: {alert}")
        ) { door, alert in try door.tell(.preview(try door.ruled(alert))) },
        InputRow(
            "openSettings", "The app's settings are opened.",
            keys: [InputKeys("settings", "", "are opened")],
            words: Words("open the settings", "Settings opened")
        ) { door in try door.tell(.settingsOpened) },
        InputRow(
            "saveSettings", "The app's settings are saved.", keys: [InputKeys("save", "", "the settings")],
            words: Words("save the settings", "Settings saved")
        ) { door in try door.tell(.settingsSaved) },
        InputRow(
            "foreground", "The app comes to the front: somebody looks at it.", api: API(page: .any),
            keys: [InputKeys("front", "", "the app comes to the front")],
            words: Words("note where the app is", nil)
        ) { door in try door.foreground() },
        InputRow(
            "background", "The app leaves the front.", api: API(page: .any),
            keys: [InputKeys("back", "", "the app leaves the front")],
            words: Words("note where the app is", nil)
        ) { door in try door.tell(.background) },
    ]

    private static let sensitivity = InputField<Int?>.optionalWhole(
        "sensitivityMinutes", "min", 0...1440, said: "sensitivity_minutes", "sensitivity",
        told: "sensitivity")
    private static let enabled = InputField<Bool?>.optionalFlag("isEnabled", said: "enabled")
    private static let setThreshold = Words("set a threshold", "Threshold set")

    static let ofThresholds: [InputRow] = [
        InputRow(
            "quietHours", "From and to, local time; null for none.",
            .clock("fromMinute", said: "from", "quiet hours, after midnight"),
            .clock("toMinute", said: "to", "quiet hours, after midnight"),
            keys: [
                InputKeys("quiet", "22:00-07:00", "quiet hours; `quiet off`") { LiveWords.quiet($0[0]) }
            ],
            words: Words(
                "set quiet hours from {fromMinute} to {toMinute}", "Quiet hours: {fromMinute} to {toMinute}"),
            marks: [.setting, .owners],
            judge: { input, _ in
                guard (input.whole("fromMinute") == nil) != (input.whole("toMinute") == nil) else {
                    return nil
                }
                return LiveRefusal(.contradictory, "quiet hours: found one end, expected both or none")
            }
        ) { door, from, to in try door.quietHours(from, to) },
        InputRow(
            "threshold", "A threshold's two sides: one that isn't said is off.", .metric,
            .optionalNumber("low", LiveInput.sides, told: "low"),
            .optionalNumber("high", LiveInput.sides, told: "high"), sensitivity, enabled, api: nil,
            keys: [
                InputKeys(
                    "threshold", "glucose 70-180", "70- or -180 for one side, - for none; also on, off"
                ) { LiveWords.threshold($0) },
                InputKeys("threshold", "glucose 70-180 15", "minutes that a value must be beyond") {
                    LiveWords.threshold($0)
                },
            ],
            words: setThreshold, marks: [.setting, .owners],
            judge: { input, context in
                LiveInput.problem(
                    input.text("metric") ?? "", input.number("low"), input.number("high"), context.kind)
            }
        ) { door, metric, low, high, minutes, isEnabled in
            try door.threshold(metric, low: low, high: high, minutes: minutes, isEnabled: isEnabled)
        },
        InputRow(
            "changeThreshold",
            "A metric's two sides; null switches a side off, and a field that is left out is left alone.",
            .metric, .bound("low", LiveInput.sides, said: "low", told: "low"),
            .bound("high", LiveInput.sides, said: "high", told: "high"),
            sensitivity, enabled, .bound("criticalBelow", -1000...1000, "critical bound"),
            .bound("criticalAbove", -1000...1000, "critical bound"),
            api: API(name: "threshold") { input in
                // A switch alone keeps the numbers.
                guard let isEnabled = input.flag("isEnabled"), let metric = input.text("metric"),
                    input.values.count == 2
                else { return input }
                return .switchThreshold(metric: metric, isEnabled: isEnabled)
            },
            words: setThreshold, marks: [.setting, .owners],
            judge: { input, context in
                LiveInput.problem(
                    input.text("metric") ?? "", input.number("low"), input.number("high"), context.kind)
            }
        ) { door, metric, low, high, minutes, isEnabled, below, above in
            try door.change(
                metric, low, high, minutes, isEnabled, criticalBelow: below, criticalAbove: above)
        },
        InputRow(
            "switchThreshold", "Both sides off, or on again as they were.", .metric,
            .flag("isEnabled", said: "enabled"), api: nil, words: setThreshold, marks: [.setting, .owners]
        ) { door, metric, isEnabled in try door.switchThreshold(metric, isEnabled: isEnabled) },
        InputRow(
            "recommendThresholds",
            "Every metric that something is recommended for, as its subject is now, has that as its threshold.",
            words: Words("set thresholds as recommended", "Thresholds as recommended"),
            marks: [.setting, .owners]
        ) { door in try door.recommendThresholds() },
    ]
}
