// The only file that calls libm in this target. glibc picks an implementation by CPU feature, so what passes here is
// what the numeric fingerprint must cover: exp and log.

import Glibc

@inline(__always) func exponential(_ x: Double) -> Double { exp(x) }
@inline(__always) func naturalLogarithm(_ x: Double) -> Double { log(x) }
