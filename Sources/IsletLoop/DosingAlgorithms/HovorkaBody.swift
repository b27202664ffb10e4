// The body that `hovorka-mpc` reckons with: the published equations, brought to a person's therapy.
//
// Source: Hovorka, Canonico, Chassin et al., Physiol Meas 25:905 (2004): equations and mean values. Per litre of the accessible volume: G is
// mmol/L, q the glucose that is not accessible over the same volume.
//
// Guarantees: insulin, its action and the gut are linear, and go on by their exact solution, so that they are what was given makes them;
// glucose goes by the classical Runge-Kutta method, within 0.01 mg/dL of the solution over three hours. Does not: know how a sensor lags.

import IsletDevices
import IsletKernel

/// The mean values of the publication.
enum HovorkaMeans {
    /// 1/min.
    static let k12 = 0.066, ka1 = 0.006, ka2 = 0.06, ka3 = 0.03, ke = 0.138
    /// L/kg.
    static let VI = 0.12, VG = 0.16
    /// Min.
    static let tG = 40.0, tI = 55.0
    /// L/mU/min, L/mU/min, L/mU.
    static let SIT = 51.2e-4, SID = 8.2e-4, SIE = 520e-4
    /// mmol/kg/min.
    static let EGP0 = 0.0161, F01 = 0.0097
    /// mmol/L: below it uptake that needs no insulin falls; above it glucose is lost in urine, at this rate, 1/min.
    static let uptakeBelow = 4.5, lossAbove = 9.0, loss = 0.003
    /// g/mol.
    static let molarMass = 180.16
    /// mg/dL of a mmol/L.
    static let milligrams = GlucoseConcentration.milligramsPerDecilitrePerMillimole
}

/// Insulin on its way, mU: two depots, plasma, and three amounts that follow plasma as insulin's three actions do.
struct HovorkaInsulin: Hashable, Sendable, Codable {
    var S1 = 0.0, S2 = 0.0, plasma = 0.0
    var w1 = 0.0, w2 = 0.0, w3 = 0.0

    /// At a steady rate.
    /// - Parameter rate: mU/min.
    static func steady(_ rate: Double) -> Self {
        let depot = rate * HovorkaMeans.tI
        let plasma = rate / HovorkaMeans.ke
        return .init(S1: depot, S2: depot, plasma: plasma, w1: plasma, w2: plasma, w3: plasma)
    }
}

/// How insulin and gut go on over a length of time: their exact solution.
struct HovorkaTransition: Sendable {
    /// What each of the six has of each of the first three, of itself, and of a steady rate.
    private var S1: (S1: Double, rate: Double)
    private var S2: (S1: Double, S2: Double, rate: Double)
    private var plasma: Row
    private var w1: Row, w2: Row, w3: Row
    private let stays: Double, moves: Double

    private struct Row: Sendable {
        var S1 = 0.0, S2 = 0.0, plasma = 0.0, own = 0.0, rate = 0.0
    }

    /// Half a cell of the ledger, and a whole one.
    static let half = HovorkaTransition(minutes: 2.5)
    static let whole = HovorkaTransition(minutes: 5)

    /// By the series of the matrix exponential over a 1024th of the time, squared ten times.
    private init(minutes: Double) {
        let n = 7
        let (tI, ke) = (HovorkaMeans.tI, HovorkaMeans.ke)
        let ka = [HovorkaMeans.ka1, HovorkaMeans.ka2, HovorkaMeans.ka3]
        // The last row and column are the rate.
        var A = [[Double]](repeating: [Double](repeating: 0, count: n), count: n)
        (A[0][0], A[0][6]) = (-1 / tI, 1)
        (A[1][0], A[1][1]) = (1 / tI, -1 / tI)
        (A[2][1], A[2][2]) = (1 / tI, -ke)
        for action in 0..<3 { (A[3 + action][2], A[3 + action][3 + action]) = (ka[action], -ka[action]) }
        func product(_ a: [[Double]], _ b: [[Double]]) -> [[Double]] {
            var product = [[Double]](repeating: [Double](repeating: 0, count: n), count: n)
            for i in 0..<n { for j in 0..<n { for k in 0..<n { product[i][j] += a[i][k] * b[k][j] } } }
            return product
        }
        let unit = (0..<n).map { i in (0..<n).map { i == $0 ? 1.0 : 0 } }
        let step = A.map { $0.map { $0 * minutes / 1024 } }
        var (E, term) = (unit, unit)
        for order in 1...8 {
            term = product(term, step).map { $0.map { $0 / Double(order) } }
            for i in 0..<n { for j in 0..<n { E[i][j] += term[i][j] } }
        }
        for _ in 0..<10 { E = product(E, E) }
        S1 = (E[0][0], E[0][6])
        S2 = (E[1][0], E[1][1], E[1][6])
        func row(_ i: Int) -> Row {
            Row(S1: E[i][0], S2: E[i][1], plasma: E[i][2], own: i > 2 ? E[i][i] : 0, rate: E[i][6])
        }
        (plasma, w1, w2, w3) = (row(2), row(3), row(4), row(5))
        stays = exponential(-minutes / HovorkaMeans.tG)
        moves = minutes / HovorkaMeans.tG
    }

    /// - Parameter rate: mU/min, all the time.
    @inline(always)
    func apply(_ y: inout HovorkaInsulin, rate: Double) {
        let (S1, S2, plasma) = (y.S1, y.S2, y.plasma)
        @inline(always) func next(_ row: Row, _ own: Double) -> Double {
            row.S1 * S1 + row.S2 * S2 + row.plasma * plasma + row.own * own + row.rate * rate
        }
        y.S1 = self.S1.S1 * S1 + self.S1.rate * rate
        y.S2 = self.S2.S1 * S1 + self.S2.S2 * S2 + self.S2.rate * rate
        y.plasma = next(self.plasma, 0)
        y.w1 = next(w1, y.w1)
        y.w2 = next(w2, y.w2)
        y.w3 = next(w3, y.w3)
    }

    @inline(always)
    func apply(_ gut: inout HovorkaGut) {
        gut = HovorkaGut(D1: gut.D1 * stays, D2: (gut.D2 + gut.D1 * moves) * stays)
    }
}

/// Carbohydrate in the gut, g as announced.
struct HovorkaGut: Hashable, Sendable, Codable {
    var D1 = 0.0, D2 = 0.0
}

/// The parameters of glucose.
struct HovorkaGlucoseParameters: Hashable, Sendable, Codable {
    /// What a mU of plasma insulin does to transport and disposal, 1/min, and to production, as a share.
    var sT = 0.0, sD = 0.0, sE = 0.0
    /// Production at no insulin, and uptake that needs none, mmol/L/min.
    var E = 0.0, F = 0.0
    /// Appearance of a gram that leaves the gut in a minute, mmol/L/min.
    var perGram = 0.0
}

/// What acts on glucose at one moment.
struct HovorkaForcing: Sendable {
    /// What transport and disposal are held to, 1/min: some ten and a hundred times what a programme does, and as much as steps of five minutes bear.
    static let largest = (x1: 0.25, x2: 0.15)

    var x1 = 0.0, x2 = 0.0, x3 = 0.0, appearance = 0.0
    /// 1, or 0 where it is held.
    var moves1 = 1.0, moves2 = 1.0

    @inline(always)
    init(_ insulin: HovorkaInsulin, _ gut: HovorkaGut, _ p: HovorkaGlucoseParameters) {
        x1 = p.sT * insulin.w1
        x2 = p.sD * insulin.w2
        if x1 > Self.largest.x1 { (x1, moves1) = (Self.largest.x1, 0) }
        if x2 > Self.largest.x2 { (x2, moves2) = (Self.largest.x2, 0) }
        x3 = p.sE * insulin.w3
        appearance = p.perGram * gut.D2 / HovorkaMeans.tG
    }
}

struct HovorkaGlucose: Hashable, Sendable, Codable {
    var G = 0.0, q = 0.0
}

/// One cell of five minutes of glucose: four stages, and the same of a small change.
struct HovorkaCell {
    static let minutes = 5.0

    struct Stage {
        var G = 0.0, q = 0.0
        /// mmol/L per min and mmol/L, of G in G.
        var slope = 0.0
        var forcing: HovorkaForcing

        /// Whether production is there to be lowered.
        @inline(always) var produces: Bool { forcing.x3 < 1 }
        /// The share of uptake that there is.
        @inline(always) var uptake: Double { min(1, G / HovorkaMeans.uptakeBelow) }
    }

    private(set) var stages: InlineArray<4, Stage>
    private(set) var end: HovorkaGlucose

    /// - Parameter forcing: at the start, in the middle and at the end.
    @inline(always)
    init(
        _ start: HovorkaGlucose, _ a: HovorkaForcing, _ b: HovorkaForcing, _ c: HovorkaForcing,
        _ p: HovorkaGlucoseParameters
    ) {
        let h = Self.minutes
        let (one, f1) = Self.stage(start.G, start.q, a, p)
        let (two, f2) = Self.stage(start.G + h / 2 * f1.0, start.q + h / 2 * f1.1, b, p)
        let (three, f3) = Self.stage(start.G + h / 2 * f2.0, start.q + h / 2 * f2.1, b, p)
        let (four, f4) = Self.stage(start.G + h * f3.0, start.q + h * f3.1, c, p)
        stages = [one, two, three, four]
        end = HovorkaGlucose(
            G: start.G + h / 6 * (f1.0 + 2 * f2.0 + 2 * f3.0 + f4.0),
            q: start.q + h / 6 * (f1.1 + 2 * f2.1 + 2 * f3.1 + f4.1))
    }

    @inline(always)
    private static func stage(
        _ G: Double, _ q: Double, _ forcing: HovorkaForcing, _ p: HovorkaGlucoseParameters
    ) -> (Stage, (Double, Double)) {
        var stage = Stage(G: G, q: q, forcing: forcing)
        let loses = G >= HovorkaMeans.lossAbove
        let loss = loses ? HovorkaMeans.loss * (G - HovorkaMeans.lossAbove) : 0
        let production = p.E * max(0, 1 - forcing.x3)
        let k12 = HovorkaMeans.k12
        stage.slope =
            -(G < HovorkaMeans.uptakeBelow ? p.F / HovorkaMeans.uptakeBelow : 0)
            - (loses ? HovorkaMeans.loss : 0) - forcing.x1
        let dG =
            -p.F * stage.uptake - loss - forcing.x1 * G + k12 * q + forcing.appearance + production
        return (stage, (dG, forcing.x1 * G - (k12 + forcing.x2) * q))
    }

    /// What becomes of a small change of glucose, and of what acts on it.
    /// - Parameter push: mmol/L/min of G and q that a stage's change of forcing makes.
    @inline(always)
    func follow(_ change: HovorkaGlucose, _ push: (Int, borrowing Stage) -> (Double, Double))
        -> HovorkaGlucose
    {
        let h = Self.minutes
        @inline(always) func slope(_ index: Int, _ G: Double, _ q: Double) -> (Double, Double) {
            let stage = stages[index]
            let (g, r) = push(index, stage)
            return (
                stage.slope * G + HovorkaMeans.k12 * q + g,
                stage.forcing.x1 * G - (HovorkaMeans.k12 + stage.forcing.x2) * q + r
            )
        }
        let f1 = slope(0, change.G, change.q)
        let f2 = slope(1, change.G + h / 2 * f1.0, change.q + h / 2 * f1.1)
        let f3 = slope(2, change.G + h / 2 * f2.0, change.q + h / 2 * f2.1)
        let f4 = slope(3, change.G + h * f3.0, change.q + h * f3.1)
        return HovorkaGlucose(
            G: change.G + h / 6 * (f1.0 + 2 * f2.0 + 2 * f3.0 + f4.0),
            q: change.q + h / 6 * (f1.1 + 2 * f2.1 + 2 * f3.1 + f4.1))
    }
}

/// Insulin, gut and glucose together.
struct HovorkaBody: Sendable {
    var insulin: HovorkaInsulin
    var gut: HovorkaGut
    var glucose: HovorkaGlucose

    /// Goes on by five minutes at a steady rate.
    /// - Parameters:
    ///   - rate: mU/min.
    /// - Returns: the cell that was gone through.
    @inline(always)
    mutating func advance(rate: Double, _ p: HovorkaGlucoseParameters) -> HovorkaCell {
        let start = HovorkaForcing(insulin, gut, p)
        HovorkaTransition.half.apply(&insulin, rate: rate)
        HovorkaTransition.half.apply(&gut)
        let middle = HovorkaForcing(insulin, gut, p)
        HovorkaTransition.half.apply(&insulin, rate: rate)
        HovorkaTransition.half.apply(&gut)
        let cell = HovorkaCell(glucose, start, middle, HovorkaForcing(insulin, gut, p), p)
        glucose = cell.end
        return cell
    }
}

/// What a person's therapy says of their body.
///
/// The publication starts everybody from the same mean values. Here insulin's three actions are scaled alike until one unit lowers glucose by the
/// correction factor, production is such that the programme holds the target, and the share of carbohydrate that is absorbed such that the
/// carbohydrate ratio's grams and one unit leave glucose where it was after five hours.
struct HovorkaTherapy: Hashable, Sendable, Codable {
    /// U/h, mg/dL/U, g/U, kg, mmol/L.
    var basal = 0.0, correctionFactor = 0.0, carbRatio = 0.0, weight = 0.0, target = 0.0

    /// mmol/L.
    static let targets = 4.5...9.0
    /// How far the three actions may be scaled.
    static let scales = 0.02...50.0
    /// The most of production that the programme may take away.
    private static let most = 0.9
    private static let absorbed = 0.1...2.0

    /// mU/min that hold the target; a programme of nothing is taken for 0.05 U/h.
    var rate: Double { max(basal, 0.05) * 1000 / 60 }

    /// - Parameter scale: of insulin's actions.
    private func parameters(scale: Double) -> (HovorkaGlucoseParameters, HovorkaBody) {
        let volume = HovorkaMeans.VG * weight
        let plasma = HovorkaMeans.VI * weight
        var p = HovorkaGlucoseParameters()
        p.sT = scale * HovorkaMeans.SIT / plasma
        p.sD = scale * HovorkaMeans.SID / plasma
        p.sE = scale * HovorkaMeans.SIE / plasma
        p.F = HovorkaMeans.F01 / HovorkaMeans.VG
        p.perGram = 1000 / HovorkaMeans.molarMass / volume
        let insulin = HovorkaInsulin.steady(rate)
        let x = HovorkaForcing(insulin, HovorkaGut(), p)
        let G = min(max(target, Self.targets.lowerBound), Self.targets.upperBound)
        let q = x.x1 * G / (HovorkaMeans.k12 + x.x2)
        p.E = (p.F + x.x1 * G - HovorkaMeans.k12 * q) / (1 - min(x.x3, Self.most))
        return (p, HovorkaBody(insulin: insulin, gut: HovorkaGut(), glucose: HovorkaGlucose(G: G, q: q)))
    }

    /// Glucose after a tenth of a unit, or some grams, less what it is without, mmol/L: the lowest of six hours, and after five.
    private static func answer(
        _ p: HovorkaGlucoseParameters, _ steady: HovorkaBody, rate: Double, grams: Double = 0,
        units: Double = 0
    ) -> (lowest: Double, late: Double) {
        var body = steady
        body.insulin.S1 += 1000 * units
        body.gut.D1 += grams
        var (lowest, late) = (0.0, 0.0)
        for cell in 1...72 {
            _ = body.advance(rate: rate, p)
            let change = body.glucose.G - steady.glucose.G
            lowest = min(lowest, change)
            if cell == 60 { late = change }
        }
        return (lowest, late)
    }

    /// The parameters, and the state in which the programme holds the target.
    func person() -> (HovorkaGlucoseParameters, HovorkaBody) {
        let dose = 0.1
        let wanted = -correctionFactor / HovorkaMeans.milligrams * dose
        func lowest(_ scale: Double) -> Double {
            let (p, steady) = parameters(scale: scale)
            return Self.answer(p, steady, rate: rate, units: dose).lowest
        }
        // Where the programme takes all of production away nothing can be told apart.
        let atMost = Self.most * HovorkaMeans.ke * HovorkaMeans.VI * weight / (rate * HovorkaMeans.SIE)
        var low = min(Self.scales.lowerBound, atMost)
        var high = min(Self.scales.upperBound, atMost)
        for _ in 0..<40 {
            let middle = (low * high).squareRoot()
            if lowest(middle) > wanted { low = middle } else { high = middle }
        }
        var (p, steady) = parameters(scale: (low * high).squareRoot())
        let unit = Self.answer(p, steady, rate: rate, units: dose).late / dose
        let gram = Self.answer(p, steady, rate: rate, grams: 1).late
        let share = -unit / (gram * carbRatio)
        p.perGram *= min(max(share, Self.absorbed.lowerBound), Self.absorbed.upperBound)
        return (p, steady)
    }
}
