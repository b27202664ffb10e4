// A stretch of glucose as one line of text: `▆▅▄▃↓70▂▁↓54▁↑54▂↑70▃`.
//
// Guarantees: a letter a reading, or one a stretch where they are many, with the lowest of it; the bounds of a low stand where they are crossed, so that what is
// below is seen without a scale. Does not: show late readings before they came; they are of their own time.

import IsletFiles
import IsletDevices
import IsletKernel

struct GlucoseLine {
    let text: String

    private static let levels = Array("▁▂▃▄▅▆▇█")
    private static let most = 48
    private static let range = 40.0...280

    /// nil where there are fewer than two readings.
    init?(
        _ readings: [ReadingRow], from: Instant, to: Instant, calendar: SessionCalendar, unit: GlucoseUnit
    ) {
        let shown = readings.filter { $0.instant >= from && $0.instant <= to }.sorted {
            $0.instant < $1.instant
        }
        guard shown.count > 1, let first = shown.first, let last = shown.last else { return nil }
        let width = (shown.count + Self.most - 1) / Self.most
        var line = ""
        var isBelow = [70.0: first.mgdl < 70, 54.0: first.mgdl < 54]
        for begin in stride(from: 0, to: shown.count, by: width) {
            let part = shown[begin..<min(begin + width, shown.count)]
            let mgdl = part.map(\.mgdl).min() ?? first.mgdl
            // Falling crosses 70 first, rising 54.
            for bound in mgdl < (isBelow[70] == true ? 54.0 : 70.0) ? [70.0, 54.0] : [54.0, 70.0] {
                let now = mgdl < bound
                if now != isBelow[bound] { line += (now ? "↓" : "↑") + unit.text(mgdl: bound) }
                isBelow[bound] = now
            }
            let share = (mgdl - Self.range.lowerBound) / (Self.range.upperBound - Self.range.lowerBound)
            line.append(
                Self.levels[max(0, min(Self.levels.count - 1, Int(share * Double(Self.levels.count))))])
        }
        let lowest = shown.map(\.mgdl).min() ?? 0
        text =
            "\(line)  \(calendar.clock(at: first.instant)) to \(calendar.clock(at: last.instant)), from \(unit.text(mgdl: first.mgdl)), lowest \(unit.text(mgdl: lowest)), at last \(unit.text(mgdl: last.mgdl)) \(unit.rawValue)"
    }
}
