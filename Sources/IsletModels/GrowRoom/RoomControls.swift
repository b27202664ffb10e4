// The controllers of a room: thermostat, hygrostat and fan, each with hysteresis, looked at once a minute as such devices do.
//
// Guarantees: a switch changes at a controller's minute and at no other instant, so that a session knows each switch before it integrates; between its bounds
// a switch stays as it is.

/// What is on.
struct RoomControls: Hashable {
    var heats = false
    var humidifies = false
    var exhausts = false

    /// What the controllers aim at now.
    struct Aim {
        var celsius: Double
        /// % RH.
        var humidity: Double
    }

    /// K below the aim at which the heater starts, above at which it stops.
    private static let heater = (on: -0.8, off: 0.2)
    /// % RH.
    private static let humidifier = (on: -4.0, off: -1.0)
    /// K, and % RH: either starts the fan, both must be past for it to stop.
    private static let exhaustHeat = (on: 1.5, off: 0.8)
    private static let exhaustHumidity = (on: 5.0, off: 2.0)

    mutating func look(celsius: Double, humidity: Double, aim: Aim) {
        let (warm, wet) = (celsius - aim.celsius, humidity - aim.humidity)
        if warm < Self.heater.on { heats = true } else if warm > Self.heater.off { heats = false }
        if wet < Self.humidifier.on {
            humidifies = true
        } else if wet > Self.humidifier.off {
            humidifies = false
        }
        // Air from outside is cold: a room that is being heated vents for water only.
        if warm > Self.exhaustHeat.on || wet > Self.exhaustHumidity.on {
            exhausts = true
        } else if warm < Self.exhaustHeat.off, wet < Self.exhaustHumidity.off {
            exhausts = false
        }
    }
}
