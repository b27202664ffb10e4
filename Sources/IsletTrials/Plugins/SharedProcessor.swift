// One processor for a thread that asks and the program that answers.
//
// Guarantees: while a program answers quickly, its main thread, those of what it has started, and the thread that asks it run on one processor, which no other thread of this program has chosen: neither ever
// works while the other does, and to wake somebody on an idle processor takes longer than an answer. Chosen anew for each session, where the system had put the thread meanwhile, so that programs that know
// nothing of each other part. Once an answer takes long (several threads may work at it) all run where they could before, while it is still awaited, and stay so for that session; so they do after the session,
// where no processor is free, and where the system refuses. Who was put elsewhere by somebody else meanwhile stays there.
// Does not: keep anybody else from that processor, nor hide from a program that asks how many it may use.

import CIslet
import Glibc
import Synchronization

/// Used by one thread at a time.
struct SharedProcessor {
    /// Answers that come sooner on average, ns, are quick; those that take longer than the other are slow.
    static let (quick, slow): (Int64, Int64) = (200_000, 1_000_000)

    private struct Shared {
        var processor: Int32
        /// Where the program could run before.
        var program: islet_processors
        /// The thread that asks, and where it could run; nil where that was one processor only, which stays as it is.
        var thread: (number: Int32, processors: islet_processors)?
    }

    /// Of the last answers, some sixteen: nothing is quick before it has been seen to be.
    private var mean = Self.slow
    private var shared: Shared?
    /// The session had an answer that took long.
    private var isOver = false

    /// Processors that threads share with somebody.
    final class Taken: Sendable {
        fileprivate let list = Mutex<Set<Int32>>([])
    }

    private static let ofProgram = Taken()
    private let taken: Taken

    /// - Parameter taken: what threads that must not meet have in common.
    init(_ taken: Taken? = nil) { self.taken = taken ?? Self.ofProgram }

    /// Which processor is shared now, for tests.
    var processor: Int32? { shared?.processor }

    /// An answer has come.
    /// - Parameter process: whose it was.
    mutating func note(_ nanoseconds: Int64, of process: pid_t) {
        guard !isOver else { return }
        mean += (nanoseconds - mean) / 16
        if shared == nil {
            if mean < Self.quick { share(with: process) }
        } else if mean > Self.slow {
            keepsWaiting(process)
        }
    }

    /// An answer takes long, or several do.
    mutating func keepsWaiting(_ process: pid_t) {
        guard shared != nil else { return }
        release(process)
        isOver = true
    }

    /// The session is over.
    mutating func part(from process: pid_t) {
        release(process)
        (isOver, mean) = (false, Self.slow)
    }

    private mutating func share(with process: pid_t) {
        // Tried again where it comes to nothing, but not at once.
        mean = Self.slow
        var (own, program) = (islet_processors(), islet_processors())
        guard islet_get_processors(0, &own) == 0, islet_get_processors(process, &program) == 0 else { return }
        let hasOne = islet_count_processors(&own) == 1
        guard let choice = hasOne ? islet_processor_now() : take(of: &own, &program) else { return }
        var one = islet_one_processor(choice)
        // Where the program may not run nobody puts it.
        guard islet_has_processor(&program, choice) == 1, hasOne || islet_set_processors(0, &one) == 0 else {
            if !hasOne { leave(choice) }
            return
        }
        for member in ProcessFamily.members(of: process) { _ = islet_set_processors(member, &one) }
        shared = Shared(
            processor: choice, program: program, thread: hasOne ? nil : (islet_thread_number(), own))
        mean = Self.quick
    }

    /// Thread and program run where they could before.
    private mutating func release(_ process: pid_t) {
        guard var shared else { return }
        self.shared = nil
        for member in ProcessFamily.members(of: process) {
            for thread in ProcessFamily.threads(of: member) {
                Self.free(thread, of: shared.processor, to: &shared.program)
            }
        }
        guard var thread = shared.thread else { return }
        Self.free(thread.number, of: shared.processor, to: &thread.processors)
        leave(shared.processor)
    }

    /// A thread that has this processor and no other may run on these again.
    private static func free(_ thread: Int32, of processor: Int32, to before: inout islet_processors) {
        var now = islet_processors()
        guard islet_get_processors(thread, &now) == 0, islet_count_processors(&now) == 1,
            islet_has_processor(&now, processor) == 1
        else { return }
        _ = islet_set_processors(thread, &before)
    }

    /// Where this thread runs, or the next that is free, of those that both may have.
    private func take(of own: inout islet_processors, _ program: inout islet_processors) -> Int32? {
        taken.list.withLock { taken in
            func isFree(_ processor: Int32) -> Bool {
                islet_has_processor(&own, processor) == 1 && islet_has_processor(&program, processor) == 1
                    && !taken.contains(processor)
            }
            let here = islet_processor_now()
            guard let choice = isFree(here) ? here : (0..<1024).first(where: isFree) else { return nil }
            taken.insert(choice)
            return choice
        }
    }

    private func leave(_ processor: Int32) { _ = taken.list.withLock { $0.remove(processor) } }
}
