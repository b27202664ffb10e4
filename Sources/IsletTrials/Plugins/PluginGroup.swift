// One process, and those it is asked about: one person, or a group with a slot each.
//
// Guarantees: a question goes out as `begin` where a state begins or a setting has changed, `history` where there is some, and `step`; the answer is taken only where it
// is of the same handles and steps in the same order. What is wrong with one dose fails that step alone; what breaks the protocol ends the process.
// Does not: judge doses. The loop does, as those of any algorithm.

package import IsletDevices
import IsletFiles
import IsletKernel

/// Who asks.
package struct PluginPerson: Sendable {
    /// The place in the group; 0 where a process is one session's.
    package var slot: Int
    /// Of this person's own luck.
    package var seed: UInt64
}

/// Used by one thread at a time.
package final class PluginGroup {
    private let host: PluginHost
    private let members: [PluginPerson]
    private let process: PluginProcess
    private var told: [BeginRow?]
    private var bytes: [UInt8] = []
    private var isOver = false

    /// - Throws: `PluginFailure`, `PluginTimeout`.
    package init(_ host: PluginHost, members: [PluginPerson]) throws {
        (self.host, self.members) = (host, members)
        told = Array(repeating: nil, count: members.count)
        process = try host.take()
    }

    deinit { if !isOver { process.stop() } }

    /// Asks for some members at once.
    /// - Parameter questions: members by their place, in the order of slots.
    /// - Returns: in the same order.
    package func ask(_ questions: [(member: Int, question: StepQuestion)]) throws -> [StepAnswer] {
        write(questions)
        let place = { [members] in
            guard let first = questions.first else { return "" }
            let others = questions.count > 1 ? " and \(questions.count - 1) more" : ""
            return
                "step \(first.question.input.algorithmTime) of slot \(members[first.member].slot)\(others), minute \(Int(first.question.input.now.minutes))"
        }
        do {
            return host.ready.isPacked
                ? try process.call(bytes, at: place) { [members] (bytes) throws(PluginFrame.NoFrame) in
                    try Self.packed(bytes, questions, members)
                }
                : try process.call(bytes, at: place) { [members] (bytes) throws(PluginFrame.NoFrame) in
                    try Self.lines(bytes, questions, members)
                }
        } catch {
            isOver = true
            process.stop()
            throw error
        }
    }

    /// Nobody of it asks any more.
    package func end() {
        guard !isOver else { return }
        isOver = true
        guard host.ready.isolates else { return process.stop() }
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

    private func write(_ questions: [(member: Int, question: StepQuestion)]) {
        var begun: [BeginRow] = []
        var history: [HistoryRow] = []
        var steps: [AskedRow] = []
        for (member, question) in questions {
            let handle = Int64(members[member].slot)
            let input = question.input
            let row = BeginRow(
                handle: handle, seed: members[member].seed, isSame: !question.beginsAnew,
                therapy: input.therapy,
                target: input.target, subject: input.subjectID)
            if question.beginsAnew || told[member].map({ $0.isOther(than: row) }) ?? true {
                begun.append(row)
                told[member] = row
            }
            if let earlier = input.earlier {
                let none = GivenInsulin(amount: .zero, since: earlier.since, until: earlier.since)
                for given in earlier.given.isEmpty ? [none] : earlier.given {
                    history.append(HistoryRow(handle: handle, complete: earlier.since, given: given))
                }
            }
            steps.append(
                AskedRow(
                    handle: handle, question: question,
                    custom: input.customFields.isEmpty
                        ? [] : Array(input.customFields.keys.sorted().prefix(StepFields.customFields))))
        }
        bytes.removeAll(keepingCapacity: true)
        write(.begin, "begin", begun, StepFields.begin, StepFields.beginCells)
        write(.history, "history", history, StepFields.history, StepFields.historyCells)
        write(.step, "step", steps, StepFields.step, StepFields.stepCells)
    }

    private func write<Row>(
        _ kind: PluginFrame, _ key: String, _ rows: [Row], _ fields: [StepField<Row>],
        _ cells: [StepField<Row>.Cell]
    ) {
        guard !rows.isEmpty else { return }
        guard host.ready.isPacked else {
            return PluginLines.append(key, rows.map { PluginLines.row($0, fields) }, to: &bytes)
        }
        kind.append(to: &bytes, rows: rows.count) { PluginFrame.append(rows, cells, to: &$0) }
    }

    // MARK: Answers

    private static func answers(
        _ doses: [DoseRow], _ failed: [(handle: Int64, step: Int64, text: String)],
        _ questions: [(member: Int, question: StepQuestion)], _ members: [PluginPerson]
    ) throws(PluginFrame.NoFrame) -> [StepAnswer] {
        var (answers, next): ([StepAnswer], Int) = ([], 0)
        for (member, question) in questions {
            let (handle, step) = (Int64(members[member].slot), question.input.algorithmTime)
            if let problem = failed.first(where: { $0.handle == handle && $0.step == step }) {
                answers.append(.failed(problem.text))
                continue
            }
            guard next < doses.count else {
                throw .init("an answer of \(doses.count) doses for \(questions.count) steps")
            }
            let dose = doses[next]
            next += 1
            answers.append(
                answer(dose, handle: handle, step: step, maximum: question.input.therapy.maximumBolus))
        }
        guard next == doses.count else {
            throw .init("an answer of \(doses.count) doses for \(questions.count) steps")
        }
        return answers
    }

    private static func answer(_ dose: DoseRow, handle: Int64, step: Int64, maximum: InsulinAmount)
        -> StepAnswer
    {
        guard dose.handle == handle, dose.step == step else {
            return .failed(
                "the algorithm answered step \(dose.step) of \(dose.handle), asked for step \(step) of \(handle)"
            )
        }
        let numbers = [dose.basal, dose.correction, dose.meal, dose.glucagon]
        guard numbers.allSatisfy(\.isFinite) else { return .failed("the algorithm's dose is not a number") }
        guard numbers.allSatisfy({ $0 >= 0 }) else { return .failed("the algorithm's dose is negative") }
        // Twice what may be asked for is no dose that was cut off, but a mistake.
        guard numbers.allSatisfy({ $0 <= largestDose }) else {
            return .failed("the algorithm's dose is above \(Int(largestDose)) U")
        }
        guard dose.flags & ~1 == 0 else { return .failed("the algorithm's answer has unknown flags") }
        guard !dose.forecast.isInfinite, !(dose.forecast < 0) else {
            return .failed("the algorithm's forecast is no glucose")
        }
        var output = StepOutput(
            basal: InsulinAmount(units: dose.basal), correction: InsulinAmount(units: dose.correction),
            meal: InsulinAmount(units: dose.meal), isOpenLoop: dose.flags & 1 == 1)
        output.glucagon = InsulinAmount(units: dose.glucagon)
        if !dose.forecast.isNaN {
            output.forecast = GlucoseConcentration(milligramsPerDecilitre: dose.forecast)
        }
        return .dose(output)
    }

    /// No part of a dose is above it, whoever the person is; within it the therapy's maximum bolus holds, as for any algorithm.
    static let largestDose = 100.0

    private static func packed(
        _ bytes: [UInt8], _ questions: [(member: Int, question: StepQuestion)], _ members: [PluginPerson]
    ) throws(PluginFrame.NoFrame) -> ([StepAnswer], end: Int)? {
        var (start, failed): (Int, [(handle: Int64, step: Int64, text: String)]) = (0, [])
        while let frame = try PluginFrame.read(bytes, from: start, mostRows: questions.count) {
            switch frame.kind {
            case .fail:
                let text = String(
                    decoding: bytes[(frame.body.lowerBound + 16)..<frame.body.upperBound], as: UTF8.self)
                failed.append(
                    (
                        Int64(bitPattern: PluginFrame.cell(bytes, frame.body.lowerBound)),
                        Int64(bitPattern: PluginFrame.cell(bytes, frame.body.lowerBound + 8)),
                        printable(text, limit: 1000)
                    ))
                guard failed.count <= questions.count else { throw .init("more failures than steps") }
                start = frame.end
            case .dose:
                let width = StepFields.dose.count
                let doses = (0..<frame.rows).map { row in
                    StepFields.dose(
                        (0..<width).map {
                            PluginFrame.cell(bytes, frame.body.lowerBound + (row * width + $0) * 8)
                        })
                }
                guard bytes.count == frame.end else { throw .init("bytes behind the answer") }
                return (try answers(doses, failed, questions, members), frame.end)
            case .begin, .history, .step, .end, .bye: throw .init("a frame that is no answer")
            }
        }
        return nil
    }

    private static func lines(
        _ bytes: [UInt8], _ questions: [(member: Int, question: StepQuestion)], _ members: [PluginPerson]
    ) throws(PluginFrame.NoFrame) -> ([StepAnswer], end: Int)? {
        var (start, failed): (Int, [(handle: Int64, step: Int64, text: String)]) = (0, [])
        if let first = bytes.first, first != UInt8(ascii: "{") { throw .init("bytes that are no answer") }
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            let value: JSONValue
            do { value = try JSONValue.read(Array(bytes[start..<end]), file: "answer") } catch {
                throw .init("a line that is no JSON (\(error.found))")
            }
            if let problem = value["fail"] {
                guard case .integer(let handle) = problem["handle"],
                    case .integer(let step) = problem["step"],
                    case .string(let text) = problem["text"], failed.count < questions.count
                else { throw .init("a `fail` without handle, step and text") }
                failed.append((handle, step, printable(text, limit: 1000)))
            } else if case .array(let rows) = value["dose"], rows.count <= questions.count {
                var doses: [DoseRow] = []
                for row in rows { doses.append(try PluginLines.dose(row)) }
                guard bytes.count == end + 1 else { throw .init("bytes behind the answer") }
                return (try answers(doses, failed, questions, members), end + 1)
            } else {
                throw .init("a line that is neither `dose` nor `fail`")
            }
            start = end + 1
        }
        guard bytes.count <= PluginLines.longestRow * (2 * questions.count + 2) else {
            throw .init("a line without an end")
        }
        return nil
    }
}

extension BeginRow {
    func isOther(than row: BeginRow) -> Bool {
        therapy != row.therapy || target != row.target || subject != row.subject
    }
}
