// Time zones by name, as tables of offsets that sessions carry with them.

package import IsletAlerts
import Foundation

extension ZoneTable {
    /// The zone called `name`, with its changes within `years` from the second `epochSeconds`; nil for an unknown name.
    package static func named(_ name: String, around epochSeconds: Int64, years: Int = 12) -> ZoneTable? {
        guard let zone = TimeZone(identifier: name) else { return nil }
        let year: Int64 = 366 * 86_400
        var instant = Date(timeIntervalSince1970: Double(epochSeconds - year))
        let last = Date(timeIntervalSince1970: Double(epochSeconds + Int64(years) * year))
        let first = Int64(zone.secondsFromGMT(for: instant))
        var transitions: [Transition] = []
        while let next = zone.nextDaylightSavingTimeTransition(after: instant), next < last, next > instant {
            transitions.append(
                Transition(
                    epochSeconds: Int64(next.timeIntervalSince1970),
                    offsetSeconds: Int64(zone.secondsFromGMT(for: next))))
            instant = next
        }
        return ZoneTable(name: name, firstOffsetSeconds: first, transitions: transitions)
    }

    /// What a key that names a zone accepts.
    package static let rule = TextRule(
        expectation: "a time zone of the IANA database, such as America/New_York",
        pattern: #"^[A-Za-z0-9_+\-/]{1,64}$"#,
        accepts: { $0.utf8.count <= 64 && TimeZone(identifier: $0) != nil })
}
