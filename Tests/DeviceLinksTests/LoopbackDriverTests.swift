// The only wire there is to a pump, and who may be at its end.

import DeviceLinks
import Dispatch
import DriverContract
import Foundation
import Glibc
import IsletKernel
import Synchronization
import Testing

/// The project's simulated pump behind a port, for the driver that goes with it.
private final class LoopbackSubject: PumpDriverSubject {
    private let next = Mutex<PumpDriverContract.LinkFault?>(nil)
    private let world = Mutex<(peer: SimulatorPeer, pump: PumpSimulator)?>(nil)

    func makeDriver() async throws -> any PumpDriver {
        let pump = try PumpSimulator()
        let lock = NSLock()
        let began = ContinuousClock().now
        let peer = try SimulatorPeer(fate: { [self] command in
            guard command.act != .readStatus || command.number == 2 else { return .answered }
            let fault = next.withLock { fault in
                defer { fault = nil }
                return fault
            }
            return switch fault {
            case .answerLost: .silent
            case .commandLost: .lost
            case .brokenBefore: .dropped
            case .brokenAfter: .droppedAfter
            case nil: .answered
            }
        }) { command in
            try lock.withLock {
                try pump.perform(
                    command, at: .start.adding(began.duration(to: ContinuousClock().now).wholeNanoseconds))
            }
        }
        world.withLock { $0 = (peer, pump) }
        // The peer proves itself by two simulated days, which takes seconds where other tests run beside.
        return LoopbackPumpDriver(PumpAddress(port: peer.port), timeoutSeconds: 25)
    }

    func breakNext(_ fault: PumpDriverContract.LinkFault) async { next.withLock { $0 = fault } }
    func boluses() async -> [(id: Int64, units: Double)] { world.withLock { $0?.pump.boluses ?? [] } }
}

extension Duration {
    fileprivate var wholeNanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}

/// A thread for tasks whose time is taken: Swift's own are as many as there are cores, and busy with other tests.
private final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "own thread")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

@Suite("The loopback driver", .timeLimit(.minutes(45))) struct LoopbackDriverTests {
    @Test func keepsTheContract() async {
        // Less than the driver's own limit shows that it lets go; all else is for machines that do much beside.
        let patience = PumpDriverContract.Patience(givesUp: 600, letsGo: 20)
        let findings = await withTaskExecutorPreference(OwnThread()) {
            await PumpDriverContract.findings(LoopbackSubject(), patience: patience)
        }
        #expect(findings.isEmpty, "\(findings)")
    }

    /// The process was stopped, or the connection took its time: the meal's bolus is of hours ago.
    @Test func aCommandWhoseTimeHasPassedNeverLeaves() async throws {
        let pump = try PumpSimulator()
        let lock = NSLock()
        let peer = try SimulatorPeer { command in
            try lock.withLock { try pump.perform(command, at: .start) }
        }
        defer { peer.stop() }
        let calls = Mutex(0)
        let begin = ContinuousClock.now
        let driver = LoopbackPumpDriver(PumpAddress(port: peer.port), timeoutSeconds: 5) {
            calls.withLock {
                $0 += 1
                return $0 == 1 ? begin : begin + .seconds(7200)
            }
        }
        await #expect(throws: PumpDriverError.notSent("its time has passed")) {
            try await driver.perform(LinkCommand(number: 1, act: .bolus(id: 1, units: 6)))
        }
        #expect(pump.boluses.isEmpty && pump.arrived.isEmpty)
    }

    /// Whatever the clocks on either side are set to.
    @Test func aReadingComesWithItsAgeByTheSourcesOwnClock() async throws {
        let pump = try PumpSimulator()
        let (clock, minute) = (Int64(5_000) * 3_600_000_000_000, Int64(60_000_000_000))
        let peer = try SimulatorPeer(
            readings: {
                $0 < clock - 2 * minute ? [FedReading(utcNanoseconds: clock - 2 * minute, mgdl: 90)] : []
            },
            clock: { clock }
        ) { try pump.perform($0, at: .start) }
        defer { peer.stop() }
        for try await reading in LoopbackGlucoseFeed(PumpAddress(port: peer.port)).readings() {
            let age = try #require(reading.ageNanoseconds)
            #expect((2 * minute...2 * minute + minute / 2).contains(age), "\(age)")
            break
        }
    }

    /// A driver that breaks the contract is found out.
    @Test func theContractFindsADriverThatSendsAgain() async throws {
        struct Eager: PumpDriver {
            let inner: any PumpDriver
            func perform(_ command: LinkCommand) async throws -> PumpReport {
                do { return try await inner.perform(command) } catch {
                    throw PumpDriverError.notSent("probably")
                }
            }
        }
        struct Subject: PumpDriverSubject {
            let inner = LoopbackSubject()
            func makeDriver() async throws -> any PumpDriver { Eager(inner: try await inner.makeDriver()) }
            func breakNext(_ fault: PumpDriverContract.LinkFault) async { await inner.breakNext(fault) }
            func boluses() async -> [(id: Int64, units: Double)] { await inner.boluses() }
        }
        let findings = await PumpDriverContract.findings(Subject())
        #expect(findings.contains { $0.hasPrefix("answerLost: `notSent`") }, "\(findings)")
    }

    @Test(arguments: [
        "tcp:127.0.0.1:9000", "loopback:", "loopback:0", "loopback:65536", "loopback:-1", "loopback:9000:1",
        "loopback:127.0.0.1", "loopback:192.168.1.7:9000", "localhost:9000", "192.168.1.7:9000", "ble:pod",
        "unix:pump", "usb:0", "https://pump.example", "9000", "", "loopback:٩٠٠٠", "loopback: 9000",
        "LOOPBACK:9000",
    ]) func noOtherTransportOrAddressCanBeSaid(_ text: String) {
        #expect(PumpAddress(text) == nil)
    }

    @Test func aPortOfThisMachineCanBeSaid() { #expect(PumpAddress("loopback:9000")?.port == 9000) }

    /// Peers that are no simulator of ours: what they hear is one challenge, and never a command.
    @Test(arguments: [
        "", "{}", "{\"link\":\"islet\",\"version\":1,\"proof\":\"yes\"}",
        "{\"link\":\"islet\",\"version\":2,\"proof\":\"0\"}", "HTTP/1.1 200 OK", "{\"number\":0}",
    ]) func noOtherPeerIsToldAnything(_ welcome: String) async throws {
        let heard = Mutex<[String]>([])
        let impostor = try RawServer { line in
            heard.withLock { $0.append(line) }
            return welcome
        }
        let driver = LoopbackPumpDriver(PumpAddress(port: impostor.port), timeoutSeconds: 1)
        await #expect(throws: PumpDriverError.self) {
            try await driver.perform(LinkCommand(number: 1, act: .bolus(id: 1, units: 1)))
        }
        do {
            _ = try await driver.perform(LinkCommand(number: 2, act: .bolus(id: 2, units: 1)))
        } catch {
            guard case .notSent = error as? PumpDriverError else {
                Issue.record("\(error)")
                return
            }
        }
        let lines = heard.withLock { $0 }
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains("challenge") && !$0.contains("bolus") })
    }

    @Test func aProofIsOfItsChallengeAlone() {
        let proofs = (0..<20).map { SimulatorProof.answer(to: UInt64($0)) }
        #expect(Set(proofs).count == 20 && !proofs.contains(nil))
        #expect(SimulatorProof.answer(to: 7) == proofs[7])
    }

    /// The sources say so too: one type sends commands, one file opens connections for it, and no address is a parameter.
    @Test func oneDriverSendsCommandsAndOneFileConnects() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        var (drivers, connectors): ([String], [String]) = ([], [])
        for case let file as URL in FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
            ?? FileManager.DirectoryEnumerator()
        where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            if text.contains(#/(class|struct|actor|enum|extension) \w+[^\n{]*: [^\n{]*\bPumpDriver\b/#) {
                drivers.append(file.lastPathComponent)
            }
            if text.contains(#/\bconnect\(/#), text.contains("import Glibc") {
                connectors.append(file.lastPathComponent)
            }
        }
        #expect(drivers == ["LoopbackPumpDriver.swift"])
        #expect(connectors == ["LineSocket.swift"])
    }
}

/// Answers each connection's first line with one line.
private final class RawServer: Sendable {
    private let listener: LoopbackListener
    var port: UInt16 { listener.port }

    init(_ answer: @escaping @Sendable (String) -> String) throws {
        let listener = try LoopbackListener(backlog: 8)
        self.listener = listener
        Thread.detachNewThread {
            while let connection = listener.next() {
                var bytes = [UInt8](repeating: 0, count: 4096)
                let count = recv(connection, &bytes, bytes.count, 0)
                if count > 0 {
                    let reply = Array((answer(String(decoding: bytes[..<count], as: UTF8.self)) + "\n").utf8)
                    _ = send(connection, reply, reply.count, Int32(MSG_NOSIGNAL))
                    // Whatever else it might be told.
                    var time = timeval(tv_sec: 0, tv_usec: 200_000)
                    setsockopt(
                        connection, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
                    let more = recv(connection, &bytes, bytes.count, 0)
                    if more > 0 { _ = answer(String(decoding: bytes[..<more], as: UTF8.self)) }
                }
                close(connection)
            }
        }
    }

    deinit { listener.shutDown() }
}
