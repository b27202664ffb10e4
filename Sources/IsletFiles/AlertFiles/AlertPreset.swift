// Policies that are shipped: each a policy file that says what it does not reproduce.

package import IsletAlerts
package import IsletDevices

package enum AlertPreset: String, Listed, CaseIterable {
    case bionicloop, story
    case storyLiteral = "story-literal"
    case dexcomG7 = "dexcom-g7"
    case loop, trio, xdrip, nightscout, none

    package static let noun = "an alert policy"

    package var summary: String {
        switch self {
        case .bionicloop: "the BionicLoop alert flow"
        case .story: "the threshold story's intent"
        case .storyLiteral: "the threshold story's sketch as written, with its flaw"
        case .dexcomG7: "Dexcom G7 alarms as published"
        case .loop: "Loop's glucose and not-looping alerts as published"
        case .trio: "Trio's glucose alerts as published"
        case .xdrip: "xDrip+ alerts as published"
        case .nightscout: "Nightscout alarms as published"
        case .none: "no alerts"
        }
    }

    /// What the preset means.
    package func policy() throws(InputError) -> AlertPolicy {
        switch self {
        case .bionicloop: .bionicloop
        case .none: .none
        default: try AlertPolicy.parse(text, file: "preset \(rawValue)")
        }
    }
}
