// The only door to libm in this target. glibc picks an implementation by CPU feature, so what passes here is
// what the numeric fingerprint must cover: tanh, exp and log.

import Glibc

@inline(__always) func hyperbolicTangent(_ x: Double) -> Double { tanh(x) }
@inline(__always) func exponential(_ x: Double) -> Double { exp(x) }
@inline(__always) func naturalLogarithm(_ x: Double) -> Double { log(x) }
