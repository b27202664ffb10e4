// A study: which people, which arms, which scenario, for how long, from which seed.
//
// Guarantees: a `Study` that was decoded is complete (every default resolved) and consistent: arm names differ, the
// reference is an arm, the subjects are within `maximumSessions`. Encoding it and decoding the text gives an equal one.
// Does not: open the cohort's table. How many subjects a table has is known when it is read; call `checkSessions` then.

public import Documents
public import Alerts
public import Algorithms
public import Physiology
public import Records
public import SimulatedDevices

/// One study, resolved.
public struct Study: Hashable, Sendable {
    /// The most sessions (subjects × arms) that one study may have.
    public static let maximumSessions = 1_000_000
    /// The longest study: 10 years of 365 days.
    public static let maximumDuration = TimeSpan.longestAllowed

    /// The most meals that an explicit list may give to one session.
    public static let maximumMeals = 100_000

    public var name: String
    public var seed: UInt64
    public var start: StudyStart
    public var duration: TimeSpan
    public var cohort: Cohort
    public var sensor: Sensor
    public var pump: Pump
    public var scenario: Scenario
    public var faults: Faults
    public var record: RecordLevel
    /// At least one; names differ.
    public var arms: [Arm]
    /// The arm that the others are compared with; nil for no comparison.
    public var reference: String?

    /// The virtual people.
    public enum Cohort: Hashable, Sendable {
        /// Drawn by the study's seed.
        case generate(model: ModelKind, group: AgeGroup, count: Int)
        /// Rows of a table; `subjects` nil for all of them, in the table's order.
        case table(path: String, model: ModelKind, subjects: [String]?, derived: DerivedColumns)

        public var model: ModelKind {
            switch self {
            case .generate(let model, _, _), .table(_, let model, _, _): model
            }
        }

        /// nil where only the table knows.
        public var subjectCount: Int? {
            switch self {
            case .generate(_, _, let count): count
            case .table(_, _, let subjects, _): subjects?.count
            }
        }
    }

    /// A sensor and, later, its options.
    public struct Sensor: Hashable, Sendable {
        public var model: SensorModel
        public init(model: SensorModel) { self.model = model }
    }

    /// A pump and, later, its options.
    public struct Pump: Hashable, Sendable {
        public var device: PumpDevice
        public init(device: PumpDevice) { self.device = device }
    }

    /// What happens to the people.
    public struct Scenario: Hashable, Sendable {
        public var meals: MealPlan
        public init(meals: MealPlan) { self.meals = meals }
    }

    /// What is compared.
    public struct Arm: Hashable, Sendable {
        public var name: String
        public var algorithm: TunedAlgorithm
        /// Complete: a policy file has been read, so that a result does not depend on it later.
        public var alerts: AlertPolicy

        public init(name: String, algorithm: TunedAlgorithm, alerts: AlertPolicy) {
            self.name = name
            self.algorithm = algorithm
            self.alerts = alerts
        }
    }

    public init(
        name: String, seed: UInt64, start: StudyStart, duration: TimeSpan, cohort: Cohort, sensor: Sensor,
        pump: Pump, scenario: Scenario, faults: Faults = .none, record: RecordLevel, arms: [Arm],
        reference: String?
    ) {
        self.name = name
        self.seed = seed
        self.start = start
        self.duration = duration
        self.cohort = cohort
        self.sensor = sensor
        self.pump = pump
        self.scenario = scenario
        self.faults = faults
        self.record = record
        self.arms = arms
        self.reference = reference
    }

    /// Refuses more sessions than one study may have. `file` and `line` say where the number came from.
    public func checkSessions(subjects: Int, file: String, line: Int? = nil) throws(InputProblem) {
        guard subjects > 0 else {
            throw InputProblem(file: file, line: line, found: "no subjects", expected: "at least one")
        }
        let (sessions, overflow) = subjects.multipliedReportingOverflow(by: max(1, arms.count))
        guard !overflow, sessions <= Self.maximumSessions else {
            throw InputProblem(
                file: file, line: line,
                found: "\(subjects) subjects × \(arms.count) \(arms.count == 1 ? "arm" : "arms")",
                expected: "at most \(Self.maximumSessions) sessions in one study")
        }
    }

    /// The path of the cohort's table, seen from the study file's directory.
    public func tablePath(studyPath: String) -> String? {
        guard case .table(let path, _, _, _) = cohort else { return nil }
        guard !path.hasPrefix("/"), let slash = studyPath.lastIndex(of: "/") else { return path }
        return studyPath[...slash] + path
    }
}
