// The waterfall: who is to blame for each minute in which something was true and nobody was told.
//
// Guarantees: each silent instant is given to exactly one cause, so that the parts add up to the whole. Where several rules are about one truth, the one that
// came nearest to being heard speaks for them: the last obstacle in the order of precedence among the rules' first ones.

package import IsletKernel

package struct SilentMinutes: Hashable, Sendable {
    /// By obstacle's place in `allCases`, ns.
    private var byObstacle = [Int64](repeating: 0, count: AlertObstacle.allCases.count)
    /// No rule saw it, and nothing stood in the way, ns.
    private var unseenNanoseconds: Int64 = 0

    package init() {}

    package subscript(_ obstacle: AlertObstacle) -> Double {
        Double(byObstacle[Int(obstacle.rawValue)]) / Double(Nanoseconds.minute)
    }
    package var unseen: Double { Double(unseenNanoseconds) / Double(Nanoseconds.minute) }
    package var sum: Double {
        Double(byObstacle.reduce(unseenNanoseconds, +)) / Double(Nanoseconds.minute)
    }

    static func += (sum: inout Self, other: Self) {
        for place in sum.byObstacle.indices { sum.byObstacle[place] += other.byObstacle[place] }
        sum.unseenNanoseconds += other.unseenNanoseconds
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
                for (place, changes) in rules.enumerated() {
                    while places[place] < changes.count, changes[places[place]].instant <= now {
                        places[place] += 1
                    }
                    if places[place] < changes.count { next = min(next, changes[places[place]].instant) }
                    guard places[place] > 0, let first = changes[places[place] - 1].standing.first else {
                        continue
                    }
                    if first.rawValue > nearest?.rawValue ?? 0 || nearest == nil { nearest = first }
                }
                let span = next.nanoseconds - now.nanoseconds
                if let nearest {
                    byObstacle[Int(nearest.rawValue)] += span
                } else {
                    unseenNanoseconds += span
                }
                now = next
            }
        }
    }
}
