// Why an input was refused: a code for programs, a sentence for people.
//
// Guarantees: a journal keeps both, and a replay compares the code, so that a sentence may be written anew. What a journal of before has no code
// for is compared as refused, whatever its words say. A sentence keeps its values, also through a journal, so that a reader has them in their own unit; one
// that a journal of before has without its values is text, with the unit that stands in it.

package import IsletDevices

/// The kinds of refusals. A code stands in journals and in the API: it is never given another meaning.
package enum RefusalCode: String, CaseIterable, Sendable {
    // By the input itself, before anything is asked.
    /// A number is no number, or outside of its range.
    case outOfRange = "out-of-range"
    /// Parts of it contradict each other, or one is missing.
    case contradictory
    /// The policy has no such alert.
    case unknownAlert = "unknown-alert"
    /// The session has no such threshold.
    case unknownMetric = "unknown-metric"
    /// It means nothing to this kind of subject.
    case notOfSubject = "not-of-subject"
    /// Glucose comes from outside: insulin is suggested only.
    case suggestionsOnly = "suggestions-only"
    /// The name that its sender gave it is malformed.
    case badKey = "bad-key"
    /// No input wrote it.
    case notAnInput = "not-an-input"
    /// A fork leaves out what makes no sense in it.
    case leftOut = "left-out"

    // By the session, as it stood then.
    case appDead = "app-dead"
    case notActive = "not-active"
    /// The alert is active, in a later episode than the one that is meant.
    case otherEpisode = "other-episode"
    /// The alert takes no acknowledgement, or its banner no dismissal.
    case stays
    case noThreshold = "no-threshold"
    case nothingRecommended = "nothing-recommended"
    case noSession = "no-session"
    /// No bolus waits under this number, with this amount, at this time.
    case notWaiting = "not-waiting"
    case tooLate = "too-late"
    case otherAmount = "other-amount"
    /// Something speaks against the bolus: it is given `anyway` only.
    case asksAgain = "asks-again"
    case nothingDropped = "nothing-dropped"
    /// It belongs to devices outside, and they are simulated here, or the other way round.
    case otherDevices = "other-devices"
    case notCommandedByOther = "not-commanded-by-other"
    /// What a device says can't be true.
    case notBelieved = "not-believed"
    /// A reading from before the start, from the future, or of a time that has one.
    case badStamp = "bad-stamp"
    /// More than the loop takes.
    case loopLimit = "loop-limit"
    case pumpUnreachable = "pump-unreachable"
    case pumpNotReady = "pump-not-ready"
    case pumpLimit = "pump-limit"
    /// A command was sent and not answered: it may have been carried out.
    case pumpUncertain = "pump-uncertain"
    case badSchedule = "bad-schedule"
    /// Another engine dosed by an algorithm that this one doesn't know.
    case unknownAlgorithm = "unknown-algorithm"

    /// A treatment that was given so long ago that it acts no more.
    case tooOld = "too-old"
    /// A treatment that is yet to be given.
    case inFuture = "in-future"
    /// A treatment that this server gave out itself.
    case ours
    /// A treatment of this id was heard before, and said something else.
    case saysOther = "says-other"

    // By the host, or of a driver: these stand in no journal.
    /// A step waits for its driver's dose, and nothing enters before it has one.
    case held
    case notDriven = "not-driven"
    case noDriver = "no-driver"
    case otherDriver = "other-driver"
    case notHeld = "not-held"
    case otherStep = "other-step"
    case otherBody = "other-body"
    case over
    case failed
    case returning
    case gone
    case frozen
    /// The same was said before, under the same key, and nobody knows yet what became of it: it may have been done.
    case unanswered
    case paceIsFixed = "pace-is-fixed"
    case notWritten = "not-written"

    /// What says nothing of what was asked for, but that the session can't hear it now.
    static let passing: Set<RefusalCode> = [
        .appDead, .held, .failed, .returning, .gone, .frozen, .unanswered, .notWritten,
    ]
}

/// Why an input can't be taken.
package struct LiveRefusal: Error, Hashable, Sendable {
    /// A `RefusalCode`; empty for a journal's line of before there were codes.
    package var code: String
    /// One line.
    package let reason: ValueText

    /// Whether the same would be refused again: not where something stood in the way that passes.
    package var isOfContent: Bool {
        RefusalCode(rawValue: code).map { !RefusalCode.passing.contains($0) } ?? true
    }

    package init(_ code: RefusalCode, _ reason: ValueText) { self.init(code: code.rawValue, reason: reason) }

    /// What a text of somebody else's breaks into lines is one line, as a journal has it.
    init(code: String, reason: ValueText) {
        let line = JournalLine.line(reason.text)
        self.code = code
        // A blank is as long as the break that it stands for: values stay where they stood.
        self.reason =
            line == reason.text
            ? reason : ValueText(line, marks: reason.marks.map { $0[...] }) ?? ValueText(line)
    }
}

/// What became of an input.
package enum LiveOutcome: Hashable, Sendable {
    case taken
    case refused(LiveRefusal)

    static func refused(_ code: RefusalCode, _ reason: ValueText) -> LiveOutcome {
        .refused(LiveRefusal(code, reason))
    }

    /// Why it was refused; nil where it was taken.
    package var refusal: LiveRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }

    /// Whether a replay that comes to this agrees with a journal: words may differ.
    func agrees(with journal: LiveOutcome) -> Bool {
        guard let here = refusal, let there = journal.refusal else { return refusal == journal.refusal }
        return there.code.isEmpty || here.code == there.code
    }

    /// As a journal's line has it.
    var text: String { refusal.map { "refused " + JournalLine.coded($0.code, $0.reason.text) } ?? "taken" }
}

extension ValueText.StringInterpolation {
    /// A whole number without a unit.
    mutating func appendInterpolation(_ number: Int) { appendInterpolation("\(number)") }
}
