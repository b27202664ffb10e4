// What pumps that stop their basal brought about in trials, row by row. All of it judges.
//
// Tolerances were written before anything was computed: an effect within a factor of 1.5 and not the wrong way, minutes a day ± 25 %,
// differences that a trial found to be none within 4 mg/dL and 3 points.

import IsletModels

extension ValidationTarget {
    private static let prolog =
        "PROLOG, crossover, 103 people of 6 to 72 years, alarms in both arms, doi 10.2337/dc18-0771"
    private static let inHome =
        "In Home Closed Loop group, 45 people of 15 to 45 years, 42 nights each by lot, doi 10.2337/dc13-2159"
    private static let aspire =
        "ASPIRE In-Home, 247 people of 16 to 70 years who had had lows by night, doi 10.1056/NEJMoa1303576"
    private static let sixMonths =
        "predictive low-glucose management for 6 months, 154 children and adolescents, doi 10.2337/dc17-1604"
    private static let fortnight =
        "predictive low-glucose management for 14 days, 100 children and adolescents, doi 10.2337/dc16-2584"

    private static let adultsPredictive = ValidationPeople(group: .adult, loop: .predictive, ears: .hearing)
    private static let adultsSuspending = ValidationPeople(group: .adult, loop: .suspending, ears: .hearing)
    private static let adolescentsPredictive = ValidationPeople(
        group: .adolescent, loop: .predictive, ears: .hearing)

    static let suspension: [Self] =
        adults + nightsOf(adultsPredictive) + threshold + young + nightsOf(adolescentsPredictive)

    private static let adults: [Self] =
        [
            judged(
                .ratio(
                    "sensor_tbr_70_percent", "time < 70: with predictive suspension to without", .suspension),
                adultsPredictive, "0.69 (3.1 and 4.5 %; in 8132 users 1.1 and 2.0 %, an association)",
                0.46...1, prolog),
            judged(
                .difference(
                    "sensor_mean_mgdl", "mean glucose: with predictive suspension less without", .suspension,
                    unit: "mg/dL"), adultsPredictive, "0 (159 and 159)", -4...4, prolog),
            judged(
                .difference(
                    "sensor_tar_180_percent", "time > 180: with predictive suspension less without",
                    .suspension), adultsPredictive, "-1 (32 and 33 %)", -3...3, prolog),
            .init(
                .suspension, .course(.minutesWithoutBasal), adultsPredictive, published: "104",
                within: 78...130, .judges, prolog),
        ]

    private static let threshold: [Self] =
        [
            judged(
                .rate(
                    "lows ≤ 65 of 20 min by night: with low-glucose suspension to without", .suspension
                ) { (Double($0.suspension.nightLows65), $0.days) },
                adultsSuspending, "0.68 (1.5 and 2.2 a week)", 0.45...1, aspire),
            judged(
                .rate(
                    "area of such a low: with low-glucose suspension to without", .suspension
                ) { ($0.suspension.nightArea65, Double($0.suspension.nightLows65)) },
                adultsSuspending, "0.63 (980 and 1568 mg/dL · min)", 0.42...0.94, aspire),
        ]

    private static let young: [Self] =
        [
            judged(
                .rate("time < 63: with predictive suspension to without", .suspension) {
                    ($0.suspension.below63, 1)
                }, adolescentsPredictive, "0.58 (1.5 and 2.6 %)", 0.38...0.87, sixMonths),
            judged(
                .rate("lows < 63 of 20 min: with predictive suspension to without", .suspension) {
                    (Double($0.suspension.lows63), $0.days)
                }, adolescentsPredictive, "0.61 (139 and 227 a year)", 0.41...0.92, sixMonths),
            judged(
                .rate("lows < 65: with predictive suspension to without", .suspension) {
                    (Double($0.suspension.lows65), $0.days)
                }, adolescentsPredictive, "0.59 (4.4 and 7.4 in a fortnight)", 0.40...0.89, fortnight),
        ]

    private static func nightsOf(_ people: ValidationPeople) -> [Self] {
        [
            judged(
                .rate("nights with a reading ≤ 60: with predictive suspension to without", .suspension) {
                    (Double($0.nights.touched), Double($0.nights.all))
                }, people, "0.64 (21 and 33 %)", 0.42...0.95, inHome),
            judged(
                .rate("nights with a low of 2 h: with predictive suspension to without", .suspension) {
                    (Double($0.nights.long), Double($0.nights.all))
                }, people, "0.26 (74 % fewer)", 0.17...0.39, inHome),
        ]
    }

    private static func judged(
        _ effect: ValidationEffect, _ people: ValidationPeople, _ published: String,
        _ tolerance: ClosedRange<Double>, _ source: String
    ) -> Self {
        .init(.suspension, .effect(effect), people, published: published, within: tolerance, .judges, source)
    }
}
