// What this binary was built with: facts for manifests.

import GSL

public enum BuildFacts {
    public static let configuration: String = {
        #if DEBUG
            "debug"
        #else
            "release"
        #endif
    }()

    public static let toolchain: String = {
        #if compiler(>=6.4)
            "Swift 6.4 or later"
        #elseif compiler(>=6.3)
            "Swift 6.3"
        #else
            "Swift 6.2"
        #endif
    }()

    public static let gsl = GSLLibrary.version
}
