// When the pump truly was out of reach, off the body, or on it and without delivery: what alerts about it are judged by.
//
// Guarantees: spans of what is so, whatever anybody heard of it; what lasts at the session's end lasts up to it.

package import SessionTime

/// The pump's own times of trouble.
package struct PumpTruth: Sendable {
    package enum Matter: Int, Sendable, CaseIterable {
        case unreachable
        /// No pod is on, or it is being filled.
        case withoutPod
        /// A pod is on and has stopped for good: empty, broken, occluded or out of service.
        case stopped
    }

    private var spans = [[Interval]](repeating: [], count: Matter.allCases.count)
    private var since = [Instant?](repeating: nil, count: Matter.allCases.count)

    mutating func set(_ matter: Matter, _ isSo: Bool, at now: Instant) {
        let place = matter.rawValue
        if isSo {
            since[place] = since[place] ?? now
        } else if let began = since[place] {
            spans[place].append(Interval(began, now))
            since[place] = nil
        }
    }

    mutating func add(_ matter: Matter, _ span: Interval) { spans[matter.rawValue].append(span) }

    mutating func finish(at now: Instant) {
        for matter in Matter.allCases { set(matter, false, at: now) }
    }

    package subscript(_ matter: Matter) -> IntervalSet { IntervalSet(spans[matter.rawValue]) }
}
