import Foundation
import IsletModels
import Testing

@Suite struct MoistAirTests {
    /// FAO Irrigation and Drainage Paper 56 (Allen and others 1998), Annex 2, table 2.3, and example 3: °C and e° in kPa.
    static let published: [(celsius: Double, kilopascals: Double)] = [
        (1, 0.657), (5, 0.872), (10, 1.228), (15, 1.705), (20, 2.338), (24.5, 3.075), (25, 3.168),
        (30, 4.243),
        (35, 5.624),
    ]

    @Test(arguments: published)
    func saturationIsThePublishedTables(celsius: Double, kilopascals: Double) {
        #expect(abs(MoistAir.saturation(celsius) / kilopascals - 1) < 0.001)
    }

    /// Buck (1981), "New equations for computing vapor pressure and enhancement factor", equation e_w4: another fit to other measurements.
    @Test func saturationAgreesWithBuck() {
        for celsius in stride(from: 0.0, through: 45, by: 0.5) {
            let buck = 0.61121 * exp((18.729 - celsius / 227.3) * celsius / (celsius + 257.87))
            #expect(abs(MoistAir.saturation(celsius) / buck - 1) < 0.005, "\(celsius) °C")
        }
    }

    /// The deficit of the published e°: 25 °C at 60 % has 0.4 × 3.168 kPa, and so on.
    @Test func deficitsFollowFromThePublishedTable() {
        for (celsius, kilopascals) in Self.published {
            for humidity in stride(from: 0.0, through: 95, by: 5) {
                let deficit = kilopascals * (100 - humidity) / 100
                #expect(
                    abs(MoistAir.deficit(celsius, relativeHumidity: humidity) / deficit - 1) < 0.005,
                    "\(celsius) °C, \(humidity) %")
            }
        }
        #expect(MoistAir.deficit(25, relativeHumidity: 104) == 0)
    }

    @Test func dewPointAndRatioAreInverses() {
        for celsius in stride(from: -5.0, through: 40, by: 2.5) {
            let vapour = MoistAir.saturation(celsius)
            #expect(abs(MoistAir.dewPoint(vapour) - celsius) < 1e-9)
            let ratio = MoistAir.ratio(vapour: vapour)
            #expect(abs(MoistAir.vapourPressure(ratio: ratio) - vapour) < 1e-12)
        }
        // FAO-56, example 3: the air of a place is 0.62198 e / (P − e); 20 °C at 60 % holds 8.7 g/kg.
        #expect(abs(MoistAir.ratio(vapour: 0.6 * 2.338) - 0.00873) < 0.00003)
        #expect(MoistAir.fahrenheit(25) == 77 && abs(MoistAir.celsius(fahrenheit: 50) - 10) < 1e-12)
    }

    @Test func stagesHaveRangesThatTheirRoomsAimAt() {
        #expect(GrowthStage.all.map(\.id) == ["seedling", "vegetative", "flowering"])
        for stage in GrowthStage.all {
            #expect(stage.range(of: "temperature") != nil && stage.range(of: "glucose") == nil)
            #expect(stage.temperature.lowerBound >= 65 && stage.temperature.upperBound <= 85)
        }
    }
}
