// A scenario file: cases of one policy, each a timeline and what must come of it.

package import IsletAlerts
package import IsletDevices
package import IsletKernel

/// One scenario file.
package struct AlertScenario: Sendable {
    package var file: String
    package var suite: String
    package var cases: [Case]
    /// What holds where a case says nothing.
    var setup = ScenarioSetup()

    package struct Case: Sendable {
        package var name: String
        package var line: Int?
        package var tags: [String]
        package var policy: AlertPolicy
        package var compare: [AlertEffect.Kind]
        package var world: AlertWorld
        /// By instant; events of one instant in the order of the file.
        package var timeline: [(at: Instant, events: [AlertWorldEvent])]
        package var until: Instant
        package var expect: [Expectation]
        package var states: [StateExpectation]
    }

    /// One effect that must happen.
    package struct Expectation: Sendable {
        package var at: Instant
        package var kind: AlertEffect.Kind
        package var code: AlertName
        package var severity: String?
        package var reason: String?
        package var messageContains: String?
        package var to: String?
    }

    /// What must be listed once everything of an instant is done.
    package struct StateExpectation: Sendable {
        package var at: Instant
        package var line: Int?
        package var active: [AlertName]?
        package var pending: [AlertName]?
        package var cleared: [AlertName]?
        package var badge: Int?
        /// The banner's code; empty for no banner.
        package var banner: String?
        /// The quiet-hours indicator.
        package var quiet: Bool?
    }

    /// The effects that are compared where a file doesn't say.
    package static let defaultCompare: [AlertEffect.Kind] = [
        .raise, .update, .clear, .notify, .withdraw, .route,
    ]
}
