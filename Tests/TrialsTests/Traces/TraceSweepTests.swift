// A sweep over recorded glucose: blocks of days, rows, and intervals that cover what they say.

import Foundation
import IsletAlerts
import IsletDevices
import IsletFiles
import IsletKernel
import Testing

@testable import IsletTrials

@Suite("A sweep over recorded glucose")
struct TraceSweepTests {
    /// Days that resemble each other: a level of its own a day, autocorrelated, with a wave of a day and noise.
    private func trace(days: Int, seed: UInt64) throws -> RecordedTrace {
        let random = GSLLuck(seed)
        var text = "time,glucose_mgdl\n"
        var level = 0.0
        var drift = 0.0
        let begin = CivilDate.daysSince1970(year: 2026, month: 1, day: 5)
        for day in 0..<days {
            level = 0.5 * level + 14 * random.normal()
            let date = CivilDate.date(daysSince1970: begin + day)
            for step in 0..<288 {
                drift = 0.96 * drift + 5 * random.normal()
                let wave = 28 * sin(2 * .pi * Double(step) / 288)
                let value = Int(max(41, min(390, 118 + level + wave + drift)))
                text +=
                    "\(date.year)-\(TraceFiles.two(date.month))-\(TraceFiles.two(date.day))T\(TraceFiles.two(step / 12)):\(TraceFiles.two(step % 12 * 5)):00Z,\(value)\n"
            }
        }
        return try TraceFiles.parse(text, TraceFiles.zoned("UTC"))
    }

    private final class GSLLuck {
        private var state: UInt64
        init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }
        func uniform() -> Double {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return Double((z ^ (z >> 31)) >> 11) / 9_007_199_254_740_992
        }
        func normal() -> Double {
            (-2 * log(max(1e-12, uniform()))).squareRoot() * cos(2 * .pi * uniform())
        }
    }

    private func sweep(_ grid: String) throws -> PolicySweep {
        let path = FileManager.default.temporaryDirectory.path + "/islet-sweep-\(UUID().uuidString).yaml"
        try "of: dexcom-g7\ngrid:\n\(grid)".write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try PolicySweep.read(path: path)
    }

    private func results(_ whole: RecordedTrace, _ sweep: PolicySweep) throws -> TraceResults {
        let replay = try TraceReplay([], sweep: sweep)
        let replayed = try whole.blocks.enumerated().map { try replay.replay($0.element, index: $0.offset) }
        return try TraceResults(
            replay, replayed, outcomes: ["tbr_54_percent"], whole: [whole])
    }

    @Test("blocks are of equal length, a week or more, and have every reading once")
    func blocks() throws {
        for (days, count) in [(90, 12), (42, 6), (30, 6), (9, 4), (3, 1)] {
            let whole = try trace(days: days, seed: 1)
            let blocks = whole.blocks
            #expect(blocks.count == count, "\(days): \(blocks.count)")
            #expect(blocks.flatMap(\.readings) == whole.readings)
            let lengths = blocks.map(\.readings.count)
            #expect((lengths.max() ?? 0) - (lengths.min() ?? 0) <= 2)
            #expect(blocks.first?.span.lowerBound == whole.span.lowerBound)
            #expect(blocks.last?.span.upperBound == whole.span.upperBound)
        }
    }

    @Test("48 variants of 90 days are a row each that differs, with intervals over blocks, and say so")
    func rows() throws {
        let sweep = try sweep(
            """
              "rules[LOW,HIGH].debounce": [0s, 5m, 15m, 60m]
              "rules[LOW,HIGH].cooldown": [0s, 60s, 5m, 30m]
              "rules[LOW,HIGH].repeatEvery": [null, 15m, 30m]
            """)
        let found = try results(trace(days: 90, seed: 7), sweep)
        let view = try #require(found.summary.sweep)
        #expect(view.variants == 48 && view.rows.flatMap(\.points).count == 48)
        // Without repeats cooldowns of up to 5 min did not differ.
        #expect(view.rows.count < 48 && view.rows.flatMap(\.joins).allSatisfy { $0.reason == .didNotDiffer })
        #expect(view.rows.allSatisfy { $0.cells[view.gain ?? ""]?.n == 12 })
        #expect(view.rows.filter { !$0.isReference }.contains { $0.cells[view.gain ?? ""]?.bounds != nil })
        let text = found.text(in: .mgdl)
        #expect(
            unfolded(text).contains("Intervals are over 12 blocks of 7.5 days in a row of one person"),
            "\(text)")
        #expect(unfolded(text).contains("heard by nobody"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 }, "\(text)")
        #expect(found.json["recorded"]?["blocks"] == .string(found.blockNote))
    }

    /// With ISLET_COVERAGE=300 as many made-up traces as a figure takes; a few here.
    @Test("the interval of a difference covers what endless days would give")
    func coverage() throws {
        let count = ProcessInfo.processInfo.environment["ISLET_COVERAGE"].flatMap { Int($0) } ?? 12
        let sweep = try sweep("  \"rules[LOW].debounce\": [0s, 30m]\n")
        var found: [(difference: Double, bounds: StudySummary.ConfidenceBounds)] = []
        for seed in 0..<count {
            let view = try #require(
                try results(trace(days: 90, seed: UInt64(100 + seed)), sweep).summary.sweep)
            let cell = try #require(view.rows.last?.cells["alerts_notifications_per_day"])
            found.append((try #require(cell.difference), try #require(cell.bounds)))
        }
        let truth = found.reduce(0) { $0 + $1.difference } / Double(count)
        let covered = found.count { $0.bounds.lower <= truth && truth <= $0.bounds.upper }
        print("intervals over blocks of days: \(covered) of \(count) cover \(truth)")
        #expect(truth < -0.01)
        // Of 12 fewer than 9 would come once in 6000 times at 95 %.
        #expect(covered >= (count * 3 + 3) / 4)
        if count >= 200 {
            #expect((0.92...0.97).contains(Double(covered) / Double(count)), "\(covered) of \(count)")
        }
    }
}
