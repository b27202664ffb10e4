// Traces made of a session's own rows.
//
// Guarantees: what `GlucoseTrace` guarantees. Here, and not beside it, so that what is asked for each reading is inlined.

import IsletFiles

extension GlucoseTrace {
    /// `mgdl` and `localMilliseconds` answer for each place.
    init(
        count: Int, mgdl: (Int) -> Double, localMilliseconds: (Int) -> Int64
    ) throws(ValidationError) {
        // Written in place: to append costs twice as much.
        let instants = [Int64](unsafeUninitializedCapacity: count) { instants, filled in
            for index in 0..<count { instants[index] = localMilliseconds(index) }
            filled = count
        }
        let values = [Double](unsafeUninitializedCapacity: count) { values, filled in
            for index in 0..<count { values[index] = mgdl(index) }
            filled = count
        }
        try self.init(localMilliseconds: instants, mgdl: values)
    }
}
