// What an app posts as a treatment, read.
//
// Guarantees: a treatment is insulin or carbohydrate that was given, at a time, under an id; what would ask for insulin, or be given over time, is refused by its
// field, and so is what no amount can be read of. Other fields are kept and given back, and do nothing.

import IsletDevices
import IsletFiles
import IsletKernel
import IsletLive

struct NightscoutTreatment {
    let said: PostedTreatment

    /// Fields that would ask the pump for something, or that say how insulin or a meal goes on: nothing here does that.
    private static let refused = [
        "duration", "rate", "absolute", "percent", "relative", "preBolus", "splitExt", "isBasalInsulin",
        "insulinInjections",
    ]
    /// What an app calls it by, the first that there is.
    private static let ids = ["identifier", "_id", "syncIdentifier", "NSCLIENT_ID"]

    /// - Parameters:
    ///   - isV3: the third version needs a `date`.
    /// - Throws: `NightscoutProblem`.
    init(_ document: JSONValue, _ view: SessionView, isV3: Bool) throws {
        guard case .object(let members) = document else {
            throw NightscoutProblem(400, "expected a treatment as a JSON object")
        }
        guard document.compactText.utf8.count <= PostedTreatment.longestDocument else {
            throw NightscoutProblem(
                413, "expected a treatment of at most \(PostedTreatment.longestDocument) bytes")
        }
        for name in Self.refused {
            guard let value = document[name], !Self.isNothing(value) else { continue }
            throw NightscoutProblem(
                400,
                "\(name): found `\(printable(value.compactText, limit: 40))`, expected none: a treatment is what was given at once, and nothing is asked of the pump",
                code: RefusalCode.contradictory.rawValue)
        }
        let units = try Self.amount("insulin", document)
        let grams = try Self.amount("carbs", document)
        let event = Self.text(document["eventType"]) ?? ""
        guard units != nil || grams != nil else {
            throw NightscoutProblem(
                400,
                "eventType: found `\(printable(event, limit: 40))` without `insulin` and `carbs`, expected one of them or both: other treatments are not taken",
                code: RefusalCode.contradictory.rawValue)
        }
        let now = NightscoutDocuments.milliseconds(view.now, view.calendar)
        let time = try Self.time(document, isV3: isV3)
        let by = Self.text(document["enteredBy"]) ?? Self.text(document["app"]) ?? "an app"
        let own = Self.ids.lazy.compactMap { Self.text(document[$0]) }.first
        // Without one, as Nightscout does: two of a kind at the same time are one.
        let id = own ?? "\(time.map { NightscoutDocuments.utc(milliseconds: $0) } ?? "\(now)") \(event)"
        let posted = view.live.treatments ?? []
        // An app that has it from here says it under the id that it has here.
        let known = posted.first { NightscoutDocuments(view: view).postedID($0) == .string(id) }
        let (at, overflow) = ((time ?? now) - view.calendar.startEpochSeconds * 1000)
            .multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { throw NightscoutProblem(400, "date: found a time that no calendar has") }
        said = PostedTreatment(
            id: known?.id ?? id, by: known?.by ?? by,
            at: time == nil ? view.now : Instant(nanoseconds: at), units: units, grams: grams,
            document: JSONValue.object(members).compactText)
    }

    private static func isNothing(_ value: JSONValue) -> Bool {
        switch value {
        case .null, .bool(false), .integer(0), .unsigned(0), .number(0), .string(""), .string("0"): true
        case .array(let items): items.isEmpty
        default: false
        }
    }

    /// nil where there is none.
    private static func text(_ value: JSONValue?) -> String? {
        if case .string(let text)? = value, !text.isEmpty { text } else { nil }
    }

    /// A number, or one as text; nil where there is none, or nothing.
    private static func amount(_ name: String, _ document: JSONValue) throws -> Double? {
        guard let value = document[name], !isNothing(value) else { return nil }
        let number: Double? =
            switch DocumentQuery.Value(value) {
            case .number(let number)?: number
            case .text(let text)?: Double(text)
            default: nil
            }
        guard let number, number.isFinite, number > 0 else {
            throw NightscoutProblem(
                400,
                "\(name): found `\(printable(value.compactText, limit: 40))`, expected an amount above 0",
                code: RefusalCode.outOfRange.rawValue)
        }
        return number
    }

    /// Milliseconds since 1970; nil where it says none, which means now.
    private static func time(_ document: JSONValue, isV3: Bool) throws -> Int64? {
        let names = isV3 ? ["date"] : ["eventTime", "created_at", "timestamp", "date", "mills"]
        guard let name = names.first(where: { document[$0].map { !isNothing($0) } ?? false }),
            let value = document[name]
        else {
            if isV3 { throw NightscoutProblem(400, "date: expected milliseconds since 1970, or ISO 8601") }
            return nil
        }
        let time: Int64? =
            switch DocumentQuery.Value(value) {
            case .number(let number)? where abs(number) < 1e14: Int64(number)
            case .text(let text)?: ISO8601Time(text)?.utcMilliseconds
            default: nil
            }
        guard let time else {
            throw NightscoutProblem(
                400,
                "\(name): found `\(printable(value.compactText, limit: 40))`, expected milliseconds since 1970, or ISO 8601"
            )
        }
        return time
    }
}
