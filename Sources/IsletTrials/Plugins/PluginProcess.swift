// A child process that answers: started, spoken to, ended.
//
// Guarantees: it has a process group of its own, a pipe for each of its standard descriptors, and no other; its environment is a short
// list, one thread a library, a fixed hash seed, UTC and the C locale. What it writes to standard error is read and bounded. When this goes, or the program leaves, its whole
// group has been killed and waited for. Whatever it does, a call returns: with bytes, with a cause, or after the timeout.
// Does not: keep it from the network or from files; `--allow-algorithm` is somebody's word that it may run.

import CIslet
import Foundation
import Glibc
import IsletFiles
import Synchronization

/// Used by one thread at a time.
final class PluginProcess: @unchecked Sendable {
    /// More of standard error than this is a failure.
    static let mostError = 1 << 20
    /// How long one wait lasts before the rest is looked at, ms.
    private static let slice = 50

    let program: String
    private let pid: pid_t
    private let (toChild, fromChild, error): (Int32, Int32, Int32)
    /// The thread that has put off SIGPIPE, which a write to a program that is gone would raise.
    private var calmed: UInt = 0
    private let memoryBytes: Int
    private let timeout: Int64
    private var errorBytes = 0
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    private var errorTail: [UInt8] = []
    private var isOver = false
    private var calls = 0
    private(set) var shared = SharedProcessor()
    /// What has been read and not been taken.
    private(set) var input: [UInt8] = []

    /// All that run, for whoever leaves.
    private static let running = Mutex<Set<pid_t>>([])
    private static let endsWithProgram: Bool = {
        atexit { PluginProcess.running.withLock { for pid in $0 { kill(-pid, SIGKILL) } } }
        return true
    }()

    /// - Parameters:
    ///   - command: program and arguments; a program without a slash is looked up in PATH.
    ///   - timeout: of a call, ns.
    /// - Throws: `PluginFailure` where it can't be started.
    init(
        _ command: [String], program: String, memoryBytes: Int, timeout: Int64, python: String?
    ) throws(PluginFailure) {
        (self.program, self.memoryBytes, self.timeout) = (program, memoryBytes, timeout)
        _ = Self.endsWithProgram
        var (child, input, output, said): (pid_t, Int32, Int32, Int32) = (0, -1, -1, -1)
        var words = command.map { strdup($0) } + [nil]
        var variables = Self.environment(python: python).map { strdup($0) } + [nil]
        defer { for text in words + variables { free(text) } }
        let code = islet_spawn(&words, &variables, &child, &input, &output, &said)
        guard code == 0 else {
            throw PluginFailure(
                program: program,
                cause: "can't be started (\(command.first ?? "nothing")): \(String(cString: strerror(code)))")
        }
        (pid, toChild, fromChild, error) = (child, input, output, said)
        Self.running.withLock { _ = $0.insert(child) }
    }

    deinit {
        stop()
        buffer.deallocate()
    }

    /// What a child sees of the environment.
    static func environment(python: String?) -> [String] {
        let kept = [
            "PATH", "HOME", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "NODE_PATH", "R_LIBS",
            "JULIA_DEPOT_PATH",
        ]
        let own = ProcessInfo.processInfo.environment
        var list = kept.compactMap { name in own[name].map { "\(name)=\($0)" } }
        if own["PATH"] == nil { list.append("PATH=/usr/local/bin:/usr/bin:/bin") }
        let path = [own["PYTHONPATH"], python].compactMap(\.self).joined(separator: ":")
        if !path.isEmpty { list.append("PYTHONPATH=\(path)") }
        for name in ["OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM", "JULIA", "RAYON"] {
            list.append("\(name)_NUM_THREADS=1")
        }
        return list + [
            "LC_ALL=C.UTF-8", "TZ=UTC", "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1",
            "PYTHONUNBUFFERED=1", "ISLET_PLUGIN=islet-step/1",
        ]
    }

    // MARK: Calls

    /// Sends `bytes`, then reads until `whole` finds what it looks for in what has been read and not been taken, and says where it ends.
    /// - Parameters:
    ///   - place: where the sessions stand, for messages.
    ///   - isAsked: whether it is a step that it answers, as thousands will follow.
    func call<Answer>(
        _ bytes: [UInt8], at place: () -> String, isAsked: Bool = false,
        _ whole: ([UInt8]) throws(PluginFrame.NoFrame) -> (Answer, end: Int)?
    ) throws -> Answer {
        let began = CallClock.nanoseconds()
        calls += 1
        calmSignals()
        if calls & 255 == 0 { try look(place) }
        do {
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes {
                    write(toChild, $0.baseAddress.map { $0 + sent }, $0.count - sent)
                }
                if count > 0 {
                    sent += count
                    continue
                }
                guard errno == EAGAIN || errno == EINTR else { throw ended(place) }
                // What it says meanwhile is taken, so that neither waits for the other.
                if !wait(for: toChild, POLLOUT), wait(for: fromChild, POLLIN, atMost: 0) {
                    try receive(place)
                }
                try look(place)
                try checkTime(since: began, place)
            }
            while true {
                if let (answer, end) = try whole(input) {
                    input.removeFirst(end)
                    if isAsked { shared.note(CallClock.nanoseconds() - began, of: pid) }
                    return answer
                }
                if wait(for: fromChild, POLLIN) {
                    try receive(place)
                } else {
                    // Children of its own may hold its output open after its end.
                    if hasEnded { throw ended(place) }
                    // It may have threads and children at work that one processor would hold up.
                    shared.keepsWaiting(pid)
                    try look(place)
                }
                try checkTime(since: began, place)
            }
        } catch let problem as PluginFrame.NoFrame {
            throw unexpected(problem.text, place)
        }
    }

    /// - Returns: false after a slice.
    private func wait(for descriptor: Int32, _ event: Int32, atMost milliseconds: Int = slice) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        return poll(&waiting, 1, Int32(milliseconds)) > 0
    }

    private func receive(_ place: () -> String) throws {
        let count = read(fromChild, buffer.baseAddress, buffer.count)
        if count > 0 { input += UnsafeRawBufferPointer(rebasing: buffer[..<count]) }
        guard count <= 0 else { return }
        guard count < 0, errno == EINTR else { throw ended(place) }
    }

    /// A write to a program that is gone is an error, not a signal.
    private func calmSignals() {
        let thread = islet_thread()
        guard calmed != thread else { return }
        calmed = thread
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    private func checkTime(since began: Int64, _ place: () -> String) throws {
        guard CallClock.nanoseconds() - began > timeout else { return }
        readError()
        let lines = lastLines
        stop()
        throw PluginTimeout(
            program: program, seconds: timeout / 1_000_000_000, place: place(), lastLines: lines)
    }

    /// Looks after what it writes and what it takes.
    private func look(_ place: () -> String) throws {
        readError()
        if errorBytes > Self.mostError {
            throw failure("more than 1 MiB on standard error", place)
        }
        if let used = ProcessFamily.bytes(of: pid, above: memoryBytes) {
            throw failure("\(used >> 20) MiB of memory, more than \(memoryBytes >> 20)", place)
        }
    }

    // MARK: Ends

    private func failure(_ cause: String, _ place: () -> String) -> PluginFailure {
        readError()
        let lines = lastLines
        stop()
        return PluginFailure(program: program, cause: cause, place: place(), lastLines: lines)
    }

    /// What was read is not of the protocol: shown, at most 200 bytes.
    private func unexpected(_ what: String, _ place: () -> String) -> PluginFailure {
        let shown = input.prefix(200).map { byte in
            byte >= 0x20 && byte < 0x7F
                ? String(UnicodeScalar(byte))
                : "\\x" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
        return failure("\(what) on standard output: \(shown)", place)
    }

    private func ended(_ place: () -> String) -> PluginFailure {
        let half = input.isEmpty ? "" : " in the middle of an answer"
        let how = waitForEnd()
        return failure(how + half, place)
    }

    private var hasEnded: Bool {
        var info = siginfo_t()
        return waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_signo == SIGCHLD
    }

    /// How it ended, at most a second later; it is killed then.
    private func waitForEnd() -> String {
        for _ in 0..<200 {
            var status: Int32 = 0
            if waitpid(pid, &status, WNOHANG) == pid {
                isOver = true
                let signal = status & 0x7F
                guard signal == 0 else { return "was killed by signal \(signal) (\(Self.name(signal)))" }
                return "left with exit code \((status >> 8) & 0xFF)"
            }
            usleep(5000)
        }
        return "closed its standard output"
    }

    private static func name(_ signal: Int32) -> String {
        switch signal {
        case SIGSEGV: "SIGSEGV"
        case SIGKILL: "SIGKILL"
        case SIGABRT: "SIGABRT"
        case SIGTERM: "SIGTERM"
        case SIGFPE: "SIGFPE"
        case SIGILL: "SIGILL"
        case SIGBUS: "SIGBUS"
        default: String(cString: strsignal(signal))
        }
    }

    /// The session is over that it was asked for: what the next one is judged by begins anew.
    func part() {
        shared.part(from: pid)
        readError()
        (errorBytes, errorTail) = (0, [])
    }

    /// Kills its group and waits for it. Safe to call twice.
    func stop() {
        shared.part(from: pid)
        guard Self.running.withLock({ $0.remove(pid) }) != nil else { return }
        kill(-pid, SIGKILL)
        if !isOver {
            kill(pid, SIGKILL)
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        }
        close(toChild)
        close(fromChild)
        close(error)
    }

    // MARK: What it writes and takes

    private func readError() {
        withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 16) { buffer in
            while errorBytes <= Self.mostError {
                let count = read(error, buffer.baseAddress, buffer.count)
                guard count > 0 else { return }
                errorBytes += count
                errorTail += UnsafeRawBufferPointer(rebasing: buffer[..<count])
                if errorTail.count > 1 << 16 { errorTail.removeFirst(errorTail.count - (1 << 15)) }
            }
        }
    }

    private var lastLines: [String] {
        String(decoding: errorTail, as: UTF8.self).split(separator: "\n").suffix(20).map {
            String($0.prefix(400))
        }
    }
}

/// The time by which a call's timeout passes.
private enum CallClock {
    static func nanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
