// What an owner sets: thresholds, subjects, quiet hours.
//
// Guarantees: each has one key, under which a newer write replaces an older one, on every device; equal settings have equal content.

package import IsletDevices

/// Whom thresholds are about.
package struct AlertSubject: Hashable, Sendable, Codable {
    /// As it stands in links: letters, digits, `.`, `_`, `-`.
    package var id: String
    /// For people.
    package var name: String
    /// `person`, `grow-room`, or what else somebody measures.
    package var kind: String
    /// The stage of the subject's life, for recommended ranges; empty where there is none.
    package var stage: String

    package init(id: String, name: String, kind: String = "person", stage: String = "") {
        self.id = id
        self.name = name
        self.kind = kind
        self.stage = stage
    }

    package static func check(id: String) throws(InputError) {
        let isPlain = id.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isPlain, (1...64).contains(id.utf8.count),
            id.first?.isLetter == true || id.first?.isNumber == true
        else {
            throw InputError(
                file: "subject", found: quoted(printable(id, limit: 80)),
                expected:
                    "an id of up to 64 letters, digits, `.`, `_`, `-` that begins with a letter or digit")
        }
    }

    package func check() throws(InputError) {
        try Self.check(id: id)
        if !kind.isEmpty { try Self.check(id: kind) }
        if !stage.isEmpty { try Self.check(id: stage) }
        guard !name.unicodeScalars.contains(where: isUnprintable), (1...100).contains(name.utf8.count) else {
            throw InputError(
                file: "subject \(id)", found: "a name of \(name.utf8.count) bytes",
                expected: "1 to 100 bytes without control characters")
        }
    }
}

/// When only what is safety-critical may make a noise, as it is kept: a zone by its name.
package struct QuietTimes: Hashable, Sendable, Codable {
    /// Minutes since local midnight; `from` is quiet, `to` is not. Equal ends are a whole day.
    package var from: Int
    package var to: Int
    package var timeZone: String

    package init(from: Int, to: Int, timeZone: String) {
        self.from = from
        self.to = to
        self.timeZone = timeZone
    }

    package func check() throws(InputError) {
        guard (0..<1440).contains(from), (0..<1440).contains(to) else {
            throw InputError(
                file: "quiet hours", found: "minutes \(from) to \(to)",
                expected: "minutes of a day, 0 to 1439")
        }
        guard (1...64).contains(timeZone.utf8.count) else {
            throw InputError(
                file: "quiet hours", found: "a time zone of \(timeZone.utf8.count) bytes",
                expected: "a time zone such as America/New_York")
        }
    }
}

/// One thing that an owner sets.
package enum OwnerSetting: Hashable, Sendable {
    case threshold(AlertThreshold)
    case subject(AlertSubject)
    case quietHours(QuietTimes)

    package var key: String {
        switch self {
        case .threshold(let threshold): Self.key(threshold.subject, threshold.metric)
        case .subject(let subject): "subject/\(subject.id)"
        case .quietHours: Self.quietHoursKey
        }
    }

    package static let quietHoursKey = "quietHours"
    package static func key(_ subject: String, _ metric: AlertMetric) -> String {
        "threshold/\(subject)/\(metric.rawValue)"
    }

    package func check() throws(InputError) {
        switch self {
        case .threshold(let threshold): try threshold.check()
        case .subject(let subject): try subject.check()
        case .quietHours(let hours): try hours.check()
        }
    }

    /// Tells two settings of one key apart, on every device alike.
    var content: String {
        func text(_ value: Double?) -> String { value.map { "\($0)" } ?? "" }
        switch self {
        case .threshold(let one):
            return "\(text(one.min));\(text(one.max));\(one.isEnabled);\(one.sensitivity);"
                + "\(text(one.criticalBelow));\(text(one.criticalAbove))"
        case .subject(let one): return "\(one.name)\n\(one.kind)\n\(one.stage)"
        case .quietHours(let one): return "\(one.from);\(one.to);\(one.timeZone)"
        }
    }
}

/// One setting as one device wrote it, or that it deleted it.
package struct SettingWrite: Hashable, Sendable {
    package let key: String
    /// nil for a deletion, which is a write like any other and stays.
    package let setting: OwnerSetting?
    package let time: HybridTime
    package let device: String

    package init(_ key: String, _ setting: OwnerSetting?, time: HybridTime, device: String) {
        self.key = key
        self.setting = setting
        self.time = time
        self.device = device
    }

    /// Whether this one stays where both were made.
    package func supersedes(_ other: SettingWrite) -> Bool {
        if time != other.time { return time > other.time }
        if device != other.device { return device > other.device }
        // Of one device and one time: of two copies of one store, say.
        return (setting?.content ?? "") > (other.setting?.content ?? "")
    }

    func stamped(_ time: HybridTime) -> SettingWrite {
        SettingWrite(key, setting, time: time, device: device)
    }

    /// The year 9999.
    private static let lastSecond: Int64 = 253_402_300_799

    /// Throws why no store may take it.
    package func check() throws(InputError) {
        func refuse(_ found: String, _ expected: String) -> InputError {
            InputError(file: "setting", found: found, expected: expected)
        }
        guard (0...Self.lastSecond).contains(time.seconds),
            (0...HybridTime.lastSequence).contains(time.sequence)
        else { throw refuse("a time of \(time.seconds) s, \(time.sequence)", "a time of this calendar") }
        do {
            try AlertSubject.check(id: device)
        } catch {
            throw refuse("a device of another form", "up to 64 letters, digits, `.`, `_`, `-`")
        }
        if let setting {
            try setting.check()
            guard setting.key == key else { throw refuse("a setting under another key", setting.key) }
        } else {
            let parts = key.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            let isKnown =
                switch parts.first {
                case "threshold": parts.count == 3 && AlertMetric(rawValue: parts[2]) != nil
                case "subject": parts.count == 2
                default: key == OwnerSetting.quietHoursKey
                }
            guard isKnown else {
                throw refuse("a deletion of \(quoted(printable(key, limit: 80)))", "a key of a setting")
            }
            if parts.count > 1 { try AlertSubject.check(id: parts[1]) }
        }
    }
}

extension SettingWrite: Codable {
    private enum Key: String, CodingKey {
        case key
        case deleted
        case threshold
        case subject
        case quietHours
        case seconds
        case sequence
        case device
    }

    package func encode(to encoder: any Encoder) throws {
        var parts = encoder.container(keyedBy: Key.self)
        try parts.encode(key, forKey: .key)
        switch setting {
        case nil: try parts.encode(true, forKey: .deleted)
        case .threshold(let one): try parts.encode(one, forKey: .threshold)
        case .subject(let one): try parts.encode(one, forKey: .subject)
        case .quietHours(let one): try parts.encode(one, forKey: .quietHours)
        }
        try parts.encode(time.seconds, forKey: .seconds)
        try parts.encode(time.sequence, forKey: .sequence)
        try parts.encode(device, forKey: .device)
    }

    package init(from decoder: any Decoder) throws {
        let parts = try decoder.container(keyedBy: Key.self)
        let settings = [
            try parts.decodeIfPresent(AlertThreshold.self, forKey: .threshold).map {
                OwnerSetting.threshold($0)
            },
            try parts.decodeIfPresent(AlertSubject.self, forKey: .subject).map { OwnerSetting.subject($0) },
            try parts.decodeIfPresent(QuietTimes.self, forKey: .quietHours).map {
                OwnerSetting.quietHours($0)
            },
        ].compactMap { $0 }
        let isDeleted = try parts.decodeIfPresent(Bool.self, forKey: .deleted) ?? false
        guard settings.count + (isDeleted ? 1 : 0) == 1 else {
            throw DecodingError.dataCorruptedError(
                forKey: .key, in: parts, debugDescription: "neither one setting nor a deletion")
        }
        self.init(
            try parts.decode(String.self, forKey: .key), settings.first,
            time: HybridTime(
                seconds: try parts.decode(Int64.self, forKey: .seconds),
                sequence: try parts.decode(Int64.self, forKey: .sequence)),
            device: try parts.decode(String.self, forKey: .device))
    }
}
