// An account changes by its verbs alone, and each of them keeps its balance.

import Foundation
import IsletKernel
import Testing

@testable import IsletModels

@Suite("The pump's account")
struct PumpLedgerTests {
    @Test(
        "is balanced after each verb, in any order, and loses no pulse that left the reservoir",
        arguments: 0..<20)
    func balance(seed: Int) {
        var stream = RandomStreams(seed: UInt64(seed), subject: 0).stream("ledger")
        func number(_ bound: Int64) -> Int64 { bound <= 0 ? 0 : Int64(stream.next() % UInt64(bound + 1)) }
        var ledger = PumpLedger()
        var (asked, pushed, own): (Int64, Int64, Int64) = (0, 0, 0)
        for _ in 0..<2000 {
            let pulses = number(40)
            switch stream.next() % 10 {
            case 0:
                ledger.refuse(pulses)
                asked += pulses
            case 1:
                ledger.miss(pulses)
                asked += pulses
            case 2, 3:
                ledger.push(bolus: pulses, leaking: number(pulses))
                asked += pulses
                pushed += pulses
            case 4:
                ledger.hold(bolus: pulses)
                asked += pulses
                pushed += pulses
            case 5: ledger.cutShort(delivered: number(ledger.delivered), held: number(ledger.held))
            case 6:
                ledger.push(basal: pulses, leaking: number(pulses))
                own += pulses
            case 7:
                ledger.hold(basal: pulses)
                own += pulses
            case 8: ledger.block(flowing: number(ledger.delivered), leaking: number(ledger.lost))
            default: if stream.next() % 2 == 0 { ledger.release() } else { ledger.discardHeld() }
            }
            #expect(ledger.isBalanced && ledger.requested == asked && ledger.allBasal == own)
            #expect(ledger.delivered + ledger.lost + ledger.held == pushed)
            for count in [ledger.delivered, ledger.lost, ledger.held, ledger.basal, ledger.basalHeld] {
                #expect(count >= 0)
            }
        }
        #expect(ledger.refused > 0 && ledger.uncertain > 0 && ledger.lost > 0)
    }

    /// Fields were changed in 29 places, and each had to think of the balance.
    @Test("has no field that anything outside of it can set")
    func fields() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
        let file = root.appending(path: "IsletModels/SimulatedDevices/Pump/PumpLedger.swift")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let stored = lines.filter { $0.contains(" var ") && $0.contains(": Int64 = 0") }
        #expect(stored.count == 10 && stored.allSatisfy { $0.contains("public private(set) var") })
    }
}
