// What is published of pods and sets that people change because glucose stays high. How many calibrates one setting (`suspectsSite`), all else judges.
//
// Tolerances were written before anything was computed: rates and lengths ± 25 %. The rate of sites that fail is taken from the same source as if all
// changes had been right; changes in vain come on top. With a person who always thinks of the site it was 11.5 %.

import IsletModels

extension ValidationTarget {
    private static let kanapka =
        "263 people, 22 741 sets of closed loops, changed before 72 h after two hours above 250 mg/dL, 90 min of them above 300 (Kanapka 2022, doi 10.1089/dia.2021.0548)"
    private static let adultsBesideLoop = ValidationPeople(group: .adult, loop: .closed, ears: .hearing)

    static let sites: [Self] = [
        .init(
            .sites,
            .events(
                name: "changed before its time after a long high", unit: "% of pods of three days",
                { ($0.siteChanges.count { $0.isProlonged }, $0.days / 3 / 100) }),
            adultsBesideLoop, published: "1.9 (adults)", within: 1.4...2.4, .calibrates, kanapka),
        .init(
            .sites, .course(.hoursBeforeSiteChange), adultsBesideLoop, published: "5.1 ± 3.7 (all ages)",
            within: 3.8...6.4, .judges, kanapka),
        .init(
            .sites, .course(.hoursBeforeSiteChangeSpread), adultsBesideLoop, published: "3.7 (all ages)",
            within: 2.8...4.6, .judges, kanapka),
    ]
}
