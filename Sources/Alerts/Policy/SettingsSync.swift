// Threshold settings of one owner on several devices.
//
// Guarantees: last write wins by (time, device): merging is commutative, associative and idempotent, so that devices which
// have seen the same writes agree, in whatever order they saw them; a newer write is never lost to an older one.
// Does not: transport anything.

/// One setting as one device wrote it.
public struct AlertSettingsWrite: Hashable, Sendable, Codable {
    /// What is set: a rule's code.
    public var key: String
    public var rule: AlertRule
    /// False where it was switched off: a write like any other.
    public var isEnabled: Bool
    /// Seconds since 1970 on the writing device.
    public var writtenAt: Int64
    public var device: String

    public init(_ rule: AlertRule, isEnabled: Bool = true, writtenAt: Int64, device: String) {
        key = rule.code
        self.rule = rule
        self.isEnabled = isEnabled
        self.writtenAt = writtenAt
        self.device = device
    }

    /// Whether this write stays where both were made.
    public func supersedes(_ other: AlertSettingsWrite) -> Bool {
        (writtenAt, device) > (other.writtenAt, other.device)
    }
}

/// What one device holds.
public struct AlertSettings: Hashable, Sendable, Codable {
    /// Newest of each key, by key.
    public private(set) var writes: [AlertSettingsWrite] = []

    public init() {}

    public mutating func take(_ write: AlertSettingsWrite) {
        guard let place = writes.firstIndex(where: { $0.key >= write.key }) else {
            return writes.append(write)
        }
        if writes[place].key != write.key {
            writes.insert(write, at: place)
        } else if write.supersedes(writes[place]) {
            writes[place] = write
        }
    }

    public mutating func merge(_ other: AlertSettings) {
        for write in other.writes { take(write) }
    }

    public var rules: [AlertRule] { writes.filter(\.isEnabled).map(\.rule) }
}
