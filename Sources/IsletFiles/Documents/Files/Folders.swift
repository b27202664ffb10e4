// Directories: made, and waited for until they are on disk.

import Glibc
package import IsletDevices

/// Makes a directory and those above it.
package func makeFolders(_ path: String) throws(OutputError) {
    var partial = path.hasPrefix("/") ? "/" : ""
    for part in path.split(separator: "/") {
        partial += (partial.isEmpty || partial.hasSuffix("/") ? "" : "/") + part
        if mkdir(partial, 0o777) != 0, errno != EEXIST {
            throw OutputError(path: partial, doing: "make the directory", errno: errno)
        }
    }
    guard isFolder(path) else {
        throw OutputError(.cannotCreate, path: path, message: "is a file, expected a directory")
    }
}

/// Waits until the directory that holds `path` has been written: a new, renamed or removed name in it survives a power cut.
package func syncFolder(of path: String) throws(OutputError) {
    let descriptor = open(folderAndName(path).folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw OutputError(path: path, doing: "open its directory", errno: errno) }
    defer { close(descriptor) }
    // Some file systems have no such call, or let nothing be written.
    guard fsync(descriptor) == 0 || [EINVAL, ENOTSUP, EROFS].contains(errno) else {
        throw OutputError(path: path, doing: "sync its directory", errno: errno)
    }
}

/// The directory that holds `path`, `.` where it names none, and what it is called there.
func folderAndName(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let folder = path[..<slash]
    return (folder.isEmpty ? "/." : String(folder), String(path[path.index(after: slash)...]))
}
