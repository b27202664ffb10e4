// A grow room as a study's subject.
//
// Guarantees: a room's sizes, its stage of growth, its weather, its faults and its monitor's noise come from streams of their own: with an arm's other luck the same
// room has other weather, faults and noise.

import IsletAlerts
import IsletDevices
import IsletModels
import IsletKernel

/// What a study may set of its rooms.
struct GrowRoomStudy: Sendable {
    var outsideMean = WeatherSettings().mean
    var outsideSwing = WeatherSettings().swing
    var outsideSpread = WeatherSettings().spread
    var faultFrequency = 1.0
    var seedlings = 0.0
    var flowering = 0.5
}

extension SubjectKind {
    /// Lights, heater, humidifier, exhaust and an outside day; a grower.
    package static let growRoom = SubjectKind(
        id: "grow-room", summary: "a room with plants, lights, heater, humidifier and exhaust",
        words: ("room", "rooms"), metrics: [.temperature, .humidity, .vpd], settings: GrowRoomStudy(),
        parameters: [
            .init("outsideMean", "°C", "mean of the weather outside", \.outsideMean, -20...25),
            .init(
                "outsideSwing", "°C", "from the mean to the day's highest outside", \.outsideSwing, 0...15),
            .init(
                "outsideSpread", "°C", "standard deviation of a day's luck outside", \.outsideSpread, 0...10),
            .init("faultFrequency", "1", "times the usual rates of faults", \.faultFrequency, 0...20),
            .init("seedlings", "1", "share of the rooms with seedlings", \.seedlings, 0...1),
            .init(
                "flowering", "1", "share of the other rooms with flowering plants; the rest is vegetative",
                \.flowering, 0...1),
        ]
    ) { GrowRoomBody($0, $1) }
}

/// A room behind the words of watched subjects.
final class GrowRoomBody: WatchedBody {
    private let room: Room

    init(_ study: GrowRoomStudy, _ origin: BodyOrigin) {
        var settings = RoomSettings()
        settings.weather.mean = study.outsideMean
        settings.weather.swing = study.outsideSwing
        settings.weather.spread = study.outsideSpread
        settings.faultFrequency = study.faultFrequency
        var draw = origin.own.stream("room.stage")
        let (first, second) = (draw.uniform(), draw.uniform())
        let stage: GrowthStage =
            first < study.seedlings ? .seedling : second < study.flowering ? .flowering : .vegetative
        room = Room(
            RoomParameters.drawn(origin.own.stream("room.sizes")), stage: stage, settings: settings,
            faults: RoomFault.drawn(origin.luck, frequency: study.faultFrequency, until: origin.duration),
            streams: origin.luck, startOfDay: origin.calendar.startOfDayOffset)
    }

    func advance(to instant: Instant) throws { try room.advance(to: instant) }
    var truth: [Double] { Self.values(room.air) }
    func measure() -> [Double] { Self.values(room.measure()) }
    var broken: [BrokenPart] { room.active.map { BrokenPart(kind: $0.kind.id, since: $0.onset) } }
    func mend() { _ = room.mend() }
    var evaluations: Int { room.evaluations }
    var stage: String { room.stage.id }

    private static func values(_ air: RoomAir) -> [Double] { [air.fahrenheit, air.humidity, air.vpd] }
}
