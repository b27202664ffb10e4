// The only file that calls libm in this target. What comes of it is rounded to tenths of a drawing's unit.

import Glibc

@inline(__always) func decimalLogarithm(_ x: Double) -> Double { log10(x) }
@inline(__always) func power(_ x: Double, _ y: Double) -> Double { pow(x, y) }
@inline(__always) func cosine(_ x: Double) -> Double { cos(x) }
@inline(__always) func sine(_ x: Double) -> Double { sin(x) }
