// The keys of a study: a row each.
//
// Guarantees: reader, `--resolved`, schema, `--set` and messages know a key from its row alone, and its default from the property.
// A new key is a property with its default, and a row here.

package import IsletFiles
import IsletLoop
package import IsletAlerts
import IsletDevices
import IsletModels
import IsletKernel

extension Study: Keyed {
    package static let keys = KeyTable<Study>(
        "An Islet study: cohort × scenario × arms × duration × seed.",
        [
            KeyRow("study", \.name, .text(.name), "The study's name."),
            KeyRow(
                "question", optional: \.question, .text(.sentence),
                "What it is to answer, in a sentence: the report has it above its first line.",
                leftOut: "none"),
            KeyRow(
                "subject", \.subject, TunedSubject.codec,
                "What its subjects are: a kind, or a kind and its parameters.",
                leftOut: "`person`", isWritten: { !$0.subject.kind.isPerson }),
            KeyRow("seed", \.seed, .wholeNumber(0...UInt64.max), "The seed of every random draw."),
            KeyRow(
                "start", \.start, .text(StudyStart.rule, { StudyStart($0) }, write: { $0.text }),
                "Start instant with its local offset."),
            zoneRow,
            KeyRow(
                "duration", \.duration, .timeSpan(upTo: maximumDuration, saying: "3650d"),
                "How long a session lasts."),
            KeyRow("cohort", \.cohort, Cohort.codec, "The virtual people.", isRequired: true),
            KeyRow(
                "sensor", \.sensor, TunedSensor.codec,
                "The glucose sensor: its name, or its name and parameters."),
            KeyRow("pump", \.pump.device, device("An insulin pump."), "The insulin pump."),
            KeyRow("scenario", \.scenario, .mapping(), "What happens to the people."),
            KeyRow("faults", \.faults, Faults.codec, "What goes wrong with the devices."),
            KeyRow(
                "person", \.person, Listener.codec,
                "Who hears the phone and acts, in every arm that doesn't say otherwise.",
                leftOut: "nobody hears the phone; meals are eaten and announced",
                isWritten: { $0.person != .nobody }),
            KeyRow(
                "keeper", \.keeper, .mapping(),
                "Who looks after subjects that are watched, in every arm that doesn't say otherwise.",
                leftOut: "each setting at its default value", isWritten: { !$0.subject.kind.isPerson }),
            KeyRow("record", \.record, .name(), "What a run keeps."),
            KeyRow(
                "tolerate", optional: \.tolerate, .wholeNumber(1...UInt64(maximumSessions)),
                "How many sessions (of each shard) may fail with a program of their arm's: they count as ended early then, which is the worst value in comparisons; one more, and there is no table.",
                leftOut: "none may"),
            KeyRow(
                "arms", \.arms, armsCodec, "What is compared, 1 to 100 arms.", isRequired: true),
            KeyRow(
                "policies", \.policies, policiesCodec,
                "Alert policies that listen in shadow to every arm's sessions: presets, paths of policy files, or policies.",
                leftOut: "nobody listens in shadow", isWritten: { !$0.policies.isEmpty }),
            sweepRow, referencePolicyRow,
            KeyRow(
                "soleCauses", optional: \.soleCauses, soleCausesCodec,
                "Whether to find, for each policy and mechanism (debounce, cooldown, ...), the minutes of true episodes that it alone keeps silent: the policy is run in shadow without it, too.",
                leftOut: "where policies listen in shadow, up to \(soleCausePolicies) of them"),
            KeyRow(
                "tellsFor", \.tellsFor, .timeSpan(upTo: maximumDuration, saying: "3650d"),
                "How long a notification counts as telling where silent minutes are counted, unless it is acknowledged, snoozed or over before; a rule's `repeatEvery` where that is shorter. No session lives otherwise for it."
            ),
            KeyRow(
                "primary", \.primary, primaryCodec,
                "The outcomes that the study is about: p is adjusted (Holm) for these, and all others are exploratory. What says which episodes were found or which alerts were right is compared between policies in shadow only.",
                leftOut: "none declared; p is adjusted for all comparisons",
                isWritten: { !$0.primary.isEmpty }),
            marginRow, confirmRow, compareRow,
        ])

    package mutating func complete(_ reader: YAMLReader) {
        if reader["compare"] == nil { reference = arms.count > 1 ? arms.first?.name : nil }
    }

    package static var shape: MappingShape { keys.shape }

    /// By name, or as a mapping with it.
    private static func device<Device: Listed>(_ summary: String) -> Codec<Device> {
        let name = Codec<Device>.name()
        let mapping = MappingShape(
            summary: summary, keys: [KeyShape("model", name.shape, "Which one.", isRequired: true)])
        return Codec(.either([name.shape, .mapping(mapping)])) { reader throws(InputError) in
            try name.decode(reader["model"] ?? reader)
        } encode: {
            name.encode($0)
        }
    }

    // MARK: Arms

    private static let armsCodec: Codec<[Arm]> = {
        let list = Codec<[Arm]>.list(of: .mapping(), count: 1...100)
        return Codec(list.shape) { reader throws(InputError) in
            let arms = try list.decode(reader)
            for (place, item) in reader.items.enumerated() {
                let name = arms[place].name
                guard arms.prefix(place).contains(where: { $0.name == name }) else { continue }
                throw (item["name"] ?? item).problem(
                    found: "the arm \(quotedForMessage(name)) twice", expected: "arms with different names")
            }
            return arms
        } encode: {
            list.encode($0)
        }
    }()

    // MARK: Time zone

    private static let zoneRow = KeyRow<Study>(
        KeyShape(
            "timeZone", .text(ZoneTable.rule),
            "Whose local time meals, sleep and quiet hours follow, summer time included.",
            leftOut: "the start's own offset throughout")
    ) { reader, study throws(InputError) in
        let (name, start) = (try reader.text(), study.start)
        guard let zone = ZoneTable.named(name, around: start.unixSeconds) else {
            throw reader.problem(expected: ZoneTable.rule.expectation)
        }
        let offset = zone.offset(at: start.unixSeconds)
        guard offset == Int64(start.offsetMinutes) * 60 else {
            throw reader.problem(
                found: "\(name) beside the start \(start.text)",
                expected: "a start with that zone's offset at that time, \(offset / 60) min from UTC")
        }
        let coming = zone.transitions.filter { $0.epochSeconds > start.unixSeconds }
        study.start = start.inZone(
            name,
            changes: coming.map {
                SessionCalendar.Change(
                    at: Instant(nanoseconds: ($0.epochSeconds - start.unixSeconds) * Nanoseconds.second),
                    offsetSeconds: $0.offsetSeconds)
            })
    } encode: {
        $0.start.timeZone.map { .string($0) }
    }

    // MARK: Comparison

    private static let primaryCodec: Codec<[String]> = {
        let outcomes = Outcome.everything.filter { $0.compared != .never }.map {
            Shape.Choice($0.name, $0.meaning)
        }
        return Codec(.list(.choice(noun: "an outcome", outcomes), count: 1...outcomes.count)) {
            reader throws(InputError) in
            var names: [String] = []
            for item in reader.items {
                let name = try item.text()
                guard !names.contains(name) else {
                    throw item.problem(
                        found: "the outcome \(quotedForMessage(name)) twice", expected: "each outcome once")
                }
                names.append(name)
            }
            return names
        } encode: {
            .array($0.map { .string($0) })
        }
    }()

    private static let noComparison = Shape.Choice("none", "no comparison")

    private static let compareRow: KeyRow<Study> = {
        let mapping = MappingShape(
            summary: "A comparison of arms.",
            keys: [
                KeyShape(
                    "reference", .text(.name), "The arm that the others are compared with.", isRequired: true)
            ])
        let shape = KeyShape(
            "compare", .either([.choice(noun: "a comparison", [noComparison]), .mapping(mapping)]),
            "Which arm the others are compared with; the first where there are several.")
        return KeyRow(shape) { reader, study throws(InputError) in
            guard let reference = reader["reference"] else { return study.reference = nil }
            let name = try reference.text()
            let names = study.arms.map(\.name)
            guard names.contains(name) else {
                let meant = nearest(to: name, among: names).map { " (nearest: `\($0)`)" } ?? ""
                throw reference.problem(
                    expected: "the name of an arm: " + printable(names.joined(separator: ", "), limit: 400)
                        + meant)
            }
            study.reference = name
        } encode: { study in
            study.reference.map { ["reference": .string($0)] }
                ?? .string(noComparison.id)
        }
    }()
}

extension Study.Arm: Keyed {
    package static let keys = KeyTable<Self>(
        "One arm.",
        [
            KeyRow(
                "name", \.name, .text(.name), "Its name; that of its algorithm when left out.",
                hasDefault: false),
            KeyRow(
                "algorithm", \.chosenAlgorithm, ChosenAlgorithm.codec,
                "The dosing algorithm: its name, its name and parameters, or a program of one's own (docs/algorithms.md)."
            ),
            KeyRow(
                "listener", optional: \.listenerReference, PluginReference.codec,
                "A program of one's own that hears each step beside the algorithm and doses nothing: its numbers are for alert rules, as `own.NAME` (docs/algorithms.md).",
                leftOut: "nobody"),
            KeyRow(
                "alerts", \.alerts, AlertPolicy.studyCodec,
                "The alert policy: a preset, the path of a policy file, or a policy."),
            KeyRow(
                "person", optional: \.person, Study.Listener.codec,
                "Who hears the phone and acts in this arm.", leftOut: "the study's"),
            KeyRow(
                "sensor", optional: \.sensor, TunedSensor.codec, "The glucose sensor of this arm.",
                leftOut: "the study's"),
            KeyRow(
                "keeper", optional: \.keeper, .mapping(), "Who looks after the subjects of this arm.",
                leftOut: "the study's"),
            KeyRow(
                "luckOffset", \.luckOffset, .wholeNumber(0...UInt64.max),
                "Arms of one offset share their luck; another one gives the same people other meals, sensor errors, faults and reactions. Two arms alike but for it show what chance alone does.",
                isWritten: { $0.luckOffset != 0 }),
        ])

    package mutating func complete(_ reader: YAMLReader) {
        if reader["name"] == nil { name = algorithm.kind.id }
    }
}

extension AlertPolicy {
    /// Reads and writes the policy of a study.
    static let studyCodec: Codec<AlertPolicy> = {
        let rule = TextRule(
            expectation: "an alert policy: " + AlertPreset.allCases.map(\.rawValue).joined(separator: ", ")
                + "; or the path of a policy file",
            pattern: TextRule.path.pattern, accepts: TextRule.path.accepts)
        return Codec(.either([.text(rule), .mapping(AlertPolicy.shape)])) { reader throws(InputError) in
            try AlertPolicy.find(reader)
        } encode: {
            $0.presetName.map { .string($0) } ?? $0.json
        }
    }()

    /// The policy that a word of the command line means, as a study's would be.
    package static func inStudies(_ text: String, option: String, of kind: SubjectKind = .person) throws
        -> AlertPolicy
    {
        let reader = YAMLReader(YAMLNode(.scalar(text, plain: false), origin: .init(file: option)))
        var policy = try studyCodec.decode(reader)
        try policy.fit(kind, reader)
        return policy
    }

    /// The name of the preset that this is, where it is one.
    package var presetName: String? {
        guard let preset = AlertPreset(rawValue: name), (try? preset.policy()) == self else { return nil }
        return name
    }
}
