// Ten harms, each for hours: whatever becomes of a linked pump's commands, the person has their basal, once.
//
// The algorithm asks for what the programme is, 1.2 U/h, so that all that flows is to be 3.6 U in three hours: at least four fifths less a pulse, and
// no more than half an hour's beyond: a request of unknown fate counts as given, while the programme may run beside it.

import IsletLoop
import DeviceLinks
import IsletDevices
import IsletKernel
import IsletModels
import Testing

@Suite("A person's basal by a linked pump", .timeLimit(.minutes(45))) struct LinkHarmTests {
    private static let programme = 1.2
    private static let pulse = 0.05

    /// - Parameter begin: the first minute of which a window is judged.
    private func check(
        _ bench: LinkBench, from begin: Int, to end: Int, _ name: String,
        at location: SourceLocation = #_sourceLocation
    ) {
        for minute in stride(from: begin, through: end - 180, by: 5) {
            let flow = bench.flow(minute, minute + 180)
            let bounds = 0.8 * 3 * Self.programme - Self.pulse...3.5 * Self.programme + 2 * Self.pulse
            #expect(
                bounds.contains(flow), "\(name): \(flow) U of 3.6 in three hours from minute \(minute)",
                sourceLocation: location)
            if !bounds.contains(flow) { return }
        }
        let ids = bench.simulator.boluses.map(\.id)
        #expect(Set(ids).count == ids.count, "\(name): a bolus was given twice", sourceLocation: location)
    }

    private func isBolus(_ command: LinkCommand) -> Bool {
        if case .bolus = command.act { true } else { false }
    }

    /// Harm: a pump that takes temporary basals and not boluses: 0.00 U of 4.37 U in three hours.
    @Test(arguments: [Fault.failsUnsent, .lost, .failsSent, .silent, .late, .veryLate, .saysUnsent])
    func `boluses alone fail for ten hours`(fault: Fault) throws {
        let bench = try LinkBench()
        bench.fault = { command, now in now.minutes >= 60 && isBolus(command) ? fault : nil }
        try bench.live(untilMinute: 665)
        check(bench, from: 0, to: 660, fault.rawValue)
    }

    /// Harm: commands of unknown fate for a day: a quarter of the basal.
    @Test(arguments: [Fault.lost, .silent, .failsSent, .failsUnsent, .veryLate])
    func `every second command fails for a day`(fault: Fault) throws {
        let bench = try LinkBench()
        var count = 0
        bench.fault = { command, now in
            guard now.minutes >= 60 else { return nil }
            count += 1
            return count.isMultiple(of: 2) ? fault : nil
        }
        try bench.live(untilMinute: 1505)
        check(bench, from: 0, to: 1500, fault.rawValue)
    }

    @Test func `no command arrives for a day`() throws {
        let bench = try LinkBench()
        bench.fault = { _, now in (60..<1500).contains(now.minutes) ? .lost : nil }
        try bench.live(untilMinute: 1685)
        check(bench, from: 0, to: 1680, "lost")
    }

    @Test func `a pump that was never there runs its programme, and its first hours are the person's`() throws
    {
        let bench = try LinkBench()
        bench.fault = { _, now in now.minutes < 600 ? .lost : nil }
        try bench.live(untilMinute: 905)
        check(bench, from: 0, to: 900, "never there")
    }

    /// Harm: the process dies and comes back, again and again.
    @Test(arguments: [Fault.diesBefore, .diesAfter]) func `the program dies at every third command`(
        fault: Fault
    )
        throws
    {
        let bench = try LinkBench()
        var count = 0
        bench.fault = { _, now in
            guard now.minutes >= 60 else { return nil }
            count += 1
            return count.isMultiple(of: 3) ? fault : nil
        }
        try bench.live(untilMinute: 725)
        check(bench, from: 0, to: 720, fault.rawValue)
    }

    @Test func `nobody lives for two hours, twice`() throws {
        let bench = try LinkBench()
        var slept: Set<Int> = []
        bench.fault = { _, now in
            for begin in [100, 300] where now.minutes >= Double(begin) && !slept.contains(begin) {
                slept.insert(begin)
                return .sleeps
            }
            return nil
        }
        try bench.live(untilMinute: 725)
        check(bench, from: 0, to: 720, "asleep")
    }

    @Test func `a session is ended and started seven times`() throws {
        let bench = try LinkBench()
        try bench.live(untilMinute: 120)
        for minute in stride(from: 120, to: 155, by: 5) {
            try bench.live(untilMinute: Int64(minute))
            try bench.executor.inspect {
                try bench.loop.here {
                    $0.endSession()
                    try $0.startSession()
                }
            }
        }
        try bench.live(untilMinute: 545)
        check(bench, from: 0, to: 540, "restarted")
    }

    /// Harm: an app that is installed anew doses beside what the one before had asked for.
    @Test func `the app is installed anew`() throws {
        let pump = try PumpSimulator(
            startUTC: LinkBench.start, basal: InsulinRate(unitsPerHour: Self.programme))
        pump.isOwnable = true
        let first = try LinkBench(simulator: pump, owner: "phone")
        try first.live(untilMinute: 240)
        let again = try LinkBench(simulator: pump, worn: 240 * Nanoseconds.minute, owner: "phone")
        try again.live(untilMinute: 365)
        check(again, from: 0, to: 360, "installed anew")
    }
}
