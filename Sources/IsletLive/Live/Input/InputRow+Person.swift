// Inputs of people: meals, insulin, the loop and its session, pump and sensor.

import IsletDevices
import IsletKernel
import IsletLoop

extension InputRow {
    private static let bolusRange = 0.05...100.0
    private static func amount(_ words: String = "manual bolus") -> InputField<Double> {
        .number("units", "U", bolusRange, words, told: "bolus")
    }
    private static func measured(_ words: String) -> InputField<Double> {
        .number("mgdl", "mg/dL", LoopController.bloodGlucoseRange, words, told: "glucose")
    }
    private static func meal(_ isEaten: Bool, _ isAnnounced: Bool) -> @Sendable ([String]) -> LiveInput? {
        { words in
            Double(words[0]).map { .meal(grams: $0, isEaten: isEaten, isAnnounced: isAnnounced) }
        }
    }

    static let ofPerson: [InputRow] = [
        InputRow(
            "meal", "Carbohydrate that is eaten, announced to the loop, or both.",
            .number("grams", "g", 1...MealAnnouncement.largest.grams, "meal", told: "carbohydrate"),
            .flag("isEaten", said: "eaten", usual: true),
            .flag("isAnnounced", said: "announced", usual: true),
            of: .person(lacks: "no meals"),
            keys: [
                InputKeys("meal", "45", "grams, eaten and announced", make: meal(true, true)),
                InputKeys("eat", "45", "grams, eaten only", make: meal(true, false)),
                InputKeys("announce", "45", "grams, announced only", make: meal(false, true)),
            ],
            words: Words("note a meal of {grams}", "Meal: {grams}"), marks: [.asksInsulin],
            judge: { input, context in
                let (isEaten, isAnnounced) = (input.flag("isEaten"), input.flag("isAnnounced"))
                if context.isFed, isEaten == true {
                    return LiveRefusal(
                        .suggestionsOnly,
                        "meal: found one that is eaten, expected `announce`: nobody eats in a session that is fed"
                    )
                }
                guard isEaten == false, isAnnounced == false else { return nil }
                return LiveRefusal(
                    .contradictory, "meal: found neither eaten nor announced, expected one or both")
            }
        ) { door, grams, isEaten, isAnnounced in
            try door.person().meal(grams, isEaten: isEaten, isAnnounced: isAnnounced)
        },
        InputRow(
            "bloodGlucose", "A finger-stick value.", measured("blood glucose"),
            of: .person(lacks: "no glucose"), keys: [InputKeys("bg", "110", "a finger-stick value, mg/dL")],
            words: Words("note a blood glucose of {mgdl}", "Blood glucose: {mgdl}"),
            form: Form("Blood glucose", labels: ["Finger-stick value"], submit: "Save value"),
            marks: [.measures]
        ) { door, mgdl in try door.person().bloodGlucose(mgdl) },
        InputRow(
            "calibration", "A finger-stick value to calibrate with.", measured("calibration"),
            of: .person(lacks: "no glucose"),
            keys: [InputKeys("cal", "110", "a finger-stick value to calibrate with, mg/dL")],
            words: Words("calibrate the sensor with {mgdl}", "Sensor calibrated: {mgdl}"),
            form: Form("Calibrate the sensor", labels: ["Finger-stick value"], submit: "Calibrate"),
            marks: [.measures]
        ) { door, mgdl in try door.person().calibration(mgdl) },
        InputRow(
            "requestBolus", "The first half of a bolus by hand: nothing is given.", amount(),
            of: .person(lacks: "no pump"),
            keys: [InputKeys("bolus", "1.5", "units, by hand; `confirm` gives them")],
            words: Words("offer a bolus of {units}", "Bolus asked for: {units}, to be confirmed"),
            marks: [.notWhereFed, .asksInsulin]
        ) { door, units in try door.person().requestBolus(units, number: door.number) },
        InputRow(
            "confirmBolus",
            "The second half, within five minutes of session time. Where the bolus asks again (`requested_bolus.asks_again`) it is refused with the reason, unless `anyway` is true.",
            .whole("request", "", 1...Int(Int32.max), "confirmed bolus, request"), amount(),
            .optionalFlag("anyway"), of: .person(lacks: "no pump"),
            words: Words("give a bolus of {units}", "Bolus confirmed: {units}"),
            marks: [.notWhereFed, .asksInsulin]
        ) { door, request, units, anyway in
            try door.person().confirmBolus(request, units, anyway: anyway ?? false)
        },
        InputRow(
            "cancelOwed", "Calls off what is owed and not under way.", of: .person(lacks: "no pump"),
            keys: [InputKeys("cancel", "", "calls off what is owed")],
            words: Words("call off what is owed", "What was owed was called off")
        ) { door in try door.person().cancelOwed() },
        InputRow(
            "stateInsulin",
            "The boluses of the last eight hours, as the person states them: their sum, and when the last one was given. A loop that doesn't know these hours gives no corrections before.",
            .number("units", "U", 0...200, "insulin of the last eight hours", told: "boluses"),
            .whole("minutesAgo", "min", 0...480, "time since the last bolus", told: "last_bolus"),
            of: .person(lacks: "no pump"),
            keys: [
                InputKeys("given", "6.5 40", "units of all boluses of the last 8 h, the last one 40 min ago")
            ],
            words: Words(
                "count these boluses of the last 8 h: {units}, the last one {minutesAgo} ago",
                "Boluses of the last 8 h stated: {units}, the last one {minutesAgo} ago")
        ) { door, units, minutesAgo in try door.person().stateInsulin(units, minutesAgo: minutesAgo) },
        InputRow(
            "target", "The nominal target from now on.",
            .number("mgdl", "mg/dL", LoopController.targetRange, "target", told: "target"),
            of: .person(lacks: "no loop"), keys: [InputKeys("target", "110", "mg/dL")],
            words: Words("set the target to {mgdl}", "Target: {mgdl}"), marks: [.setting]
        ) { door, mgdl in try door.person().target(mgdl) },
        InputRow(
            "temporaryBasal", "A share of the basal for so long, in whole steps of five minutes.",
            .number(
                "multiplier", "%", 0...10, said: "percent", factor: 100, "temporary basal", told: "basal"),
            .whole("minutes", "min", 5...1440, "time of the temporary basal", told: "duration"),
            of: .person(lacks: "no pump"),
            keys: [
                InputKeys("temp", "50% 30", "share of the basal, for so many minutes") { words in
                    guard words[0].hasSuffix("%"), let percent = Double(words[0].dropLast()),
                        let minutes = Int(words[1])
                    else { return nil }
                    return .temporaryBasal(multiplier: percent / 100, minutes: minutes)
                }
            ],
            words: Words(
                "set a temporary basal of {multiplier} for {minutes}",
                "Temporary basal: {multiplier} for {minutes}"),
            marks: [.notWhereFed],
            judge: { input, _ in
                guard let minutes = input.whole("minutes"), minutes % 5 != 0 else { return nil }
                return LiveRefusal(
                    .outOfRange,
                    "time of the temporary basal: found \(minutes) min, expected whole steps of 5")
            }
        ) { door, multiplier, minutes in try door.person().temporaryBasal(multiplier, minutes: minutes) },
        InputRow(
            "cancelTemporaryBasal", "Ends the temporary basal.", of: .person(lacks: "no pump"),
            keys: [
                InputKeys("temp", "off", "ends it") { $0 == ["off"] ? .cancelTemporaryBasal : nil }
            ],
            words: Words("end the temporary basal", "Temporary basal ended by hand"), marks: [.notWhereFed]
        ) { door in try door.person().cancelTemporaryBasal() },
        InputRow(
            "openLoop", "Suggestions only.", of: .person(lacks: "no loop"),
            keys: [InputKeys("open", "", "the loop suggests only")],
            words: Words("open the loop", "Loop opened"),
            form: Form(
                "Open the loop", submit: "Go to open loop",
                note: "The algorithm goes on without giving insulin by itself."), marks: [.setting]
        ) { door in try door.person().openLoop(true) },
        InputRow(
            "closedLoop", "The loop doses.", of: .person(lacks: "no loop"),
            keys: [InputKeys("close", "", "the loop doses")], words: Words("close the loop", "Loop closed"),
            form: Form(
                "Close the loop", submit: "Go to closed loop",
                note: "The algorithm gives insulin by itself again."), marks: [.setting, .notWhereFed]
        ) { door in try door.person().openLoop(false) },
        InputRow(
            "startSession", "The loop's session begins.", of: .person(lacks: "no loop"),
            keys: [InputKeys("start", "", "the loop's session begins")],
            words: Words("start the session", "Session started"),
            form: Form(
                "Start a session", submit: "Start the session",
                note: "The loop waits for a reading or a blood glucose, then takes its first step.")
        ) { door in try door.person().startSession() },
        InputRow(
            "endSession", "The loop's session ends.", of: .person(lacks: "no loop"),
            keys: [InputKeys("end", "", "the loop's session ends")],
            words: Words("end the session", "Session ended"),
            form: Form(
                "End the session", submit: "End the session",
                note: "The loop stops: no step runs until a session is started.")
        ) { door in try door.person().endSession() },
        InputRow(
            "subject", "Whom the loop's sessions are about, from the next one on.",
            .text("id", "1 to 100 printable characters", pattern: "^[^\\u0000-\\u001f]{1,100}$"),
            .number("kilograms", "kg", 1...300, "weight", told: "weight"), of: .person(lacks: "no loop"),
            keys: [InputKeys("subject", "NAME 70", "kilograms, from the next session on")],
            words: Words("set the subject to {id}, {kilograms}", "Subject: {id}, {kilograms}"),
            marks: [.setting],
            judge: { input, _ in
                guard let id = input.text("id"),
                    !(1...100).contains(id.count) || id.unicodeScalars.contains(where: { $0.value < 0x20 })
                else { return nil }
                return LiveRefusal(
                    .outOfRange,
                    "subject: found `\(printable(id, limit: 40))`, expected 1 to 100 characters")
            }
        ) { door, id, kilograms in try door.person().subject(id, kilograms: kilograms) },
        InputRow(
            "signIn", "Somebody logs in to the app.", of: .person(lacks: "no log-in of its own"),
            keys: [InputKeys("login", "", "somebody signs in")], words: Words("log in", "Logged in")
        ) { door in try door.person().sign(in: true) },
        InputRow(
            "signOut", "Somebody logs out of the app.", of: .person(lacks: "no log-in of its own"),
            keys: [InputKeys("logout", "", "nobody is signed in")], words: Words("log out", "Logged out"),
            form: Form(
                "Log out of the app", submit: "Log out",
                note: "The simulated app’s account, not this page’s.")
        ) { door in try door.person().sign(in: false) },
        InputRow(
            "subjectClaim", "What the cloud answers about the subject's claim from now on.",
            .flag("isOk", said: "ok"), of: .person(lacks: "no log-in of its own"),
            words: Words("note what the cloud says of the subject's ID", "The cloud said whose the ID is")
        ) { door, isOk in try door.person().subjectClaim(isOk) },
        InputRow(
            "dismissDropped", "What was dropped has been seen.", of: .person(lacks: "no loop"),
            keys: [InputKeys("dismiss", "", "what was dropped has been seen")],
            words: Words("dismiss a dose that was given up", "A dose that was given up was dismissed")
        ) { door in try door.person().dismissDropped() },
    ]

    static let ofDevices: [InputRow] = [
        InputRow(
            "cancelBolus", "Cuts the running bolus short at the pump.", of: .person(lacks: "no pump"),
            keys: [InputKeys("stop", "", "the bolus that runs")],
            words: Words("stop the running bolus", "The running bolus was stopped"), marks: [.notWhereFed]
        ) { door in try door.person().cancelBolus() },
        InputRow(
            "suspend", "Stops all delivery; the pump reminds after so long, where that is said.",
            .optionalWhole("minutes", "min", 1...1440, canBeNull: true, "suspension", told: "duration"),
            of: .person(lacks: "no pump"),
            keys: [
                InputKeys("suspend", "", "all delivery"),
                InputKeys("suspend", "30", "and a reminder after so many minutes"),
            ],
            words: Words(
                "suspend insulin[, reminder after {minutes}]",
                "Insulin suspended[, reminder after {minutes}]"),
            marks: [.notWhereFed]
        ) { door, minutes in try door.person().suspend(minutes: minutes) },
        InputRow(
            "resume", "Delivers again.", of: .person(lacks: "no pump"),
            keys: [InputKeys("resume", "", "delivers again")],
            words: Words("resume insulin", "Insulin resumed"), marks: [.notWhereFed]
        ) { door in try door.person().resume() },
        InputRow(
            "changePod", "A new pod.", of: .person(lacks: "no pump"),
            keys: [InputKeys("pod", "", "a new pod")], words: Words("change the pod", "Pod changed"),
            form: Form(
                "Change the pod", submit: "I have put on a new pod",
                note: "The pod in use is taken off; a new one is filled and put on."), marks: [.notWhereFed]
        ) { door in try door.person().changePod() },
        InputRow(
            "changeSensor", "A new sensor.", of: .person(lacks: "no glucose"),
            keys: [InputKeys("sensor", "", "a new sensor, which warms up first")],
            words: Words("change the sensor", "Sensor changed"),
            form: Form(
                "Change the sensor", submit: "I have put in a new sensor",
                note: "There is no glucose while the new sensor warms up."), marks: [.notWhereFed]
        ) { door in try door.person().changeSensor() },
        InputRow(
            "takePump", "The pump outside is this app's from now on, whoever commanded it before.",
            of: .person(lacks: "no pump"),
            keys: [InputKeys("takepump", "", "the pump outside is this app's, whoever commanded it")],
            words: Words("take over the pump", "The pump was taken over")
        ) { door in try door.person().takePump() },
        InputRow(
            "visit", "Somebody goes to the subject, and mends what is broken.", of: .lookedAfter,
            keys: [InputKeys("visit", "", "a grow room: somebody goes there, and mends what is broken")],
            words: Words("send the keeper", "The keeper came")
        ) { door in try door.visit() },
    ]

    /// What no person says: drivers, a feed, the host, another life.
    static let fromOutside: [InputRow] = [
        InputRow(
            "reading", "A reading of a real sensor, by its own stamp, ns since the session's start.",
            .whole("at", "ns", Int.min...Int.max), measured("reading"),
            of: .person(lacks: "no device outside: its monitor is simulated"), api: nil,
            words: Words("show a reading from outside of {mgdl}", "Reading from outside: {mgdl}"),
            judge: { _, context in
                guard !context.isFed else { return nil }
                return LiveRefusal(
                    .otherDevices,
                    "reading: found one from outside, expected a session that is fed: this one's sensor is simulated"
                )
            }
        ) { door, at, mgdl in try door.person().feed(Int64(at), mgdl) },
        InputRow(
            "treatment",
            "Insulin or carbohydrate that was given, as an app says: once by its id, into the body's and the loop's accounts, and nothing of it is asked of the pump.",
            .text("id", "the treatment's"), .text("by", "which app says so"),
            .whole("at", "", Int.min...Int.max, "treatment, ns since the start"),
            .optionalNumber(
                "units", 0.01...100, unit: "U", "insulin that was given", told: "insulin"),
            .optionalNumber(
                "grams", 0.1...MealAnnouncement.largest.grams, unit: "g", "carbohydrate that was eaten",
                told: "carbohydrate"),
            .optionalText("document"),
            of: .person(lacks: "no insulin and no meals"), api: nil,
            words: Words(
                "note what {by} says was given[: {units} of insulin][, {grams} of carbohydrate]",
                "Given, {by} says[: {units} of insulin][, {grams} of carbohydrate]"),
            marks: [.notWhereFed], judge: { input, _ in PostedTreatment.problem(of: input) }
        ) { door, id, by, at, units, grams, document in
            try door.person().treatment(
                PostedTreatment(
                    id: id, by: by, at: Instant(nanoseconds: Int64(at)), units: units, grams: grams,
                    document: document ?? ""))
        },
        // The session looks at what devices say.
        InputRow(
            "device", "A device outside of the session has something to say.", .link,
            of: .person(lacks: "no device outside: its monitor is simulated"), api: nil,
            words: Words("believe what a device reported", "A device reported")
        ) { door, said in try door.person().device(said) },
        InputRow(
            "leftOut", "An input of another life that makes no sense in this one, a fork.",
            .text("input", "another life's input"), .text("reason", "why"), api: nil,
            words: Words("do what another life did", "Left out"),
            judge: { _, _ in
                LiveRefusal(.notAnInput, "found what only a fork's journal has, expected an input")
            }
        ) { _, _, reason in throw LiveRefusal(.leftOut, ValueText(reason)) },
        InputRow(
            "clockStep", "The wall clock was set, by so many seconds against the time that passed.",
            .number(
                "seconds", "s", -10.0 * 366 * 86_400...10.0 * 366 * 86_400, "clock step", told: "step"),
            api: nil,
            words: Words("set the clock by {seconds}", "The clock was set by {seconds}")
        ) { door, seconds in door.clockStep(seconds) },
    ]
}
