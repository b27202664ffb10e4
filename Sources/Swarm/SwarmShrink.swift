// From a session that breaks an invariant to the smallest fault plan that still breaks it.
//
// Guarantees: the result breaks the same invariant, and taking any single fault of it away mends the session (unless the limit
// of runs was reached); the same trial shrinks to the same plan.
//
// Delta debugging after Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE TSE 28:183
// (2002), over faults and habits; then each fault's length is halved while it still breaks.

import IsletFiles
import IsletTrials
import IsletKernel
import IsletModels

package struct SwarmShrink: Sendable {
    package static let mostRuns = 600

    /// What can be taken away.
    enum Element: Hashable, Sendable {
        case fault(Study.Faults.Entry)
        case habit(FaultKind, Study.Faults.Setting)
    }

    /// The smallest trial that was found to break the invariant.
    package private(set) var trial: SwarmTrial
    /// Its first breach of that invariant.
    package private(set) var violation: Violation
    package private(set) var runs = 0

    package init(_ trial: SwarmTrial, breaking violation: Violation) throws {
        self.trial = trial
        self.violation = violation
        var elements = Self.elements(of: trial.study.faults)
        if try breaks([]) {
            elements = []
        } else {
            elements = try minimized(elements)
            elements = try shortened(elements)
        }
        self.trial = trial.with(Self.faults(elements))
    }

    /// Faults that are left; habits count.
    package var faultCount: Int { Self.elements(of: trial.study.faults).count }

    static func elements(of faults: Study.Faults) -> [Element] {
        FaultKind.all.compactMap { kind in
            let setting = faults.settings[kind.index]
            return setting == .off ? nil : .habit(kind, setting)
        } + faults.scheduled.map { .fault($0) }
    }

    static func faults(_ elements: [Element]) -> Study.Faults {
        var faults = Study.Faults.none
        for element in elements {
            switch element {
            case .fault(let entry): faults.scheduled.append(entry)
            case .habit(let kind, let setting): faults.settings[kind.index] = setting
            }
        }
        return faults
    }

    private mutating func breaks(_ elements: [Element]) throws -> Bool {
        guard runs < Self.mostRuns else { return false }
        runs += 1
        let verdict = try trial.with(Self.faults(elements)).run()
        guard let found = verdict.violations.first(where: { $0.invariant == violation.invariant }) else {
            return false
        }
        violation = found
        return true
    }

    private mutating func minimized(_ all: [Element]) throws -> [Element] {
        var elements = all
        var parts = 2
        while elements.count >= 2 {
            parts = min(parts, elements.count)
            var isSmaller = false
            for part in 0..<parts {
                let (from, to) = (elements.count * part / parts, elements.count * (part + 1) / parts)
                let rest = Array(elements[..<from] + elements[to...])
                guard try breaks(rest) else { continue }
                elements = rest
                parts = max(2, parts - 1)
                isSmaller = true
                break
            }
            if isSmaller { continue }
            if parts == elements.count { break }
            parts *= 2
        }
        return elements
    }

    private mutating func shortened(_ all: [Element]) throws -> [Element] {
        var elements = all
        for index in elements.indices {
            while case .fault(var entry) = elements[index], entry.length.seconds > 1 {
                entry.length = TimeSpan(seconds: entry.length.seconds / 2)
                var shorter = elements
                shorter[index] = .fault(entry)
                guard try breaks(shorter) else { break }
                elements = shorter
            }
        }
        return elements
    }
}
