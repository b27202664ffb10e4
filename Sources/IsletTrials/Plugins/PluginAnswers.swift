// What a program answers to a call, read and judged.
//
// Guarantees: an answer is taken only where it is of the same handles and steps in the same order. What is wrong with one dose or number fails that step alone; what breaks
// the protocol is thrown. Numbers of its own come before the doses; a listener answers numbers alone.
// Does not: judge whether a dose is wise. The loop has its limits for any algorithm's.

import IsletDevices
import IsletFiles

struct PluginAnswers {
    private let ready: PluginReady
    private let asked: [AskedStep]

    /// - Parameter asked: whom it is about, in order.
    init(_ ready: PluginReady, _ asked: [AskedStep]) { (self.ready, self.asked) = (ready, asked) }

    private struct Failed {
        var handle: Int64
        var step: Int64
        var text: String
    }

    /// No part of a dose is above it, whoever the person is; within it the therapy's maximum bolus holds, as for any algorithm.
    static let largestDose = 100.0

    // MARK: Judging

    private func answers(_ doses: [DoseRow], _ own: [OwnRow], _ failed: [Failed]) throws(PluginFrame.NoFrame)
        -> [PluginAnswer]
    {
        let count = ready.isListener ? own.count : doses.count
        let what = ready.isListener ? "numbers" : "doses"
        var (answers, next): ([PluginAnswer], Int) = ([], 0)
        answers.reserveCapacity(asked.count)
        for whom in asked {
            let (handle, step) = (whom.handle, whom.step)
            if !failed.isEmpty,
                let problem = failed.first(where: { $0.handle == handle && $0.step == step })
            {
                answers.append(PluginAnswer(step: .failed(problem.text)))
                continue
            }
            guard next < count else {
                throw .init("an answer of \(count) \(what) for \(asked.count) steps")
            }
            let numbers = own.indices.contains(next) ? own[next] : nil
            let dose =
                ready.isListener ? numbers.map { DoseRow(handle: $0.handle, step: $0.step) } : doses[next]
            next += 1
            if let numbers, numbers.handle != handle || numbers.step != step {
                answers.append(Self.foreign(numbers.step, numbers.handle, step, handle))
                continue
            }
            answers.append(
                Self.answer(
                    dose ?? DoseRow(), numbers?.values, of: ready.numbers, handle: handle, step: step))
        }
        guard next == count, own.isEmpty || own.count == count else {
            throw .init(
                next == count
                    ? "numbers of \(own.count) steps beside \(count) doses"
                    : "an answer of \(count) \(what) for \(asked.count) steps")
        }
        return answers
    }

    private static func foreign(_ step: Int64, _ handle: Int64, _ asked: Int64, _ whom: Int64) -> PluginAnswer
    {
        PluginAnswer(
            step: .failed(
                "the algorithm answered step \(step) of \(handle), asked for step \(asked) of \(whom)"))
    }

    /// - Parameters:
    ///   - values: NaN where absent; nil where nothing was said.
    ///   - known: the numbers that the program said it has.
    static func answer(
        _ dose: DoseRow, _ values: [Double]?, of known: [PluginReady.Number], handle: Int64, step: Int64
    ) -> PluginAnswer {
        func failed(_ cause: String) -> PluginAnswer { PluginAnswer(step: .failed(cause)) }
        guard dose.handle == handle, dose.step == step else {
            return foreign(dose.step, dose.handle, step, handle)
        }
        let sum = dose.basal + dose.correction + dose.meal + dose.glucagon
        guard sum.isFinite || dose.parts.allSatisfy(\.isFinite) else {
            return failed("the algorithm's dose is not a number")
        }
        guard dose.basal >= 0, dose.correction >= 0, dose.meal >= 0, dose.glucagon >= 0 else {
            return failed("the algorithm's dose is negative")
        }
        // Twice what may be asked for is no dose that was cut off, but a mistake.
        guard sum <= largestDose || dose.parts.allSatisfy({ $0 <= largestDose }) else {
            return failed("the algorithm's dose is above \(Int(largestDose)) U")
        }
        guard dose.flags & ~1 == 0 else { return failed("the algorithm's answer has unknown flags") }
        guard !dose.forecast.isInfinite, !(dose.forecast < 0) else {
            return failed("the algorithm's forecast is no glucose")
        }
        var numbers: [OwnNumber] = []
        if let values {
            for (number, value) in zip(known, values) where !value.isNaN {
                guard value.isFinite else { return failed("\(number.name) is infinite") }
                numbers.append(OwnNumber(number.name, value))
            }
        }
        var output = StepOutput(
            basal: InsulinAmount(units: dose.basal), correction: InsulinAmount(units: dose.correction),
            meal: InsulinAmount(units: dose.meal), isOpenLoop: dose.flags & 1 == 1)
        output.glucagon = InsulinAmount(units: dose.glucagon)
        if !dose.forecast.isNaN {
            output.forecast = GlucoseConcentration(milligramsPerDecilitre: dose.forecast)
        }
        return PluginAnswer(step: .dose(output), numbers: numbers)
    }

    // MARK: Frames

    /// - Returns: nil where more bytes are needed.
    func packed(_ bytes: [UInt8]) throws(PluginFrame.NoFrame) -> ([PluginAnswer], end: Int)? {
        var (start, failed, own): (Int, [Failed], [OwnRow]?) = (0, [], nil)
        while let frame = try PluginFrame.read(bytes, from: start, mostRows: asked.count) {
            let body = frame.body.lowerBound
            switch frame.kind {
            case .fail:
                let text = String(decoding: bytes[(body + 16)..<frame.body.upperBound], as: UTF8.self)
                failed.append(
                    Failed(
                        handle: Int64(bitPattern: PluginFrame.cell(bytes, body)),
                        step: Int64(bitPattern: PluginFrame.cell(bytes, body + 8)),
                        text: printable(text, limit: 1000)))
                guard failed.count <= asked.count else { throw .init("more failures than steps") }
            case .own:
                guard own == nil, !ready.numbers.isEmpty else { throw .init("numbers that nobody expects") }
                own = (0..<frame.rows).map { Self.own(bytes, body + $0 * StepFields.own.count * 8) }
                guard ready.isListener else { break }
                guard bytes.count == frame.end else { throw .init("bytes behind the answer") }
                return (try answers([], own ?? [], failed), frame.end)
            case .dose where !ready.isListener:
                let width = StepFields.dose.count * 8
                let doses = bytes.withUnsafeBytes { all in
                    (0..<frame.rows).map { row in
                        StepFields.dose(
                            (0..<StepFields.dose.count).lazy.map {
                                UInt64(
                                    littleEndian: all.loadUnaligned(
                                        fromByteOffset: body + row * width + $0 * 8, as: UInt64.self))
                            })
                    }
                }
                guard bytes.count == frame.end else { throw .init("bytes behind the answer") }
                return (try answers(doses, own ?? [], failed), frame.end)
            case .begin, .history, .step, .dose, .end, .bye: throw .init("a frame that is no answer")
            }
            start = frame.end
        }
        return nil
    }

    private static func own(_ bytes: [UInt8], _ start: Int) -> OwnRow {
        func cell(_ place: Int) -> UInt64 { PluginFrame.cell(bytes, start + 8 * place) }
        return OwnRow(
            handle: Int64(bitPattern: cell(0)), step: Int64(bitPattern: cell(1)),
            values: (0..<OwnNumber.most).map { Double(bitPattern: cell(2 + $0)) })
    }

    // MARK: Lines

    /// - Returns: nil where more bytes are needed.
    func lines(_ bytes: [UInt8]) throws(PluginFrame.NoFrame) -> ([PluginAnswer], end: Int)? {
        var (start, failed, own): (Int, [Failed], [OwnRow]?) = (0, [], nil)
        if let first = bytes.first, first != UInt8(ascii: "{") { throw .init("bytes that are no answer") }
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            let value: JSONValue
            do { value = try JSONValue.read(Array(bytes[start..<end]), file: "answer") } catch {
                throw .init("a line that is no JSON (\(error.found))")
            }
            if let problem = value["fail"] {
                guard case .integer(let handle) = problem["handle"],
                    case .integer(let step) = problem["step"],
                    case .string(let text) = problem["text"], failed.count < asked.count
                else { throw .init("a `fail` without handle, step and text") }
                failed.append(Failed(handle: handle, step: step, text: printable(text, limit: 1000)))
            } else if case .array(let rows) = value["own"], rows.count <= asked.count,
                !ready.numbers.isEmpty, own == nil
            {
                var told: [OwnRow] = []
                for row in rows { told.append(try PluginLines.own(row, ready.numbers.map(\.name))) }
                own = told
                if ready.isListener {
                    guard bytes.count == end + 1 else { throw .init("bytes behind the answer") }
                    return (try answers([], told, failed), end + 1)
                }
            } else if case .array(let rows) = value["dose"], rows.count <= asked.count, !ready.isListener {
                var doses: [DoseRow] = []
                for row in rows { doses.append(try PluginLines.dose(row)) }
                guard bytes.count == end + 1 else { throw .init("bytes behind the answer") }
                return (try answers(doses, own ?? [], failed), end + 1)
            } else {
                throw .init("a line that is neither `dose` nor `fail`")
            }
            start = end + 1
        }
        guard bytes.count <= PluginLines.longestRow * (3 * asked.count + 2) else {
            throw .init("a line without an end")
        }
        return nil
    }
}
