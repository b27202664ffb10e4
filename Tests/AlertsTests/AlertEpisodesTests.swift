// The numbers of episodes.

import IsletDevices
import IsletKernel
import Testing

@Suite struct AlertEpisodesTests {
    private func numbers(_ rows: (minute: Int64, effect: String, code: AlertName, reason: String)...)
        -> [Int?]
    {
        AlertEpisodes.numbers(
            of: rows.map {
                AlertRow(
                    instant: .minutes($0.minute), effect: $0.effect, code: $0.code, severity: "actionable",
                    reason: $0.reason)
            })
    }

    @Test func `an episode has its wait, its effects and what is taken down at its end`() {
        #expect(
            numbers(
                (0, "wait", "A", "conditionBegan"), (5, "raise", "A", "conditionHeld"),
                (5, "notify", "A", "conditionHeld"),
                (6, "raise", "B", "conditionHeld"), (7, "snooze", "A", "person"),
                (8, "clear", "A", "recovered"),
                (8, "withdraw", "A", "recovered"), (9, "raise", "A", "conditionHeld"),
                (10, "clear", "B", "recovered"),
                (11, "withdraw", "B", "recovered"))
                == [1, 1, 1, 2, 1, 1, 1, 3, 2, nil])
    }

    @Test func `a wait that was given up, a deadline and a test alert are of no episode`() {
        #expect(
            numbers(
                (0, "wait", "A", "conditionBegan"), (1, "drop", "A", "conditionEnded"),
                (2, "schedule", "A", "deadline"),
                (3, "notify", "A", "test"), (4, "wait", "A", "conditionBegan"),
                (5, "raise", "A", "conditionHeld"))
                == [nil, nil, nil, nil, 1, 1])
    }

    @Test func `what the system rang begins an episode, and the raise at launch goes on with it`() {
        #expect(
            numbers(
                (0, "notify", "A", "deadline"), (9, "raise", "A", "conditionHeld"),
                (9, "suppress", "A", "alreadyDelivered"),
                (12, "clear", "A", "recovered"), (20, "notify", "A", "deadline"),
                (30, "withdraw", "A", "recovered"),
                (40, "raise", "A", "conditionHeld"))
                == [1, 1, 1, 1, 2, 2, 3])
    }
}
