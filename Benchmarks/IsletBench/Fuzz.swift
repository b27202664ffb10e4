// `islet-bench fuzz KIND SEED FROM TO PROGRESS`: every reader in one process, so that 10⁵ broken inputs are a matter of minutes.
//
// Guarantees: input K of a seed is the same one every time, but for stores that hold how long their making took (study-store); its number stands in the file PROGRESS before it is read, so that whoever started this knows which one ended it. A reader may
// refuse with any error of the project's; an error of another kind, or a problem of more than one line, is told as a failure.
// `Tests/Tools/fuzz_readers.py` starts it, watches it, and goes on behind what ended it.

import IsletFiles
import Foundation
import Glibc
import IsletDevices

struct Fuzz {
    /// What reads one kind of input.
    struct Reader {
        var name: String
        var seeds: [[UInt8]]
        var isOfPages = false
        /// Input K is made of seed K modulo their count, so that each is read by what it is for; else of any.
        var byTurns = false
        /// - Parameter number: of the input.
        var read: (_ bytes: [UInt8], _ number: Int) throws -> Void
    }

    /// What a reader throws that refuses without words.
    struct Refused: Error {}

    /// Refuses nothing: its answers are.
    static func run(_ arguments: [String]) throws -> Bool {
        guard arguments.count == 5, let seed = UInt64(arguments[1]), let from = Int(arguments[2]),
            let to = Int(arguments[3]), from <= to
        else {
            print(
                "islet-bench fuzz KIND SEED FROM TO PROGRESS; kinds: \(FuzzReaders.names.joined(separator: " "))"
            )
            return false
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "islet-fuzz-\(getpid())").path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        guard let reader = try FuzzReaders(folder: folder).reader(arguments[0]) else {
            print("no reader \(arguments[0])")
            return false
        }
        let progress = open(arguments[4], O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(progress) }
        var (isFine, refused) = (true, 0)
        for number in from..<to {
            var place = UInt64(number)
            pwrite(progress, &place, 8, 0)
            var luck = FuzzLuck(seed: seed, number: UInt64(number))
            let drawn = luck.below(reader.seeds.count)
            let source = reader.seeds[reader.byTurns ? number % reader.seeds.count : drawn]
            let input =
                reader.isOfPages
                ? FuzzMutation.brokenPages(source, &luck) : FuzzMutation.broken(source, &luck)
            do {
                try reader.read(input, number)
            } catch let problem as InputError {
                refused += 1
                guard problem.description.contains("\n") else { continue }
                isFine = false
                print("FAILED \(number): more than one line: \(problem)")
            } catch  where error is OutputError || error is Refused {
                refused += 1
            } catch {
                isFine = false
                print("FAILED \(number): \(type(of: error)): \(printable("\(error)", limit: 300))")
            }
        }
        print("\(to - from) read, \(refused) refused")
        return isFine
    }
}
