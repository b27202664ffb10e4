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
    func answers(to asker: PluginAsker) -> (HeldQuestion) throws -> HeldAnswer? {
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
    /// A program, and those of its processes that these sessions ask.
    private struct Asked {
        let host: PluginHost
        let isTogether: Bool
        let seed: @Sendable (PluginAsker) -> UInt64
        /// One for all where it runs `together`, else one for each, made when it is first asked.
        var groups: [PluginGroup?]

        init?(_ host: PluginHost?, of askers: Int, seed: @escaping @Sendable (PluginAsker) -> UInt64) {
            guard let host else { return nil }
            (self.host, self.seed, isTogether) = (host, seed, host.ready.isTogether)
            groups = Array(repeating: nil, count: isTogether ? 1 : askers)
        }

        /// The process that somebody asks, made where it is asked first.
        mutating func group(of member: Int, _ askers: [PluginAsker]) throws -> PluginGroup {
            let place = isTogether ? 0 : member
            if let known = groups[place] { return known }
            let members = isTogether ? askers : [askers[member]]
            let new = try PluginGroup(
                host, members: members.map { PluginPerson(slot: host.slot(of: $0.index), seed: seed($0)) })
            groups[place] = new
            return new
        }

        mutating func add(_ member: Int, _ question: StepQuestion, _ askers: [PluginAsker]) throws {
            try group(of: member, askers).add(isTogether ? member : 0, question)
        }

        /// - Parameter members: who asks, in order.
        func answers(_ members: [Int]) throws -> [PluginAnswer] {
            if isTogether { return try groups[0]?.answers() ?? [] }
            var answers: [PluginAnswer] = []
            for member in members { answers += try groups[member]?.answers() ?? [] }
            return answers
        }
    }

    private let askers: [PluginAsker]
    private let haveNumbers: Bool
    private var algorithm: Asked?
    private var listener: Asked?
    /// Why what was asked can't be answered.
    private var failure: (any Error)?

    init(_ hosts: PluginHosts, _ askers: [PluginAsker]) {
        (haveNumbers, self.askers) = (hosts.haveNumbers, askers)
        algorithm = Asked(hosts.algorithm, of: askers.count) { $0.seeds.algorithm }
        listener = Asked(hosts.listener, of: askers.count) { $0.seeds.listener }
    }

    /// Asks for the only session, without a list of one: nearly every question of a program within this one is such.
    /// - Throws: `PluginFailure`, `PluginTimeout`.
    func ask(_ question: HeldQuestion) throws -> HeldAnswer {
        var answer = HeldAnswer(numbers: haveNumbers ? [] : nil)
        if algorithm != nil, let asked = question.algorithm {
            answer = heard(try algorithm?.group(of: 0, askers).ask(asked))
        }
        if listener != nil, let asked = question.listener {
            take(try listener?.group(of: 0, askers).ask(asked), &answer)
        }
        return answer
    }

    /// What a session asks waits for `answers`, which says what has gone wrong by then, too.
    /// - Parameter member: by its place; each asks once, in any order.
    func add(_ member: Int, _ question: HeldQuestion) {
        guard failure == nil else { return }
        do {
            if let asked = question.algorithm { try algorithm?.add(member, asked, askers) }
            if let asked = question.listener { try listener?.add(member, asked, askers) }
        } catch {
            failure = error
        }
    }

    /// Asks for some sessions at once.
    /// - Parameter members: all that `add` was called for since, in the order of their places.
    /// - Returns: in the same order.
    /// - Throws: `PluginFailure`, `PluginTimeout`.
    func answers(_ members: [Int]) throws -> [HeldAnswer] {
        if let failure { throw failure }
        var answers =
            try algorithm?.answers(members).map(heard)
            ?? members.map { _ in HeldAnswer(numbers: haveNumbers ? [] : nil) }
        if let listener {
            for (place, said) in try listener.answers(members).enumerated() { take(said, &answers[place]) }
        }
        return answers
    }

    /// What the algorithm has said.
    private func heard(_ said: PluginAnswer?) -> HeldAnswer {
        if case .failed(let cause) = said?.step { algorithm?.host.countFailedStep(cause) }
        return HeldAnswer(algorithm: said?.step, numbers: haveNumbers ? said?.numbers ?? [] : nil)
    }

    /// What a program that listens has said.
    private func take(_ said: PluginAnswer?, _ answer: inout HeldAnswer) {
        guard let said else { return }
        answer.numbers? += said.numbers
        guard case .failed(let cause) = said.step else { return }
        answer.hasListenerFailed = true
        listener?.host.countFailedStep(cause)
    }

    /// Nobody of them asks any more.
    func end() {
        for group in (algorithm?.groups ?? []) + (listener?.groups ?? []) { group?.end() }
        (algorithm, listener) = (nil, nil)
    }
}
