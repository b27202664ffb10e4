import CIslet
import Foundation
import IsletFiles
import Synchronization
import Testing

@testable import IsletTrials

/// A thread that asks and the program that answers share a processor while answers come quickly, and only then.
@Suite struct SharedProcessorTests {
    /// A program with a child that has one, too; all wait.
    private final class Family {
        private let program = Process()
        var number: pid_t { program.processIdentifier }

        init() throws {
            let said = Pipe()
            program.executableURL = URL(filePath: "/bin/sh")
            program.arguments = ["-c", "sh -c 'sleep 1000 & echo; wait' & wait"]
            program.standardOutput = said
            try program.run()
            _ = try said.fileHandleForReading.read(upToCount: 1)
        }

        deinit {
            for member in ProcessFamily.members(of: number) { kill(member, SIGKILL) }
            program.waitUntilExit()
        }
    }

    private static func allowed(_ thread: Int32) -> [Int32] {
        var set = islet_processors()
        guard islet_get_processors(thread, &set) == 0 else { return [] }
        return (0..<1024).filter { islet_has_processor(&set, $0) == 1 }
    }

    /// On a thread of its own, whose processors are nobody else's business.
    private func onThread<Found: Sendable>(_ body: @escaping @Sendable () throws -> Found) throws -> Found {
        let found = Mutex<Result<Found, any Error>?>(nil)
        try SystemThread { found.withLock { $0 = Result(catching: body) } }.join()
        return try #require(found.withLock { $0 }).get()
    }

    private static func answer(_ shared: inout SharedProcessor, _ process: pid_t, microseconds: Int64) {
        for _ in 0..<200 { shared.note(microseconds * 1000, of: process) }
    }

    @Test func bothRunWhereOneRunsWhileAnswersAreQuickAndAnywhereAfterwards() throws {
        try onThread {
            let family = try Family()
            let members = ProcessFamily.members(of: family.number)
            #expect(members.count == 3)
            let before = Self.allowed(0)
            try #require(!before.isEmpty)
            var shared = SharedProcessor(.init())
            for ending in ["slow answers", "one that is awaited", "the end"] {
                Self.answer(&shared, family.number, microseconds: 20)
                let processor = try #require(shared.processor)
                #expect(Self.allowed(0) == [processor])
                for member in members { #expect(Self.allowed(member) == [processor]) }
                switch ending {
                case "slow answers": Self.answer(&shared, family.number, microseconds: 5000)
                case "one that is awaited": shared.keepsWaiting(family.number)
                default: shared.part(from: family.number)
                }
                #expect(shared.processor == nil)
                for member in [0] + members { #expect(Self.allowed(member) == before, "after \(ending)") }
                // Once in a session is enough: what takes long once a day does so again.
                Self.answer(&shared, family.number, microseconds: 20)
                #expect((shared.processor == nil) == (ending != "the end"), "after \(ending)")
                shared.part(from: family.number)
            }
        }
    }

    /// Where several threads may work at an answer, one processor would make it late.
    @Test func whoAnswersSlowlyIsLeftAlone() throws {
        try onThread {
            let family = try Family()
            let before = Self.allowed(0)
            var shared = SharedProcessor(.init())
            Self.answer(&shared, family.number, microseconds: 300)
            #expect(shared.processor == nil)
            for member in [0] + ProcessFamily.members(of: family.number) {
                #expect(Self.allowed(member) == before)
            }
            // Nor is one slow answer among quick ones the end of it.
            Self.answer(&shared, family.number, microseconds: 20)
            shared.note(3_000_000, of: family.number)
            #expect(shared.processor != nil)
            shared.part(from: family.number)
        }
    }

    @Test func noTwoThreadsChooseTheSameAndWhoFindsNoneIsLeftAlone() throws {
        let taken = SharedProcessor.Taken()
        // Each thread keeps its own until the last has chosen.
        let count = try onThread { Self.allowed(0).count }
        let chosen = Mutex<[Int32?]>([])
        let (all, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let families = try (0...count).map { _ in try Family() }
        let threads = try families.map(\.number).map { process in
            try SystemThread {
                var shared = SharedProcessor(taken)
                Self.answer(&shared, process, microseconds: 20)
                chosen.withLock { $0.append(shared.processor) }
                all.signal()
                go.wait()
                shared.part(from: process)
            }
        }
        for _ in threads { all.wait() }
        for _ in threads { go.signal() }
        for thread in threads { thread.join() }
        let found = chosen.withLock { $0 }
        #expect(Set(found.compactMap(\.self)).count == count)
        // Where there is one processor nobody has anything to choose.
        #expect(found.count { $0 == nil } == (count == 1 ? 0 : 1))
        // What was let go of is free again.
        try onThread {
            let family = try Family()
            var shared = SharedProcessor(taken)
            Self.answer(&shared, family.number, microseconds: 20)
            #expect(shared.processor != nil)
            shared.part(from: family.number)
        }
    }

    /// As where somebody has bound the whole run to one, or the thread shares one with another program already.
    @Test func aThreadWithOneProcessorKeepsIt() throws {
        try onThread {
            let families = try [Family(), Family()]
            let before = Self.allowed(0)
            let only = try #require(before.last)
            var one = islet_one_processor(only)
            #expect(islet_set_processors(0, &one) == 0)
            var shared = [SharedProcessor(.init()), SharedProcessor(.init())]
            for place in shared.indices {
                Self.answer(&shared[place], families[place].number, microseconds: 20)
                #expect(shared[place].processor == only)
                #expect(Self.allowed(families[place].number) == [only])
            }
            for place in shared.indices {
                shared[place].part(from: families[place].number)
                for member in ProcessFamily.members(of: families[place].number) {
                    #expect(Self.allowed(member) == before)
                }
            }
            #expect(Self.allowed(0) == [only])
        }
    }

    @Test func aProgramThatIsGoneHarmsNobody() throws {
        try onThread {
            let before = Self.allowed(0)
            let gone = try Family().number
            var shared = SharedProcessor(.init())
            Self.answer(&shared, gone, microseconds: 20)
            shared.part(from: gone)
            #expect(Self.allowed(0) == before)
        }
    }
}
