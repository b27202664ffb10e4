// What this binary was built with: facts for manifests.

import IsletFiles
import IsletNumerics
import IsletDevices

package enum BuildFacts {
    /// Of the whole of Islet.
    package static let version = "0.1.0"

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
    /// Of the program that wrote `manifest`, which may be another than this.
    init(recordedIn manifest: YAMLReader) throws(InputError) {
        toolchain = try manifest["toolchain"]?.text() ?? "unknown"
        configuration = try manifest["build"]?.text() ?? "unknown"
        gsl = try manifest["gsl"]?.text() ?? "unknown"
    }
}
