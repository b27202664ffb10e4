// A bolus that the person stops before the pump has given it.

import IsletDevices
import DeviceLinks
import Foundation
import IsletKernel
import Testing
import IsletTrials

@testable import IsletLive

extension LinkedSessionTests {
    /// She stops a bolus while its command is on its way: hardly any of it is given, and the story doesn't say that it was.
    @Test func aBolusThatIsStoppedOnItsWayIsNotGiven() throws {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: 29)
            world.announceMeal()
            while world.session.snapshot.pump?.unresolvedRequest == nil, world.session.now < .minutes(36) {
                try world.live(to: world.session.now.adding(Nanoseconds.second / 4))
            }
            #expect(world.session.snapshot.pump?.unresolvedRequest != nil)
            let stopped = world.session.take(LiveCommand(.cancelBolus), at: world.session.now)
            #expect(stopped.outcome == .taken)
            try world.live(untilMinute: 60)
            // 6.6 U were asked for; the steps before and after give some 2 U.
            #expect(world.simulator.boluses.contains { $0.units > 6 })
            #expect(world.simulator.bolusUnits < 3, "\(world.simulator.bolusUnits) U")
            #expect(try LiveReplay(try JournalContent.read(world.path)).divergence == nil)
        }
    }

    /// She stops it before it has left: what waits behind another command never leaves, nor does it after a death of the program.
    @Test(arguments: [false, true]) func aBolusThatIsStoppedWhileItWaitsNeverLeaves(dies: Bool) throws {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(to: .minutes(30).adding(-5 * Nanoseconds.second))
            world.announceMeal()
            // What is in flight when the step asks for its bolus lets that wait.
            world.fate = { $0.act == .resume ? .silent : .answered }
            #expect(world.session.take(LiveCommand(.resume), at: world.session.now).outcome == .taken)
            func isUnderWay() -> Bool { world.session.snapshot.pump?.unresolvedRequest != nil }
            while !isUnderWay(), world.session.now < .minutes(30).adding(24 * Nanoseconds.second) {
                try world.live(to: world.session.now.adding(Nanoseconds.second / 4))
            }
            try #require(isUnderWay())
            func left() throws -> [Double] {
                try JournalContent.read(world.path).lines.compactMap {
                    guard case .command(_, let json) = $0 else { return nil }
                    let command = try JSONDecoder().decode(LinkCommand.self, from: Data(json.utf8))
                    guard case .bolus(_, let units) = command.act, units > 6 else { return nil }
                    return units
                }
            }
            #expect(try left().isEmpty)
            #expect(world.session.take(LiveCommand(.cancelBolus), at: world.session.now).outcome == .taken)
            // It is over at once: nothing is waited for.
            #expect(!isUnderWay())
            if dies { world.fate = { _ in world.lives == 1 ? .diesBefore : .answered } }
            try world.live(untilMinute: 60)
            #expect(world.lives == (dies ? 2 : 1))
            #expect(try left().isEmpty)
            #expect(world.simulator.boluses.allSatisfy { $0.units < 1 }, "\(world.simulator.boluses)")
            #expect(try LiveReplay(try JournalContent.read(world.path)).divergence == nil)
        }
    }
}
