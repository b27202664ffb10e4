// A program asked for each step of a stored session, beside what was asked for then: parity of a port, step by step.
//
// Guarantees: the steps are those of the stored session, whose digest was compared before; each is told as the session's own algorithm was told it, and no answer has an effect. A
// step that failed then is undone before the next is asked. Does not: run the session with the program. A study does.

import IsletDevices
package import IsletFiles
import IsletKernel
import IsletLoop

package struct AlgorithmReplay {
    package let host: PluginHost

    /// What was asked for then, and now.
    package struct Step: Sendable {
        /// As the loop counts them.
        package var number: Int64
        /// When it was, in the session's time.
        package var at: TimeSpan
        /// What differs, in a few words; nil where all numbers are equal to the bit.
        package var difference: String?
        /// The largest difference of two numbers, in the number's unit.
        package var distance = 0.0
    }

    /// Starts the program: somebody has allowed it.
    package init(_ reference: PluginReference, path: String) throws {
        host = try PluginHost(try PluginPaths.resolve(reference, studyPath: path))
        guard !host.ready.isListener else {
            throw InputError(
                file: reference.origin.file, found: "\(host.ready.name), which only listens",
                expected: "an algorithm that doses")
        }
    }

    /// - Parameter each: gets each step, in order.
    package func run(
        _ steps: [LoggedStep], of study: Study, _ entry: ResultSessions.Entry, each: (Step) throws -> Void
    ) throws {
        let streams = RandomStreams(seed: study.seed, subject: UInt64(entry.subjectIndex)).offset(
            by: study.arms[entry.armIndex].luckOffset)
        let asker = PluginAsker(index: entry.subjectIndex, streams)
        let group = try PluginGroup(
            host,
            members: [PluginPerson(slot: host.slot(of: entry.subjectIndex), seed: asker.seeds.algorithm)])
        var (isFirst, undoes) = (true, false)
        for step in steps {
            let record = step.record
            // A state that begins amid somebody's day is told of the hours before.
            let begins = isFirst || record.input.earlier != nil
            let question = StepQuestion(
                input: record.input, beginsAnew: begins, undoesLast: undoes && !begins)
            let answer = try group.ask(question).step
            (isFirst, undoes) = (false, !record.failure.isEmpty)
            try each(Self.compare(record, answer))
        }
        group.end()
    }

    private static func compare(_ record: StepRecord, _ answer: StepAnswer) -> Step {
        var step = Step(
            number: record.algorithmTime,
            at: TimeSpan(nanoseconds: max(0, record.instant.nanoseconds)))
        switch answer {
        case .failed(let cause):
            if record.failure.isEmpty { step.difference = "it fails: \(cause)" }
        case .dose(let output):
            guard record.failure.isEmpty else {
                step.difference = "it failed then: \(record.failure)"
                break
            }
            let (then, now) = (record.output.numbers, output.numbers)
            let other = zip(then, now).filter { $0.value.bitPattern != $1.value.bitPattern }
            step.distance =
                other.map { abs($0.value - $1.value) }.filter { !$0.isNaN }.max() ?? 0
            if !other.isEmpty {
                step.difference = other.map { "\($0.name) \($0.value) then, \($1.value) now" }.joined(
                    separator: "; ")
            } else if record.output.isOpenLoop != output.isOpenLoop {
                step.difference = "it gives up control in one"
            }
        }
        return step
    }
}

extension StepOutput {
    /// Its numbers by name; NaN for what is absent.
    var numbers: [(name: String, value: Double)] {
        [
            ("basal", basal.units), ("correction", correction.units), ("meal", meal.units),
            ("glucagon", glucagon.units), ("forecast", forecast?.milligramsPerDecilitre ?? .nan),
        ]
    }
}
