// The shipped policies as policy files. Sources are named in each; what is not reproduced stands in its notes. Beside what its source has, each
// but `none` and `story-literal` rings for insulin that did not come: the harm of a loop is the same under any of them.

import IsletAlerts

extension AlertPreset {
    /// The preset as a policy file.
    package var text: String {
        switch self {
        case .bionicloop:
            "policy: bionicloop\nnotes: The BionicLoop alert flow. A lost sensor signal is the sensor app's affair, nothing here rings for it. Screens are not reproduced.\nextends: bionicloop\n"
        case .none: "policy: none\nnotes: No alerts at all.\n"
        case .story: Self.storyText
        case .storyLiteral: Self.storyLiteralText
        case .dexcomG7: Self.dexcomG7Text
        case .loop: Self.loopText
        case .trio: Self.trioText
        case .xdrip: Self.xdripText
        case .nightscout: Self.nightscoutText
        }
    }

    private static let storyText = """
        policy: story
        notes: >-
          Thresholds with sensitivity, quiet hours and critical bounds as the story means them: one alert an episode,
          the first sample counts, time decides. Ranges for a person's glucose are added to the grow room's.
          Added: what silence after a value means to whoever waits for the next one. Not reproduced: settings screens, sounds.
        rules:
          - { code: LOOP-INSULIN-MISSING }
          - { code: LOOP-INSULIN-DROPPED }
          - { code: SIGNAL-LOSS, when: readingAge > 20 }
        thresholds:
          - { metric: glucose, min: 70, max: 250, sensitivity: 15m }
          - { metric: temperature, min: 65, max: 85, sensitivity: 15m }
          - { metric: humidity, min: 40, max: 70, sensitivity: 15m }
          - { metric: vpd, min: 0.4, max: 1.6, sensitivity: 15m }
        quietHours: { from: "22:00", to: "07:00" }
        """

    private static let storyLiteralText = """
        policy: story-literal
        notes: >-
          The story's sketch exactly as written: its clock restarts after each alert, so that one episode alerts again
          and again; `immediate` needs two samples; alerts in quiet hours are lost, unlisted; nothing happens between
          samples. Notifications have no cooldown and go out in the foreground too.
        evaluation: literal
        notifyInForeground: true
        thresholds:
          - { metric: glucose, min: 70, max: 250, sensitivity: 15m, cooldown: 0s }
          - { metric: temperature, min: 65, max: 85, sensitivity: 15m, cooldown: 0s }
          - { metric: humidity, min: 40, max: 70, sensitivity: 15m, cooldown: 0s }
          - { metric: vpd, min: 0.4, max: 1.6, sensitivity: 15m, cooldown: 0s }
        quietHours: { from: "22:00", to: "07:00" }
        """

    private static let dexcomG7Text = """
        policy: dexcom-g7
        notes: >-
          Urgent low 55 fixed, repeated every 5 min until confirmed; low 70 and high 250; signal loss after 20 min (G5 and
          G7 manuals, user guide): whatever keeps readings away rings once for the gap, a warm-up included. Urgent Low Soon is a straight line through the last readings, 20 min on: its own
          prediction is not published. Not reproduced: the re-alarm 30 min after confirming, sound after vibration, rise and fall rate alerts (off by default).
        notifyInForeground: true
        rules:
          - { code: ALERT-CGM-FAILED-OR-EXPIRED, notify: true }
          - { code: ALERT-CGM-UNAVAILABLE, severity: actionable, debounce: 20m, notify: true }
          - code: URGENT-LOW
            when: glucose < 55
            severity: safetyCritical
            acknowledge: reviews
            repeatEvery: 5m
            inhibits: [LOW, URGENT-LOW-SOON]
          - { code: SIGNAL-LOSS, when: readingAge > 20, inhibits: [ALERT-CGM-UNAVAILABLE] }
          - { code: URGENT-LOW-SOON, when: glucoseIn20m < 55, severity: safetyCritical, acknowledge: reviews, cooldown: 30m }
          - { code: LOW, when: glucose < 70, acknowledge: reviews, cooldown: 0s }
          - { code: HIGH, when: glucose > 250, acknowledge: reviews, cooldown: 0s }
          - { code: GLUCOSE-TYPED-LOW }
          - { code: LOOP-INSULIN-MISSING }
          - { code: LOOP-INSULIN-DROPPED }
        """

    private static let loopText = """
        policy: loop
        notes: >-
          LoopKit's glucose alerts (low 70, urgent 55, high 180, re-arm 5 mg/dL, urgent repeats every 5 min and supersedes
          low) and not-looping notices. Not reproduced: the predicted low (< 60 in 20 min by Loop's own forecast: `forecastGlucose`, where an algorithm makes one), muting with silent posts, the notices at 20, 40,
          60 and 120 min after the last success (one alert here, first at 20 min, critical at 60, and every 20 min; while the app is dead the first eight of them). Glucose
          older than 15 min rings no more (6 min there). A step counts that ran, delivered or not: what lacks a reading, a pump or an answer rings by its own rule. Added: a notice when readings stop, a warm-up included, and what was shown in front only is notified when the app is left.
        notifyWhenStale: false
        afterFront: { left: 15s, unanswered: 5m }
        rules:
          - code: ALERT-ALGORITHM-STEPPING-INTERRUPTED
            severity: actionable
            debounce: 5m
            repeatEvery: 20m
            escalate: [{ after: 40m, to: safetyCritical }]
          - { code: ALERT-PUMP-FAULT }
          - { code: ALERT-PUMP-LOW-RESERVOIR }
          - { code: ALERT-PUMP-EXPIRING }
          - { code: ALERT-PUMP-EXPIRED }
          - { code: ALERT-PUMP-SIGNAL-LOSS, debounce: 20m }
          - { code: URGENT-LOW, when: glucose < 55, clearAt: 60, severity: safetyCritical, acknowledge: reviews, repeatEvery: 5m, inhibits: [LOW] }
          - { code: LOW, when: glucose < 70, clearAt: 75, acknowledge: reviews }
          - { code: HIGH, when: glucose > 180, clearAt: 175, acknowledge: reviews }
          - { code: GLUCOSE-TYPED-LOW }
          - { code: LOOP-INSULIN-MISSING }
          - { code: LOOP-INSULIN-DROPPED }
          - { code: SIGNAL-LOSS, when: readingAge > 20 }
        """

    private static let trioText = """
        policy: trio
        notes: >-
          Low 72, high 270, one alert an episode, 5 mg/dL deadband, urgent low suppresses low. Not reproduced: forecast
          low, the throttle that a retraction resets, the 12-min data gate (15 min here). Added: a notice when readings stop, a warm-up included, and what was shown in front only is
          notified when the app is left.
        notifyWhenStale: false
        afterFront: { left: 15s, unanswered: 5m }
        rules:
          - { code: ALERT-ALGORITHM-STEPPING-INTERRUPTED }
          - { code: ALERT-PUMP-FAULT }
          - { code: ALERT-PUMP-LOW-RESERVOIR }
          - { code: ALERT-PUMP-NO-ACTIVE-POD }
          - { code: URGENT-LOW, when: glucose < 54, clearAt: 59, severity: safetyCritical, acknowledge: reviews, inhibits: [LOW] }
          - { code: LOW, when: glucose < 72, clearAt: 77, acknowledge: reviews, cooldown: 5m }
          - { code: HIGH, when: glucose > 270, clearAt: 265, acknowledge: reviews, cooldown: 5m }
          - { code: GLUCOSE-TYPED-LOW }
          - { code: LOOP-INSULIN-MISSING }
          - { code: LOOP-INSULIN-DROPPED }
          - { code: SIGNAL-LOSS, when: readingAge > 20 }
        """

    private static let xdripText = """
        policy: xdrip
        notes: >-
          Low 70, very low 55, high 170, re-raised every few minutes when ignored, quiet after acknowledging. Not
          reproduced: volume profiles, per-alert windows, the default snooze after acknowledging. The missed-readings alert, off by default there, is on, and rings in a warm-up too. Nothing rings
          about a value older than 15 min (17 min there). Added: what was shown in front only is notified when the app is left.
        notifyWhenStale: false
        afterFront: { left: 15s, unanswered: 5m }
        rules:
          - { code: VERY-LOW, when: glucose < 55, severity: safetyCritical, acknowledge: reviews, repeatEvery: 5m, inhibits: [LOW] }
          - { code: LOW, when: glucose < 70, acknowledge: reviews, repeatEvery: 5m, cooldown: 0s }
          - { code: HIGH, when: glucose > 170, acknowledge: reviews, repeatEvery: 20m, cooldown: 0s }
          - { code: ALERT-CGM-UNAVAILABLE, severity: actionable, debounce: 30m, notify: true }
          - { code: GLUCOSE-TYPED-LOW }
          - { code: LOOP-INSULIN-MISSING }
          - { code: LOOP-INSULIN-DROPPED }
          - { code: SIGNAL-LOSS, when: readingAge > 20, inhibits: [ALERT-CGM-UNAVAILABLE] }
        """

    private static let nightscoutText = """
        policy: nightscout
        notes: >-
          Urgent low 55, low 80, high 180, urgent high 260, announced on each load until acknowledged, highest level of a
          group. Not reproduced: snooze groups, the 10-min gate (15 min here), readings of 39 and less that mean no value:
          here they count as low, on purpose. Its warning of old data is at 15 min, here at 20, a warm-up included. Added: what was shown in front only is notified when the page is left.
        notifyWhenStale: false
        afterFront: { left: 15s, unanswered: 5m }
        rules:
          - { code: URGENT-LOW, when: glucose < 55, severity: safetyCritical, acknowledge: reviews, repeatEvery: 5m, inhibits: [LOW] }
          - { code: LOW, when: glucose < 80, acknowledge: reviews, repeatEvery: 5m, cooldown: 0s }
          - { code: URGENT-HIGH, when: glucose > 260, severity: safetyCritical, acknowledge: reviews, repeatEvery: 5m, inhibits: [HIGH] }
          - { code: HIGH, when: glucose > 180, acknowledge: reviews, repeatEvery: 5m, cooldown: 0s }
          - { code: GLUCOSE-TYPED-LOW }
          - { code: LOOP-INSULIN-MISSING }
          - { code: LOOP-INSULIN-DROPPED }
          - { code: SIGNAL-LOSS, when: readingAge > 20 }
        """
}
