// Local times of a file as instants.
//
// Guarantees: each row gets one instant and none is lost. A time that local clocks show twice, in the night in which they are put back, is of the first
// hour, until the sensor's times step back or one comes a second time with another value; from there on of the second. A time that clocks skip in the
// other night is counted by the offset before, as a clock that was not yet put forward shows it. Both are counted.
// Does not: guess a zone. Times without an offset, and times of UTC, need one by name.

import IsletAlerts
import IsletDevices
import IsletKernel

struct TraceClock {
    private static let day: Int64 = 86_400
    /// More changes of the offset are no traveller.
    private static let mostChanges = 400

    let zone: ZoneTable
    private(set) var rows: TraceRows

    /// - Parameter rows: in the file's order.
    init(_ rows: TraceRows, timeZone: String?) throws(InputError) {
        self.rows = rows
        let all = rows.rows
        guard let first = all.first else {
            zone = ZoneTable(name: "fixed", firstOffsetSeconds: 0)
            return
        }
        if let other = all.first(where: { $0.isLocal != first.isLocal }) {
            throw rows.problem(
                Int(other.line), "a time \(other.isLocal ? "without" : "with") an offset",
                "\(first.isLocal ? "no" : "an") offset, as in the first row")
        }
        let earliest = all.reduce(first.time) { min($0, $1.time) } / 1000
        if let timeZone {
            guard let named = ZoneTable.named(timeZone, around: earliest) else {
                throw InputError(
                    file: "--time-zone", found: quoted(timeZone),
                    expected: "a time zone of the IANA database, such as America/New_York")
            }
            zone = named
        } else {
            let unknown = all.first { $0.isLocal || $0.offset == TraceRow.unknownOffset }
            guard unknown == nil else {
                throw rows.problem(
                    unknown.map { Int($0.line) },
                    first.isLocal
                        ? "a local time without its offset"
                        : "a time in UTC, without the local clock's offset",
                    "--time-zone, so that nights and quiet hours are where they were")
            }
            zone = try Self.zone(of: all, rows)
        }
        if first.isLocal { resolve() }
    }

    /// A zone from the offsets that rows say themselves.
    private static func zone(of all: [TraceRow], _ rows: TraceRows) throws(InputError) -> ZoneTable {
        var zone: ZoneTable?
        var last = Int32.min
        for row in all.sorted(by: { $0.time < $1.time }) where row.offset != last {
            last = row.offset
            let offset = Int64(row.offset) * 60
            guard zone != nil else {
                zone = ZoneTable(name: "as recorded", firstOffsetSeconds: offset)
                continue
            }
            zone?.transitions.append(.init(epochSeconds: row.time / 1000, offsetSeconds: offset))
            guard zone?.transitions.count ?? 0 <= mostChanges else {
                throw rows.problem(
                    Int(row.line), "an offset that changes for the \(mostChanges)th time",
                    "--time-zone, where rows don't agree on theirs")
            }
        }
        return zone ?? ZoneTable(name: "fixed", firstOffsetSeconds: 0)
    }

    // MARK: Local times

    private struct SensorState {
        var last: TraceRow?
        /// Its last local time, ms.
        var lastLocal = Int64.min
        var isSecondHour = false
    }

    private enum Reading {
        case one(Int64)
        case two(first: Int64, second: Int64)
        /// Clocks skip it.
        case none(Int64)
    }

    /// ms in UTC at which local clocks showed `local`, ms.
    private func reading(_ local: Int64) -> Reading {
        let around = local / 1000
        let before = zone.offset(at: around - Self.day)
        let after = zone.offset(at: around + Self.day)
        let first = local - before * 1000
        if before == after { return .one(first) }
        let second = local - after * 1000
        let isFirst = zone.offset(at: Self.seconds(first)) == before
        let isSecond = zone.offset(at: Self.seconds(second)) == after
        return switch (isFirst, isSecond) {
        case (true, true): .two(first: first, second: second)
        case (true, false): .one(first)
        case (false, true): .one(second)
        case (false, false): .none(first)
        }
    }

    private static func seconds(_ milliseconds: Int64) -> Int64 { milliseconds / 1000 }

    private mutating func resolve() {
        let all = rows.rows
        var (up, down) = (0, 0)
        for place in 1..<max(1, all.count) {
            if all[place].time > all[place - 1].time { up += 1 }
            if all[place].time < all[place - 1].time { down += 1 }
        }
        // Newest first: seen from behind it is the same.
        if down > up { rows.rows.reverse() }
        var states: [SensorState] = []
        for place in rows.rows.indices {
            let row = rows.rows[place]
            let sensor = Int(row.sensor)
            while states.count <= sensor { states.append(SensorState()) }
            let local = row.time
            switch reading(local) {
            case .one(let instant):
                rows.rows[place].time = instant
                states[sensor].isSecondHour = false
            case .none(let instant):
                rows.rows[place].time = instant
                rows.counts.missingHour += 1
                states[sensor].isSecondHour = false
            case .two(let first, let second):
                rows.counts.ambiguous += 1
                let state = states[sensor]
                var isSecond = state.isSecondHour
                if !isSecond, let last = state.last, last.offset != TraceRow.noOffset {
                    if local < state.lastLocal {
                        isSecond = true
                        states[sensor].isSecondHour = true
                    } else if local == state.lastLocal, last.time != second, last.mgdl != row.mgdl {
                        isSecond = true
                    }
                }
                rows.rows[place].time = isSecond ? second : first
            }
            states[sensor].last = rows.rows[place]
            // Marks times within the hour.
            if case .two = reading(local) {
                states[sensor].last?.offset = 0
            } else {
                states[sensor].last?.offset = TraceRow.noOffset
            }
            states[sensor].lastLocal = local
        }
    }
}
