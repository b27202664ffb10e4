// `--jobs`: how many threads a command takes.

package import ArgumentParser
import Foundation

package struct ThreadCount: ParsableArguments, Sendable {
    @Option(help: "Threads that run sessions (default: all cores).")
    package var jobs: Int?

    package init() {}

    package func validate() throws {
        if let jobs, !(1...1024).contains(jobs) {
            throw ValidationError("--jobs takes a number from 1 to 1024.")
        }
    }

    package var count: Int { jobs ?? ProcessInfo.processInfo.activeProcessorCount }
}
