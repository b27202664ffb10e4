// `--jobs`: how many threads a command takes.

import ArgumentParser
import Foundation

struct ThreadCount: ParsableArguments {
    @Option(help: "Threads that run sessions (default: all cores).")
    var jobs: Int?

    func validate() throws {
        if let jobs, !(1...1024).contains(jobs) {
            throw ValidationError("--jobs takes a number from 1 to 1024.")
        }
    }

    var count: Int { jobs ?? ProcessInfo.processInfo.activeProcessorCount }
}
