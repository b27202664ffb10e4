// The settings of one owner as one device, or the hub between devices, keeps them.
//
// Guarantees: of each key the newest write stays, by hybrid logical time, then device; a deletion is a write and stays too, so that nothing comes
// back. A write made here is newer than all that was seen here. Merging is commutative, associative and idempotent. What is written here is
// pending until the hub has said that it holds it, or something newer. What the hub refused is kept, still pending, and gets a new time once
// this device's clock no longer is where the refused time was: nobody else can have seen it.
// Does not: store or send anything: both are done with a copy of this value, in one transaction.

package import IsletDevices

package struct SettingsLedger: Hashable, Sendable {
    package struct Row: Hashable, Sendable {
        package var write: SettingWrite
        /// Rises with each change of any row; the order in which the hub hands rows out.
        package var position: Int64
        /// The hub has not said yet that it has it.
        package var isPending: Bool
        /// Why the hub didn't take it; nil where it did, or was not asked.
        package var refusal: String?

        package init(_ write: SettingWrite, position: Int64, isPending: Bool, refusal: String? = nil) {
            self.write = write
            self.position = position
            self.isPending = isPending
            self.refusal = refusal
        }
    }

    /// How far this device has heard the hub.
    package struct HubPlace: Hashable, Sendable {
        package var epoch: String
        package var position: Int64

        package init(epoch: String, position: Int64) {
            self.epoch = epoch
            self.position = position
        }
    }

    /// Farther ahead of the hub's clock no time is taken, s: one such clock would outdate everybody's writes for as long.
    package static let farthestAhead: Int64 = 86_400

    package let device: String
    /// By key.
    package private(set) var rows: [Row]
    package private(set) var newestPosition: Int64
    /// What a write made here has to be newer than: the newest that was seen or written here, but for what was refused.
    package private(set) var newestTime: HybridTime?
    package private(set) var hub: HubPlace?

    package init(
        device: String, rows: [Row] = [], newestPosition: Int64 = 0, newestTime: HybridTime? = nil,
        hub: HubPlace? = nil
    ) {
        self.device = device
        self.rows = rows.sorted { $0.write.key < $1.write.key }
        self.newestPosition = newestPosition
        self.newestTime = newestTime
        self.hub = hub
    }

    private func place(of key: String) -> (index: Int, isThere: Bool) {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].write.key < key { low = middle + 1 } else { high = middle }
        }
        return (low, low < rows.count && rows[low].write.key == key)
    }

    package func row(_ key: String) -> Row? {
        let place = place(of: key)
        return place.isThere ? rows[place.index] : nil
    }

    private mutating func put(_ write: SettingWrite, isPending: Bool) {
        newestPosition += 1
        let row = Row(write, position: newestPosition, isPending: isPending)
        let place = place(of: write.key)
        if place.isThere { rows[place.index] = row } else { rows.insert(row, at: place.index) }
    }

    private mutating func see(_ time: HybridTime) { newestTime = max(newestTime ?? time, time) }

    // MARK: Writing here

    /// - Parameter clock: seconds since 1970 as this device shows them.
    @discardableResult
    package mutating func set(_ setting: OwnerSetting, clock: Int64) throws(InputError) -> SettingWrite {
        try setting.check()
        return write(setting.key, setting, clock: clock)
    }

    /// Deletes what is there; says whether there was anything.
    @discardableResult
    package mutating func delete(_ key: String, clock: Int64) -> Bool {
        guard row(key)?.write.setting != nil else { return false }
        write(key, nil, clock: clock)
        return true
    }

    @discardableResult
    private mutating func write(_ key: String, _ setting: OwnerSetting?, clock: Int64) -> SettingWrite {
        restampRefused(clock: clock)
        // Newer than all that is here, also than what the hub refuses.
        let newest = rows.reduce(newestTime) { max($0 ?? $1.write.time, $1.write.time) }
        let write = SettingWrite(
            key, setting, time: HybridTime.next(clock: clock, after: newest), device: device)
        let isLikeRefused = rows.contains { $0.refusal != nil && $0.write.time < write.time }
        // In place of whatever is there: a refused one may bear a later time, but nobody else has seen it.
        put(write, isPending: true)
        if !isLikeRefused { see(write.time) }
        return write
    }

    /// What the hub refused because this device's clock ran ahead gets a time of now, and so does what was written with that clock since: in the order
    /// in which it was written, or an effect of the first could reach others with a time before it.
    package mutating func restampRefused(clock: Int64) {
        let ahead = rows.filter { $0.isPending && $0.write.time.seconds > clock + Self.farthestAhead }
        guard ahead.contains(where: { $0.refusal != nil }) else { return }
        for row in ahead.sorted(by: { $0.position < $1.position }) {
            let time = HybridTime.next(clock: clock, after: newestTime)
            put(row.write.stamped(time), isPending: true)
            see(time)
        }
    }

    // MARK: Taking

    /// A write of another device, or of this one as another store has it.
    @discardableResult
    package mutating func take(_ write: SettingWrite) -> Bool {
        see(write.time)
        let place = place(of: write.key)
        guard place.isThere else {
            put(write, isPending: false)
            return true
        }
        let mine = rows[place.index].write
        if write.supersedes(mine) {
            put(write, isPending: false)
            return true
        }
        if write == mine {
            rows[place.index].isPending = false
            rows[place.index].refusal = nil
        } else {
            // Who sent it has less than we do.
            rows[place.index].isPending = true
        }
        return false
    }
}

extension SettingsLedger {
    // MARK: The device's side

    /// What the hub is to hear next: up to `limit` pending writes, oldest first, those that it has refused last.
    /// - Parameter resending: whether those are sent at all.
    package func request(resending: Bool = true, limit: Int = SettingsRequest.largest) -> SettingsRequest {
        let pending = rows.filter { $0.isPending && (resending || $0.refusal == nil) }.sorted {
            ($0.refusal != nil) != ($1.refusal != nil) ? $0.refusal == nil : $0.position < $1.position
        }
        return SettingsRequest(
            device: device, epoch: hub?.epoch, after: hub?.position ?? 0,
            writes: pending.prefix(limit).map(\.write))
    }

    /// Whether something waits that the hub has not refused.
    package var hasUnsent: Bool { rows.contains { $0.isPending && $0.refusal == nil } }
    /// What the hub refused when it last heard of it.
    package var refused: [Row] { rows.filter { $0.refusal != nil } }

    /// The hub's answer to `request`, however late or often it comes.
    package mutating func take(_ answer: SettingsAnswer, to request: SettingsRequest) {
        for (index, write) in request.writes.enumerated() {
            let place = place(of: write.key)
            // Changed here meanwhile: the newer one is still to be sent.
            guard place.isThere, rows[place.index].write == write else { continue }
            let refusal = answer.refused.first { $0.index == index }
            rows[place.index].isPending = refusal != nil
            rows[place.index].refusal = refusal?.reason
        }
        if answer.refused.contains(where: \.isAhead) {
            // Nothing later than this has left this device; what follows need not be later than what was refused.
            newestTime = answer.newest
            for row in rows where row.refusal == nil && row.write.time.seconds <= answer.latest {
                see(row.write.time)
            }
        }
        for write in answer.writes { take(write) }
        if answer.isFromStart, hub?.epoch != answer.epoch {
            // Another hub, or one that was started anew: it hears all that this device has.
            for index in rows.indices where !answer.writes.contains(rows[index].write) {
                rows[index].isPending = true
            }
            hub = HubPlace(epoch: answer.epoch, position: answer.upTo)
        } else if let known = hub, known.epoch == answer.epoch, answer.after <= known.position {
            hub = HubPlace(epoch: known.epoch, position: max(known.position, answer.upTo))
        }
    }

    // MARK: The hub's side

    /// Takes what a device sends, and answers with what it has not heard. Hearing it again changes nothing.
    /// - Parameters:
    ///   - clock: seconds since 1970 as the hub shows them.
    ///   - epoch: of this start of the hub; a device that knows another one begins anew.
    package mutating func answer(
        _ request: SettingsRequest, clock: Int64, epoch: String, limit: Int = SettingsAnswer.largest
    ) -> SettingsAnswer {
        // A hub whose own clock once ran ahead holds such times: what follows them must be let in.
        let latest = max(clock + Self.farthestAhead, newestTime?.seconds ?? 0)
        var refused = request.unreadable
        for (index, write) in zip(request.places, request.writes) {
            if let mine = row(write.key)?.write, mine == write || mine.supersedes(write) { continue }
            do {
                try write.check()
            } catch {
                refused.append(.init(index: index, reason: error.description, isAhead: false))
                continue
            }
            guard write.time.seconds <= latest else {
                let days = (write.time.seconds - clock) / 86_400
                refused.append(
                    .init(
                        index: index,
                        reason: "its time is \(days) days ahead of the hub's clock; a day is the most",
                        isAhead: true))
                continue
            }
            take(write)
        }
        let isKnown = request.epoch == epoch && request.after <= newestPosition
        let after = isKnown ? request.after : 0
        let news = rows.filter { $0.position > after }.sorted { $0.position < $1.position }
        let page = news.prefix(limit)
        let hasMore = news.count > page.count
        return SettingsAnswer(
            epoch: epoch, isFromStart: after == 0, after: after,
            upTo: hasMore ? page.last?.position ?? after : newestPosition, hasMore: hasMore, clock: clock,
            newest: newestTime, latest: latest, refused: refused, writes: page.map(\.write))
    }
}
