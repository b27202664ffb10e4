// In which layouts recorded glucose comes, and what a reader of it has to be told.

import IsletDevices

/// The layout of a file with recorded glucose.
package enum TraceFormat: String, Listed, CaseIterable {
    case plain, nightscout, clarity, libreview, tidepool

    package static let noun = "a trace format"

    package var summary: String {
        switch self {
        case .plain: "CSV with the columns time and glucose_mgdl or glucose_mmoll"
        case .nightscout: "Nightscout entries, JSON as its API gives them"
        case .clarity: "Dexcom Clarity's export, CSV"
        case .libreview: "LibreView's glucose data, CSV"
        case .tidepool: "Tidepool's CGM export, CSV"
        }
    }

    /// What "Low" stands for, mg/dL: just below what these sensors show.
    static let lowWordMgdl = 39.0
    /// What "High" stands for, mg/dL: just above what its sensors show.
    var highWordMgdl: Double { self == .libreview ? 501 : 401 }
}

/// What a file doesn't say of itself, and somebody has to.
package struct TraceOptions: Sendable {
    /// nil to go by the content.
    package var format: TraceFormat?
    /// nil to go by the file's own words.
    package var unit: GlucoseUnit?
    /// Whose local time holds, an IANA name; nil where each time says its own offset.
    package var timeZone: String?
    /// nil to go by a day beyond 12.
    package var dateOrder: DateOrder?

    package enum DateOrder: String, Sendable, CaseIterable {
        case dayFirst = "dmy"
        case monthFirst = "mdy"
    }

    package init() {}
}

/// What a trace's rows came to: nothing that is left out or taken otherwise than it stands is left unsaid.
package struct TraceCounts: Hashable, Sendable {
    /// Rows after the header, or entries.
    package var rows = 0
    /// Of other things than a sensor's glucose, by what they say they are, in the order in which they came; past twenty kinds under one name.
    package var others: [Other] = []
    /// Without a value: the sensor was there and had none.
    package var empty = 0
    /// "Low" and "High".
    package var lowWords = 0
    package var highWords = 0
    /// Rows that repeat a sensor's time and value.
    package var duplicates = 0
    /// Rows that repeat a sensor's time with another value: the first counts.
    package var conflicts = 0
    /// Later in the file than a later one: put in its place.
    package var outOfOrder = 0
    /// Rows of a sensor that was not followed at that time.
    package var overlapping = 0
    /// Times that local clocks show twice, taken by their order.
    package var ambiguous = 0
    /// Times that local clocks skip, taken by the offset before.
    package var missingHour = 0

    package struct Other: Hashable, Sendable {
        package var kind: String
        package var count: Int
    }

    private static let mostKinds = 20

    package init() {}

    mutating func other(_ kind: String) {
        let kind = kind.isEmpty ? "rows without a type" : printable(kind, limit: 40)
        if let place = others.firstIndex(where: { $0.kind == kind }) {
            others[place].count += 1
        } else if others.count < Self.mostKinds {
            others.append(Other(kind: kind, count: 1))
        } else {
            if others.count == Self.mostKinds { others.append(Other(kind: "other kinds", count: 0)) }
            others[Self.mostKinds].count += 1
        }
    }

    /// Rows of which no reading was made.
    package var skipped: Int {
        others.reduce(0) { $0 + $1.count } + empty + duplicates + conflicts + overlapping
    }

    /// Each thing that was done, as a reader sees it.
    package var words: [String] {
        func count(_ number: Int, _ one: String, _ many: String) -> [String] {
            number == 0 ? [] : ["\(number) \(number == 1 ? one : many)"]
        }
        return others.map { "\($0.count) × \($0.kind) skipped" }
            + count(empty, "row without a value", "rows without a value")
            + (lowWords == 0 ? [] : ["\(lowWords) × \"Low\" taken as \(Int(TraceFormat.lowWordMgdl)) mg/dL"])
            + (highWords == 0 ? [] : ["\(highWords) × \"High\" taken as above the sensor's range"])
            + count(duplicates, "duplicate skipped", "duplicates skipped")
            + count(
                conflicts, "other value for the same time skipped (the first counts)",
                "other values for the same time skipped (the first counts)")
            + count(outOfOrder, "row out of order put in its place", "rows out of order put in their places")
            + count(
                overlapping, "reading of a second sensor skipped", "readings of a second sensor skipped")
            + count(
                ambiguous, "time in the hour that clocks show twice, taken by its order",
                "times in the hour that clocks show twice, taken by their order")
            + count(
                missingHour, "time in the hour that clocks skip, taken by the offset before",
                "times in the hour that clocks skip, taken by the offset before")
    }
}
