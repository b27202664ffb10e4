// The phone in a person's hand, and what they can reach beside it.
//
// Called on the session's thread only.

public import IsletDevices
public import IsletKernel

public protocol PersonPhone: AnyObject, Sendable {
    /// False while the app is dead: the screen is dark then.
    var isAppAlive: Bool { get }
    /// Opens a dead app.
    func reopenApp()
    /// The app comes to the front, or leaves it.
    func open()
    func close()
    /// The newest reading on the screen; nil for none.
    var reading: GlucoseReading? { get }
    /// Codes that wait to be acknowledged, and since when they are active.
    var toAcknowledge: [(code: AlertName, raisedAt: Instant)] { get }
    func acknowledge(_ code: AlertName)
    /// Whether the algorithm corrects by itself.
    var isClosedLoop: Bool { get }
    /// What was dropped that the person waited for; nil where there is nothing.
    var dropped: PersonDropped? { get }
    func askAgain() throws
    func dismissDropped()
    /// What the screen's curve shows of the high that lasts: since when readings lie above `bound` without a break, and the one of an hour ago. Nil
    /// where the newest doesn't.
    func high(above bound: Double) -> PersonHigh?
}

/// A high that lasts.
public struct PersonHigh: Hashable, Sendable {
    public var since: Instant
    /// mg/dL; nil for none.
    public var anHourAgo: Double?

    public init(since: Instant, anHourAgo: Double?) {
        self.since = since
        self.anHourAgo = anHourAgo
    }
}

/// What the loop gave up and shows.
public struct PersonDropped: Hashable, Sendable {
    public var at: Instant
    public var insulin: InsulinAmount
    /// Carbohydrate of a meal that no step has used.
    public var carbohydrate: Carbohydrate

    public init(at: Instant, insulin: InsulinAmount, carbohydrate: Carbohydrate) {
        self.at = at
        self.insulin = insulin
        self.carbohydrate = carbohydrate
    }
}

/// Pod and sensor.
public protocol PersonDevices: AnyObject, Sendable {
    /// What the phone's screen, or the device itself, shows to be over.
    var podNeedsChange: Bool { get }
    var sensorNeedsChange: Bool { get }
    /// Where that was planned for earlier, nothing changes.
    func changePod(at instant: Instant)
    func changeSensor(at instant: Instant)
    /// Since when the pod that delivers is worn; nil where none does.
    var podWornSince: Instant? { get }
    /// Changes a pod that is not over, for its site.
    func changeSite(at instant: Instant)
    /// Whether a check finds ketones now.
    var hasKetones: Bool { get }
    /// Whether less insulin arrives than is pushed. For the record: nobody knows.
    var siteFails: Bool { get }
    /// Insulin that comes from no pump.
    func inject(_ amount: InsulinAmount) throws
}
