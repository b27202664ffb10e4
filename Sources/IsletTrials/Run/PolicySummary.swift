// What each policy came to in one arm, and how policies in shadow differ on the same sessions.
//
// Guarantees: the unit is the subject: a policy's outcome is one value a session, so that episodes of one subject don't count as if they were several people's. Differences are
// paired by session, of policies in shadow only: those of an arm's own policy are of other weeks, and stand in `comparisons`. Rows stand in the order of the numbers within
// their names: 5m before 15m before 1h.

import IsletAlerts
import IsletDevices
import IsletNumerics

extension StudySummary {
    /// One policy in one arm.
    package struct PolicySummary: Hashable, Sendable {
        package var policy: String
        package var isInShadow: Bool
        /// Over sessions, by name.
        package var outcomes: [String: Estimate] = [:]
    }

    /// One outcome of a policy in shadow, less that of the reference, on the same sessions.
    package struct PolicyComparison: Hashable, Sendable {
        /// In which arm they listened.
        package var arm: String
        /// `arm` and `reference` are policies here.
        package var difference: Comparison
    }

    /// Collects the outcomes of an arm's policies.
    struct PolicySums {
        private struct Sum {
            var policy: String
            var isInShadow: Bool
            /// Columns of the spool, by row of `PolicyOutcome.all`.
            var columns: [Int]
        }

        private let spool: ColumnSpool

        private var sums: [Sum] = []
        /// By outcome, its place among the values as stored.
        private var places: [Int?] = []
        private var keys: [String]?

        init(_ spool: ColumnSpool) { self.spool = spool }

        mutating func add(_ session: SessionSummary) throws {
            if keys != session.policyKeys {
                keys = session.policyKeys
                places = PolicyOutcome.all.map { session.policyKeys.firstIndex(of: $0.name) }
            }
            var begin = 0
            var number = 0
            var stored = session.policies[...]
            let alerts = session.alerts
            for (place, tally) in alerts.enumerated() {
                let isLast =
                    place + 1 == alerts.count || alerts[place + 1].policy != tally.policy
                    || alerts[place + 1].isInShadow != tally.isInShadow
                guard isLast else { continue }
                // Both stand in one order; a policy without a code has no tally.
                let row = stored.firstIndex { $0.policy == tally.policy && $0.isInShadow == tally.isInShadow }
                if let row { stored = stored[(row + 1)...] }
                try add(
                    PolicyFacts(days: session.days, alerts: Array(alerts[begin...place])),
                    row.map { session.policies[$0].values }, session, tally, near: number)
                begin = place + 1
                number += 1
            }
        }

        private mutating func add(
            _ facts: PolicyFacts, _ stored: [Double?]?, _ session: SessionSummary, _ tally: AlertTally,
            near number: Int
        ) throws {
            let sum = place(of: tally, near: number)
            for (row, outcome) in PolicyOutcome.all.enumerated() {
                let value: Double?
                if !outcome.isStored {
                    value = outcome.value(facts)
                } else if let stored {
                    value = places[row].flatMap { stored[$0] }
                } else {
                    // The arm's own is scored in every study.
                    value = tally.isInShadow ? nil : session.outcomes[outcome.name]
                }
                if let value { try spool.append(value, of: session.subjectIndex, to: sums[sum].columns[row]) }
            }
        }

        /// Sessions of one arm have the same policies in the same order.
        private mutating func place(of tally: AlertTally, near number: Int) -> Int {
            func isIt(_ place: Int) -> Bool {
                sums[place].policy == tally.policy && sums[place].isInShadow == tally.isInShadow
            }
            if sums.indices.contains(number), isIt(number) { return number }
            if let found = sums.indices.first(where: isIt) { return found }
            sums.append(
                Sum(
                    policy: tally.policy, isInShadow: tally.isInShadow,
                    columns: PolicyOutcome.all.map { _ in spool.add() }))
            return sums.count - 1
        }

        /// The arm's own policy first.
        func summaries() throws -> [PolicySummary] {
            try sums.map { sum in
                var summary = PolicySummary(policy: sum.policy, isInShadow: sum.isInShadow)
                for (outcome, column) in zip(PolicyOutcome.all, sum.columns) {
                    summary.outcomes[outcome.name] = StudySummary.estimate(
                        try spool.values(column).map(\.value), within: outcome.possible)
                }
                return summary
            }.sorted {
                $0.isInShadow == $1.isInShadow
                    ? NumberedName($0.policy) < NumberedName($1.policy) : $1.isInShadow
            }
        }

        /// The columns of one policy in shadow.
        private func columns(_ policy: String) -> [Int]? {
            sums.first { $0.isInShadow && $0.policy == policy }?.columns
        }

        /// The values of one policy in shadow, by the rows of `PolicyOutcome.all`.
        func values(_ policy: String) throws -> [SubjectValues]? {
            try columns(policy)?.map { try spool.values($0) }
        }

        /// Every policy in shadow against the reference.
        func comparisons(
            _ study: Study, arm: String, _ intervals: inout SharedIntervals
        ) throws -> [PolicyComparison] {
            let names = study.shadowPolicies.map(\.name)
            guard let reference = study.referencePolicy ?? names.first, let references = columns(reference)
            else { return [] }
            let rows = PolicyOutcome.all.indices.filter { PolicyOutcome.all[$0].isCompared(in: study) }
            let others = names.filter { $0 != reference }.sorted { NumberedName($0) < NumberedName($1) }
            let pairs = others.flatMap { policy in
                rows.filter { study.isComparable(policy, with: reference, by: PolicyOutcome.all[$0].name) }
                    .map { (policy: policy, row: $0) }
            }
            func differences(_ policy: String, _ row: Int) throws -> [Double]? {
                guard let own = columns(policy) else { return nil }
                return PairedColumns.differences(
                    try spool.values(own[row]), try spool.values(references[row]))
            }
            // Of very many people, blocks of them are all that is held at once.
            intervals.find(
                try pairs.compactMap { try differences($0.policy, $0.row).map { Statistics.blockMeans($0) } })
            return try pairs.compactMap { policy, row in
                let outcome = PolicyOutcome.all[row]
                guard let differences = try differences(policy, row),
                    var found = compare(
                        outcome.name, policy, reference, differences, draw: { intervals[$0] })
                else { return nil }
                found.family = outcome.isPrimary(in: study) ? .primary : .exploratory
                return PolicyComparison(arm: arm, difference: found)
            }
        }
    }
}

extension Study {
    /// The places of the other arms of which an outcome asks the same.
    func comparableArms(with reference: Int, by outcome: String) -> [Int] {
        arms.indices.filter {
            $0 != reference && arms[$0].alerts.isComparable(with: arms[reference].alerts, by: outcome)
        }
    }

    /// Whether rules of its policies in shadow are about different truths.
    var hasPoliciesOfOtherTruths: Bool { Set(shadowPolicies.map(\.truths)).count > 1 }

    /// Whether an outcome asks the same of two policies in shadow.
    func isComparable(_ policy: String, with reference: String, by outcome: String) -> Bool {
        let policies = shadowPolicies
        guard let own = policies.first(where: { $0.name == policy }),
            let other = policies.first(where: { $0.name == reference })
        else { return true }
        return own.isComparable(with: other, by: outcome)
    }
}

extension PolicyOutcome {
    /// Whether the study is about it. Where arms are selected nothing is claimed.
    func isPrimary(in study: Study) -> Bool {
        study.confirmSeed == nil && study.primary.contains(name)
    }

    /// What the study declares, and what everybody asks.
    func isCompared(in study: Study) -> Bool { isCompared || study.primary.contains(name) }
}

/// A name whose numbers and times count as such.
struct NumberedName: Comparable {
    private enum Piece: Equatable {
        case text(String)
        /// Seconds, where it is a time.
        case number(Double)
    }

    private let pieces: [Piece]
    private let name: String

    init(_ name: String) {
        self.name = name
        var pieces: [Piece] = []
        var rest = name[...]
        while let first = rest.first {
            let isNumber = first.isASCII && first.isNumber
            let run = rest.prefix { ($0.isASCII && $0.isNumber) == isNumber }
            rest = rest.dropFirst(run.count)
            guard isNumber else {
                pieces.append(.text(String(run)))
                continue
            }
            var digits = String(run)
            if rest.first == ".", rest.dropFirst().first?.isNumber == true {
                let decimals = rest.dropFirst().prefix { $0.isNumber }
                digits += "." + decimals
                rest = rest.dropFirst(1 + decimals.count)
            }
            var value = Double(digits) ?? 0
            // A unit is one letter that no other letter follows.
            if let unit = rest.first, rest.dropFirst().first?.isLetter != true,
                let seconds = ["s": 1.0, "m": 60, "h": 3600, "d": 86_400][unit]
            {
                value *= seconds
                rest = rest.dropFirst()
            }
            pieces.append(.number(value))
        }
        self.pieces = pieces
    }

    static func < (a: Self, b: Self) -> Bool {
        for (left, right) in zip(a.pieces, b.pieces) where left != right {
            switch (left, right) {
            case (.number(let x), .number(let y)): return x < y
            case (.text(let x), .text(let y)): return x < y
            case (.number, .text): return true
            case (.text, .number): return false
            }
        }
        if a.pieces.count != b.pieces.count { return a.pieces.count < b.pieces.count }
        return a.name < b.name
    }
}
