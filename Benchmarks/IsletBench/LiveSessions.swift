// What a live session weighs.

import Foundation
import IsletKernel
import IsletTrials

enum LiveSessions {
    /// Resident bytes of this process with `count` sessions alive, each a simulated day in.
    static func residentBytes(count: Int) throws -> Int {
        let workload = try Workload()
        let before = resident()
        var sessions: [Session] = []
        sessions.reserveCapacity(count)
        for index in 0..<count {
            let session = try workload.session(index % workload.subjects.count)
            // A body that leaves its range stops there, and weighs what it weighs.
            try? session.advance(to: .minutes(1440))
            sessions.append(session)
        }
        let bytes = resident() - before
        for session in sessions { session.end() }
        return bytes
    }

    private static func resident() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }
}
