// An alert of the closed loop, by its row in the catalogue.
//
// Guarantees: a plain number inside, since it is asked for at every step; written and read by its code.

public import IsletDevices

/// One of the catalogue's alerts.
public struct AlertCode: Hashable, Sendable, CaseIterable, RawRepresentable, Codable {
    /// Its place in `allCases`.
    public let index: Int

    private init(index: Int) { self.index = index }

    // What is raw-representable compares by its raw value, where it says nothing else: two looks at the rows.
    public static func == (a: Self, b: Self) -> Bool { a.index == b.index }
    public func hash(into hasher: inout Hasher) { hasher.combine(index) }

    public static let allCases = rows.indices.map(AlertCode.init(index:))
    private static let byCode = Dictionary(
        rows.enumerated().map { ($1.code, AlertCode(index: $0)) }, uniquingKeysWith: { first, _ in first })

    public init?(rawValue: String) {
        guard let known = Self.byCode[rawValue] else { return nil }
        self = known
    }

    /// The one of that name; nil for an alert that only a policy has.
    public init?(_ name: AlertName) { self.init(rawValue: name.rawValue) }

    /// What policies and files call it.
    public var name: AlertName { AlertName(rawValue: rawValue) }

    /// The one of that code, which must have a row: a test looks at each constant.
    static func named(_ code: String) -> AlertCode { byCode[code] ?? AlertCode(index: 0) }

    public var rawValue: String { Self.rows[index].code }
    public var source: AlertSource { Self.rows[index].source }
    public var severity: AlertSeverity { Self.rows[index].severity }
    public var acknowledgement: AlertAcknowledgement { Self.rows[index].acknowledgement }
    /// What must truly be so for it to be right; nil where no session can say.
    public var truth: AlertTruth? { Self.rows[index].truth }
    /// No live path raises it.
    public var isReserved: Bool { Self.rows[index].isReserved }
    /// Belongs to a pod and matters to nobody once the pod is gone.
    public var isPodBound: Bool { Self.rows[index].isPodBound }
    /// A pump issues it and takes it back.
    public var isNative: Bool { !Self.rows[index].issues.isEmpty }
    /// Its message counts down and is refreshed each minute.
    public var countsDown: Bool { Self.rows[index].countsDown }
    /// How long the condition must hold before an episode begins, ns.
    var debounce: Int64 { Self.rows[index].debounce }
    /// What the person reads.
    public var message: String { Self.rows[index].message }
    /// What the person should do.
    public var recommendedAction: String { Self.rows[index].action }
    /// When it is raised.
    public var condition: ValueText { Self.rows[index].condition }
    /// What ends it.
    public var closing: ValueText { Self.rows[index].closing }

    /// The comparison that raises it; nil where its source says so.
    var test: MetricTest? { Self.rows[index].test }
    /// How often it rings again until it is acknowledged, ns.
    var repeatEvery: Int64? { Self.rows[index].repeatEvery }

    public var route: AlertRoute {
        if let own = Self.rows[index].route { return own }
        return switch source {
        case .pump: .pump
        case .cgm: .cgm
        case .algorithm, .app, .policy: .home
        }
    }

    /// What a pump calls its alerts.
    public static let pumpIssues = rows.flatMap(\.issues)

    private static let byIssue = Dictionary(
        rows.enumerated().flatMap { index, row in row.issues.map { ($0, AlertCode(index: index)) } },
        uniquingKeysWith: { first, _ in first })

    /// The code of what a pump issues; nil for what nobody knows.
    static func issued(_ issue: String) -> AlertCode? { byIssue[issue] }
}
