// Sessions whose algorithm is asked about a whole group at once.
//
// Guarantees: a group is subjects in a row of one arm, by index, whatever workers, shards and interruptions there were; each of its sessions is advanced in turn until it asks
// or is over, then one call asks for all that ask. A group whose program fails has no session. Does not: mix arms in a group.

import IsletDevices
import IsletKernel
import Synchronization

/// What failed in a run.
package final class PluginFailures: Sendable {
    private let list = Mutex<[(sessions: [Int], failure: PluginFailure, records: [SessionRecord])]>([])

    package init() {}

    /// - Parameter records: what the sessions had come to, each ended early by the failure.
    func add(_ failure: PluginFailure, sessions: [Int], _ records: [SessionRecord]) {
        list.withLock { $0.append((sessions, failure, records)) }
    }

    /// How many sessions.
    package var count: Int { list.withLock { $0.reduce(0) { $0 + $1.sessions.count } } }

    var records: [SessionRecord] {
        list.withLock { $0.flatMap(\.records) }.sorted { $0.session < $1.session }
    }

    /// By session.
    package var all: [(sessions: [Int], failure: PluginFailure)] {
        list.withLock { $0.map { ($0.sessions, $0.failure) } }.sorted {
            ($0.sessions.first ?? 0) < ($1.sessions.first ?? 0)
        }
    }
}

extension TrialRunner {
    /// What is run at once: sessions by themselves, and groups.
    func units(of sessions: [Int]) -> [[Int]] {
        guard study.hasPlugins else { return sessions.map { [$0] } }
        var units: [[Int]] = []
        var open: [Int: Int] = [:]
        for session in sessions {
            let arm = session % study.arms.count
            guard let group = (try? PluginHosts(study.arms[arm]))?.group else {
                units.append([session])
                continue
            }
            let key = (session / study.arms.count / group) * study.arms.count + arm
            if let place = open[key] {
                units[place].append(session)
            } else {
                open[key] = units.count
                units.append([session])
            }
        }
        return units
    }

    /// Of a group whose program failed, and was tolerated, nobody comes to the same alone: all of it, lived again.
    /// - Returns: nil for a session that is of no group, or of a study that tolerates nothing.
    func runWithItsGroup(_ session: Int) throws -> [SessionRecord]? {
        let (index, arm) = session.quotientAndRemainder(dividingBy: study.arms.count)
        guard study.tolerate != nil, let group = try PluginHosts(study.arms[arm]).group else { return nil }
        let first = index / group * group
        let members = first..<min(first + group, cohort.count)
        return try live(members.map { $0 * study.arms.count + arm }).records
    }

    /// Lives the sessions of a unit.
    /// - Returns: what they came to, and why a program of theirs failed: each has ended early by that then.
    /// - Throws: what ends the run.
    func live(_ unit: [Int]) throws -> (records: [SessionRecord], failure: PluginFailure?) {
        guard let first = unit.first else { return ([], nil) }
        let arm = study.arms[first % study.arms.count]
        let hosts = try PluginHosts(arm)
        let sessions = try unit.map { session in
            try cohort.session(
                study, index: session / study.arms.count, arm: arm, shadows: nil,
                scoring: scoring[session % study.arms.count])
        }
        let people = sessions.compactMap { $0 as? Session }
        guard hosts.group != nil, people.count == sessions.count else {
            let records = try zip(unit, sessions).map { try record($0, $1, $1.run(until: nil)).record }
            return (records, try failure(of: people, first))
        }
        do {
            let seats = PluginSeats(hosts, people.map(\.asker))
            var asked: [Int] = []
            for (member, session) in people.enumerated() {
                session.tellQuestions { seats.add(member, $0) }
                if session.runToQuestion(until: nil) { asked.append(member) }
            }
            var isReversed = false
            while !asked.isEmpty {
                let answers = try seats.answers(asked)
                // Each goes on to its next question with its answer, and who was asked last goes on first: a group is larger
                // than a processor's caches, and what they hold is of those who were last.
                isReversed.toggle()
                var next: [Int] = []
                next.reserveCapacity(asked.count)
                for step in asked.indices {
                    let place = isReversed ? asked.count - 1 - step : step
                    let member = asked[place]
                    people[member].answer(answers[place])
                    if people[member].runToQuestion(until: nil) { next.append(member) }
                }
                if isReversed { next.reverse() }
                asked = next
            }
            seats.end()
        } catch {
            // Who had not come to an end has come to this one.
            for session in people where session.executor.isHeld { session.failure = error }
        }
        let records = try zip(unit, people).map { try record($0, $1, $1.conclude()).record }
        return (records, try failure(of: people, first))
    }

    private func failure(of sessions: [Session], _ first: Int) throws -> PluginFailure? {
        for session in sessions {
            guard let failure = session.failure else { continue }
            if let failure = failure as? PluginFailure { return failure.at(first) }
            try check(failure, first)
        }
        return nil
    }
}
