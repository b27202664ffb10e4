// One room: how large it is, what stands in it, and what its devices can do.
//
// Sources: air and water from FAO-56 and the ASHRAE Handbook (Fundamentals, psychrometrics); stomatal conductance of well watered crops from Körner (1994,
// "Leaf diffusive conductances in the major vegetation types of the globe"); devices are those of a room of 10 to 15 m² as shops sell them. Where no
// source is named the value is assumed.

import IsletNumerics
public import IsletKernel

/// Sizes of one room, in SI units with kJ and kW: plain bits, read by the right-hand side where they are.
public struct RoomParameters: Hashable, Sendable, BitwiseCopyable {
    /// kPa.
    public var pressure = MoistAir.seaLevelPressure
    /// Dry air in the room, kg: 30 m³ at 1.2 kg/m³.
    public var airMass = 36.0
    /// What warms and cools with the air at once (air, leaves, films of surfaces), kJ/K.
    public var airCapacity = 110.0
    /// Benches, pots, floor and inner walls, kJ/K.
    public var massCapacity = 1500.0
    /// Between air and these, kW/K.
    public var massCoupling = 0.25
    /// Walls, kW/K: 60 m² at 0.75 W/m²/K.
    public var wallConductance = 0.045
    /// Air through gaps, kg/s: 0.4 changes an hour.
    public var infiltration = 0.004
    /// kW, while they are on; all of it becomes heat in the room.
    public var lightPower = 2.4
    /// What of this warms the air and leaves; the rest warms what stands below.
    public var lightToAir = 0.7
    /// kW.
    public var heaterPower = 2.2
    /// What the exhaust draws in from outside at full speed, and always, kg/s.
    public var exhaustFlow = 0.25
    public var restingFlow = 0.015
    /// Mist, kg/s: 2.2 L/h. It evaporates in the air.
    public var mistRate = 0.0006
    /// L, which is kg.
    public var tankCapacity = 40.0
    /// m².
    public var leafArea = 9.0
    /// Conductance of leaves to water vapour, mol/m²/s, with lights on and off.
    public var dayConductance = 0.2
    public var nightConductance = 0.02
    /// By how much leaves are cooler than the air while lights are on, K.
    public var leafCooling = 1.0

    public init() {}

    /// A room of the cohort: sizes of its own, all within what one finds.
    public static func drawn(_ stream: RandomStream) -> RoomParameters {
        let draw = GSLRandom(stream)
        func share(_ spread: Double) -> Double { draw.uniform(in: 1 - spread...1 + spread) }
        var room = RoomParameters()
        let size = share(0.25)
        room.airMass *= size
        room.airCapacity *= size
        room.massCapacity *= size * share(0.2)
        room.wallConductance *= size * share(0.3)
        room.infiltration *= size * share(0.5)
        room.lightPower *= size
        room.heaterPower *= size * share(0.1)
        room.exhaustFlow *= size * share(0.15)
        room.restingFlow *= size
        room.mistRate *= size * share(0.15)
        room.leafArea *= size * share(0.6)
        return room
    }
}
