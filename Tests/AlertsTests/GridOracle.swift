// What thresholds must do, written from the design's page alone: whole seconds, a look every ten, no code of the engine.
//
// It knows a person's value as numbers in time, and keeps the least that the page's sentences need.

/// One cell of the grid: what was set, what came, and who was there.
struct GridCell: Sendable, CustomStringConvertible {
    struct Metric: Sendable {
        var name: String
        var isLow: Bool
        var bound: Double
        /// As the page gives it.
        var critical: Double
        /// Whether a value at the critical bound is beyond it: the sensor ends there.
        var endsAtCritical = false
        /// Units a minute; nil for a metric of which nobody says how fast it moves.
        var fastest: Double?
        var safe: Double
        var beyond: Double
        var worst: Double
    }
    enum Snooze: String, Sendable, CaseIterable {
        case never, before, during
    }
    enum Front: String, Sendable, CaseIterable {
        case never, always, leftAtOnce, leftLater, dead
    }
    enum Loss: String, Sendable, CaseIterable {
        case none, forGood, gap
    }
    enum Course: String, Sendable, CaseIterable {
        case beyond, worse, sudden, spike
    }

    var metric: Metric
    /// s.
    var sensitivity: Int
    var isQuiet: Bool
    var snooze: Snooze
    var front: Front
    var loss: Loss
    var course: Course

    static let minute = 60
    static let horizon = 100 * minute
    static let quietEnd = 60 * minute
    static let snoozes = (before: (at: 2 * minute, for: 60 * minute), during: (at: 1350, for: 30 * minute))
    static let death = (at: 12 * minute, launch: 40 * minute)

    /// When the front is left, s; nil where it isn't, or nobody is there at the start.
    var leavesAt: Int? {
        switch front {
        case .leftAtOnce: 10 * Self.minute + 10
        case .leftLater: 13 * Self.minute
        case .never, .always, .dead: nil
        }
    }
    var startsInFront: Bool { [.always, .leftAtOnce, .leftLater].contains(front) }

    func isAlive(at second: Int) -> Bool {
        front != .dead || second < Self.death.at || second >= Self.death.launch
    }

    /// What the sensor says, by second.
    var readings: [(at: Int, value: Double)] {
        let (s, v, c) = (metric.safe, metric.beyond, metric.worst)
        let values: [Double]
        switch course {
        case .beyond: values = [s, s, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, s, s, s]
        case .worse: values = [s, s, v, c, c, c, v, v, v, s, s, v, c, v, v, s, s, s, s, s]
        case .sudden: values = [s, s, c, c, c, v, v, v, v, v, v, v, v, v, v, v, v, s, s, s]
        case .spike: values = [s, s, c, s, s, v, s, s, c, s, s, s, s, s, s, s, s, s, s, s]
        }
        let lastBefore = course == .worse ? 3 : 2
        return values.enumerated().filter { place, _ in
            switch loss {
            case .none: true
            case .forGood: place <= lastBefore
            case .gap: place <= lastBefore || place > lastBefore + 4
            }
        }.map { ($0.offset * 5 * Self.minute, $0.element) }
    }

    var description: String {
        "\(metric.name) \(metric.isLow ? "low" : "high"), \(sensitivity) s, quiet \(isQuiet), snooze \(snooze), front \(front), loss \(loss), \(course)"
    }
}

/// What the person's phone does, and when.
struct GridEvent: Hashable, Sendable, CustomStringConvertible {
    enum Kind: String, Sendable {
        case raise, notify, clear
    }
    var at: Int
    var kind: Kind
    var isCritical: Bool
    var description: String { "\(at / 60)m\(at % 60)s \(kind)\(isCritical ? " critical" : "")" }
}

/// The page, sentence by sentence.
struct GridOracle {
    private let cell: GridCell
    private let readings: [(at: Int, value: Double)]
    private var events: [GridEvent] = []
    // A wait for an alert.
    private var since: Int?
    private var count = 0
    /// When the newest critical value is raised at the latest.
    private var criticalDue: Int?
    // An alert.
    private var isActive = false
    private var isCritical = false
    private var isOwed = false
    private var isStanding = false
    private var lastNotified: (at: Int, isCritical: Bool)?
    // The person.
    private var inFront: Bool
    private var snoozedTo = 0
    private var snoozedCritical = false
    private var shownInFrontAt: Int?
    private var urgentInFrontSince: Int?
    // What is known.
    private var newest: (at: Int, value: Double)?

    init(_ cell: GridCell) {
        self.cell = cell
        readings = cell.readings
        inFront = cell.startsInFront
    }

    mutating func run() -> [GridEvent] {
        for second in stride(from: 0, through: GridCell.horizon, by: 10) { look(at: second) }
        return events
    }

    private func isBeyond(_ value: Double) -> Bool {
        (cell.metric.isLow ? value < cell.metric.bound : value > cell.metric.bound) || isBeyondCritical(value)
    }

    /// "A sensor's floor and ceiling count as beyond a bound that lies at them."
    private func isBeyondCritical(_ value: Double) -> Bool {
        if cell.metric.endsAtCritical, value == cell.metric.critical { return true }
        return cell.metric.isLow ? value < cell.metric.critical : value > cell.metric.critical
    }

    private mutating func look(at now: Int) {
        guard cell.isAlive(at: now) else {
            // What time would have done to a dead app is not done; the rest it finds.
            return
        }
        if cell.front == .dead, now == GridCell.death.launch { launch(at: now) }
        actOfPerson(at: now)
        if let reading = readings.last(where: { $0.at == now }) { hear(reading, at: now) }
        // "A stale metric (older than 15 min) drops a pending start and neither clears nor raises."
        if let newest, now - newest.at > 15 * 60, since != nil {
            if let due = criticalDue, due <= now { raise(at: now) }
            (since, count, criticalDue) = (nil, 0, nil)
        }
        raiseIfDue(at: now)
        // "Urgent and unanswered so long in front: notified."
        if let urgent = urgentInFrontSince, now >= urgent + 5 * 60 {
            urgentInFrontSince = nil
            if isActive, isCritical { notify(at: now, evenInFront: true) }
        }
        release(at: now)
    }

    /// What the sensor said last while nobody listened. What it says in this very instant is judged in its place.
    private mutating func launch(at now: Int) {
        guard let last = readings.last(where: { $0.at < now }), last.at > newest?.at ?? -1 else {
            return
        }
        guard readings.contains(where: { $0.at == now }), now - last.at <= 15 * 60 else {
            return hear(last, at: now)
        }
        if let newest, now - newest.at > 15 * 60 { (since, count, criticalDue) = (nil, 0, nil) }
        newest = last
    }

    private mutating func actOfPerson(at now: Int) {
        let snoozes: [(Int, Int)]
        switch cell.snooze {
        case .never: snoozes = []
        case .before: snoozes = [GridCell.snoozes.before]
        case .during: snoozes = [GridCell.snoozes.during]
        }
        for (at, span) in snoozes where at == now {
            snoozedTo = now + span
            snoozedCritical = isActive && isCritical
            if isActive { isOwed = true }
            (shownInFrontAt, urgentInFrontSince) = (nil, nil)
        }
        guard now == cell.leavesAt else { return }
        inFront = false
        // "Raised in front and the front is left within so long: notified."
        if let shown = shownInFrontAt, now - shown <= 15, isActive { notify(at: now) }
        shownInFrontAt = nil
    }

    private mutating func hear(_ reading: (at: Int, value: Double), at now: Int) {
        let before = newest
        guard now - reading.at <= 15 * 60 else { return }
        newest = reading
        if let before, now - before.at > 15 * 60 { (since, count, criticalDue) = (nil, 0, nil) }
        guard isBeyond(reading.value) else {
            (since, count, criticalDue) = (nil, 0, nil)
            if isActive { clear(at: now) }
            return
        }
        let critical = isBeyondCritical(reading.value)
        if isActive {
            let rose = critical && !isCritical
            isCritical = critical
            if rose { notify(at: now) }
            return
        }
        if since == nil {
            since = now
            count = 0
        }
        // What launch and sensor say in one instant is one.
        count = before.map { _ in now == since ? 1 : count + 1 } ?? 1
        guard critical else {
            criticalDue = nil
            return
        }
        // "Then at the confirming reading, or after one interval + 30 s without any."
        if criticalDue != nil || !isTooFast(reading, before) {
            criticalDue = now
        } else if let before {
            criticalDue = reading.at + min(reading.at - before.at, 5 * 60) + 30
        }
    }

    private func isTooFast(_ reading: (at: Int, value: Double), _ before: (at: Int, value: Double)?) -> Bool {
        guard let fastest = cell.metric.fastest, let before else { return false }
        return abs(reading.value - before.value) * 60 > fastest * Double(reading.at - before.at)
    }

    private mutating func raiseIfDue(at now: Int) {
        guard let since, !isActive else { return }
        // "Raised at t0 + d if a second fresh violating value has come, else at that value."
        let byTime = now >= since + cell.sensitivity && (cell.sensitivity == 0 || count >= 2)
        if byTime || criticalDue.map({ $0 <= now }) ?? false { raise(at: now) }
    }

    private mutating func raise(at now: Int) {
        isActive = true
        isCritical = newest.map { isBeyondCritical($0.value) } ?? false
        (since, count, criticalDue) = (nil, 0, nil)
        events.append(GridEvent(at: now, kind: .raise, isCritical: isCritical))
        notify(at: now)
    }

    private mutating func clear(at now: Int) {
        events.append(GridEvent(at: now, kind: .clear, isCritical: isCritical))
        (isActive, isOwed, isStanding) = (false, false, false)
        (shownInFrontAt, urgentInFrontSince) = (nil, nil)
    }

    // MARK: Who is told

    private func isSnoozed(at now: Int) -> Bool { now < snoozedTo && (!isCritical || snoozedCritical) }
    private func isHushed(at now: Int) -> Bool { cell.isQuiet && now < GridCell.quietEnd && !isCritical }
    private func isCooling(at now: Int) -> Bool {
        guard let last = lastNotified, !isCritical || last.isCritical else { return false }
        return now < last.at + (isCritical ? 60 : 5 * 60)
    }

    private mutating func notify(at now: Int, evenInFront: Bool = false) {
        if isSnoozed(at: now) || isHushed(at: now) {
            isOwed = true
            (shownInFrontAt, urgentInFrontSince) = (nil, nil)
        } else if inFront, !evenInFront {
            isOwed = false
            shownInFrontAt = now
            urgentInFrontSince = isCritical ? urgentInFrontSince ?? now : nil
        } else if isCooling(at: now) {
            // Gone while the earlier one stands.
            if !isStanding { isOwed = true }
        } else {
            events.append(GridEvent(at: now, kind: .notify, isCritical: isCritical))
            lastNotified = (now, isCritical)
            (isOwed, isStanding) = (false, true)
            (shownInFrontAt, urgentInFrontSince) = (nil, nil)
        }
    }

    private mutating func release(at now: Int) {
        guard isOwed, isActive, !isSnoozed(at: now), !isHushed(at: now), !isCooling(at: now) else { return }
        isOwed = false
        notify(at: now)
    }
}
