// Broken files: each is read, with what was left out said, or refused with its line. Nothing crashes, and nothing is made up.

import IsletFiles
import Foundation
import IsletDevices
import IsletKernel
import Testing

@Suite("Broken files of recorded glucose")
struct TraceMutationTests {
    /// `make soak` breaks each layout 2000 times.
    private static let mutations = ProcessInfo.processInfo.environment["ISLET_SOAK"] == nil ? 150 : 2000

    private func mutated(_ bytes: [UInt8], _ stream: inout RandomStream) -> [UInt8] {
        var bytes = bytes
        func place() -> Int { bytes.isEmpty ? 0 : Int(stream.next() % UInt64(bytes.count)) }
        for _ in 0...(stream.next() % 3) {
            let at = place()
            switch stream.next() % 9 {
            case 0 where !bytes.isEmpty: bytes[at] = UInt8(truncatingIfNeeded: stream.next())
            case 1 where !bytes.isEmpty: bytes.remove(at: at)
            case 2: bytes.insert(UInt8(truncatingIfNeeded: stream.next()), at: at)
            case 3: bytes.removeLast(bytes.count - at)
            case 4:
                // Something that means something elsewhere.
                let words = [
                    "Low", "High", "\"", ",", ";", "\n", "\r", "{", "]", "null", "-1", "5.5", "1e999", "NaN",
                    "\u{0}", "99999999999",
                    "2026-13-45T99:99:99", "2026-11-01T01:30:00", "9999-12-31T23:59:59Z", "\u{FEFF}",
                    "mmol/L", "é",
                ]
                bytes.insert(contentsOf: Array(words[Int(stream.next() % UInt64(words.count))].utf8), at: at)
            case 5:
                let to = min(bytes.count, at + Int(stream.next() % 200))
                bytes.insert(contentsOf: bytes[at..<to], at: place())
            case 6:
                let to = min(bytes.count, at + Int(stream.next() % 200))
                bytes.removeSubrange(at..<to)
            case 7:
                bytes = bytes.map {
                    $0 == UInt8(ascii: ",") && stream.next() % 40 == 0 ? UInt8(ascii: ";") : $0
                }
            default: if !bytes.isEmpty { bytes[at] ^= 1 << UInt8(stream.next() % 8) }
            }
        }
        return bytes
    }

    @Test(
        "broken anyhow, a file is read with what was left out said, or refused in one line",
        arguments: TraceFormat.allCases)
    func mutations(format: TraceFormat) throws {
        let made = TraceFiles.readings(from: "2026-10-31T22:00:00-04:00", count: 60)
        let whole = try #require(TraceFiles.all(made).first { $0.format == format })
        var options = whole.options
        options.timeZone = TraceFiles.newYork
        options.dateOrder = .dayFirst
        var stream = RandomStreams(seed: 14, subject: UInt64(format.summary.utf8.count)).stream("mutations")
        var (read, refused) = (0, 0)
        for number in 0..<Self.mutations {
            let bytes = mutated(Array(whole.text.utf8), &stream)
            do {
                let trace = try RecordedTrace.parse(bytes, file: "broken", options)
                read += 1
                #expect(
                    !trace.readings.isEmpty && trace.readings.allSatisfy { (10...1000).contains($0.mgdl) })
                #expect(zip(trace.readings, trace.readings.dropFirst()).allSatisfy { $0.time < $1.time })
                // No row vanishes unsaid.
                #expect(
                    trace.readings.count + trace.counts.skipped == trace.counts.rows, "\(format) \(number)")
            } catch {
                refused += 1
                #expect(error.kind == .badData && !error.description.contains("\n"), "\(number) \(error)")
                let lines = bytes.count { $0 == 10 || $0 == 13 } + 1
                #expect((1...lines).contains(error.line ?? 1))
            }
        }
        #expect(
            read + refused == Self.mutations && read > 0 && refused > 0, "\(read) read, \(refused) refused")
    }
}
