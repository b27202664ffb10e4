// Since when a pump gives nothing, as the ward says it.

import IsletDevices
import IsletKernel
import Testing

@testable import IsletLive

/// Harm: whoever looks at a ward takes insulin for having stopped later than it did.
@Suite struct DryPumpTests {
    private let memory = SessionMemory()
    private let facts = SessionView.Facts(
        "dry", SessionFile(name: "Dry", studyPath: nil, origin: .own))

    /// A look at the pump, with what had left it.
    private func look(_ minutes: Int64, _ units: Double, _ condition: PumpStatus.Condition) -> SessionView {
        var snapshot = LiveSnapshot()
        snapshot.now = .start.adding(minutes * Nanoseconds.minute)
        let pump = PumpStatus(
            condition: condition, isConnected: true, reservoir: InsulinAmount(units: 60))
        snapshot.pump = pump
        var insulin = PumpLedgerUnits(nil)
        insulin.basal = units
        snapshot.insulin = insulin
        memory.take(InsulinLook(at: snapshot.now, given: insulin, isDry: pump.givesNothing))
        return SessionView(facts, snapshot, .real, isFrozen: false, memory.now)
    }

    @Test func itIsWhenItWasLastSeenToGiveAndNotTheNextLookAtItsAccount() {
        #expect(look(0, 0, .ready).noInsulinSince == nil)
        #expect(look(5, 0.1, .ready).noInsulinSince == nil)
        #expect(look(6, 0.1, .ready).noInsulinSince == nil)
        #expect(look(7, 0.15, .fault).noInsulinSince == .minutes(6))
        // The account comes to what had left it by then.
        #expect(look(10, 0.16, .fault).noInsulinSince == .minutes(6))
        #expect(look(40, 0.16, .noPod).noInsulinSince == .minutes(6))
        #expect(look(41, 0.16, .ready).noInsulinSince == nil)
        #expect(look(45, 0.3, .ready).noInsulinSince == nil)
        #expect(look(46, 0.3, .suspended).noInsulinSince == .minutes(45))
        #expect(look(50, 0.4, .ready).noInsulinSince == nil)
        // Hours between two looks, as at pace max, are not taken for hours without insulin.
        #expect(look(200, 3, .suspended).noInsulinSince == .minutes(195))
    }
}
