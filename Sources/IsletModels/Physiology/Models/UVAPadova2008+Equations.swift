// The S2008 equations, parted into insulin, which is linear, and gut and glucose, which are not.
//
// Guarantees: with every option off, or with every factor at 1, the equations are the published ones to the bit; no call but of `exponential`.
// Does not: clamp insulin at 0, as some who publish these equations in code do. Its matrix has no negative entry beside the diagonal, so its
// exponential has none at all, and compartments that begin at or above 0 and are fed at or above 0 stay there, but for a rounding.
// X alone may be negative: it counts from basal.

import IsletKernel

extension UVAPadova2008: SplitForm {
    /// The chain's lanes.
    private enum Chain {
        static var Isc1: Int { 0 }
        static var Isc2: Int { 1 }
        static var Ip: Int { 2 }
        static var Il: Int { 3 }
        static var X: Int { 4 }
        static var I1: Int { 5 }
        static var Id: Int { 6 }
    }

    /// (Qsto1, Qsto2), (Qgut, Gs), (Gp, Gt).
    static var restStates: [Int] { [0, 1, 2, 12, 3, 4] }
    static var chainStates: [Int] { [10, 11, 5, 9, 6, 7, 8] }
    /// mg and mg/kg, chosen so that the same tolerance costs each the same error in glucose.
    static var restScales: SixStates {
        SixStates(first: SIMD2(1e4, 1e4), second: SIMD2(1e4, 1e3), third: SIMD2(1e3, 1e3))
    }

    @inline(always) static func loadRest(_ state: UnsafePointer<Double>) -> SixStates {
        SixStates(
            first: SIMD2(state[0], state[1]), second: SIMD2(state[2], state[12]),
            third: SIMD2(state[3], state[4]))
    }

    @inline(always) static func loadChain(_ state: UnsafePointer<Double>) -> SIMD8<Double> {
        SIMD8(state[10], state[11], state[5], state[9], state[6], state[7], state[8], 0)
    }

    @inline(always)
    static func store(
        _ rest: SixStates, _ chain: SIMD8<Double>, _ state: UnsafeMutablePointer<Double>
    ) {
        state[0] = rest.first[0]
        state[1] = rest.first[1]
        state[2] = rest.second[0]
        state[12] = rest.second[1]
        state[3] = rest.third[0]
        state[4] = rest.third[1]
        state[10] = chain[Chain.Isc1]
        state[11] = chain[Chain.Isc2]
        state[5] = chain[Chain.Ip]
        state[9] = chain[Chain.Il]
        state[6] = chain[Chain.X]
        state[7] = chain[Chain.I1]
        state[8] = chain[Chain.Id]
    }

    @inline(always)
    static func chainRates(_ x: SIMD8<Double>, _ c: UnsafePointer<Constants>) -> SIMD8<Double> {
        let Isc1 = x[Chain.Isc1]
        let Isc2 = x[Chain.Isc2]
        let Ip = x[Chain.Ip]
        let Il = x[Chain.Il]
        let I = Ip * c.pointee.perVi
        let I1 = x[Chain.I1]
        return SIMD8(
            -c.pointee.ka1kd * Isc1,
            c.pointee.p.kd * Isc1 - c.pointee.p.ka2 * Isc2,
            c.pointee.p.m1 * Il + c.pointee.p.ka1 * Isc1 + c.pointee.p.ka2 * Isc2 - c.pointee.m2m4 * Ip,
            c.pointee.p.m2 * Ip - c.pointee.m1m30 * Il,
            c.pointee.p.p2u * (I - x[Chain.X]),
            c.pointee.p.ki * (I - I1),
            c.pointee.p.ki * (I1 - x[Chain.Id]),
            0)
    }

    @inline(always) static func chainInput(_ c: UnsafePointer<Constants>) -> SIMD8<Double> {
        SIMD8(c.pointee.u, 0, 0, 0, -c.pointee.p.p2u * c.pointee.p.Ib, 0, 0, 0)
    }

    @inline(always) static func signals(_ x: SIMD8<Double>) -> SIMD2<Double> {
        SIMD2(x[Chain.X], x[Chain.Id])
    }

    /// What is not 0 of h·φ₁(hA): insulin goes from depot to plasma and liver and acts from there, and nothing of that acts back. Row by row, what a
    /// unit of each compartment that acts on it comes to; X and Id are beside what they are at half of the time.
    struct Propagator: BitwiseCopyable {
        typealias Pair = SIMD2<Double>
        /// (Isc1, Isc2), of Isc1 and Isc2.
        var depots: (Pair, Pair)
        /// (Ip, Il), of Isc1, Isc2, Ip and Il.
        var circulating: (Pair, Pair, Pair, Pair)
        /// (X, X at half), of these and X.
        var X: (Pair, Pair, Pair, Pair, Pair)
        /// I1, of these and I1.
        var I1: (Double, Double, Double, Double, Double)
        /// (Id, Id at half), of these, I1 and Id.
        var Id: (Pair, Pair, Pair, Pair, Pair, Pair)
    }

    static func propagator(_ column: (Int) -> (SIMD8<Double>, SIMD2<Double>)) -> Propagator {
        let columns = (0..<7).map(column)
        func pair(_ a: Int, _ b: Int, of lane: Int) -> SIMD2<Double> {
            SIMD2(columns[lane].0[a], columns[lane].0[b])
        }
        func depots(_ lane: Int) -> SIMD2<Double> { pair(Chain.Isc1, Chain.Isc2, of: lane) }
        func circulating(_ lane: Int) -> SIMD2<Double> { pair(Chain.Ip, Chain.Il, of: lane) }
        func X(_ lane: Int) -> SIMD2<Double> { SIMD2(columns[lane].0[Chain.X], columns[lane].1[0]) }
        func I1(_ lane: Int) -> Double { columns[lane].0[Chain.I1] }
        func Id(_ lane: Int) -> SIMD2<Double> { SIMD2(columns[lane].0[Chain.Id], columns[lane].1[1]) }
        return Propagator(
            depots: (depots(Chain.Isc1), depots(Chain.Isc2)),
            circulating: (
                circulating(Chain.Isc1), circulating(Chain.Isc2), circulating(Chain.Ip), circulating(Chain.Il)
            ),
            X: (X(Chain.Isc1), X(Chain.Isc2), X(Chain.Ip), X(Chain.Il), X(Chain.X)),
            I1: (I1(Chain.Isc1), I1(Chain.Isc2), I1(Chain.Ip), I1(Chain.Il), I1(Chain.I1)),
            Id: (Id(Chain.Isc1), Id(Chain.Isc2), Id(Chain.Ip), Id(Chain.Il), Id(Chain.I1), Id(Chain.Id)))
    }

    @inline(always)
    static func propagated(
        _ d: SIMD8<Double>, by m: Propagator
    ) -> (SIMD8<Double>, SIMD2<Double>) {
        let (Isc1, Isc2, Ip, Il) = (d[Chain.Isc1], d[Chain.Isc2], d[Chain.Ip], d[Chain.Il])
        let depots: SIMD2<Double> = m.depots.0 * Isc1 + m.depots.1 * Isc2
        var circulating: SIMD2<Double> = m.circulating.0 * Isc1 + m.circulating.1 * Isc2
        circulating += m.circulating.2 * Ip + m.circulating.3 * Il
        var X: SIMD2<Double> = m.X.0 * Isc1 + m.X.1 * Isc2
        X += m.X.2 * Ip + m.X.3 * Il
        X += m.X.4 * d[Chain.X]
        var I1: Double = m.I1.0 * Isc1 + m.I1.1 * Isc2
        I1 += m.I1.2 * Ip + m.I1.3 * Il
        I1 += m.I1.4 * d[Chain.I1]
        var Id: SIMD2<Double> = m.Id.0 * Isc1 + m.Id.1 * Isc2
        Id += m.Id.2 * Ip + m.Id.3 * Il
        Id += m.Id.4 * d[Chain.I1] + m.Id.5 * d[Chain.Id]
        return (
            SIMD8(depots[0], depots[1], circulating[0], circulating[1], X[0], I1, Id[0], 0),
            SIMD2(X[1], Id[1])
        )
    }

    @inline(always)
    static func restRates(
        _ y: SixStates, _ signals: SIMD2<Double>, at t: Double, _ c: UnsafePointer<Constants>
    ) -> SixStates {
        let Qsto1 = y.first[0]
        let Qsto2 = y.first[1]
        let Gp = y.third[0]
        let Gt = y.third[1]
        let (X, Id) = (signals[0], signals[1])

        let emptied = emptyingRate(Qsto1 + Qsto2, at: t, c) * Qsto2
        let left = c.pointee.p.kmax * Qsto1
        var own = c.pointee.p.kp1 - c.pointee.p.kp2 * Gp
        var kp3 = c.pointee.p.kp3
        var E = c.pointee.p.ke1 * max(0, Gp - c.pointee.p.ke2)
        var Fsnc = c.pointee.p.Fsnc
        var appearing = c.pointee.fkabsPerBW * y.second[0]
        var utilisation = c.pointee.p.Vm0 + c.pointee.p.Vmx * X
        if c.pointee.varying.isOn {
            vary(&own, &kp3, &E, &Fsnc, &appearing, &utilisation, Gp, at: t, c)
        }
        let EGP = max(0, own - kp3 * Id)
        let Uid = utilisation * Gt / (c.pointee.p.Km0 + Gt)
        let toTissue = c.pointee.p.k1 * Gp - c.pointee.p.k2 * Gt
        let ksc = c.pointee.p.ksc
        let gut = SIMD2(emptied, ksc * Gp) - SIMD2(c.pointee.p.kabs, ksc) * y.second
        let glucose = SIMD2(EGP + appearing - Fsnc - E, -Uid) + SIMD2(-toTissue, toTissue)
        // Glucose that has fallen below 0 stays. A gut that a step's error left below 0 fills again: what is eaten arrives.
        return SixStates(
            first: SIMD2(c.pointee.carbs, left) - SIMD2(left, emptied),
            second: gut.replacing(with: 0, where: y.second .< SIMD2(-.infinity, 0)),
            third: glucose.replacing(with: 0, where: y.third .< 0))
    }

    /// kgut. Below 0.1 mg of food the law of emptying no longer matters.
    @inline(always)
    private static func emptyingRate(
        _ Qsto: Double, at t: Double, _ c: UnsafePointer<Constants>
    ) -> Double {
        guard Qsto > 0.1 else { return c.pointee.p.kmax }
        let D = c.pointee.D + c.pointee.eating * t
        guard D > 0 else { return c.pointee.p.kmax }
        let part = Qsto / D
        guard part >= nearlyEmpty else { return c.pointee.kgutEmpty + c.pointee.kgutSlope * part }
        // tanh(a) − tanh(b) + 2 = 2·(1 − 1/(1 + e²ᵃ) + 1/(1 + e²ᵇ)), two exponentials side by side.
        let steep = SIMD2(2 * c.pointee.alphaD, 2 * c.pointee.betaD)
        let sides = SIMD2(-1, 1) / (1 + exponential(steep * (part - SIMD2(c.pointee.p.b, c.pointee.p.d))))
        return c.pointee.p.kmin + (c.pointee.p.kmax - c.pointee.p.kmin) * (1 + sides.sum())
    }
}
