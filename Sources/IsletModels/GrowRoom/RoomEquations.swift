// Heat and water of a room: three equations.
//
//     C_a dT/dt  = f L + H + k (T_m − T) + U (T_o − T) + G c_p (T_o − T) − λ (E + M − K)
//     C_m dT_m/dt = (1 − f) L + k (T − T_m)
//     m dw/dt    = E + M + G (w_o − w) − K
//
// | symbol | unit | meaning |
// |---|---|---|
// | T, T_m, T_o | °C | air, what stands in it, outside |
// | w, w_o | kg/kg | humidity ratio of the air, of that outside |
// | L, H | kW | lights, heater |
// | G | kg/s | air from outside: exhaust and gaps |
// | E | kg/s | transpiration: leaf area × conductance × (e°(T − cooling) − e) / P, in mol, × 0.018015 kg/mol; never below 0 |
// | M | kg/s | mist, which evaporates in the air |
// | K | kg/s | what condenses: all above saturation, within a minute |
// | λ | kJ/kg | latent heat at T |
//
// Guarantees: what one term takes from the air another gives to something: heat to mass, walls and outside, water to leaves, mist and outside. Leaves take the
// heat of what they transpire from the air.
// Does not: know controllers, faults or time of day. Between switches everything but T_o and w_o, which change evenly, is constant.

import IsletNumerics

/// What the right-hand side reads.
struct RoomInputs: BitwiseCopyable {
    var p: RoomParameters
    /// kW.
    var light = 0.0
    var heat = 0.0
    /// kg/s, gaps included.
    var flow = 0.0
    var mist = 0.0
    /// mol/m²/s, and K.
    var conductance = 0.0
    var cooling = 0.0
    /// Outside at the segment's start, and a second's change.
    var outside = 0.0
    var outsideSlope = 0.0
    var outsideRatio = 0.0
    var outsideRatioSlope = 0.0
}

enum RoomEquations {
    /// kJ/kg/K, of dry air.
    static let heatOfAir = 1.006
    /// kg/mol.
    static let molarMass = 0.018015
    /// Within which what is too much condenses, s.
    static let condensation = 60.0
    /// Air, what stands in it, water.
    static let scales = [1.0, 1.0, 0.0005]

    /// kg/s.
    @inline(__always)
    static func transpiration(_ celsius: Double, _ ratio: Double, _ inputs: UnsafePointer<RoomInputs>)
        -> Double
    {
        let pressure = inputs.pointee.p.pressure
        let vapour = ratio * pressure / (MoistAir.massRatio + ratio)
        let deficit = MoistAir.saturationPressure(celsius - inputs.pointee.cooling) - vapour
        return max(0, inputs.pointee.p.leafArea * inputs.pointee.conductance * deficit / pressure * molarMass)
    }

    static let rightHandSide: ODEIntegrator.RightHandSide = { time, state, derivative, raw in
        guard let state, let derivative, let raw else { return 9 }
        let inputs = UnsafePointer(raw.assumingMemoryBound(to: RoomInputs.self))
        let (air, mass, ratio) = (state[0], state[1], state[2])
        let pressure = inputs.pointee.p.pressure
        let outside = inputs.pointee.outside + inputs.pointee.outsideSlope * time
        let outsideRatio = inputs.pointee.outsideRatio + inputs.pointee.outsideRatioSlope * time
        let water = transpiration(air, ratio, inputs) + inputs.pointee.mist
        // An exponential less as long as the air is far from wet: e° is above 0.611 kPa from 0 °C on.
        let full = MoistAir.ratio(vapour: MoistAir.saturationPressure(air), pressure: pressure)
        let wet = ratio > full ? (ratio - full) * inputs.pointee.p.airMass / condensation : 0
        let exchange = inputs.pointee.flow * (outsideRatio - ratio)
        let toMass = inputs.pointee.p.massCoupling * (air - mass)
        let share = inputs.pointee.p.lightToAir
        derivative[0] =
            (share * inputs.pointee.light + inputs.pointee.heat - toMass
                + (inputs.pointee.p.wallConductance + inputs.pointee.flow * heatOfAir) * (outside - air)
                - MoistAir.latentHeat(air) * (water - wet)) / inputs.pointee.p.airCapacity
        derivative[1] = ((1 - share) * inputs.pointee.light + toMass) / inputs.pointee.p.massCapacity
        derivative[2] = (water + exchange - wet) / inputs.pointee.p.airMass
        return 0
    }
}
