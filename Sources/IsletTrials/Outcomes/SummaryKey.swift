// What the keys of `summary.json` mean.

/// One key, by its path: `[]` stands for each element of a list, `*` for each name.
struct SummaryKey: Sendable {
    let path: String
    let meaning: String

    private init(_ path: String, _ meaning: String) {
        self.path = path
        self.meaning = meaning
    }

    static let all: [SummaryKey] = [
        SummaryKey("study", "the study's name"),
        SummaryKey("seed", "of every random draw"),
        SummaryKey("digest", "SHA-256 over `session:digest` lines by session index"),
        SummaryKey("sessions", "sessions that were run"),
        SummaryKey(
            "failed_sessions",
            "of these, those that ended early; in comparisons they have the worst value that anybody has"),
        SummaryKey("failures[]", "each of them: `session`, `subject`, `arm`, `days` lived, `reason`"),
        SummaryKey(
            "not_finite[]",
            "values that are in no mean because they were NaN or infinite: `outcome`, `arm`, `session`, `subject`; the last two null where the sum over subjects overflowed"
        ),
        SummaryKey("patient_days", "days lived, over all sessions"),
        SummaryKey("wall_seconds", "time that this run took, all its pieces together; null after a merge"),
        SummaryKey("patient_days_per_second", "its speed; null after a merge"),
        SummaryKey("jobs", "its threads"),
        SummaryKey("arms[]", "each arm: `name`, `sessions`, `ended_early`, `outcomes`"),
        SummaryKey(
            "arms[].outcomes.*",
            "`mean`, `sd` (n − 1), `ci95` over subjects (Student's t; on the log scale, of shares on the logit scale, where an end would lie beyond what the outcome can be), `mcse` (Monte Carlo standard error, sd/√n), and `n`, those for which the outcome is defined"
        ),
        SummaryKey("alerts[]", "each arm and policy: `arm`, `policy`, `in_shadow`, `codes`"),
        SummaryKey(
            "alerts[].codes.*",
            "over the arm's sessions: `sessions` with the policy, `sessions_raised`, the sums of the columns of alerts.csv, and `raised_per_day`, `notified_per_day`, `notified_night_per_day` as in `arms[].outcomes`"
        ),
        SummaryKey(
            "policies[]",
            "each arm and policy, those in shadow too: `arm`, `policy`, `in_shadow` (heard and acknowledged by nobody), `outcomes`"
        ),
        SummaryKey(
            "policies[].outcomes.*",
            "as in `arms[].outcomes`: the outcomes of policies below; `n` counts those for which it is defined"
        ),
        SummaryKey("primary[]", "the outcomes that the study declares as primary"),
        SummaryKey(
            "claims",
            "what the study may claim, where it has a `margin`; else null: `margin`, `gate` (its outcome), `relative_percent` (of a margin that is a share of what the reference has), `gate_alpha` (one-sided level of the gate), `refused` (why there is no claim at all; null where there may be), `loss_when_deaf`, `findings`"
        ),
        SummaryKey(
            "claims.loss_when_deaf",
            "what a deaf person loses in time below 54: `deaf_arm`, `typical_arm`, `difference` of the two, `ci95`, `n`, `widest_margin` (half of the interval's lower end; a wider margin is refused)"
        ),
        SummaryKey(
            "claims.findings[]",
            "`arm`, `reference`, `metric`, `verdict`, of the gate `upper` (one-sided 97.5 % upper bound of arm less reference, which must lie below the margin) and `estimate` (their mean difference) and `shown_worse` (whether the arm has more, by a 95 % interval and a rank test that say the same, within the margin or not); null for the others. Verdicts: `non-inferior`, `not shown non-inferior`, `not shown: too few people have any time below 54` (fewer than 20) for the gate; `shown lower`, `shown higher`, `not shown` for the others; `closed: non-inferiority was not shown` behind a gate that was not passed; `claim refused`"
        ),
        SummaryKey(
            "selection",
            "which arm goes on to the folder `confirm`, where the study has the key `confirm`; else null: `metric` that decided, `candidates`, `arm` (null where none may go on), `selected` (all that go on: several with `select: front`), `reference`, `difference` on this seed, `confirmed_on_seed`"
        ),
        SummaryKey(
            "sweep",
            "the variants of a `sweep` as a table whose columns are what varies; else null: `of`, `mode`, `variants` (how many points), `metrics` (the outcomes of its rows), `gain` and `cost` (the axes of the front), `reference`, `headline` (the first sentence, in mg/dL), `unvaried` (arms whose person no alert reaches)"
        ),
        SummaryKey("sweep.factors[]", "what varies: `path` in the policy, `head` of its column, `values`"),
        SummaryKey(
            "sweep.rows[]",
            "each arm that was lived, or policy in shadow: `name`, `of` (the listed arm, or the one in which it listened), `label` (its values in the order of the factors), `is_reference`, `on_front` (no other row of its arm is better in one axis and not worse in the other), `points` that it stands for, `joined` (those of them that cannot differ from it or did not, with the reason)"
        ),
        SummaryKey(
            "sweep.rows[].outcomes.*",
            "`mean`, `ci95`, `difference` from the reference (null for the reference itself), `difference_ci95`, `p` (`p_is_adjusted`: after Holm), `equal_in_every_pair`, `n`"
        ),
        SummaryKey(
            "sweep.effects[]",
            "what one factor does by itself: `factor`, and of each `levels[]` its `value` and the mean of `gain` and `cost` over all points that have it"
        ),
        SummaryKey(
            "comparisons[]",
            "each outcome of each arm against the reference: `metric`, `arm`, `reference`, `n` pairs, `equal_in_every_pair`"
        ),
        SummaryKey(
            "comparisons[].family",
            "with which comparisons p is adjusted: `primary`, of the study's primary outcomes; `exploratory`, of the others, not adjusted; `gate`, time below 54 in a study with a margin, tested against the margin and not here; where the study declares none, `all`, and `sensor` for sensor glucose"
        ),
        SummaryKey("comparisons[].difference", "mean of arm less reference, over subjects"),
        SummaryKey(
            "comparisons[].ci95",
            "its 95 % interval; null below 6 pairs and where all pairs are equal"),
        SummaryKey(
            "comparisons[].mcse",
            "its Monte Carlo standard error: sd of the paired differences / √n; null for one pair"),
        SummaryKey(
            "comparisons[].ci95_method",
            "`student-hall`: Student's t on the paired differences, widened for skewness (below 40 pairs); `bca`: bias-corrected and accelerated bootstrap of 2000 resamples, each end at least as far out as Student's t"
        ),
        SummaryKey(
            "comparisons[].p", "Wilcoxon's signed-rank test with Pratt's zeros, two-sided; null like `ci95`"),
        SummaryKey(
            "comparisons[].p_sign_flip",
            "a check of `p`: of the mean, by flipping the signs of whole subjects (all patterns up to 16 differences, else 1999 random ones); never adjusted"
        ),
        SummaryKey(
            "comparisons[].p_adjusted",
            "the same after Holm's adjustment within the family; null for `exploratory` and `gate`"
        ),
        SummaryKey(
            "policy_comparisons[]",
            "policies in shadow less the reference (the study's `referencePolicy`, else the first), on the same sessions: `arm` in which they listened, `policy`, `reference`, `metric`, and the keys of `comparisons[]`. Of each subject one value, so that detection is compared as each subject's share of episodes"
        ),
        SummaryKey(
            "policy_comparisons[].family",
            "`primary`: the study declares the outcome, and p is adjusted over policies × primary outcomes × arms, apart from `comparisons[]`; else `exploratory`, not adjusted"
        ),
    ]
}
