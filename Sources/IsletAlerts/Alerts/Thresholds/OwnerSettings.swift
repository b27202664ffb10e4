// What one owner has set, and the store that keeps it.

/// The newest of everything, without what was deleted.
package struct OwnerSettings: Hashable, Sendable {
    /// By id; those that only a threshold names too.
    package private(set) var subjects: [AlertSubject] = []
    /// By subject and metric; those that are off too.
    package private(set) var thresholds: [AlertThreshold] = []
    package private(set) var quietTimes: QuietTimes?

    package init(_ ledger: SettingsLedger) {
        for row in ledger.rows {
            switch row.write.setting {
            case .threshold(let threshold): thresholds.append(threshold)
            case .subject(let subject): subjects.append(subject)
            case .quietHours(let hours): quietTimes = hours
            case nil: break
            }
        }
        for threshold in thresholds where !subjects.contains(where: { $0.id == threshold.subject }) {
            subjects.append(AlertSubject(id: threshold.subject, name: threshold.subject, kind: ""))
        }
        subjects.sort { $0.id < $1.id }
    }

    package func subject(_ id: String) -> AlertSubject? { subjects.first { $0.id == id } }
    package func thresholds(of id: String) -> [AlertThreshold] { thresholds.filter { $0.subject == id } }
}

/// Whether the person lets this device notify them. It is this device's, and is not synced.
package enum NotificationPermission: String, Sendable, CaseIterable {
    case notAsked = "not asked"
    case allowed
    case denied
}

/// Keeps one owner's settings on one device, and the history of their subjects.
package protocol OwnerStore: Sendable {
    var owner: String { get }
    func ledger() throws -> SettingsLedger
    /// Changes the ledger in one transaction, which is on the disk when this returns; nothing is changed where `body` throws.
    func update<R>(_ body: (inout SettingsLedger) throws -> R) throws -> R
    func permission() throws -> NotificationPermission
    func set(_ permission: NotificationPermission) throws
    /// The episodes of one subject, or of all; newest first.
    func history(of subject: String?) throws -> [ThresholdEpisode]
    /// Adds to the history; an episode that is there already, open, is replaced.
    func record(_ episodes: [ThresholdEpisode]) throws
}
