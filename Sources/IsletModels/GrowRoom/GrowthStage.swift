// Stages of growth: what growers aim at in each, one row a stage.
//
// Guarantees: schemas, policies (`recommended`), rooms and lists go through the rows, in their order.
// Ranges are those of growers' guides, rounded; no standard says them.

/// A stage of growth.
public struct GrowthStage: Hashable, Sendable {
    /// As files write it.
    public let id: String
    /// °F, by day and night.
    public let temperature: ClosedRange<Double>
    /// % RH.
    public let humidity: ClosedRange<Double>
    /// kPa, of the air.
    public let vpd: ClosedRange<Double>
    /// Hours of light a day.
    public let hoursOfLight: Double
    /// What a room's controllers aim at: °C with lights on and off, % RH.
    let aim: (day: Double, night: Double, humidity: Double)

    public static let seedling = GrowthStage(
        "seedling", temperature: 70...80, humidity: 65...75, vpd: 0.4...0.8, hoursOfLight: 18,
        aim: (23.5, 22, 70))
    public static let vegetative = GrowthStage(
        "vegetative", temperature: 70...85, humidity: 50...70, vpd: 0.8...1.2, hoursOfLight: 18,
        aim: (25, 22, 62))
    public static let flowering = GrowthStage(
        "flowering", temperature: 65...80, humidity: 40...50, vpd: 1.2...1.6, hoursOfLight: 12,
        aim: (24, 20.5, 53))

    public static let all: [GrowthStage] = [.seedling, .vegetative, .flowering]

    /// The one of that name.
    public static func named(_ id: String) -> GrowthStage? { all.first { $0.id == id } }

    /// The range of the metric of that id that growers aim at; nil for what a room has none of.
    public func range(of metric: String) -> ClosedRange<Double>? {
        switch metric {
        case "temperature": temperature
        case "humidity": humidity
        case "vpd": vpd
        default: nil
        }
    }

    private init(
        _ id: String, temperature: ClosedRange<Double>, humidity: ClosedRange<Double>,
        vpd: ClosedRange<Double>,
        hoursOfLight: Double, aim: (day: Double, night: Double, humidity: Double)
    ) {
        (self.id, self.temperature, self.humidity, self.vpd) = (id, temperature, humidity, vpd)
        (self.hoursOfLight, self.aim) = (hoursOfLight, aim)
    }

    public static func == (a: Self, b: Self) -> Bool { a.id == b.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
