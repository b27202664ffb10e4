// A grow room: its air and what stands in it, its devices and their faults, and the monitor that hangs there.
//
// Guarantees: no integration step crosses a switch, a fault, the lights or the end of the tank; where the room is does not depend on who asked when, but for the
// integrator's tolerance (1e-4 K). Everything drawn comes from streams of its own: who mends what, and when, moves no fault, no weather and no noise.
// Does not: know a session, an alarm or who mends. A room that leaves −40 to 80 °C says so and goes no further.

import IsletNumerics
public import IsletKernel

/// The air of a room, or what the monitor makes of it.
public struct RoomAir: Hashable, Sendable {
    public var celsius: Double
    /// % RH, over water.
    public var humidity: Double

    public init(celsius: Double, humidity: Double) {
        (self.celsius, self.humidity) = (celsius, humidity)
    }

    public var fahrenheit: Double { MoistAir.fahrenheit(celsius) }
    /// The vapour pressure deficit of the air, kPa: not of the leaves.
    public var vpd: Double { MoistAir.deficit(celsius, relativeHumidity: humidity) }
}

/// The room is where the equations mean nothing.
public struct LeftRoomRange: Error, Hashable, Sendable, CustomStringConvertible {
    public var instant: Instant
    public var celsius: Double
    public var description: String {
        "air of \((celsius * 10).rounded() / 10) °C at minute \(Int64(instant.minutes)): outside -40 to 80 °C"
    }
}

/// What a study sets of its rooms, beside their sizes.
public struct RoomSettings: Hashable, Sendable {
    public var weather = WeatherSettings()
    /// Times the rates of `RoomFaultKind`.
    public var faultFrequency = 1.0
    /// Standard deviation of a reading of the monitor: K, and % RH.
    public var noise = (celsius: 0.15, humidity: 0.8)

    public init() {}

    public static func == (a: Self, b: Self) -> Bool {
        a.weather == b.weather && a.faultFrequency == b.faultFrequency && a.noise == b.noise
    }
    public func hash(into hasher: inout Hasher) {
        hasher.combine(weather)
        hasher.combine(faultFrequency)
        hasher.combine(noise.celsius)
        hasher.combine(noise.humidity)
    }
}

/// Belongs to one session.
public final class Room {
    /// Controllers look so often, ns.
    public static let controlInterval = Nanoseconds.minute
    private static let bounds = -40.0...80.0
    /// What a sensor that drifts gains an hour, and at most: K, and % RH (assumed).
    private static let drift = (
        celsius: (perHour: 0.5, most: 8.0), humidity: (perHour: 2.5, most: 40.0)
    )

    public let stage: GrowthStage
    public let parameters: RoomParameters
    public private(set) var position = Instant.start
    /// Faults that began and that nobody has mended.
    public private(set) var active: [RoomFault] = []
    /// L.
    public private(set) var tank: Double

    private let settings: RoomSettings
    private let faults: [RoomFault]
    private var nextFault = 0
    private var controls = RoomControls()
    private var outside: OutsideDay
    private let startOfDay: Int64
    private let noise: GSLRandom
    private let state: UnsafeMutablePointer<Double>
    private let inputs: UnsafeMutablePointer<RoomInputs>
    private let integrator: ODEIntegrator

    /// A room at what its controllers aim at.
    /// - Parameters:
    ///   - faults: by onset.
    ///   - startOfDay: from local midnight to the session's start, ns. Timers keep to it all the session: they know no summer time.
    ///   - tolerance: of a step, K and half grams of water a kg.
    public init(
        _ parameters: RoomParameters, stage: GrowthStage, settings: RoomSettings, faults: [RoomFault],
        streams: RandomStreams, startOfDay: Int64, tolerance: Double = 1e-4
    ) {
        (self.parameters, self.stage, self.settings) = (parameters, stage, settings)
        (self.faults, self.startOfDay) = (faults, startOfDay)
        tank = parameters.tankCapacity
        outside = OutsideDay(settings.weather, streams, startOfDay: startOfDay)
        noise = GSLRandom(streams.stream("room.noise"))
        state = .allocate(capacity: 3)
        inputs = .allocate(capacity: 1)
        inputs.initialize(to: RoomInputs(p: parameters))
        let isLight = Self.isLight(stage, at: .start, startOfDay)
        let celsius = isLight ? stage.aim.day : stage.aim.night
        let vapour = MoistAir.saturation(celsius) * stage.aim.humidity / 100
        state.initialize(to: celsius)
        (state + 1).initialize(to: celsius)
        (state + 2).initialize(to: MoistAir.ratio(vapour: vapour, pressure: parameters.pressure))
        integrator = ODEIntegrator(
            rightHandSide: RoomEquations.rightHandSide, parameters: inputs, scales: RoomEquations.scales,
            tolerance: .init(absolute: tolerance), firstStepSize: 20, reach: 8)
    }

    deinit {
        state.deallocate()
        inputs.deallocate()
    }

    /// Evaluations of the right-hand side so far.
    public var evaluations: Int { integrator.evaluations }

    /// The air as it is.
    public var air: RoomAir {
        let vapour = MoistAir.vapourPressure(ratio: state[2], pressure: parameters.pressure)
        return RoomAir(celsius: state[0], humidity: 100 * vapour / MoistAir.saturation(state[0]))
    }

    /// What the monitor shows: a draw, so one call a reading.
    public func measure() -> RoomAir {
        var shown = air
        shown.celsius += noise.normal(sd: settings.noise.celsius)
        shown.humidity += noise.normal(sd: settings.noise.humidity)
        for fault in active where fault.kind == .sensorDrift {
            let hours = Double(position.nanoseconds - fault.onset.nanoseconds) / Double(Nanoseconds.hour)
            // The first half of the draws are thermometers; within it, up or down.
            let isUp = (fault.draw * 4).truncatingRemainder(dividingBy: 2) < 1
            let (rate, most) = fault.draw < 0.5 ? Self.drift.celsius : Self.drift.humidity
            let moved = (isUp ? 1 : -1) * min(most, rate * hours)
            if fault.draw < 0.5 { shown.celsius += moved } else { shown.humidity += moved }
        }
        shown.humidity = min(100, max(0, shown.humidity))
        return shown
    }

    /// Somebody is there: what is broken works again, the tank is full.
    /// - Returns: what was broken.
    public func mend() -> [RoomFault] {
        defer {
            active.removeAll()
            tank = parameters.tankCapacity
        }
        return active
    }

    func isActive(_ kind: RoomFaultKind) -> Bool { active.contains { $0.kind == kind } }

    // MARK: Time

    /// Lights go on at 06:00.
    private static func isLight(_ stage: GrowthStage, at instant: Instant, _ startOfDay: Int64) -> Bool {
        let shown = (instant.nanoseconds + startOfDay) % Nanoseconds.day
        let since = (shown - 6 * Nanoseconds.hour + Nanoseconds.day) % Nanoseconds.day
        return since < Int64(stage.hoursOfLight * Double(Nanoseconds.hour))
    }

    public var isLight: Bool { Self.isLight(stage, at: position, startOfDay) }

    /// Goes on to `instant`, which is not before `position`.
    /// - Throws: `LeftRoomRange`, `ODEError`.
    public func advance(to instant: Instant) throws {
        while position < instant {
            if position.nanoseconds % Self.controlInterval == 0 { look() }
            while nextFault < faults.count, faults[nextFault].onset <= position { begin() }
            let end = min(instant, nextEdge())
            try live(until: end)
        }
        while nextFault < faults.count, faults[nextFault].onset <= position { begin() }
    }

    private func begin() {
        let fault = faults[nextFault]
        nextFault += 1
        guard !isActive(fault.kind) else { return }
        active.append(fault)
        if fault.kind == .humidifierEmpty { tank = 0 }
    }

    private func look() {
        let air = air
        let aim = RoomControls.Aim(
            celsius: isLight ? stage.aim.day : stage.aim.night, humidity: stage.aim.humidity)
        controls.look(celsius: air.celsius, humidity: air.humidity, aim: aim)
    }

    /// Of controllers, lights and faults: lights change at whole minutes, which are the controllers', too, unless the session began between two.
    private func nextEdge() -> Instant {
        var edge = (position.nanoseconds / Self.controlInterval + 1) * Self.controlInterval
        if startOfDay % Nanoseconds.minute != 0 {
            let shown = position.nanoseconds + startOfDay
            edge = min(edge, (shown / Nanoseconds.minute + 1) * Nanoseconds.minute - startOfDay)
        }
        if nextFault < faults.count { edge = min(edge, faults[nextFault].onset.nanoseconds) }
        return Instant(nanoseconds: edge)
    }

    private func live(until end: Instant) throws {
        let mists = controls.humidifies && tank > 0
        var end = end
        if mists {
            // Up to a nanosecond: the tank ends where it ends.
            let left = Int64((tank / parameters.mistRate * 1e9).rounded(.up))
            end = min(end, position.adding(max(1, left)))
        }
        let heats = isActive(.heaterStuckOn) || controls.heats && !isActive(.heaterStuckOff)
        let exhausts = controls.exhausts && !isActive(.exhaustStopped)
        let light = isLight
        var next = inputs.pointee
        next.light = light ? parameters.lightPower : 0
        next.heat = heats ? parameters.heaterPower : 0
        next.flow =
            parameters.infiltration
            + (exhausts
                ? parameters.exhaustFlow : isActive(.exhaustStopped) ? 0 : parameters.restingFlow)
        next.mist = mists ? parameters.mistRate : 0
        next.conductance = light ? parameters.dayConductance : parameters.nightConductance
        next.cooling = light ? parameters.leafCooling : 0
        let isEdge =
            next.light != inputs.pointee.light || next.heat != inputs.pointee.heat
            || next.flow != inputs.pointee.flow || next.mist != inputs.pointee.mist
        let seconds = Double(end.nanoseconds - position.nanoseconds) / 1e9
        let from = outside.air(at: position.nanoseconds, pressure: parameters.pressure)
        let to = outside.air(at: end.nanoseconds, pressure: parameters.pressure)
        (next.outside, next.outsideRatio) = (from.celsius, from.ratio)
        next.outsideSlope = (to.celsius - from.celsius) / seconds
        next.outsideRatioSlope = (to.ratio - from.ratio) / seconds
        inputs.pointee = next
        if isEdge { integrator.resetAtEdge() }
        try integrator.advance(state: state, by: seconds)
        if mists { tank = max(0, tank - parameters.mistRate * seconds) }
        position = end
        guard Self.bounds.contains(state[0]), state[2] >= 0 else {
            throw LeftRoomRange(instant: position, celsius: state[0])
        }
    }
}

/// For tests: the numbers behind.
extension Room {
    /// °C of air and of what stands in it, kg of water a kg of dry air.
    package var snapshot: (air: Double, mass: Double, ratio: Double) { (state[0], state[1], state[2]) }
    /// What flows now: kW, kg/s.
    package var flows: (light: Double, heat: Double, air: Double, mist: Double) {
        (inputs.pointee.light, inputs.pointee.heat, inputs.pointee.flow, inputs.pointee.mist)
    }
    package func outsideAir(at instant: Instant) -> (celsius: Double, ratio: Double) {
        outside.air(at: instant.nanoseconds, pressure: parameters.pressure)
    }
}
