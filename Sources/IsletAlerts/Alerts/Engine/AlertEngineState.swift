// Everything that the engine remembers. Written as one transaction; a relaunch starts from it.

public import IsletKernel

extension AlertEngine {
    /// What one rule remembers.
    public struct Track: Hashable, Sendable, Codable {
        /// Whether the condition held when it was last judged.
        public var holds = false
        /// When it began to hold, while no episode has come of it.
        public var pendingSince: Instant?
        /// When the value was measured with which the wait began; nil where no value began it.
        public var firstValueAt: Instant?
        /// When the newest value, which is critical, is raised whatever else is waited for; nil while it isn't critical.
        public var criticalBy: Instant?
        /// When it ended, while the episode outlives it.
        public var clearingSince: Instant?
        public var active: ActiveAlert?
        public var lastNotified: Instant?
        public var lastNotifiedSeverity = AlertSeverity.informational
        public var snoozedUntil: Instant?
        public var snoozedSeverity = AlertSeverity.informational
        /// Without what time had added.
        public var snoozedOwnSeverity = AlertSeverity.informational
        /// A notification was held back by something that ends by itself.
        public var isOwed = false
        /// It was a cooldown, whose notification had been withdrawn: with the app in front at its end nothing is owed.
        public var isOwedByCooldown = false
        /// When it was last only shown, the app being in front; nil once it was notified or answered.
        public var heldInFrontAt: Instant?
        /// Since when it is shown in front only, and urgent.
        public var urgentInFrontSince: Instant?
        /// The own severity of the episode that was closed by acknowledging while its condition held on.
        public var closedSeverity: AlertSeverity?
        /// Since the condition began, for a rule that compares metrics.
        public var values: AlertValues?
        public var nextRepeat: Instant?
        public var nextRefresh: Instant?
        public var escalationsDone = 0
        /// The system shows a notification.
        public var isShown = false
        /// The system shows the notification of a preview.
        public var isPreviewShown = false
        /// The system will ring then, unless the app lives to do it; nil for never.
        public var scheduled: RingsAhead?
        public var details = Details()

        /// Nothing happens and nothing happened that is not over.
        @inline(__always) var isQuiet: Bool { !holds && !isActive && pendingSince == nil }
        var isScheduled: Bool { if case .some = scheduled { true } else { false } }
        @inline(__always) var isActive: Bool { if case .some = active { true } else { false } }
        /// An episode that its condition brought about.
        var isRealActive: Bool { active?.isPreview == false }
        /// Quiet, and nothing is owed or shown.
        @inline(__always) var isAtRest: Bool { isQuiet && !isShown && !isOwed && !isPreviewShown }
    }

    /// What the source last said about its condition.
    public struct Details: Hashable, Sendable, Codable {
        public var sourceCode = ""
        /// Empty for the catalogue's own words.
        public var message = ""
        public var countdownTo: Instant?
        /// Since when what the message counts up has been so.
        public var since: Instant?
        /// Where it differs from the rule's.
        public var severity: AlertSeverity?

        public init(
            sourceCode: String = "", message: String = "", countdownTo: Instant? = nil, since: Instant? = nil,
            severity: AlertSeverity? = nil
        ) {
            self.sourceCode = sourceCode
            self.message = message
            self.countdownTo = countdownTo
            self.since = since
            self.severity = severity
        }
    }

    /// The newest value of a metric.
    public struct Sample: Hashable, Sendable, Codable {
        public var value: Double
        public var sampledAt: Instant
    }

    /// Kept by code and metric, never by position: rules and metrics come and go between two launches.
    public struct State: Hashable, Sendable {
        /// Under which policy: its fingerprint.
        public internal(set) var policy: UInt64
        /// Whose the tracks are.
        public internal(set) var keys: [Key]
        /// One a rule.
        public var tracks: [Track]
        /// One a metric, at the metric's index.
        public var samples: [Sample?]
        /// When the newest reliable reading was taken; nil before the first.
        public var newestReading: Instant?
        /// Newest first, at most 100.
        public var recentlyCleared: [ClearedAlert] = []
        /// Asked of the system and not known to be carried out.
        public var outbox: [NotificationRequest] = []
        /// Only ever grows, over every change of the policy: the system forgets none that it has seen.
        public var nextToken: Int64 = 1
        /// Banners that are gone though their alerts are active.
        public var banners: [AlertBannerMark] = []

        init(_ policy: PreparedPolicy) {
            self.init(keys: policy.keys, policy: policy.fingerprint)
            grow(to: policy.metricCount)
        }

        init(keys: [Key], policy: UInt64) {
            self.keys = keys
            self.policy = policy
            tracks = [Track](repeating: Track(), count: keys.count)
            samples = [Sample?](repeating: nil, count: AlertMetric.allCases.count)
        }

        /// Makes room for the metrics of another policy.
        mutating func grow(to metrics: Int) {
            guard samples.count < metrics else { return }
            samples += [Sample?](repeating: nil, count: metrics - samples.count)
        }
    }
}

extension AlertEngine.State: Codable {
    private enum Part: String, CodingKey {
        case policy, tracks, samples, newestReading, recentlyCleared, outbox, nextToken, banners
    }

    private struct KeyedTrack: Codable {
        var key: AlertEngine.Key
        /// nil for one that is as it was made.
        var track: AlertEngine.Track?
    }

    private struct KeyedSample: Codable {
        var metric: String
        var sample: AlertEngine.Sample
    }

    public func encode(to encoder: any Encoder) throws {
        var parts = encoder.container(keyedBy: Part.self)
        try parts.encode(policy, forKey: .policy)
        let unused = AlertEngine.Track()
        try parts.encode(
            zip(keys, tracks).map { KeyedTrack(key: $0, track: $1 == unused ? nil : $1) }, forKey: .tracks)
        var known = AlertMetric.allCases.compactMap { metric in
            samples[metric.index].map { KeyedSample(metric: metric.rawValue, sample: $0) }
        }
        // By name: a place is the program's, not the policy's.
        known += samples.indices.dropFirst(AlertMetric.allCases.count).compactMap { place in
            samples[place].map {
                KeyedSample(
                    metric: AlertMetric(ownPlace: place - AlertMetric.allCases.count).rawValue, sample: $0)
            }
        }.sorted { $0.metric < $1.metric }
        try parts.encode(known, forKey: .samples)
        try parts.encodeIfPresent(newestReading, forKey: .newestReading)
        try parts.encode(recentlyCleared, forKey: .recentlyCleared)
        try parts.encode(outbox, forKey: .outbox)
        try parts.encode(nextToken, forKey: .nextToken)
        if !banners.isEmpty { try parts.encode(banners, forKey: .banners) }
    }

    /// What an older format says by position is nobody's; the tokens go on from it all the same.
    public init(from decoder: any Decoder) throws {
        let parts = try decoder.container(keyedBy: Part.self)
        self.init(keys: [], policy: (try? parts.decode(UInt64.self, forKey: .policy)) ?? 0)
        nextToken = try parts.decode(Int64.self, forKey: .nextToken)
        guard let stored = try? parts.decode([KeyedTrack].self, forKey: .tracks) else { return }
        keys = stored.map(\.key)
        tracks = stored.map { $0.track ?? AlertEngine.Track() }
        for one in try parts.decode([KeyedSample].self, forKey: .samples) {
            guard let metric = AlertMetric(inPolicy: one.metric) else { continue }
            grow(to: metric.index + 1)
            samples[metric.index] = one.sample
        }
        newestReading = try parts.decodeIfPresent(Instant.self, forKey: .newestReading)
        recentlyCleared = try parts.decode([ClearedAlert].self, forKey: .recentlyCleared)
        outbox = try parts.decode([NotificationRequest].self, forKey: .outbox)
        banners = try parts.decodeIfPresent([AlertBannerMark].self, forKey: .banners) ?? []
    }
}
