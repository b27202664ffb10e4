// What is sent small comes out as it was, and only what differs is sent.

import Foundation
import Testing

@testable import Dashboard

@Suite("What is sent small comes out as it was") struct GzipTests {
    /// By the system's own gzip.
    private func inflated(_ bytes: [UInt8]) throws -> [UInt8] {
        let file = FileManager.default.temporaryDirectory.appending(
            path: "gzip-\(UInt64.random(in: 0...UInt64.max)).gz")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(bytes).write(to: file)
        let process = Process()
        process.executableURL = URL(filePath: "/bin/gzip")
        process.arguments = ["-dc", file.path()]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return [UInt8](data)
    }

    @Test func everyKindOfText() throws {
        var random = SystemRandomNumberGenerator()
        // How often each byte comes grows as Fibonacci's numbers: codes of more than 15 bits would be the shortest.
        var (skewed, a, b): ([UInt8], Int, Int) = ([], 1, 1)
        for byte in UInt8(0)..<24 {
            skewed += [UInt8](repeating: byte, count: a)
            (a, b) = (b, a + b)
        }
        skewed.shuffle(using: &random)
        let page = String(repeating: "<li class=\"person\" data-session=\"ada\">112 mg/dL</li>\n", count: 400)
        let texts: [[UInt8]] = [
            [], [65], Array("ab".utf8), [UInt8](repeating: 7, count: 70_000),
            (0..<5000).map { _ in UInt8.random(in: 0...255, using: &random) }, Array(page.utf8), skewed,
            Array(page.utf8) + (0..<40_000).map { _ in UInt8.random(in: 97...100, using: &random) }
                + Array(page.utf8),
        ]
        for text in texts { #expect(try inflated(Gzip.compressed(text)) == text, "\(text.count) bytes") }
        #expect(Gzip.compressed(Array(page.utf8)).count < page.utf8.count / 40)
    }

    @Test func onlyWhereItIsAskedFor() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            func answer(_ encoding: String?) -> WebResponse {
                var headers = ["host": "127.0.0.1:8080"]
                headers["accept-encoding"] = encoding
                return desk.dashboard.answer(
                    WebRequest(method: "GET", target: "/openapi.json", headers: headers))
            }
            func bytes(_ response: WebResponse) -> [UInt8] {
                if case .bytes(let bytes) = response.body { bytes } else { [] }
            }
            let plain = bytes(answer(nil))
            for no in [nil, "br", "gzip;q=0", "identity"] {
                #expect(bytes(answer(no)) == plain)
                #expect(!answer(no).headers.contains { $0.name == "content-encoding" })
            }
            let small = answer("br, gzip")
            #expect(small.headers.contains { $0.name == "content-encoding" && $0.value == "gzip" })
            #expect(bytes(small).count < plain.count / 4)
            #expect(try inflated(bytes(small)) == plain)
        }
    }

    @Test func aPageIsSentWhatDiffers() {
        let parts = ShownParts()
        let first = parts.changes([("a", "1"), ("b", "2")], since: "")
        #expect(first.changed.map(\.name) == ["a", "b"])
        let second = parts.changes([("a", "1"), ("b", "3"), ("c", "4")], since: first.state)
        #expect(second.changed.map(\.name) == ["b", "c"] && second.state != first.state)
        #expect(parts.changes([("a", "1"), ("b", "3"), ("c", "4")], since: second.state).changed.isEmpty)
        #expect(parts.changes([("a", "1")], since: "not known").changed.count == 1)
        // Old states are forgotten, and then all is sent.
        for number in 0..<400 { _ = parts.changes([("a", "\(number)")], since: "") }
        #expect(parts.changes([("a", "x"), ("b", "2")], since: first.state).changed.count == 2)
    }
}
