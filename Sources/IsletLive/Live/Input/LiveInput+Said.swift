// Inputs that code says by itself: drivers, the host, the ward's file, tests.
//
// Does not: list all inputs, `InputRow.all` does. One that people alone say needs nothing here.

package import DeviceLinks
import IsletKernel

extension LiveInput {
    package static func meal(grams: Double, isEaten: Bool, isAnnounced: Bool) -> LiveInput {
        LiveInput(
            "meal",
            ["grams": .number(grams), "isEaten": .flag(isEaten), "isAnnounced": .flag(isAnnounced)])
    }
    package static func bloodGlucose(mgdl: Double) -> LiveInput {
        LiveInput("bloodGlucose", ["mgdl": .number(mgdl)])
    }
    package static func calibration(mgdl: Double) -> LiveInput {
        LiveInput("calibration", ["mgdl": .number(mgdl)])
    }
    package static func requestBolus(units: Double) -> LiveInput {
        LiveInput("requestBolus", ["units": .number(units)])
    }
    package static func confirmBolus(request: Int, units: Double, anyway: Bool? = nil) -> LiveInput {
        LiveInput(
            "confirmBolus",
            ["request": .whole(Int64(request)), "units": .number(units), "anyway": anyway.map { .flag($0) }])
    }
    package static let cancelOwed = LiveInput("cancelOwed")
    package static let cancelBolus = LiveInput("cancelBolus")
    package static func target(mgdl: Double) -> LiveInput { LiveInput("target", ["mgdl": .number(mgdl)]) }
    package static func temporaryBasal(multiplier: Double, minutes: Int) -> LiveInput {
        LiveInput(
            "temporaryBasal", ["multiplier": .number(multiplier), "minutes": .whole(Int64(minutes))])
    }
    package static let cancelTemporaryBasal = LiveInput("cancelTemporaryBasal")
    package static func suspend(minutes: Int?) -> LiveInput {
        LiveInput("suspend", ["minutes": minutes.map { .whole(Int64($0)) }])
    }
    package static let resume = LiveInput("resume")
    package static let changePod = LiveInput("changePod")
    package static let changeSensor = LiveInput("changeSensor")
    package static let openLoop = LiveInput("openLoop")
    package static let closedLoop = LiveInput("closedLoop")
    package static func stateInsulin(units: Double, minutesAgo: Int) -> LiveInput {
        LiveInput("stateInsulin", ["units": .number(units), "minutesAgo": .whole(Int64(minutesAgo))])
    }
    package static let takePump = LiveInput("takePump")
    package static let startSession = LiveInput("startSession")
    package static let endSession = LiveInput("endSession")
    package static func subject(id: String, kilograms: Double) -> LiveInput {
        LiveInput("subject", ["id": .text(id), "kilograms": .number(kilograms)])
    }
    package static let signIn = LiveInput("signIn")
    package static let signOut = LiveInput("signOut")
    package static func subjectClaim(isOk: Bool) -> LiveInput {
        LiveInput("subjectClaim", ["isOk": .flag(isOk)])
    }
    package static let dismissDropped = LiveInput("dismissDropped")
    package static let visit = LiveInput("visit")

    // MARK: About alerts

    package static func acknowledge(alert: String, episode: Int? = nil) -> LiveInput {
        LiveInput("acknowledge", ["alert": .text(alert), "episode": episode.map { .whole(Int64($0)) }])
    }
    package static func testAlert(alert: String) -> LiveInput { about(alert, "testAlert") }
    package static func told(alert: String) -> LiveInput { about(alert, "told") }
    package static func tap(alert: String) -> LiveInput { about(alert, "tap") }
    package static func preview(alert: String) -> LiveInput { about(alert, "preview") }
    package static func snooze(alert: String, minutes: Int, episode: Int? = nil) -> LiveInput {
        LiveInput(
            "snooze",
            [
                "alert": .text(alert), "minutes": .whole(Int64(minutes)),
                "episode": episode.map { .whole(Int64($0)) },
            ])
    }
    package static func dismiss(alert: String, episode: Int? = nil) -> LiveInput {
        LiveInput("dismiss", ["alert": .text(alert), "episode": episode.map { .whole(Int64($0)) }])
    }
    package static func bannerShown(alert: String, episode: Int) -> LiveInput {
        LiveInput("bannerShown", ["alert": .text(alert), "episode": .whole(Int64(episode))])
    }
    private static func about(_ alert: String, _ name: String) -> LiveInput {
        LiveInput(name, ["alert": .text(alert)])
    }

    package static let openSettings = LiveInput("openSettings")
    package static let saveSettings = LiveInput("saveSettings")
    package static let foreground = LiveInput("foreground")
    package static let background = LiveInput("background")
    /// Minutes since local midnight; both nil for none.
    package static func quietHours(fromMinute: Int?, toMinute: Int?) -> LiveInput {
        LiveInput(
            "quietHours",
            [
                "fromMinute": fromMinute.map { .whole(Int64($0)) },
                "toMinute": toMinute.map { .whole(Int64($0)) },
            ])
    }
    package static func threshold(
        metric: String, low: Double?, high: Double?, sensitivityMinutes: Int? = nil, isEnabled: Bool? = nil
    ) -> LiveInput {
        LiveInput(
            "threshold",
            [
                "metric": .text(metric), "low": low.map { .number($0) }, "high": high.map { .number($0) },
                "sensitivityMinutes": sensitivityMinutes.map { .whole(Int64($0)) },
                "isEnabled": isEnabled.map { .flag($0) },
            ])
    }
    package static func changeThreshold(
        metric: String, low: ThresholdBound? = nil, high: ThresholdBound? = nil,
        sensitivityMinutes: Int? = nil, isEnabled: Bool? = nil, criticalBelow: ThresholdBound? = nil,
        criticalAbove: ThresholdBound? = nil
    ) -> LiveInput {
        LiveInput(
            "changeThreshold",
            [
                "metric": .text(metric), "low": low?.said, "high": high?.said,
                "sensitivityMinutes": sensitivityMinutes.map { .whole(Int64($0)) },
                "isEnabled": isEnabled.map { .flag($0) }, "criticalBelow": criticalBelow?.said,
                "criticalAbove": criticalAbove?.said,
            ])
    }
    package static func switchThreshold(metric: String, isEnabled: Bool) -> LiveInput {
        LiveInput("switchThreshold", ["metric": .text(metric), "isEnabled": .flag(isEnabled)])
    }
    package static let recommendThresholds = LiveInput("recommendThresholds")

    // MARK: From no person

    /// A reading of a real sensor, by its own stamp: nanoseconds since the session's start.
    package static func reading(at: Int64, mgdl: Double) -> LiveInput {
        LiveInput("reading", ["at": .whole(at), "mgdl": .number(mgdl)])
    }
    /// A device outside of the session has something to say.
    package static func device(_ said: LinkInput) -> LiveInput {
        LiveInput("device", ["_0": .link(said)])
    }
    /// An input of another life that makes no sense in this one, a fork: it keeps its number, and does nothing.
    package static func leftOut(input: String, reason: String) -> LiveInput {
        LiveInput("leftOut", ["input": .text(input), "reason": .text(reason)])
    }
    /// The wall clock was set, by so many seconds against the time that passed.
    package static func clockStep(seconds: Double) -> LiveInput {
        LiveInput("clockStep", ["seconds": .number(seconds)])
    }

    /// An app says that it was given.
    package static func treatment(_ said: PostedTreatment) -> LiveInput {
        LiveInput(
            "treatment",
            [
                "id": .text(said.id), "by": .text(said.by), "at": .whole(said.at.nanoseconds),
                "units": said.units.map { .number($0) }, "grams": said.grams.map { .number($0) },
                "document": said.document.isEmpty ? nil : .text(said.document),
            ])
    }

    // MARK: What others ask of one

    /// How much a first half of a bolus by hand asks for, U; nil for any other input.
    package var requestedUnits: Double? { name == "requestBolus" ? number("units") : nil }
    /// The stamp of a reading of a real sensor, ns since the session's start; nil for any other input.
    package var readingStamp: Int64? { name == "reading" ? whole("at").map { Int64($0) } : nil }
    /// The code that somebody tests; nil for any other input.
    package var testedAlert: String? { name == "testAlert" ? text("alert") : nil }
    /// The code that is snoozed; nil for any other input.
    package var snoozedAlert: String? { name == "snooze" ? text("alert") : nil }
    /// The code that a phone has shown; nil for any other input.
    package var toldAlert: String? { name == "told" ? text("alert") : nil }
    /// What another life said, as its journal has it, and why it makes no sense here; nil for any other input.
    package var leftOut: (input: String, reason: String)? {
        guard name == "leftOut", let input = text("input"), let reason = text("reason") else { return nil }
        return (input, reason)
    }
}
