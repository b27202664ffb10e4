// A scenario file: cases of one policy, each a timeline and what must come of it.

public import Alerts
public import SessionTime

/// One scenario file.
public struct AlertScenario: Sendable {
    public var file: String
    public var suite: String
    public var cases: [Case]

    public struct Case: Sendable {
        public var name: String
        public var line: Int?
        public var tags: [String]
        public var policy: AlertPolicy
        public var compare: [AlertEffect.Kind]
        public var world: AlertWorld
        /// By instant; events of one instant in the order of the file.
        public var timeline: [(at: Instant, events: [AlertWorldEvent])]
        public var until: Instant
        public var expect: [Expectation]
        public var states: [StateExpectation]
    }

    /// One effect that must happen.
    public struct Expectation: Sendable {
        public var at: Instant
        public var kind: AlertEffect.Kind
        public var code: String
        public var severity: String?
        public var reason: String?
        public var messageContains: String?
        public var to: String?
    }

    /// What must be listed once everything of an instant is done.
    public struct StateExpectation: Sendable {
        public var at: Instant
        public var line: Int?
        public var active: [String]?
        public var pending: [String]?
        public var cleared: [String]?
        public var badge: Int?
        /// The banner's code; empty for no banner.
        public var banner: String?
        /// The quiet-hours indicator.
        public var quiet: Bool?
    }

    /// The effects that are compared where a file doesn't say.
    public static let standardCompare: [AlertEffect.Kind] = [
        .raise, .update, .clear, .notify, .withdraw, .route,
    ]
}
