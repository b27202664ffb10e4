// What a ledger makes of what a step is told.

import Foundation
@testable import IsletLoop
import IsletDevices
import IsletKernel
import Testing

@Suite("A ledger of insulin")
struct InsulinLedgerTests {
    private func units(_ amount: Double) -> InsulinAmount { InsulinAmount(units: amount) }

    @Test("keeps kinds apart, cell by cell, for eight hours")
    func kinds() {
        var ledger = InsulinLedger()
        let first = stepInput(meal: 50, manual: 1, at: .start)
        ledger.take(first)
        ledger.note(meal: units(6), of: first)
        ledger.note(own: units(0.3), of: first)
        #expect((ledger.meals[0], ledger.manual[0], ledger.own[0]) == (5, 1, 0.3))
        ledger.take(stepInput(at: .minutes(10)))
        #expect(ledger.boluses(2) == 6.3 && ledger.boluses(0) == 0 && ledger.known == 3)
        ledger.take(stepInput(at: .minutes(475)))
        #expect(ledger.sum == 6.3)
        ledger.take(stepInput(at: .minutes(480)))
        #expect(ledger.sum == 0 && ledger.known == InsulinLedger.cells)
    }

    @Test("counts nothing of its own without a pump, and by hand alone in open loop")
    func notGiven() {
        var ledger = InsulinLedger()
        let unavailable = stepInput(at: .start, isPumpAvailable: false)
        ledger.take(unavailable)
        ledger.note(own: units(1), of: unavailable)
        #expect(ledger.sum == 0)
        var open = stepInput(meal: 50, manual: 1, at: .minutes(5))
        open.isOpenLoop = true
        ledger.take(open)
        ledger.note(meal: units(6), of: open)
        ledger.note(own: units(1), of: open)
        #expect(ledger.sum == 1 && ledger.manual[0] == 1)
    }

    @Test("takes out of its step's cell what never came")
    func takenBack() {
        var ledger = InsulinLedger()
        let first = stepInput(meal: 40, manual: 1, at: .start)
        ledger.take(first)
        ledger.note(meal: units(5), of: first)
        ledger.note(own: units(0.5), of: first)
        var later = stepInput(at: .minutes(15))
        later.shortfall = Shortfall(algorithmTime: 0, amount: units(0.2))
        later.dropped = Shortfall(algorithmTime: 0, amount: units(3), manual: units(1))
        ledger.take(later)
        #expect((ledger.own[3], ledger.meals[3], ledger.manual[3]) == (0.3, 2, 0))
        // What is older than it knows is no matter.
        later = stepInput(at: .minutes(500))
        later.shortfall = Shortfall(algorithmTime: 0, amount: units(0.3))
        ledger.take(later)
        #expect(ledger.sum == 0)
    }

    @Test("spreads what the pump gave over the time in which it flowed, and what was withheld comes now")
    func flowed() {
        var ledger = InsulinLedger()
        ledger.take(stepInput(at: .start))
        var input = stepInput(at: .minutes(20))
        input.pumpBasal = PumpBasal(amount: units(0.5), since: .minutes(8), withheld: units(0.2))
        ledger.take(input)
        let cells = (0..<5).map { ledger.basal[$0] }
        for (cell, expected) in zip(cells, [0, 0.125, 0.125, 0.05, 0]) {
            #expect(abs(cell - expected) < 1e-12)
        }
        #expect(ledger.own[0] == 0.2)
    }

    @Test("that begins in the middle of a day has the hours before, as they were given")
    func history() {
        var input = stepInput(at: .minutes(600))
        input.earlier = InsulinHistory(
            since: .minutes(540),
            given: [
                GivenInsulin(
                    amount: units(4), userRequested: units(3), manual: units(1), since: .minutes(570),
                    until: .minutes(575)),
                GivenInsulin(amount: units(1.2), since: .minutes(540), until: .minutes(600)),
            ])
        var ledger = InsulinLedger()
        ledger.take(input)
        #expect(abs(ledger.sum - 5.2) < 1e-12 && ledger.known == 13)
        #expect(abs(ledger.meals[6] - 2) < 1e-12 && abs(ledger.manual[6] - 1) < 1e-12)
        #expect(abs(ledger.own[6] - 1.1) < 1e-12 && abs(ledger.own[1] - 0.1) < 1e-12)
    }

    @Test("survives being written down, and refuses more numbers than it has cells")
    func coded() throws {
        var ledger = InsulinLedger()
        let input = stepInput(meal: 50, at: .minutes(40))
        ledger.take(input)
        ledger.note(meal: units(5), of: input)
        ledger.take(stepInput(at: .minutes(50)))
        let data = try JSONEncoder().encode(ledger)
        var again = try JSONDecoder().decode(InsulinLedger.self, from: data)
        #expect(again == ledger && again.sum > 0)
        #expect(data.count < 300)
        // Harm: what was on board before an upgrade never ages, and no insulin is given.
        let later = stepInput(at: .minutes(90))
        ledger.take(later)
        again.take(later)
        #expect(again == ledger && again.sum > 0 && again.boluses(0) == 0)
        again.take(stepInput(at: .minutes(900)))
        #expect(again.sum == 0)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(FixedCells<2>.self, from: Data("[1,2,3]".utf8))
        }
    }
}
