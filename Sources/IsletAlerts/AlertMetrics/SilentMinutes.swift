// The waterfall: who is to blame for each minute in which something was true and nobody was told.
//
// Guarantees: each silent instant is given to exactly one cause, so that the parts add up to the whole. Where several rules are about one truth, the one that
// came nearest to being heard speaks for them: one that was told of too long ago, with nothing in its way since; else the last obstacle in the order of
// precedence among the rules' first ones.

package import IsletKernel

package struct SilentMinutes: Hashable, Sendable {
    /// By obstacle's place in `allCases`, ns.
    private var byObstacle = [Int64](repeating: 0, count: AlertObstacle.allCases.count)
    /// No rule saw it, and nothing stood in the way, ns.
    private var unseenNanoseconds: Int64 = 0
    /// It stands there notified, too long ago to count as telling, and nothing stood in the way of another notification, ns.
    private var unrepeatedNanoseconds: Int64 = 0

    package init() {}

    package subscript(_ obstacle: AlertObstacle) -> Double {
        Double(byObstacle[Int(obstacle.rawValue)]) / Double(Nanoseconds.minute)
    }
    package var unseen: Double { Double(unseenNanoseconds) / Double(Nanoseconds.minute) }
    package var unrepeated: Double { Double(unrepeatedNanoseconds) / Double(Nanoseconds.minute) }
    package var sum: Double {
        Double(byObstacle.reduce(unseenNanoseconds + unrepeatedNanoseconds, +)) / Double(Nanoseconds.minute)
    }

    static func += (sum: inout Self, other: Self) {
        for place in sum.byObstacle.indices { sum.byObstacle[place] += other.byObstacle[place] }
        sum.unseenNanoseconds += other.unseenNanoseconds
        sum.unrepeatedNanoseconds += other.unrepeatedNanoseconds
    }

    /// Gives each instant of `silent` to whatever kept `rules` quiet.
    package mutating func add(_ silent: IntervalSet, rules: [Int], _ log: BlameLog) {
        add(silent, rules.filter(log.changes.indices.contains).map { log.changes[$0] })
    }

    /// - Parameter rules: how each rule stood.
    mutating func add(_ silent: IntervalSet, _ rules: [[BlameLog.Change]]) {
        var places = [Int](repeating: 0, count: rules.count)
        for interval in silent.intervals {
            var now = interval.from
            while now < interval.to {
                var next = interval.to
                var nearest: AlertObstacle?
                var isUnrepeated = false
                for (place, changes) in rules.enumerated() {
                    while places[place] < changes.count, changes[places[place]].instant <= now {
                        places[place] += 1
                    }
                    if places[place] < changes.count { next = min(next, changes[places[place]].instant) }
                    guard places[place] > 0 else { continue }
                    let standing = changes[places[place] - 1].standing
                    guard let first = standing.first else {
                        if standing.contains(.annunciated) { isUnrepeated = true }
                        continue
                    }
                    if first.rawValue > nearest?.rawValue ?? 0 || nearest == nil { nearest = first }
                }
                let span = next.nanoseconds - now.nanoseconds
                if isUnrepeated {
                    unrepeatedNanoseconds += span
                } else if let nearest {
                    byObstacle[Int(nearest.rawValue)] += span
                } else {
                    unseenNanoseconds += span
                }
                now = next
            }
        }
    }
}
