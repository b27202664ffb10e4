// From a session's outbox to a pump and back: drivers that misbehave, the only wire there is, and who may be at its end.

import DeviceLinks
import Devices
import DriverContract
import Foundation
import Glibc
import LinkedDevices
import SessionTime
import Synchronization
import Testing

/// A driver that does as the test says.
private final class FakeDriver: PumpDriver {
    private let act: @Sendable (LinkCommand) async throws -> PumpReport
    let calls = Mutex<[Int64]>([])
    private let busy = Mutex((now: 0, most: 0))
    var mostAtOnce: Int { busy.withLock { $0.most } }

    init(_ act: @escaping @Sendable (LinkCommand) async throws -> PumpReport) { self.act = act }

    func perform(_ command: LinkCommand) async throws -> PumpReport {
        calls.withLock { $0.append(command.number) }
        busy.withLock {
            $0.now += 1
            $0.most = max($0.most, $0.now)
        }
        defer { busy.withLock { $0.now -= 1 } }
        return try await act(command)
    }
}

private func report(_ number: Int64) -> PumpReport {
    PumpReport(
        number: number, device: "fake", utcNanoseconds: 0, condition: .ready, reservoirUnits: 100,
        basalUnits: 0)
}

private final class Answers: Sendable {
    private let all = Mutex<[PumpLink.Answer]>([])
    func take(_ answer: PumpLink.Answer) { all.withLock { $0.append(answer) } }
    var now: [PumpLink.Answer] { all.withLock { $0 } }
    func wait(for count: Int) async -> [PumpLink.Answer] {
        for _ in 0..<1000 where now.count < count { try? await Task.sleep(for: .milliseconds(10)) }
        return now
    }
}

@Suite("The link to a pump", .timeLimit(.minutes(5))) struct PumpLinkTests {
    @Test func aDriverHasOneCommandAtATimeAndEachHasOneAnswer() async {
        let (driver, answers) = (
            FakeDriver { command in
                try await Task.sleep(for: .milliseconds(5))
                return report(command.number)
            }, Answers()
        )
        let link = PumpLink(driver: driver, answer: answers.take)
        for number in 0..<20 { link.send(LinkCommand(number: Int64(number), act: .readStatus)) }
        let heard = await answers.wait(for: 20)
        #expect(heard == (0..<20).map { .report(report(Int64($0))) })
        #expect(driver.mostAtOnce == 1)
    }

    @Test func aDriverThatHangsIsHandedNothingMoreAndWhatItSaysLaterIsHeard() async {
        let gate = Mutex(false)
        let answers = Answers()
        let driver = FakeDriver { command in
            // It doesn't hear that it is cancelled.
            while !gate.withLock({ $0 }) { usleep(2000) }
            return report(command.number)
        }
        let link = PumpLink(driver: driver, timeout: .milliseconds(100), answer: answers.take)
        link.send(LinkCommand(number: 1, act: .bolus(id: 1, units: 1)))
        link.send(LinkCommand(number: 2, act: .readStatus))
        var heard = await answers.wait(for: 2)
        guard heard.count == 2, case .failed(1, wasSent: true, _) = heard[0],
            case .failed(2, wasSent: false, _) = heard[1]
        else {
            Issue.record("\(heard)")
            return
        }
        link.send(LinkCommand(number: 3, act: .readStatus))
        heard = await answers.wait(for: 3)
        if case .failed(3, wasSent: false, _) = heard[2] {} else { Issue.record("\(heard)") }
        #expect(driver.calls.withLock { $0 } == [1])
        gate.withLock { $0 = true }
        heard = await answers.wait(for: 4)
        #expect(heard.last == .report(report(1)))
        link.send(LinkCommand(number: 4, act: .readStatus))
        heard = await answers.wait(for: 5)
        #expect(heard.last == .report(report(4)))
    }

    @Test func whatMayHaveLeftIsNeverCalledUnsent() async {
        struct Odd: Error {}
        let answers = Answers()
        let driver = FakeDriver { command in
            switch command.number {
            case 0: throw Odd()
            case 1: throw PumpDriverError.noAnswer("gone")
            case 2: throw CancellationError()
            default: throw PumpDriverError.notSent("no port")
            }
        }
        let link = PumpLink(driver: driver, answer: answers.take)
        for number in 0..<4 { link.send(LinkCommand(number: Int64(number), act: .readStatus)) }
        let wasSent = await answers.wait(for: 4).map { answer -> Bool? in
            if case .failed(_, let wasSent, _) = answer { wasSent } else { nil }
        }
        #expect(wasSent == [true, true, true, false])
    }

    @Test func aFeedThatFloodsIsCutToWhatASensorMeasures() async {
        struct Flood: GlucoseFeed {
            func readings() -> AsyncThrowingStream<FedReading, any Error> {
                AsyncThrowingStream { continuation in
                    for number in 0..<20_000 {
                        continuation.yield(
                            FedReading(utcNanoseconds: Int64(number % 10_000) * Nanoseconds.second, mgdl: 100)
                        )
                    }
                    continuation.finish()
                }
            }
        }
        let taken = Mutex<[Int64]>([])
        let link = GlucoseLink { reading in taken.withLock { $0.append(reading.utcNanoseconds) } }
        link.run(Flood(), pause: .milliseconds(10))
        for _ in 0..<500 where link.dropped < 40_000 { try? await Task.sleep(for: .milliseconds(10)) }
        link.stop()
        let times = taken.withLock { $0 }
        #expect(times.count == 334 && Set(times).count == times.count)
    }
}

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
        return LoopbackPumpDriver(PumpAddress(port: peer.port), timeoutSeconds: 2)
    }

    func breakNext(_ fault: PumpDriverContract.LinkFault) async { next.withLock { $0 = fault } }
    func boluses() async -> [(id: Int64, units: Double)] { world.withLock { $0?.pump.boluses ?? [] } }
}

extension Duration {
    fileprivate var wholeNanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}

@Suite("The loopback driver", .timeLimit(.minutes(5))) struct LoopbackDriverTests {
    @Test func keepsTheContract() async {
        #expect(await PumpDriverContract.findings(LoopbackSubject()) == [])
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
        "unix:/tmp/pump", "usb:0", "https://pump.example", "9000", "", "loopback:٩٠٠٠", "loopback: 9000",
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
    let port: UInt16
    private let listener: Int32

    init(_ answer: @escaping @Sendable (String) -> String) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 8) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard isOpen else { throw POSIXError(.EIO) }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
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

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }
}
