// A path's text, small.
//
// Guarantees: coordinates are whole tenths of a unit, written relative to the one before without a sum of rounding errors; of
// points that fall on one tenth, and of points within a straight run along an axis, only the ends are written. **Thinning**: of more points
// than fit on a drawing's columns, each column of one unit keeps its first, lowest, highest and last, in their order, so that the line covers the same pixels.

struct PathText {
    private(set) var text = ""
    private var x = 0
    private var y = 0
    /// The step that is not yet written: it may still grow.
    private var pending: (dx: Int, dy: Int)?
    private var isInLine = false

    mutating func move(_ newX: Double, _ newY: Double) {
        flush()
        (x, y) = (ChartNumber.tenths(newX), ChartNumber.tenths(newY))
        text += "M" + pair(x, y)
        isInLine = false
    }

    mutating func line(_ newX: Double, _ newY: Double) {
        let (toX, toY) = (ChartNumber.tenths(newX), ChartNumber.tenths(newY))
        let (dx, dy) = (toX - x, toY - y)
        guard dx != 0 || dy != 0 else { return }
        (x, y) = (toX, toY)
        if let last = pending {
            let isStraight =
                last.dx == 0 && dx == 0 && (last.dy > 0) == (dy > 0)
                || last.dy == 0 && dy == 0 && (last.dx > 0) == (dx > 0)
            if isStraight {
                pending = (last.dx + dx, last.dy + dy)
                return
            }
            flush()
        }
        pending = (dx, dy)
    }

    mutating func close() {
        flush()
        text += "z"
        isInLine = false
    }

    mutating func finished() -> String {
        flush()
        return text
    }

    private mutating func flush() {
        guard let step = pending else { return }
        pending = nil
        let numbers = pair(step.dx, step.dy)
        if isInLine {
            text += numbers.hasPrefix("-") ? numbers : " " + numbers
        } else {
            text += "l" + numbers
            isInLine = true
        }
    }

    private func pair(_ a: Int, _ b: Int) -> String {
        let second = ChartNumber.coordinate(tenths: b)
        return ChartNumber.coordinate(tenths: a) + (second.hasPrefix("-") ? "" : " ") + second
    }

    /// What is kept of a line's points, by rising x, in drawing units.
    static func thinned(_ points: [(x: Double, y: Double)]) -> [(x: Double, y: Double)] {
        guard points.count > 8, let first = points.first, let last = points.last,
            Double(points.count) > 4 * (last.x - first.x)
        else { return points }
        var kept: [(x: Double, y: Double)] = []
        var begin = 0
        while begin < points.count {
            let column = points[begin].x.rounded(.down)
            var end = begin + 1
            while end < points.count, points[end].x.rounded(.down) == column { end += 1 }
            let range = begin..<end
            let lowest = range.min { points[$0].y < points[$1].y } ?? begin
            let highest = range.max { points[$0].y < points[$1].y } ?? begin
            var places = [begin, min(lowest, highest), max(lowest, highest), end - 1]
            places = places.enumerated().filter { $0.offset == 0 || places[$0.offset - 1] != $0.element }
                .map(\.element)
            kept += places.map { points[$0] }
            begin = end
        }
        return kept
    }
}
