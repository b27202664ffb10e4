// One process, and those it is asked about: one person, or a group with a slot each.
//
// Guarantees: a listener is asked the same, and answers numbers alone. A question goes out as `begin` where a state begins or a setting has changed, `history` where there is some, and `step`; the answer is taken only where it
// is of the same handles and steps in the same order. What is wrong with one dose fails that step alone; what breaks the protocol ends the process.
// Does not: judge doses. The loop does, as those of any algorithm.

package import IsletDevices
import IsletFiles
import IsletKernel

/// Who asks.
package struct PluginPerson: Sendable {
    /// The place in the group; 0 where a process is one session's.
    package var slot: Int
    /// The seed of this person's own draws.
    package var seed: UInt64
}

/// What somebody was answered.
package struct PluginAnswer: Sendable {
    /// The answer; of a program that listens only, a dose of nothing, or why it failed.
    package var step: StepAnswer
    /// Numbers of the program's own; none where the step failed.
    package var numbers: [OwnNumber] = []
}

/// Used by one thread at a time.
package final class PluginGroup {
    private let host: PluginHost
    private let members: [PluginPerson]
    private let seat: PluginSeat
    private var told: [BeginRow?]
    private var bytes: [UInt8] = []
    /// What waits to be asked: who begins, the hours before, and the steps.
    private var (begun, history): ([BeginRow], [HistoryRow]) = ([], [])
    private var steps: AskedSteps
    /// Of a library within this program, which has answered already.
    private var inside: [(member: Int, answer: PluginAnswer)] = []
    private var isOver = false

    /// - Throws: `PluginFailure`, `PluginTimeout`.
    package init(_ host: PluginHost, members: [PluginPerson]) throws {
        (self.host, self.members) = (host, members)
        told = Array(repeating: nil, count: members.count)
        steps = AskedSteps(isPacked: host.ready.isPacked, members: members.count)
        seat = try host.seat(of: members)
    }

    deinit { stop() }

    private func stop() {
        guard !isOver else { return }
        isOver = true
        if case .process(let process) = seat { process.stop() }
    }

    /// Asks for some members at once.
    /// - Parameter questions: members by their place, in the order of slots.
    /// - Returns: in the same order.
    package func ask(_ questions: [(member: Int, question: StepQuestion)]) throws -> [PluginAnswer] {
        for (member, question) in questions { add(member, question) }
        return try answers()
    }

    /// Asks for the first member alone: within this program nothing is made for that but the answer.
    func ask(_ question: StepQuestion) throws -> PluginAnswer {
        if case .inside(let seats) = seat { return answerInside(seats, 0, question) }
        return try ask([(0, question)])[0]
    }

    /// What somebody asks waits for `answers`. It is written here, while the session that asks is in the processor's caches, and not when all have asked.
    /// - Parameter member: by its place; each asks once, in any order.
    func add(_ member: Int, _ question: StepQuestion) {
        if case .inside(let seats) = seat {
            inside.append((member, answerInside(seats, member, question)))
            return
        }
        rows(member, question) {
            begun.append($0)
        } history: {
            history.append($0)
        }
        steps.add(member, AskedRow(handle: Int64(members[member].slot), question: question))
    }

    /// Asks for all who wait.
    /// - Returns: in the order of slots.
    func answers() throws -> [PluginAnswer] {
        let process: PluginProcess
        switch seat {
        case .inside:
            defer { inside.removeAll(keepingCapacity: true) }
            return inside.sorted { $0.member < $1.member }.map(\.answer)
        case .process(let running): process = running
        }
        let asked = write()
        let place = {
            guard let first = asked.first else { return "" }
            let others = asked.count > 1 ? " and \(asked.count - 1) more" : ""
            return "step \(first.step) of slot \(first.handle)\(others), minute \(Int(first.now.minutes))"
        }
        do {
            let reader = PluginAnswers(host.ready, asked)
            return host.ready.isPacked
                ? try process.call(bytes, at: place, isAsked: true) { (bytes) throws(PluginFrame.NoFrame) in
                    try reader.packed(bytes)
                }
                : try process.call(bytes, at: place, isAsked: true) { (bytes) throws(PluginFrame.NoFrame) in
                    try reader.lines(bytes)
                }
        } catch {
            stop()
            throw error
        }
    }

    private func answerInside(_ seats: LibrarySeats, _ member: Int, _ question: StepQuestion) -> PluginAnswer
    {
        rows(member, question) {
            seats.begin(member, $0)
        } history: {
            seats.hear(member, $0)
        }
        let row = AskedRow(handle: Int64(members[member].slot), question: question)
        let (dose, numbers, why) = seats.ask(member, row)
        if let why { return PluginAnswer(step: .failed(why)) }
        return PluginAnswers.answer(
            dose, numbers, of: host.ready.numbers, handle: row.handle, step: question.input.algorithmTime)
    }

    /// Nobody of it asks any more.
    package func end() {
        guard !isOver, case .process(let process) = seat, host.ready.isolates else { return stop() }
        isOver = true
        bytes.removeAll(keepingCapacity: true)
        let handles = members.map { UInt64($0.slot) }
        do {
            if host.ready.isPacked {
                PluginFrame.end.append(to: &bytes, rows: handles.count) {
                    for handle in handles { PluginFrame.append(handle, to: &$0) }
                }
                try process.call(bytes, at: { "its end" }) {
                    (bytes) throws(PluginFrame.NoFrame) -> (Void, end: Int)? in
                    guard let frame = try PluginFrame.read(bytes, from: 0, mostRows: handles.count) else {
                        return nil
                    }
                    guard frame.kind == .end else { throw .init("a frame that is no `end`") }
                    return ((), frame.end)
                }
            } else {
                PluginLines.append("end", handles.map { .unsigned($0) }, to: &bytes)
                try process.call(bytes, at: { "its end" }) {
                    (bytes) throws(PluginFrame.NoFrame) -> (Void, end: Int)? in
                    bytes.firstIndex(of: UInt8(ascii: "\n")).map { ((), $0 + 1) }
                }
            }
            host.give(back: process)
        } catch {
            process.stop()
        }
    }

    // MARK: Questions

    /// Writes what is sent: who waits, waits no more.
    /// - Returns: whom it asks about, in the order of slots.
    private func write() -> [AskedStep] {
        bytes.removeAll(keepingCapacity: true)
        write(.begin, "begin", begun, StepFields.begin)
        write(.history, "history", history, StepFields.history)
        begun.removeAll(keepingCapacity: true)
        history.removeAll(keepingCapacity: true)
        return steps.take(into: &bytes)
    }

    /// What goes before somebody's step.
    private func rows(
        _ member: Int, _ question: StepQuestion, begin: (BeginRow) -> Void,
        history: (HistoryRow) -> Void
    ) {
        let handle = Int64(members[member].slot)
        if question.beginsAnew || told[member].map({ $0.isOther(than: question.input) }) ?? true {
            let row = BeginRow(
                handle: handle, seed: members[member].seed, isSame: !question.beginsAnew,
                therapy: question.input.therapy, target: question.input.target,
                subject: question.input.subjectID)
            begin(row)
            told[member] = row
        }
        guard let earlier = question.input.earlier else { return }
        let none = GivenInsulin(amount: .zero, since: earlier.since, until: earlier.since)
        for given in earlier.given.isEmpty ? [none] : earlier.given {
            history(HistoryRow(handle: handle, complete: earlier.since, given: given))
        }
    }

    private func write<Row: CellRow>(
        _ kind: PluginFrame, _ key: String, _ rows: [Row], _ fields: [StepField<Row>]
    ) {
        guard !rows.isEmpty else { return }
        guard host.ready.isPacked else {
            return PluginLines.append(key, rows, fields, to: &bytes)
        }
        kind.append(to: &bytes, rows: rows.count) { bytes in
            for row in rows { PluginFrame.append(row, to: &bytes) }
        }
    }
}

extension BeginRow {
    func isOther(than input: StepInput) -> Bool {
        therapy != input.therapy || target != input.target || subject != input.subjectID
    }
}
