// A session as the documents that a Nightscout server would have of it.
//
// Guarantees: a document's id, times and values are the same each time it is asked for, and of the session's last day alone; times are the session's, in UTC to the
// millisecond. Collections stand with the oldest first. Does not: invent what nothing here simulates, such as a phone's battery.

import IsletDevices
import IsletFiles
import IsletKernel
import IsletLive
import IsletLoop

struct NightscoutDocuments {
    enum Collection: String, CaseIterable {
        case entries, treatments, devicestatus, profile
    }

    let view: SessionView

    func all(of collection: Collection) -> [JSONValue] {
        switch collection {
        case .entries: entries
        case .treatments: treatments
        case .devicestatus: [deviceStatus]
        case .profile: profile.map { [$0] } ?? []
        }
    }

    /// As the third version of the protocol has them: by `identifier`, with when they were made.
    func allOfV3(of collection: Collection) -> [JSONValue] {
        all(of: collection).map { Self.asOfV3($0) }
    }

    static func asOfV3(_ document: JSONValue) -> JSONValue {
        guard case .object(var members) = document else { return document }
        let date = document["date"] ?? document["mills"] ?? .integer(0)
        let heard = document["srvModified"] ?? date
        members.removeAll { ["_id", "date", "srvModified", "srvCreated"].contains($0.key) }
        if document["identifier"] == nil, let id = document["_id"] { members.append(.init("identifier", id)) }
        return .object(
            members + [
                .init("date", date), .init("srvModified", heard), .init("srvCreated", heard),
                .init("isValid", .bool(true)),
            ])
    }

    // MARK: Times and ids

    /// Since 1970; what is below a millisecond is cut off.
    static func milliseconds(_ instant: Instant, _ calendar: SessionCalendar) -> Int64 {
        let (whole, rest) = instant.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return calendar.startEpochSeconds * 1000 + whole - (rest < 0 ? 1 : 0)
    }

    /// `2026-03-02T11:05:00.000Z`: texts of it stand in the order of time.
    static func utc(milliseconds: Int64) -> String {
        let seconds = milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000
        let text = SessionCalendar(startEpochSeconds: seconds, offsetSeconds: 0).iso8601(at: .start)
        let rest = String(milliseconds - seconds * 1000)
        return text.dropLast() + "." + String(repeating: "0", count: 3 - rest.utf8.count) + rest + "Z"
    }

    private func milliseconds(_ instant: Instant) -> Int64 { Self.milliseconds(instant, view.calendar) }

    private func id(_ milliseconds: Int64, _ name: String) -> JSONValue {
        let seconds = milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000
        return .string(OurID.make(epochSeconds: seconds, "\(view.id) \(name)"))
    }

    // MARK: Entries

    private var entries: [JSONValue] {
        let rows = view.log.readings
        return rows.indices.map { place in
            let row = rows[place]
            let time = milliseconds(row.instant)
            let utc = JSONValue.string(Self.utc(milliseconds: time))
            let trend = SessionView.trend(Array(rows[max(0, place - 4)...place]), at: row.instant)
            return [
                "_id": id(time, "entry \(row.instant.nanoseconds)"), "type": "sgv",
                "sgv": .integer(Int64(row.mgdl.rounded())),
                "delta": .number(place > 0 ? Self.delta(rows[place - 1], row) : 0),
                "date": .integer(time), "dateString": utc, "sysTime": utc, "utcOffset": 0,
                "direction": .string(trend.map { Self.direction($0) } ?? "NOT COMPUTABLE"), "noise": 1,
                "device": "islet",
                "srvModified": .integer(milliseconds(row.backfilledAt ?? row.instant)),
            ]
        }
    }

    /// mg/dL in five minutes; 0 where the reading before is a quarter of an hour old: clients take no gap.
    private static func delta(_ before: ReadingRow, _ row: ReadingRow) -> Double {
        let minutes = row.instant.minutes - before.instant.minutes
        guard minutes > 0, minutes <= 15 else { return 0 }
        return ((row.mgdl - before.mgdl) * 5 / minutes * 1000).rounded() / 1000
    }

    static func direction(_ trend: Double) -> String {
        switch trend {
        case 3...: "DoubleUp"
        case 2..<3: "SingleUp"
        case 1..<2: "FortyFiveUp"
        case -1..<1: "Flat"
        case -2 ..< -1: "FortyFiveDown"
        case -3 ..< -2: "SingleDown"
        default: "DoubleDown"
        }
    }

    // MARK: Treatments

    /// What the pump gave, what the person ate and changed, and what apps said was given.
    private var treatments: [JSONValue] {
        let posted = view.live.treatments ?? []
        let found = given + eatenAndChanged(beside: posted) + posted.map { treatment($0) }
        return found.sorted { one, other in
            let (a, b) = (key(one), key(other))
            return a.at == b.at ? a.id < b.id : a.at < b.at
        }
    }

    private func key(_ document: JSONValue) -> (at: String, id: String) {
        func text(_ name: String) -> String {
            if case .string(let text)? = document[name] { text } else { "" }
        }
        return (text("created_at"), text("_id"))
    }

    private func document(
        _ instant: Instant, _ event: String, _ name: String, _ members: [JSONValue.Member]
    ) -> JSONValue {
        let time = milliseconds(instant)
        let utc = JSONValue.string(Self.utc(milliseconds: time))
        return .object(
            [
                .init("_id", id(time, "\(name) \(instant.nanoseconds)")),
                .init("eventType", .string(event)), .init("created_at", utc), .init("timestamp", utc),
                .init("date", .integer(time)), .init("utcOffset", .integer(0)),
                .init("enteredBy", .string(PostedTreatment.ourName)),
            ] + members)
    }

    private var given: [JSONValue] {
        var steps = view.log.steps[...]
        var step: StepRow?
        return view.log.deliveries.map { row in
            while let next = steps.first, next.instant <= row.instant {
                step = next
                steps.removeFirst()
            }
            let isMeal = (step?.mealUnits ?? 0) > 0
            return document(
                row.instant, isMeal ? "Meal Bolus" : "Correction Bolus", "bolus \(row.requestID)",
                [.init("insulin", Self.thousandths(row.units)), .init("automatic", .bool(!isMeal))])
        }
    }

    private func eatenAndChanged(beside posted: [PostedTreatment]) -> [JSONValue] {
        view.log.person.compactMap { row in
            switch row.kind {
            case .meal, .rescue:
                // What an app said stands as it said it.
                guard !posted.contains(where: { $0.heardAt == row.instant && $0.grams == row.amount }) else {
                    return nil
                }
                return document(
                    row.instant, "Carb Correction", row.kind.rawValue,
                    [.init("carbs", Self.thousandths(row.amount))]
                        + (row.kind == .rescue ? [.init("notes", .string("against a low"))] : []))
            case .podChange, .siteChange, .siteChangeInVain:
                return document(row.instant, "Site Change", PersonRow.Kind.podChange.rawValue, [])
            case .sensorChange: return document(row.instant, "Sensor Change", row.kind.rawValue, [])
            default: return nil
            }
        }
    }

    /// As it was posted, with an id, its time and its amounts as numbers.
    func treatment(_ said: PostedTreatment) -> JSONValue {
        let time = milliseconds(said.at)
        let utc = JSONValue.string(Self.utc(milliseconds: time))
        var members: [JSONValue.Member] = []
        if case .object(let posted)? = try? JSONValue.read(Array(said.document.utf8), file: "a treatment") {
            members = posted
        }
        let own: [JSONValue.Member] =
            [
                .init("_id", postedID(said)), .init("created_at", utc), .init("timestamp", utc),
                .init("date", .integer(time)), .init("utcOffset", .integer(0)),
                .init("enteredBy", .string(said.by)),
                .init("srvModified", .integer(milliseconds(said.heardAt))),
            ] + (said.units.map { [.init("insulin", .number($0))] } ?? [])
            + (said.grams.map { [.init("carbs", .number($0))] } ?? [])
        members.removeAll { member in own.contains { $0.key == member.key } }
        return .object(own + members)
    }

    func postedID(_ said: PostedTreatment) -> JSONValue { id(milliseconds(said.at), "posted \(said.id)") }

    /// Sums of pulses have odd last digits, which mean nothing.
    private static func thousandths(_ value: Double) -> JSONValue { .number((value * 1000).rounded() / 1000) }

    // MARK: Device status and profile

    private var deviceStatus: JSONValue {
        let (now, pump) = (milliseconds(view.now), view.live.pump)
        // It says something new with each step.
        let at = milliseconds(view.live.loop?.lastStep ?? view.now)
        let clock = JSONValue.string(Self.utc(milliseconds: now))
        let step = JSONValue.string(Self.utc(milliseconds: at))
        let loop: [JSONValue.Member] =
            view.live.insulinOnBoard.map {
                [
                    .init(
                        "loop",
                        [
                            "name": .string(PostedTreatment.ourName), "timestamp": step,
                            "iob": ["timestamp": step, "iob": Self.thousandths($0)],
                        ])
                ]
            } ?? []
        let pumpStatus: JSONValue = [
            "_id": id(at, "device"), "device": .string("islet://\(view.id)"),
            "created_at": .string(Self.utc(milliseconds: at)), "date": .integer(at), "utcOffset": 0,
            "pump": [
                "clock": clock, "reservoir": pump.map { Self.thousandths($0.reservoir.units) } ?? .null,
                "status": [
                    "status": .string("\(pump?.condition ?? .noPod)"),
                    "bolusing": .bool(pump?.condition == .bolusing),
                    "suspended": .bool(pump?.condition == .suspended), "timestamp": clock,
                ],
            ],
        ]
        guard case .object(let members) = pumpStatus else { return pumpStatus }
        return .object(members + loop)
    }

    /// nil where nothing is dosed by it.
    private var profile: JSONValue? {
        guard let therapy = view.live.therapy else { return nil }
        let begun = milliseconds(.start)
        let utc = JSONValue.string(Self.utc(milliseconds: begun))
        func all(_ value: Double) -> JSONValue {
            [["time": "00:00", "timeAsSeconds": 0, "value": Self.thousandths(value)]]
        }
        let target = view.live.target?.milligramsPerDecilitre ?? 120
        let name = "Islet"
        return [
            "_id": id(begun, "profile"), "defaultProfile": .string(name), "startDate": utc, "created_at": utc,
            "date": .integer(begun), "mills": .integer(begun), "units": "mg/dl",
            "store": .object([
                .init(
                    name,
                    [
                        "dia": 6, "carbs_hr": 20, "units": "mg/dl",
                        "timezone": .string(Self.zone(view.calendar.offsetSeconds(at: view.now))),
                        "carbratio": all(therapy.carbohydrateRatioGramsPerUnit),
                        "sens": all(therapy.correctionFactorMgdlPerUnit),
                        "basal": all(therapy.basalRate.unitsPerHour),
                        "target_low": all(target), "target_high": all(target),
                    ])
            ]),
        ]
    }

    /// A zone of that offset by a name that clients know; UTC where there is none.
    static func zone(_ offsetSeconds: Int64) -> String {
        let named: [Int64: String] = [
            0: "UTC", 12_600: "Asia/Tehran", 16_200: "Asia/Kabul", 19_800: "Asia/Kolkata",
            20_700: "Asia/Kathmandu", 23_400: "Asia/Yangon", 34_200: "Australia/Darwin",
        ]
        if let name = named[offsetSeconds] { return name }
        let (hours, rest) = offsetSeconds.quotientAndRemainder(dividingBy: 3600)
        guard rest == 0, (-12...14).contains(hours) else { return "UTC" }
        // Their signs are the other way round.
        return "Etc/GMT\(hours < 0 ? "+" : "-")\(abs(hours))"
    }
}
