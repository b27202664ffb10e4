// From a session's outbox to a driver and back: drivers and feeds that misbehave.

import DeviceLinks
import Foundation
import Glibc
import IsletKernel
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

private final class Counter: Sendable {
    private let count = Mutex(0)
    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
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

/// One whose time doesn't pass before a command is handed over: a machine that is busy may take its time.
private func patientLink(_ driver: FakeDriver, _ answers: Answers, timeout: Duration = .seconds(20))
    -> PumpLink
{
    let began = ContinuousClock.now
    return PumpLink(driver: driver, timeout: timeout, now: { began }, answer: answers.take)
}

@Suite("The link to a pump", .timeLimit(.minutes(45))) struct PumpLinkTests {
    @Test func aDriverHasOneCommandAtATimeAndEachHasOneAnswer() async {
        let (driver, answers) = (
            FakeDriver { command in
                try await Task.sleep(for: .milliseconds(5))
                return report(command.number)
            }, Answers()
        )
        let link = patientLink(driver, answers)
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
        let link = patientLink(driver, answers, timeout: .milliseconds(100))
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

    /// The process was stopped between taking a command and handing it over: it is of hours ago.
    @Test func whatIsHandedOverHoursLateNeverReachesTheDriver() async {
        let (driver, answers) = (FakeDriver { report($0.number) }, Answers())
        let (began, calls) = (ContinuousClock.now, Counter())
        let link = PumpLink(
            driver: driver, timeout: .seconds(20),
            now: { calls.next() == 1 ? began : began + .seconds(7200) }, answer: answers.take)
        link.send(LinkCommand(number: 1, act: .bolus(id: 1, units: 6)))
        let heard = await answers.wait(for: 1)
        #expect(heard == [.failed(number: 1, wasSent: false, reason: "its time has passed")])
        #expect(driver.calls.withLock { $0 } == [])
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
        let link = patientLink(driver, answers)
        for number in 0..<4 { link.send(LinkCommand(number: Int64(number), act: .readStatus)) }
        let wasSent = await answers.wait(for: 4).map { answer -> Bool? in
            if case .failed(_, let wasSent, _) = answer { wasSent } else { nil }
        }
        #expect(wasSent == [true, true, true, false])
    }

    /// At pace 60 a sensor's five minutes are five seconds of its clock.
    @Test func readingsOfAFastWorldAreNoFlood() async {
        struct Fast: GlucoseFeed {
            func readings() -> AsyncThrowingStream<FedReading, any Error> {
                AsyncThrowingStream { continuation in
                    for number in 0..<20 {
                        continuation.yield(
                            FedReading(utcNanoseconds: Int64(number) * 5 * Nanoseconds.second, mgdl: 100))
                    }
                    continuation.finish()
                }
            }
        }
        let taken = Mutex(0)
        let link = GlucoseLink(speed: 60) { _ in taken.withLock { $0 += 1 } }
        link.run(Fast(), pause: .seconds(60))
        for _ in 0..<500 where taken.withLock({ $0 }) < 20 { try? await Task.sleep(for: .milliseconds(10)) }
        link.stop()
        #expect(taken.withLock { $0 } == 20 && link.dropped == 0)
    }

    /// Stamps that march on are no reason to believe that a sensor measures a thousand times a second.
    @Test func aFeedThatFloodsWithNewStampsIsCut() {
        let time = Mutex(ContinuousClock.now)
        let taken = Mutex(0)
        let link = GlucoseLink(now: { time.withLock { $0 } }) { _ in taken.withLock { $0 += 1 } }
        for number in 0..<100_000 {
            link.hear(FedReading(utcNanoseconds: Int64(number) * Nanoseconds.minute, mgdl: 100))
        }
        #expect(taken.withLock { $0 } == 300)
        time.withLock { $0 += .seconds(300) }
        for number in 100_000..<200_000 {
            link.hear(FedReading(utcNanoseconds: Int64(number) * Nanoseconds.minute, mgdl: 100))
        }
        #expect(taken.withLock { $0 } == 310)
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
        for _ in 0..<6000 where link.dropped < 40_000 { try? await Task.sleep(for: .milliseconds(10)) }
        link.stop()
        let times = taken.withLock { $0 }
        #expect(times.count == 300 && Set(times).count == times.count)
    }
}
