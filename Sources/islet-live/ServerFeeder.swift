// A thread that asks a server for glucose and hands it to a session.
//
// Guarantees: whatever the server does, the session goes on, and this ends within a moment of being asked to. What is wrong is said once, until it changes.

import DeviceLinks
import IsletFiles
import Foundation
import Glibc
import IsletLive
import Synchronization

final class ServerFeeder: SessionFeeder {
    private let server: any GlucoseServer
    private let start: StudyStart

    init(_ server: any GlucoseServer, start: StudyStart) {
        self.server = server
        self.start = start
    }

    func run(_ host: LiveHost, _ id: String, until isOver: () -> Bool, say: (String) -> Void) {
        var poller = ServerPoller()
        var random = SystemRandomNumberGenerator()
        var problem = ""
        var saidLeftOut = 0
        while !isOver() {
            var wait = ServerPoller.intervalSeconds
            switch ask(poller.count, isOver) {
            case nil: return
            case .success(let found):
                if !problem.isEmpty { say("\(server.endpoint) answers again") }
                problem = ""
                if found.leftOut != saidLeftOut, found.leftOut > 0 {
                    say(
                        "left out: \(found.leftOut) of what \(server.endpoint) answered, which are no readings"
                    )
                }
                saidLeftOut = found.leftOut
                hand(found, &poller, host, id, say)
            case .failure(let error):
                let refusal = error as? ServerRefusal
                wait = poller.fail(refusal, using: &random)
                let reason = refusal?.reason ?? "no answer"
                if reason != problem { say("no glucose from \(server.endpoint): \(reason)") }
                problem = reason
            }
            let end = Self.now() + wait
            while !isOver(), Self.now() < end { usleep(100_000) }
        }
    }

    private func hand(
        _ found: ServerReadings, _ poller: inout ServerPoller, _ host: LiveHost, _ id: String,
        _ say: (String) -> Void
    ) {
        var early = 0
        for reading in poller.take(
            found.readings, nowMilliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        {
            let stamp = (reading.milliseconds - start.unixSeconds * 1000) * 1_000_000
            guard stamp >= 0 else {
                early += 1
                poller.settle(reading)
                continue
            }
            let answer = host.take(
                LiveCommand(.reading(at: stamp, mgdl: reading.mgdl), key: "cgm-\(reading.milliseconds)"),
                for: id)
            // Asked again the next time.
            if answer.isFrozen { return }
            poller.settle(reading)
            if !answer.isRepeated, let refusal = answer.outcome.refusal {
                say("a reading is left out: \(refusal.reason)")
            }
        }
        if early > 0 { say("\(early) readings are from before the session's start") }
    }

    /// nil where it is over.
    private func ask(_ count: Int, _ isOver: () -> Bool) -> Result<ServerReadings, any Error>? {
        let answer = Answer()
        let task = Task { [server] in
            do {
                let found = try await server.newest(count)
                answer.give(.success(found))
            } catch {
                answer.give(.failure(error))
            }
        }
        while true {
            if let found = answer.wait(milliseconds: 100) { return found }
            if isOver() {
                task.cancel()
                return nil
            }
        }
    }

    private static func now() -> Double {
        Double(SystemClocks().continuousNanoseconds()) / 1e9
    }
}

/// From a task to a thread that waits.
private final class Answer: Sendable {
    private let result = Mutex<Result<ServerReadings, any Error>?>(nil)

    func give(_ found: Result<ServerReadings, any Error>) { result.withLock { $0 = found } }

    /// A reading comes every few minutes: a look now and then is soon enough.
    func wait(milliseconds: UInt32) -> Result<ServerReadings, any Error>? {
        if let found = result.withLock({ $0 }) { return found }
        usleep(milliseconds * 1000)
        return result.withLock { $0 }
    }
}
