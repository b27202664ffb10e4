import IsletKernel
import Testing

/// A session that asks something of the world outside.
@Suite struct HoldTests {
    private final class Log: @unchecked Sendable { var lines: [String] = [] }

    /// Asks at minute 5; something else is due at that instant, and at minute 7.
    private func session(_ log: Log) throws -> SessionExecutor {
        let session = SessionExecutor()
        session.start("asks") {
            try await SessionClock(session).wait(until: .minutes(5), phase: .loop)
            log.lines.append("asks")
            session.hold()
        }
        session.start("same instant") {
            try await SessionClock(session).wait(until: .minutes(5), phase: .person)
            log.lines.append("person \(session.now.minutes)")
        }
        session.start("later") {
            try await SessionClock(session).wait(until: .minutes(7), phase: .loop)
            log.lines.append("later \(session.now.minutes)")
        }
        session.receiveInputsForTest { log.lines.append("input \($0.minutes)") }
        return session
    }

    @Test func nothingFiresAndNoInputEntersUntilItIsAnswered() throws {
        let log = Log()
        let session = try session(log)
        try session.advance(to: .minutes(10))
        #expect(session.isHeld && session.now == .minutes(5))
        session.submit(ExternalInput(kind: "test", bytes: []))
        try session.advance(to: .minutes(10))
        #expect(log.lines == ["asks"] && session.now == .minutes(5))
        try session.resume { log.lines.append("answered") }
        #expect(log.lines == ["asks", "answered"] && !session.isHeld)
        try session.advance(to: .minutes(10))
        #expect(log.lines.prefix(4) == ["asks", "answered", "person 5.0", "later 7.0"])
        #expect(session.journal.inputs.map(\.instant) == [Instant.minutes(10).adding(1)])
        try session.end()
    }

    @Test func aHeldSessionCanBeEnded() throws {
        let log = Log()
        let session = try session(log)
        try session.advance(to: .minutes(10))
        try session.end()
        #expect(!session.isHeld && log.lines == ["asks"])
    }

    @Test func whatAnAnswerThrowsEndsTheSession() throws {
        struct Wrong: Error {}
        let session = try session(Log())
        try session.advance(to: .minutes(10))
        #expect(throws: Wrong.self) { try session.resume { throw Wrong() } }
        #expect(throws: Wrong.self) { try session.advance(to: .minutes(10)) }
        try session.end()
    }
}

extension SessionExecutor {
    fileprivate func receiveInputsForTest(_ body: @escaping (Instant) -> Void) {
        inspect { receiveInputs { [unowned self] _ in body(now) } }
    }
}
