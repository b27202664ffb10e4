// Where texts beside points go.
//
// Guarantees: a placed text overlaps no text and no point that was told of before, and lies within the bounds; one that fits nowhere is
// left out: whoever draws the chart names its points elsewhere too.

struct Box: Hashable, Sendable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    func overlaps(_ other: Box) -> Bool {
        x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
    }

    func isWithin(_ other: Box) -> Bool {
        x >= other.x && y >= other.y && x + width <= other.x + other.width
            && y + height <= other.y + other.height
    }
}

package struct LabelPlacement {
    let bounds: Box
    private(set) var taken: [Box] = []

    init(bounds: Box) { self.bounds = bounds }

    mutating func take(_ box: Box) { taken.append(box) }

    /// Room for a text beside a point: right, left, above, below, then the corners, then a little farther away.
    mutating func place(width: Double, height: Double, around x: Double, _ y: Double, gap: Double) -> Box? {
        for gap in [gap, gap + 5, gap + 12] {
            let middle = y - height / 2
            let centre = x - width / 2
            let candidates = [
                (x + gap, middle), (x - gap - width, middle), (centre, y - gap - height), (centre, y + gap),
                (x + gap * 0.8, y - gap * 0.8 - height), (x + gap * 0.8, y + gap * 0.8),
                (x - gap * 0.8 - width, y - gap * 0.8 - height), (x - gap * 0.8 - width, y + gap * 0.8),
            ]
            for (left, top) in candidates {
                let box = Box(x: left, y: top, width: width, height: height)
                guard box.isWithin(bounds), !taken.contains(where: { $0.overlaps(box) }) else { continue }
                taken.append(box)
                return box
            }
        }
        return nil
    }

    /// Places for texts in a column that would stand at `wanted`, rising: moved as little as it takes that they keep `by` apart, within the range as far as
    /// it has room for them.
    package static func column(_ wanted: [Double], by gap: Double, within range: ClosedRange<Double>)
        -> [Double]
    {
        var places: [Double] = []
        for value in wanted { places.append(max(value, (places.last ?? -.infinity) + gap, range.lowerBound)) }
        var limit = range.upperBound
        for index in places.indices.reversed() {
            places[index] = min(places[index], limit)
            limit = places[index] - gap
        }
        return places
    }
}
