// The pages of reference of policy and scenario files.

package import IsletAlerts

extension AlertPolicy {
    /// docs/policy-files.md.
    package static var reference: String { shape.reference(title: "Policy files", level: 1) }
}

extension AlertScenario {
    /// docs/scenario-files.md.
    package static var reference: String { shape.reference(title: "Scenario files", level: 1) }
}
