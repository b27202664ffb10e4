// How a person sleeps, hears, looks, feels and acts: named numbers.
//
// Guarantees: a person's doings depend on these and on their streams alone; `rows` lists every one, with its unit, range, presets and source, and
// study keys, schema and docs/person.md are made from the rows. Presets differ in who hears and acts, never in how they count: what parts two
// of them is not a miscount. Does not: say when and what is eaten; the scenario does.

public import IsletDevices
public import IsletKernel
public import IsletModels

/// How old a person is, as far as waking and sleeping go.
public enum PersonAge: Int, Sendable, CaseIterable {
    case adult, adolescent, child
}

/// One person's habits and senses. The presets have ready-made ones.
public struct PersonSettings: Hashable, Sendable {
    /// Whose values it began with.
    public var preset: PersonPreset

    // Hearing
    public var noticesAwake = 0.9
    public var wakesAdult = 0.37
    public var wakesAdolescent = 0.53
    public var wakesChild = 0.20
    public var firstRing = 1.4
    public var ringGap = 30.0
    public var awakeDelay = 4.0
    public var awakeDelaySpread = 0.8
    public var wakingDelay = 3.0
    public var wakingDelaySpread = 0.5
    public var fatigue = 0.5
    public var fatigueFloor = 0.3
    public var fatigueDays = 7.0
    public var depthShare = 0.3
    public var sleepCycle = 90.0
    public var wakesParent = 0.37
    public var parentNights = 1.0

    // Announcing
    /// Who decides how meals are counted, and when they are bolused for.
    public var announcing = PersonAnnouncing.scenario
    public var counting = CountingSettings()
    public var mealBolusWithin = 60.0

    // Feeling and looking
    public var feelsBelow = 60.0
    public var feelsBelowSpread = 6.0
    public var unaware = 0.2
    public var unawareFeelsBelow = 45.0
    public var feelsAwake = 0.4
    public var feelsAsleep = 0.1
    public var wakesBelow = 45.0
    public var looksPerDay = 9.9
    public var lookLength = 1.0
    public var reopensApp = 1.0

    // Lows
    public var treatsBelow = 70.0
    public var treatsWarnedBelow = 80.0
    public var treatsSeen = 0.5
    public var helpedBelow = 40.0
    public var helped = 0.15
    public var rescue = 22.0
    public var rescuePerKilogram = 0.3
    public var severeBelow = 50.0
    public var severeRescue = 32.0
    public var rescueSpread = 0.35
    public var fetch = 2.0
    public var fetchSpread = 0.5
    public var rescueWait = 15.0
    public var mealWait = 20.0
    public var largestRescue = 75.0

    // Highs
    public var correctsAbove = 220.0
    public var correctsTowards = 140.0
    public var correctsAfter = 3.0
    public var correctsOpenLoop = 0.5
    public var correctsAlarmed = 0.8
    public var correctsAlarmedAbove = 150.0
    public var correctsClosedLoop = 0.0
    public var correctsBefore = 60.0

    // A site that may fail
    public var suspectsSite = 0.2
    public var suspectsAbove = 250.0
    public var suspectsAfter = 120.0
    public var suspectsFall = 0.0
    public var suspectsAgain = 120.0
    public var checksKetonesAdult = 0.11
    public var checksKetonesAdolescent = 0.17
    public var checksKetonesChild = 0.33
    public var changesSite = 0.48
    public var siteChangesOfHigh = 2.0
    public var correctsByPen = 0.15

    // Devices
    public var podChange = 20.0
    public var sensorChange = 30.0
    public var asksAgain = 0.8
    public var asksAgainWithin = 30.0
    public var asksAgainAbove = 100.0

    // Sleep
    public var bedAdult = 23.0
    public var bedAdolescent = 23.0
    public var bedChild = 20.5
    public var rises = 7.0
    public var sleepSpread = 0.75
    public var backToSleep = 20.0

    /// The settings of a preset.
    public init(_ preset: PersonPreset) {
        self.preset = preset
        for row in Self.rows { self[keyPath: row.path] = row.value(in: preset) }
    }

    /// As one person has them: when they feel a low is a trait, and how much the young eat goes by their weight.
    public func own(_ streams: RandomStreams, subject: VirtualSubject?) -> Self {
        var own = self
        own.feelsBelow = Awareness.feelsBelow(
            feelsBelow, spread: feelsBelowSpread, unaware: unaware, unawareBelow: unawareFeelsBelow, streams)
        let portion = RescuePortion.factor(of: rescue, perKilogram: rescuePerKilogram, subject)
        own.rescue *= portion
        own.severeRescue *= portion
        return own
    }

    /// The chance that one ring wakes somebody of this age, before what makes it more or less.
    func wakes(_ age: PersonAge) -> Double {
        switch age {
        case .adult: wakesAdult
        case .adolescent: wakesAdolescent
        case .child: wakesChild
        }
    }

    /// The chance that somebody of this age checks ketones.
    func checksKetones(_ age: PersonAge) -> Double {
        switch age {
        case .adult: checksKetonesAdult
        case .adolescent: checksKetonesAdolescent
        case .child: checksKetonesChild
        }
    }

    /// Hours after midnight.
    func bed(_ age: PersonAge) -> Double {
        switch age {
        case .adult: bedAdult
        case .adolescent: bedAdolescent
        case .child: bedChild
        }
    }
}

/// Who decides how a meal is counted, and when it is bolused for: one of the two, for all of it.
public enum PersonAnnouncing: String, Listed, CaseIterable {
    case scenario, own

    public static let noun = "who decides how meals are announced"
    public var summary: String {
        switch self {
        case .scenario: "the scenario: exactly and at once, in `life` by its `habits`"
        case .own: "this person's settings of announcing, in `life` instead of its `habits`"
        }
    }
}

/// A person that studies can name.
public enum PersonPreset: String, Listed, CaseIterable {
    case typical, attentive, muted, deaf

    public static let noun = "a person"
    public var summary: String {
        switch self {
        case .typical: "hears as published, feels most lows, looks at the phone ten times a day"
        case .attentive: "hears nearly everything and acts soon"
        case .muted: "typical, but for the phone, which rings silently"
        case .deaf: "nothing gets through: hears, feels and looks at nothing"
        }
    }
}
