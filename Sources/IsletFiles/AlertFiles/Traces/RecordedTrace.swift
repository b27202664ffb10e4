// Glucose that was really measured, from a file of one of five layouts.
//
// Guarantees: readings stand by rising instant, each instant once; what was left out or put elsewhere is counted by its reason; a file without a
// usable reading is refused. Where several sensors overlap, one is followed until it has been silent for longer than 15 min; then the next that
// reads is. Memory is bounded by the file's size limit.
// Does not: fill a gap, smooth, or guess units, zones or the order of day and month.

package import IsletAlerts
package import IsletDevices

package struct RecordedTrace: Sendable {
    package struct Reading: Hashable, Sendable {
        /// When it was measured, ms since 1970 in UTC.
        package var time: Int64
        /// When the app had it.
        package var received: Int64
        package var mgdl: Double
        /// Its sensor's place among the file's.
        package var sensor: Int32
    }

    /// The file's name without folder and ending: whose trace it is.
    package let name: String
    package let file: String
    package let format: TraceFormat
    /// As the file has it; readings are in mg/dL.
    package let unit: GlucoseUnit
    package let zone: ZoneTable
    package let readings: [Reading]
    /// First and last row, with or without a value, ms since 1970 in UTC.
    package let span: ClosedRange<Int64>
    package let counts: TraceCounts

    /// The largest file.
    package static let mostBytes = 256 << 20
    /// A span beyond it is a mistyped year.
    package static let longestDays: Int64 = 3660
    /// How long a sensor may be silent and still be the one that is followed, ms.
    static let silence: Int64 = 15 * 60_000

    /// Reads the trace at `path`.
    package static func read(
        path: String, _ options: TraceOptions = TraceOptions()
    ) throws(InputError) -> RecordedTrace {
        try parse(readInput(path, limitBytes: mostBytes), file: path, options)
    }

    package static func parse(
        _ bytes: [UInt8], file: String, _ options: TraceOptions = TraceOptions()
    ) throws(InputError) -> RecordedTrace {
        var rows =
            isJSON(bytes, options)
            ? try TraceNightscout.read(bytes, file: file, options: options)
            : try TraceCSV(bytes, file: file, options: options).read()
        try rows.checkMedian()
        let clock = try TraceClock(rows, timeZone: options.timeZone)
        rows = clock.rows
        return try RecordedTrace(rows, zone: clock.zone)
    }

    private static func isJSON(_ bytes: [UInt8], _ options: TraceOptions) -> Bool {
        if let format = options.format { return format == .nightscout }
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        let first = text.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return first == UInt8(ascii: "[") || first == UInt8(ascii: "{")
    }

    private init(_ rows: TraceRows, zone: ZoneTable) throws(InputError) {
        file = rows.file
        name = Self.name(of: rows.file)
        format = rows.format
        self.zone = zone
        var counts = rows.counts
        let sorted = Self.sorted(rows.rows, &counts)
        let kept = Self.withoutDuplicates(sorted, &counts)
        readings = Self.followed(kept, &counts).map {
            Reading(time: $0.time, received: $0.received ?? $0.time, mgdl: $0.mgdl, sensor: $0.sensor)
        }
        self.counts = counts
        guard let unit = rows.unit, let first = sorted.first, let last = sorted.last, !readings.isEmpty else {
            let words = counts.words.isEmpty ? "" : " (" + counts.words.joined(separator: ", ") + ")"
            throw rows.problem(
                nil, "no glucose in \(counts.rows) row\(counts.rows == 1 ? "" : "s")\(words)",
                "at least one reading of a sensor")
        }
        self.unit = unit
        guard last.time - first.time <= Self.longestDays * 86_400_000 else {
            throw rows.problem(
                Int(last.line), "a time \((last.time - first.time) / 86_400_000) days after the first",
                "at most \(Self.longestDays) days in one trace")
        }
        span = first.time...last.time
    }

    private static func name(of file: String) -> String {
        let last = file.split(separator: "/").last.map(String.init) ?? file
        guard let dot = last.lastIndex(of: "."), dot != last.startIndex else { return last }
        return String(last[..<dot])
    }

    // MARK: Order

    private static func sorted(_ rows: [TraceRow], _ counts: inout TraceCounts) -> [TraceRow] {
        func disorder(_ some: some Sequence<TraceRow>) -> Int {
            var latest = Int64.min
            var late = 0
            for row in some {
                if row.time < latest { late += 1 }
                latest = max(latest, row.time)
            }
            return late
        }
        let forward = disorder(rows)
        guard forward > 0 else { return rows }
        // Newest first is an order too.
        let backward = disorder(rows.reversed())
        let best = backward < forward ? rows.reversed() : rows
        counts.outOfOrder = min(forward, backward)
        return best.enumerated().sorted {
            ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
        }.map(\.element)
    }

    /// Readings alone, of each sensor and time the first.
    private static func withoutDuplicates(_ rows: [TraceRow], _ counts: inout TraceCounts) -> [TraceRow] {
        var kept: [TraceRow] = []
        kept.reserveCapacity(rows.count)
        var begin = 0
        for row in rows where !row.mgdl.isNaN {
            if let last = kept.last, last.time != row.time { begin = kept.count }
            guard let same = kept[begin...].first(where: { $0.sensor == row.sensor }) else {
                kept.append(row)
                continue
            }
            if same.mgdl == row.mgdl { counts.duplicates += 1 } else { counts.conflicts += 1 }
        }
        return kept
    }

    // MARK: Sensors

    /// One sensor at a time.
    private static func followed(_ rows: [TraceRow], _ counts: inout TraceCounts) -> [TraceRow] {
        guard let first = rows.first, rows.contains(where: { $0.sensor != first.sensor }) else { return rows }
        // Of each reading, when its sensor reads next.
        var next = [Int64](repeating: .max, count: rows.count)
        var coming: [Int32: Int64] = [:]
        for place in rows.indices.reversed() {
            next[place] = coming[rows[place].sensor] ?? .max
            coming[rows[place].sensor] = rows[place].time
        }
        var kept: [TraceRow] = []
        var current = first.sensor
        /// When the one that is followed reads next.
        var expected = Int64.min
        for place in rows.indices {
            let row = rows[place]
            if let last = kept.last, row.sensor != current {
                let goesOn = expected != .max && expected - last.time <= silence
                guard !goesOn, row.time > last.time else {
                    counts.overlapping += 1
                    continue
                }
                current = row.sensor
            }
            kept.append(row)
            expected = next[place]
        }
        return kept
    }
}
