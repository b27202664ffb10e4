import Foundation
import IsletDevices
import IsletKernel
import Testing

@testable import IsletLive

/// Journals on disk: what is read back, what is cut, what is refused.
@Suite(.timeLimit(.minutes(45))) struct JournalTests {
    private let lines: [JournalLine] = [
        .pace(.start, .scaled(60), utc: 1_700_000_000_000_000_000),
        .mark(.minutes(5), events: 17, Digest128()),
        .input(
            number: 1,
            StampedInput(
                instant: Instant.minutes(6).adding(1),
                input: ExternalInput(
                    kind: LiveInput.kind,
                    bytes: LiveInput.meal(grams: 40, isEaten: true, isAnnounced: true).bytes)),
            key: "a-1"),
        .answer(number: 1, .refused(.outOfRange, "meal, g: found 400.0")),
        .answer(number: 1, .refused(LiveRefusal(code: "", reason: "[some words] of before codes"))),
        .refusal(.minutes(7), key: "", LiveRefusal(.outOfRange, "target, mg/dL: found nan")),
        .refusal(.minutes(7), key: "k", LiveRefusal(code: "", reason: "target, mg/dL: found nan")),
        .leap(from: .minutes(8), to: .minutes(120)),
        .said(.minutes(121), key: "p-1", text: "pace max"),
        .pace(.minutes(121), .max, utc: 1), .pace(.minutes(121), .step, utc: 1),
        .driver(.minutes(121), LiveDriver(name: "trainer", token: "c0ffee")),
        .act(.minutes(121), step: 12, "0.05 0 4.2 120"), .driver(.minutes(122), nil),
        .late(.minutes(123)),
        .end(.minutes(200), events: 90, Digest128(), early: EarlyEnd(reason: "low for long")),
    ]

    /// Harm: after a restart a reader of mmol/L is told in mg/dL why something was refused.
    @Test func aRefusalKeepsItsValues() throws {
        let reasons: [ValueText] = [
            "target: found \(410.5, unit: "mg/dL", comparedWith: 400), expected \(60, unitless: "mg/dL") to \(400, unit: "mg/dL")",
            "naïve – \(-0.25, unit: "mg/dL/min"), since \(timeOfDay: "02:05"): no", "no values [at all] 3:4",
            "\(2.5, unit: "U")", "first\nsecond \(7, unit: "%")",
        ]
        for reason in reasons {
            let text = JournalLine.refusal(.minutes(7), key: "k", LiveRefusal(.outOfRange, reason)).text
            guard case .refusal(_, "k", let read)? = JournalLine(text[...]) else {
                Issue.record("\(text)")
                continue
            }
            #expect(
                read.code == "out-of-range" && JournalLine.refusal(.minutes(7), key: "k", read).text == text)
            func values(_ sentence: ValueText) -> [ValueText.Part] {
                sentence.parts.filter { if case .words = $0 { false } else { true } }
            }
            #expect(values(read.reason) == values(reason), "\(text)")
        }
        // What is no mark of these words makes the line one of before there were codes.
        for marks in [
            "0:9", "3:2", "-1:2", "0:2:x:-:1:U", "0:2:1:y:1:U", "0:2:1:-:2:U", "0:2 1:3", "1:2", "0",
        ] {
            let line = "refusal 7 - [out-of-range \(marks)] ïbc"
            guard case .refusal(_, "", let read)? = JournalLine(line[...]) else {
                Issue.record("\(line)")
                continue
            }
            #expect(read.code.isEmpty && read.reason.text.hasPrefix("[out-of-range "), "\(line)")
        }
    }

    private func journal(in folder: String) throws -> (path: String, bytes: [UInt8]) {
        let path = folder + "/a.journal"
        let file = try JournalFile.create(path, opening: #"{"study":"s"}"#)
        for line in lines { try file.append(line, sync: false) }
        try file.sync()
        return (path, try bytes(path))
    }

    @Test func aJournalReadsBackWhatWasWritten() throws {
        try withFolder { folder in
            let (path, whole) = try journal(in: folder)
            let content = try JournalContent.read(path)
            #expect(content.lines == [.open(#"{"study":"s"}"#)] + lines)
            #expect(!content.isTorn && content.goodBytes == whole.count)
        }
    }

    @Test func aTornLastLineIsCutWhereverItTore() throws {
        try withFolder { folder in
            let (path, whole) = try journal(in: folder)
            let lastLine = try #require(whole.dropLast().lastIndex(of: UInt8(ascii: "\n"))) + 1
            for end in lastLine..<whole.count {
                try write(Array(whole[..<end]), to: path)
                let (file, content) = try JournalFile.reopen(path)
                #expect(content.lines.count == lines.count)
                #expect(content.isTorn == (end > lastLine))
                // What is written next stands where the torn line began.
                try file.append(.mark(.minutes(201), events: 91, Digest128()), sync: true)
                #expect(
                    try JournalContent.read(path).lines.last == .mark(.minutes(201), events: 91, Digest128()))
            }
        }
    }

    /// Harm: a kill or a full disk at the very start leaves a directory in which that session can never be lived.
    @Test func aJournalThatWasNeverBegunIsBegunAnew() throws {
        try withFolder { folder in
            let path = folder + "/a.journal"
            let opening = #"{"study":"s"}"#
            _ = try JournalFile.create(path, opening: opening)
            let line = try bytes(path)
            for end in 0..<line.count {
                try write(Array(line[..<end]), to: path)
                #expect(JournalContent.isUnbegun(path), "\(end) bytes")
                _ = try JournalFile.create(path, opening: opening)
                #expect(try bytes(path) == line)
            }
            try write([UInt8](repeating: 0, count: 4096), to: path)
            #expect(JournalContent.isUnbegun(path))
            // What else stands there is somebody's.
            var damaged = line
            damaged[line.count - 1] = UInt8(ascii: "?")
            for others in [line, damaged, Array("notes".utf8), Array("0123456789abcdef closed".utf8)] {
                try write(others, to: path)
                #expect(!JournalContent.isUnbegun(path))
                #expect(throws: OutputError.self) { try JournalFile.create(path, opening: opening) }
                #expect(try bytes(path) == others)
            }
        }
    }

    @Test func anyOtherDamageIsRefusedWithItsPlace() throws {
        try withFolder { folder in
            let (path, whole) = try journal(in: folder)
            let breaks = whole.indices.filter { whole[$0] == UInt8(ascii: "\n") }
            for place in whole.indices {
                var damaged = whole
                damaged[place] ^= 0x01
                try write(damaged, to: path)
                let line = breaks.count { $0 < place } + 1
                let problem = #expect(throws: InputError.self) { try JournalContent.read(path) }
                #expect(problem?.line == line, "byte \(place)")
                #expect(try bytes(path) == damaged)
            }
        }
    }

    @Test func aLineThatIsLeftOutDoubledOrMovedIsFound() throws {
        try withFolder { folder in
            let (path, whole) = try journal(in: folder)
            let all = whole.split(separator: UInt8(ascii: "\n")).map { Array($0) + [UInt8(ascii: "\n")] }
            for index in 1..<(all.count - 1) {
                var (leftOut, doubled, moved) = (all, all, all)
                leftOut.remove(at: index)
                doubled.insert(all[index], at: index)
                moved.swapAt(index, index + 1)
                for changed in [leftOut, doubled, moved] {
                    try write(Array(changed.joined()), to: path)
                    let problem = #expect(throws: InputError.self) { try JournalContent.read(path) }
                    #expect((problem?.line ?? 0) - index <= 2)
                }
            }
        }
    }

    @Test func twoProcessesDontShareAJournal() throws {
        try withFolder { folder in
            let path = folder + "/a.journal"
            let file = try JournalFile.create(path, opening: "{}")
            #expect(throws: OutputError.self) { try JournalFile.reopen(path) }
            #expect(throws: OutputError.self) { try JournalFile.create(path, opening: "{}") }
            withExtendedLifetime(file) {}
        }
    }
}
