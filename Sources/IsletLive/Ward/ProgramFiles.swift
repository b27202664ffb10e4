// What comes with the program, wherever it is started from: by a link, by PATH, from another folder, from a build that was moved.
//
// Guarantees: the demonstration is in the program itself. Study files are looked for where somebody stands, then around the program's own file, links
// resolved; no path of the machine that built it is asked.

package import CAssets
import IsletFiles
import Foundation
package import IsletDevices

package enum ProgramFiles {
    private static let demonstration = [
        ("demonstration.yaml", islet_asset_demonstration_yaml().array),
        ("people.yaml", islet_asset_people_yaml().array),
        ("broken-pod.yaml", islet_asset_broken_pod_yaml().array),
        ("room.yaml", islet_asset_room_yaml().array),
    ]

    /// Writes the demonstration's ward and studies into a folder, which is made.
    /// - Returns: the ward's file.
    /// - Throws: `OutputError`.
    package static func demonstration(in folder: String) throws(OutputError) -> String {
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw OutputError(path: folder, doing: "create the directory", errno: errno)
        }
        for (name, bytes) in demonstration { try AtomicFile.write(bytes, to: folder + "/" + name) }
        return folder + "/demonstration.yaml"
    }

    /// The folder of the project's studies: the one of the folder that somebody stands in, or that of the checkout around the program; nil where there is none.
    package static var studies: String? {
        let name = "Cohorts"
        if FileManager.default.fileExists(atPath: name) { return name }
        guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        else { return nil }
        var folder = program
        while let slash = folder.lastIndex(of: "/") {
            folder = String(folder[..<slash])
            let found = folder + "/" + name
            if FileManager.default.fileExists(atPath: found + "/quickstart.yaml") { return found }
        }
        return nil
    }
}

extension islet_asset {
    package var array: [UInt8] { .init(UnsafeBufferPointer(start: bytes, count: count)) }
}
