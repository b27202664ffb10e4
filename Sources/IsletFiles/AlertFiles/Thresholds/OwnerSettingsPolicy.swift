// An owner's settings as policies: what the threshold center runs, and what a policy file can say.

package import IsletAlerts
import Foundation
package import IsletDevices
import IsletKernel

extension QuietTimes {
    /// With the zone's offsets of this century.
    package func resolved() throws(InputError) -> QuietHours {
        guard ZoneTable.rule.accepts(timeZone),
            let zone = ZoneTable.named(timeZone, around: 946_684_800, years: 100)
        else {
            throw InputError(
                file: "quiet hours", found: quoted(timeZone), expected: ZoneTable.rule.expectation)
        }
        let minute = Nanoseconds.minute
        return QuietHours(from: Int64(from) * minute, to: Int64(to) * minute, zone: zone)
    }

    /// `22:00 to 07:00, America/New_York`.
    package var words: String { "\(Self.text(from)) to \(Self.text(to)), \(timeZone)" }

    private static func text(_ minutes: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(minutes / 60)):\(two(minutes % 60))"
    }

    /// Minutes since midnight of `22:00`.
    package static func minutes(_ text: String) -> Int? {
        guard let match = text.wholeMatch(of: #/([01]\d|2[0-3]):([0-5]\d)/#), let hour = Int(match.output.1),
            let minute = Int(match.output.2)
        else { return nil }
        return hour * 60 + minute
    }
}

extension OwnerSettings {
    package func quietHours() throws(InputError) -> QuietHours? { try quietTimes?.resolved() }

    /// The subject's thresholds that are on, and the owner's quiet hours, as the text of a policy file.
    package func policyText(of subject: String) throws(InputError) -> String {
        let rules = thresholds(of: subject).flatMap { $0.rules(name: subject) }
        return AlertPolicy(name: subject, rules: rules, quietHours: try quietHours()).json.prettyText
    }

    /// The center of all subjects.
    /// - Parameter start: seconds since 1970 at the session's start.
    package func center(start: Int64, permission: NotificationPermission) throws(InputError)
        -> ThresholdCenter
    {
        ThresholdCenter(
            self, quietHours: try quietHours(),
            wallClock: WallClock(
                startEpochSeconds: start, zone: ZoneTable(name: "UTC", firstOffsetSeconds: 0)),
            permission: permission)
    }
}

/// Seconds since 1970 as `2026-03-02T06:00:00Z`.
package func utcText(_ epochSeconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(epochSeconds)).ISO8601Format()
}
