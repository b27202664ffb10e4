// What a page or a program says to a session, as JSON.
//
// Guarantees: what isn't understood is refused with one line that says what is wanted; numbers are finite. Whether a number makes sense is judged where every
// input is (`LiveInput.problem(in:)`).

import IsletFiles
import IsletDevices

package struct WardCommand: Hashable, Sendable {
    package enum Wish: Hashable, Sendable {
        case input(LiveInput)
        case pace(LivePace)
    }

    package var wish: Wish
    /// Said again under the same key it is taken once; empty for none.
    package var key: String
    /// Which page says so, of those that show the session's app; nil for who is none.
    package var page: String?

    package init(_ wish: Wish, key: String = "") { (self.wish, self.key) = (wish, key) }

    /// - Throws: `Ward.Refusal.invalid`.
    package init(_ body: JSONBody) throws(Ward.Refusal) {
        let fields = try body.object("a command")
        let name = try fields.text("command")
        guard let row = Self.rows.first(where: { $0.name == name }) else {
            let meant = nearest(to: name, among: Self.rows.map(\.name)).map { "; nearest: \($0)" } ?? ""
            throw .invalid(
                "command: found `\(printable(name, limit: 40))`, expected one of the API's\(meant)")
        }
        try fields.check(
            only: ["command", "key"] + row.fields.map(\.name),
            nullable: row.fields.filter(\.canBeNull).map(\.name))
        key = try fields.optionalText("key") ?? ""
        guard !fields.has("key") || Self.isKey(key) else {
            throw .invalid("key: expected up to 64 letters, digits, points, hyphens and underscores")
        }
        for field in row.fields { try fields.check(field) }
        if let text = try fields.optionalText("page") {
            guard !text.isEmpty, LiveSession.isKey(text) else {
                throw .invalid("page: expected a page's key")
            }
            page = text
        }
        wish = try row.make(fields)
    }

    /// The journal's word for none is no name.
    package static func isKey(_ text: String) -> Bool {
        !text.isEmpty && text != "-" && LiveSession.isKey(text)
    }
    package static let keyPattern = "^(?!-$)[A-Za-z0-9._-]{1,64}$"

    /// One command, for the reader and for the API's document.
    package struct Row: Sendable {
        package var name: String
        package var summary: String
        package var fields: [Field]
        let make: @Sendable (JSONFields) throws(Ward.Refusal) -> Wish
    }

    package struct Field: Sendable {
        package enum Kind: Sendable {
            case number(ClosedRange<Double>), wholeNumber(ClosedRange<Int>), flag
            /// What it says, and the pattern that it has.
            case text(String, pattern: String? = nil)
        }
        package var name: String
        package var kind: Kind
        package var isRequired = true
        package var canBeNull = false
    }

    private static func plain(_ name: String, _ summary: String, _ input: LiveInput) -> Row {
        Row(name: name, summary: summary, fields: []) { _ throws(Ward.Refusal) in .input(input) }
    }

    private static func screen(_ name: String, _ summary: String, _ input: LiveInput) -> Row {
        Row(
            name: name, summary: summary,
            fields: [
                Field(
                    name: "page", kind: .text("the page that says so", pattern: keyPattern), isRequired: false
                )
            ]
        ) { _ throws(Ward.Refusal) in .input(input) }
    }

    private static let phonePage = Field(
        name: "page", kind: .text("the page that says so, which must be the phone", pattern: keyPattern))
    private static let episode = Field(name: "episode", kind: .wholeNumber(0...1_000_000_000))

    private static func number(
        _ name: String, _ summary: String, _ field: String, _ range: ClosedRange<Double>,
        _ make: @escaping @Sendable (Double) -> LiveInput
    ) -> Row {
        Row(name: name, summary: summary, fields: [Field(name: field, kind: .number(range))]) {
            fields throws(Ward.Refusal) in .input(make(try fields.number(field)))
        }
    }

    private static func alert(
        _ name: String, _ summary: String, _ make: @escaping @Sendable (String) -> LiveInput
    ) -> Row {
        Row(name: name, summary: summary, fields: [Field(name: "alert", kind: .text("an alert's code"))]) {
            fields throws(Ward.Refusal) in .input(make(try fields.text("alert")))
        }
    }

    private static let timePattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$"
    /// Up to 99999.99: a pace of 100000 can be said too, and stands in no schema.
    package static let pacePattern = "^(max|paused|0\\.(0[1-9]|[1-9][0-9]?)|[1-9][0-9]{0,4}(\\.[0-9]{1,2})?)$"

    package static let rows: [Row] = [
        Row(
            name: "meal", summary: "Carbohydrate that is eaten, announced to the loop, or both.",
            fields: [
                Field(name: "grams", kind: .number(1...250)),
                Field(name: "eaten", kind: .flag, isRequired: false),
                Field(name: "announced", kind: .flag, isRequired: false),
            ]
        ) { fields throws(Ward.Refusal) in
            .input(
                .meal(
                    grams: try fields.number("grams"), isEaten: try fields.flag("eaten") ?? true,
                    isAnnounced: try fields.flag("announced") ?? true))
        },
        number("bloodGlucose", "A finger-stick value.", "mgdl", 10...1000) { .bloodGlucose(mgdl: $0) },
        number("calibration", "A finger-stick value to calibrate with.", "mgdl", 10...1000) {
            .calibration(mgdl: $0)
        },
        number("requestBolus", "The first half of a bolus by hand: nothing is given.", "units", 0.05...100) {
            .requestBolus(units: $0)
        },
        Row(
            name: "confirmBolus",
            summary:
                "The second half, within five minutes of session time. Where the bolus asks again (`requested_bolus.asks_again`) it is refused with the reason, unless `anyway` is true.",
            fields: [
                Field(name: "request", kind: .wholeNumber(1...Int(Int32.max))),
                Field(name: "units", kind: .number(0.05...100)),
                Field(name: "anyway", kind: .flag, isRequired: false),
            ]
        ) { fields throws(Ward.Refusal) in
            .input(
                .confirmBolus(
                    request: try fields.wholeNumber("request"), units: try fields.number("units"),
                    anyway: try fields.flag("anyway")))
        },
        plain("cancelOwed", "Calls off what is owed and not under way.", .cancelOwed),
        plain("cancelBolus", "Cuts the running bolus short at the pump.", .cancelBolus),
        number("target", "The nominal target from now on.", "mgdl", 70...250) { .target(mgdl: $0) },
        Row(
            name: "temporaryBasal",
            summary: "A share of the basal for so long, in whole steps of five minutes.",
            fields: [
                Field(name: "percent", kind: .number(0...1000)),
                Field(name: "minutes", kind: .wholeNumber(5...1440)),
            ]
        ) { fields throws(Ward.Refusal) in
            .input(
                .temporaryBasal(
                    multiplier: try fields.number("percent") / 100,
                    minutes: try fields.wholeNumber("minutes")))
        },
        plain("cancelTemporaryBasal", "Ends the temporary basal.", .cancelTemporaryBasal),
        Row(
            name: "suspend",
            summary: "Stops all delivery; the pump reminds after so long, where that is said.",
            fields: [Field(name: "minutes", kind: .wholeNumber(1...1440), isRequired: false, canBeNull: true)]
        ) { fields throws(Ward.Refusal) in
            .input(.suspend(minutes: try fields.optionalWholeNumber("minutes")))
        },
        plain("resume", "Delivers again.", .resume),
        plain("changePod", "A new pod.", .changePod),
        plain("changeSensor", "A new sensor.", .changeSensor),
        plain("openLoop", "Suggestions only.", .openLoop),
        plain("closedLoop", "The loop doses.", .closedLoop),
        Row(
            name: "stateInsulin",
            summary:
                "The boluses of the last eight hours, as the person states them: their sum, and when the last one was given. A loop that doesn't know these hours gives no corrections before.",
            fields: [
                Field(name: "units", kind: .number(LiveInput.statedUnits)),
                Field(name: "minutesAgo", kind: .wholeNumber(0...480)),
            ]
        ) { fields throws(Ward.Refusal) in
            .input(
                .stateInsulin(
                    units: try fields.number("units"), minutesAgo: try fields.wholeNumber("minutesAgo")))
        },
        plain(
            "takePump", "The pump outside is this app's from now on, whoever commanded it before.", .takePump),
        plain("startSession", "The loop's session begins.", .startSession),
        plain("endSession", "The loop's session ends.", .endSession),
        Row(
            name: "subject", summary: "Whom the loop's sessions are about, from the next one on.",
            fields: [
                Field(
                    name: "id",
                    kind: .text("1 to 100 printable characters", pattern: "^[^\\u0000-\\u001f]{1,100}$")),
                Field(name: "kilograms", kind: .number(1...300)),
            ]
        ) { fields throws(Ward.Refusal) in
            .input(.subject(id: try fields.text("id"), kilograms: try fields.number("kilograms")))
        },
        alert("acknowledge", "Acknowledges an alert, or says that it was reviewed.") {
            .acknowledge(alert: $0)
        },
        Row(
            name: "snooze", summary: "An alert is held back for so long.",
            fields: [
                Field(name: "alert", kind: .text("an alert's code")),
                Field(name: "minutes", kind: .wholeNumber(1...1440)),
            ]
        ) { fields throws(Ward.Refusal) in
            .input(
                .snooze(alert: try fields.text("alert"), minutes: try fields.wholeNumber("minutes")))
        },
        alert("testAlert", "Shows and rings an alert of the policy, to see whether it reaches somebody.") {
            .testAlert(alert: $0)
        },
        Row(
            name: "quietHours", summary: "From and to, local time; null for none.",
            fields: [
                Field(name: "from", kind: .text("HH:MM", pattern: timePattern), canBeNull: true),
                Field(name: "to", kind: .text("HH:MM", pattern: timePattern), canBeNull: true),
            ]
        ) { fields throws(Ward.Refusal) in
            .input(.quietHours(fromMinute: try fields.minute("from"), toMinute: try fields.minute("to")))
        },
        Row(
            name: "threshold",
            summary:
                "A metric's two sides; null switches a side off, and a field that is left out is left alone.",
            fields: [
                Field(name: "metric", kind: .text("a metric's name")),
                Field(name: "low", kind: .number(-1000...1000), isRequired: false, canBeNull: true),
                Field(name: "high", kind: .number(-1000...1000), isRequired: false, canBeNull: true),
                Field(
                    name: "sensitivity_minutes", kind: .wholeNumber(0...1440), isRequired: false),
                Field(name: "enabled", kind: .flag, isRequired: false),
            ]
        ) { fields throws(Ward.Refusal) in
            let (metric, isEnabled) = (try fields.text("metric"), try fields.flag("enabled"))
            // A switch alone keeps the numbers.
            if let isEnabled, !fields.has("low"), !fields.has("high"), !fields.has("sensitivity_minutes") {
                return .input(.switchThreshold(metric: metric, isEnabled: isEnabled))
            }
            return .input(
                .changeThreshold(
                    metric: metric,
                    low: fields.has("low") ? ThresholdBound(try fields.optionalNumber("low")) : nil,
                    high: fields.has("high") ? ThresholdBound(try fields.optionalNumber("high")) : nil,
                    sensitivityMinutes: try fields.optionalWholeNumber("sensitivity_minutes"),
                    isEnabled: isEnabled))
        },
        plain(
            "recommendThresholds",
            "Every metric that something is recommended for, as its subject is now, has that as its threshold.",
            .recommendThresholds),
        plain("signIn", "Somebody logs in to the app.", .signIn),
        plain("signOut", "Somebody logs out of the app.", .signOut),
        plain("openSettings", "The app's settings are opened.", .openSettings),
        plain("saveSettings", "The app's settings are saved.", .saveSettings),
        Row(
            name: "subjectClaim", summary: "What the cloud answers about the subject's claim from now on.",
            fields: [Field(name: "ok", kind: .flag)]
        ) { fields throws(Ward.Refusal) in .input(.subjectClaim(isOk: try fields.flag("ok") == true)) },
        Row(
            name: "dismiss",
            summary:
                "Puts an alert's banner away, and ends a preview. The alert stays. `episode`: the second at which the one that is meant was raised.",
            fields: [
                Field(name: "alert", kind: .text("an alert's code")),
                Field(name: "episode", kind: .wholeNumber(0...1_000_000_000), isRequired: false),
            ]
        ) { fields throws(Ward.Refusal) in
            .input(
                .dismiss(
                    alert: try fields.text("alert"), episode: try fields.optionalWholeNumber("episode")))
        },
        Row(
            name: "bannerShown", summary: "The phone has shown an alert's banner for its ten seconds.",
            fields: [Field(name: "alert", kind: .text("an alert's code")), episode, phonePage]
        ) { fields throws(Ward.Refusal) in
            _ = try fields.text("page")
            return .input(
                .bannerShown(alert: try fields.text("alert"), episode: try fields.wholeNumber("episode")))
        },
        Row(
            name: "told", summary: "The phone has shown an alert's notification.",
            fields: [Field(name: "alert", kind: .text("an alert's code")), phonePage]
        ) { fields throws(Ward.Refusal) in
            _ = try fields.text("page")
            return .input(.told(alert: try fields.text("alert")))
        },
        alert("tap", "Taps an alert's notification.") { .tap(alert: $0) },
        alert("preview", "Shows what an alert would look like, until it is dismissed.") {
            .preview(alert: $0)
        },
        plain("dismissDropped", "What was dropped has been seen.", .dismissDropped),
        plain("visit", "Somebody goes to the subject, and mends what is broken.", .visit),
        screen("foreground", "The app comes to the front: somebody looks at it.", .foreground),
        screen("background", "The app leaves the front.", .background),
        Row(
            name: "pace", summary: "Session seconds per second.",
            fields: [
                Field(
                    name: "pace",
                    kind: .text("a number from 0.01 to 100000, `max` or `paused`", pattern: pacePattern))
            ]
        ) { fields throws(Ward.Refusal) in
            let text = try fields.text("pace")
            guard let pace = text == "paused" ? .paused : LivePace(text) else {
                throw .invalid("pace: expected a number from 0.01 to 100000, `max` or `paused`")
            }
            return .pace(pace)
        },
    ]
}
