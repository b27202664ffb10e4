import IsletAlerts
import IsletFiles
import IsletDevices
import IsletLoop
import Foundation
import IsletModels
import IsletKernel
import Testing
import IsletTrials

@testable import IsletLive

/// Forks that make no sense, and the words for those that do.
@Suite(.timeLimit(.minutes(45))) struct LiveForkRefusalTests {
    @Test func whatCantBeForkedIsRefusedInOneLineAndNothingIsLeft() throws {
        try withFolder { folder in
            let content = try journal([], until: .minutes(500), in: folder)
            let path = folder + "/fork.journal"
            func refusal(_ content: JournalContent, _ at: Instant, _ change: LiveFork.Change = .init())
                -> String
            {
                do {
                    _ = try LiveFork.begin(from: content, at: at, change: change, to: path)
                    return "taken"
                } catch { return "\(error)" }
            }
            #expect(refusal(content, .minutes(501)).contains("where the session stands"))
            #expect(refusal(content, Instant(nanoseconds: -1)).contains("from minute 0"))
            var vapour = AlertPolicy.none
            vapour.rules = [
                AlertRule(code: "DRY", trigger: .metrics([MetricTest(.vpd, .high, 2)]), severity: .actionable)
            ]
            #expect(refusal(content, .minutes(100), .init(policy: vapour)).contains("threshold of vpd"))
            var forecast = AlertPolicy.none
            forecast.rules = [
                AlertRule(
                    code: "LOW-SOON", trigger: .metrics([MetricTest(.forecastGlucose, .low, 70)]),
                    severity: .actionable)
            ]
            #expect(
                refusal(content, .minutes(100), .init(policy: forecast, algorithm: .basalBolus))
                    .contains("makes no forecast"))
            // A policy that was switched about is no file's.
            let off = AlertPolicy.bionicloop.with(low: 70, high: nil, of: .glucose)
                .with(low: nil, high: nil, of: .glucose)
            #expect(refusal(content, .minutes(100), .init(policy: off)) != "taken")
            let study = try smallStudy()
            var linked = try LiveOpening(study: study, session: 1, studyPath: "live.yaml")
            linked.isLinked = true
            let other = folder + "/linked.journal"
            _ = try JournalFile.create(other, opening: linked.json)
            #expect(refusal(try JournalContent.read(other), .start).contains("outside"))
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder).allSatisfy {
                    !$0.hasPrefix("fork")
                })
            // What is there already stays as it is.
            try write([1, 2, 3], to: path)
            #expect(refusal(content, .minutes(100)) != "taken")
            #expect(try bytes(path) == [1, 2, 3])
        }
    }

    @Test func aFedSessionsForkHasNoReservoirAndNoStretchThatNobodyLived() throws {
        try withFolder { folder in
            let study = try smallStudy().fed(from: smallStudy().start)
            let opening = try LiveOpening(study: study, session: 1, studyPath: "live.yaml", isFed: true)
            let path = folder + "/fed.journal"
            do {
                let session = try LiveSession(
                    opening, journal: try JournalFile.create(path, opening: opening.json))
                for minute in stride(from: Int64(5), to: 60, by: 5) {
                    _ = session.take(
                        LiveCommand(.reading(at: Instant.minutes(minute).nanoseconds, mgdl: 150)),
                        at: .minutes(minute))
                }
                session.leap(to: .minutes(200))
                session.advance(to: .minutes(210))
                _ = session.take(
                    LiveCommand(.reading(at: Instant.minutes(211).nanoseconds, mgdl: 150)), at: .minutes(211))
            }
            let content = try JournalContent.read(path)
            let fork = folder + "/fork.journal"
            var empty = AlertPolicy.none
            empty.rules = [
                AlertRule(
                    code: "EMPTY", trigger: .metrics([MetricTest(.reservoir, .low, 20)]),
                    severity: .actionable)
            ]
            do {
                _ = try LiveFork.begin(
                    from: content, at: .minutes(30), change: .init(policy: empty), to: fork)
                Issue.record("taken")
            } catch { #expect("\(error)".contains("nobody's pump")) }
            do {
                _ = try LiveFork.begin(from: content, at: .minutes(100), change: .init(), to: fork)
                Issue.record("taken")
            } catch { #expect("\(error)".contains("nobody lived")) }
            for minute in [Int64(30), 200, 205] {
                try? FileManager.default.removeItem(atPath: fork)
                let begun = try LiveFork.begin(
                    from: content, at: .minutes(minute), change: .init(policy: AlertPolicy.none), to: fork)
                #expect(begun.leftOut.isEmpty)
                let replay = try LiveReplay(try JournalContent.read(fork))
                #expect(replay.divergence == nil && replay.session.now == content.end)
            }
        }
    }

    @Test func aBodyThatHadBrokenByThenIsNotForked() throws {
        try withFolder { folder in
            // Insulin by hand, again and again, and nothing to eat.
            let inputs = (0..<60).flatMap { place -> [(at: Instant, input: LiveInput)] in
                let minute = Int64(30 + 6 * place)
                return [
                    (.minutes(minute), .requestBolus(units: 3)),
                    (.minutes(minute + 1), .confirmBolus(request: 2 * place + 1, units: 3, anyway: true)),
                ]
            }
            let content = try journal(inputs, arm: 0, until: .minutes(1400), in: folder)
            guard case .end(let at, _, _, let early)? = content.lines.last else {
                Issue.record("the body lives on")
                return
            }
            #expect(early?.reason.isEmpty == false)
            let path = folder + "/fork.journal"
            #expect(throws: InputError.self) {
                try LiveFork.begin(from: content, at: at, change: .init(), to: path)
            }
            #expect(!FileManager.default.fileExists(atPath: path))
            let begun = try LiveFork.begin(
                from: content, at: .minutes(20), change: .init(policy: AlertPolicy.none), to: path)
            guard case .ended = begun.phase else {
                Issue.record("the fork lives on")
                return
            }
            #expect(try LiveReplay(try JournalContent.read(path)).divergence == nil)
        }
    }

    @Test func aChangeReadsBackAndWhatIsUnknownIsRefused() throws {
        var tuned = TunedAlgorithm.pidInsulinFeedback
        let parameter = try #require(tuned.kind.parameters.first)
        let isSet = tuned.set(parameter.name, to: parameter.range.lowerBound)
        #expect(isSet)
        for preset in AlertPreset.allCases {
            let change = LiveFork.Change(policy: try preset.policy(), algorithm: tuned)
            #expect(try LiveFork.Change(json: change.json, file: "x") == change, "\(preset)")
            #expect(!change.json.contains("\n"))
            let line = JournalLine.exchange(.minutes(3), change.json)
            #expect(JournalLine(Substring(line.text)) == line)
            let named = try LiveFork.Change(json: #"{"policy":"\#(preset.rawValue)"}"#, file: "x")
            #expect(named.policy == change.policy && named.algorithm == nil)
        }
        for text in [
            #"{"algorithm":"nobody"}"#, #"{"algorithm":{"name":"pid-insulin-feedback","nonsense":1}}"#,
            #"{"algorithm":{"name":"pid-insulin-feedback","\#(parameter.name)":1e99}}"#,
            #"{"policy":"/etc/passwd"}"#, #"{"policy":"nobody"}"#, #"{"other":1}"#, "[1]", "{",
        ] {
            #expect(throws: InputError.self, "\(text)") { try LiveFork.Change(json: text, file: "x") }
        }
    }
}
