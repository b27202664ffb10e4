// Kovatchev's symmetrized glucose scale.
//
// Guarantees: defined for every positive reading; below 1 mg/dL, where the logarithm changes sign, it stays at
// its value for 1.

import Glibc

/// The risk transform of blood glucose (Kovatchev 1997).
public enum GlucoseRisk {
    /// f(G) = 1.509·((ln G)^1.084 − 5.381), G in mg/dL: below 0 for lows, above for highs, 0 near 112.5.
    public static func symmetrized(_ mgdl: Double) -> Double {
        1.509 * (exp(1.084 * log(max(log(mgdl), 0))) - 5.381)
    }

    /// 10·f(G)²: 0 near 112.5 mg/dL, 100 at 20 and 600.
    public static func risk(_ mgdl: Double) -> Double {
        let f = symmetrized(mgdl)
        return 10 * f * f
    }
}
