// The only file of engine and model code that calls libm (see DETERMINISM.md: what passes here is in the numeric fingerprint).
//
// What charts take of it is rounded to tenths of a drawing's unit, and is in no digest.

public import Glibc

@inlinable @inline(__always) package func naturalLogarithm(_ x: Double) -> Double { log(x) }
@inlinable @inline(__always) package func decimalLogarithm(_ x: Double) -> Double { log10(x) }
@inlinable @inline(__always) package func power(_ x: Double, _ y: Double) -> Double { pow(x, y) }
@inlinable @inline(__always) package func cosine(_ x: Double) -> Double { cos(x) }
@inlinable @inline(__always) package func sine(_ x: Double) -> Double { sin(x) }
@inlinable @inline(__always) package func hyperbolicSine(_ x: Double) -> Double { sinh(x) }
