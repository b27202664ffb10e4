// What a command makes, sent where `--out` says.

import IsletFiles
import IsletTrials

package enum Output {
    /// Writes `text` to the file at `path`, whole or not at all; `-` is standard output.
    package static func write(_ text: String, to path: String) throws {
        if path == "-" {
            try StandardStream.output.write(text)
        } else {
            try AtomicFile.write(text, to: path)
        }
    }
}
