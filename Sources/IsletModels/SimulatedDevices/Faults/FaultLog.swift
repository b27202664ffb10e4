// Says which faults there truly were, from when to when.
//
// Guarantees: a span is journaled when it begins and when it ends, with its true instants, and recorded as a row when it
// ends; one that is still open at the session's end is recorded up to there. What happened before the session's start
// counts as of its start.

import IsletDevices
public import IsletKernel

/// The spans of one device. Belongs to the session's thread.
final class FaultLog {
    private let executor: SessionExecutor
    private let recorder: SessionRecorder
    private var open: [(kind: FaultKind, began: Instant)] = []
    /// Those that are over.
    private(set) var closed: [(kind: FaultKind, span: Interval)] = []

    init(executor: SessionExecutor, recorder: SessionRecorder) {
        self.executor = executor
        self.recorder = recorder
    }

    func isOpen(_ kind: FaultKind) -> Bool { open.contains { $0.kind == kind } }

    func begin(_ kind: FaultKind, at instant: Instant) {
        let began = max(instant, .start)
        open.append((kind, began))
        executor.journal.record(
            .faultBegan, at: executor.now, UInt64(kind.index), UInt64(bitPattern: began.nanoseconds))
    }

    /// Ends the oldest open span of this kind.
    func end(_ kind: FaultKind, at ended: Instant) {
        guard let index = open.firstIndex(where: { $0.kind == kind }) else { return }
        close(open.remove(at: index), at: max(ended, .start))
    }

    /// A fault of no length.
    func note(_ kind: FaultKind) {
        begin(kind, at: executor.now)
        end(kind, at: executor.now)
    }

    /// The session is over.
    func finish() {
        for span in open { close(span, at: max(span.began, executor.now)) }
        open = []
    }

    private func close(_ span: (kind: FaultKind, began: Instant), at ended: Instant) {
        executor.journal.record(
            .faultEnded, at: executor.now, UInt64(span.kind.index), UInt64(bitPattern: ended.nanoseconds))
        closed.append((span.kind, Interval(span.began, ended)))
        recorder.fault(FaultRow(instant: span.began, end: ended, kind: span.kind.id))
    }
}

extension EventKind {
    /// Words: kind, the true instant.
    public static let faultBegan = EventKind(0x280, "faultBegan")
    /// Words: kind, the true instant.
    public static let faultEnded = EventKind(0x281, "faultEnded")
}
