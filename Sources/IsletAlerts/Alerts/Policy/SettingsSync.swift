// Threshold settings of one owner on several devices.
//
// Guarantees: last write wins by a total order: hybrid logical time, device, content. Merging is commutative, associative and
// idempotent, so that devices which have seen the same writes agree, in whatever order and however often they saw them,
// also within one second; a write that was made knowing another is newer, whatever the clocks say. A write says both sides
// of its metric: one that it leaves out is gone.
// Does not: transport anything.

public import IsletDevices

/// When something was written: the wall clock, pushed on where it lags behind what the device has seen.
public struct HybridTime: Hashable, Sendable, Codable, Comparable {
    /// Seconds since 1970.
    public var seconds: Int64
    /// Counts the writes of one second.
    public var sequence: Int64

    /// After so many writes the next second begins.
    static let lastSequence: Int64 = 1_000_000_000

    public init(seconds: Int64, sequence: Int64 = 0) {
        self.seconds = seconds
        self.sequence = sequence
    }

    public static func < (a: Self, b: Self) -> Bool { (a.seconds, a.sequence) < (b.seconds, b.sequence) }

    /// The time of a write by a device whose clock shows `clock` and which has seen `newest`.
    public static func next(clock: Int64, after newest: HybridTime?) -> HybridTime {
        guard let newest, newest.seconds >= clock else { return HybridTime(seconds: clock) }
        guard newest.sequence < lastSequence else { return HybridTime(seconds: newest.seconds &+ 1) }
        return HybridTime(seconds: newest.seconds, sequence: newest.sequence + 1)
    }
}

/// One setting as one device wrote it.
public struct AlertSettingsWrite: Hashable, Sendable, Codable {
    /// A rule, and whether it is on. One that was switched off is written like any other.
    public struct Side: Hashable, Sendable, Codable {
        public var rule: AlertRule
        public var isEnabled: Bool

        public init(_ rule: AlertRule, isEnabled: Bool = true) {
            self.rule = rule
            self.isEnabled = isEnabled
        }
    }

    /// What is set: a metric's threshold, or a rule's code.
    public let key: String
    /// By code; a threshold's sides, or the one rule.
    public let sides: [Side]
    public let time: HybridTime
    public let device: String

    /// - Precondition: at least one side, all of one metric.
    public init(_ sides: [Side], time: HybridTime, device: String) {
        precondition(!sides.isEmpty, "a write says something")
        key = sides[0].rule.settingsKey
        self.sides = sides.sorted { $0.rule.code < $1.rule.code }
        self.time = time
        self.device = device
    }

    public init(_ rule: AlertRule, isEnabled: Bool = true, writtenAt: Int64, device: String) {
        self.init(
            [Side(rule, isEnabled: isEnabled)], time: HybridTime(seconds: writtenAt), device: device)
    }

    /// Whether this write stays where both were made.
    public func supersedes(_ other: AlertSettingsWrite) -> Bool {
        (time, device, content) > (other.time, other.device, other.content)
    }

    /// Tells two writes of one device and one time apart, on every device alike.
    private var content: UInt64 {
        var rules = sides.map(\.rule)
        for index in rules.indices { rules[index].subject += sides[index].isEnabled ? "\n1" : "\n0" }
        return AlertPolicy(name: "", rules: rules).fingerprint
    }
}

extension AlertName {
    /// Whether a threshold that a person set has this name.
    public var isOfThreshold: Bool { rawValue.hasPrefix("THRESHOLD-") }
}

extension AlertRule {
    /// Under which a write replaces another: both sides of a threshold are one setting.
    public var settingsKey: String {
        guard code.isOfThreshold, let metric = tests.first?.metric else { return code.rawValue }
        return "THRESHOLD-\(metric.codeName)"
    }
}

/// What one device holds.
public struct AlertSettings: Hashable, Sendable, Codable {
    /// Newest of each key, by key.
    public private(set) var writes: [AlertSettingsWrite] = []

    public init() {}

    /// A setting made on this device, newer than all that it has seen.
    /// - Parameter clock: seconds since 1970 as the device shows them.
    @discardableResult
    public mutating func write(
        _ sides: [AlertSettingsWrite.Side], clock: Int64, device: String
    ) -> AlertSettingsWrite {
        let time = HybridTime.next(clock: clock, after: writes.map(\.time).max())
        let write = AlertSettingsWrite(sides, time: time, device: device)
        take(write)
        return write
    }

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

    public var rules: [AlertRule] { writes.flatMap(\.sides).filter(\.isEnabled).map(\.rule) }
}
