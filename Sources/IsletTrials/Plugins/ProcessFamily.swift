// What the kernel tells of a process and its children.
//
// Guarantees: what is gone meanwhile is left out, or counts as nothing. Does not: look at children of children.

import Foundation
import Glibc

enum ProcessFamily {
    /// A process and its children.
    static func members(of process: pid_t) -> [pid_t] {
        let children = text("/proc/\(process)/task/\(process)/children")
        return [process] + children.split(separator: " ").compactMap { pid_t($0) }
    }

    /// The threads of a process.
    static func threads(of process: pid_t) -> [pid_t] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
        return names?.compactMap { pid_t($0) } ?? []
    }

    /// Resident bytes of a process and its children.
    static func residentBytes(of process: pid_t) -> Int {
        members(of: process).reduce(0) { $0 + resident($1) }
    }

    private static func resident(_ process: pid_t) -> Int {
        let words = text("/proc/\(process)/statm").split(separator: " ")
        return words.count > 1 ? (Int(words[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) : 0
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
