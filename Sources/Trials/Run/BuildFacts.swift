// What this binary was built with: facts for manifests.

import GSL

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
}
