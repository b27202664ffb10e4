// What of a study is well formed and yet can't be meant.

import IsletAlerts
import IsletDevices
import IsletFiles
import IsletModels

extension Study {
    /// One line each: what is scheduled for after the end never happens.
    public var warnings: [String] {
        var warnings: [String] = []
        if case .list(let entries) = scenario.meals {
            for entry in entries {
                guard case .once(let span) = entry.time, span.nanoseconds >= duration.nanoseconds else {
                    continue
                }
                let grams = JSONValue.numberText(entry.grams)
                warnings.append(
                    "a meal of \(grams) g at \(span) comes after the study's end at \(duration): it is never eaten"
                )
            }
        }
        let isOfPolicies =
            shadowPolicies.count > 1 && primary.contains { PolicyOutcome.named($0) != nil }
        if !primary.isEmpty, reference == nil, !isOfPolicies {
            warnings.append("primary outcomes without a comparison of arms: nothing is tested")
        }
        warnings += incomparable
        if margin != nil {
            if reference == nil {
                warnings.append("a margin without a comparison of arms: nothing is claimed")
            }
            if StudyClaims.pairs(of: self).isEmpty {
                warnings.append(
                    "a margin without two arms alike but for the person, one `typical` and one `deaf`: no claim is possible, "
                        + "as nothing says what being deaf costs")
            }
        }
        for entry in faults.scheduled {
            guard case .once(let span) = entry.time, span.nanoseconds >= duration.nanoseconds else {
                continue
            }
            warnings.append(
                "a fault \(entry.kind.id) at \(span) comes after the study's end at \(duration): it never happens"
            )
        }
        return warnings
    }
}

extension Study {
    /// Declared outcomes that ask something else of one policy than of the one that it is compared with.
    private var incomparable: [String] {
        let listeners = shadowPolicies
        let ofShadow = listeners.first { $0.name == referencePolicy } ?? listeners.first
        let ofArms = arms.first { $0.name == reference }?.alerts
        let pairs =
            (ofShadow.map { reference in listeners.map { ($0, reference) } } ?? [])
            + (ofArms.map { reference in arms.map { ($0.alerts, reference) } } ?? [])
        return primary.compactMap { name -> String? in
            guard let (policy, reference) = pairs.first(where: { !$0.isComparable(with: $1, by: name) })
            else {
                return nil
            }
            let about = "\(printable(policy.name, limit: 80)) and \(printable(reference.name, limit: 80))"
            return
                "\(name) is not compared between \(about): their rules are about other truths, so that its episodes are others; "
                + "compare alerts_sensitivity_low70, alerts_missed_low70_per_day and the like"
        }
    }
}
