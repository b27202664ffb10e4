import IsletFiles
import IsletDevices
import Testing

@testable import IsletTrials

/// SplitMix64: the tests' own stream, so that a failure repeats.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Random damage to a valid study. `ISLET_FUZZ=n` in the environment runs n mutations.
@Suite struct StudyFuzzTests {
    static let fragments: [String] = [
        "[", "]", "{", "}", ":", ": ", "- ", "\n", "\t", "#", "&a ", "*a", "!!int ", "? ", "|\n", ">\n", "'",
        "\"", "%", "@", "`",
        "---\n", "...\n", "~", "null", ".nan", ".inf", "-1", "1e999", "99999999999999999999", "\u{0}",
        "\u{FEFF}", "\u{2028}",
        "\u{202E}", "<<: *a", "true", "0x10", "  ", "seed: 1\n", "arms:\n", "- {}\n", "cohort", "\\", "é",
        "\r", ",",
    ]

    static func mutated(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<7, using: &random) {
            case 0 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1 where place < bytes.count:
                bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...40, using: &random)))
            case 2, 3:
                let fragment = Self.fragments.randomElement(using: &random) ?? ""
                let times = Int.random(in: 0..<20, using: &random) == 0 ? 300 : 1
                bytes.insert(
                    contentsOf: Array(repeating: Array(fragment.utf8), count: times).joined(), at: place)
            case 4:
                let from = Int.random(in: 0...bytes.count, using: &random)
                let piece = bytes[min(from, place)..<max(from, place)]
                bytes.insert(contentsOf: Array(piece), at: Int.random(in: 0...bytes.count, using: &random))
            case 5: bytes = Array(bytes[..<place])
            default:
                if place < bytes.count { bytes[place] = Self.printable.randomElement(using: &random) ?? 32 }
            }
        }
        return bytes
    }

    static let printable = Array(UInt8(32)...126)

    /// Reads like the command line does; true when it is a study.
    static func survives(_ bytes: [UInt8]) -> Bool {
        do {
            let study = try Study.parse(try text(of: bytes, file: "fuzz.yaml"), file: "fuzz.yaml")
            let again = try Study.parse(study.yaml, file: "resolved.yaml")
            #expect(again == study)
            return true
        } catch {
            #expect(!error.description.unicodeScalars.contains { $0.value < 32 }, "\(error)")
            #expect(error.file == "fuzz.yaml")
            return false
        }
    }

    @Test func damagedStudiesEndInAStudyOrInOneError() throws {
        let count = scratchRuns(named: "ISLET_FUZZ") ?? 1500
        let sources = [completeStudy, leastStudy, try Study.parse(completeStudy, file: "s").json.prettyText]
            .map { Array($0.utf8) }
        var random = SplitMix64(state: 20_260_402)
        var studies = 0
        for index in 0..<count {
            let bytes = Self.mutated(sources[index % sources.count], &random)
            if Self.survives(bytes) { studies += 1 }
        }
        // Some damage hits a comment or a name; if none or all got through, the fuzzer is broken.
        #expect(studies > 0 && studies < count)
        if count > 1500 { print("fuzz: \(count) mutations, \(studies) still a study") }
    }

    @Test func randomBytesEndInOneError() {
        var random = SplitMix64(state: 7)
        for _ in 0..<300 {
            let bytes = (0..<Int.random(in: 0...2000, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            #expect(!Self.survives(bytes))
        }
    }

    @Test func damagedOverridesEndInAStudyOrInOneError() {
        var random = SplitMix64(state: 99)
        let sources = ["cohort.generate.count=10", "arms[0].algorithm=basal-bolus", "scenario={meals: none}"]
        for index in 0..<500 {
            let bytes = Self.mutated(Array(sources[index % 3].utf8), &random)
            let argument = String(decoding: bytes, as: UTF8.self)
            let problem = refusal(of: completeStudy, set: [argument])
            #expect(problem.map { $0.file.hasPrefix("--set ") || $0.file == "s.yaml" } ?? true)
        }
    }
}
