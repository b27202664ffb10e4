// What a device and the hub between one owner's devices say to each other.
//
// Guarantees: one request and one answer carry everything; both may be lost, doubled or late. A write that can't be read is refused by itself, and the
// others are taken.

import IsletDevices

package struct SettingsRequest: Hashable, Sendable {
    package static let version = 1
    /// Writes in one request.
    package static let largest = 200

    package var device: String
    /// The start of the hub that this device has heard; nil for none.
    package var epoch: String?
    /// Up to which position.
    package var after: Int64
    package var writes: [SettingWrite]
    /// What stood in `writes` and can't be read, by its place there.
    package private(set) var unreadable: [SettingsAnswer.Refusal] = []
    /// The place of each of `writes` in what was sent.
    package private(set) var places: [Int]

    package init(device: String, epoch: String?, after: Int64, writes: [SettingWrite]) {
        self.device = device
        self.epoch = epoch
        self.after = after
        self.writes = writes
        places = Array(writes.indices)
    }
}

package struct SettingsAnswer: Hashable, Sendable, Codable {
    /// Writes in one answer.
    package static let largest = 500

    package struct Refusal: Hashable, Sendable, Codable {
        /// The place of the write in its request.
        package var index: Int
        package var reason: String
        /// Its time is too far ahead.
        package var isAhead: Bool

        package init(index: Int, reason: String, isAhead: Bool) {
            self.index = index
            self.reason = reason
            self.isAhead = isAhead
        }
    }

    package var version = SettingsRequest.version
    package var epoch: String
    /// Whether the writes are the first of all.
    package var isFromStart: Bool
    /// The writes are those after this position, up to with that one.
    package var after: Int64
    package var upTo: Int64
    package var hasMore: Bool
    /// The hub's, seconds since 1970.
    package var clock: Int64
    /// The newest time that the hub has taken.
    package var newest: HybridTime?
    /// The latest time that it takes, seconds since 1970.
    package var latest: Int64
    package var refused: [Refusal]
    package var writes: [SettingWrite]
}

extension SettingsRequest: Codable {
    private enum Key: String, CodingKey {
        case version
        case device
        case epoch
        case after
        case writes
    }

    private struct Attempt: Decodable {
        var write: SettingWrite?
        var reason = ""

        init(from decoder: any Decoder) {
            do {
                write = try SettingWrite(from: decoder)
            } catch {
                switch error {
                case DecodingError.dataCorrupted(let context), DecodingError.keyNotFound(_, let context),
                    DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
                    reason = "it can't be read here: " + printable(context.debugDescription, limit: 200)
                default: reason = "it can't be read here"
                }
            }
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var parts = encoder.container(keyedBy: Key.self)
        try parts.encode(Self.version, forKey: .version)
        try parts.encode(device, forKey: .device)
        try parts.encodeIfPresent(epoch, forKey: .epoch)
        try parts.encode(after, forKey: .after)
        try parts.encode(writes, forKey: .writes)
    }

    package init(from decoder: any Decoder) throws {
        let parts = try decoder.container(keyedBy: Key.self)
        guard try parts.decode(Int.self, forKey: .version) == Self.version else {
            throw DecodingError.dataCorruptedError(
                forKey: .version, in: parts, debugDescription: "expected version \(Self.version)")
        }
        device = try parts.decode(String.self, forKey: .device)
        epoch = try parts.decodeIfPresent(String.self, forKey: .epoch)
        after = try parts.decode(Int64.self, forKey: .after)
        let attempts = try parts.decode([Attempt].self, forKey: .writes)
        guard attempts.count <= Self.largest, after >= 0 else {
            throw DecodingError.dataCorruptedError(
                forKey: .writes, in: parts, debugDescription: "expected at most \(Self.largest) writes")
        }
        writes = []
        places = []
        for (place, attempt) in attempts.enumerated() {
            if let write = attempt.write {
                writes.append(write)
                places.append(place)
            } else {
                unreadable.append(.init(index: place, reason: attempt.reason, isAhead: false))
            }
        }
    }
}
