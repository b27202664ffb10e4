// Thresholds of one owner on several devices: policy files in, one policy file out.
//
// Guarantees: of each metric the newest write stays, with the sides that it says and no others; within one second the higher
// `sequence`, then the later device name. A threshold that was switched off stays so until a newer write switches it on. Merging
// again, or in another order, changes no threshold.
// Does not: merge anything else. Rules, quiet hours and name are those of the first file.

package import IsletAlerts
import Foundation
package import IsletDevices

extension AlertSettings {
    /// The thresholds of a policy file, each with its time and device.
    package static func read(path: String) throws(InputError) -> AlertSettings {
        try decode(try YAMLDocument.read(path: path))
    }

    static func decode(_ document: YAMLNode) throws(InputError) -> AlertSettings {
        let root = YAMLReader(document)
        try root.check(.mapping(AlertPolicy.shape))
        var settings = AlertSettings()
        let subject = try root["subject"]?.text() ?? ""
        // Several entries of one metric are one write, as new as the newest of them.
        var writes: [AlertSettingsWrite] = []
        for item in root["thresholds"]?.items ?? [] {
            guard let time = item["writtenAt"], let device = item["device"] else {
                throw item.problem(
                    found: "a threshold without `writtenAt` and `device`",
                    expected: "both, to tell which is newer")
            }
            guard let written = StudyStart(try time.text()) else {
                throw time.problem(expected: StudyStart.rule.expectation)
            }
            let isEnabled = try item["enabled"]?.flag() ?? true
            let rules = try AlertPolicy.decodeThreshold(
                item, subject: subject, isLiteral: false, evenDisabled: true)
            writes.append(
                AlertSettingsWrite(
                    rules.map { .init($0, isEnabled: isEnabled) },
                    time: HybridTime(
                        seconds: written.unixSeconds,
                        sequence: Int64(try item["sequence"]?.wholeNumber() ?? 0)),
                    device: try device.text()))
        }
        for newest in writes where !writes.contains(where: { $0.key == newest.key && $0.supersedes(newest) })
        {
            let older = writes.filter { $0.key == newest.key && newest.supersedes($0) }
                .sorted { $0.supersedes($1) }
            var sides = newest.sides
            for side in older.flatMap(\.sides)
            where !sides.contains(where: { $0.rule.code == side.rule.code }) {
                sides.append(side)
            }
            settings.take(AlertSettingsWrite(sides, time: newest.time, device: newest.device))
        }
        return settings
    }

    /// `policy` with these thresholds in place of its own, as the text of a policy file that can be merged again.
    package func text(in policy: AlertPolicy) -> String {
        var policy = policy
        policy.rules.removeAll { $0.code.isOfThreshold }
        policy.rules += writes.flatMap(\.sides).map(\.rule)
        let thresholds = writes.flatMap { write -> [JSONValue] in
            let time = Date(timeIntervalSince1970: Double(write.time.seconds)).ISO8601Format()
            return write.sides.map { side in
                .object(
                    side.rule.thresholdMembers + [
                        .init("enabled", .bool(side.isEnabled)), .init("writtenAt", .string(time)),
                        .init("sequence", .integer(write.time.sequence)),
                        .init("device", .string(write.device)),
                    ])
            }
        }
        return policy.json(thresholds: thresholds).prettyText
    }
}
