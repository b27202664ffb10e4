// The weather that a room draws its air from.
//
// Guarantees: a pure function of the instant and the streams: each day's luck is a draw of its own, so that asking changes nothing; temperature and dew
// point are continuous, with one maximum a day at 15:00 and the day's luck blended in from midnight to midnight; the dew point never lies above the temperature.

import IsletNumerics
import IsletKernel

/// What the weather is like; °C.
public struct WeatherSettings: Hashable, Sendable {
    /// Mean over the day.
    public var mean = 8.0
    /// From the mean to the day's highest.
    public var swing = 5.0
    /// Standard deviation of a day's luck.
    public var spread = 3.0
    /// By how much the dew point lies below the mean.
    public var dewDepression = 5.0

    public init() {}
}

struct OutsideDay {
    private let settings: WeatherSettings
    private let stream: RandomStream
    private let startOfDay: Int64
    /// The day that was asked for last, with its draw and the next day's.
    private var known: (day: Int64, from: Double, to: Double) = (.min, 0, 0)

    /// - Parameter startOfDay: from local midnight to the session's start, ns.
    init(_ settings: WeatherSettings, _ streams: RandomStreams, startOfDay: Int64) {
        self.settings = settings
        self.startOfDay = startOfDay
        stream = streams.stream("room.weather")
    }

    private func luck(_ day: Int64) -> Double {
        var draw = stream.at(UInt64(bitPattern: day))
        return settings.spread * Normal.next(using: &draw)
    }

    /// °C, and kg of water a kg of dry air.
    mutating func air(at nanoseconds: Int64, pressure: Double) -> (celsius: Double, ratio: Double) {
        let shown = nanoseconds + startOfDay
        let day = shown / Nanoseconds.day
        if day != known.day { known = (day, luck(day), luck(day + 1)) }
        let part = Double(shown % Nanoseconds.day) / Double(Nanoseconds.day)
        let blend = (1 - cosine(.pi * part)) / 2
        let luck = known.from + (known.to - known.from) * blend
        let celsius = settings.mean + luck + settings.swing * cosine(2 * .pi * (part - 0.625))
        let dew = min(celsius, settings.mean + luck / 2 - settings.dewDepression)
        return (celsius, MoistAir.ratio(vapour: MoistAir.saturation(dew), pressure: pressure))
    }
}
