// The programs of an arm, and the sessions that ask them: an algorithm, who listens beside one, or both.
//
// Guarantees: a program that runs `together` has one process for all its sessions, any other one for each; both are asked at the same held step, about the same
// input. What is wrong with a listener's answer is no step's failure: its numbers are absent, and its state goes back. Steps that came to nothing are counted, of each program.

import IsletDevices
import IsletKernel

/// The programs that an arm's sessions ask.
struct PluginHosts: Sendable {
    let algorithm: PluginHost?
    let listener: PluginHost?
    /// Whether numbers are answered at all.
    let haveNumbers: Bool

    /// - Throws: `InputError` where one is named that nobody has allowed.
    init(_ arm: Study.Arm) throws(InputError) {
        algorithm = try arm.plugin?.started()
        listener = try arm.listener?.started()
        haveNumbers = [algorithm, listener].contains { $0?.ready.numbers.isEmpty == false }
    }

    var all: [PluginHost] { [algorithm, listener].compactMap(\.self) }
    var isEmpty: Bool { algorithm == nil && listener == nil }
    /// Whether all that are asked are libraries within this program, which keep nobody waiting.
    var areWithin: Bool { !isEmpty && all.allSatisfy(\.isWithin) }

    /// What answers somebody who asks within the step.
    func answers(to asker: PluginAsker) -> (HeldQuestion) throws -> HeldAnswer {
        let seats = PluginSeats(self, [asker])
        return { try seats.ask($0) }
    }

    /// How many subjects, by index, are asked about at once; nil where each session asks by itself.
    var group: Int? { all.filter(\.ready.isTogether).map(\.reference.group).max() }
}

/// A session, as those see it that it asks.
struct PluginAsker: Sendable {
    let index: Int
    /// Seeds of the draws of the algorithm, and of the program that listens.
    let seeds: (algorithm: UInt64, listener: UInt64)

    init(index: Int, _ streams: RandomStreams) {
        self.index = index
        var (own, heard) = (streams.stream("algorithm"), streams.stream("listener"))
        seeds = (own.next(), heard.next())
    }
}

/// Used by one thread at a time.
final class PluginSeats {
    private let hosts: PluginHosts
    private let askers: [PluginAsker]
    /// One for all where a program runs `together`, else one for each, made when it is first asked.
    private var algorithm: [PluginGroup?]
    private var listener: [PluginGroup?]

    init(_ hosts: PluginHosts, _ askers: [PluginAsker]) {
        (self.hosts, self.askers) = (hosts, askers)
        func seats(_ host: PluginHost?) -> [PluginGroup?] {
            Array(repeating: nil, count: host?.ready.isTogether == true ? 1 : askers.count)
        }
        (algorithm, listener) = (seats(hosts.algorithm), seats(hosts.listener))
    }

    /// Asks for the only session, without a list of one: nearly every question of a program within this one is such.
    /// - Throws: `PluginFailure`, `PluginTimeout`.
    func ask(_ question: HeldQuestion) throws -> HeldAnswer {
        guard let host = hosts.listener, let asked = question.listener else {
            return try askAlgorithm(question)
        }
        var answer = try askAlgorithm(question)
        take(try group(host, &listener, 0, askers) { $0.seeds.listener }.ask(asked), of: host, &answer)
        return answer
    }

    private func askAlgorithm(_ question: HeldQuestion) throws -> HeldAnswer {
        guard let host = hosts.algorithm, let asked = question.algorithm else {
            return HeldAnswer(numbers: hosts.haveNumbers ? [] : nil)
        }
        let said = try group(host, &algorithm, 0, askers) { $0.seeds.algorithm }.ask(asked)
        if case .failed(let cause) = said.step { host.countFailedStep(cause) }
        return HeldAnswer(algorithm: said.step, numbers: hosts.haveNumbers ? said.numbers : nil)
    }

    /// Asks for some sessions at once, by their place.
    /// - Returns: in the same order.
    /// - Throws: `PluginFailure`, `PluginTimeout`.
    func ask(_ asked: [(member: Int, question: HeldQuestion)]) throws -> [HeldAnswer] {
        let numbers: [OwnNumber]? = hosts.haveNumbers ? [] : nil
        var answers = asked.map { _ in HeldAnswer(numbers: numbers) }
        if let host = hosts.algorithm {
            let said = try ask(host, &algorithm, asked, \.algorithm) { $0.seeds.algorithm }
            for (place, answer) in said.enumerated() {
                if case .failed(let cause) = answer.step { host.countFailedStep(cause) }
                answers[place].algorithm = answer.step
                answers[place].numbers? += answer.numbers
            }
        }
        if let host = hosts.listener {
            let said = try ask(host, &listener, asked, \.listener) { $0.seeds.listener }
            for (place, answer) in said.enumerated() { take(answer, of: host, &answers[place]) }
        }
        return answers
    }

    /// What a program that listens has said.
    private func take(_ said: PluginAnswer, of listener: PluginHost, _ answer: inout HeldAnswer) {
        answer.numbers? += said.numbers
        guard case .failed(let cause) = said.step else { return }
        answer.hasListenerFailed = true
        listener.countFailedStep(cause)
    }

    /// Nobody of them asks any more.
    func end() {
        for group in algorithm + listener { group?.end() }
        (algorithm, listener) = ([], [])
    }

    private func ask(
        _ host: PluginHost, _ groups: inout [PluginGroup?], _ asked: [(member: Int, question: HeldQuestion)],
        _ part: (HeldQuestion) -> StepQuestion?, seed: (PluginAsker) -> UInt64
    ) throws -> [PluginAnswer] {
        guard host.ready.isTogether else {
            var answers: [PluginAnswer] = []
            for (member, question) in asked {
                guard let question = part(question) else { continue }
                answers.append(try group(host, &groups, member, [askers[member]], seed: seed).ask(question))
            }
            return answers
        }
        return try group(host, &groups, 0, askers, seed: seed).ask(
            asked.compactMap { member, question in part(question).map { (member, $0) } })
    }

    /// The group at a place, made where it is asked first.
    private func group(
        _ host: PluginHost, _ groups: inout [PluginGroup?], _ place: Int, _ members: [PluginAsker],
        seed: (PluginAsker) -> UInt64
    ) throws -> PluginGroup {
        if let known = groups[place] { return known }
        let new = try PluginGroup(
            host, members: members.map { PluginPerson(slot: host.slot(of: $0.index), seed: seed($0)) })
        groups[place] = new
        return new
    }
}
