// What the kernel tells of a process and what it has started.
//
// Guarantees: children of children, and of any thread, are of the family; what is gone meanwhile is left out, or counts as nothing. Does not: find who was left by their parent.

import Foundation
import Glibc

enum ProcessFamily {
    /// A process, its children, and theirs.
    static func members(of process: pid_t) -> [pid_t] {
        var (members, next) = ([process], 0)
        while next < members.count {
            for thread in threads(of: members[next]) {
                let children = text("/proc/\(members[next])/task/\(thread)/children")
                members += children.split(separator: " ").compactMap { pid_t($0) }
            }
            next += 1
        }
        return members
    }

    /// The threads of a process.
    static func threads(of process: pid_t) -> [pid_t] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
        return names?.compactMap { pid_t($0) } ?? []
    }

    /// The memory of a process and what it has started, where it is above `limit`; nil where it isn't. What several share, as a fork and who made it do, counts once.
    static func bytes(of process: pid_t, above limit: Int) -> Int? {
        let members = members(of: process)
        // To be asked for shares the kernel goes through all pages: only where all resident pages would be too many.
        guard members.reduce(0, { $0 + resident($1) }) > limit else { return nil }
        let bytes = members.reduce(0) { $0 + (share($1) ?? resident($1)) }
        return bytes > limit ? bytes : nil
    }

    private static func resident(_ process: pid_t) -> Int {
        let words = text("/proc/\(process)/statm").split(separator: " ")
        return words.count > 1 ? (Int(words[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) : 0
    }

    /// Resident bytes, those that n share divided by n; nil where the kernel doesn't say.
    private static func share(_ process: pid_t) -> Int? {
        let line = text("/proc/\(process)/smaps_rollup").split(separator: "\n").first { $0.hasPrefix("Pss:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
    }

    private static func text(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { buffer in
            let count = read(file, buffer.baseAddress, buffer.count)
            return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : ""
        }
    }
}
