// A study: which people, which arms, which scenario, for how long, from which seed.
//
// Guarantees: a `Study` that was decoded is complete (every default resolved) and consistent: arm names differ, the
// reference is an arm, the subjects are within `maximumSessions`. Encoding it and decoding the text gives an equal one.
// Does not: open the cohort's table. How many subjects a table has is known when it is read; call `checkSessions` then.

public import IsletFiles
public import IsletAlerts
public import IsletLoop
public import IsletDevices
public import IsletPeople
public import IsletModels

/// One study, resolved.
///
///     let study = try Study.parse(
///         "duration: 1d\ncohort: { generate: { count: 1 } }\narms: [{ algorithm: basal-bolus }]\n",
///         file: "study.yaml")
public struct Study: Hashable, Sendable {
    /// The most sessions (subjects × arms) that one study may have.
    public static let maximumSessions = 2_000_000
    /// The longest study: 10 years of 365 days.
    public static let maximumDuration = TimeSpan.longestAllowed

    /// The most meals that an explicit list may give to one session.
    public static let maximumMeals = 100_000

    public var name = "study"
    /// What it is to answer, as a sentence; nil where it doesn't say.
    public var question: String?
    public var seed: UInt64 = 1
    /// What its subjects are.
    package var subject = TunedSubject(.person)
    public var start = StudyStart.default
    public var duration = TimeSpan(seconds: 7 * 86_400)
    public var cohort = Cohort.generate(Cohort.Generated())
    public var sensor = TunedSensor(.vettoretti2019)
    public var pump = Pump(device: .omnipod)
    public var scenario = Scenario()
    public var faults = Faults.none
    /// Who listens in every arm that doesn't say otherwise.
    public var person = Listener.nobody
    /// Who looks after subjects that are watched, in every arm that doesn't say otherwise.
    package var keeper = KeeperSettings()
    public var record = RecordLevel.events
    /// At least one; names differ.
    public var arms: [Arm] = []
    /// Who listens in shadow to every arm's sessions; names differ.
    public var policies: [AlertPolicy] = []
    /// Variants of one policy that listen in shadow too. Those of a closed sweep are arms.
    package var sweep: PolicySweep?
    /// What arms of a closed sweep stand for.
    package var sweepArms: [SweepArm] = []
    /// Whether what stands for a session was recorded, by a sensor that has an interval of its own.
    package var isRecorded = false
    /// With which of those in shadow the others are compared; nil for the first.
    public var referencePolicy: String?
    /// Whether what each mechanism alone keeps silent is looked for; nil where the study doesn't say.
    public var soleCauses: Bool?
    /// How long a notification counts as telling at most, where silent minutes are counted.
    /// How many sessions may fail with a program of somebody's own before there is no table; nil for none.
    package var tolerate: UInt64?
    public var tellsFor = TimeSpan(nanoseconds: AlertMetrics.tellsFor)
    /// The outcomes that the study is about, by name; none where it doesn't say.
    public var primary: [String] = []
    /// By how much the gate's outcome may rise at most for an arm to count as not worse; nil for a study that makes no claim.
    public var margin: Double?
    /// Whether `margin` is a share of what the reference arm has, in percent; else it is in the gate's unit.
    public var isMarginRelative = false
    /// The outcome of which an arm must not have more: time, or events.
    public var gate = StudyClaims.gate
    /// The seed on which the arm that was selected on `seed` is confirmed; nil for no selection.
    public var confirmSeed: UInt64?
    /// Which arms go on to be confirmed.
    package var selects = SelectionRule.best
    /// The arm that the others are compared with; nil for no comparison.
    public var reference: String?

    /// Every default, and no arm yet.
    public init() {}

    public init(cohort: Cohort, arms: [Arm]) {
        self.cohort = cohort
        self.arms = arms
    }

    /// The virtual people.
    public enum Cohort: Hashable, Sendable {
        /// Drawn by the study's seed.
        case generate(Generated)
        /// Rows of a table.
        case table(Table)

        public struct Generated: Hashable, Sendable {
            public var model = ModelKind.uvaPadova2008
            public var group = AgeGroup.adult
            public var count = 100

            public init() {}
        }

        public struct Table: Hashable, Sendable {
            /// Relative to the study file.
            public var path = ""
            public var model = ModelKind.uvaPadova2008
            public var derived = DerivedColumns.check
            /// nil for all of them, in the table's order.
            public var subjects: [String]?

            public init() {}
        }

        public static func generate(model: ModelKind, group: AgeGroup, count: Int) -> Self {
            var people = Generated()
            people.model = model
            people.group = group
            people.count = count
            return .generate(people)
        }

        public var model: ModelKind {
            switch self {
            case .generate(let people): people.model
            case .table(let table): table.model
            }
        }

        /// nil where only the table knows.
        public var subjectCount: Int? {
            switch self {
            case .generate(let people): people.count
            case .table(let table): table.subjects?.count
            }
        }
    }

    /// A pump and, later, its options.
    public struct Pump: Hashable, Sendable {
        public var device: PumpDevice
        public init(device: PumpDevice) { self.device = device }
    }

    /// What happens to the people.
    public struct Scenario: Hashable, Sendable {
        public var meals = MealPlan.moderate
        /// What makes weeks believable; nil for weeks in which every day is alike.
        public var life: Life?

        public init() {}
    }

    /// The settings of `preset: life`.
    public struct Life: Hashable, Sendable {
        public var settings = LifeSettings()
        public var habits = HabitSettings()
        public init() {}
    }

    /// What is compared.
    public struct Arm: Hashable, Sendable {
        public var name = ""
        /// Where it is a program of somebody's own, what is known of that.
        public var algorithm = TunedAlgorithm.default
        /// The program that the algorithm is; nil for one that is built in.
        package var plugin: ArmPlugin?
        /// What its algorithm answers, where that was recorded; nil for one that is asked.
        package var recorded: RecordedSteps?
        /// The program that hears each step beside the algorithm, and answers numbers for alert rules; nil for none.
        package var listener: ArmPlugin?
        /// Complete: a policy file has been read, so that a result does not depend on it later.
        public var alerts: AlertPolicy {
            get { preparedAlerts.policy }
            set { preparedAlerts = PreparedPolicy(newValue) }
        }
        /// Once for all sessions.
        private(set) var preparedAlerts = PreparedPolicy.bionicloop
        /// nil for the study's.
        public var person: Listener?
        /// nil for the study's.
        public var sensor: TunedSensor?
        /// nil for the study's.
        package var keeper: KeeperSettings?
        /// Arms of one offset share their luck; another gives the same people, on the same therapy, other luck in everything that is
        /// drawn during a session.
        public var luckOffset: UInt64 = 0

        public init() {}

        public init(name: String, algorithm: TunedAlgorithm, alerts: AlertPolicy) {
            self.name = name
            self.algorithm = algorithm
            self.alerts = alerts
        }
    }

    /// Who hears the phone, and acts.
    public enum Listener: Hashable, Sendable {
        /// Somebody eats and announces, and nobody hears.
        case nobody
        case somebody(PersonSettings)
    }

    /// All that listen in shadow, those of the sweep last.
    public var shadowPolicies: [AlertPolicy] {
        policies + (sweep.map { $0.mode == .shadow ? $0.variants : [] } ?? [])
    }

    /// The settings of the person in an arm; nil where nobody listens.
    public func person(in arm: Arm) -> PersonSettings? {
        if case .somebody(let settings) = arm.person ?? person { settings } else { nil }
    }

    /// The sensor that the people of an arm wear.
    public func sensor(in arm: Arm) -> TunedSensor { arm.sensor ?? sensor }

    /// Refuses more sessions than one study may have. `file` and `line` say where the number came from.
    public func checkSessions(subjects: Int, file: String, line: Int? = nil) throws(InputError) {
        guard subjects > 0 else {
            throw InputError(file: file, line: line, found: "no subjects", expected: "at least one")
        }
        let (sessions, overflow) = subjects.multipliedReportingOverflow(by: max(1, arms.count))
        guard !overflow, sessions <= Self.maximumSessions else {
            throw InputError(
                file: file, line: line,
                found: "\(subjects) subjects × \(arms.count) \(arms.count == 1 ? "arm" : "arms")",
                expected: "at most \(Self.maximumSessions) sessions in one study")
        }
    }

    /// The path of the cohort's table, seen from the study file's directory.
    public func tablePath(studyPath: String) -> String? {
        guard case .table(let table) = cohort else { return nil }
        let path = table.path
        guard !path.hasPrefix("/"), let slash = studyPath.lastIndex(of: "/") else { return path }
        return studyPath[...slash] + path
    }
}
