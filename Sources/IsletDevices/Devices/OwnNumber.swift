// Numbers of somebody's own: what an algorithm, or a listener beside one, says of a step for alert rules to compare.
//
// Guarantees: told at the step that it was answered for, at that step's instant; what was not answered is absent, and nothing stands in its place.
// Does not: dose. No step's insulin depends on one.

/// Numbers of one step, by name.
public struct OwnNumber: Hashable, Sendable {
    public var name: String
    public var value: Double

    public init(_ name: String, _ value: Double) { (self.name, self.value) = (name, value) }

    /// How many a program may answer.
    public static let most = 8
    /// Minutes since the last step that was answered: the loop's own word, told at each step of a session in which somebody answers numbers.
    public static let silence = "silentMinutes"

    /// 1 to 40 letters, digits and underscores, a letter first.
    public static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetter(first), text.utf8.count <= 40 else { return false }
        return text.utf8.allSatisfy { isLetter($0) || (48...57).contains($0) || $0 == 95 }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (65...90).contains(byte) || (97...122).contains(byte)
    }
}
