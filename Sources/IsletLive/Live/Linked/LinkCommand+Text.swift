// Commands as journals have them.

import Foundation
import DeviceLinks
import IsletFiles

extension LinkCommand {
    /// Canonical: keys in alphabetical order.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// nil for what no command wrote.
    init?(json: String) {
        guard let value = try? JSONValue.read(Array(json.utf8), file: "command"),
            let command = try? value.decoded(as: LinkCommand.self)
        else { return nil }
        self = command
    }
}
