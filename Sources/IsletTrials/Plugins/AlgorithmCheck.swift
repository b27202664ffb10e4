// Is a program of somebody's own fit to be asked? The same steps asked in many ways must be answered with the same bits.
//
// Guarantees: the steps are of people who live through gaps, dead pumps, shortfalls and app deaths, and variants of them (temporary targets, month-long sessions, no readings);
// each way of asking is compared with the first by the bits of every number, and the first difference is told with its step and both answers. Does not: judge whether doses are wise.

import IsletDevices
import IsletFiles
import IsletKernel
import IsletLoop
import IsletModels

package struct AlgorithmCheck {
    /// People, and steps in a row of each.
    package static let (people, steps) = (100, 20)

    package let host: PluginHost
    private let sequences: [[StepInput]]

    /// A difference, told.
    package struct Finding: Error, CustomStringConvertible {
        package let description: String
    }

    package struct Result: Sendable {
        /// What was compared, in words.
        package var ways: [String] = []
        package var failedSteps = 0
        package var askedSteps = 0
        /// Microseconds a step of the first way that had warmed up.
        package var microseconds = 0.0
    }

    /// Starts the program: somebody has allowed it.
    package init(_ reference: PluginReference, path: String) throws {
        host = try PluginHost(try PluginPaths.resolve(reference, studyPath: path))
        sequences = try Self.drawn()
    }

    // MARK: Steps

    private static func drawn() throws -> [[StepInput]] {
        let study = try Study.parse(
            """
            duration: 3d
            cohort: { generate: { count: 10 } }
            faults: { signal-loss: true, pump-outage: true, pod-fault: true, command-failure: true, uncertain-delivery: true, app-relaunch: true, app-quit: true }
            arms: [{ algorithm: pid-insulin-feedback, alerts: none }]
            """, file: "check")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 1)
        var (list, luck): ([[StepInput]], RandomStream) = (
            [], RandomStreams(seed: 1, subject: 0).stream("algorithm.check")
        )
        for (index, subject) in subjects.enumerated() {
            let session = try Session(
                study: study, subject: subject, index: index, arm: study.arms[0], keepsStepLog: true)
            _ = session.run()
            let inputs = session.takeStepLog().map(\.input)
            for part in 0..<(people / 10) where inputs.count >= (part + 1) * steps {
                // From the first step of a life, and from somewhere in it.
                let start = part == 0 ? 0 : Int(luck.next() % UInt64(inputs.count - steps))
                list.append(inputs[start..<start + steps].map { varied($0, by: part, &luck) })
            }
        }
        return list
    }

    private static func varied(_ input: StepInput, by kind: Int, _ luck: inout RandomStream) -> StepInput {
        var input = input
        switch kind {
        case 2:
            input.temporaryTarget = GlucoseConcentration(milligramsPerDecilitre: 140 + 10 * luck.uniform())
        case 3: (input.basalMultiplier, input.basalMultiplierStepsLeft) = (0.2 + luck.uniform(), 4)
        case 4: if luck.uniform() < 0.3 { input.cgm = nil }
        case 5: input.insulinPump = .unavailable
        case 6:
            input.user.meal = MealAnnouncement(
                carbohydrate: Carbohydrate(grams: 100 * luck.uniform()), instant: input.now)
        case 7: input.user.manualBolus = InsulinAmount(units: 3 * luck.uniform())
        case 8: input = later(input, by: 150 * Nanoseconds.day)
        case 9: input.isOpenLoop = true
        default: break
        }
        return input
    }

    private static func later(_ input: StepInput, by span: Int64) -> StepInput {
        var input = input
        input.now = input.now.adding(span)
        input.lastWorldTime = input.lastWorldTime?.adding(span)
        input.lastCgmTime = input.lastCgmTime?.adding(span)
        if let cgm = input.cgm {
            input.cgm = GlucoseReading(instant: cgm.instant.adding(span), glucose: cgm.glucose)
        }
        if let basal = input.pumpBasal {
            input.pumpBasal = PumpBasal(
                amount: basal.amount, since: basal.since.adding(span), withheld: basal.withheld)
        }
        return input
    }

    // MARK: Ways to ask

    package func run(now: () -> Double) throws -> Result {
        var result = Result()
        let first = try answers(askers: Self.people, repeats: false, isReversed: false)
        result.failedSteps = first.joined().count { if case .failed = $0.step { true } else { false } }
        let sizes = host.ready.isTogether ? [Self.people, 99, 3, 1] : [1]
        for (name, size, repeats, isReversed) in sizes.map({ ("in groups of \($0)", $0, false, false) })
            + [
                ("in another order", 3, false, true),
                ("each step twice, the first undone", sizes[0], true, false),
            ]
        {
            let began = now()
            let again = try answers(askers: size, repeats: repeats, isReversed: isReversed)
            if result.ways.isEmpty {
                result.microseconds = 1e6 * (now() - began) / Double(first.joined().count)
            }
            let way = host.ready.isTogether ? name : name == "in groups of 1" ? "again" : name
            try compare(first, again, way)
            result.ways.append(way)
        }
        result.askedSteps = first.joined().count
        return result
    }

    /// The answers for each person, in order.
    private func answers(askers: Int, repeats: Bool, isReversed: Bool) throws -> [[PluginAnswer]] {
        var told = [[PluginAnswer]](repeating: [], count: sequences.count)
        guard host.ready.isTogether else {
            for person in isReversed ? Array(sequences.indices.reversed()) : Array(sequences.indices) {
                let group = try PluginGroup(host, members: [PluginPerson(slot: 0, seed: UInt64(person))])
                try ask(group, [person], repeats, &told) { _ in 0 }
                group.end()
            }
            return told
        }
        let size = host.reference.group
        for start in stride(from: 0, to: sequences.count, by: size) {
            let members = Array(start..<min(start + size, sequences.count))
            let group = try PluginGroup(
                host, members: members.map { PluginPerson(slot: $0 - start, seed: UInt64($0)) })
            var chunks = stride(from: 0, to: members.count, by: askers).map {
                Array(members[$0..<min($0 + askers, members.count)])
            }
            if isReversed { chunks.reverse() }
            for step in 0..<Self.steps {
                for chunk in chunks { try ask(group, chunk, repeats, &told, only: step) { $0 - start } }
            }
            group.end()
        }
        return told
    }

    private func ask(
        _ group: PluginGroup, _ people: [Int], _ repeats: Bool, _ told: inout [[PluginAnswer]],
        only: Int? = nil,
        member: (Int) -> Int
    ) throws {
        for step in only.map({ $0..<$0 + 1 }) ?? 0..<Self.steps {
            func questions(undo: Bool) -> [(member: Int, question: StepQuestion)] {
                people.map {
                    (
                        member($0),
                        StepQuestion(
                            input: sequences[$0][step], beginsAnew: step == 0 && !undo, undoesLast: undo)
                    )
                }
            }
            var answers = try group.ask(questions(undo: false))
            if repeats, step > 0 { answers = try group.ask(questions(undo: true)) }
            for (person, answer) in zip(people, answers) { told[person].append(answer) }
        }
    }

    private func compare(_ a: [[PluginAnswer]], _ b: [[PluginAnswer]], _ way: String) throws {
        for (person, (mine, other)) in zip(a, b).enumerated() {
            for (step, (first, second)) in zip(mine, other).enumerated() {
                guard let difference = Self.difference(first, second) else { continue }
                let row = AskedRow(
                    handle: Int64(person),
                    question: StepQuestion(
                        input: sequences[person][step], beginsAnew: step == 0, undoesLast: false))
                throw Finding(
                    description:
                        "asked \(way), step \(step) of person \(person) is answered otherwise"
                        + (host.ready.isTogether ? " than in groups of \(Self.people)" : "")
                        + ": \(difference); the step was "
                        + PluginLines.text(row, StepFields.step))
            }
        }
    }

    private static func difference(_ a: PluginAnswer, _ b: PluginAnswer) -> String? {
        for (mine, other) in zip(a.numbers, b.numbers) where mine.value.bitPattern != other.value.bitPattern {
            return "\(mine.name) \(mine.value) and \(other.value)"
        }
        if a.numbers.map(\.name) != b.numbers.map(\.name) { return "it answers other numbers" }
        switch (a.step, b.step) {
        case (.failed, .failed): return nil
        case (.dose(let a), .dose(let b)):
            let (mine, other) = (a.numbers, b.numbers)
            for (first, second) in zip(mine, other) where first.value.bitPattern != second.value.bitPattern {
                let bit = 64 - (first.value.bitPattern ^ second.value.bitPattern).leadingZeroBitCount
                return "\(first.name) \(first.value) and \(second.value), bit \(bit) of 64 differs first"
            }
            return a.isOpenLoop == b.isOpenLoop ? nil : "it gives up control in one"
        case (.failed(let why), .dose), (.dose, .failed(let why)): return "it fails in one (\(why))"
        }
    }
}
