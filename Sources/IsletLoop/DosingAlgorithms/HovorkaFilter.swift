// What `hovorka-mpc` believes of a body: an extended Kalman filter of glucose and of the five parameters that the publication lets vary.
//
// The publication estimates insulin's three sensitivities, production and uptake anew at each step, by Bayes' rule over a window of the last
// hours, from priors. The filter does the same recursively: the parameters wander about their priors, so that what is older than the window is
// forgotten. Insulin and gut are no part of what is estimated: they follow from what was given and announced.
//
// Guarantees: the covariance stays symmetric; a parameter stays within three deviations of its prior. Does not: tell a meal that nobody
// announced from a body that has changed.

import IsletKernel

struct HovorkaBelief: Hashable, Sendable, Codable {
    /// G and q, mmol/L, then the parameters as deviations from their priors: logarithms of the actions' scales, and shares of production and uptake.
    static let parts = 7

    private(set) var mean = FixedCells<7>()
    private(set) var covariance = FixedCells<49>()

    struct Settings: Hashable, Sendable {
        /// mg/dL.
        var sensorNoise = 4.0
        /// mg/dL in five minutes.
        var glucoseNoise = 4.0
        /// Of the published deviations between people.
        var spread = 1.0
        /// Min.
        var window = 60.0
    }

    /// Deviations between people: the sensitivities' of the logarithm, the others' as shares (the publication's table, as mean and SD).
    private static let published: InlineArray<5, Double> = [0.576, 0.806, 0.545, 0.242, 0.227]

    init() {}

    /// - Parameter steady: the relation of what is not accessible to what is, at this insulin.
    init(glucose: Double, steady: Double, _ settings: Settings) {
        mean[0] = glucose
        mean[1] = glucose * steady
        let noise = settings.sensorNoise / HovorkaMeans.milligrams
        set(0, 0, noise * noise)
        // What is not accessible may lag by as much as a fifth.
        set(1, 1, 0.04 * mean[1] * mean[1])
        for part in 0..<5 {
            let deviation = settings.spread * Self.published[part]
            set(2 + part, 2 + part, deviation * deviation)
        }
    }

    var glucose: HovorkaGlucose { HovorkaGlucose(G: mean[0], q: mean[1]) }
    /// mmol²/L².
    var variance: Double { covariance[0] }

    private mutating func set(_ i: Int, _ j: Int, _ value: Double) { covariance[i * Self.parts + j] = value }
    private func at(_ i: Int, _ j: Int) -> Double { covariance[i * Self.parts + j] }

    /// The priors, moved to where the filter believes them.
    func parameters(_ prior: HovorkaGlucoseParameters) -> HovorkaGlucoseParameters {
        var p = prior
        p.sT *= exponential(mean[2])
        p.sD *= exponential(mean[3])
        p.sE *= exponential(mean[4])
        p.E *= 1 + mean[5]
        p.F *= 1 + mean[6]
        return p
    }

    /// Five minutes go by.
    /// - Parameters:
    ///   - insulin, gut: as they are at the beginning; brought to the end.
    ///   - rate: mU/min.
    mutating func predict(
        _ insulin: inout HovorkaInsulin, _ gut: inout HovorkaGut, rate: Double,
        _ prior: HovorkaGlucoseParameters, _ settings: Settings
    ) {
        let p = parameters(prior)
        var body = HovorkaBody(insulin: insulin, gut: gut, glucose: glucose)
        let cell = body.advance(rate: rate, p)
        (insulin, gut) = (body.insulin, body.gut)
        // The two rows of the Jacobian that are no diagonal.
        var top = InlineArray<7, HovorkaGlucose>(repeating: HovorkaGlucose())
        top[0] = cell.follow(HovorkaGlucose(G: 1)) { _, _ in (0, 0) }
        top[1] = cell.follow(HovorkaGlucose(q: 1)) { _, _ in (0, 0) }
        top[2] = cell.follow(HovorkaGlucose()) { _, s in
            let moved = s.G * s.forcing.x1 * s.forcing.moves1
            return (-moved, moved)
        }
        top[3] = cell.follow(HovorkaGlucose()) { _, s in (0, -s.q * s.forcing.x2 * s.forcing.moves2) }
        top[4] = cell.follow(HovorkaGlucose()) { _, s in (s.produces ? -p.E * s.forcing.x3 : 0, 0) }
        top[5] = cell.follow(HovorkaGlucose()) { _, s in (prior.E * max(0, 1 - s.forcing.x3), 0) }
        top[6] = cell.follow(HovorkaGlucose()) { _, s in (-prior.F * s.uptake, 0) }
        let keep = exponential(-HovorkaCell.minutes / settings.window)
        spread(top, keep: keep, settings)
        mean[0] = max(0.5, cell.end.G)
        mean[1] = max(0, cell.end.q)
        for part in 2..<Self.parts { mean[part] *= keep }
    }

    private mutating func spread(_ top: InlineArray<7, HovorkaGlucose>, keep: Double, _ settings: Settings) {
        let n = Self.parts
        // J·P: the two rows of glucose; the others are P's, times `keep`.
        var g = InlineArray<7, Double>(repeating: 0)
        var q = InlineArray<7, Double>(repeating: 0)
        for j in 0..<n {
            for k in 0..<n {
                g[j] += top[k].G * at(k, j)
                q[j] += top[k].q * at(k, j)
            }
        }
        var (gg, gq, qq) = (0.0, 0.0, 0.0)
        for k in 0..<n {
            gg += g[k] * top[k].G
            gq += g[k] * top[k].q
            qq += q[k] * top[k].q
        }
        let noise = settings.glucoseNoise / HovorkaMeans.milligrams
        set(0, 0, gg + noise * noise)
        set(0, 1, gq)
        set(1, 0, gq)
        set(1, 1, qq + noise * noise)
        for part in 2..<n {
            // G and q with a parameter.
            set(0, part, keep * g[part])
            set(part, 0, keep * g[part])
            set(1, part, keep * q[part])
            set(part, 1, keep * q[part])
            for other in 2..<n { set(part, other, keep * keep * at(part, other)) }
            let deviation = settings.spread * Self.published[part - 2]
            set(part, part, at(part, part) + (1 - keep * keep) * deviation * deviation)
        }
    }

    /// A reading comes in.
    /// - Parameter reading: mmol/L.
    mutating func correct(_ reading: Double, _ settings: Settings) {
        let n = Self.parts
        let noise = settings.sensorNoise / HovorkaMeans.milligrams
        let total = at(0, 0) + noise * noise
        let innovation = reading - mean[0]
        var gain = InlineArray<7, Double>(repeating: 0)
        var first = InlineArray<7, Double>(repeating: 0)
        for i in 0..<n {
            gain[i] = at(i, 0) / total
            first[i] = at(0, i)
        }
        for i in 0..<n {
            mean[i] += gain[i] * innovation
            for j in 0...i {
                let value = at(i, j) - gain[i] * first[j]
                set(i, j, value)
                set(j, i, value)
            }
        }
        mean[0] = max(0.5, mean[0])
        mean[1] = max(0, mean[1])
        for part in 2..<n {
            let bound = 3 * settings.spread * Self.published[part - 2]
            mean[part] = min(max(mean[part], -bound), bound)
        }
    }
}
