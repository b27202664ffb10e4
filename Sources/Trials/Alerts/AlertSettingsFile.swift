// Thresholds of one owner on several devices: policy files in, one policy file out.
//
// Guarantees: of each side of each metric the newest write stays, the later device name where two are of one second; a
// threshold that was switched off stays so until a newer write switches it on. Merging again, or in another order, changes
// no threshold.
// Does not: merge anything else. Rules, quiet hours and name are those of the first file.

public import Alerts
import Foundation
public import Records

extension AlertSettings {
    /// The thresholds of a policy file, each with its time and device.
    public static func read(path: String) throws(InputProblem) -> AlertSettings {
        try decode(try YAMLDocument.read(path: path))
    }

    static func decode(_ document: YAMLNode) throws(InputProblem) -> AlertSettings {
        let root = YAMLReader(document)
        try root.check(.mapping(AlertPolicy.shape))
        var settings = AlertSettings()
        let subject = try root["subject"]?.text() ?? ""
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
            for rule in try AlertPolicy.decodeThreshold(
                item, subject: subject, isLiteral: false, evenDisabled: true)
            {
                settings.take(
                    AlertSettingsWrite(
                        rule, isEnabled: isEnabled, writtenAt: written.unixSeconds, device: try device.text())
                )
            }
        }
        return settings
    }

    /// `policy` with these thresholds in place of its own, as the text of a policy file that can be merged again.
    public func text(in policy: AlertPolicy) -> String {
        var policy = policy
        policy.rules.removeAll { $0.code.hasPrefix("THRESHOLD-") }
        policy.rules += writes.map(\.rule)
        let thresholds = writes.map { write -> JSONValue in
            let time = Date(timeIntervalSince1970: Double(write.writtenAt)).ISO8601Format()
            return .object(
                write.rule.thresholdMembers + [
                    .init("enabled", .bool(write.isEnabled)), .init("writtenAt", .string(time)),
                    .init("device", .string(write.device)),
                ])
        }
        return policy.json(thresholds: thresholds).prettyText
    }
}
