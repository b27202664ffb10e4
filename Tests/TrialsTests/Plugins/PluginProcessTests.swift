import CIslet
import Foundation
import IsletFiles
import Synchronization
import Testing

@testable import IsletTrials

/// A process that is asked: that its answers decide whether it shares the asker's processor, while one is awaited, too.
@Suite struct PluginProcessTests {
    @discardableResult
    private static func ask(_ process: PluginProcess, _ line: String) throws -> String {
        try process.call(Array((line + "\n").utf8), at: { "a test" }, isAsked: true) {
            (bytes) throws(PluginFrame.NoFrame) -> (String, end: Int)? in
            bytes.firstIndex(of: UInt8(ascii: "\n")).map {
                (String(decoding: bytes[..<$0], as: UTF8.self), $0 + 1)
            }
        }
    }

    @Test func quickAnswersBindAndOneThatIsAwaitedFrees() throws {
        let problem = Mutex<(any Error)?>(nil)
        try SystemThread {
            do {
                let process = try PluginProcess(
                    [
                        "sh", "-c",
                        "while read line; do if [ $line = slow ]; then sleep 1; env -u OMP_NUM_THREADS nproc; else echo $line; fi; done",
                    ],
                    program: "echo", memoryBytes: 1 << 30, timeout: 600_000_000_000, python: nil)
                defer { process.stop() }
                var before = islet_processors()
                #expect(islet_get_processors(0, &before) == 0)
                var calls = 0
                // However busy the machine is, at some time it answers in less than a fifth of a millisecond.
                while process.shared.processor == nil, calls < 200_000 {
                    try Self.ask(process, "quick")
                    calls += 1
                }
                #expect(process.shared.processor != nil, "after \(calls) answers")
                // How many processors it may use before it has answered.
                #expect(try Self.ask(process, "slow") == "\(islet_count_processors(&before))")
                #expect(process.shared.processor == nil)
                var after = islet_processors()
                #expect(islet_get_processors(0, &after) == 0)
                #expect(islet_count_processors(&after) == islet_count_processors(&before))
                // Not again in this session, but in the next.
                for _ in 0..<200 { try Self.ask(process, "quick") }
                #expect(process.shared.processor == nil)
            } catch {
                problem.withLock { $0 = error }
            }
        }.join()
        if let problem = problem.withLock({ $0 }) { throw problem }
    }
}
