// What went wrong in an integration: GSL's code, the instant and, where there is one, the state.
//
// Guarantees: a plain value, nothing of GSL's memory. Does not: name the subject. The integrator does not
// know who it integrates; whoever catches this adds it.

internal import CGSL

/// An integration that could not reach the end of its segment.
public struct ODEError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Cause: Hashable, Sendable {
        /// GSL returned an error code (`gsl_errno.h`), or the right-hand side did.
        case code(Int32)
        /// A state became infinite or not a number; the index is 0-based.
        case nonFinite(state: Int)
        /// The segment took more steps than the integrator's limit.
        case stepLimit(Int)
        /// The length of the segment is negative, infinite or not a number.
        case badSegment(Double)
    }

    public var cause: Cause
    /// How far the integration had come, in the right-hand side's unit of time from the segment's start.
    public var time: Double

    public init(_ cause: Cause, time: Double) {
        self.cause = cause
        self.time = time
    }

    /// GSL's code for the cause: `GSL_EBADFUNC` for a non-finite state, `GSL_EMAXITER` for the step limit,
    /// `GSL_EINVAL` for a bad segment.
    public var code: Int32 {
        switch cause {
        case .code(let code): code
        case .nonFinite: Int32(GSL_EBADFUNC)
        case .stepLimit: Int32(GSL_EMAXITER)
        case .badSegment: Int32(GSL_EINVAL)
        }
    }

    public var description: String {
        let what =
            switch cause {
            case .code(let code): "GSL error \(code) (\(String(cString: gsl_strerror(code))))"
            case .nonFinite(let state): "state \(state) is not finite"
            case .stepLimit(let limit): "more than \(limit) steps in one segment"
            case .badSegment(let length): "a segment of length \(length)"
            }
        return "integration failed \(time) after the segment's start: \(what)"
    }
}
