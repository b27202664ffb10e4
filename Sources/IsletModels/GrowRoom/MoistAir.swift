// Moist air: saturation vapour pressure, humidity ratio, vapour pressure deficit.
//
// Guarantees: over water, from 0 to 50 °C, within 0.2 % of Buck (1981) and within 0.05 % of FAO-56, Annex 2, table 2.3.
// **Which deficit.** `deficit` is that of the air, e°(air) − e: what growers' charts and the alerts mean. Leaves transpire by the deficit at their own
// temperature, e°(leaf) − e, which is smaller where leaves are cooler than the air.

import IsletKernel

/// Temperature and water in air, in plain numbers: °C, kPa, kg of water a kg of dry air.
public enum MoistAir {
    /// Ratio of the molar masses of water vapour and dry air: 18.015 / 28.965.
    public static let massRatio = 0.62198
    /// kPa, at sea level.
    public static let seaLevelPressure = 101.325

    /// Saturation vapour pressure over water, kPa (Tetens 1930, as FAO-56 equation 11 has it).
    @inlinable public static func saturation(_ celsius: Double) -> Double { saturationPressure(celsius) }

    @usableFromInline static func saturationPressure(_ celsius: Double) -> Double {
        0.6108 * exponential(17.27 * celsius / (celsius + 237.3))
    }

    /// Dew point of air with vapour pressure `pressure` kPa: the inverse of `saturation`.
    public static func dewPoint(_ pressure: Double) -> Double {
        let x = naturalLogarithm(pressure / 0.6108)
        return 237.3 * x / (17.27 - x)
    }

    /// Vapour pressure of air with humidity ratio `ratio`, kPa.
    public static func vapourPressure(ratio: Double, pressure: Double = seaLevelPressure) -> Double {
        ratio * pressure / (massRatio + ratio)
    }

    /// Humidity ratio of air with vapour pressure `vapour` kPa.
    public static func ratio(vapour: Double, pressure: Double = seaLevelPressure) -> Double {
        massRatio * vapour / (pressure - vapour)
    }

    /// Vapour pressure deficit of the air, kPa; 0 for air with more than it can hold.
    public static func deficit(_ celsius: Double, relativeHumidity percent: Double) -> Double {
        max(0, saturation(celsius) * (1 - percent / 100))
    }

    /// To evaporate water at this temperature, kJ/kg (FAO-56, Annex 3, equation 3-1).
    public static func latentHeat(_ celsius: Double) -> Double { 2501 - 2.361 * celsius }

    public static func fahrenheit(_ celsius: Double) -> Double { celsius * 1.8 + 32 }
    public static func celsius(fahrenheit: Double) -> Double { (fahrenheit - 32) / 1.8 }
}
