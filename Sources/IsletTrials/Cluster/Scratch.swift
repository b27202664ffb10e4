// A folder of this machine's own, for as long as a process runs.
//
// Guarantees: nobody else has it, and it goes away with `remove`; what killed processes left beside it is removed by the next one.

import Foundation
import Glibc
package import IsletDevices
import IsletFiles

package final class Scratch: Sendable {
    package let path: String
    private let descriptor: Int32
    /// With the machine's name: where machines share a directory, a lock of another's is seen by none but that one.
    private static let prefix: String = {
        let host = ShardStore.Machine.host.utf8.prefix(64).map { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                ? Character(UnicodeScalar(byte)) : "_"
        }
        return "islet-shard-\(String(host))-\(getuid())-"
    }()

    /// TMPDIR, or /tmp.
    package static var standard: String {
        if let value = getenv("TMPDIR"), value[0] != 0 { return String(cString: value) }
        return "/tmp"
    }

    package init(in directory: String) throws(OutputError) {
        try makeFolders(directory)
        Self.removeLeftovers(directory)
        path = "\(directory)/\(Self.prefix)\(ShardStore.Machine.newID())"
        guard mkdir(path, 0o700) == 0 else {
            throw OutputError(path: path, doing: "make the directory", errno: errno)
        }
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let code = errno
            rmdir(path)
            throw OutputError(path: path, doing: "open the directory", errno: code)
        }
        // As long as it is held, nobody takes this folder for a leftover.
        flock(descriptor, LOCK_EX | LOCK_NB)
    }

    /// Safe to call twice.
    package func remove() { try? FileManager.default.removeItem(atPath: path) }

    deinit { close(descriptor) }

    /// Removes the folders of this machine's and user's processes that are gone. One that is being made has no lock yet, and is a minute old at most.
    private static func removeLeftovers(_ directory: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        where name.hasPrefix(prefix) {
            let path = directory + "/" + name
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid(),
                time(nil) - status.st_ctim.tv_sec > 60
            else { continue }
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { try? FileManager.default.removeItem(atPath: path) }
            close(descriptor)
        }
    }
}
