// The seal of a results folder: `seal.json`, which whoever has no key can't write.
//
// Guarantees: it covers the name, the length and the SHA-256 of every file of the folder, those of `confirm` too, in one chain; a file that was changed, taken
// away, put in or renamed since is named. Who has the key can make another seal: it proves that nobody else did.
// Does not: say when. A plan that was registered, and stamped by somebody whom one trusts, does.

import Foundation
import IsletDevices
import IsletFiles
import IsletKernel

package struct FolderSeal {
    package static let name = "seal.json"
    private static let beginning = "islet folder seal 1"

    private struct Entry: Equatable {
        var name: String
        var bytes: Int
        var sha256: String
        var text: String { "\(name)\n\(bytes)\n\(sha256)" }
    }

    private let folder: ResultFolder
    private let key: SealKey

    package init(_ folder: ResultFolder, key: SealKey) { (self.folder, self.key) = (folder, key) }

    /// Seals the folder as it is.
    /// - Throws: `InputError` for a folder that is not complete.
    package func write() throws {
        guard try folder.isComplete() else {
            throw InputError(
                file: folder.path, found: "a run that is not complete", expected: "a complete one to seal")
        }
        let entries = try entries()
        let json: JSONValue = [
            "format": .integer(1),
            "files": .array(
                entries.map {
                    [
                        "name": .string($0.name), "bytes": .integer(Int64($0.bytes)),
                        "sha256": .string($0.sha256),
                    ]
                }),
            "hmac_sha256": .string(code(of: entries)),
        ]
        try AtomicFile.write(json.prettyText, to: folder.file(Self.name))
    }

    private func code(of entries: [Entry]) -> String {
        entries.reduce(key.chained("", Self.beginning)) { key.chained($0, $1.text) }
    }

    /// Files of the folder and of its confirmation, by name.
    private func entries() throws -> [Entry] {
        var entries: [Entry] = []
        for place in ["", "confirm"] {
            let path = place.isEmpty ? folder.path : folder.file(place)
            // Only the confirmation may be absent.
            if try !place.isEmpty && !isThere(path) { continue }
            for name in try names(inDirectory: path).sorted() {
                let file = path + "/" + name
                let isLeftOut = place.isEmpty && (name == Self.name || ResultFolder.isSyncCursor(name))
                if name.hasPrefix(".") || isLeftOut || isFolder(file) { continue }
                var status = stat()
                guard stat(file, &status) == 0 else { throw InputError(file: file, errno: errno) }
                entries.append(
                    Entry(
                        name: place.isEmpty ? name : place + "/" + name, bytes: Int(status.st_size),
                        sha256: try folder.hash(of: file)))
            }
        }
        return entries
    }

    /// What is off; nothing where the folder is what was sealed with this key.
    package func findings() throws -> [String] {
        let path = folder.file(Self.name)
        guard try isThere(path) else {
            return ["\(Self.name): is not there: the folder was never sealed, or its seal was taken away"]
        }
        let root = YAMLReader(try JSONDocument.read(path: path, limitBytes: 16 << 20))
        var sealed: [Entry] = []
        for item in root["files"]?.items ?? [] {
            guard let name = try item["name"]?.text(), let hash = try item["sha256"]?.text(),
                let bytes = try item["bytes"]?.wholeNumber()
            else { continue }
            sealed.append(Entry(name: name, bytes: Int(clamping: bytes), sha256: hash))
        }
        let code = try root["hmac_sha256"]?.text() ?? ""
        guard HMAC.equal(code, self.code(of: sealed)) else {
            return [
                "\(Self.name): is not of this key: it was made with another one, or changed by somebody who has none"
            ]
        }
        let here = try entries()
        var findings: [String] = []
        for entry in sealed {
            guard let found = here.first(where: { $0.name == entry.name }) else {
                findings.append("\(printable(entry.name, limit: 200)): is not there, and was sealed")
                continue
            }
            if found != entry {
                findings.append("\(printable(entry.name, limit: 200)): has been changed since it was sealed")
            }
        }
        for entry in here where !sealed.contains(where: { $0.name == entry.name }) {
            findings.append("\(printable(entry.name, limit: 200)): was put in after the folder was sealed")
        }
        return findings
    }
}
