// A sweep in a file of its own, or in a study: for recorded traces.

package import IsletDevices
package import IsletFiles
import IsletAlerts

extension PolicySweep {
    /// The sweep in the file at `path`: the key `sweep` of a study, or what would stand there. Its variants listen in shadow, whatever `mode` says: what was
    /// recorded was lived already.
    /// - Throws: `InputError`.
    package static func read(path: String) throws(InputError) -> PolicySweep {
        let root = YAMLReader(try YAMLDocument.read(path: path))
        let reader = root["sweep"] ?? root
        try reader.check(.mapping(Study.sweepShape))
        guard let of = reader["of"] else { throw reader.problem(expected: "a sweep with `of`") }
        return try PolicySweep(reader, of: AlertPolicy.studyCodec.decode(of), mode: .shadow)
    }
}
