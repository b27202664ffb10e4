// `docs/person.md`: what the person model is, each value with its source, and what nobody has published.
//
// Guarantees: the tables are the rows of `PersonSettings`; the file in the repository is this text (`make docs`), which a test compares.

import People

package enum PersonPage {
    /// As Markdown.
    package static var markdown: String {
        [model, presets, settings(isAssumed: false), settings(isAssumed: true), unpublished]
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

        - **Hearing.** A ring is noticed awake with one chance, asleep with another by age, the first ring of an event more easily than later
          ones, rings independent of each other. Rings that lately called for nothing lower the chance (fatigue). The phone is in the hand after a log-normal delay.
        - **Feeling and looking.** A low of the true plasma glucose may be felt, awake or asleep: settled once a low. About ten times a day the
          person looks at the phone of their own accord. The app is in front for a minute then, and in the background for the rest of the day.
        - **Acting.** Whatever was heard is answered by one look: what waits is acknowledged; a low is treated with 16 g (32 g below 50 mg/dL) and looked at again after 15 min;
          a high is corrected by hand in open loop, hours after the last bolus; insulin that lapsed a short while ago is asked for again; a pod or sensor that is over is changed; a dead app is opened.
        - **Limits.** One rescue at a time, 15 min apart, 75 g in two hours, however many alerts ring. No bolus by hand above the therapy's maximum, none
          beside an algorithm that corrects by itself. What the loop refuses is not tried again at the next look.
        - **Luck** hangs on (subject, five-minute slot, what it is about, how many-th ring about it in the slot), never on how much rang before. So
          arms share it, and a policy's extra alert about a pump can't wake anybody for a low. Fatigue does carry over: that is what it is for.
        - **Night** is the person's own, from falling asleep to getting up.

        `deaf` hears, feels and looks at nothing: readings, doses and truth are those of a study where nobody listens, to the byte. `muted` is typical but for
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

    private static let unpublished = """
        ## What nobody has published

        - How long people take to acknowledge an alarm, awake or asleep: no distribution was found.
        - How often an alarm is noticed awake, and how that falls with false alarms: fatigue is described, its size is not.
        - Waking at home. The figures are of one night in hospital, with 29 % of single alarms and 66 % of events; here an event of four rings, 20 min, wakes
          63 % of children, 88 % of adults and 97 % of adolescents (two rings: 42, 70 and 88 %), rings being independent. Published events had fewer or less independent rings than that.
        - Whether the same people are woken again and again: here all people of an age are alike.
        - Up to which reading a low alarm is acted on, and how amounts against lows are distributed (mean 32 g in real life, 16 g in protocols).
        - Snoozing, switching the phone to silent, leaving it in another room, and other people in the house, who often are the ones who wake. None is modelled.
        - Carbohydrate that is miscounted, and boluses that are late or missed, belong to the scenario, the same for every person.
        """
}
