// Which faults a study has: the key `faults`, from text to plan and back.
//
// Guarantees: none unless the study asks; a kind that is on without a rate has its default rate from then on, as schema
// and resolved study show it; encoding and decoding give an equal value.

import IsletLoop
public import IsletFiles
import IsletDevices
public import IsletModels
internal import IsletKernel

extension Study {
    /// What goes wrong with the devices.
    public struct Faults: Hashable, Sendable {
        /// Whether a kind comes by chance.
        public enum Setting: Hashable, Sendable {
            case off
            case rate(Double)
            /// Rates of a kind whose standard rate differs by age.
            case ratesByAge(RatesByAge)

            /// On, as a study has it that says no more.
            public static func `default`(_ kind: FaultKind) -> Setting {
                kind.rate.defaultByAge.map { .ratesByAge($0) } ?? .rate(kind.rate.defaultValue)
            }

            func rate(in group: AgeGroup?) -> Double? {
                switch self {
                case .off: nil
                case .rate(let rate): rate
                case .ratesByAge(let rates): rates[group]
                }
            }
        }

        /// One line of the schedule.
        public struct Entry: Hashable, Sendable {
            public var kind: FaultKind
            /// Each day by local time, or once.
            public var time: MealTime
            public var length: TimeSpan

            public init(kind: FaultKind, time: MealTime, length: TimeSpan) {
                self.kind = kind
                self.time = time
                self.length = length
            }
        }

        /// By `FaultKind.index`.
        public var settings: [Setting]
        public var scheduled: [Entry]

        public init(settings: [Setting], scheduled: [Entry] = []) {
            self.settings = settings
            self.scheduled = scheduled
        }

        public static let none = Faults(settings: FaultKind.all.map { _ in .off })
        /// All kinds that any arm may have: what strikes open loop alone is asked for by name.
        public static let all = Faults(
            settings: FaultKind.all.map { $0.strikesClosedLoop ? .default($0) : .off })
    }
}

extension RatesByAge {
    subscript(group: AgeGroup?) -> Double {
        switch group {
        case .adult: adult
        case .adolescent: adolescent
        case .child: child
        case nil: other
        }
    }

    fileprivate static let keys: [(String, any WritableKeyPath<Self, Double> & Sendable)] = [
        ("adult", \.adult), ("adolescent", \.adolescent), ("child", \.child), ("other", \.other),
    ]

    fileprivate var json: JSONValue {
        .object(Self.keys.map { .init($0.0, .number(self[keyPath: $0.1])) })
    }
}

// MARK: Shape

extension Study {
    static let longestFault = TimeSpan(seconds: 30 * 86_400)
    static let noFaults = Shape.Choice("none", "nothing goes wrong; pods and sensors are changed in time")
    static let allFaults = Shape.Choice("all", "every kind but missing-pulses, at its default rate")

    static let faultsShape: Shape = .either([
        .choice(noun: "faults", [noFaults, allFaults]),
        .mapping(
            MappingShape(
                summary: "Kinds of faults, each on or off, and faults at instants of their own.",
                keys: FaultKind.all.map { kind in
                    let rate = MappingShape(
                        summary: "On, at a rate.",
                        keys: [
                            KeyShape(
                                "rate", rateShape(kind), "How often, or how much.",
                                defaultValue: Faults.Setting.default(kind).rateJSON)
                        ])
                    return KeyShape(
                        kind.id, .either([.flag, .mapping(rate)]), kind.summary + ".",
                        defaultValue: .bool(false))
                } + [
                    KeyShape(
                        "scheduled", .list(.mapping(scheduledFaultShape), count: 0...1000),
                        "Faults at instants of their own.", defaultValue: .array([]))
                ])),
    ])

    private static func rateShape(_ kind: FaultKind) -> Shape {
        guard let rates = kind.rate.defaultByAge else { return .number(kind.rate.range) }
        let byAge = MappingShape(
            summary: "One for each age group.",
            keys: RatesByAge.keys.map {
                KeyShape(
                    $0.0, .number(kind.rate.range), "Of \($0.0) people.",
                    defaultValue: .number(rates[keyPath: $0.1]))
            })
        return .either([.number(kind.rate.range), .mapping(byAge)])
    }

    static let scheduledFaultShape = MappingShape(
        summary: "One fault, each day or once.",
        keys: [
            KeyShape(
                "at", .text(MealTime.rule), "HH:MM each day, or a length of time since the start.",
                isRequired: true),
            KeyShape(
                "kind",
                FaultKind.shape(of: FaultKind.all.filter(\.canBeScheduled)),
                "Which.", isRequired: true),
            KeyShape(
                "for", .text(.timeSpan(upTo: longestFault, saying: "30d")), "How long it lasts.",
                defaultValue: .string("1h")),
        ])

    // MARK: Decoding

    fileprivate static func decodeFaults(_ reader: YAMLReader) throws(InputError) -> Faults {
        guard reader.isMapping else { return try reader.text() == allFaults.id ? .all : .none }
        var faults = Faults.none
        for kind in FaultKind.all {
            guard let setting = reader[kind.id] else { continue }
            if setting.isMapping {
                faults.settings[kind.index] =
                    try setting["rate"].map { rate throws(InputError) in
                        try decodeRate(rate, of: kind)
                    } ?? .default(kind)
            } else {
                faults.settings[kind.index] = try setting.flag() ? .default(kind) : .off
            }
        }
        for item in reader["scheduled"]?.items ?? [] {
            guard let at = item["at"], let kind = item["kind"],
                let time = MealTime(try at.text()), let known = FaultKind.named(try kind.text()),
                let length = TimeSpan(try item["for"]?.text() ?? "1h")
            else { throw item.problem(expected: "at, kind and for") }
            faults.scheduled.append(Faults.Entry(kind: known, time: time, length: length))
        }
        return faults
    }

    /// Refuses a kind that could never strike in one of the arms: what it came to would be taken for its effect.
    static func checkFaults(_ reader: YAMLReader?, _ faults: Faults, _ arms: [Arm]) throws(InputError) {
        guard let arm = arms.first(where: { $0.algorithm.kind.basalSource == .algorithm }) else {
            return
        }
        for kind in FaultKind.all where !kind.strikesClosedLoop && faults.settings[kind.index] != .off {
            guard let place = reader?[kind.id] ?? reader else { continue }
            throw place.problem(
                found: "\(kind.id) with the arm \(quotedForMessage(arm.name))",
                expected:
                    "arms in open loop only: \(arm.algorithm.kind.id) gives all basal as boluses, and "
                    + "\(kind.id) strikes temporary basal rates alone")
        }
    }

    private static func decodeRate(
        _ reader: YAMLReader, of kind: FaultKind
    ) throws(InputError) -> Faults.Setting {
        guard reader.isMapping, var rates = kind.rate.defaultByAge else {
            return .rate(try reader.number(in: kind.rate.range))
        }
        for (name, path) in RatesByAge.keys {
            if let rate = reader[name] { rates[keyPath: path] = try rate.number(in: kind.rate.range) }
        }
        return .ratesByAge(rates)
    }
}

extension Study.Faults.Setting {
    /// nil where the kind is off.
    fileprivate var rateJSON: JSONValue? {
        switch self {
        case .off: nil
        case .rate(let rate): .number(rate)
        case .ratesByAge(let rates): rates.json
        }
    }
}

extension Study.Faults {
    // MARK: Encoding

    static let codec = Codec<Self>(
        Study.faultsShape,
        decode: { reader throws(InputError) in try Study.decodeFaults(reader) }, encode: { $0.json })

    private var json: JSONValue {
        if self == .none { return .string(Study.noFaults.id) }
        var members: [JSONValue.Member] = []
        for kind in FaultKind.all {
            guard let rate = settings[kind.index].rateJSON else { continue }
            members.append(.init(kind.id, ["rate": rate]))
        }
        if !scheduled.isEmpty {
            let entries: [JSONValue] = scheduled.map {
                [
                    "at": .string($0.time.description), "kind": .string($0.kind.id),
                    "for": .string($0.length.description),
                ]
            }
            members.append(.init("scheduled", .array(entries)))
        }
        return .object(members)
    }

    // MARK: Plan

    /// The plan of one session.
    func plan(start: StudyStart, duration: TimeSpan, group: AgeGroup?) -> FaultPlan {
        if self == .none { return .none }
        var rates: [(FaultKind, Double)] = []
        for kind in FaultKind.all {
            if let rate = settings[kind.index].rate(in: group) { rates.append((kind, rate)) }
        }
        var faults: [ScheduledFault] = []
        func add(_ entry: Entry, at nanoseconds: Int64) {
            guard nanoseconds >= 0, nanoseconds < duration.nanoseconds else { return }
            faults.append(
                ScheduledFault(
                    kind: entry.kind, at: Instant(nanoseconds: nanoseconds),
                    nanoseconds: entry.length.nanoseconds))
        }
        for entry in scheduled {
            switch entry.time {
            case .once(let span): add(entry, at: span.nanoseconds)
            case .daily(let minute):
                let calendar = start.calendar
                for day in 0...calendar.day(of: Instant(nanoseconds: duration.nanoseconds)) {
                    let nanosecond = Int64(minute) * Nanoseconds.minute
                    add(entry, at: calendar.instant(ofDay: day, nanosecondOfDay: nanosecond).nanoseconds)
                }
            }
        }
        return FaultPlan(rates: rates, scheduled: faults)
    }
}
