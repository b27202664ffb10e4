// Insulin or carbohydrate that an app says was given to a simulated person.
//
// Guarantees: a plain value; what is wrong with one by itself, and at the instant at which it is heard, is said here and nowhere else.
// Does not: act. `PersonActs` does, once by its id.

import IsletDevices
package import IsletKernel
import IsletTrials

package struct PostedTreatment: Hashable, Sendable, Codable {
    /// As the app names it: said again under it, it was given once.
    package var id: String
    /// Which app, or who, as it says.
    package var by: String
    /// When it was given, as the app says.
    package var at: Instant
    /// Insulin, U; nil for none.
    package var units: Double?
    /// Carbohydrate, g; nil for none.
    package var grams: Double?
    /// As it was posted, JSON; empty for none.
    package var document: String
    /// When it entered.
    package var heardAt = Instant.start

    package init(
        id: String, by: String, at: Instant, units: Double?, grams: Double?, document: String = ""
    ) {
        (self.id, self.by, self.at, self.units, self.grams) = (id, by, at, units, grams)
        self.document = document
    }

    /// Whom this server's own treatments are by.
    package static let ourName = "Islet"
    /// What is older acts no more, ns.
    package static let oldest = 8 * Nanoseconds.hour
    /// How long one is known by its id after it was heard: longer than one may be old, ns.
    static let remembered = 25 * Nanoseconds.hour
    /// How many are remembered: more in a day is no person's.
    static let most = 1000
    /// The longest ID, and the longest name of a sender, characters.
    package static let longestName = 100
    /// The longest document, bytes.
    package static let longestDocument = 4096

    package func saysTheSame(as other: PostedTreatment) -> Bool {
        units == other.units && grams == other.grams
    }

    /// What is wrong with it by itself; nil where nothing is.
    static func problem(of input: LiveInput) -> LiveRefusal? {
        for (field, longest) in [("id", longestName), ("by", longestName)] {
            let text = input.text(field) ?? ""
            if !(1...longest).contains(text.count)
                || text.unicodeScalars.contains(where: { isUnprintable($0) })
            {
                return LiveRefusal(
                    .outOfRange,
                    "treatment, \(field): found `\(printable(text, limit: 40))`, expected 1 to \(longest) printable characters"
                )
            }
        }
        if (input.text("document") ?? "").utf8.count > longestDocument {
            return LiveRefusal(.outOfRange, "treatment: expected up to \(longestDocument) bytes of it")
        }
        guard input.number("units") != nil || input.number("grams") != nil else {
            return LiveRefusal(
                .contradictory, "treatment: found neither insulin nor carbohydrate, expected one or both")
        }
        if OurID.isOurs(input.text("id") ?? "") || input.text("by")?.lowercased() == ourName.lowercased() {
            return LiveRefusal(.ours, "treatment: this server gave it out itself, and has counted it")
        }
        return nil
    }

    /// What is wrong with it where it is heard now; nil where nothing is.
    func problem(at now: Instant) -> LiveRefusal? {
        let age = now.nanoseconds.subtractingReportingOverflow(at.nanoseconds)
        let nanoseconds = age.overflow ? (at > now ? Int64.min : .max) : age.partialValue
        if nanoseconds > Self.oldest {
            return LiveRefusal(
                .tooOld,
                "treatment: given \(Self.text(nanoseconds)) ago by the session's clock, expected at most 8 h")
        }
        // A clock that is a little ahead says now.
        if nanoseconds < -LiveInput.futureStamp {
            return LiveRefusal(
                .inFuture,
                "treatment: found one that is given \(Self.text(nanoseconds)) from now by the session's clock, expected what was given"
            )
        }
        return nil
    }

    private static func text(_ nanoseconds: Int64) -> String {
        let minutes = nanoseconds.magnitude / UInt64(Nanoseconds.minute)
        return switch minutes {
        case ..<120: "\(minutes) min"
        case ..<2880: "\(minutes / 60) h"
        default: "\(minutes / 1440) d"
        }
    }
}

/// The ids that this server gives documents out under: 24 hexadecimal digits, as apps expect them, that it knows again.
package enum OurID {
    /// - Parameters:
    ///   - epochSeconds: of the document; the first eight digits.
    ///   - name: what tells it from all others of that second.
    package static func make(epochSeconds: Int64, _ name: String) -> String {
        let first = hex(UInt64(bitPattern: epochSeconds) & 0xFFFF_FFFF, 8)
        let head = first + String(hash(name).prefix(6))
        return head + check(head)
    }

    package static func isOurs(_ id: String) -> Bool {
        guard id.utf8.count == 24 else { return false }
        let id = id.lowercased()
        return check(String(id.prefix(14))) == id.suffix(10)
    }

    private static func check(_ head: String) -> String { String(hash("islet " + head).prefix(10)) }

    private static func hash(_ text: String) -> String {
        "\(SHA256.digest(of: Array(text.utf8)))"
    }

    private static func hex(_ value: UInt64, _ digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}

/// What the pump of a session gives into, and a pen beside it. Called on the session's thread only.
final class SimulatedBody {
    /// nil until the session is made, and after its end.
    private(set) weak var receiver: (any InsulinReceiver)?

    /// Stands between pump and body, and passes everything on.
    init(_ seams: inout SessionSeams) {
        let between = seams.body
        seams.body = { [self] in
            receiver = $0
            return between($0)
        }
    }
}
