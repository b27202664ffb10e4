// What this binary was built with: facts for manifests.

package import IsletFiles
import IsletNumerics
package import IsletDevices

package enum BuildFacts {
    /// The version of Islet as a whole.
    package static let version = "0.1.0"

    /// Of what computes sessions. It moves whenever any session's digest does, and only then: `Tests/Golden/digests.txt` has
    /// the digests that belong to it. What was lived by one engine is never lived again, or gone on with, by another.
    package static let engine = 12

    /// What a manifest or a journal's opening says; those of before there was a number are engine 1's.
    package static func engine(recordedAs reader: YAMLReader?) throws(InputError) -> Int {
        guard let reader else { return 1 }
        return Int(try reader.wholeNumber(in: 1...UInt64(Int32.max)))
    }

    package static let configuration: String = {
        #if DEBUG
            "debug"
        #else
            "release"
        #endif
    }()

    package static let toolchain: String = {
        #if compiler(>=6.4)
            "Swift 6.4 or later"
        #elseif compiler(>=6.3)
            "Swift 6.3"
        #else
            "Swift 6.2"
        #endif
    }()

    package static let gsl = GSLLibrary.version

    /// What sessions were computed with, as a manifest says it.
    package struct Build: Sendable {
        var toolchain: String
        var configuration: String
        var gsl: String

        package static let this = Build(
            toolchain: BuildFacts.toolchain, configuration: BuildFacts.configuration, gsl: BuildFacts.gsl)
    }
}

extension BuildFacts.Build {
    /// Reads what a manifest says of the program that wrote it, which may be another than this.
    init(recordedIn manifest: YAMLReader) throws(InputError) {
        toolchain = try manifest["toolchain"]?.text() ?? "unknown"
        configuration = try manifest["build"]?.text() ?? "unknown"
        gsl = try manifest["gsl"]?.text() ?? "unknown"
    }
}

extension InputError {
    /// Something that another engine lived, and that only an engine of its kind goes on with.
    /// - Parameters:
    ///   - what: such as `a journal`.
    ///   - version: of the program that wrote it.
    ///   - here: this program's engine.
    package static func otherEngine(
        _ file: String, line: Int? = nil, _ what: String, engine: Int, version: String,
        here: Int = BuildFacts.engine
    ) -> InputError {
        InputError(
            file: file, line: line, found: "\(what) of engine \(engine)",
            expected: "engine \(here), this program's: Islet \(printable(version, limit: 40)), or another of "
                + "engine \(engine), lives it again and goes on with it")
    }
}
