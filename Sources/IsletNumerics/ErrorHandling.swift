// GSL's failures as thrown values.
//
// Guarantees: once any entry point of this module has run, GSL no longer aborts the process on an error
// (its default handler does); a status code other than success becomes a `GSLError` with GSL's own words.
// Does not: restore the handler. It is process-wide, and nothing in Islet wants the default back.

import CGSL

/// A failure that GSL reported, or would have: its code, its words, and what was being done.
public struct GSLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A `GSL_E…` code of gsl_errno.h.
    public var code: Int32
    /// `gsl_strerror` of the code.
    public var message: String
    /// What was being computed, for the reader of the error.
    public var context: String

    /// - Parameters:
    ///   - code: a status that a GSL function returned.
    ///   - context: what was being computed, such as "step from minute 12 to 17".
    public init(code: Int32, context: String = "") {
        self.code = code
        self.message = String(cString: gsl_strerror(code))
        self.context = context
    }

    public var description: String {
        let place = context.isEmpty ? "" : " in \(context)"
        return "GSL error \(code)\(place): \(message)"
    }

    /// Throws unless `status` is `GSL_SUCCESS`. `context` is built on failure only.
    public static func check(_ status: Int32, _ context: @autoclosure () -> String = "") throws(GSLError) {
        guard status == GSL_SUCCESS else {
            throw GSLError(code: status, context: context())
        }
    }
}

/// The library as a whole.
public enum GSLLibrary {
    private static let errorHandlerIsOff: Bool = {
        gsl_set_error_handler_off()
        return true
    }()

    /// Turns GSL's aborting error handler off, once a process. Cheap; each entry point of this module calls it.
    public static func prepare() { _ = errorHandlerIsOff }

    /// The version of the GSL that is linked, such as "2.7.1".
    public static var version: String { String(cString: islet_gsl_version()) }
}
