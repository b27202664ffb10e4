// The settings of a person, one row each: name, unit, range, presets, and whether somebody published the value.

public import IsletDevices

/// One named setting.
public typealias PersonSetting = NumberRow<PersonSettings, PersonSettingFacts>

/// What is said of a person's setting beside name, unit, bounds and meaning.
public struct PersonSettingFacts: Sendable {
    public let source: SettingSource
    let typical: Double
    /// nil where it is as in `typical`.
    let attentive: Double?
    let deaf: Double?
    /// Whether it is one of hearing, which `muted` lacks.
    let isHearing: Bool
}

extension NumberRow where Root == PersonSettings, More == PersonSettingFacts {
    init(
        _ name: String, _ path: Path, _ typical: Double, attentive: Double? = nil, deaf: Double? = nil,
        hearing: Bool = false, in range: ClosedRange<Double>, _ unit: String, _ meaning: String,
        _ source: SettingSource
    ) {
        let facts = PersonSettingFacts(
            source: source, typical: typical, attentive: attentive, deaf: deaf, isHearing: hearing)
        self.init(name, unit, meaning, path, range, facts)
    }

    /// A pure number.
    init(
        _ name: String, _ path: Path, _ typical: Double, attentive: Double? = nil, deaf: Double? = nil,
        hearing: Bool = false, in range: ClosedRange<Double>, _ meaning: String, _ source: SettingSource
    ) {
        self.init(
            name, path, typical, attentive: attentive, deaf: deaf, hearing: hearing, in: range, "", meaning,
            source)
    }

    public var source: SettingSource { facts.more.source }

    public func value(in preset: PersonPreset) -> Double {
        let more = facts.more
        return switch preset {
        case .typical: more.typical
        case .attentive: more.attentive ?? more.typical
        case .muted: more.isHearing ? more.deaf ?? more.typical : more.typical
        case .deaf: more.deaf ?? more.typical
        }
    }
}

extension PersonSettings {
    private static let buckingham = "Buckingham 2005: children and adolescents in hospital, low alarms"
    private static let chance = 0.0...1.0
    private static let minutes = 0.0...1440.0
    private static let spread = 0.0...2.0
    private static let mgdl = 20.0...600.0

    /// Every setting, in the order of files.
    public static let rows: [PersonSetting] =
        hearing + announcingRows + dosing + feeling + lows + highs + sites + devices + sleep

    private static let hearing: [PersonSetting] = [
        PersonSetting(
            "noticesAwake", \.noticesAwake, 0.9, attentive: 0.98, deaf: 0, hearing: true, in: chance,
            "the chance to notice one ring while awake", .assumed("no publication")),
        PersonSetting(
            "wakesAdult", \.wakesAdult, 0.37, attentive: 0.9, deaf: 0, hearing: true, in: chance,
            "the chance that one ring wakes an adult",
            .published(buckingham + ", their parents")),
        PersonSetting(
            "wakesAdolescent", \.wakesAdolescent, 0.53, attentive: 0.9, deaf: 0, hearing: true, in: chance,
            "the same for an adolescent", .published(buckingham)),
        PersonSetting(
            "wakesChild", \.wakesChild, 0.20, attentive: 0.9, deaf: 0, hearing: true, in: chance,
            "the same for a child of 7 to 11 years, without a parent's help", .published(buckingham)),
        PersonSetting(
            "wakesParent", \.wakesParent, 0.37, attentive: 0.9, deaf: 0, hearing: true, in: chance,
            "the same for the parent of a child that sleeps", .published(buckingham)),
        PersonSetting(
            "parentNights", \.parentNights, 1, deaf: 0, hearing: true, in: chance,
            "the share of nights in which a parent is within hearing of a child's phone",
            .assumed("no publication: a child of 7 to 11 years is rarely left alone with it")),
        PersonSetting(
            "firstRing", \.firstRing, 1.4, attentive: 1, in: 0.1...10,
            "a factor on that chance for the first ring of a night about something",
            .published(buckingham + ": 40 % against 28 %")),
        PersonSetting(
            "depthShare", \.depthShare, 0.3, in: chance,
            "the share of luck that rings of one sleep cycle have in common: how deep the sleep is",
            .assumed("chosen so that events wake 66 % of children and adolescents, as published")),
        PersonSetting(
            "sleepCycle", \.sleepCycle, 90, in: 5...1440, "min", "how long sleep is as deep",
            .assumed("about a sleep cycle")),
        PersonSetting(
            "ringGap", \.ringGap, 30, in: minutes, "min",
            "rings about one thing that are farther apart belong to two events",
            .published(buckingham + ": its definition of an event")),
        PersonSetting(
            "awakeDelay", \.awakeDelay, 4, attentive: 1, in: minutes, "min",
            "from a ring that is noticed awake to the phone in the hand, median",
            .assumed("no distribution was found")),
        PersonSetting(
            "awakeDelaySpread", \.awakeDelaySpread, 0.8, attentive: 0.5, in: spread,
            "standard deviation of its logarithm", .assumed("no distribution was found")),
        PersonSetting(
            "wakingDelay", \.wakingDelay, 3, attentive: 1.5, in: minutes, "min",
            "from a ring that wakes to the phone in the hand, median",
            .assumed("no distribution was found")),
        PersonSetting(
            "wakingDelaySpread", \.wakingDelaySpread, 0.5, in: spread, "standard deviation of its logarithm",
            .assumed("no distribution was found")),
        PersonSetting(
            "fatigue", \.fatigue, 0.5, attentive: 0, in: 0...20,
            "the chance to hear is multiplied by exp(-fatigue * rings that called for nothing / 20)",
            .assumed("the effect is described (PMC3869147), its size is not published")),
        PersonSetting(
            "fatigueFloor", \.fatigueFloor, 0.3, in: chance, "never by less than this",
            .assumed("no publication")),
        PersonSetting(
            "fatigueDays", \.fatigueDays, 7, in: 0...60, "d",
            "how long a ring that called for nothing is remembered",
            .assumed("no publication")),
    ]

    private static let feeling: [PersonSetting] = [
        PersonSetting(
            "feelsBelow", \.feelsBelow, 60, deaf: 20, in: mgdl, "mg/dL",
            "true plasma glucose that can be felt",
            .assumed("no publication")),
        PersonSetting(
            "feelsBelowSpread", \.feelsBelowSpread, 6, in: 0...20, "mg/dL", "its deviation between people",
            .assumed("no publication")),
        PersonSetting(
            "unaware", \.unaware, 0.2, in: chance,
            "the share of people who feel lows only below unawareFeelsBelow",
            .published("17 % in ALERTT1, about a fifth in clinics; unaware by questionnaire")),
        PersonSetting(
            "unawareFeelsBelow", \.unawareFeelsBelow, 45, in: mgdl, "mg/dL",
            "plasma glucose below which they feel it", .assumed("no publication")),
        PersonSetting(
            "feelsAwake", \.feelsAwake, 0.4, deaf: 0, in: chance,
            "the chance to feel a low while awake, once a low",
            .assumed("so that `muted` is low as often as `life` without a person (docs/validation.md)")),
        PersonSetting(
            "feelsAsleep", \.feelsAsleep, 0.1, deaf: 0, in: chance, "the chance that a low wakes, once a low",
            .assumed("no publication")),
        PersonSetting(
            "wakesBelow", \.wakesBelow, 45, in: 0...100, "mg/dL",
            "true plasma glucose below which somebody asleep notices a ring as somebody awake does",
            .assumed(
                "in all 11 confirmed lows somebody woke (Buckingham 2005); below which value is not published, this is that of `life`"
            )),
        PersonSetting(
            "looksPerDay", \.looksPerDay, 9.9, attentive: 20, deaf: 0, in: 0...200, "1/d",
            "looks at the phone of the person's own accord, while awake",
            .published("screen unlocks in the bionic pancreas' trial of 219 adults")),
        PersonSetting(
            "lookLength", \.lookLength, 1, in: 0.1...60, "min",
            "how long the app is in front at a look; it is in the background otherwise",
            .assumed("no publication")),
        PersonSetting(
            "reopensApp", \.reopensApp, 1, in: chance, "the chance to open an app that is found dead",
            .assumed("no publication")),
    ]

    private static let lows: [PersonSetting] = [
        PersonSetting(
            "treatsBelow", \.treatsBelow, 70, in: mgdl, "mg/dL",
            "a reading below this is treated when it is seen",
            .published("guideline")),
        PersonSetting(
            "treatsWarnedBelow", \.treatsWarnedBelow, 80, in: mgdl, "mg/dL",
            "the same after an alert about a low",
            .assumed(
                "alarms at 80 mg/dL shortened lows (Davey 2010): they were acted on; at which value is not published"
            )),
        PersonSetting(
            "treatsSeen", \.treatsSeen, 0.5, attentive: 1, in: chance,
            "the chance to treat a low that is seen, and neither severe nor felt; else it is looked at again",
            .assumed("no publication; people eat against fewer lows than they have (Karger ANM 76:277)")),
        PersonSetting(
            "helpedBelow", \.helpedBelow, 40, in: 10...60, "mg/dL",
            "plasma glucose below which others notice, and help", .assumed("no publication")),
        PersonSetting(
            "helped", \.helped, 0.15, deaf: 0, in: chance,
            "their chance to, in five minutes, by day and by night",
            .assumed("so that hardly anybody's low ends the session; as `habits`")),
        PersonSetting(
            "rescue", \.rescue, 22, in: 1...100, "g", "carbohydrate against a low, median of adults",
            .published("diaries of 93 adults: 25.9 g on average (Karger ANM 76:277); as `habits`")),
        PersonSetting(
            "rescuePerKilogram", \.rescuePerKilogram, 0.3, in: 0.05...2, "g/kg",
            "what children and adolescents eat of it at most, by their weight",
            .published("0.3 g/kg in children, guideline")),
        PersonSetting(
            "severeBelow", \.severeBelow, 50, in: mgdl, "mg/dL", "below this reading it is more",
            .published("the same protocol")),
        PersonSetting(
            "severeRescue", \.severeRescue, 32, in: 1...100, "g", "how much then",
            .published("the same protocol")),
        PersonSetting(
            "rescueSpread", \.rescueSpread, 0.35, in: spread,
            "standard deviation of the logarithm of the amount",
            .assumed("in real life the mean is 32 g, 73 % take more than 20 g; no distribution was found")),
        PersonSetting(
            "fetch", \.fetch, 2, attentive: 1, in: minutes, "min",
            "from the decision to the first bite, median",
            .assumed("no publication")),
        PersonSetting(
            "fetchSpread", \.fetchSpread, 0.5, in: spread, "standard deviation of its logarithm",
            .assumed("no publication")),
        PersonSetting(
            "rescueWait", \.rescueWait, 15, in: 5...240, "min",
            "from one rescue to the next look, and to the next rescue",
            .published("guideline: recheck after 15 min")),
        PersonSetting(
            "mealWait", \.mealWait, 20, in: minutes, "min",
            "after a meal's start nothing is eaten against a low that is not severe",
            .published("McGill simulator")),
        PersonSetting(
            "largestRescue", \.largestRescue, 75, in: 0...300, "g", "most in two hours",
            .published("McGill simulator")),
    ]

    private static let highs: [PersonSetting] = [
        PersonSetting(
            "correctsAbove", \.correctsAbove, 220, in: mgdl, "mg/dL",
            "a reading above this may be corrected by hand",
            .assumed("an earlier fit by hand to standard therapy")),
        PersonSetting(
            "correctsTowards", \.correctsTowards, 140, in: mgdl, "mg/dL", "what the correction aims at",
            .assumed("simglucose's basal-bolus rule")),
        PersonSetting(
            "correctsAfter", \.correctsAfter, 3, in: 2...24, "h",
            "not sooner after the last bolus that the person knows of",
            .assumed("an earlier fit by hand; never below 2 h, as insulin would be stacked")),
        PersonSetting(
            "correctsOpenLoop", \.correctsOpenLoop, 0.5, deaf: 0, in: chance,
            "the chance to correct at a look, where nothing else does",
            .assumed("an earlier fit by hand: 3 % in five minutes, at ten looks a day")),
        PersonSetting(
            "correctsAlarmed", \.correctsAlarmed, 0.8, deaf: 0, in: chance,
            "the same after a high alarm that was heard", .assumed("no publication")),
        PersonSetting(
            "correctsAlarmedAbove", \.correctsAlarmedAbove, 150, in: mgdl, "mg/dL",
            "after a high alarm what is within 10 mg/dL of its threshold is corrected, but never below this",
            .assumed("no publication")),
        PersonSetting(
            "correctsClosedLoop", \.correctsClosedLoop, 0, in: chance,
            "the same beside an algorithm that corrects by itself", .assumed("user guides say not to")),
        PersonSetting(
            "correctsBefore", \.correctsBefore, 60, in: minutes, "min",
            "not so soon before a meal either: its bolus corrects", .assumed("no publication")),
    ]

    private static let devices: [PersonSetting] = [
        PersonSetting(
            "podChange", \.podChange, 20, in: minutes, "min",
            "from seeing that a pod is over to the next one's priming", .assumed("no publication")),
        PersonSetting(
            "sensorChange", \.sensorChange, 30, in: minutes, "min",
            "from seeing that a sensor is over to the next one", .assumed("no publication")),
        PersonSetting(
            "asksAgain", \.asksAgain, 0.8, in: chance,
            "the chance to ask again for insulin that lapsed, when it is seen",
            .assumed("no publication")),
        PersonSetting(
            "asksAgainWithin", \.asksAgainWithin, 30, in: 0...120, "min",
            "not later than this after it was dropped: it is a meal's insulin of hours ago then",
            .assumed("no publication")),
        PersonSetting(
            "asksAgainAbove", \.asksAgainAbove, 100, in: mgdl, "mg/dL", "and only at a reading above this",
            .assumed("no publication")),
    ]

    private static let sleep: [PersonSetting] = [
        PersonSetting(
            "bedAdult", \.bedAdult, 23, in: 18...30, "h", "an adult falls asleep, after midnight, mean",
            .assumed("ordinary hours")),
        PersonSetting(
            "bedAdolescent", \.bedAdolescent, 23, in: 18...30, "h", "the same for an adolescent",
            .assumed("ordinary hours")),
        PersonSetting(
            "bedChild", \.bedChild, 20.5, in: 18...30, "h", "the same for a child", .assumed("ordinary hours")
        ),
        PersonSetting(
            "rises", \.rises, 7, in: 4...12, "h", "everybody gets up, mean", .assumed("ordinary hours")),
        PersonSetting(
            "sleepSpread", \.sleepSpread, 0.75, in: 0...2, "h", "standard deviation of either, between days",
            .assumed("ordinary hours")),
        PersonSetting(
            "backToSleep", \.backToSleep, 20, in: minutes, "min",
            "after the last thing that was done at night", .assumed("no publication")),
    ]
}
