// A fork that goes on: a journal of its own, with which a host lives on as with any other.
//
// Guarantees: up to the fork its lines are the original's, byte by byte; then what is exchanged, then the original's inputs at the same instants, but
// for those that make no sense in it, which keep their numbers and say why; it ends where the original stands. It is there whole, on disk, or
// not at all. The original's journal is read only, and may be written meanwhile.

import IsletDevices
import IsletFiles
import Glibc
package import IsletKernel
import IsletTrials

extension LiveFork {
    /// A fork that has begun.
    package struct Begun: Sendable {
        package var opening: LiveOpening
        package var at: Instant
        /// As far as it has come.
        package var end: Instant
        /// Inputs of the original after the fork.
        package var inputCount = 0
        package var leftOut: [LeftOut] = []
        package var phase: LiveSession.Phase
    }

    /// Begins a session that is another's up to an instant, and goes on otherwise from its end on.
    /// - Parameters:
    ///   - studyPath: what a cohort table's path is relative to; nil for the journal.
    ///   - now: how far the original has come, where that is further than its journal says.
    ///   - path: of the new journal; its folder is there, and it isn't.
    ///   - isWanted: as in `LiveReplay`; nothing is left behind where nobody waits any more.
    /// - Throws: `InputError` for what can't be forked so; `LiveSession.Divergence` for a journal that isn't what it comes to here; `OutputError`.
    package static func begin(
        from content: JournalContent, studyPath: String? = nil, at: Instant, now: Instant? = nil,
        change: Change, to path: String, isWanted: @escaping () -> Bool = { true }
    ) throws -> Begun {
        let opening = try opening(of: content, studyPath, change, at: at)
        let end = max(
            content.end, min(now ?? .start, Instant(nanoseconds: opening.study.duration.nanoseconds)))
        func refuse(_ found: String, _ expected: String) -> InputError {
            InputError(file: content.path, found: found, expected: expected)
        }
        guard at >= .start, at <= end else {
            throw refuse(
                "a fork at minute \(at.minutes)",
                "one from minute 0 to minute \(end.minutes), where the session stands")
        }
        for case .leap(let from, let to) in content.lines where from < at && at < to {
            throw refuse(
                "a fork at minute \(at.minutes)",
                "one up to minute \(from.minutes) or from minute \(to.minutes) on: nobody lived in between")
        }
        let change = try checked(
            change.fitted(to: opening.study.subject.kind), content, opening, at: at)
        guard access(path, F_OK) != 0 else {
            throw OutputError(path: path, doing: "create", errno: EEXIST)
        }
        let original = try original(content, opening, from: at, isWanted: isWanted)
        var begun = try JournalFile.whole(at: path) {
            try write(content, opening, original, at: at, end: end, change, to: $0, isWanted)
        }
        begun.opening = opening
        return begun
    }

    /// As the journal will have it.
    private static func checked(
        _ change: Change, _ content: JournalContent, _ opening: LiveOpening, at: Instant
    ) throws(InputError) -> Change {
        var current = opening.algorithm
        for case .exchange(let then, let json) in content.lines where then <= at {
            current = try Change(json: json, file: content.path).algorithm ?? current
        }
        if let problem = change.problem(for: opening, dosingBy: current) {
            throw InputError(file: "fork", found: problem.found, expected: problem.expected)
        }
        let kept = try Change(json: change.json, file: "fork")
        guard kept == change else {
            throw InputError(
                file: "fork", found: "a policy that no file can say",
                expected: "one that reads back as it was written")
        }
        return kept
    }

    /// What is asked at a step was told to who drove then.
    static func refuse(atStepOf live: LiveSession, _ content: JournalContent, _ at: Instant)
        throws(InputError)
    {
        guard live.isHeld else { return }
        throw InputError(
            file: content.path, found: "a fork at minute \(at.minutes), where a step waits for its dose",
            expected: "one before it, or after its dose")
    }

    private static func write(
        _ content: JournalContent, _ opening: LiveOpening, _ original: Side, at: Instant, end: Instant,
        _ change: Change, to path: String, _ isWanted: @escaping () -> Bool
    ) throws -> Begun {
        guard case .open(let json)? = content.lines.first else {
            throw InputError(
                file: content.path, line: 1, found: "no opening", expected: "a journal's first line")
        }
        let file = try JournalFile.create(path, opening: json)
        let life = try second(content, opening, change, from: at)
        let live = life.live
        live.isWanted = isWanted
        let parting = content.lines.firstIndex { $0.instant.map { $0 > at } ?? false } ?? content.lines.count
        var isAnswered = true
        for (index, line) in content.lines[..<parting].enumerated().dropFirst() {
            guard isWanted() else { throw NobodyWaits() }
            try live.play(line, on: index + 1, of: content.path)
            try file.append(line, sync: false)
            if case .input = line { isAnswered = false }
            if case .answer = line { isAnswered = true }
        }
        live.goOn(in: file, isAnswered: isAnswered)
        live.advance(to: at)
        guard live.phase == .running else {
            throw InputError(
                file: content.path, found: "a fork at minute \(at.minutes)",
                expected: "one before minute \(live.now.minutes), where the session was over")
        }
        try refuse(atStepOf: live, content, at)
        live.exchangeNow(change)
        var begun = Begun(opening: opening, at: at, end: end, phase: .running)
        for line in content.lines[parting...] {
            guard isWanted() else { throw NobodyWaits() }
            if case .input = line { begun.inputCount += 1 }
            if let left = try life.follow(line, change, against: original) { begun.leftOut.append(left) }
        }
        live.advance(to: end)
        live.sync()
        if case .failed(let reason) = live.phase {
            throw OutputError(.temporary, path: path, message: reason)
        }
        (begun.end, begun.phase) = (live.now, live.phase)
        live.journal = nil
        return begun
    }
}
