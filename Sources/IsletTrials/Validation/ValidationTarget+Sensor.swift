// What labels and head-to-head trials print of sensors where alarms live, row by row. All of it judges.
//
// Tolerances were written before anything was computed: rates between two publications, sizes ± 25 %, an error in falls as wide as the
// ranges of both columns that it is the difference of.

extension ValidationTarget {
    static let sensor: [Self] = [
        row(.trueAlarms, "92, 79 in an older study", 79...95, dexcom),
        row(
            .trueAlarmRate(70), "92, 79 in an older study; 86 of another make", 79...95, dexcom + "; " + libre
        ),
        row(.detectionRate(70), "89.3", 79...95, libre),
        row(.errorWhenLow, "no bias in quiet lows", -5...5, falls),
        row(
            .sizeWhenLow, "6", 4.5...7.5,
            "Dexcom G4 PLATINUM with software 505, doi 10.1089/dia.2014.0415: absolute difference below 70"),
        row(
            .within15, "85 at least; 85.4 is the lower bound of a G6", 85...100,
            "21 CFR 862.1355, one-sided 95 % bounds, and the G6's as a simulator's authors have them"),
        row(.errorInFalls, "+21.5 (85.5 [76, 95] where blood had 64.0 [62, 66])", 10...33, falls),
        row(
            .lag, "4 to 10", 4...10,
            "delays that labels and head-to-head trials print; about 4 of a G6 by its maker's word"),
    ]

    private static let dexcom =
        "Dexcom G4 PLATINUM user's guide, low alerts at 70 mg/dL: software 505, and the original study"
    private static let libre = "FreeStyle Libre 2 user's manual, 144 adults, low alarms at 70 mg/dL"
    private static let falls =
        "29 people with a G6: late in falls that insulin causes, Diabetes 73 suppl. 375-P"

    private static func row(
        _ measure: ValidationMeasure, _ published: String, _ tolerance: ClosedRange<Double>, _ source: String
    ) -> Self {
        .init(
            .sensor, .course(measure), adultsOpen, published: published, within: tolerance, .judges, source)
    }
}
