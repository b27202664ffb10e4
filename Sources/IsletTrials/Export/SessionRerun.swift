// A stored session, run again for what it left behind.
//
// Guarantees: rows are handed out only of a session whose digest is the stored one, whole and in their order, and the same ones
// every time; what is held in memory doesn't grow with a session's length, but for what its bodies and devices themselves keep.

import IsletAlerts
import IsletLoop
import IsletDevices
import IsletModels
import IsletKernel

package struct SessionRerun: Sendable {
    /// How much of a session is run between two looks at its rows: little enough to stay in the processor's cache.
    static let piece = Nanoseconds.day

    let study: Study
    let subject: VirtualSubject
    let arm: Study.Arm
    let origin: LoggedStep.Origin
    /// Whose alerts alone are wanted; nil for everybody's.
    var policy: String?

    private var entry: ResultSessions.Entry { origin.session }

    /// Effects of the arm's own policy, then of those in shadow, policy by policy; of one policy where that is asked for.
    private func alerts(_ format: StepFormat, to text: SpooledText, _ pause: () throws -> Void) throws
        -> Instant
    {
        let listeners = study.shadowPolicies.filter { policy == nil || $0.name == policy }
        let plan = listeners.isEmpty ? nil : ShadowPlan(listeners)
        let session = try session(record: .events, keepsStepLog: false, shadows: plan)
        func table(_ policy: String, isInShadow: Bool) -> RecordRows<AlertRow> {
            RecordRows(
                format, of: origin, RecordedTables.alertEffects.columns, at: \.instant,
                by: ExportedPolicy(policy: policy, isInShadow: isInShadow))
        }
        let own = table(arm.alerts.name, isInShadow: false)
        let isOwnWanted = policy == nil || policy == arm.alerts.name
        let outcome = try session.run(inPiecesOf: Self.piece) {
            try pause()
            let rows = session.recorder.takeRows().alerts
            guard isOwnWanted else { return }
            try text.append(own.bytes(rows), lines: rows.count)
        }
        try check(outcome)
        for (listener, effects) in zip(listeners, session.shadowEffects) {
            let table = table(listener.name, isInShadow: true)
            for part in stride(from: 0, to: effects.count, by: 2000) {
                let rows = effects[part..<min(part + 2000, effects.count)].map {
                    AlertRow($0, of: listener)
                }
                try text.append(table.bytes(rows), lines: rows.count)
            }
        }
        return outcome.endedAt
    }

    private func session(
        record: RecordLevel, keepsStepLog: Bool, shadows: ShadowPlan? = nil
    ) throws -> Session {
        var study = study
        study.record = record
        return try Session(
            study: study, subject: subject, index: entry.subjectIndex, arm: arm, keepsStepLog: keepsStepLog,
            shadows: shadows)
    }

    private func check(_ outcome: SessionOutcome) throws {
        let digest = outcome.digest.description
        guard digest == entry.digest else {
            throw DigestMismatch(session: entry.session, stored: entry.digest, here: digest)
        }
    }

    /// The rows of one table as text, and the days that the session lived.
    /// - Parameter isInterrupted: asked now and then.
    /// - Throws: `DigestMismatch`; `CancellationError` after an interruption; `OutputError` where the text finds no room.
    func text(
        _ table: ExportTable, _ format: StepFormat, isInterrupted: @escaping @Sendable () -> Bool
    ) throws -> (SpooledText, days: Double) {
        let text = SpooledText()
        let pause = { if isInterrupted() { throw CancellationError() } }
        let end: Instant
        switch table {
        case .steps:
            let rows = StepRows(format)
            let hand = {
                let (bytes, lines) = rows.take()
                try text.append(bytes, lines: lines)
            }
            end = try steps(pause: pause) { step in
                rows.append(step)
                if rows.text.count > 1 << 16 { try hand() }
            }
            try hand()
        case .readings:
            end = try records(
                format, RecordedTables.readings.columns, at: { $0.instant }, to: text, pause, \.readings)
        case .truth:
            end = try records(
                format, RecordedTables.truth.columns, at: { $0.instant }, to: text, pause, \.truth)
        case .alertEffects: end = try alerts(format, to: text, pause)
        case .deliveries:
            end = try records(
                format, RecordedTables.deliveries.columns, at: { $0.instant }, to: text, pause, \.deliveries)
        case .events:
            // Few enough to be held and sorted.
            let session = try session(record: .events, keepsStepLog: false)
            let outcome = try session.run(inPiecesOf: Self.piece, pause)
            try check(outcome)
            let rows = RecordRows(format, of: origin, EventRow.columns, at: { $0.instant })
            let events = EventRow.rows(session.recorder)
            try text.append(rows.bytes(events), lines: events.count)
            end = outcome.endedAt
        }
        return (text, Double(end.nanoseconds) / Double(Nanoseconds.day))
    }

    private func records<Row>(
        _ format: StepFormat, _ columns: [RecordedColumn<Row>], at instant: @escaping (Row) -> Instant,
        to text: SpooledText, _ pause: () throws -> Void, _ rows: (SessionRecorder) -> [Row]
    ) throws -> Instant {
        let session = try session(record: .full, keepsStepLog: false)
        let table = RecordRows(format, of: origin, columns, at: instant)
        let outcome = try session.run(inPiecesOf: Self.piece) {
            try pause()
            let taken = rows(session.recorder.takeRows())
            for part in stride(from: 0, to: taken.count, by: 2000) {
                let end = min(part + 2000, taken.count)
                try text.append(table.bytes(taken[part..<end]), lines: end - part)
            }
        }
        try check(outcome)
        return outcome.endedAt
    }

    /// Calls `body` with every step, in order. The last of them come when the session's digest has been checked; a caller that hands
    /// steps on before this returns must be able to take them back.
    /// - Returns: when the session ended.
    /// - Throws: `DigestMismatch`; what `pause` and `body` throw.
    @discardableResult
    func steps(pause: () throws -> Void = {}, _ body: (LoggedStep) throws -> Void) throws -> Instant {
        let session = try session(record: .summary, keepsStepLog: true)
        let outcome = try session.run(inPiecesOf: Self.piece) {
            try pause()
            for entry in session.takeKnownSteps() { try body(LoggedStep(origin: origin, entry: entry)) }
        }
        try check(outcome)
        for entry in session.takeSteps() { try body(LoggedStep(origin: origin, entry: entry)) }
        return outcome.endedAt
    }
}

extension AlertRow {
    /// As the alert center of `policy` would have recorded it.
    init(_ effect: ShadowEffect, of policy: AlertPolicy) {
        self.init(
            instant: effect.instant, effect: effect.kind.rawValue, code: policy.rules[effect.rule].code,
            severity: effect.severity.name, reason: effect.reason.rawValue)
    }
}
