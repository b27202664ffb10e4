import Foundation
import IsletModels
import IsletKernel
import Testing

@Suite struct RoomTests {
    static let streams = RandomStreams(seed: 7, subject: 3)
    static let midnight: Int64 = 0

    static func room(
        _ stage: GrowthStage = .vegetative, faults: [RoomFault] = [], mean: Double = 8,
        tolerance: Double = 1e-4, _ change: (inout RoomParameters) -> Void = { _ in }
    ) -> Room {
        var settings = RoomSettings()
        settings.weather.mean = mean
        var parameters = RoomParameters()
        change(&parameters)
        return Room(
            parameters, stage: stage, settings: settings, faults: faults, streams: streams,
            startOfDay: midnight,
            tolerance: tolerance)
    }

    static func hours(_ hours: Double) -> Instant { Instant(nanoseconds: Int64(hours * 3600e9)) }

    // MARK: The equations

    /// The same room by other means: mixing ratios from moles, Euler's midpoint a second, no GSL. Switches are told, not computed.
    private struct OtherRoom {
        var p = RoomParameters()
        var (air, mass, ratio) = (0.0, 0.0, 0.0)

        static func saturation(_ t: Double) -> Double {
            0.6108 * pow(2.718281828459045, 17.27 * t / (t + 237.3))
        }

        func rates(
            _ s: (Double, Double, Double), _ out: (Double, Double),
            _ f: (light: Double, heat: Double, air: Double, mist: Double)
        )
            -> (Double, Double, Double)
        {
            let (t, m, w) = s
            // Moles of vapour a mole of moist air.
            let share = (w / 18.015) / (w / 18.015 + 1 / 28.964)
            let isDay = f.light > 0
            let leaf = Self.saturation(isDay ? t - p.leafCooling : t)
            let moles =
                p.leafArea * (isDay ? p.dayConductance : p.nightConductance) * (leaf / p.pressure - share)
            let water = max(0, moles * 0.018015) + f.mist
            let full = 0.62198 * Self.saturation(t) / (p.pressure - Self.saturation(t))
            let rain = max(0, w - full) * p.airMass / 60
            let latent = (2.501 - 0.002361 * t) * 1000
            let kilowatts =
                f.light * p.lightToAir + f.heat + p.massCoupling * (m - t) + p.wallConductance * (out.0 - t)
                + f.air * 1.006 * (out.0 - t) - latent * (water - rain)
            return (
                kilowatts / p.airCapacity,
                (f.light * (1 - p.lightToAir) - p.massCoupling * (m - t)) / p.massCapacity,
                (water - rain + f.air * (out.1 - w)) / p.airMass
            )
        }

        mutating func second(
            _ out: (Double, Double), _ f: (light: Double, heat: Double, air: Double, mist: Double)
        ) {
            let a = rates((air, mass, ratio), out, f)
            let b = rates((air + a.0 / 2, mass + a.1 / 2, ratio + a.2 / 2), out, f)
            (air, mass, ratio) = (air + b.0, mass + b.1, ratio + b.2)
        }
    }

    /// Two days, with lights, heater, mist and fan at work, and a heater that fails in the second night: temperature and deficit within 0.5 %.
    @Test(arguments: GrowthStage.all) func theRoomIsThatOfAnIndependentComputation(stage: GrowthStage) throws
    {
        let faults = [
            RoomFault(.heaterStuckOff, at: Self.hours(26)), RoomFault(.exhaustStopped, at: Self.hours(40)),
        ]
        let room = Self.room(stage, faults: faults)
        var other = OtherRoom()
        (other.air, other.mass, other.ratio) = room.snapshot
        var (lights, heats, mists, fans) = (Set<Bool>(), Set<Bool>(), Set<Bool>(), Set<Bool>())
        for minute in 0..<(48 * 60) {
            let from = Instant.minutes(Int64(minute))
            try room.advance(to: .minutes(Int64(minute + 1)))
            let flows = room.flows
            lights.insert(flows.light > 0)
            heats.insert(flows.heat > 0)
            mists.insert(flows.mist > 0)
            fans.insert(flows.air > 0.1)
            for second in 0..<60 {
                let out = room.outsideAir(
                    at: from.adding(Int64(second) * Nanoseconds.second + Nanoseconds.second / 2))
                other.second((out.celsius, out.ratio), flows)
            }
            let air = room.air
            let vapour = other.ratio * 101.325 / (0.62198 + other.ratio)
            let deficit = max(0, OtherRoom.saturation(other.air) - vapour)
            #expect(abs(air.celsius / other.air - 1) < 0.005, "minute \(minute)")
            #expect(
                abs(air.vpd - deficit) < 0.005 * max(deficit, 0.2), "minute \(minute): \(air.vpd), \(deficit)"
            )
        }
        #expect(lights.count == 2 && heats.count == 2 && fans.count == 2, "everything was at work")
        #expect(mists.count == 2 || stage != .seedling)
    }

    /// What came in, went out and stayed is the same heat and the same water, whatever the leaves did.
    @Test func heatAndWaterAreConserved() throws {
        let room = Self.room(.vegetative, faults: [RoomFault(.heaterStuckOn, at: Self.hours(20))])
        let p = room.parameters
        let start = room.snapshot
        var (kilojoules, moved) = (0.0, 0.0)
        var before = start
        for second in 1...(30 * 3600) {
            let from = Instant(nanoseconds: Int64(second - 1) * Nanoseconds.second)
            try room.advance(to: from.adding(Nanoseconds.second))
            let (now, flows) = (room.snapshot, room.flows)
            let out = room.outsideAir(at: from.adding(Nanoseconds.second / 2))
            let (air, ratio) = ((before.air + now.air) / 2, (before.ratio + now.ratio) / 2)
            // What was evaporated in the room: what it gained, and what left with the air.
            let evaporated = p.airMass * (now.ratio - before.ratio) - flows.air * (out.ratio - ratio)
            kilojoules +=
                flows.light + flows.heat + (p.wallConductance + flows.air * 1.006) * (out.celsius - air)
                - (2501 - 2.361 * air) * evaporated
            moved += abs(flows.light + flows.heat)
            before = now
        }
        let kept = p.airCapacity * (before.air - start.air) + p.massCapacity * (before.mass - start.mass)
        #expect(abs(kept - kilojoules) < 2e-5 * moved, "kept \(kept) kJ of \(kilojoules), \(moved) moved")
    }

    /// Mist comes out of the tank to the gram, and a sealed room without leaves keeps its water.
    @Test func theTankGivesWhatTheAirGets() throws {
        let room = Self.room(.seedling, mean: 18) {
            $0.leafArea = 0.0001
            $0.infiltration = 0
            $0.restingFlow = 0
            $0.exhaustFlow = 0
            $0.tankCapacity = 3
        }
        var settled = false
        let start = room.snapshot.ratio
        for minute in 1...(24 * 60) {
            try room.advance(to: .minutes(Int64(minute)))
            let gained = (room.snapshot.ratio - start) * room.parameters.airMass
            #expect(abs(gained - (3 - room.tank)) < 0.003, "minute \(minute)")
            settled = settled || room.tank < 3
        }
        #expect(settled, "it misted")
    }

    @Test func neitherTheStepNorWhoAsksMovesTheRoom() throws {
        let (coarse, fine, asked) = (Self.room(), Self.room(tolerance: 1e-8), Self.room())
        var draw = RandomStream(key: 5, index: 0)
        for hour in 1...20 {
            let end = Self.hours(Double(hour))
            try coarse.advance(to: end)
            try fine.advance(to: end)
            while asked.position < end {
                try asked.advance(to: min(end, asked.position.adding(Int64(draw.uniform() * 400e9) + 1)))
            }
            for other in [fine, asked] {
                #expect(abs(coarse.snapshot.air - other.snapshot.air) < 0.02, "hour \(hour)")
                #expect(abs(coarse.snapshot.ratio / other.snapshot.ratio - 1) < 0.002, "hour \(hour)")
            }
        }
        #expect(fine.evaluations > coarse.evaluations)
    }

    // MARK: What it is like

    /// A room without faults is where its growers want it, day and night, in cold weather and in mild.
    @Test(arguments: [-2.0, 8, 16]) func aHealthyRoomIsWithinWhatGrowersAimAt(mean: Double) throws {
        for stage in [GrowthStage.vegetative, .flowering] {
            let room = Self.room(stage, mean: mean)
            var outside = 0
            for step in 1...(4 * 288) {
                try room.advance(to: .minutes(Int64(5 * step)))
                let air = room.air
                if !(65...85).contains(air.fahrenheit) || !(40...75).contains(air.humidity) { outside += 1 }
                #expect((60...90).contains(air.fahrenheit), "\(stage.id) at \(mean) °C outside: \(air)")
                if step % 288 == 0 { _ = room.mend() }
            }
            #expect(Double(outside) < 0.03 * 4 * 288, "\(stage.id) at \(mean) °C outside: \(outside) of 1152")
        }
    }

    /// Each fault does to the air what it does in a room, and mending ends it.
    @Test func faultsDoTheirHarmUntilSomebodyMendsThem() throws {
        func lived(_ kind: RoomFaultKind, _ stage: GrowthStage, mends: Bool, leaves: Double = 9) throws -> (
            low: RoomAir, high: RoomAir, room: Room
        ) {
            let room = Self.room(stage, faults: [RoomFault(kind, at: Self.hours(18), draw: 0.1)]) {
                $0.leafArea = leaves
            }
            var (low, high) = (room.air, room.air)
            for step in 1...(42 * 12) {
                try room.advance(to: .minutes(Int64(5 * step)))
                if mends, step == 19 * 12 { #expect(room.mend().map(\.kind) == [kind]) }
                let air = room.air
                low.celsius = min(low.celsius, air.celsius)
                low.humidity = min(low.humidity, air.humidity)
                high.celsius = max(high.celsius, air.celsius)
                high.humidity = max(high.humidity, air.humidity)
            }
            return (low, high, room)
        }
        let cold = try lived(.heaterStuckOff, .flowering, mends: false)
        #expect(cold.low.fahrenheit < 60)
        #expect(try lived(.heaterStuckOff, .flowering, mends: true).low.fahrenheit > cold.low.fahrenheit + 3)
        let hot = try lived(.exhaustStopped, .flowering, mends: false)
        #expect(hot.high.fahrenheit > 85 || hot.high.humidity > 80)
        let dry = try lived(.humidifierEmpty, .vegetative, mends: false, leaves: 3)
        #expect(dry.low.humidity < 45 && dry.room.tank == 0)
        let mended = try lived(.humidifierEmpty, .vegetative, mends: true, leaves: 3)
        #expect(mended.low.humidity > dry.low.humidity && mended.room.tank > 0)
    }

    @Test func aDriftingSensorSaysWhatIsNotSo() throws {
        let room = Self.room(faults: [RoomFault(.sensorDrift, at: Self.hours(1), draw: 0.1)])
        try room.advance(to: Self.hours(9))
        #expect(abs(room.measure().celsius - room.air.celsius - 4) < 1, "half a degree an hour")
        _ = room.mend()
        #expect(abs(room.measure().celsius - room.air.celsius) < 1)
    }

    @Test func luckIsTheRoomsOwn() throws {
        let end = Self.hours(28 * 24)
        let faults = RoomFault.drawn(Self.streams, frequency: 1, until: end)
        #expect(faults == RoomFault.drawn(Self.streams, frequency: 1, until: end))
        #expect(faults != RoomFault.drawn(RandomStreams(seed: 7, subject: 4), frequency: 1, until: end))
        #expect(RoomFault.drawn(Self.streams, frequency: 0, until: end).isEmpty)
        // 1.3 a week over four weeks and 400 rooms.
        let count = (0..<400).reduce(0) {
            $0 + RoomFault.drawn(RandomStreams(seed: 1, subject: UInt64($1)), frequency: 1, until: end).count
        }
        let perWeek = RoomFaultKind.all.reduce(0) { $0 + $1.perWeek }
        #expect(abs(Double(count) / 1600 / perWeek - 1) < 0.06)
    }

    @Test func aRoomThatLeavesItsRangeSaysSo() throws {
        let room = Self.room(faults: [
            RoomFault(.exhaustStopped, at: .start), RoomFault(.heaterStuckOn, at: .start),
        ]) {
            $0.heaterPower = 60
        }
        #expect(throws: LeftRoomRange.self) { try room.advance(to: Self.hours(48)) }
    }
}
