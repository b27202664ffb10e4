// The only file that calls libm in this target (see DETERMINISM.md: what passes here is in the numeric fingerprint).

import Glibc

@inline(__always) func exponential(_ x: Double) -> Double { exp(x) }
