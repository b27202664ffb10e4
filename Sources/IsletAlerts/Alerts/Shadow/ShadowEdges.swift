// Values at which the rules of many parts change their minds about one metric.
//
// Guarantees: between two values in one cell no comparison of any rule differs. A cell is an edge, or what lies between two of them.
// Looking whether a value stays in its cell costs two comparisons, however many rules there are.

struct ShadowEdges<Value: Comparable & Sendable>: Sendable {
    /// Rising, none twice.
    private(set) var values: [Value] = []
    /// By edge, the parts that have it.
    private(set) var parts: [[Int]] = []

    var isEmpty: Bool { values.isEmpty }

    mutating func add(_ value: Value, _ part: Int) {
        if let place = values.firstIndex(of: value) {
            if parts[place].last != part { parts[place].append(part) }
        } else {
            values.append(value)
            parts.append([part])
        }
    }

    mutating func sort() {
        let order = values.indices.sorted { values[$0] < values[$1] }
        (values, parts) = (order.map { values[$0] }, order.map { parts[$0] })
    }

    /// Twice the edges below, and one more on an edge.
    func cell(of value: Value) -> Int {
        var (low, high) = (0, values.count)
        while low < high {
            let middle = (low + high) / 2
            if values[middle] < value { low = middle + 1 } else { high = middle }
        }
        return 2 * low + (low < values.count && values[low] == value ? 1 : 0)
    }

    /// The edges that are passed, left or reached between two different cells.
    func edges(between a: Int, _ b: Int) -> Range<Int> { min(a, b) / 2..<(max(a, b) + 1) / 2 }

    /// The first edge above `value`; nil above all.
    func next(above value: Value) -> Value? {
        let cell = cell(of: value)
        let place = (cell + 1) / 2
        return place < values.count ? values[place] : nil
    }
}

extension ShadowEdges<Double> {
    /// What lies strictly between these two is in this cell; nothing, where it is an edge.
    func between(cell: Int) -> (Double, Double) {
        if cell & 1 == 1 { return (.infinity, -.infinity) }
        let above = cell / 2
        return (
            above == 0 ? -.infinity : values[above - 1], above == values.count ? .infinity : values[above]
        )
    }
}
