// From a feed's readings to a session's inputs.
//
// Guarantees: a reading is one input under a key of its own stamp, so that one that is read again, by a later process too, is taken once.

package import IsletFiles
package import IsletDevices
import IsletKernel

package struct Feed {
    package var file: FeedFile
    /// The session's start: the first row's time when it began, whatever has been appended since.
    package let start: StudyStart
    /// East of UTC where the rows have no offset, min.
    private let zone: Int

    /// A newest reading that is at most this old makes a file one that grows, ms.
    package static let recent: Int64 = 3_600_000

    /// - Parameters:
    ///   - zone: east of UTC, min, where the rows have no offset.
    ///   - known: the start of the session that goes on with it; nil for one that begins.
    /// - Throws: `InputError`.
    package init(_ path: String, zone: Int, goingOnFrom known: StudyStart? = nil) throws(InputError) {
        file = try FeedFile(path, goesOn: known != nil)
        self.zone = zone
        if let known {
            start = known
            return
        }
        let offset = file.offsetMinutes ?? zone
        let first = file.readings.map(\.milliseconds).min() ?? 0
        let local = Self.local(file, zone)
        let seconds = (first - local).quotientAndRemainder(dividingBy: 1000).quotient
        guard let start = Self.start(unixSeconds: seconds, offsetMinutes: offset) else {
            throw InputError(
                file: path, line: file.readings.first?.line,
                found: "a first reading at \(seconds) s since 1970",
                expected: "one between 1970 and 2200")
        }
        self.start = start
    }

    /// What the stamps are ahead of UTC, ms: what has no offset was read as if it were UTC.
    private static func local(_ file: FeedFile, _ zone: Int) -> Int64 {
        file.offsetMinutes == nil ? Int64(zone) * 60_000 : 0
    }

    private var local: Int64 { Self.local(file, zone) }

    /// Whether somebody writes it now. Of a file that was begun anew, as logs are, nothing has come yet.
    package func isLive(utcNanoseconds: Int64) -> Bool {
        guard let newest = file.readings.map(\.milliseconds).max() else { return true }
        return utcNanoseconds / 1_000_000 - (newest - local) <= Self.recent
    }

    /// Its stamp, ns since the session's start.
    package func stamp(_ reading: FeedFile.Reading) -> Int64 {
        (reading.milliseconds - local - start.unixSeconds * 1000) * 1_000_000
    }

    package func command(_ reading: FeedFile.Reading) -> LiveCommand {
        LiveCommand(.reading(at: stamp(reading), mgdl: reading.mgdl), key: reading.key)
    }

    /// A session's start at a moment, by the clock of a zone; nil outside of 1970 to 2200.
    /// - Parameter offset: east of UTC, min.
    package static func start(unixSeconds: Int64, offsetMinutes offset: Int) -> StudyStart? {
        StudyStart(text(unixSeconds + Int64(offset) * 60, offset))
    }

    private static func text(_ localSeconds: Int64, _ offset: Int) -> String {
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let day = Int(localSeconds / 86_400)
        let second = Int(localSeconds % 86_400)
        let date = CivilDate.date(daysSince1970: day)
        let zone = "\(offset < 0 ? "-" : "+")\(two(abs(offset) / 60)):\(two(abs(offset) % 60))"
        return
            "\(date.year)-\(two(date.month))-\(two(date.day))T\(two(second / 3600)):\(two(second / 60 % 60)):"
            + "\(two(second % 60))\(zone)"
    }
}
