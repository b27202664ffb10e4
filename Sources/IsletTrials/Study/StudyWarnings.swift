// What of a study is well formed and yet can't be meant.

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
