// What still acts of the boluses that the pump gave, and whether one more by hand asks again.
//
// Guarantees: rows are noted as they leave the recorder, and those that are still in it are added for a look: the same rows at the same instant give the same judgement,
// however a session was advanced, so that a replay judges alike. Memory holds the last six hours.
// Does not: dose. It asks, and the person decides.

import IsletDevices
import Glibc
import IsletKernel

struct GivenBoluses: Hashable, Codable {
    private struct Bolus: Hashable, Codable {
        var at: Instant
        var units: Double
        /// Given beside the pump: none of it stands in for a basal.
        var isByHand: Bool?
    }
    private struct Meal: Hashable, Codable {
        var at: Instant
        var grams: Double
        var isAnnounced: Bool
    }

    private var rows: [Bolus] = []
    private var carbohydrate: [Meal] = []

    /// Below it nobody should be given insulin without being asked again, mg/dL.
    private static let low = 70.0
    /// Less on board changes no decision, U.
    private static let noticeable = 0.5

    mutating func note(_ recorder: SessionRecorder, at now: Instant) {
        for row in recorder.deliveries { rows.append(Bolus(at: row.instant, units: row.units)) }
        for row in recorder.person {
            switch row.kind {
            case .meal, .rescue:
                carbohydrate.append(Meal(at: row.instant, grams: row.amount, isAnnounced: false))
            case .announcement:
                carbohydrate.append(Meal(at: row.instant, grams: row.amount, isAnnounced: true))
            default: break
            }
        }
        let oldest = now.adding(-Self.duration)
        carbohydrate.removeAll { $0.at < oldest }
        rows.removeAll { $0.at < oldest }
    }

    /// Insulin was given now, beside the pump.
    mutating func note(byHand units: Double, at now: Instant) {
        rows.append(Bolus(at: now, units: units, isByHand: true))
    }

    // MARK: On board

    /// The exponential model of rapid-acting insulin that loops use: 6 h of action, its peak at 75 min.
    private static let duration = 6 * Nanoseconds.hour
    private static let (end, peak) = (360.0, 75.0)

    /// The share of a unit that still acts after so many minutes.
    static func share(after minutes: Double) -> Double {
        guard minutes > 0 else { return 1 }
        guard minutes < end else { return 0 }
        let tau = peak * (1 - peak / end) / (1 - 2 * peak / end)
        let a = 2 * tau / end
        let s = 1 / (1 - a + (1 + a) * exp(-end / tau))
        let inner =
            (minutes * minutes / (tau * end * (1 - a)) - minutes / tau - 1) * exp(-minutes / tau) + 1
        return max(0, min(1, 1 - s * (1 - a) * inner))
    }

    /// U. A step's bolus stands in for the basal of its five minutes; what it gives beyond is on board.
    func onBoard(at now: Instant, _ therapy: TherapySettings) -> Double {
        let replaced = therapy.basalRate.unitsPerHour / 12
        return rows.reduce(0) {
            $0 + max(0, $1.units - ($1.isByHand == true ? 0 : replaced))
                * Self.share(after: now.minutes - $1.at.minutes)
        }
    }

    /// What carbohydrate still to come needs, U: it goes evenly in three hours. Who announces a meal and eats it has eaten once.
    func needed(at now: Instant, _ therapy: TherapySettings) -> Double {
        func grams(_ isAnnounced: Bool) -> Double {
            carbohydrate.filter { $0.isAnnounced == isAnnounced }.reduce(0) {
                $0 + $1.grams * max(0, 1 - (now.minutes - $1.at.minutes) / 180)
            }
        }
        return max(grams(false), grams(true)) / therapy.carbohydrateRatioGramsPerUnit
    }

    // MARK: Doubt

    /// Why a bolus of so many units asks again; nil where nothing speaks against it.
    /// - Parameters:
    ///   - needed: what carbohydrate still to come needs, U.
    ///   - mgdl: nil where nobody knows.
    static func doubt(
        of units: Double, onBoard: Double, needed: Double, mgdl: Double?, _ therapy: TherapySettings
    ) -> ValueText? {
        var reasons: [ValueText] = []
        let board: ValueText = "\(text(onBoard)) U of earlier boluses still act"
        if let mgdl, mgdl.isFinite {
            let falls = (onBoard - needed) * therapy.correctionFactorMgdlPerUnit
            if mgdl < low { reasons.append("glucose is \(mgdl.rounded(), unit: "mg/dL")") }
            if onBoard >= noticeable, mgdl - falls < low {
                let fall: ValueText =
                    ", enough to bring glucose from \(mgdl.rounded(), unit: "mg/dL", comparedWith: low) below \(low, unitless: "mg/dL", comparedWith: mgdl.rounded())"
                reasons.append(mgdl < low ? board : board + fall)
            } else if mgdl < low {
                reasons.append(board)
            }
        } else if onBoard >= noticeable {
            reasons += ["nobody knows the glucose", board]
        }
        guard !reasons.isEmpty else { return nil }
        return "\(text(units)) U asks again: \(reasons.joined(separator: ", and "))"
    }

    private static func text(_ units: Double) -> String { "\((units * 100).rounded() / 100)" }
}
