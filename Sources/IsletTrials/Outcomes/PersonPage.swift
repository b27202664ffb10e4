// `docs/person.md`: what the person model is, each value with its source, and what nobody has published.
//
// Guarantees: the tables are the rows of `PersonSettings`; the file in the repository is this text (`make docs`), which a test compares.

import IsletDevices
import IsletPeople

package enum PersonPage {
    /// As Markdown.
    package static var markdown: String {
        [model, presets, settings(isAssumed: false), settings(isAssumed: true), found, unpublished]
            .joined(separator: "\n")
    }

    private static let model = """
        # The person who hears the alarm

        This page is written by `make docs` from the rows that a study's keys are made of (`PersonSettings.rows`).

        Without `person:` nobody listens: meals are eaten and announced as the scenario says, and alerts are counted. With it, what the alert
        center notifies reaches somebody:

        ```yaml
        person: typical                                      # typical | attentive | muted | deaf | none, in every arm
        arms:
          - { algorithm: basal-bolus, alerts: dexcom-g7 }
          - { name: tired, algorithm: basal-bolus, alerts: dexcom-g7, person: { preset: typical, wakesAdult: 0.2 } }
        ```

        - **Hearing.** A ring is noticed awake with one chance, asleep with another by age, the first ring of a night more easily than later
          ones. Rings of one sleep cycle share how deep the sleep is, so that the second ring of an event seldom wakes whom the first didn't. While a child sleeps a parent listens,
          too, awake until their own night begins, with sleep and luck of their own. Rings that lately called for nothing lower the chance (fatigue). The phone is in the hand after a
          log-normal delay.
        - **Feeling and looking.** When lows are felt is a trait: one in five is unaware. A low of the true plasma glucose may be felt, awake or asleep: settled once a low. About ten times a day the
          person looks at the phone of their own accord. The app is in front for a minute then, and in the background for the rest of the day.
        - **Acting.** Whatever was heard is answered by one look: what waits is acknowledged; a low that is severe or felt is treated with some 22 g (32 g below 50 mg/dL), any other as often as not, and looked at again after 15 min;
          after a high alarm what lies about the threshold that rang, or above, is corrected, and where insulin is still to act it is looked at again when it has;
          a high is corrected by hand in open loop, hours after the last bolus; insulin that lapsed a short while ago is asked for again; a pod or sensor that is over is changed; a dead app is opened.
        - **The site.** Beside a loop that corrects by itself, glucose that has been above 250 mg/dL for two hours, not soon after a meal and not falling, may be the pod's site: the person may check ketones, change the
          pod, and correct by a pen, of which the loop knows nothing. With ketones they do both; where they looked and found none, neither. A check finds ketones where a site has let less than half through for
          three hours: there is no model of ketones. A fault's own time until it is found out stays, for what people notice otherwise. The record says what was suspected, checked and changed, and whether it was right.
        - **Counting.** Meals are announced as the scenario has it: exactly and at once, in `life` by its `habits`. With `announcing: own`, or any setting of announcing, the person decides
          instead, for all of it: counts with an error, forgets, comes late, by the settings below; they are those of `life`, and so is the luck. No preset has others, so that presets differ
          in who hears and acts alone. Arms may differ: `person: { preset: typical, missedBoluses: 0.3 }`.
        - **Once.** Insulin for a meal is asked for once. While a late bolus is still to come nothing is corrected; after it, or any bolus, not for three hours; nor within an hour before
          the next meal, whose bolus corrects. A late bolus waits until a low is treated, and an hour after the first bite it is left out. What lapsed is not asked for
          again beside another bolus. What an algorithm adds at a late meal for the rise that it sees is the algorithm's.
        - **A low goes first.** Whoever has planned a look hours ahead, to correct a high or for a site, acts on a low that is felt or warned of before it.
        - **Limits.** One rescue at a time, 15 min apart, 75 g in two hours, however many alerts ring. No bolus by hand above the therapy's maximum, none
          beside an algorithm that corrects by itself, by a pen only with the change of a suspected site, and not within hours of another by hand or of sugar. Two pods at most are
          changed in one high, none that is fresh. What the loop refuses is not tried again at the next look.
        - **Luck** hangs on (subject, five-minute slot, what it is about, how many-th ring about it in the slot), never on how much rang before. So
          arms share it, miscounts (by meal) and sleep's depth (by cycle of the clock) as well, and a policy's extra alert about a pump can't wake anybody for a low. Fatigue does carry over: that is what it is for.
        - **Night** is the person's own, from falling asleep to getting up, by local clocks, summer time included where the study has a `timeZone:`.

        `deaf` hears, feels and looks at nothing: readings, doses and truth are those of a study where nobody listens, to the byte (not in `life`, where people see lows by themselves without a
        `person:`: [life.md](life.md)). `muted` is typical but for
        the phone: between `muted` and `typical` stands what the alarms alone do, between `deaf` and `muted` what people notice without them.

        Outcomes: [data.md](data.md), of the person. `islet replay` tells what was heard and done, `islet alerts explain` sums it up under each alert:
        `the person: rang 02:10, unheard; rang 02:15, woke; acknowledged at 02:18; 16 g at 02:19`.

        """

    private static var presets: String {
        "## Presets\n\n| preset | who |\n|---|---|\n"
            + PersonPreset.allCases.map { "| `\($0.rawValue)` | \($0.summary) |\n" }.joined()
            + "\nEvery setting is a key beside `preset`. The resolved study in the manifest lists all that were in force.\n"
    }

    private static func settings(isAssumed: Bool) -> String {
        let head =
            isAssumed ? "## Assumed: nobody has published these" : "## Published, or a rule of practice"
        return "\(head)\n\n| setting | unit | "
            + PersonPreset.allCases.map(\.rawValue).joined(separator: " | ")
            + " | meaning | \(isAssumed ? "why" : "source") |\n|---|---|"
            + String(repeating: "---|", count: PersonPreset.allCases.count) + "---|---|\n"
            + PersonSettings.rows.filter { $0.source.isAssumed == isAssumed }.map { row in
                "| `\(row.name)` | \(row.unit) | "
                    + PersonPreset.allCases.map { number(row.value(in: $0)) }.joined(separator: " | ")
                    + " | \(row.meaning) | \(row.source.text) |\n"
            }.joined()
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e9 ? "\(Int(value))" : "\(value)"
    }

    /// What `Cohorts/low-threshold.yaml` found.
    private static let found = """
        ## Against a published effect

        Lin 2020 (95 users of continuous glucose monitoring): whose low alert stood at 73 mg/dL or above had 51 % less time below 70, 65 % less below 54, a mean of 175 against 153 mg/dL and 57 against 68 % in range. People
        had chosen their alerts themselves, so part of that is who they were. `Cohorts/low-threshold.yaml` asks it of the same 200 adults in `life`, 28 days of open loop, `typical`, low alerts at 80 against 65 mg/dL,
        the urgent one at 55 in both, nothing predicted or suspended:

        | | low alert at 65 | at 80 | difference [95 %] |
        |---|---|---|---|
        | below 70, % | 4.23 | 2.88 | -1.35 [-1.50, -1.21] |
        | below 54, % | 0.52 | 0.37 | -0.15 [-0.21, -0.12] |
        | mean, mg/dL | 161.8 | 162.9 | +1.2 [+1.0, +1.4] |
        | 70 to 180, % | 60.5 | 61.9 | +1.3 [+1.1, +1.6] |
        | level 2 events a week | 1.37 | 0.89 | -0.47 [-0.60, -0.38] |
        | notifications a day | 2.83 | 3.60 | +0.77 [+0.69, +0.85] |

        The same direction: 32 % less time below 70, 29 % less below 54, a higher mean, at the price of alerts. The effects are smaller, above all on the mean: here nobody with a high threshold differs from others in anything
        else, and what isn't heard is often felt or seen. Time in range rises, other than there.

        """

    private static let unpublished = """
        ## What nobody has published

        - How long people take to acknowledge an alarm, awake or asleep: no distribution was found.
        - How often an alarm is noticed awake, and how that falls with false alarms: fatigue is described, its size is not.
        - Waking at home. The figures are of one night in hospital: 20 people of 4 to 17 years, 180 alarms asleep, 29 % of single alarms (17, 20 and 53 % by age, parents 37 %), 66 % of events. No event
          rate by age, nor one of adults or parents, is published. Here an event of four rings, 20 min, wakes 50 % of children (54 % where it is the night's first), 88 (93) % of adolescents, 74 (79) % of adults;
          children and adolescents together, three events in five being children's, 65 %; of a child or a parent 87 %. Single rings asked until one wakes: 17, 46 and 31 %.
        - At which glucose a ring wakes whoever sleeps. In all 11 confirmed lows (70 mg/dL or below) somebody woke, in hospital; here rings below 45 mg/dL are noticed as awake.
        - Whether the same people are woken again and again: here all people of an age are alike.
        - Up to which reading a low alarm is acted on, and how amounts against lows are distributed (mean 26 to 32 g in real life, 16 g in protocols).
        - How surely people think of the site, how often in one high, by how much a correction must fail, and how many correct by a pen. Of people who corrected by the pump after a failure about half had changed the set.
        - Snoozing, switching the phone to silent, leaving it in another room, partners and friends who hear, and a child's parent by day. None is modelled.
        - How soon after a correction people bolus for a meal, whether they remember a forgotten bolus at the next look, and how late one is still given.
        """
}
