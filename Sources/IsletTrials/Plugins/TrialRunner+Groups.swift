// Sessions whose algorithm is asked about a whole group at once.
//
// Guarantees: a group is subjects in a row of one arm, by index, whatever workers, shards and interruptions there were; each of its sessions is advanced in turn until it asks
// or is over, then one call asks for all that ask. A group whose program fails has no session. Does not: mix arms in a group.

import IsletDevices
import IsletKernel
import Synchronization

/// What failed in a run.
package final class PluginFailures: Sendable {
    private let list = Mutex<[(sessions: [Int], failure: PluginFailure)]>([])

    package init() {}

    func add(_ failure: PluginFailure, sessions: [Int]) {
        list.withLock { $0.append((sessions, failure)) }
    }

    /// By session.
    package var all: [(sessions: [Int], failure: PluginFailure)] {
        list.withLock { $0 }.sorted { ($0.sessions.first ?? 0) < ($1.sessions.first ?? 0) }
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
            guard let host = study.arms[arm].plugin?.host, host.ready.isTogether else {
                units.append([session])
                continue
            }
            let key = (session / study.arms.count / host.reference.group) * study.arms.count + arm
            if let place = open[key] {
                units[place].append(session)
            } else {
                open[key] = units.count
                units.append([session])
            }
        }
        return units
    }

    func records(of unit: [Int]) throws -> [SessionRecord] {
        guard let first = unit.first else { return [] }
        let arm = study.arms[first % study.arms.count]
        guard let host = arm.plugin?.host, host.ready.isTogether else { return [try run(first)] }
        let sessions = try unit.map { session in
            try cohort.session(
                study, index: session / study.arms.count, arm: arm, shadows: nil,
                scoring: scoring[session % study.arms.count])
        }.compactMap { $0 as? Session }
        do {
            let group = try PluginGroup(host, members: sessions.map { $0.person(of: host) })
            while true {
                var asked: [(member: Int, question: StepQuestion)] = []
                for (member, session) in sessions.enumerated() {
                    if let question = session.question(until: nil) { asked.append((member, question)) }
                }
                guard !asked.isEmpty else { break }
                for (answer, asked) in zip(try group.ask(asked), asked) {
                    sessions[asked.member].answer(answer)
                }
            }
            group.end()
        } catch {
            for session in sessions { session.end() }
            try Self.check(error, first)
            throw error
        }
        return try zip(unit, sessions).map { session, live in
            try record(session, live, live.conclude()).record
        }
    }
}
