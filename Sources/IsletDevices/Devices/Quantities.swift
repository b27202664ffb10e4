// Quantities that people confuse are types; the unit stands in the accessor's name.
//
// Guarantees: a value is one `Double` (or `Int` of pulses) in one stated unit, trivially copied, ordered.
// Does not: check ranges. What a range is depends on the device or the body that the number meets.

/// A glucose concentration. Stored in mg/dL.
public struct GlucoseConcentration: Hashable, Comparable, Sendable, Codable {
    /// mg/dL per mmol/L: the molar mass of glucose, 180.16 g/mol, over 10.
    public static let milligramsPerDecilitrePerMillimole = 18.016

    public var milligramsPerDecilitre: Double

    @inlinable public init(milligramsPerDecilitre: Double) {
        self.milligramsPerDecilitre = milligramsPerDecilitre
    }

    @inlinable public init(millimolesPerLitre: Double) {
        milligramsPerDecilitre = millimolesPerLitre * Self.milligramsPerDecilitrePerMillimole
    }

    @inlinable public var millimolesPerLitre: Double {
        milligramsPerDecilitre / Self.milligramsPerDecilitrePerMillimole
    }

    @inlinable public static func < (a: Self, b: Self) -> Bool {
        a.milligramsPerDecilitre < b.milligramsPerDecilitre
    }
}

/// An amount of insulin. Stored in international units (U); 1 U = 6000 pmol.
public struct InsulinAmount: Hashable, Comparable, Sendable, Codable, AdditiveArithmetic {
    public static let picomolesPerUnit = 6000.0
    @inlinable public static var zero: Self { Self(units: 0) }

    public var units: Double

    @inlinable public init(units: Double) { self.units = units }

    @inlinable public var picomoles: Double { units * Self.picomolesPerUnit }

    @inlinable public static func < (a: Self, b: Self) -> Bool { a.units < b.units }
    @inlinable public static func + (a: Self, b: Self) -> Self { Self(units: a.units + b.units) }
    @inlinable public static func - (a: Self, b: Self) -> Self { Self(units: a.units - b.units) }
}

/// An insulin rate. Stored in U/h, the unit of pump settings; models ask for U/min.
public struct InsulinRate: Hashable, Comparable, Sendable, Codable {
    @inlinable public static var zero: Self { Self(unitsPerHour: 0) }

    public var unitsPerHour: Double

    @inlinable public init(unitsPerHour: Double) { self.unitsPerHour = unitsPerHour }
    @inlinable public init(unitsPerMinute: Double) { unitsPerHour = unitsPerMinute * 60 }

    @inlinable public var unitsPerMinute: Double { unitsPerHour / 60 }

    @inlinable public static func < (a: Self, b: Self) -> Bool { a.unitsPerHour < b.unitsPerHour }
}

/// An amount of carbohydrate. Stored in grams; models ask for milligrams.
public struct Carbohydrate: Hashable, Comparable, Sendable, Codable, AdditiveArithmetic {
    @inlinable public static var zero: Self { Self(grams: 0) }

    public var grams: Double

    @inlinable public init(grams: Double) { self.grams = grams }

    @inlinable public var milligrams: Double { grams * 1000 }

    @inlinable public static func < (a: Self, b: Self) -> Bool { a.grams < b.grams }
    @inlinable public static func + (a: Self, b: Self) -> Self { Self(grams: a.grams + b.grams) }
    @inlinable public static func - (a: Self, b: Self) -> Self { Self(grams: a.grams - b.grams) }
}
