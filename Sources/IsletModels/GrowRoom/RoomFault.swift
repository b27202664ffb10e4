// What goes wrong in a room: one row a kind of fault.
//
// Guarantees: when each fault comes is a draw of its own stream, so that a room has the same faults whoever hears of them, and a new kind moves no other's. A
// fault lasts until somebody mends it; one that comes while the same is there already changes nothing.

import IsletNumerics
public import IsletKernel

/// A kind of fault.
public struct RoomFaultKind: Hashable, Sendable {
    /// As rows of results name it.
    public let id: String
    public let meaning: String
    /// How often it comes in a room, 1/week (assumed).
    public let perWeek: Double

    public static let heaterStuckOff = RoomFaultKind(
        "heater-stuck-off", "the heater gives no heat", perWeek: 0.25)
    public static let heaterStuckOn = RoomFaultKind(
        "heater-stuck-on", "the heater never stops", perWeek: 0.15)
    public static let humidifierEmpty = RoomFaultKind(
        "humidifier-empty", "the humidifier's tank has run dry", perWeek: 0.4)
    public static let exhaustStopped = RoomFaultKind(
        "exhaust-stopped", "the exhaust fan stands still", perWeek: 0.2)
    public static let sensorDrift = RoomFaultKind(
        "sensor-drift", "the monitor's thermometer or hygrometer drifts away", perWeek: 0.3)

    public static let all: [RoomFaultKind] = [
        .heaterStuckOff, .heaterStuckOn, .humidifierEmpty, .exhaustStopped, .sensorDrift,
    ]

    /// The place in `all`.
    public var index: Int { Self.all.firstIndex(of: self) ?? 0 }

    private init(_ id: String, _ meaning: String, perWeek: Double) {
        (self.id, self.meaning, self.perWeek) = (id, meaning, perWeek)
    }
}

/// One fault of a room.
public struct RoomFault: Hashable, Sendable {
    public var kind: RoomFaultKind
    public var onset: Instant
    /// Uniform in [0, 1): what drifts, and to where.
    public var draw: Double

    public init(_ kind: RoomFaultKind, at onset: Instant, draw: Double = 0) {
        (self.kind, self.onset, self.draw) = (kind, onset, draw)
    }

    /// Those of a room, by onset.
    /// - Parameter frequency: times the rates of the rows.
    public static func drawn(
        _ streams: RandomStreams, frequency: Double, until end: Instant
    ) -> [RoomFault] {
        guard frequency > 0 else { return [] }
        var faults: [RoomFault] = []
        for kind in RoomFaultKind.all {
            let draw = GSLRandom(streams.stream("room.faults", index: UInt64(kind.index)))
            let mean = 7 * Double(Nanoseconds.day) / (kind.perWeek * frequency)
            var at = draw.exponential(mean: mean)
            while at < Double(end.nanoseconds) {
                faults.append(RoomFault(kind, at: Instant(nanoseconds: Int64(at)), draw: draw.uniform()))
                at += draw.exponential(mean: mean)
            }
        }
        return faults.sorted { ($0.onset, $0.kind.index) < ($1.onset, $1.kind.index) }
    }
}
