// Which faults a study has: the key `faults`, from text to plan and back.
//
// Guarantees: none unless the study asks; a plan has the standard rate of each kind that is on without one; encoding
// and decoding give an equal value.

import Records
internal import SessionTime
public import SimulatedDevices

extension Study {
    /// What goes wrong with the devices.
    public struct Faults: Hashable, Sendable {
        /// Whether a kind comes by chance.
        public enum Setting: Hashable, Sendable {
            case off, on
            case rate(Double)
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

        public static let none = Faults(settings: FaultKind.allCases.map { _ in .off })
        public static let all = Faults(settings: FaultKind.allCases.map { _ in .on })
    }
}

// MARK: Shape

extension Study {
    static let longestFault = TimeSpan(seconds: 30 * 86_400)
    static let noFaults = Shape.Choice("none", "nothing goes wrong; pods and sensors are changed in time")
    static let allFaults = Shape.Choice("all", "every kind, at its standard rate")

    static let faultsShape: Shape = .either([
        .choice(noun: "faults", [noFaults, allFaults]),
        .mapping(
            MappingShape(
                summary: "Kinds of faults, each on or off, and faults at instants of their own.",
                keys: FaultKind.allCases.map { kind in
                    let rate = MappingShape(
                        summary: "On, at a rate.",
                        keys: [
                            KeyShape(
                                "rate", .number(kind.rateRange), "How often, or how much.",
                                standard: .number(kind.standardRate))
                        ])
                    return KeyShape(
                        kind.rawValue, .either([.flag, .mapping(rate)]), kind.summary + ".",
                        standard: .bool(false))
                } + [
                    KeyShape(
                        "scheduled", .list(.mapping(scheduledFaultShape), count: 0...1000),
                        "Faults at instants of their own.", standard: .array([]))
                ])),
    ])

    static let scheduledFaultShape = MappingShape(
        summary: "One fault, each day or once.",
        keys: [
            KeyShape(
                "at", .text(MealTime.rule), "HH:MM each day, or a length of time since the start.",
                isRequired: true),
            KeyShape(
                "kind",
                .choice(
                    noun: "a fault",
                    FaultKind.allCases.filter(\.canBeScheduled).map { Shape.Choice($0.rawValue, $0.summary) }),
                "Which.", isRequired: true),
            KeyShape(
                "for", .text(.timeSpan(upTo: longestFault, saying: "30d")), "How long it lasts.",
                standard: .string("1h")),
        ])

    // MARK: Decoding

    static func decodeFaults(_ reader: YAMLReader?) throws(InputProblem) -> Faults {
        guard let reader else { return .none }
        guard reader.isMapping else { return try reader.text() == allFaults.id ? .all : .none }
        var faults = Faults.none
        for kind in FaultKind.allCases {
            guard let setting = reader[kind.rawValue] else { continue }
            if setting.isMapping {
                faults.settings[kind.index] =
                    try setting["rate"].map { rate throws(InputProblem) in
                        .rate(try rate.number(in: kind.rateRange))
                    } ?? .on
            } else {
                faults.settings[kind.index] = try setting.flag() ? .on : .off
            }
        }
        for item in reader["scheduled"]?.items ?? [] {
            guard let at = item["at"], let kind = item["kind"],
                let time = MealTime(try at.text()), let known = FaultKind(rawValue: try kind.text()),
                let length = TimeSpan(try item["for"]?.text() ?? "1h")
            else { throw item.problem(expected: "at, kind and for") }
            faults.scheduled.append(Faults.Entry(kind: known, time: time, length: length))
        }
        return faults
    }
}

extension Study.Faults {
    // MARK: Encoding

    var json: JSONValue {
        if self == .none { return .string(Study.noFaults.id) }
        if self == .all { return .string(Study.allFaults.id) }
        var members: [JSONValue.Member] = []
        for kind in FaultKind.allCases {
            switch settings[kind.index] {
            case .off: break
            case .on: members.append(.init(kind.rawValue, .bool(true)))
            case .rate(let rate):
                members.append(.init(kind.rawValue, .object([.init("rate", .number(rate))])))
            }
        }
        if !scheduled.isEmpty {
            let entries: [JSONValue] = scheduled.map {
                .object([
                    .init("at", .string($0.time.description)), .init("kind", .string($0.kind.rawValue)),
                    .init("for", .string($0.length.description)),
                ])
            }
            members.append(.init("scheduled", .array(entries)))
        }
        return .object(members)
    }

    // MARK: Plan

    /// Infusion sets that fail within an hour, by age (Kanapka 2022, at a constant hazard).
    static func siteFailureRate(of group: GroupID?) -> Double {
        switch group {
        case .adult: 2.7e-4
        case .adolescent: 8.3e-4
        case .child: 6.3e-4
        case nil: FaultKind.siteFailure.standardRate
        }
    }

    /// The plan of one session.
    func plan(start: StudyStart, duration: TimeSpan, group: GroupID?) -> FaultPlan {
        if self == .none { return .none }
        var rates: [(FaultKind, Double)] = []
        for kind in FaultKind.allCases {
            switch settings[kind.index] {
            case .off: break
            case .on:
                rates.append(
                    (kind, kind == .siteFailure ? Self.siteFailureRate(of: group) : kind.standardRate))
            case .rate(let rate): rates.append((kind, rate))
            }
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
                var at = Int64(minute) * Span.minute - Int64(start.localSecondOfDay) * Span.second
                while at < duration.nanoseconds {
                    add(entry, at: at)
                    at += Span.day
                }
            }
        }
        return FaultPlan(rates: rates, scheduled: faults)
    }
}
