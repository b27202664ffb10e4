// When a person beside a loop that corrects by itself thinks of the pod's site, and what they do about it.
//
// Guarantees: where a source says what people do, or what they are told to do, the row says which; what lies between (who thinks of it, how often in
// one high, what a pen adds) is assumed, and varied by `--sensitivity`.

import IsletDevices

extension PersonSettings {
    private static let ketones =
        "T1D Exchange, 2995 people, most of the time or always at 300 mg/dL for an hour (Diabetes Care 40:e38): "
    private static let told = "instructions for pumps (UMass Memorial, makers' guides)"

    static let sites: [PersonSetting] = [
        PersonSetting(
            "suspectsSite", \.suspectsSite, 0.2, attentive: 1, deaf: 0, in: 0...1,
            "beside a loop that corrects by itself: the chance to think of the site at a look that finds it high for long",
            .assumed(
                "so that about as many pods are changed after long highs, rightly and in vain, as in Kanapka 2022; failures are found by highs, hardly by the pump (Hughes 2023)"
            )),
        PersonSetting(
            "suspectsAbove", \.suspectsAbove, 250, in: 20...600, "mg/dL", "which readings are so high",
            .published(told + "; Kanapka 2022")),
        PersonSetting(
            "suspectsAfter", \.suspectsAfter, 120, in: 0...1440, "min",
            "for how long without a break, and since the last meal",
            .published("Kanapka 2022: two hours at least; a few hours in instructions")),
        PersonSetting(
            "suspectsFall", \.suspectsFall, 0, in: 0...600, "mg/dL",
            "where glucose has fallen by more in an hour insulin is seen to work, and the site is not suspected",
            .assumed("instructions say rising, and not coming down after a correction (UMass Memorial)")),
        PersonSetting(
            "suspectsAgain", \.suspectsAgain, 120, in: 5...1440, "min",
            "nothing is thought of the site again, nor of a fresh one, for so long",
            .published("check 1 to 2 h after the change: " + told)),
        PersonSetting(
            "checksKetonesAdult", \.checksKetonesAdult, 0.11, in: 0...1,
            "the chance that an adult then checks ketones",
            .published(ketones + "17, 7 and 11 % by age")),
        PersonSetting(
            "checksKetonesAdolescent", \.checksKetonesAdolescent, 0.17, in: 0...1,
            "the same for an adolescent",
            .assumed("that of 18 to 25 years; 13 to 17 were not asked (Diabetes Care 40:e38)")),
        PersonSetting(
            "checksKetonesChild", \.checksKetonesChild, 0.33, in: 0...1, "the same for a child",
            .published(ketones + "33 % at 6 to 12 years")),
        PersonSetting(
            "changesSite", \.changesSite, 0.48, attentive: 0.9, in: 0...1,
            "the chance to change the pod then; always with ketones, never where they were looked for and not there",
            .published(
                "of 85 in 100 who corrected by the pump after a failure, 41 had changed the set, 44 not (715 people, Diabetes 70 suppl. 696-P)"
            )),
        PersonSetting(
            "siteChangesOfHigh", \.siteChangesOfHigh, 2, in: 0...100,
            "in one high no more pods are changed for it: it is not the site", .assumed("no publication")),
        PersonSetting(
            "correctsByPen", \.correctsByPen, 0.15, in: 0...1,
            "the chance to correct by a pen beside the change, of which the loop knows nothing; always with ketones, as instructions say",
            .assumed("no publication: at most those whom 696-P doesn't count among corrections by the pump")),
    ]
}
