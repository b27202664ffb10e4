// What a person heard and did, in words, for stories.

package import IsletFiles
package import IsletDevices
import IsletKernel

extension PersonRow {
    /// What the person did, with glucose in a reader's unit; nil for what is told by its amount alone: meals, announcements, boluses.
    package func words(_ unit: GlucoseUnit) -> String? {
        switch kind {
        case .meal, .announcement, .manualBolus: nil
        case .rescue: "\(JSONValue.numberText(amount.rounded())) g against a low"
        case .exercise: "exercises for \(JSONValue.numberText(amount.rounded())) min"
        case .exerciseCarbs: "\(JSONValue.numberText(amount.rounded())) g before exercise"
        case .exercisePutOff: "puts exercise off, \(JSONValue.numberText(amount.rounded())) min in all"
        case .exerciseCalledOff: "calls exercise off"
        case .exerciseTold: "tells the loop of exercise: target \(Self.glucose(amount.rounded(), unit))"
        case .siteSuspected: "suspects the site, high for \(JSONValue.numberText(amount.rounded())) min"
        case .ketonesChecked: amount > 0 ? "checks ketones, and finds some" : "checks ketones, and finds none"
        case .siteChange:
            "will change the pod, whose site fails, in \(JSONValue.numberText(amount.rounded())) min"
        case .siteChangeInVain:
            "will change the pod, whose site works, in \(JSONValue.numberText(amount.rounded())) min"
        case .pen: "\(JSONValue.numberText((amount * 100).rounded() / 100)) U by a pen"
        case .heard: "hears it"
        case .unheard: "doesn't notice it"
        case .woke: "wakes"
        case .sleptOn: "sleeps on"
        case .parentHeard: "sleeps on; a parent hears it"
        case .bolusLeftOut: "doesn't bolus any more for \(JSONValue.numberText(amount.rounded())) g"
        case .felt: "feels a low"
        case .feltAsleep: "wakes with a low"
        case .looked:
            amount > 0 ? "looks: \(Self.glucose(amount.rounded(), unit))" : "looks: no reading"
        case .acknowledged: "acknowledges, \(JSONValue.numberText(amount.rounded())) min after the raise"
        case .askedAgain: "asks again for what lapsed"
        case .reopened: "opens the dead app"
        case .podChange: "will change the pod in \(JSONValue.numberText(amount.rounded())) min"
        case .sensorChange: "will change the sensor in \(JSONValue.numberText(amount.rounded())) min"
        }
    }

    private static func glucose(_ mgdl: Double, _ unit: GlucoseUnit) -> String {
        (unit == .mgdl ? JSONValue.numberText(mgdl) : unit.pair(mgdl, nil).value) + " \(unit.rawValue)"
    }

    /// A word or two, as in `rang 02:10, unheard; rang 02:15, woke; 16 g at 02:19`; nil for what that line leaves out.
    func short(at time: String) -> String? {
        switch kind {
        case .heard: "rang \(time), heard"
        case .unheard, .sleptOn: "rang \(time), unheard"
        case .woke: "rang \(time), woke"
        case .parentHeard: "rang \(time), a parent heard"
        case .felt: "felt at \(time)"
        case .feltAsleep: "woke with it at \(time)"
        case .acknowledged: "acknowledged at \(time)"
        case .rescue: "\(JSONValue.numberText(amount.rounded())) g at \(time)"
        case .manualBolus: "\(JSONValue.numberText((amount * 100).rounded() / 100)) U at \(time)"
        case .askedAgain: "asked again at \(time)"
        case .podChange: "went for a pod at \(time)"
        case .sensorChange: "went for a sensor at \(time)"
        case .reopened: "opened the app at \(time)"
        case .exercise: "exercised at \(time)"
        case .exerciseCarbs: "\(JSONValue.numberText(amount.rounded())) g at \(time)"
        case .siteSuspected: "suspected the site at \(time)"
        case .ketonesChecked: amount > 0 ? "found ketones at \(time)" : "found no ketones at \(time)"
        case .siteChange, .siteChangeInVain: "went for a pod at \(time)"
        case .pen: "\(JSONValue.numberText((amount * 100).rounded() / 100)) U by a pen at \(time)"
        case .exercisePutOff: "put exercise off at \(time)"
        case .exerciseCalledOff: "called exercise off at \(time)"
        case .exerciseTold: "told the loop of exercise at \(time)"
        case .meal, .announcement, .looked, .bolusLeftOut: nil
        }
    }
}
