import Foundation
import Testing

/// How a file in Sources looks, whatever it says.
@Suite struct FileTests {
    @Test func filesStayUnder400Lines() {
        for file in Project.sources {
            #expect(file.lines.count <= 401, "\(file.path):\(file.lines.count): too long")
        }
    }

    @Test func everyFileOpensWithAComment() {
        for file in Project.sources {
            // A file may import first and then open with its one type's documentation.
            let first = file.lines.first { !$0.isEmpty && !$0.contains(#/^(@\w+ )*(\w+ )?import\s/#) }
            #expect(
                first?.hasPrefix("//") == true || first?.hasPrefix("/*") == true, "\(file.path):1: no comment"
            )
        }
    }

    @Test func sourcesForceNothingAndLeaveNothingForLater() {
        for file in Project.sources {
            for (index, line) in file.code.enumerated() {
                for word in ["try!", "fatalError", "as!", "assert(", "print("] where line.contains(word) {
                    if word == "print(", (Floors.floor[file.target] ?? 0) >= 4 { continue }
                    #expect(Bool(false), "\(file.path):\(index + 1): \(word)")
                }
            }
            for (index, line) in file.lines.enumerated() {
                for word in ["TODO", "FIXME", "XXX", "HACK"] where line.contains(word) {
                    #expect(Bool(false), "\(file.path):\(index + 1): \(word)")
                }
            }
        }
    }

    /// The one door to libm of a target keeps the numeric fingerprint honest.
    @Test func engineCodeReachesTheLibraryOfTheSystemInNamedPlacesOnly() {
        let doors = ["LibM.swift", "SessionExecutor.swift"]
        for file in Project.sources
        where (Floors.floor[file.target] ?? 0) <= 3 && file.target != "GSL"
            && !doors.contains(where: { file.path.hasSuffix("/\($0)") })
        {
            for (index, line) in file.code.enumerated() {
                #expect(!line.hasSuffix("import Glibc"), "\(file.path):\(index + 1): import Glibc")
            }
        }
    }
}
