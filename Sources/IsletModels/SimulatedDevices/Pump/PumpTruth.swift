// When the pump truly was out of reach, off the body, or on it and without delivery: what alerts about it are judged by.
//
// Guarantees: spans of what is so, whatever anybody heard of it; what lasts at the session's end lasts up to it.

package import IsletKernel

/// When each condition held.
package struct PumpTruth: Sendable {
    package enum Condition: Int, Sendable, CaseIterable {
        case unreachable
        /// No pod is on, or it is being filled.
        case withoutPod
        /// A pod is on and has stopped for good: empty, broken, occluded or out of service.
        case stopped
    }

    private var spans = [[Interval]](repeating: [], count: Condition.allCases.count)
    private var since = [Instant?](repeating: nil, count: Condition.allCases.count)

    mutating func set(_ condition: Condition, _ isTrue: Bool, at now: Instant) {
        let place = condition.rawValue
        if isTrue {
            since[place] = since[place] ?? now
        } else if let began = since[place] {
            spans[place].append(Interval(began, now))
            since[place] = nil
        }
    }

    mutating func add(_ condition: Condition, _ span: Interval) { spans[condition.rawValue].append(span) }

    mutating func finish(at now: Instant) {
        for condition in Condition.allCases { set(condition, false, at: now) }
    }

    package subscript(_ condition: Condition) -> IntervalSet { IntervalSet(spans[condition.rawValue]) }
}
